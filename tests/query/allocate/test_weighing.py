"""What is released of a tally: rounding before noise is paid for."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from deniable.query.allocate.weighing import Released
from deniable.query.bound import Measure, Moves, Tally

wide = st.integers(-(2**80), 2**80)


def part(l1, cells):
    tally = Tally(name="t0", measure=Measure.SUM, moves=Moves(l1=l1, l2_squared=l1 * l1, linf=l1))
    return Released(tally=tally, tree=None, weight=1.0, cells=cells)


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
    assert made.unit == made.tally.unit


def test_rounding_costs_next_to_nothing():
    made = part(10 * 2**52, cells=100_000)
    assert made.shift > 0
    ideal = made.tally.moves.l1 / 2**made.shift
    assert made.vector.l1 <= 1.0001 * ideal
