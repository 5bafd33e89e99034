"""Counts of some rows under Gaussian noise share that of the number of all rows."""

import itertools
import math
from fractions import Fraction

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

import deniable as dp
from deniable.audit import replay
from deniable.query.allocate.allocation import parts_of
from deniable.query.allocate.basis import with_all_rows

GROUPS = ["a", "b"]
SCHEMA = dp.Schema(
    columns={"x": dp.bounds(0, 99, type="int", missing="drop"), "g": dp.keys(GROUPS)}
)
UNITS = [dp.rows(), dp.person("who", rows=3)]


def people(rows=40):
    rng = np.random.default_rng(0)
    x = rng.integers(0, 100, rows)
    return pd.DataFrame({"who": rng.integers(0, 9, rows), "x": x, "g": rng.choice(GROUPS, rows)})


def asked(counts, *, unit=UNITS[0], group=False, total=False, table=None):
    listed = [f"COUNT(*) FILTER (WHERE x < {9 * i + 5}) AS c{i}" for i in range(counts)]
    listed += ["COUNT(*) AS n"] * total
    s = dp.open(people() if table is None else table, unit=unit, budget=dp.rho(99.0), schema=SCHEMA)
    return s.sql(f"SELECT {', '.join(listed)} FROM data{' GROUP BY g' * group}")


def bases():
    for unit, group, total, counts in itertools.product(UNITS, *[[False, True]] * 2, [2, 3, 7]):
        plan = asked(counts, unit=unit, group=group, total=total).integers
        (basis,) = with_all_rows(plan)
        yield plan, basis


BASES = list(bases())


@given(st.sampled_from(BASES), st.data())
def test_a_unit_moves_all_coordinates_by_no_more_than_is_said(pair, data):
    """A row is in any of the counts; a person's rows are spread over groups, with their weights."""
    plan, basis = pair
    some = len(basis.tallies) - 1
    row = st.tuples(st.sampled_from([0, 1]), st.tuples(*[st.booleans()] * some))
    rows = data.draw(st.lists(row, min_size=1, max_size=1 if plan.weight == 1 else 8))
    weight = min(plan.weight, plan.rows * plan.weight // len(rows))
    moved = np.zeros((2, len(basis.forth)), dtype=object)
    for group, inside in rows:
        tallies = [*map(int, inside), 1]
        place = group if plan.sets != ((),) else 0
        for i, forth in enumerate(basis.forth):
            moved[place, i] += weight * sum(f * t for f, t in zip(forth, tallies, strict=True))
    flat = [int(abs(m)) for m in moved.flat]
    assert sum(m * m for m in flat) <= basis.moves.l2_squared
    assert sum(flat) <= basis.moves.l1
    assert max(flat) <= basis.moves.linf


def test_the_bound_is_reached_by_every_row():
    for plan, basis in BASES:
        for inside in itertools.product([0, 1], repeat=len(basis.tallies) - 1):
            tallies = [plan.rows * plan.weight * t for t in (*inside, 1)]
            sums = [sum(f * t for f, t in zip(f_, tallies, strict=True)) for f_ in basis.forth]
            assert sum(s * s for s in sums) == basis.moves.l2_squared


def test_the_way_back_is_exact():
    for _, basis in BASES:
        for i, back in enumerate(basis.back):
            product = [
                sum(b * Fraction(f[j]) for b, f in zip(back, basis.forth, strict=True))
                for j in range(len(basis.tallies))
            ]
            assert product == [int(i == j) for j in range(len(basis.tallies))]


@pytest.mark.parametrize("counts", [2, 4, 16])
def test_counts_err_by_half_the_root_and_a_half(counts):
    query = asked(counts)
    (part,) = parts_of(query.integers, "gaussian")
    error = math.hypot(*part.mixture(part.tallies[0])) * part.vector.l2
    assert math.isclose(error, (math.sqrt(counts) + 1) / 2, rel_tol=2e-3)
    assert query.explain(spend=dp.rho(0.5)).errors["c0"] <= math.ceil(1.96 * error)


def test_where_rows_are_replaced_or_noise_is_laplace_there_is_none_of_it():
    assert not list(with_all_rows(asked(4, unit=dp.rows(relation="replace")).integers))
    assert not any(
        t.name == "t4" for p in parts_of(asked(4).integers, "laplace") for t in p.tallies
    )
    assert not list(with_all_rows(asked(1).integers))


def test_a_count_of_values_that_may_be_missing_is_not_that_of_all_rows():
    s = dp.open(people(), unit=dp.rows(), budget=dp.rho(99.0), schema=SCHEMA)
    plan = s.sql("SELECT COUNT(x) AS n, COUNT(*) FILTER (WHERE x < 9) AS c FROM data").integers
    (basis,) = with_all_rows(plan)
    *some, total = basis.tallies
    assert some == [*plan.tallies]
    assert total is plan.hidden
    assert (total.value, total.where) == (None, None)


@pytest.mark.parametrize("unit", UNITS, ids=str)
@pytest.mark.parametrize("total", [False, True])
def test_answers_cover_the_truth(unit, total):
    """Of 60 answers at 95 %, each of 8 numbers is covered fewer than 40 times with odds < 1e-10."""
    table = people().drop_duplicates("who") if unit.column else people()
    truth = [(table.x < 9 * i + 5).sum() for i in range(4)] + [len(table)] * total
    covered = np.zeros(len(truth))
    query = asked(4, unit=unit, total=total, table=table)
    for time in range(60):  # each at another price: the same would be the same answer
        (row,) = query.release(spend=dp.rho(0.5 + time / 1000)).rows()
        names = [f"c{i}" for i in range(4)] + ["n"] * total
        pairs = zip(names, truth, strict=True)
        covered += [abs(row[n] - t) <= row[f"{n}_error"] + 1e-9 for n, t in pairs]
    assert covered.min() >= 40


@pytest.mark.parametrize("unit", UNITS, ids=str)
def test_neighbours_move_values_no_further_than_declared(unit):
    table = people()
    gone = table.iloc[1:] if unit.column is None else table[table.who != 3]
    found = replay(
        lambda t: asked(5, unit=unit, group=True, table=t).release(spend=dp.rho(0.5)), table, gone
    )
    assert found.ok, str(found)


def test_the_plan_says_what_gets_noise():
    steps = "\n".join(asked(4, total=True).explain(spend=dp.rho(0.5)).steps)
    assert "the number of rows, and to twice 4 counts minus that number" in steps
    assert "from its two noisy numbers" in steps
    assert "from the noisy number of rows" in steps
