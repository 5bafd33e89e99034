"""Every ± of a count holds its confidence: the exact law is added up, nothing is left to chance."""

import math
from statistics import NormalDist

import numpy as np
import pytest
from scipy import stats

import deniable as dp
from deniable import local
from deniable.local.estimate import Estimate
from deniable.mechanisms.local import reach

CONFIDENCES = [0.5, 0.8, 0.95, 0.99, 0.999, 0.99999, 1 - 1e-9]
COUNTS = [(1, 0), (1, 1), (2, 1), (5, 5), (30, 0), (30, 15), (100, 10), (300, 299), (1000, 2)]
KINDS = [local.Direct, local.Unary, local.Subset, local.Hadamard, local.Projective, local.Hashing]


def law(chances, people, count):
    """How many reports support a category that so many people are in."""
    p, q = map(float, chances)
    own = stats.binom.pmf(np.arange(count + 1), count, p)
    return np.convolve(own, stats.binom.pmf(np.arange(people - count + 1), people - count, q))


def missed(found, chances, people, count):
    """The probability that the interval of the number of supports does not hold the count."""
    outside = np.abs(found.counts - count) > found.error * (1 + 1e-12)
    return float(law(chances, people, count)[outside].sum())


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("epsilon", [0.1, 1.0, 4.0, 8.0, 16.0])
@pytest.mark.parametrize("categories", [2, 100])
def test_the_interval_of_a_count_misses_it_no_more_often_than_is_stated(kind, epsilon, categories):
    p = kind(categories=categories, epsilon=epsilon)
    for people, count in COUNTS:
        for confidence in CONFIDENCES:
            found = p.estimate(np.arange(people + 1), people, confidence=confidence)
            misses = missed(found, p.chances, people, count)
            assert misses <= (1 - confidence) * 1.005, (people, count, confidence)


@pytest.mark.parametrize("epsilon", [0.1, 1.2, 5.5])
@pytest.mark.parametrize("categories", [2, 100])
def test_randomized_response_misses_a_count_no_more_often_than_is_stated(epsilon, categories):
    m = dp.RandomizedResponse(epsilon=epsilon, categories=categories)
    false = (1 - m.truth) / categories
    for people, count in COUNTS[:-2]:
        exact = law((m.truth + false, false), people, count)
        for confidence in (0.5, 0.95, 0.999):
            misses = 0.0
            for seen, chance in enumerate(exact):
                found = m.estimate([0] * seen + [1] * (people - seen), confidence=confidence)
                off = abs(found.counts[0] - count)
                misses += chance * bool(off > found.errors[0] * (1 + 1e-12))
            assert misses <= (1 - confidence) * 1.005, (people, count, confidence)


def test_without_the_term_of_skewness_high_confidences_would_not_hold(monkeypatch):
    monkeypatch.setattr(reach, "skewness", lambda _: 0.0)
    chances = local.Direct(categories=2, epsilon=8.5).chances
    found = Estimate(
        supports=np.arange(101), people=100, chances=tuple(map(float, chances)),
        labels=(), epsilon=8.5, confidence=0.999,
    )  # fmt: skip
    assert missed(found, chances, 100, 10) > 5 * 0.001


def test_deviations_are_those_of_the_normal_law_up_to_the_last_confidence():
    assert reach.deviations(0.95) == pytest.approx(NormalDist().inv_cdf(0.975))
    assert reach.deviations(0.9, among=5) == pytest.approx(NormalDist().inv_cdf(0.99))
    last = math.nextafter(1.0, 0.0)
    assert 8 < reach.deviations(last) < reach.deviations(last, among=1 << 40) < math.inf


REPORTERS = {
    "direct": (local.Direct(categories=3, epsilon=1.0), 1),
    "attributes": (local.Attributes(categories={"a": 2, "b": 3}, epsilon=1.0), {"a": 1, "b": 1}),
    "ranges": (local.Ranges(epsilon=1.0, low=0, high=1, cells=10), 0.5),
    "mean": (local.Mean(epsilon=1.0, low=0, high=1), 0.5),
    "vector": (local.Vector(dimension=2, epsilon=1.0), [0.6, 0.8]),
    "heavy": (local.HeavyHitters(bits=10, epsilon=1.0), 3),
}


@pytest.mark.parametrize("name", REPORTERS)
@pytest.mark.parametrize("people", [0, 1, 3])
@pytest.mark.parametrize("confidence", [1e-300, 0.5, 1 - 1e-15, math.nextafter(1.0, 0.0)])
def test_every_confidence_and_any_number_of_people_have_an_estimate(name, people, confidence):
    p, value = REPORTERS[name]
    server = p.server()
    for _ in range(people):
        server.add(p.encode(value))
    found = server.estimate(confidence=confidence)
    assert repr(found)
    for each in found.values() if isinstance(found, dict) else [found]:
        if hasattr(each, "error"):
            assert np.isfinite(each.error).all()


@pytest.mark.parametrize("terms", [(40.0, 0.3, 0.0), (40.0, -0.2, 0.0), (25.0, 2.0, -0.01),
                                   (0.0, 1.0, -0.001), (400.0, 0.0, -0.0003)])  # fmt: skip
@pytest.mark.parametrize(("z", "off"), [(1.96, 0.7), (4.0, 2.0)])
def test_the_widest_error_is_the_largest_over_all_counts_within_reach(terms, z, off):
    """By looking at every true count c: |c − ĉ| ≤ z·sd(c) + off, and the variance at c."""
    people, found = 1000, np.array([0.0, 3.0, 90.0, 500.0, 1000.0])
    c = np.linspace(0, people, 400_001)
    half = z * np.sqrt(np.maximum(np.polynomial.polynomial.polyval(c, terms), 0)) + off
    expected = [half[np.abs(c - one) <= half].max() for one in found]
    shown = reach.widest(found, people, z=z, off=off, terms=terms)
    assert shown == pytest.approx(expected, rel=1e-3)  # of a grid
