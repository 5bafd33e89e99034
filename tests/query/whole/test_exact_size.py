"""Where rows are replaced and their number is declared: it has no noise, and means need less."""

import numpy as np
import pyarrow as pa
import pytest
from tests import goodness
from tests.query.executing import execute
from tests.query.whole.asking import without_noise
from tests.query.whole.sized import ASKED, ENDS, LN20, REPLACE, Z95, N, opened, table

import deniable as dp
from deniable.errors import BadParameter


def ends_of(release, name="q"):
    (answer,) = release.rows()
    return answer[f"{name}_error"]


# ---- the ±, before and after, is that of the formula


@pytest.mark.parametrize("ends", ENDS, ids=str)
@pytest.mark.parametrize("epsilon", [0.25, 1.0, 3.0])
def test_a_mean_errs_by_the_width_of_its_bounds_over_n_and_epsilon(ends, epsilon):
    query, spend = opened(ends).sql("SELECT AVG(x) AS q FROM t"), dp.epsilon(epsilon)
    wanted = (ends[1] - ends[0]) / N / epsilon * LN20
    assert query.explain(spend=spend).errors["q"] == pytest.approx(wanted, rel=1e-5)
    assert ends_of(query.release(spend=spend)) == pytest.approx(wanted, rel=1e-5)


@pytest.mark.parametrize("ends", ENDS, ids=str)
def test_without_the_declared_size_a_mean_is_well_over_half_as_noisy_again(ends):
    sql, spend = "SELECT AVG(x) AS q FROM t", dp.epsilon(1)
    without = opened(ends, size=None).sql(sql).explain(spend=spend, size=N).errors["q"]
    assert without > 1.6 * opened(ends).sql(sql).explain(spend=spend).errors["q"]


@pytest.mark.parametrize("ends", ENDS, ids=str)
def test_so_does_one_with_gaussian_noise(ends):
    query = opened(ends, budget=dp.mu(9)).sql("SELECT AVG(x) AS q FROM t")
    wanted = (ends[1] - ends[0]) / N / 0.5 * Z95
    assert query.explain(spend=dp.mu(0.5)).errors["q"] == pytest.approx(wanted, rel=1e-5)
    assert ends_of(query.release(spend=dp.mu(0.5))) == pytest.approx(wanted, rel=1e-5)


@pytest.mark.parametrize("ends", ENDS, ids=str)
def test_a_sum_errs_by_the_width_of_its_bounds_and_shares_the_noise_of_a_mean(ends):
    width, spend = ends[1] - ends[0], dp.epsilon(1)
    alone = opened(ends).sql("SELECT SUM(x) AS s FROM t").explain(spend=spend).errors["s"]
    assert alone == pytest.approx(width * LN20, rel=1e-5)
    query = opened(ends).sql("SELECT SUM(x) AS s, AVG(x) AS a, COUNT(*) AS n FROM t")
    plan, release = query.explain(spend=spend), query.release(spend=spend)
    for told in (plan.errors, {k: v for k in "san" for v in [ends_of(release, k)]}):
        assert told["s"] == pytest.approx(width * LN20, rel=1e-5)
        assert told["a"] == pytest.approx(width * LN20 / N, rel=1e-5)
        assert told["n"] == 0.0


@pytest.mark.parametrize("function", ["VARIANCE", "VAR_POP", "STDDEV", "STDDEV_POP"])
def test_variances_err_less_than_without_the_declared_size(function):
    sql, spend = f"SELECT {function}(x) AS q FROM t", dp.epsilon(1)
    without = opened(size=None).sql(sql).explain(spend=spend, size=N).errors["q"]
    query = opened().sql(sql)
    told = query.explain(spend=spend).errors["q"]
    assert told < 0.95 * without
    assert ends_of(query.release(spend=spend)) <= told * 1.001


def test_the_declared_size_wins_over_a_guess_of_the_analyst():
    query = opened().sql("SELECT AVG(x) AS q FROM t")
    plans = [query.explain(spend=dp.epsilon(1), size=size) for size in (None, 10, 10**6)]
    assert len({plan.errors["q"] for plan in plans}) == 1


def test_within_asks_for_the_loss_of_the_formula():
    session = opened()
    cost = session.sql("SELECT AVG(x) AS q, COUNT(*) AS n FROM t").explain(within=0.5).cost
    assert cost.epsilon == pytest.approx(100 / N * LN20 / 0.5, rel=1e-5)
    with pytest.raises(BadParameter, match="`n` is public and has no noise"):
        session.sql("SELECT AVG(x) AS q, COUNT(*) AS n FROM t").explain(within={"n": 5})


# ---- the number of rows is a public fact


