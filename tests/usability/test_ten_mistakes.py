"""The ten commonest mistakes: each is answered before anything is spent, with a fix to paste."""

import pyarrow as pa
import pytest

import deniable as dp
from deniable.curator import open as open_curator

PEOPLE = pa.table(
    {"user_id": [1, 2], "city": ["Bergen", "Oslo"], "income": [1.0, 2.0], "age": [30.0, 40.0]}
)
SCHEMA = dp.Schema(columns={"age": dp.bounds(0, 125), "income": dp.column("float")})


def opened(**options):
    given = {"unit": dp.rows(), "budget": dp.epsilon(0.5), "schema": SCHEMA, "name": "people"}
    return open_curator(PEOPLE, **given | options)


def told(mistake, kind, *, opened=True):
    with pytest.raises(kind) as caught:
        mistake()
    text = str(caught.value)
    assert ("  cost: nothing was spent" in text.splitlines()) is opened
    return text


def test_1_no_bounds():
    text = told(lambda: opened().sql("SELECT AVG(income) FROM people"), dp.MissingBounds)
    assert text.startswith(
        "error[DP102]: AVG(income) needs bounds, because one person's income could be anything\n"
        "    SELECT AVG(income) FROM people\n"
        "           ^^^^^^^^^^^ `income` has no bounds"
    )
    assert 'fix:  schema=dp.Schema(columns={"income": dp.bounds(0, 100)})\n' in text
    assert "deniable" not in text  # a frame has no schema file
    schema = eval(text.partition("schema=")[2].partition("\n")[0], {"dp": dp})
    opened(schema=schema).sql("SELECT AVG(income) FROM people").explain(spend=dp.epsilon(0.1))


def test_2_budget_exhausted():
    session = opened()
    session.count(spend=dp.epsilon(0.4))
    text = told(lambda: session.count(spend=dp.epsilon(0.3)), dp.BudgetExceeded)
    assert "this would cost ε 0.3, and ε 0.1 is left" in text or "ε 0.0999 is left" in text
    assert "what is left: count ± " in text


def test_3_unknown_group_keys():
    text = told(
        lambda: opened().sql("SELECT city, COUNT(*) FROM people GROUP BY city"), dp.UnknownKeys
    )
    assert text.startswith("error[DP301]: the list of values of `city` is itself private")
    assert "^^^^" in text
    assert 'fix:  schema=dp.Schema(columns={"city": dp.keys(["A", "B", "C"])})' in text
    assert "hint: replace these values with all that can occur" in text


def test_4_delta_too_large():
    text = told(lambda: opened(budget=dp.epsilon(1, delta=0.01)), dp.DeltaTooLarge, opened=False)
    assert text.startswith("error[DP110]: with δ = 0.01, publishing 1 in 100 people's rows")


def test_5_missing_values_without_a_rule():
    text = told(lambda: opened().sql("SELECT SUM(CLAMP(income, 0, 9)) FROM people"), dp.MissingRule)
    assert text.startswith("error[DP120]: `income` may contain NULL or NaN")
    schema = eval(text.partition("schema=")[2].partition("\n")[0], {"dp": dp})
    question = "SELECT SUM(CLAMP(income, 0, 9)) FROM people"
    opened(schema=schema).sql(question).explain(spend=dp.epsilon(0.1))


def test_6_nobody_said_whom_to_protect():
    text = told(lambda: opened(unit=None), dp.MissingUnit, opened=False)
    assert 'fix:  unit=dp.person("user_id", rows=10)' in text


def test_7_a_query_that_cannot_be_bounded():
    text = told(
        lambda: opened().sql("SELECT * FROM people WHERE city = 'Bergen'"), dp.UnsupportedQuery
    )
    assert text.startswith("error[DP310]: SELECT * would publish rows")
    assert "           ^" in text


def test_8_an_unknown_column():
    text = told(lambda: opened().sql("SELECT AVG(incom) FROM people"), dp.UnknownName)
    assert text.startswith("error[DP320]: `people` has no column `incom`; did you mean `income`?")
    assert "^^^^^" in text
    text = told(lambda: opened().mean("ag", spend=dp.epsilon(0.1)), dp.UnknownName)
    assert "did you mean `age`?" in text


def test_9_currencies_mixed():
    text = told(lambda: opened().count(spend=dp.rho(0.02)), dp.MixedLosses)
    assert text.startswith("error[DP210]: this session's budget is in ε, and you tried to spend ρ")
    assert "fix:" in text


def test_10_a_bad_epsilon():
    text = told(lambda: opened().count(spend=dp.epsilon("1")), dp.BadParameter, opened=False)
    assert text.startswith("error[DP111]: epsilon must be a number")
    assert text.endswith("fix:  epsilon=1")
    text = told(lambda: opened().count(spend=0.1), dp.BadParameter)
    assert "fix:  spend=dp.epsilon(0.1)" in text
