"""Smooth noise: β, the scale of the noise and the range of answers, each by its formula."""

import math
from fractions import Fraction

import pytest
from mpmath import mp

import deniable as dp
from deniable.mechanisms import SmoothNoise
from deniable.mechanisms.frameworks import smooth_noise
from deniable.sampling import lazy

PLAIN = {"low": -3.0, "high": 5.0}


@pytest.mark.parametrize("epsilon", [0.01, 1.0, 7.0])
@pytest.mark.parametrize("delta", [0.9, 0.5, 1e-3, 1e-9])
def test_beta_is_the_largest_that_the_theorem_allows(epsilon, delta):
    """At most ε/2, and (ε/2 + β)/(eᵝ − 1) ≥ ln(1/δ), which falls with β."""
    beta = SmoothNoise(epsilon=epsilon, delta=delta, **PLAIN).beta
    assert 0 < beta <= epsilon / 2

    def met(b):
        return (mp.mpf(epsilon) / 2 + b) / mp.expm1(b) >= -mp.log(mp.mpf(delta))

    assert met(mp.mpf(beta))
    assert beta >= epsilon / 2 * (1 - 1e-12) or not met(beta * (1 + mp.mpf(1e-9)))


@pytest.mark.parametrize("epsilon", [1e-3, 0.6, 12.0])
def test_without_a_delta_beta_is_a_sixth_of_epsilon(epsilon):
    made = SmoothNoise(epsilon=epsilon, **PLAIN)
    assert made.beta == epsilon / 6
    assert (made.pure(), made.approx()) == (epsilon, (epsilon, 0.0))
    other = SmoothNoise(epsilon=epsilon, delta=1e-2, **PLAIN)
    assert (other.pure(), other.approx()) == (math.inf, (epsilon, 1e-2))


def test_a_huge_epsilon_makes_no_infinite_numbers():
    assert SmoothNoise(epsilon=1e6, delta=0.5, **PLAIN).beta > 10


@pytest.mark.parametrize(
    "wrong",
    [
        {"epsilon": 0.0},
        {"epsilon": 5e-6},  # β = ε/6 is below 2⁻²⁰
        {"epsilon": 1e-3, "delta": 1e-300},
        {"delta": 1.0},
        {"delta": -0.1},
        {"low": 5.0},
        {"low": 6.0},
        {"low": math.nan},
        {"low": -1.7e308, "high": 1.7e308},
        {"low": 0.0, "high": 2.0**901},
        {"low": 0.0, "high": 2.0**-901},
    ],
    ids=str,
)
def test_each_parameter_is_checked(wrong):
    with pytest.raises(dp.BadParameter):
        SmoothNoise(**({"epsilon": 1.0} | PLAIN | wrong))


def test_parameters_at_their_ends_are_taken():
    SmoothNoise(epsilon=6.1 * 2.0**-20, **PLAIN)
    SmoothNoise(epsilon=1.0, low=0.0, high=2.0**900)
    SmoothNoise(epsilon=1.0, low=0.0, high=2.0**-900)


@pytest.fixture
def asked(monkeypatch):
    """What is rounded: the place, the scale and the law of the noise, all in steps."""
    seen = {"moved": 0}

    def rounded(place, scale, law):
        seen.update(place=Fraction(place), scale=Fraction(scale), law=type(law))
        return math.floor(place + Fraction(1, 2)) + seen["moved"]

    monkeypatch.setattr(smooth_noise.lazy, "rounded", rounded)
    return seen


@pytest.mark.parametrize("epsilon", [0.3, 2.0])
@pytest.mark.parametrize("bound", [1e-9, 0.7, 1e12])
def test_noise_has_the_scale_of_the_bound(asked, epsilon, bound):
    made = SmoothNoise(epsilon=epsilon, **PLAIN)
    step = Fraction(made.lattice.width)
    assert made.draw((1.25, bound)) == 1.25
    assert asked["law"] is lazy.StudentTwo
    assert asked["place"] == Fraction(1.25) / step
    s = (mp.mpf(epsilon) * 2 / 3) * 2 * mp.sqrt(2) / 3
    found = mp.mpf(asked["scale"].numerator) / asked["scale"].denominator * made.lattice.width
    assert bound / s <= found <= bound / s * (1 + mp.mpf(1e-13))
    other = SmoothNoise(epsilon=epsilon, delta=1e-6, **PLAIN)
    other.draw((1.25, bound))
    assert asked["law"] is lazy.Laplace
    assert asked["scale"] * step == 2 * Fraction(bound) / Fraction(epsilon)


@pytest.mark.parametrize(("center", "held"), [(-1e9, -3.0), (1e9, 5.0), (-3.0, -3.0), (4.5, 4.5)])
@pytest.mark.parametrize("moved", [0, 10**30, -(10**30)])
def test_values_and_answers_are_held_in_the_range(asked, center, held, moved):
    asked["moved"] = moved
    made = SmoothNoise(epsilon=1.0, **PLAIN)
    found = made.draw((center, 0.5))
    assert asked["place"] * Fraction(made.lattice.width) == held
    assert found == (held if moved == 0 else 5.0 if moved > 0 else -3.0)


@pytest.mark.parametrize(
    "value",
    [(math.nan, 1.0), (math.inf, 1.0), (1.0, 0.0), (1.0, -1.0), (1.0, math.inf), (1.0, math.nan)],
)
def test_a_value_is_finite_and_its_bound_above_0(value):
    with pytest.raises(dp.BadParameter, match="smooth bound above 0"):
        SmoothNoise(epsilon=1.0, **PLAIN).draw(value)


@pytest.mark.parametrize("width", [1e-3, 1.0, 8.0, 1e30])
def test_answers_lie_on_a_lattice_of_two_to_the_minus_40_or_so_of_the_range(width):
    made = SmoothNoise(epsilon=1.0, low=0.0, high=width)
    assert 2.0**-41 < made.lattice.width / width <= 2.0**-39


def test_no_error_is_shown_and_the_confidence_is_checked():
    made = SmoothNoise(epsilon=1.0, **PLAIN)
    with pytest.raises(dp.NoBound):
        made.error(0.95)
    with pytest.raises(dp.BadParameter):
        made.error(1.5)
