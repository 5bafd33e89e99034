"""The bounds hold, and are tight, against mpmath."""

from fractions import Fraction

import mpmath
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from deniable.sampling.exact import cos_bounds, exp_bounds, log_bounds

BITS = st.sampled_from([1, 8, 53, 64, 128, 200, 500])


def true(function, x, bits):
    with mpmath.workprec(bits + 1500):
        return function(mpmath.mpf(x.numerator) / x.denominator) * mpmath.mpf(2) ** bits


@settings(max_examples=400)
@given(x=st.fractions(min_value=-800, max_value=300, max_denominator=10**30), bits=BITS)
def test_the_exponential_lies_between_its_bounds(x, bits):
    lo, hi = exp_bounds(x, bits)
    assert lo <= true(mpmath.exp, x, bits) <= hi
    assert hi - lo <= 2


@settings(max_examples=400)
@given(
    top=st.integers(1, 2**300),
    bottom=st.integers(1, 2**300),
    near=st.integers(-(2**40), 2**40),
    bits=BITS,
)
def test_the_logarithm_lies_between_its_bounds(top, bottom, near, bits):
    for x in (Fraction(top, bottom), 1 + Fraction(near, 2**90), Fraction(top, 2**300)):
        lo, hi = log_bounds(x, bits)
        assert lo <= true(mpmath.log, x, bits) <= hi
        assert hi - lo <= 2


@settings(max_examples=200)
@given(x=st.fractions(min_value=0, max_value=1, max_denominator=10**30), bits=BITS)
def test_the_cosine_lies_between_its_bounds(x, bits):
    lo, hi = cos_bounds(x, bits)
    assert lo <= true(mpmath.cospi, x, bits) <= hi
    assert hi - lo <= 2


def test_exact_values_are_returned_exactly():
    assert exp_bounds(Fraction(0), 64) == (2**64, 2**64)
    assert log_bounds(Fraction(1), 64) == (0, 0)


@pytest.mark.parametrize("x", [Fraction(-(2**900)), Fraction(-1000), Fraction(-1, 2**900)])
def test_extreme_exponents_are_bounded_at_once(x):
    lo, hi = exp_bounds(x, 64)
    assert 0 <= lo <= hi <= 2**64 + 1
    assert hi - lo <= 2


def test_a_bound_that_is_too_low_by_a_unit_is_noticed():
    lo, hi = exp_bounds(Fraction(-7, 3), 128)
    assert not lo <= true(mpmath.exp, Fraction(-7, 3), 128) + 3 <= hi
