"""COVAR_POP, COVAR_SAMP and CORR from question to answer; alarms at 1e-8 each."""

import numpy as np
import pyarrow as pa
import pytest
from tests import goodness
from tests.query.executing import execute

import deniable as dp
from deniable.errors import DeniableError, MissingBounds
from deniable.query.answer import answer

ALARM = 1e-8
SQL = "SELECT COVAR_POP(x, y) AS p, COVAR_SAMP(x, y) AS s, CORR(x, y) AS r FROM t"
UNITS = [dp.rows(), dp.person("u", rows=2), dp.rows(relation="replace")]
SPENDS = [(dp.epsilon(1e6), dp.epsilon(2)), (dp.rho(1e9), dp.rho(1))]
ROWS = 400


def held(*, missing=False):
    source = np.random.default_rng(3)
    x = source.integers(0, 101, ROWS)
    y = np.clip(x / 50 + source.normal(0, 0.5, ROWS), -1, 3)
    some = source.random((2, ROWS)) < (0.2 if missing else 0)
    return pa.table(
        {
            "x": pa.array(x, mask=some[0]),
            "y": pa.array(y, mask=some[1]),
            "u": np.arange(ROWS) // 2,
        }
    )


def opened(table, *, unit=UNITS[0], budget=SPENDS[0][0], size=None, missing="drop"):
    columns = {
        "x": dp.bounds(0, 100, type="int", missing=missing),
        "y": dp.bounds(-1.0, 3.0, missing=missing),
    }
    schema = dp.Schema(columns=columns, size=size)
    return dp.open(table, unit=unit, budget=budget, schema=schema, name="t")


def truths(table):
    both = table.drop_null()
    x, y = (both[name].to_numpy().astype(float) for name in ("x", "y"))
    r = float(np.corrcoef(x, y)[0, 1])
    return {"p": np.cov(x, y, ddof=0)[0, 1], "s": np.cov(x, y)[0, 1], "r": r}


@pytest.mark.parametrize("missing", [False, True])
@pytest.mark.parametrize("unit", UNITS, ids=repr)
def test_without_noise_they_are_what_numpy_says(unit, missing):
    table = held(missing=missing)
    found = opened(table, unit=unit).sql(SQL).release(spend=dp.epsilon(5e5))
    for name, truth in truths(table).items():
        assert found.answers[name].cells[0] == pytest.approx(truth, rel=1e-3), name


def test_a_public_number_of_rows_takes_the_place_of_the_count():
    unit = dp.rows(relation="replace")
    query = opened(held(), unit=unit, size=ROWS, missing=0).sql(SQL)
    assert {each.rows for each in query.integers.parts.values()} == {ROWS}
    assert not any(tally.measure == "count" for tally in query.integers.tallies)
    found = query.release(spend=dp.epsilon(5e5))
    for name, truth in truths(held()).items():
        assert found.answers[name].cells[0] == pytest.approx(truth, rel=1e-3), name


@pytest.mark.statistical
@pytest.mark.parametrize("unit", UNITS, ids=repr)
@pytest.mark.parametrize(("budget", "spend"), SPENDS, ids=["laplace", "gaussian"])
def test_answers_are_covered_as_often_as_is_said_and_err_as_was_foretold(unit, budget, spend):
    """1,000 draws of all noise at once; the ± of the plan is at least that of the answer."""
    table = held(missing=True)
    query = opened(table, unit=unit, budget=budget).sql(SQL)
    allocation = query._allocate(spend, None, None)
    cells = execute(query.integers, tables=query.session.tables)
    draws = 1_000
    exact = [np.repeat(part.numbers(cells), draws, axis=0) for part in allocation.parts]
    drawn = [noise.draw(numbers) for noise, numbers in zip(allocation.noise, exact, strict=True)]
    _, found = answer(allocation, [()] * draws, drawn)
    for name, truth in truths(table).items():
        pairs = found[name].intervals(0.95)
        inside = sum(low - 1e-6 <= truth <= high + 1e-6 for low, high in pairs)
        assert goodness.covered(inside, draws, 0.95) > ALARM, name
        off = truth - float(np.median([high - low for low, high in pairs]))
        elsewhere = sum(low <= off <= high for low, high in pairs)
        assert goodness.covered(elsewhere, draws, 0.95) < ALARM, name
    size = table.drop_null().num_rows
    foretold = query.explain(spend=spend, size=size).errors
    assert foretold["r"] is None
    for name in ("p", "s"):
        assert np.median(found[name].errors(0.95)) <= foretold[name]


def test_a_wanted_error_is_priced():
    query = opened(held()).sql("SELECT COVAR_SAMP(x, y) AS s FROM t")
    plan = query.explain(within=3.0, size=ROWS)
    assert plan.errors["s"] <= 3.0
    with pytest.raises(DeniableError, match="is never above 400"):
        query.explain(within=500.0, size=ROWS)
    with pytest.raises(DeniableError, match="not known in advance"):
        opened(held()).sql("SELECT CORR(x, y) AS r FROM t").explain(within=0.1, size=ROWS)


def test_the_plan_says_what_a_correlation_may_err():
    text = str(opened(held()).sql("SELECT CORR(x, y) AS r FROM t").explain(spend=dp.epsilon(9)))
    assert (
        "in a group of 10,000 rows, if both columns are spread evenly across their bounds" in text
    )
    assert "compute r from the noisy sums and squares of both values" in text


@pytest.mark.parametrize("function", ["COVAR_POP", "COVAR_SAMP", "CORR"])
def test_both_values_need_bounds_and_numbers(function):
    table = held().append_column("z", pa.array(["a"] * ROWS))
    table = table.append_column("w", pa.array([1.0] * ROWS))
    session = opened(table)
    with pytest.raises(DeniableError, match="needs numbers, not text"):
        session.sql(f"SELECT {function}(x, z) AS q FROM t")
    with pytest.raises(MissingBounds):
        session.sql(f"SELECT {function}(x, w) AS q FROM t")


def test_bounds_too_wide_to_multiply_are_refused_before_anything_is_read():
    columns = {
        "x": dp.bounds(-1e200, 1e200, missing=0.0),
        "y": dp.bounds(-1e200, 1e200, missing=0.0),
    }
    schema = dp.Schema(columns=columns)
    session = dp.open(held(), unit=dp.rows(), budget=dp.epsilon(1), schema=schema, name="t")
    with pytest.raises(DeniableError, match="too far apart to multiply"):
        session.sql("SELECT COVAR_POP(x, y) AS q FROM t").explain(spend=dp.epsilon(1))


def test_questions_about_other_pairs_are_other_questions():
    session = opened(held())
    prints = {
        session.sql(f"SELECT {sql} AS q FROM t").question.fingerprint
        for sql in ("CORR(x, y)", "CORR(x, x)", "CORR(y, x)", "COVAR_POP(x, y)")
    }
    assert len(prints) == 4
