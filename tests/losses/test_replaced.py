"""Samples when a unit is replaced: no choice of neighbours is worse than the pair."""

import math

import mpmath as mp
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from deniable.errors import BadParameter, NoBound
from deniable.losses import Profile, pricing
from deniable.losses.pairs import GaussianPair, LaplacePair, Pairs, SampledPair, sampled


def pair(mu, rate):
    return SampledPair(inner=GaussianPair(mu=mu), rate=rate, direction="replace")


def by_integral(mu, rate, epsilon):
    """δ of the pair from its densities."""
    mu, q = mp.mpf(mu), mp.mpf(rate)

    def densities(x):
        none = (1 - q) * mp.npdf(x)
        return none + q * mp.npdf(x - mu), none + q * mp.npdf(x + mu)

    def loss(x):
        a, b = densities(x)
        return mp.log(a / b) - epsilon

    start = mp.findroot(loss, (-1, 12), solver="anderson") if epsilon else mp.mpf(0)
    ends = mp.linspace(start, start + 14, 29)
    return mp.quad(lambda x: densities(x)[0] - mp.exp(epsilon) * densities(x)[1], ends)


@settings(max_examples=5, deadline=None)
@given(st.floats(0.3, 2), st.floats(0.05, 0.95), st.floats(0, 0.5))
def test_a_single_sample_costs_what_its_densities_say(mu, rate, epsilon):
    exact = by_integral(mu, rate, epsilon)
    assert exact <= pricing.delta_at([(pair(mu, rate), 1)], epsilon) <= exact * (1 + 1e-6)


@settings(max_examples=5, deadline=None)
@given(
    st.floats(0.2, 1.5), st.floats(0.02, 0.98), st.floats(0, 1), st.floats(0, 1), st.floats(0, 3.2)
)
def test_no_pair_of_contributions_in_the_plane_is_easier_to_tell_apart(mu, rate, one, other, angle):
    """Brute force: contributions of any length up to μ and any angle, on a grid of the plane."""
    axis = np.linspace(-7, 7, 281)
    x, y = np.meshgrid(axis, axis)

    def normal(a, b):
        return np.exp(-((x - a) ** 2 + (y - b) ** 2) / 2) / (2 * math.pi) * 0.05**2

    none = (1 - rate) * normal(0, 0)
    first = none + rate * normal(one * mu, 0)
    second = none + rate * normal(other * mu * math.cos(angle), other * mu * math.sin(angle))
    for epsilon in (0.0, 0.1, 0.4):
        brute = np.maximum(first - math.exp(epsilon) * second, 0).sum()
        if brute > 1e-6:
            assert brute <= pricing.delta_at([(pair(mu, rate), 1)], epsilon) + 1e-6


def test_replacing_costs_more_than_removing_and_no_more_than_both():
    inner = Pairs.symmetric(GaussianPair(mu=0.9))
    removed = 100 * Profile.of(sampled(inner, rate=0.05))
    replaced = 100 * Profile.of(sampled(inner, rate=0.05, relation="replace"))
    assert removed.epsilon_at(1e-6) < replaced.epsilon_at(1e-6)
    assert sampled(inner, rate=1.0, relation="replace") == inner.group(2)
    near = Profile.of(sampled(inner, rate=1 - 1e-14, relation="replace"))
    assert near.epsilon_at(1e-6) == pytest.approx(
        Profile.of(inner.group(2)).epsilon_at(1e-6), abs=1e-6
    )


def test_other_noise_and_other_words_are_refused():
    with pytest.raises(NoBound, match="Gaussian"):
        sampled(Pairs.symmetric(LaplacePair(ratio=1.0)), rate=0.5, relation="replace")
    with pytest.raises(BadParameter):
        SampledPair(inner=LaplacePair(ratio=1.0), rate=0.5, direction="replace")
    with pytest.raises(BadParameter):
        sampled(Pairs.symmetric(GaussianPair(mu=1.0)), rate=0.5, relation="swap")
