"""Counts and sums told by one vector: what a unit moves, the way back, and what is gained."""

import itertools
from fractions import Fraction

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import deniable as dp
from deniable.query.allocate import allocation as allocating
from deniable.query.allocate.allocation import parts_of
from deniable.query.allocate.basis import Basis, foldings, side_by_side, with_all_rows
from deniable.query.integers import Cells

HELD = pa.table({"x": [3, 4, None], "y": [1, None, 2], "u": ["a", "b", "c"], "k": ["a", "b", "a"]})
ENDS = [(0, 100), (-3, 0), (-50, 50), (-10, 100), (7, 12), (-12, -7)]
UNITS = [
    dp.rows(),
    dp.rows(relation="replace"),
    dp.person("u", rows=3),
    dp.person("u", rows=3, relation="replace"),
]
SELECT = (
    "COUNT(*) AS n, COUNT(x) AS m, SUM(x) AS s, AVG(x) AS a, COUNT(*) FILTER (WHERE x > 1) AS f"
)


def asked(select=SELECT, *, ends=(0, 100), unit=UNITS[0], group="", missing="drop", kind="int"):
    columns = {"x": dp.bounds(*ends, type=kind, missing=missing), "k": dp.keys(["a", "b"])}
    columns["y"] = dp.bounds(0, 9, type="int", missing="drop")
    schema = dp.Schema(columns=columns)
    session = dp.open(HELD, unit=unit, budget=dp.epsilon(99), schema=schema, name="t")
    keys = f" GROUP BY {group}" if group else ""
    return session.sql(f"SELECT {select} FROM t{keys}")


def ways(plan):
    return list(foldings(plan.tallies, plan))


