"""Columns and amounts that a workload cannot take, and rows that it must not lose."""

import datetime as dt

import pandas as pd
import pytest

import deniable as dp
from deniable.errors import BadParameter, BudgetExceeded, MissingBounds


def test_what_cannot_be_divided_into_cells_is_named_and_costs_nothing():
    many = [f"k{i}" for i in range(100_000)]
    schema = dp.Schema(columns={"code": dp.keys(many), "sex": dp.keys(["F", "M"])})
    table = pd.DataFrame({"code": ["k1"] * 9, "sex": ["F"] * 9, "note": ["x"] * 9})
    s = dp.open(table, unit=dp.rows(), budget=dp.epsilon(1.0), schema=schema)
    with pytest.raises(BadParameter, match=r"`note` has no order(.|\n)*s\.top_k"):
        s.ranges("note", spend=dp.epsilon(0.5))
    with pytest.raises(BadParameter, match=r"`sex` has no order(.|\n)*s\.histogram"):
        s.ranges("sex", spend=dp.epsilon(0.5))
    for ask in (
        lambda: s.marginals(["sex", "note"], spend=dp.epsilon(0.5)),
        lambda: s.hierarchy(["sex", "note"], spend=dp.epsilon(0.5)),
    ):
        with pytest.raises(MissingBounds, match="`note`: a column needs bounds or a list") as told:
            ask()
        assert told.value.fix == "dp.keys([...])"  # text has no bounds
    for ask in (
        lambda: s.marginals(["code"], ways=1, spend=dp.epsilon(0.5)),
        lambda: s.hierarchy(["code"], spend=dp.epsilon(0.5)),
    ):
        with pytest.raises(BadParameter, match="`code` has 100,001 values"):
            ask()
    assert s.spent.epsilon == 0


TABLE = pd.DataFrame(
    {
        "age": [float(i % 100) if i % 4 else None for i in range(4000)],
        "sex": ["F", "M"] * 2000,
        "note": ["x"] * 4000,
    }
)
FACTS = dp.Schema(columns={"age": dp.bounds(0, 99, type="int"), "sex": dp.keys(["F", "M"])})


def opened(**budget: float) -> dp.Session:
    return dp.open(TABLE, unit=dp.rows(), budget=dp.epsilon(**budget), schema=FACTS)


def test_a_row_without_a_number_is_in_every_table_of_the_marginals():
    """Noise of scale 1e-3 moves no count by 1: exp(−1000) per cell."""
    s = opened(epsilon=1e4)
    asked = s.marginals(["sex", "age"], ways=1, bins=[0, 50, 99], spend=dp.epsilon(2e3))
    found = asked.to_pandas()
    by_sex = dict(zip(found["sex"], found["count"], strict=True))
    by_age = dict(zip(found["age"], found["count"], strict=True))
    assert by_sex["F"] == pytest.approx(2000, abs=1)
    assert by_age["missing"] == pytest.approx(1000, abs=1)


@pytest.mark.parametrize(
    "ask",
    [
        lambda s, **spend: s.marginals("sex", **spend),
        lambda s, **spend: s.synthesize("sex", **spend),
    ],
)
def test_one_name_is_not_taken_for_a_list_of_letters(ask):
    s = opened(epsilon=10.0)
    with pytest.raises(BadParameter, match=r'columns must be a list(.|\n)*\["sex"\]'):
        ask(s, spend=dp.epsilon(1.0))
    assert s.spent.epsilon == 0


@pytest.mark.parametrize(
    "ask",
    [
        lambda s, **spend: s.marginals(["sex", "age"], ways=3, **spend),
        lambda s, **spend: s.synthesize(["sex", "age"], marginals=3, **spend),
    ],
)
def test_more_columns_at_once_than_there_are_is_refused(ask):
    s = opened(epsilon=10.0)
    with pytest.raises(BadParameter, match="at most 2, the number of columns"):
        ask(s, spend=dp.epsilon(1.0))
    assert s.spent.epsilon == 0


def test_no_more_delta_is_spent_than_the_budget_has():
    s = opened(epsilon=10.0, delta=1e-6)
    large = dp.epsilon(1.0, delta=1e-2)
    for ask in (
        lambda: s.sql("SELECT COUNT(*) AS n FROM data").release(spend=large),
        lambda: s.ranges("age", spend=large),
        lambda: s.ranges("age").explain(spend=large),
        lambda: s.synthesize(["age", "sex"], spend=large),
    ):
        with pytest.raises(BudgetExceeded, match=r"δ = 0\.01(.|\n)*delta=1e-07"):
            ask()
    assert s.spent.epsilon == 0


@pytest.mark.parametrize(
    ("facts", "edges", "low", "high"),
    [
        (dp.bounds(0, 100), [0.0, 25.0, 50.0, 100.0], 0.0, 50.0),
        (dp.bounds(0, 100, type="int"), [0, 25, 50, 101], 0, 50),
        (
            dp.bounds(dt.date(2025, 1, 1), dt.date(2025, 4, 10), type="date"),
            [dt.date(2025, 1, 1), dt.date(2025, 1, 26), dt.date(2025, 2, 20), dt.date(2025, 4, 11)],
            dt.date(2025, 1, 1),
            dt.date(2025, 2, 20),
        ),
    ],
    ids=["float", "int", "date"],
)
def test_a_range_without_its_upper_end_divides_no_cell_if_that_is_an_edge(facts, edges, low, high):
    days = [dt.date(2025, 1, 1) + dt.timedelta(days=i) for i in range(100)]
    values = days if facts.type == "date" else [float(i) for i in range(100)]
    table = pd.DataFrame({"x": values * 10})
    schema = dp.Schema(columns={"x": facts})
    s = dp.open(table, unit=dp.rows(), budget=dp.epsilon(1e4), schema=schema)
    found = s.ranges("x", bins=edges, spend=dp.epsilon(2e3))
    value, error = found.between(low, high, inclusive="left")
    assert value == pytest.approx(500, abs=1)  # noise of scale 1e-3
    assert error < 3
    assert found.between(low, high)[1] > 100
    assert found.between(low, low, inclusive="left") == (0.0, 0.0)
    with pytest.raises(BadParameter, match="inclusive must be one of"):
        found.between(low, high, inclusive="right")
