"""How much a column matters can be said; what is not said matters 1."""

import pyarrow as pa
import pytest

import deniable as dp

PEOPLE = pa.table({"age": [30, 40], "pay": [1.0, 2.0]})
SCHEMA = dp.Schema(columns={"age": dp.bounds(0, 100, type="int"), "pay": dp.bounds(0, 100)})
SQL = "SELECT COUNT(*) AS n, SUM(age) AS years, SUM(pay) AS pay FROM people"


@pytest.fixture
def query():
    session = dp.open(PEOPLE, unit=dp.rows(), budget=dp.epsilon(1), schema=SCHEMA, name="people")
    return session.sql(SQL)


def errors(query, **options):
    return query.explain(spend=dp.epsilon(0.5), **options).errors


def test_a_column_that_matters_more_errs_less_and_the_others_more(query):
    plain, weighted = errors(query), errors(query, weights={"pay": 8.0})
    assert weighted["pay"] < 0.8 * plain["pay"]
    assert weighted["years"] > plain["years"]
    assert errors(query, weights={"n": 1.0, "years": 1.0, "pay": 1.0}) == plain


def test_weights_cost_nothing_more(query):
    spend = dp.epsilon(0.5)
    assert query.explain(spend=spend, weights={"n": 50}).cost <= spend
    assert query.release(spend=spend, weights={"n": 50}).loss.epsilon <= 0.5


def test_weights_of_no_column_and_nonsense_are_refused(query):
    with pytest.raises(dp.errors.UnknownName, match="the answer has no noisy column"):
        errors(query, weights={"m": 2.0})
    for weight in (0.0, -1.0, float("nan"), float("inf")):
        with pytest.raises(dp.BadParameter):
            errors(query, weights={"n": weight})
    with pytest.raises(dp.BadParameter, match="leaves nothing to weigh"):
        query.explain(within=100, weights={"n": 2.0})


@pytest.mark.parametrize("weights", [3, [("n", 1)], {1: 2}, {"u": 1}], ids=str)
def test_weights_that_are_no_weights_are_refused_in_words(query, weights):
    with pytest.raises(dp.errors.DeniableError):
        errors(query, weights=weights)
