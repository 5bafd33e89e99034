"""Targets on their lattice: exactly, within ±1, towards 0, whatever the bounds are."""

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from deniable.learn.models.linear import TARGET, on_lattice, solved

ENDS = [(0.0, 1.0), (-3.0, 9.0), (1e6, 1e6 + 1), (-1e300, 1e300), (0.0, 1e-310)]


@pytest.mark.parametrize(("low", "high"), ENDS)
@given(share=st.floats(-0.5, 1.5))
def test_a_target_is_its_place_between_the_bounds(low, high, share):
    value = low + share * (high - low) if math.isfinite(high - low) else share * high
    (found,) = on_lattice([value], low, high)
    assert -(2**TARGET) <= found <= 2**TARGET
    kept = min(max(value, low), high)
    middle, half = (Fraction(low) + Fraction(high)) / 2, (Fraction(high) - Fraction(low)) / 2
    if half > Fraction(1e-300):
        truth = (Fraction(kept) - middle) / half * 2**TARGET
        assert abs(found - truth) <= 1 + abs(middle / half) * Fraction(1, 2**30)


def test_ends_are_whole_and_what_is_missing_is_the_middle():
    for low, high in ENDS[:4]:
        found = on_lattice([low, high, math.nan, -math.inf, math.inf], low, high)
        assert found.tolist() == [-(2**TARGET), 2**TARGET, 0, -(2**TARGET), 2**TARGET]
    assert on_lattice([5.0, math.nan, 7.0], 5.0, 5.0).tolist() == [0, 0, 0]
    near = on_lattice([0.5 + 2.0**-18, 0.5 - 2.0**-18], 0.0, 1.0)
    assert near.tolist() == [0, 0], "towards 0 on both sides"


def test_normal_equations_are_solved_with_damping_by_the_noise():
    matrix, products = np.diag([4.0, -1.0]), np.array([8.0, 3.0])
    damp = 0.5 * math.sqrt(2)
    assert solved(matrix, products, noise=0.5) == pytest.approx([8 / (4 + damp), 3 / damp])
