"""HISTOGRAM(x, bins): a column per bin, all for the price of one count; alarms at 1e-8 each."""

import numpy as np
import pyarrow as pa
import pytest
from tests import goodness
from tests.query.executing import execute

import deniable as dp
from deniable.errors import DeniableError
from deniable.query.answer import answer

ROWS = 300
BUDGET = dp.epsilon(1e6)
UNITS = [dp.rows(), dp.person("u", rows=2), dp.rows(relation="replace")]
EDGES = [0, 10, 60, 100]


def held():
    source = np.random.default_rng(8)
    x = pa.array(source.integers(-5, 120, ROWS), mask=source.random(ROWS) < 0.1)
    return pa.table(
        {"x": x, "k": np.where(np.arange(ROWS) % 3, "a", "b"), "u": np.arange(ROWS) // 2}
    )


def opened(*, unit=UNITS[0], budget=BUDGET):
    columns = {"x": dp.bounds(0, 100, type="int", missing="drop"), "k": dp.keys(["a", "b"])}
    schema = dp.Schema(columns=columns)
    return dp.open(held(), unit=unit, budget=budget, schema=schema, name="t")


def truth(edges=EDGES, *, group=None):
    table = held()
    kept = table if group is None else table.filter(pa.compute.equal(table["k"], group))
    values = np.clip(kept["x"].drop_null().to_numpy(), 0, 100)
    return np.histogram(values, edges)[0].tolist()


@pytest.mark.parametrize("unit", UNITS, ids=repr)
def test_without_noise_every_bin_has_its_rows(unit):
    sql = "SELECT k, HISTOGRAM(x, 0, 10, 60, 100) AS x FROM t GROUP BY k"
    found = opened(unit=unit).sql(sql).release(spend=dp.epsilon(1e5))
    assert list(found.answers) == ["x [0, 10)", "x [10, 60)", "x [60, 100]"]
    for place, group in enumerate(["a", "b"]):
        cells = [column.cells[place] for column in found.answers.values()]
        assert cells == truth(group=group)


@pytest.mark.parametrize("place", range(1, 6))
def test_order_by_a_position_means_a_column_of_the_answer(place):
    sql = (
        f"SELECT k, HISTOGRAM(x, 0, 10, 60, 100) AS x, COUNT(*) FROM t GROUP BY k ORDER BY {place}"
    )
    asked = opened().sql(sql).question
    assert asked.order_by[0].expression == asked.outputs[place - 1].expression


def test_a_number_of_bins_lies_between_the_bounds_and_ten_are_usual():
    found = opened().sql("SELECT HISTOGRAM(x, 4) AS x FROM t").release(spend=dp.epsilon(1e5))
    assert list(found.answers) == ["x [0, 26)", "x [26, 51)", "x [51, 76)", "x [76, 101]"]
    assert [c.cells[0] for c in found.answers.values()] == truth([0, 26, 51, 76, 101])
    assert len(opened().sql("SELECT HISTOGRAM(x) FROM t").question.outputs) == 10


@pytest.mark.parametrize("spend", [dp.epsilon(0.1), dp.rho(0.01)], ids=["laplace", "gaussian"])
@pytest.mark.parametrize("bins", [1, 3, 200])
def test_all_bins_together_err_as_one_count_does(spend, bins):
    session = opened(budget=9 * spend)
    alone = session.sql("SELECT COUNT(x) AS n FROM t").explain(spend=spend).errors["n"]
    query = session.sql(f"SELECT HISTOGRAM(x / 1.0, {bins}) AS x FROM t")
    assert set(query.explain(spend=spend).errors.values()) == {alone}


@pytest.mark.statistical
@pytest.mark.parametrize("unit", UNITS, ids=repr)
@pytest.mark.parametrize("spend", [dp.epsilon(0.3), dp.rho(0.02)], ids=["laplace", "gaussian"])
def test_counts_are_covered_as_often_as_is_said(unit, spend):
    query = opened(unit=unit, budget=9 * spend).sql("SELECT HISTOGRAM(x, 0, 10, 60, 100) FROM t")
    allocation = query._allocate(spend, None, None)
    (part,), (noise,) = allocation.parts, allocation.noise
    draws = 4_000
    exact = np.repeat(
        part.numbers(execute(query.integers, tables=query.session.tables)), draws, axis=0
    )
    _, found = answer(allocation, [()] * draws, [noise.draw(exact)])
    foretold = query.explain(spend=spend).errors
    for (name, column), count in zip(found.items(), truth(), strict=True):
        inside = sum(low <= count <= high for low, high in column.intervals(0.95))
        assert goodness.covered(inside, draws, 0.95) > 1e-8
        assert inside < 0.985 * draws
        assert column.errors(0.95)[0] == foretold[name]


def test_a_wanted_error_of_one_bin_is_priced():
    query = opened().sql("SELECT HISTOGRAM(x, 4) AS x, COUNT(*) AS n FROM t")
    assert query.explain(within={"x [0, 26)": 20, "n": 40}).errors["x [0, 26)"] <= 20


def test_it_stands_beside_quantiles_and_filters():
    sql = "SELECT HISTOGRAM(x, 2) FILTER (WHERE k = 'a') AS h, MEDIAN(x) AS m FROM t"
    found = opened().sql(sql).release(spend=dp.epsilon(1e5))
    counts = [c.cells[0] for name, c in found.answers.items() if name != "m"]
    assert counts == truth([0, 51, 101], group="a")
    middle = np.clip(held()["x"].drop_null().to_numpy(), 0, 100)
    assert found.answers["m"].cells[0] == pytest.approx(float(np.median(middle)), abs=1)


@pytest.mark.parametrize(
    ("sql", "message"),
    [
        ("HISTOGRAM(x, 3) + 1", "several columns"),
        ("HISTOGRAM(x, 0)", "whole number of at least 1"),
        ("HISTOGRAM(x, 2.5)", "whole number"),
        ("HISTOGRAM(x, 5, 20)", "cover the bounds"),
        ("HISTOGRAM(x, 100, 0)", "increasing order"),
        ("HISTOGRAM(x, 'a')", "number of bins, or their edges"),
        ("HISTOGRAM(x, u)", "number of bins, or their edges"),
        ("HISTOGRAM(k, 3)", "needs numbers"),
        ("HISTOGRAM(x, 3) AS a, HISTOGRAM(x, 3) AS a", "are named"),
    ],
)
def test_what_is_no_histogram_is_refused(sql, message):
    with pytest.raises(DeniableError, match=message):
        opened().sql(f"SELECT {sql} FROM t")


def test_other_edges_make_another_question():
    session = opened()
    asked = ["HISTOGRAM(x, 3)", "HISTOGRAM(x, 4)", "HISTOGRAM(x, 0, 50, 100)"]
    prints = {session.sql(f"SELECT {sql} AS x FROM t").question.fingerprint for sql in asked}
    assert len(prints) == 3


@pytest.mark.parametrize("bins", [1, 4, 25])
def test_all_bins_together_matter_as_much_as_one_other_answer(bins):
    parts = opened().sql(f"SELECT HISTOGRAM(x, {bins}) AS x FROM t").integers.parts.values()
    factors = [factor for part in parts for ((_, factor),) in part.forms()]
    assert len(factors) == bins
    assert sum(factor**2 for factor in factors) == pytest.approx(1.0)
