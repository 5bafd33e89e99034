"""Propose, test, release: what passes the test, and what is then answered."""

import math
from fractions import Fraction

import pytest
from mpmath import mp

import deniable as dp
from deniable.mechanisms import Laplace, ProposeTestRelease
from deniable.mechanisms.frameworks import propose_test_release

GIVEN = {"bound": 0.5, "epsilon_test": 0.25, "epsilon_release": 2.0, "delta": 1e-3}


@pytest.mark.parametrize("epsilon", [0.01, 1.0, 30.0])
@pytest.mark.parametrize("delta", [0.4, 1e-3, 1e-12])
def test_the_threshold_is_rounded_up_and_close(epsilon, delta):
    made = ProposeTestRelease(**(GIVEN | {"epsilon_test": epsilon, "delta": delta}))
    exact = mp.log(1 / (2 * mp.mpf(delta))) / mp.mpf(epsilon)
    assert exact <= made.threshold <= exact * (1 + mp.mpf(1e-13))


def test_both_parts_are_charged_and_the_noise_is_for_the_bound():
    made = ProposeTestRelease(**GIVEN)
    assert made.approx() == (2.25, 1e-3)
    assert made.noise == Laplace.calibrate(epsilon=2.0, sensitivity=0.5)
    assert made.error(0.9) == made.noise.error(0.9)
    for i in range(1, 60):
        parts = i / 7, i / 13
        test, release = parts
        each = ProposeTestRelease(**(GIVEN | {"epsilon_test": test, "epsilon_release": release}))
        assert Fraction(each.approx()[0]) >= sum(map(Fraction, parts))


@pytest.mark.parametrize(
    "wrong",
    [
        {name: value}
        for name, values in {
            "bound": (0.0, -1.0, math.inf),
            "epsilon_test": (0.0, -1.0),
            "epsilon_release": (0.0, math.nan),
            "delta": (0.0, 0.5, 0.7, 1.0, -0.1),
        }.items()
        for value in values
    ],
    ids=str,
)
def test_each_parameter_is_checked(wrong):
    ProposeTestRelease(**GIVEN)
    with pytest.raises(dp.BadParameter):
        ProposeTestRelease(**(GIVEN | wrong))


@pytest.mark.parametrize(
    "value", [(math.nan, 1), (math.inf, 1), (1.0, -1), (1.0, math.inf), (1.0, math.nan)], ids=str
)
def test_a_value_is_finite_and_its_distance_at_least_0(value):
    with pytest.raises(dp.BadParameter, match="at least 0"):
        ProposeTestRelease(**GIVEN).draw(value)


@pytest.mark.parametrize("sign", [-1, 0, 1])
@pytest.mark.parametrize("distance", [0, 7])
def test_it_answers_only_where_the_noisy_distance_passes_the_threshold(sign, distance, monkeypatch):
    asked = []

    def told(constant, *terms):
        asked.append((constant, [scale for scale, _ in terms]))
        return sign

    monkeypatch.setattr(propose_test_release.lazy, "sign", told)
    monkeypatch.setattr(Laplace, "draw", lambda _, value: value)
    made = ProposeTestRelease(**GIVEN)
    assert made.draw((3.5, distance)) == (3.5 if sign > 0 else None)
    assert asked == [(distance - Fraction(made.threshold), [Fraction(4)])]


def test_noise_that_cannot_be_drawn_is_refused_before_the_charge():
    with pytest.raises(dp.BadParameter):
        ProposeTestRelease(**(GIVEN | {"bound": 1e300})).reading(dp.Sensitive(lambda: 1, l1=1).form)
