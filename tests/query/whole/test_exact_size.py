"""Where rows are replaced and their number is declared: it has no noise, and means need less."""

import itertools
import math
from statistics import NormalDist

import numpy as np
import pyarrow as pa
import pytest
from asking import without_noise
from hypothesis import given, settings
from hypothesis import strategies as st

import deniable as dp
from deniable.errors import BadParameter
from deniable.query.answer.derived import derived
from deniable.query.execute import execute

REPLACE = dp.rows(relation="replace")
N = 1_000
ENDS = [(0.0, 100.0), (-3.0, 1.0), (50.0, 60.0), (-10.0, 10.0)]
LN20, Z95 = math.log(20), NormalDist().inv_cdf(0.975)


def table(ends=(0.0, 100.0), count=N):
    low, high = ends
    x = np.linspace(low, high, count)
    return pa.table({"x": x, "y": [i % 7 for i in range(count)], "k": ["a", "b"] * (count // 2)})


def opened(ends=(0.0, 100.0), *, size=N, unit=REPLACE, budget=None, data=None, **facts):
    columns = {
        "x": dp.bounds(*ends, missing=ends[0]),
        "y": dp.bounds(0, 6, type="int"),
        "k": dp.keys(["a", "b"], missing="a"),
    }
    schema = dp.Schema(columns=columns | facts, size=size)
    source = table(ends) if data is None else data
    return dp.open(source, unit=unit, budget=budget or dp.epsilon(99), schema=schema, name="t")


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
    assert "the number of rows, 1,000, is public (the schema states it): it gets no noise" in str(
        plan
    )
    assert "compute a as 50 + (the sum of x − 50) / 1,000" in plan.steps
    assert "compute s as (the sum of x − 50) + 50 × 1,000" in plan.steps
    for told in (str(release), str(release.certificate())):
        assert "a: the number of rows, 1,000, is public" in told


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
    assert [p.rows for p in session.sql(sql).plan.parts.values()] == [None]
    assert session.sql(sql).release(spend=dp.epsilon(1)).rows()[0]["q_error"] > 0


def test_a_left_join_with_unique_rows_keeps_every_row_once():
    sql = "SELECT COUNT(*) AS q, AVG(x) AS a FROM t LEFT JOIN names ON t.k = names.k"
    parts = _with_names(REPLACE).sql(sql).plan.parts
    assert [p.rows for p in parts.values()] == [N, N]


def test_a_size_of_several_tables_together_is_that_of_none():
    tables = {"t": table(), "u": table()}
    schema = dp.Schema(size=N, unit=REPLACE)
    session = dp.open(tables, budget=dp.epsilon(9), schema=schema)
    assert session.sql("SELECT COUNT(*) AS n FROM t").plan.parts["n"].rows is None


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


# ---- privacy does not rest on what is declared

SIZES = [1, 2, N - 1, N, 10**6, 2**53]
ASKED = """
    SELECT AVG(x) AS a, SUM(x) AS s, VARIANCE(x) AS v, STDDEV_POP(x) AS d, COUNT(*) AS n FROM t
"""


@pytest.mark.parametrize("count", [0, 2, N])
def test_a_wrong_size_changes_no_noise_and_fails_nowhere(count):
    noises = set()
    for size in SIZES:
        query = opened(size=size, data=table(count=count)).sql(ASKED)
        noises.add(query._allocate(dp.epsilon(1), None, None).noise)
        (answer,) = query.release(spend=dp.epsilon(1)).rows()
        assert all(math.isfinite(value) for value in answer.values())
        assert answer["n"] == size
        assert 0 <= answer["a"] <= 100
    assert len(noises) == 1


def test_a_size_beyond_what_a_table_can_have_is_refused():
    with pytest.raises(BadParameter, match="2\\^53"):
        dp.Schema(size=2**53 + 1)


def test_an_answer_with_another_declared_size_is_another_answer(tmp_path):
    path = tmp_path / "ledger.db"
    spent = []
    for size in (N, N, N + 1):
        with dp.open(
            table(),
            unit=REPLACE,
            budget=dp.epsilon(9),
            schema=dp.Schema(columns={"x": dp.bounds(0, 100, missing=0)}, size=size),
            ledger=path,
            name="t",
        ) as session:
            session.sql("SELECT AVG(x) AS a FROM t").release(spend=dp.epsilon(1))
            spent.append(session.spent.epsilon)
    assert spent == pytest.approx([1, 1, 2])


VALUE = st.sampled_from([None, math.nan, -1e300, -3.0, -1.0, 0.25, 1.0, math.inf])
QUESTIONS = [
    ASKED,
    "SELECT AVG(x) AS a FROM t",
    "SELECT SUM(x) AS s, COUNT(*) AS n FROM t",
    "SELECT VAR_POP(x * 3) AS v FROM (SELECT x FROM t) AS t",
    "SELECT SUM(CASE WHEN k = 'a' THEN x ELSE 1 END) AS s, AVG(x) AS a FROM t",
]


def _vectors(session, sql):
    query = session.sql(sql)
    allocation = query._allocate(dp.epsilon(1), None, None)
    cells = execute(query.plan, tables=session.tables)
    return [(part.vector, part.numbers(cells)) for part in allocation.parts]


@settings(max_examples=25, deadline=None)
@given(
    st.lists(VALUE, max_size=4), VALUE, VALUE, st.sampled_from(QUESTIONS), st.sampled_from(SIZES)
)
def test_a_replaced_row_moves_what_gets_noise_no_further_than_declared(rest, one, other, sql, size):
    tables = (
        pa.table({"x": pa.array([*rest, x], pa.float64()), "k": ["a"] * (len(rest) + 1)})
        for x in (one, other)
    )
    first, second = (
        _vectors(
            dp.open(
                each,
                unit=REPLACE,
                budget=dp.epsilon(9),
                schema=dp.Schema(
                    columns={
                        "x": dp.bounds(-3.0, 1.0, missing=0.0),
                        "k": dp.keys(["a"], missing="a"),
                    },
                    size=size,
                ),
                name="t",
            ),
            sql,
        )
        for each in tables
    )
    for (vector, before), (_, after) in zip(first, second, strict=True):
        change = np.abs(after - before).astype(float)
        assert change.sum() <= vector.l1
        assert math.sqrt((change**2).sum()) <= vector.l2


@pytest.mark.parametrize("ends", ENDS, ids=str)
def test_and_reaches_it(ends):
    """Bounds that nothing reaches would be noise for nothing; one step is for rounding."""
    for sql in ("SELECT AVG(x) AS q FROM t", "SELECT SUM(x) AS q FROM t"):
        ((vector, before),), ((_, after),) = (
            _vectors(opened(ends, data=pa.table({"x": [end], "y": [0], "k": ["a"]})), sql)
            for end in ends
        )
        assert abs(int(after[0]) - int(before[0])) >= vector.l1 - 1


def test_a_broken_line_of_a_file_moves_no_more(tmp_path):
    """It may stand in for any row: a sum that is not centred would move by more than the width."""
    found = []
    for name, line in {"low": "50.0", "high": "60.0", "broken": '"5'}.items():
        path = tmp_path / f"{name}.csv"
        path.write_text(f"x\n55.0\n{line}\n")
        schema = dp.Schema(columns={"x": dp.bounds(50, 60, missing=50)}, size=2)
        session = dp.open(path, unit=REPLACE, budget=dp.epsilon(9), schema=schema, name="t")
        found.append(_vectors(session, "SELECT SUM(x) AS s FROM t"))
    for (first,), (second,) in itertools.combinations(found, 2):
        assert abs(int(first[1][0]) - int(second[1][0])) <= first[0].l1
    wide = session.sql("SELECT SUM(x) AS s FROM t").explain(spend=dp.epsilon(1)).errors["s"]
    assert wide == pytest.approx(10 * LN20, rel=1e-5)


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
    """4,000 draws: 95 % ± 1.7 % but for a chance of 10⁻⁶. Variances allow for an unknown mean."""
    spend = dp.epsilon(0.2) if isinstance(budget, dp.Pure) else dp.mu(0.2)
    query = opened(budget=budget).sql(ASKED)
    x = table()["x"].to_numpy()
    truth = {"a": x.mean(), "s": x.sum(), "v": x.var(ddof=1), "d": x.std()}
    allocation = query._allocate(spend, None, None)
    cells = execute(query.plan, tables=query.session.tables)
    exact = [np.repeat(part.numbers(cells), 4_000) for part in allocation.parts]
    drawn = [noise.draw(numbers) for noise, numbers in zip(allocation.noise, exact, strict=True)]
    noisy = {}
    for part, numbers in zip(allocation.parts, drawn, strict=True):
        noisy |= part.read(numbers)
    found = {name: each.interval(0.95) for name, each in derived(allocation, noisy).items()}

    def covered(name, truth):
        low, high = found[name]
        return np.mean((low <= truth) & (truth <= high))

    for name, wanted in truth.items():
        assert covered(name, wanted) >= 0.95 - 0.017, name
    for name in "as":
        assert covered(name, truth[name]) <= 0.95 + 0.017, name
    assert covered("a", truth["a"] + 3) < 0.9, "noise that is larger than stated would be seen"
