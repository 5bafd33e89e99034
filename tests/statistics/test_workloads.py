"""Ranges, marginals, hierarchies and running totals of a session."""

import datetime as dt
import math

import numpy as np
import pandas as pd
import psycopg
import pytest

import deniable as dp
from deniable.audit import replay
from deniable.errors import (
    BadParameter,
    BudgetExceeded,
    DeniableError,
    MissingBounds,
    UnknownName,
)

ROWS = 600
START = dt.date(2025, 1, 1)
SCHEMA = dp.Schema(
    columns={
        "age": dp.bounds(0, 99, type="int", missing="drop"),
        "sex": dp.keys(["F", "M"]),
        "city": dp.keys(["a", "b", "c"]),
        "pay": dp.bounds(0.0, 100.0, missing="drop"),
        "day": dp.bounds(dt.date(2025, 1, 1), dt.date(2025, 3, 31), type="date", missing="drop"),
    }
)


def people(rows=ROWS):
    rng = np.random.default_rng(0)
    return pd.DataFrame(
        {
            "who": rng.integers(0, rows // 4, rows),
            "age": rng.integers(0, 100, rows),
            "sex": rng.choice(["F", "M", None], rows),
            "city": rng.choice(["a", "b", "c"], rows),
            "pay": rng.uniform(0, 100, rows),
            "day": [START + dt.timedelta(days=d) for d in rng.integers(0, 90, rows).tolist()],
        }
    )


UNITS = [dp.rows(), dp.rows(relation="replace"), dp.person("who", rows=3)]
SPENDS = [dp.rho(0.5), dp.epsilon(1.0), dp.epsilon(1.0, delta=1e-6)]
MAPPING = {"coast": {"a": "yes", "b": "no", "c": "yes"}}


def budget(spend):
    return {"Zcdp": dp.rho(5.0), "Pure": dp.epsilon(10.0)}.get(
        type(spend).__name__, dp.epsilon(10.0, delta=1e-5)
    )


def opened(table, unit=UNITS[0], spend=SPENDS[0]):
    return dp.open(table, unit=unit, budget=budget(spend), schema=SCHEMA)


def every(s, spend):
    return [
        s.ranges("age", spend=spend).release,
        s.ranges("pay", bins=10, spend=spend).release,
        s.marginals(["sex", "city", "age"], ways=2, bins=4, spend=spend),
        s.hierarchy(["sex", "city"], groups=MAPPING, spend=spend),
        s.running("day", every="week", spend=spend),
        s.running("day", every="week", of="pay", spend=spend),
    ]


def pairs():
    table = people()
    one = table.iloc[[0]]
    yield "gone", dp.rows(), table, table.iloc[1:]
    other = pd.concat([table.iloc[1:], one.assign(age=99, sex=None, city="c", pay=-5.0)])
    yield "replaced", dp.rows(relation="replace"), table, other
    whole = table[table.who != 7]
    many = pd.concat([whole, pd.concat([one] * 9).assign(who=7), one.assign(who=7, age=3)])
    yield "person", dp.person("who", rows=3), whole, many


@pytest.mark.parametrize("spend", SPENDS, ids=str)
@pytest.mark.parametrize("pair", list(pairs()), ids=lambda pair: pair[0])
def test_neighbours_move_values_no_further_than_declared(pair, spend):
    _, unit, first, second = pair
    found = replay(lambda table: every(opened(table, unit, spend), spend), first, second)
    assert found.ok, str(found)


@pytest.mark.parametrize("unit", UNITS, ids=str)
@pytest.mark.parametrize("spend", SPENDS, ids=str)
def test_each_costs_what_was_asked_and_comes_again_for_nothing(unit, spend):
    s = opened(people(), unit, spend)
    first = every(s, spend)
    spent = s.spent
    again = every(s, spend)
    assert s.spent == spent
    for one, two in zip(first, again, strict=True):
        assert one.rows() == two.rows()
        assert two.free
    most = sum([spend] * 5, spend)
    assert spent.epsilon_at(1e-5) <= most.epsilon_at(1e-5) * (1 + 1e-9)


def test_a_range_covers_the_truth():
    """Of 30 releases at 95 %, fewer than 18 cover with odds below 1e-8."""
    table = people(60)
    truth = ((table.age >= 20) & (table.age <= 59)).sum()
    covered = total = 0
    for _ in range(30):
        s = dp.open(table, unit=dp.rows(), budget=dp.epsilon(1.0), schema=SCHEMA)
        found = s.ranges("age", bins=10, spend=dp.epsilon(1.0))
        value, half = found.between(20, 59)
        covered += abs(value - truth) <= half
        total += abs(found.between(0, 99)[0] - 60) <= found.between(0, 99)[1]
    assert min(covered, total) >= 18


def test_ranges_answer_any_range_and_quantile():
    table = people(40_000)
    s = dp.open(table, unit=dp.rows(), budget=dp.rho(100.0), schema=SCHEMA)
    ages = s.ranges("age", spend=dp.rho(10.0))
    assert len(ages.to_pandas()) == 100
    assert abs(ages.between(20, 40)[0] - table.age.between(20, 40).sum()) < 10
    assert abs(ages.quantile(0.5) - table.age.median()) <= 1
    pays = s.ranges("pay", bins=10, spend=dp.rho(10.0))
    value, half = pays.between(12.5, 47.0)
    assert abs(value - table.pay.between(12.5, 47.0).sum()) <= half
    assert half > pays.between(10.0, 50.0)[1]
    days = s.ranges("day", spend=dp.rho(10.0))
    january = days.between(dt.date(2025, 1, 1), dt.date(2025, 1, 31))[0]
    assert abs(january - (table.day <= dt.date(2025, 1, 31)).sum()) < 10
    assert dt.date(2025, 2, 10) < days.quantile(0.5) < dt.date(2025, 2, 20)
    assert ages.between(200, 300) == (0.0, 0.0)
    with pytest.raises(BadParameter):
        ages.between(40, 20)
    with pytest.raises(BadParameter):
        ages.between("x", "y")


def test_marginals_and_hierarchies_agree_and_running_totals_add_up():
    table = people()
    s = dp.open(table, unit=dp.rows(), budget=dp.rho(100.0), schema=SCHEMA)
    found = s.marginals(["sex", "city", "age"], bins=4, spend=dp.rho(20.0)).to_pandas()
    by_city = found[found.sex.notna() & found.city.notna()].groupby("city")["count"].sum()
    other = found[found.age.notna() & found.city.notna()].groupby("city")["count"].sum()
    assert np.allclose(by_city, other)
    tree = s.hierarchy(["sex", "city"], groups=MAPPING, spend=dp.rho(20.0)).to_pandas()
    sums = tree.groupby("level")["count"].sum()
    assert np.allclose(sums, sums["total"])
    assert abs(sums["total"] - len(table)) < 5
    coast = tree[(tree.level == "coast") & (tree.coast == "yes")]["count"].item()
    assert abs(coast - table.city.isin(["a", "c"]).sum()) < 5
    days = s.running("day", spend=dp.rho(20.0)).to_pandas()
    assert len(days) == 90
    assert abs(days["total"].iloc[-1] - len(table)) < 5
    assert abs(days["total"].iloc[30] - (table.day <= dt.date(2025, 1, 31)).sum()) < 5


def test_a_plan_is_free_and_says_the_error():
    s = opened(people())
    for asked in (
        s.ranges("age"),
        s.marginals(["sex", "city"]),
        s.hierarchy(["sex", "city"]),
        s.running("day"),
    ):
        plan = asked.explain(spend=dp.rho(0.5))
        (error,) = plan.errors.values()
        assert 0 < error < 50
        assert "95 %" in str(plan)
        assert str(asked).startswith(f"{asked.title}: not asked yet; .explain(spend=...) is free")
    assert s.spent == dp.rho(0.0) or s.spent.rho == 0
    people_plan = opened(people(), UNITS[2]).ranges("age").explain(spend=dp.rho(0.5))
    assert "a person with more than 3 rows counts as 3 rows" in str(people_plan)


def test_refusals_come_before_the_charge():
    s = opened(people())
    spend = dp.rho(0.5)
    for wrong, ask in [
        (UnknownName, lambda: s.ranges("agee", spend=spend)),
        (BadParameter, lambda: s.ranges("city", spend=spend)),
        (BadParameter, lambda: s.running("age", spend=spend)),
        (BadParameter, lambda: s.running("day", every="hour", spend=spend)),
        (BadParameter, lambda: s.running("day", every="decade", spend=spend)),
        (UnknownName, lambda: s.running("day", of="pays", spend=spend)),
        (DeniableError, lambda: s.running("day", of="city", spend=spend)),
        (MissingBounds, lambda: s.running("day", of="who", spend=spend)),
        (BadParameter, lambda: s.hierarchy(["city"], groups={"g": {"a": 1}}, spend=spend)),
        (BadParameter, lambda: s.marginals(["city", "city"], spend=spend)),
        (BadParameter, lambda: s.marginals(["sex", "city"], ways=0, spend=spend)),
        (MissingBounds, lambda: s.ranges("who", spend=spend)),
        (BudgetExceeded, lambda: s.ranges("age", spend=dp.rho(50.0))),
    ]:
        with pytest.raises(wrong):
            ask()
    assert s.spent.rho == 0


@pytest.mark.parametrize("rows", [0, 1])
def test_hardly_any_rows_are_no_special_case(rows):
    s = opened(people().iloc[:rows])
    for found in every(s, dp.rho(0.5)):
        assert len(found.rows()) > 1


def test_charts_are_drawn():
    s = opened(people())
    assert s.ranges("age", bins=10, spend=dp.rho(0.5)).plot().get_title(loc="left")
    assert s.running("day", every="month", spend=dp.rho(0.5)).plot().get_title(loc="left")
    dates = s.ranges("day", bins=9, spend=dp.rho(0.5)).plot()
    assert next(tick.get_text() for tick in dates.get_xticklabels()) == "2025-01-01"


def test_tables_and_levels_have_a_panel_each_and_what_is_not_given_is_not_missing():
    s = opened(people())
    levels = s.hierarchy(["sex", "city"], groups=MAPPING, spend=dp.rho(0.5)).plot().figure.axes
    assert [each.get_title(loc="left") for each in levels] == ["city", "sex", "coast", "total"]
    tables = s.marginals(["sex", "city"], ways=1, spend=dp.rho(0.5)).plot().figure.axes
    assert [each.get_title(loc="left") for each in tables] == ["sex", "city"]
    shown = [tick.get_text() for each in tables for tick in each.get_yticklabels()]
    assert shown == ["F", "M", "missing", "a", "b", "c", "missing"]


@pytest.fixture
def postgres(server):
    table = people(300)
    with psycopg.connect(server, autocommit=True) as connection:
        connection.execute("DROP TABLE IF EXISTS data")
        connection.execute(
            "CREATE TABLE data (who bigint, age bigint, sex text, city text, pay float8, day date)"
        )
        with connection.cursor() as cursor:
            rows = table.astype(object).where(table.notna(), None).to_numpy().tolist()
            cursor.executemany("INSERT INTO data VALUES (%s, %s, %s, %s, %s, %s)", rows)
    yield server
    with psycopg.connect(server, autocommit=True) as connection:
        connection.execute("DROP TABLE IF EXISTS data")


@pytest.mark.parametrize("unit", [UNITS[0], UNITS[2]], ids=str)
def test_postgres_counts_the_same(postgres, unit):
    """Answers of two engines differ by noise alone: ρ = 100 each, so by a few counts at most."""
    schema, spend = dp.Schema(tables={"data": SCHEMA}), dp.rho(100.0)
    there = dp.open(postgres, unit=unit, budget=dp.rho(1000.0), schema=schema)
    here = dp.open(people(300), unit=unit, budget=dp.rho(1000.0), schema=SCHEMA)
    for one, two in zip(every(there, spend), every(here, spend), strict=True):
        first, second = one.to_pandas(), two.to_pandas()
        name = "total" if "total" in first else "count"
        limit = 12 * max(1.0, float(first[f"{name}_error"].max()))
        assert np.abs(first[name] - second[name]).max() < limit


@pytest.mark.parametrize("unit", [UNITS[0], UNITS[2]], ids=str)
@pytest.mark.parametrize("spend", [dp.rho(0.5), dp.epsilon(1.0)], ids=str)
def test_running_sums_are_within_their_errors_which_are_known_before(unit, spend):
    """Of 30 releases at 95 %, fewer than 18 cover with odds below 1e-8; at ρ = 1e6 nothing moves.

    Nobody has more rows than count and no value is clipped, so that the truth is the plain sum.
    """
    table = people(240).drop_duplicates(subset="who").assign(pay=50.0)
    truth = table[table.day <= dt.date(2025, 2, 28)].pay.sum()
    expected = opened(table, unit, spend).running("day", every="month", of="pay")
    (error,) = expected.explain(spend=spend).errors.values()
    covered = 0
    for _ in range(30):
        found = opened(table, unit, spend).running("day", every="month", of="pay", spend=spend)
        frame = found.to_pandas()
        assert frame.total_error.max() == pytest.approx(error, rel=0.01)
        covered += abs(frame.total[1] - truth) <= frame.total_error[1]
    assert covered >= 18


def test_a_running_sum_clips_values_and_says_so():
    table = people(200).assign(pay=500.0)
    s = dp.open(table, unit=dp.rows(), budget=dp.rho(1e9), schema=SCHEMA)
    found = s.running("day", every="month", of="pay", spend=dp.rho(1e6))
    assert found.to_pandas().total.iloc[-1] == pytest.approx(200 * 100.0, abs=5)
    assert "clipped to [0, 100]" in str(found)


def test_heavy_hitters_are_found_among_known_and_unknown_pages():
    names = [f"page {i}" for i in range(2000)]
    visits = np.repeat(np.arange(2000), np.maximum(4000 // (np.arange(2000) + 1), 1))
    table = pd.DataFrame({"page": np.array(names)[visits]})
    wanted = set(names[:8])
    known = dp.Schema(columns={"page": dp.keys(names)})
    s = dp.open(table, unit=dp.rows(), budget=dp.epsilon(2.0), schema=known)
    assert set(s.top_k("page", k=8, spend=dp.epsilon(2.0)).keys["page"]) == wanted
    s = dp.open(table, unit=dp.rows(), budget=dp.epsilon(2.0, delta=1e-6))
    found = s.top_k("page", k=8, spend=dp.epsilon(2.0, delta=1e-7)).keys["page"]
    assert set(found) == wanted


TAKEN = ["count", "level", "leaf", "total", "count_error", "noisy_count", "group", "Total"]


@pytest.mark.parametrize("name", TAKEN)
def test_a_column_of_any_name_is_shown_beside_the_answer_or_refused_for_nothing(name):
    table = pd.DataFrame({name: [0, 1, 2] * 20, "g": ["a", "b"] * 30})
    schema = dp.Schema(columns={name: dp.keys([0, 1, 2]), "g": dp.keys(["a", "b"])})
    s = dp.open(table, unit=dp.rows(), budget=dp.rho(1e6), schema=schema)
    spend = dp.rho(1e4)
    for ask in (
        lambda: s.marginals(["g", name], spend=spend),
        lambda: s.ranges(name, spend=spend).release,
        lambda: s.hierarchy(["g", name], spend=spend),
        lambda: s.hierarchy([name, "g"], spend=spend),
    ):
        before = s.spent
        try:
            found = ask()
        except BadParameter:
            assert s.spent == before
            assert name.lower() in ("level", "leaf", "total")
            continue
        (answer,) = found.answers
        frame = found.to_pandas()
        assert {name, answer, f"{answer}_error"} <= set(frame.columns)
        assert len(frame.columns) == len({c.lower() for c in frame.columns})
        assert {"0", "1", "2"} <= {str(v).split(".")[0] for v in frame[name]}
        assert set(frame[answer].round()) <= {0.0, 10.0, 20.0, 30.0, 60.0}


@pytest.mark.parametrize("name", ["sex", "city", "level", "leaf", "total", "City"])
def test_a_grouping_called_like_another_level_is_refused_for_nothing(name):
    s = opened(people())
    mapping = {name: {"a": "yes", "b": "no", "c": "yes"}}
    with pytest.raises(BadParameter, match="level"):
        s.hierarchy(["sex", "city"], groups=mapping, spend=dp.rho(0.5))
    assert s.spent.rho == 0


@pytest.mark.parametrize("bins", [None, 10])
def test_ranges_of_whole_numbers_may_end_between_them(bins):
    s = dp.open(people(), unit=dp.rows(), budget=dp.rho(100.0), schema=SCHEMA)
    ages = s.ranges("age", bins=bins, spend=dp.rho(10.0))
    assert ages.between(19.5, 59.2) == ages.between(20, 59)
    assert ages.between(3.2, 3.8) == (0.0, 0.0)
    assert ages.between(-float("inf"), float("inf")) == ages.between(0, 99)
    for bad in (float("nan"), "x", None, START):
        with pytest.raises(BadParameter):
            ages.between(bad, 50)
        with pytest.raises(BadParameter):
            ages.between(50, bad)
    days = s.ranges("day", bins=bins, spend=dp.rho(10.0))
    with pytest.raises(BadParameter):
        days.between(3.5, 9.2)


@pytest.mark.parametrize("every_", ["day", "week", "month", "quarter", "year"])
@pytest.mark.parametrize(
    "ends", [(dt.date(9999, 12, 1), dt.date.max), (dt.date.min, dt.date(1, 2, 1))], ids=str
)
def test_running_totals_at_the_ends_of_the_calendar_are_counted_or_refused(ends, every_):
    schema = dp.Schema(columns={"day": dp.bounds(*ends, type="date", missing="drop")})
    table = pd.DataFrame({"day": [ends[0]]})
    s = dp.open(table, unit=dp.rows(), budget=dp.rho(1.0), schema=schema)
    beyond = ends[1] == dt.date.max or (every_ == "week" and ends[0].weekday())
    if beyond:
        with pytest.raises(BadParameter, match="9999"):
            s.running("day", every=every_, spend=dp.rho(0.5))
        assert s.spent.rho == 0
    else:
        assert len(s.running("day", every=every_, spend=dp.rho(0.5)).rows()) > 0


@pytest.mark.parametrize("epsilon", [3.9, 4.1, 5.0])
def test_small_noise_covers_whole_totals_as_often_as_it_says(epsilon):
    """One rounded Laplace noise: P(|noise| ≤ k) = 1 − e^(−(k + ½)·ε)."""
    first, last = dt.date(2025, 1, 1), dt.date(2025, 1, 2)
    facts = dp.Schema(columns={"day": dp.bounds(first, last, type="date")})
    frame = pd.DataFrame({"day": [first, last, last]})
    session = dp.open(frame, unit=dp.rows(), budget=dp.epsilon(epsilon * 2), schema=facts)
    asked = session.running("day")
    expected = asked.explain(spend=dp.epsilon(epsilon)).errors["total"]
    halves = asked.release(spend=dp.epsilon(epsilon)).answers["total"].errors(0.95)
    assert max(halves) == pytest.approx(expected)
    assert 1 - math.exp(-(math.floor(halves[0] + 1e-9) + 0.5) * epsilon) >= 0.95
    ranges = session.ranges("day", bins=[first, last]).release(spend=dp.epsilon(epsilon))
    _, half = ranges.between(first, first)
    assert 1 - math.exp(-(math.floor(half + 1e-9) + 0.5) * epsilon) >= 0.95