@pytest.mark.parametrize("sql", ["SELECT COUNT(*) AS q FROM t", "SELECT COUNT(x) AS q FROM t"])
@pytest.mark.parametrize("budget", [dp.epsilon(1), dp.epsilon(1, delta=1e-7), dp.rho(1), dp.mu(1)])
def test_the_number_of_rows_costs_nothing_and_has_no_noise(sql, budget):
    session = opened(budget=budget)
    query = session.sql(sql)
    for asked in ({"spend": budget}, {"within": 3}):
        plan, release = query.explain(**asked), query.release(**asked)
        assert (plan.errors["q"], plan.cost, plan.left) == (0.0, 0 * budget, session.left)
        assert release.rows() == [{"q": N, "q_error": 0.0}]
        assert (release.loss, release.mechanisms) == (0 * budget, ())
        assert "free: the number of rows is public" in str(release)
        assert query.due(**asked) == type(query.due(**asked)).zero
    assert session.spent == 0 * budget
    assert not session.ledger.entries
    told = str(release.certificate())
    assert "q: the number of rows, 1,000, is public: the schema states it" in told


def test_expressions_and_clauses_about_the_number_of_rows_are_free_too():
    session = opened()
    sql = "SELECT COUNT(*) * 2 AS q FROM t HAVING COUNT(*) > 10 ORDER BY q LIMIT 1"
    assert session.sql(sql).release(spend=dp.epsilon(1)).rows()[0]["q"] == 2 * N
    assert not session.ledger.entries


def test_beside_other_answers_the_number_of_rows_takes_no_share_of_the_loss():
    alone, both = (
        opened().sql(f"SELECT MEDIAN(x) AS m{more} FROM t")._allocate(dp.epsilon(1), None, None)
        for more in ("", ", COUNT(*) AS n")
    )
    assert alone.noise == both.noise


def test_plan_answer_and_certificate_say_that_the_size_is_public():
    query = opened().sql("SELECT AVG(x) AS a, VARIANCE(x) AS v, SUM(x) AS s FROM t")
    plan, release = query.explain(spend=dp.epsilon(1)), query.release(spend=dp.epsilon(1))
    assert (
        "the number of rows, 1,000, is public (the schema states it), so it gets no noise"
        in str(plan)
    )
    assert "compute a as 50 + (the sum of x − 50) / 1,000" in plan.steps
    assert "compute s as (the sum of x − 50) + 50 × 1,000" in plan.steps
    for told in (str(release), str(release.certificate())):
        assert "the number of rows, 1,000, is public" in told


def test_where_the_size_could_be_declared_the_plan_says_so():
    said = "state it exactly with dp.Schema(size=...)"
    for sql in ("SELECT COUNT(*) AS n FROM t", "SELECT AVG(x) AS a FROM t"):
        for unit, size, wanted in ((REPLACE, None, 1), (REPLACE, N, 0), (dp.rows(), None, 0)):
            plan = opened(unit=unit, size=size).sql(sql).explain(spend=dp.epsilon(1))
            assert str(plan).count(said) == wanted


def test_statistics_in_one_line_use_it():
    session, spend = opened(), dp.epsilon(1)
    assert session.count(spend=spend).value == N
    assert session.spent == dp.epsilon(0)
    for name, wanted in {"mean": 100 / N * LN20, "sum": 100 * LN20}.items():
        release = getattr(session, name)("x", spend=spend)
        assert ends_of(release, name) == pytest.approx(wanted, rel=1e-5)
    assert ends_of(session.variance("x", spend=spend), "variance") < 55
    first, second = session.describe(["x", "y"], spend=spend).rows()
    assert (first["count"], first["count_error"]) == (N, 0.0)
    assert second["count_error"] > 0  # y is left out where it is missing


# ---- only where it is proved


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT AVG(x) AS q FROM t WHERE y > 2",
        "SELECT AVG(x) FILTER (WHERE y > 2) AS q FROM t",
        "SELECT COUNT(*) FILTER (WHERE k = 'a') AS q FROM t",
        "SELECT AVG(y) AS q FROM t",
        "SELECT COUNT(y) AS q FROM t",
        "SELECT VARIANCE(x + y) AS q FROM t",
        "SELECT k, COUNT(*) AS q FROM t GROUP BY k",
        "SELECT k, AVG(x) AS q FROM t GROUP BY ROLLUP (k)",
        "SELECT COUNT(DISTINCT k) AS q FROM t",
        "SELECT COUNT(*) AS q FROM t JOIN names ON t.k = names.k",
        "SELECT COUNT(names.word) AS q FROM t LEFT JOIN names ON t.k = names.k",
    ],
)
def test_filters_missing_values_groups_and_joins_keep_their_noise(sql):
    session = _with_names(REPLACE)
    assert [p.rows for p in session.sql(sql).integers.parts.values()] == [None]
    assert session.sql(sql).release(spend=dp.epsilon(1)).rows()[0]["q_error"] > 0


