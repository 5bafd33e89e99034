"""What is released of a tally: rounding before noise is paid for."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

import deniable as dp
from deniable.query.aggregates import Measure, Tally
from deniable.query.allocate.allocation import parts_of
from deniable.query.allocate.basis import Basis
from deniable.query.allocate.part import Part
from deniable.query.integers import in_integers
from deniable.workload.moves import Moves

wide = st.integers(-(2**80), 2**80)


def part(l1, cells):
    tally = Tally(name="t0", measure=Measure.SUM, moves=Moves(l1=l1, l2_squared=l1 * l1, linf=l1))
    return Part(basis=Basis.plain(tally), tree=None, weight=1.0, groups=cells)


@given(
    start=st.lists(wide, min_size=3, max_size=3),
    l1=st.integers(1, 2**60),
    cuts=st.lists(st.floats(0, 1), min_size=3, max_size=3),
    signs=st.lists(st.sampled_from([-1, 1]), min_size=3, max_size=3),
)
def test_rounded_numbers_move_no_further_than_is_said(start, l1, cuts, signs):
    made = part(l1, cells=3)
    total = sum(cuts) or 1.0
    moved = [s * int(l1 * (c / total) * 0.999999) for s, c in zip(signs, cuts, strict=True)]
    assert sum(map(abs, moved)) <= l1
    first = made.rounded(np.array(start, dtype=object))
    second = made.rounded(
        np.array([a + b for a, b in zip(start, moved, strict=True)], dtype=object)
    )
    distance = [abs(int(a) - int(b)) for a, b in zip(first, second, strict=True)]
    assert sum(distance) <= made.vector.l1
    assert sum(d * d for d in distance) <= made.vector.l2**2 * (1 + 1e-12)


def test_small_numbers_are_left_as_they_are():
    made = part(10 * 2**20, cells=1_000_000)
    assert made.shift == 0
    assert made.vector.l1 == 10 * 2**20
    assert made.worth == made.tallies[0].unit


def test_rounding_costs_next_to_nothing():
    made = part(10 * 2**52, cells=100_000)
    assert made.shift > 0
    ideal = made.basis.moves.l1 / 2**made.shift
    assert made.vector.l1 <= 1.005 * ideal


@pytest.mark.parametrize(("relation", "cells"), [("add_remove", 3), ("replace", 6)])
def test_with_private_keys_only_the_cells_of_one_unit_are_rounded_against_it(relation, cells):
    """However many others there are: a person has three keys, and who takes their place, too."""
    unit = dp.person("who", rows=10, groups=3, relation=relation)
    schema = dp.Schema(columns={"x": dp.bounds(0, 1e9)})
    frame = pd.DataFrame({"who": ["p"], "city": ["c"], "x": [1.0]})
    session = dp.open(frame, unit=unit, budget=dp.epsilon(1.0, delta=1e-6), schema=schema)
    query = session.sql("SELECT city, SUM(x) AS t FROM data GROUP BY city")
    (part,) = parts_of(in_integers(query.question), "laplace")
    assert part.shift > 0
    assert part.groups == cells
    assert part.vector.l1 == -(-part.basis.moves.l1 // 2**part.shift) + cells


def test_with_public_keys_a_row_moves_one_cell_of_each_grouping_set():
    schema = dp.Schema(columns={"x": dp.bounds(0, 2**40, type="int"), "k": dp.keys(range(1000))})
    frame = pd.DataFrame({"k": [1], "x": [1.0]})
    for relation, cells in {"add_remove": 2, "replace": 4}.items():
        unit = dp.rows(relation=relation)
        session = dp.open(frame, unit=unit, budget=dp.epsilon(1.0), schema=schema)
        query = session.sql("SELECT k, SUM(x) AS t FROM data GROUP BY ROLLUP (k)")
        (part,) = parts_of(in_integers(query.question), "laplace")
        assert part.shift > 0
        assert part.groups == cells


@pytest.mark.parametrize("cells", [1, 1000, 2**22])
@pytest.mark.parametrize("l1", [1, 2**26, 2**33, 10 * 2**52])
@pytest.mark.parametrize("fine", [False, True])
def test_a_billion_units_fit(l1, cells, fine):
    tally = Tally(name="t0", measure=Measure.SUM, moves=Moves(l1=l1, l2_squared=l1 * l1, linf=l1))
    made = Part(basis=Basis.plain(tally), tree=None, weight=1.0, groups=cells, fine=fine)
    (found,) = made.read(made.rounded(np.array([2**30 * l1 - 1], dtype=object))).values()
    assert found[0] == pytest.approx(2**30 * l1, rel=1e-6)


@given(numbers=st.lists(wide, min_size=1, max_size=9), l1=st.integers(1, 2**19))
def test_numbers_that_hardly_move_are_multiplied_exactly(numbers, l1):
    tally = Tally(name="t0", measure=Measure.COUNT, moves=Moves(l1=l1, l2_squared=l1 * l1, linf=l1))
    made = Part(basis=Basis.plain(tally), tree=None, weight=1.0, groups=1, fine=True)
    assert made.shift == l1.bit_length() - 20
    assert made.vector.l1 == l1 * 2**-made.shift
    found = made.rounded(np.array(numbers, dtype=object))
    small = [n for n in numbers if abs(n) < 2 ** (63 + made.shift)]
    assert [int(f) for f, n in zip(found, numbers, strict=True) if n in small] == [
        n << -made.shift for n in small
    ]
    steps = np.diff(np.sort(np.array(numbers, dtype=object)))
    moved = np.diff(np.sort(found.astype(object)))
    assert all(m <= s << -made.shift for m, s in zip(moved, steps, strict=True))
