"""Tails of sums of noises, against simulation and against each other."""

import math
from statistics import NormalDist

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from deniable.workload.tails import factor, reach, tail

LAWS = ["laplace", "gaussian"]


def simulated(law, amount, scales, draws=400_000):
    """The share of draws beyond an amount: right to 0.004 but for a chance of 10⁻⁶."""
    generator = np.random.default_rng(7)
    noise = sum(
        s * getattr(generator, "normal" if law == "gaussian" else law)(0, 1, draws) for s in scales
    )
    return float((np.abs(noise) > amount).mean())


@pytest.mark.parametrize("law", LAWS)
@pytest.mark.parametrize(
    "scales", [[1.0], [1.0, 1.0], [3.0, 0.5], [2.0, 2.0, 2.0], [5.0, 1.0, 1e-9]]
)
def test_the_tail_is_that_of_the_sum(law, scales):
    for amount in (0.5, 2.0, 6.0):
        stated = tail(law, np.array([amount]), [np.array([s]) for s in scales])[0]
        assert stated == pytest.approx(simulated(law, amount, scales), abs=0.004)


@pytest.mark.parametrize("law", LAWS)
def test_the_check_would_see_a_scale_that_is_one_tenth_off(law):
    stated = tail(law, np.array([2.0]), [np.array([1.1])])[0]
    assert abs(stated - simulated(law, 2.0, [1.0])) > 0.004


@given(
    law=st.sampled_from(LAWS),
    scales=st.lists(st.floats(0.01, 1e6), min_size=1, max_size=3),
    confidence=st.sampled_from([0.5, 0.9, 0.95, 0.999]),
)
def test_reach_is_where_the_tail_is_what_is_left(law, scales, confidence):
    far = reach(law, tuple(scales), confidence=confidence)
    left = tail(law, np.array([far]), [np.array([s]) for s in scales])[0]
    assert left == pytest.approx(1 - confidence, rel=1e-3)


def test_reach_of_one_noise_is_the_textbook_figure():
    assert reach("laplace", (1.0,), confidence=0.95) == pytest.approx(math.log(20), rel=1e-8)
    assert reach("gaussian", (1.0,), confidence=0.95) == pytest.approx(1.959964, rel=1e-6)
    assert reach("laplace", (0.0,), confidence=0.95) == 0.0


@pytest.mark.parametrize("many", [2, 3, 4, 5, 6])
def test_a_chance_is_between_0_and_1_also_where_large_weights_cancel(many):
    amounts = np.concatenate([np.zeros(1), np.geomspace(1e-18, 60, 500)])
    found = tail("laplace", amounts, [np.ones(501)] * many)
    assert ((found >= 0) & (found <= 1)).all()


def test_few_and_many_at_once_have_the_same_tails():
    amounts = np.linspace(0.0, 12.0, 97)
    few = tail("gaussian", amounts, [np.full(97, 1.5)])
    many = tail("gaussian", np.tile(amounts, 300), [np.full(97 * 300, 1.5)])
    assert many[:97] == pytest.approx(few, rel=1e-12, abs=0.0)


@pytest.mark.parametrize("confidence", [0.5, 0.95, 0.999, 1 - 1e-9])
def test_equal_scales_reach_as_far_as_their_sum_and_hardly_farther(confidence):
    """Tails of two and of three equal Laplace noises, in closed form."""
    two = reach("laplace", (3.0, 3.0), confidence=confidence) / 3
    three = reach("laplace", (3.0, 3.0, 3.0), confidence=confidence) / 3
    for left in (
        (1 + two / 2) * math.exp(-two),
        (1 + 5 * three / 8 + three**2 / 8) * math.exp(-three),
    ):
        assert 0.9 * (1 - confidence) <= left <= (1 - confidence) * (1 + 1e-6)


@pytest.mark.parametrize("confidence", [0.5, 0.8, 0.9, 0.92, 0.95, 0.99, 0.999999])
def test_one_noise_and_many_are_held_whichever_has_the_longer_tails(confidence):
    normal = NormalDist().inv_cdf((1 + confidence) / 2)
    single = math.log(1 / (1 - confidence)) / math.sqrt(2)
    assert factor("gaussian", confidence) == pytest.approx(normal)
    assert factor("laplace", confidence) == pytest.approx(max(normal, single))


@pytest.mark.parametrize("law", LAWS)
@pytest.mark.parametrize("confidence", [0.95, 0.99])
@pytest.mark.parametrize("scales", [(1.0,), (1.0, 1.0), (3.0, 1.0, 1.0)])
def test_sums_of_noises_are_held(law, confidence, scales):
    deviation = math.sqrt(sum(s * s for s in scales) * (2 if law == "laplace" else 1))
    exact = reach(law, scales, confidence=confidence)
    assert exact <= factor(law, confidence) * deviation * (1 + 1e-6)
