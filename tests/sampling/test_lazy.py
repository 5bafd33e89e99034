"""Lazy numbers: estimates within their errors, bounds that nest, signs that are certain, laws."""

import math
from fractions import Fraction

import mpmath
import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from scipy import stats
from tests import goodness

from deniable.errors import BadParameter
from deniable.sampling import SystemSource, lazy
from deniable.sampling.lazy import Exponential, Gaussian, Laplace, StudentTwo, sign

KINDS = [Exponential, Laplace, Gaussian, StudentTwo]
THIRD = Fraction(1, 3)
SHARED = HealthCheck.function_scoped_fixture  # the fixture is a class, made new each time
LAWS = {
    Exponential: stats.expon,
    Laplace: stats.laplace,
    Gaussian: stats.norm,
    StudentTwo: stats.t(2),
}


def truth(kind, words):
    """What the number is when all further bits are 0101…"""
    u = [(word + THIRD) / 2**64 for word in words]
    u = [mpmath.mpf(x.numerator) / x.denominator for x in u]
    if kind is Laplace:
        half = Fraction(words[0] >> 1) + THIRD
        size = -mpmath.log(mpmath.mpf(half.numerator) / half.denominator / 2**63)
        return -size if words[0] & 1 else size
    if kind is Gaussian:
        return mpmath.sqrt(-2 * mpmath.log(u[0])) * mpmath.cospi(u[1])
    if kind is StudentTwo:
        return (2 * u[0] - 1) / mpmath.sqrt(2 * u[0] * (1 - u[0]))
    return -mpmath.log(u[0])


word = st.one_of(
    st.integers(0, 2**64 - 1), st.integers(0, 100), st.integers(2**64 - 100, 2**64 - 1)
)


@pytest.mark.parametrize("kind", KINDS)
@settings(max_examples=60, suppress_health_check=[SHARED, HealthCheck.too_slow])
@given(first=word, second=word)
def test_estimates_and_bounds_contain_the_number(kind, first, second, scripted):
    with mpmath.workprec(900):
        wanted = truth(kind, [first, second])
        number = kind(scripted([first, second] if kind is Gaussian else [first]))
        assert abs(wanted - number.estimate) <= number.error
        for bits in (64, 8, 200):
            lo, hi = number.bounds(bits)
            assert lo <= wanted * mpmath.mpf(2) ** bits <= hi
            assert hi - lo <= 6


@pytest.mark.statistical
@pytest.mark.parametrize("kind", KINDS)
def test_lazy_numbers_have_their_law(kind):
    """False alarm below 1e-8 for each of four laws; 1.4 times the scale is caught."""
    numbers = [kind() for _ in range(20_000)]
    drawn = np.array([x.estimate if x.error < 1 else x.bounds(64)[0] / 2**64 for x in numbers])
    assert goodness.law(drawn, LAWS[kind].cdf) > 1e-8
    assert goodness.law(1.4 * drawn, LAWS[kind].cdf) < 1e-8


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("gap", [0, 20, 50, 60, 100, 300])
def test_signs_close_to_zero_are_decided_rightly(kind, gap, scripted):
    """c is the number itself, moved by 2⁻ᵍᵃᵖ: floats see a tie where there is none."""
    with mpmath.workprec(900):
        words = [0x123456789ABCDEF1, 0x2FEDCBA987654321]
        wanted = truth(kind, words)
        near = Fraction(int(mpmath.nint(wanted * mpmath.mpf(2) ** 400)), 2**400)
        for side in (-1, 1):
            constant = -7 * near + side * Fraction(1, 2**gap)
            expected = int(
                mpmath.sign(7 * wanted + mpmath.mpf(constant.numerator) / constant.denominator)
            )
            assert expected == side
            known = words if kind is Gaussian else words[:1]
            assert sign(constant, (7, kind(scripted(known)))) == side


def test_the_sign_of_a_difference_is_decided_by_further_bits(scripted):
    """Two numbers equal in 64 bits, different in the next word."""
    first = Laplace(scripted([2**63 + 1, 5, 0]))
    second = Laplace(scripted([2**63 + 1, 6, 0]))
    assert first.estimate == second.estimate
    assert sign(0, (1, first), (-1, second)) == -1  # negative numbers: the larger U is nearer to 0
    assert sign(0, (1, second), (-1, first)) == 1


def test_certain_signs_are_found_without_noise():
    noise = Laplace()
    assert sign(0, (3, noise), (-3, noise)) == 0
    assert sign(Fraction(1, 10**30), (0, noise)) == 1
    assert [sign(x) for x in (-2.5, 0, Fraction(1, 3))] == [-1, 0, 1]
    assert sign(10**400, (1, noise)) == 1
    assert sign(-1, (Fraction(1, 10**400), Exponential())) == -1
    assert sign(-Fraction(1, 10**400), (Fraction(1, 10**380), Exponential())) in (-1, 1)


@pytest.mark.parametrize("bad", [True, "1", None, float("nan"), float("inf"), 1j])
def test_coefficients_are_exact_finite_numbers(bad):
    noise = Laplace()
    with pytest.raises(BadParameter):
        sign(bad, (1, noise))
    with pytest.raises(BadParameter):
        sign(1, (bad, noise))


