"""An answer that was just drawn and the same one given again are alike, to the last type."""

import pytest

import deniable as dp

SCHEMA = dp.Schema(
    columns={"age": dp.bounds(0, 125, type="int"), "sex": dp.keys(["Female", "Male"])}
)
COLUMNS = [
    "COUNT(*)",
    "AVG(age)",
    "MEDIAN(age)",
    "VAR_SAMP(age)",
    "SUM(age) / COUNT(*)",
    "COUNT(*) > 10",
]
BUDGETS = [dp.epsilon(1.0), dp.epsilon(1.0, delta=1e-7), dp.rho(0.5)]


def told(value):
    """What it says of itself and of all that is in it."""
    parts = vars(value).items() if hasattr(value, "__dict__") else ()
    return type(value), repr(value), [(name, told(each)) for name, each in parts if name[0] != "_"]


@pytest.mark.parametrize("column", COLUMNS)
@pytest.mark.parametrize("budget", BUDGETS, ids=str)
def test_the_answers_are_told_alike(column, budget):
    s = dp.open(dp.load_adult(), unit=dp.rows(), budget=budget, schema=SCHEMA)
    query = s.sql(f"SELECT sex, {column} AS x FROM data GROUP BY sex")
    drawn, stored = (query.release(spend=budget.share(0.25)) for _ in range(2))
    assert stored.free
    assert told(drawn.answers) == told(stored.answers)
    assert [told(each) for each in drawn.answers.values()] == [
        told(each) for each in stored.answers.values()
    ]
