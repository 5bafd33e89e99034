"""Private keys are paid for before their numbers: nobody may pay for the first and get neither."""

import pyarrow as pa
import pytest

import deniable as dp
from deniable.curator import open as open_curator


def test_keys_are_not_paid_for_where_their_numbers_cannot_be():
    people = pa.table({"id": list(range(300)), "k": [i % 4 for i in range(300)]})
    unit, budget = dp.person("id", rows=1, groups=1), dp.epsilon(3, delta=1e-6)
    session = open_curator(people, unit=unit, budget=budget)
    session.ledger.share("ann", amount=dp.epsilon(2.5, delta=1e-8))
    query = session.sql("SELECT k, COUNT(*) AS n FROM data GROUP BY k")
    with pytest.raises(dp.BudgetExceeded, match="nothing was spent"):
        query.release(spend=dp.epsilon(0.8, delta=1e-8))
    assert session.spent.epsilon == 0
