"""Running totals by name: over a column with an order, and no other."""

import pandas as pd
import pytest

import deniable as dp
from deniable.errors import UnknownName
from deniable.server.jobs.kinds.workloads import Prefixes

COLUMNS = {"age": dp.bounds(0, 100, missing="drop"), "city": dp.keys(["Oslo", "Bergen"])}


@pytest.fixture
def session():
    table = pd.DataFrame({"age": [5.0, 15.0, 95.0], "city": ["Oslo", "Oslo", "Bergen"]})
    schema = dp.Schema(columns=COLUMNS)
    return dp.open(table, unit=dp.rows(), budget=dp.epsilon(1e6), schema=schema)


def test_each_total_counts_the_rows_up_to_its_cell(session):
    """At ε = 10⁵ the noise of each total is far below ½."""
    found = Prefixes(column="age", bins=10).release(session, dp.epsilon(1e5)).release
    (totals,) = found.answers.values()
    assert [round(each) for each in totals.cells] == [1, 2, 2, 2, 2, 2, 2, 2, 2, 3]


def test_a_column_without_an_order_has_no_prefixes(session):
    with pytest.raises(dp.BadParameter, match="has no order"):
        Prefixes(column="city").explain(session, dp.epsilon(1.0))


def test_an_unknown_column_is_refused_in_our_words(session):
    with pytest.raises(UnknownName, match="agee"):
        Prefixes(column="agee").explain(session, dp.epsilon(1.0))