def test_float_decisions_draw_no_further_bits(scripted):
    source = scripted([2**62 + 12345])
    noise = Laplace(source)
    assert sign(-0.37, (2.0, noise)) in (-1, 1)
    assert source.drawn == 1


def test_without_a_margin_signs_would_be_wrong(scripted):
    """The sabotaged twin: trusting the float where it is a tie."""
    with mpmath.workprec(900):
        words = [0x123456789ABCDEF1]
        wanted = truth(Exponential, words)
        near = Fraction(int(mpmath.nint(wanted * mpmath.mpf(2) ** 400)), 2**400)
        number = Exponential(scripted(words))
        constant = -near + Fraction(1, 2**70)
        assert number.estimate + float(constant) <= 0
        assert sign(constant, (1, number)) == 1


def test_uniforms_extend_the_bits_they_have(scripted):
    uniform = lazy.Uniform(scripted([7, 9]))
    uniform.extend()
    assert (uniform.value, uniform.width) == (7 * 2**64 + 9, 128)
    assert math.isclose(uniform.value / 2**128, 7 / 2**64, rel_tol=1e-15)


def test_arrays_of_estimates_are_the_estimates_of_their_words():
    words = np.append(SystemSource().words(500), np.array([0, 1, 2, 3, 2**64 - 1], dtype=np.uint64))
    estimates, errors = Laplace.estimates(words)
    for word, estimate, error in zip(words.tolist(), estimates, errors, strict=True):
        lo, hi = Laplace(word=word).bounds(80)
        assert Fraction(lo, 2**80) - Fraction(error) <= Fraction(estimate)
        assert Fraction(estimate) <= Fraction(hi, 2**80) + Fraction(error)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("scale", [Fraction(7, 3), 1e6, 2**40])
def test_rounding_a_lazy_number_is_exact(kind, scale, scripted):
    words = [0x123456789ABCDEF1, 0x2FEDCBA987654321]
    known = words if kind is Gaussian else words[:1]
    with mpmath.workprec(900):
        exact = Fraction(scale)
        value = truth(kind, words) * mpmath.mpf(exact.numerator) / exact.denominator
        for offset in (0.0, 0.25, -0.5):
            wanted = int(mpmath.floor(value + offset + 0.5))
            assert lazy.rounded(offset, scale, kind(scripted(known))) == wanted


@pytest.mark.parametrize("kind", KINDS)
def test_bounds_are_whole_numbers_in_order(kind, scripted):
    for first in (0, 1, 2**63 - 1, 2**63, 2**63 + 1, 2**64 - 2, 2**64 - 1):
        lo, hi = kind(scripted([first, first])).bounds(64)
        assert type(lo) is type(hi) is int
        assert lo <= hi


@pytest.mark.parametrize("bits", [8, 64])
@pytest.mark.parametrize("value", [2**64 - 1, 2**64 - 2, 2**64 - 2**40])
def test_an_exponential_is_never_below_zero(bits, value, scripted):
    assert lazy.Uniform(scripted([]), value=value).log_bounds(bits)[0] >= 0


def test_rounding_waits_for_both_ends_to_agree():
    """Also where the scale is negative, and the ends are in falling order."""

    class Between(lazy.LazyReal):
        asked = 0

        def bounds(self, bits):
            self.asked += 1
            return (
                (2 * 2**bits - 1, 2 * 2**bits + 1) if bits == 64 else (2 * 2**bits, 2 * 2**bits + 1)
            )

    for scale, wanted in ((1, 2), (Fraction(1, 2), 1)):
        number = Between()
        assert lazy.rounded(-0.5, scale, number) == wanted
        assert number.asked == 2
    number = Between()
    number.bounds = lambda bits: (2 * 2**bits - 1, 2 * 2**bits + 1) if bits == 64 else (7, 7)
    assert lazy.rounded(-0.5, -1, number) == -1


@pytest.mark.parametrize("numerator", [1, 7, 50, 93, 99])
@pytest.mark.parametrize("bits", [4, 30, 90])
def test_quantiles_of_student_are_between_whole_numbers_that_touch(numerator, bits):
    lo, hi = lazy._student(numerator, 100, bits)
    with mpmath.workprec(400):
        u = mpmath.mpf(numerator) / 100
        exact = (2 * u - 1) / mpmath.sqrt(2 * u * (1 - u)) * 2**bits
        assert lo <= exact <= hi
        if bits < 64:  # the digits of the root
            assert lo == mpmath.floor(exact)
            assert hi == mpmath.ceil(exact)
    assert lazy._student(0, 100, bits) is lazy._student(100, 100, bits) is None


@pytest.mark.parametrize("kind", [Exponential, Laplace, Gaussian])
def test_ordinary_estimates_are_nearly_exact_and_say_so(kind, scripted):
    for first in (2**60, 2**62 + 1, 3 * 2**62):
        number = kind(scripted([first, 2**61 + 5]))
        assert 2.0**-60 < number.error < 1e-12
    assert kind(scripted([0, 2**61])).error == math.inf
