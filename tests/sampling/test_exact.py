"""The bounds hold, and are tight, against mpmath."""

import hashlib
from fractions import Fraction

import mpmath
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from deniable.sampling import exact
from deniable.sampling.exact import cos_bounds, exp_bounds, log_bounds

BITS = st.sampled_from([1, 8, 53, 64, 128, 200, 500])


def digest(found):
    return hashlib.sha256(repr(found).encode()).hexdigest()[:16]


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


@pytest.mark.parametrize("bits", [1, 8, 64, 300])
def test_a_cosine_is_never_beyond_one(bits):
    one = 1 << bits
    assert cos_bounds(Fraction(0), bits)[1] == one
    assert cos_bounds(Fraction(1), bits)[0] == -one
    assert cos_bounds(Fraction(1, 10**200), bits)[1] == one


POINTS = [Fraction(n, 97) for n in (-650, -291, -97, -8, -1, 1, 5, 96, 97, 98, 388, 970)]
NEAR_ONE = [
    Fraction(3 * 2**70 + s, 3 * 2**70) * Fraction(2) ** k
    for s in (-1, 1)
    for k in (-400, -9, 0, 9, 400)
]
WHOLE = [
    Fraction(sign * n) - Fraction(1, 3) for n in (1, 2, 3, 4, 7, 8, 15, 16) for sign in (-1, 1)
]
RECORDED = {
    "exp": (exp_bounds, [*POINTS, *WHOLE], (64, 65, 100, 300)),
    "log": (log_bounds, [*NEAR_ONE, Fraction(2) ** 400], (64, 100, 300)),
    "cos": (cos_bounds, [abs(x) / 7 for x in POINTS if abs(x) < 7], (64, 65, 100, 300)),
}
DIGESTS = {"exp": "8c3c5d6922b260e9", "log": "f136eb0b6afe5478", "cos": "03152b70b88244ef"}


@pytest.mark.parametrize("name", RECORDED)
def test_without_guard_digits_every_unit_is_as_recorded(name, monkeypatch):
    """Guard digits hide how each step is rounded; without them it shows. Whole numbers only."""
    function, points, widths = RECORDED[name]
    monkeypatch.setattr(exact, "_GUARD", 0)
    monkeypatch.setattr(exact, "_LEAST_WIDTH", 70)
    found = [function(x, bits) for x in points for bits in widths]
    assert digest(found) == DIGESTS[name]


def test_constants_and_series_are_as_recorded():
    widths = (64, 96, 128, 130, 700)
    found = [(exact._log2(w), exact._pi(w)) for w in widths]
    found += [exact._exp(r, w) for w in (96, 200) for r in (-(1 << w), -12345 << 70, 0, 1 << w)]
    found += [exact._log_near_one(u << 60, 96) for u in (-(1 << 35), -77777, 1, 99999, 1 << 35)]
    found += [
        exact._series_of_inverse(n, 90, alternating=a) for n in (5, 26) for a in (True, False)
    ]
    assert digest(found) == "fa33211a884a5206"


@pytest.mark.parametrize("width", [64, 96, 130, 700])
def test_constants_are_right_to_two_units(width):
    with mpmath.workprec(width + 100):
        assert abs(exact._log2(width) - mpmath.log(2) * 2**width) <= 2
        assert abs(exact._pi(width) - mpmath.pi * 2**width) <= 2


def test_widths_allow_for_the_size_of_the_exponent(monkeypatch):
    """The guard digits, and as many more as the whole part of x has; above 0 also those of eˣ."""
    seen, inner = [], exact._exp
    monkeypatch.setattr(exact, "_exp", lambda r, width: seen.append(width) or inner(r, width))
    for x, bits in [(-3, 100), (-4, 100), (-90, 100), (3, 100), (4, 100), (-1, 10), (1, 10)]:
        exp_bounds(Fraction(x) - Fraction(1, 3) * (1 if x > 0 else -1), bits)
    assert seen == [134, 134, 139, 139, 140, 96, 98]
    seen.clear()
    for k, bits in [(0, 100), (1, 100), (-1, 100), (8, 100), (-9, 100), (0, 10)]:
        log_bounds(Fraction(9, 8) * Fraction(2) ** k, bits)
    assert seen == [132, 133, 133, 136, 136, 96]


def test_exponents_that_leave_nothing_are_bounded_at_once(monkeypatch):
    monkeypatch.delattr(exact, "_exp")
    assert exp_bounds(Fraction(-65), 64) == (0, 1)
    assert exp_bounds(Fraction(-(10**9)), 64) == (0, 1)
    with pytest.raises(NameError):
        exp_bounds(Fraction(-65) + Fraction(1, 10**9), 64)
