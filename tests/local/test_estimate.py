"""The variance of a count by the law of total variance, and the ± by going through all counts."""

import math
from statistics import NormalDist

import numpy as np
import pytest

from deniable import local
from deniable.local.estimate import Estimate

PEOPLE = 400
CHANCES = [(0.75, 0.25), (0.5, 0.1), (0.9, 0.5), (1.0, 0.2)]


def estimate(supports, *, chances, asked=None, shared=0.0, confidence=0.95):
    return Estimate(
        supports=np.asarray(supports), people=PEOPLE, chances=chances, asked=asked, shared=shared,
        labels=tuple(map(str, range(len(supports)))), epsilon=1.0, confidence=confidence,
    )  # fmt: skip


def exact_variance(count, *, chances, asked):
    """Of (n/m)·(S − mq)/(p − q): how many of the m who were asked are in the category, then S."""
    (p, q), n = chances, PEOPLE
    m = n if asked is None else asked
    inside, apart = m * count / n, m * (count / n) * (1 - count / n) * (n - m) / (n - 1)
    reports = inside * p * (1 - p) + (m - inside) * q * (1 - q)
    return (n / m) ** 2 * (reports / (p - q) ** 2 + apart)


@pytest.mark.parametrize("asked", [None, 400, 399, 100, 7])
@pytest.mark.parametrize("chances", CHANCES)
def test_the_variance_is_that_of_reports_and_of_who_was_asked(chances, asked):
    found = estimate([0], chances=chances, asked=asked)
    for count in (0, 1, 150, 200, 399, 400):
        truth = exact_variance(count, chances=chances, asked=asked)
        assert found.variance([count])[0] == pytest.approx(truth, rel=1e-12, abs=1e-6)


@pytest.mark.parametrize("confidence", [0.8, 0.95, 0.9999])
@pytest.mark.parametrize("asked", [None, 399, 100, 40])
@pytest.mark.parametrize("chances", CHANCES)
def test_the_error_is_the_largest_of_all_counts_within_reach(chances, asked, confidence):
    (p, q), m = chances, PEOPLE if asked is None else asked
    z = NormalDist().inv_cdf((1 + confidence) / 2)
    skewed = max(0, z * z - 1) / 6 * max(abs(1 - 2 * p), abs(1 - 2 * q))
    half = (0.5 + skewed) * (PEOPLE / m) / (p - q)
    supports = np.linspace(0, m, 9).astype(np.int64)
    found = estimate(supports, chances=chances, asked=asked, confidence=confidence)
    true = np.linspace(0, PEOPLE, 40_001)
    widths = z * np.sqrt(np.maximum(exact_variance(true, chances=chances, asked=asked), 0)) + half
    for count, error in zip(found.counts, found.error, strict=True):
        reached = widths[np.abs(true - count) <= widths]
        if reached.size:
            assert error >= reached.max() * (1 - 1e-12)
            assert error <= reached.max() * 1.01
    low, high = found.interval(confidence)
    assert np.allclose(high, np.clip(found.counts + found.error, 0, PEOPLE))
    assert np.allclose(low, np.clip(found.counts - found.error, 0, PEOPLE))


def test_shared_hash_functions_add_to_the_variance_of_every_count():
    chances, supports = CHANCES[0], [120, 160, 200]
    alone, together = (estimate(supports, chances=chances, shared=s) for s in (0.0, 0.01))
    added = 0.01 * (30.0**2 + 100.0**2)
    truth = alone.variance([30.0, 100.0, -5.0]) + added
    assert together.variance([30.0, 100.0, -5.0]) == pytest.approx(truth)
    z, high = NormalDist().inv_cdf(0.975), alone.interval()[1]
    least = 0.01 * float(np.square(np.clip(alone.counts, 0, PEOPLE)).sum())
    for error, before in zip(together.error, alone.error, strict=True):
        assert error >= math.hypot(before - 1, z * math.sqrt(least))
    most = z * math.sqrt(0.01 * 4 * float(np.square(high).sum()))
    assert (together.error <= alone.error + most).all()


@pytest.mark.parametrize("asked", [None, 100])
@pytest.mark.parametrize("chances", CHANCES)
def test_a_sum_of_counts_has_at_least_the_variance_of_any_counts_in_reach(chances, asked):
    m = PEOPLE if asked is None else asked
    found = estimate([m // 5, m // 4, m // 2], chances=chances, asked=asked)
    low, high = found.interval()
    _, own, most = found._largest
    assert (most == high).all()
    (p, q), choice = chances, 0.0 if asked is None else (PEOPLE / m) * (PEOPLE - m) / (PEOPLE - 1)
    each = PEOPLE / m
    for share in np.linspace(0, 1, 9):
        true = low + share * (high - low)
        reports = true * p * (1 - p) + (PEOPLE - true) * q * (1 - q)
        assert (own >= each * reports / (p - q) ** 2 * (1 - 1e-12) - 1e-6).all()
        for weights in np.eye(3):
            one = float(true @ weights)
            alone = choice * one * (1 - one / PEOPLE)
            exact = float(each * reports @ weights) / (p - q) ** 2 + alone
            assert found.variance_of_sum(weights) >= exact * (1 - 1e-12) - 1e-6


def test_where_nobody_was_asked_anything_is_possible():
    found = estimate([0, 0], chances=CHANCES[0], asked=0)
    assert found.error.tolist() == [PEOPLE, PEOPLE]


@pytest.mark.parametrize(
    ("confidence", "said"), [(0.95, "95 %"), (0.999, "99.9 %"), (0.99999, "99.999 %")]
)
def test_a_confidence_is_never_rounded_to_certainty(confidence, said):
    mean = local.Mean(epsilon=1.0, low=0, high=1).server().estimate(confidence=confidence)
    vector = local.Vector(dimension=2, epsilon=1.0).server().estimate(confidence=confidence)
    ranges = local.Ranges(epsilon=1.0, low=0, high=1).server().estimate(confidence=confidence)
    counts = estimate([1, 2], chances=CHANCES[0], confidence=confidence)
    for each in (mean, vector, ranges, counts):
        assert f"{said} confidence" in repr(each)