def test_a_left_join_with_unique_rows_keeps_every_row_once():
    sql = "SELECT COUNT(*) AS q, AVG(x) AS a FROM t LEFT JOIN names ON t.k = names.k"
    parts = _with_names(REPLACE).sql(sql).integers.parts
    assert [p.rows for p in parts.values()] == [N, N]


def test_a_size_of_several_tables_together_is_that_of_none():
    tables = {"t": table(), "u": table()}
    schema = dp.Schema(size=N, unit=REPLACE)
    session = dp.open(tables, budget=dp.epsilon(9), schema=schema)
    assert session.sql("SELECT COUNT(*) AS n FROM t").integers.parts["n"].rows is None


def _with_names(unit):
    schema = dp.Schema(
        tables={
            "t": dp.Schema(
                columns={
                    "x": dp.bounds(0, 100, missing=0),
                    "y": dp.bounds(0, 6, type="int"),
                    "k": dp.keys(["a", "b"], missing="a"),
                },
                size=N,
            ),
            "names": dp.Schema(columns={"word": dp.column("text")}, public=True, size=7),
        },
        unit=unit,
    )
    names = pa.table({"k": ["a", "a", "c"], "word": ["one", "two", "three"]})
    return dp.open({"t": table(), "names": names}, budget=dp.epsilon(99), schema=schema)


@pytest.mark.parametrize(
    "unit",
    [
        dp.rows(),
        dp.person("y", rows=1),
        dp.person("y", rows=1, relation="replace"),
        dp.person("y", rows=3, relation="replace"),
    ],
    ids=repr,
)
def test_where_the_number_of_rows_is_private_nothing_changes(unit):
    sql, spend = "SELECT COUNT(*) AS n, AVG(x) AS a, SUM(x) AS s FROM t", dp.epsilon(1)
    known, unknown = (
        opened(size=size, unit=unit).sql(sql)._allocate(spend, None, None) for size in (N, None)
    )
    assert known.noise == unknown.noise
    assert all(parts.rows is None for parts in known.plan.parts.values())


# ---- what comes out


def test_without_noise_the_answers_are_those_of_the_table():
    x = table()["x"].to_numpy()
    with without_noise():
        (answer,) = opened().sql(ASKED).release(spend=dp.epsilon(1)).rows()
    truth = {"a": x.mean(), "s": x.sum(), "v": x.var(ddof=1), "d": x.std(), "n": N}
    for name, wanted in truth.items():
        assert answer[name] == pytest.approx(wanted, rel=1e-6), name


@pytest.mark.statistical
@pytest.mark.parametrize("budget", [dp.epsilon(9), dp.mu(9)], ids=["laplace", "gaussian"])
def test_means_sums_and_variances_are_covered_as_often_as_is_said(budget):
    """4,000 draws; alarms at 1e-8 each. Variances allow for an unknown mean, and are covered more.

    An average that is off by its ± is covered half of the time: that is never missed.
    """
    spend = dp.epsilon(0.2) if isinstance(budget, dp.Pure) else dp.mu(0.2)
    query = opened(budget=budget).sql(ASKED)
    x = table()["x"].to_numpy()
    truth = {"a": x.mean(), "s": x.sum(), "v": x.var(ddof=1), "d": x.std()}
    allocation = query._allocate(spend, None, None)
    cells = execute(query.integers, tables=query.session.tables)
    exact = [np.repeat(part.numbers(cells), 4_000) for part in allocation.parts]
    drawn = [noise.draw(numbers) for noise, numbers in zip(allocation.noise, exact, strict=True)]
    noisy = {}
    for part, numbers in zip(allocation.parts, drawn, strict=True):
        noisy |= part.read(numbers)
    parts = allocation.plan.parts
    found = {n: e.derive(allocation, noisy).interval(0.95) for n, e in parts.items()}

    def covered(name, truth):
        low, high = found[name]
        return int(np.sum((low <= truth) & (truth <= high))), 4_000, 0.95

    for name, wanted in truth.items():
        assert goodness.covered(*covered(name, wanted)) > 1e-8, name
    for name in "as":
        assert goodness.count(*covered(name, truth[name])) > 1e-8, name
    off = truth["a"] + float(np.mean(found["a"][1] - found["a"][0])) / 2
    assert goodness.covered(*covered("a", off)) < 1e-8, "more noise than stated would be seen"