def added(plan, rows):
    """What rows (group, value or None, whether it is filtered out) add to every tally's cells."""
    found = {tally.name: [0, 0] for tally in plan.tallies}
    weight = min(plan.weight, plan.rows * plan.weight // max(len(rows), 1))
    for group, value, filtered in rows:
        for tally in plan.tallies:
            missing = tally.value is not None and value is None
            if missing or (tally.where is not None and filtered):
                continue
            q = 1
            if tally.measure == "sum":
                q = min(max(value, tally.low), tally.high)
            found[tally.name][group] += weight * q
    return found


def changes(basis, first, second):
    """By how much each coordinate differs, where one unit's rows are exchanged for another's."""
    found = []
    for factors, group in itertools.product(basis.forth, (0, 1)):
        moved = [first[t.name][group] - second[t.name][group] for t in basis.tallies]
        found.append(abs(sum(f * m for f, m in zip(factors, moved, strict=True))))
    return found


# The second sum is not centred: rows without a value count, and bounds may be far from 0.
PLANS = [
    asked(select, ends=ends, unit=unit, group="k").integers
    for select, ends, unit in itertools.product([SELECT, "COUNT(*), SUM(x)"], ENDS, UNITS)
]
one = st.tuples(st.integers(0, 1), st.none() | st.integers(-130, 130), st.booleans())


@given(st.sampled_from(PLANS), st.lists(one, max_size=5), st.lists(one, max_size=5))
def test_a_unit_moves_all_coordinates_by_no_more_than_is_said(plan, first, second):
    if plan.weight == 1:
        first, second = first[:1], second[:1]
    second = second if plan.unit.relation == "replace" else []
    mine, other = added(plan, first), added(plan, second)
    assert len(ways(plan)) == (1 if len(plan.tallies) == 2 else 5)
    for basis in ways(plan):
        found = changes(basis, mine, other)
        assert sum(found) <= basis.moves.l1
        assert sum(f * f for f in found) <= basis.moves.l2_squared
        assert max(found) <= basis.moves.linf


def test_bounds_are_reached_so_smaller_ones_would_be_caught_above():
    for plan in PLANS:
        most = plan.rows if plan.weight > 1 else 1
        full = [added(plan, [(0, x, False)] * most) for x in (-130, 130, None)]
        none = [(1, 130, False)] * most if plan.unit.relation == "replace" else []
        rest = added(plan, none)
        for basis in ways(plan):
            found = [changes(basis, mine, rest) for mine in full]
            assert max(map(sum, found)) == basis.moves.l1, basis
            assert basis.moves.l2_squared == basis.moves.l1**2
            if plan.unit.relation != "replace":
                assert max(map(max, found)) == basis.moves.linf


def test_tallies_that_are_folded_are_mixed_and_those_alone_or_side_by_side_are_not():
    for plan in PLANS:
        for basis in ways(plan):
            assert basis.folded
            assert basis.turned
        for tally in plan.tallies:
            alone = Basis.plain(tally)
            assert not alone.folded
            assert not alone.turned
    plan = asked("COUNT(x) AS n, SUM(x) AS s", ends=(-50, 50), unit=UNITS[1]).integers
    (beside,) = side_by_side(plan.tallies, plan, "gaussian")
    assert beside.folded
    assert not beside.turned


@pytest.mark.parametrize("still", ["CLAMP(x, 0, 0)", "x * 0"])
@pytest.mark.parametrize("law", ["laplace", "gaussian"])
def test_a_sum_that_nobody_moves_is_not_put_beside_a_count(still, law):
    plan = asked(f"COUNT({still}) AS n, SUM({still}) AS s", unit=UNITS[1]).integers
    assert {t.measure.value: bool(t.moves.l1) for t in plan.tallies} == {"count": 1, "sum": 0}
    assert list(side_by_side(plan.tallies, plan, law)) == []


def test_a_grouping_set_more_adds_as_much_again():
    for unit in UNITS:
        one, two = (asked(unit=unit, group=group).integers for group in ("k", "ROLLUP (k)"))
        for first, both in zip(ways(one), ways(two), strict=True):
            assert both.moves.l1 == 2 * first.moves.l1
            assert both.moves.linf == first.moves.linf


@pytest.mark.parametrize(("group", "sets"), [("", 1), ("k", 1), ("ROLLUP (k)", 2)])
@pytest.mark.parametrize(("unit", "most"), [(UNITS[0], 1), (UNITS[2], 3)])
def test_counts_told_with_the_number_of_all_rows_move_as_far_as_is_said(group, sets, unit, most):
    """A unit's rows are all in the total, and in any of the other counts."""
    counts = "COUNT(x) AS m, COUNT(y) AS l, COUNT(*) FILTER (WHERE x > 1) AS f"
    plan = asked(counts, unit=unit, group=group).integers
    (basis,) = with_all_rows(plan)
    assert (len(basis.tallies), plan.rows) == (4, most)
    far = []
    for counted in itertools.product((0, plan.rows * plan.weight), repeat=3):
        moved = (*counted, plan.rows * plan.weight)
        far.append([abs(sum(map(int.__mul__, row, moved))) for row in basis.forth])
    assert basis.moves.l1 == sets * max(map(sum, far))
    assert basis.moves.l2_squared == sets * max(sum(x * x for x in each) for each in far)
    assert basis.moves.linf == max(map(max, far))


def test_the_way_back_is_exact():
    for plan in PLANS:
        for basis in ways(plan):
            for i, back in enumerate(basis.back):
                product = [
                    sum(b * Fraction(f[j]) for b, f in zip(back, basis.forth, strict=True))
                    for j in range(len(basis.tallies))
                ]
                assert product == [int(i == j) for j in range(len(basis.tallies))]


@given(st.sampled_from(PLANS), st.lists(one, max_size=5))
def test_without_noise_tallies_come_back_as_they_were(plan, rows):
    cells = {name: np.array(c, dtype=object) for name, c in added(plan, rows).items()}
    for part in parts_of(plan, "laplace"):
        found = part.read(part.numbers(Cells(groups=(), numbers=cells, histograms={})))
        for tally in part.tallies:
            truth = [float(c * tally.unit) for c in cells[tally.name]]
            assert found[tally.name].tolist() == pytest.approx(truth, abs=1e-4)


def told(query, names, *, apart=False):
    """The ± of columns, where averages are of 1,000 rows; without folding if `apart`."""
    with pytest.MonkeyPatch.context() as patch:
        if apart:
            patch.setattr(allocating, "foldings", lambda *_: ())
        found = query.explain(spend=dp.epsilon(0.1), size=1000).errors
    return [found[name] for name in names]


@pytest.mark.parametrize("ends", ENDS, ids=str)
@pytest.mark.parametrize(
    ("select", "least"),
    [
        ("COUNT(*) AS n, AVG(x) AS a", 1.35),
        ("COUNT(x) AS n, AVG(x) AS a", 1.3),
        ("COUNT(*) AS n, COUNT(x) AS a", 1.35),
        ("COUNT(*) AS n, COUNT(*) FILTER (WHERE x > 1) AS a", 1.35),
        ("COUNT(*) AS n, AVG(x) AS a, VAR_POP(x) AS v", 1.0),
    ],
)
def test_both_err_less_than_apart(select, least, ends):
    names = [part.split()[-1] for part in select.split(", ")]
    folded = told(asked(select, ends=ends, group="k", kind="float"), names)
    apart = told(asked(select, ends=ends, group="k", kind="float"), names, apart=True)
    assert all(f * least <= a for f, a in zip(folded, apart, strict=True)), (folded, apart)


def test_what_hardly_matters_is_not_worth_a_share():
    query = asked("COUNT(x) AS n, AVG(x) AS a")
    few, many = (query.explain(spend=dp.epsilon(1), weights={"n": w}) for w in (1, 1e6))
    assert few.errors["n"] > many.errors["n"]
    assert any("the sums of x" in step for step in few.steps)
    assert not any("the sums of x" in step for step in many.steps)


def test_only_rows_that_are_counted_may_be_summed():
    """A count where x > 1 says nothing of a sum of all x: they stay apart."""
    plan = asked("COUNT(*) FILTER (WHERE x > 1) AS f, SUM(x) AS s").integers
    assert ways(plan) == []
    other = asked("COUNT(y) AS f, SUM(x) AS s").integers
    assert ways(other) == []
    twin = asked("COUNT(*) FILTER (WHERE x > 1) AS f, AVG(x) FILTER (WHERE x > 1) AS s").integers
    assert ways(twin)


def test_a_tally_that_cannot_move_is_left_alone():
    """Where rows are replaced and none is left out, their number is public."""
    plan = asked("COUNT(*) AS n, AVG(x) AS a", unit=UNITS[1], missing=0).integers
    (count, total) = plan.tallies
    assert count.moves.l1 == 0
    assert ways(plan) == []
    assert [p.basis for p in parts_of(plan, "laplace")] == [Basis.plain(t) for t in (count, total)]


@pytest.mark.parametrize("still", ["SUM(CLAMP(x, 0, 0))", "SUM(x * 0)", "COUNT(x) * 0"])
def test_what_nobody_moves_is_told_beside_counts(still):
    made = asked(f"COUNT(*) AS n, COUNT(x) AS m, {still} AS t").release(spend=dp.epsilon(1.0))
    assert made.to_pandas().shape[0] == 1
    assert {"n", "m", "t"} <= {*made.to_pandas().columns}
