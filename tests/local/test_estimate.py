"""The variance of a count by the law of total variance, and the ± by going through all counts."""

import math
from dataclasses import replace
from statistics import NormalDist

import numpy as np
import pytest

from deniable import local
from deniable.local.estimate import Estimate, projected
from deniable.mechanisms.local import reach

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


@pytest.mark.parametrize("asked", [None, 100])
@pytest.mark.parametrize("shared", [0.0, 0.01])
def test_the_variance_of_a_sum_has_three_parts(asked, shared):
    """(k + 1)/(k − 1) times that of reports; of who was asked, around the mean weight; shared."""
    m = PEOPLE if asked is None else asked
    found = estimate([m // 5, m // 4, m // 2], chances=(0.75, 0.25), asked=asked, shared=shared)
    weights = np.array([2.0, -1.0, 0.5])
    low, high = found.interval(found.confidence)
    none, linear, square = found._coefficients
    choice = 0.0 if asked is None else (PEOPLE / m) * (PEOPLE - m) / (PEOPLE - 1)
    assert -square * PEOPLE == pytest.approx(choice)
    own = [none + max((linear - choice) * x for x in pair) for pair in zip(low, high, strict=True)]
    middle = float(weights @ high) / float(high.sum())
    exact = 2 * float(weights**2 @ np.array(own))
    exact += choice * float(high @ (weights - middle) ** 2)
    exact += shared * float(np.square(high).sum()) * 5.25
    assert found.variance_of_sum(weights) == pytest.approx(exact, rel=1e-12)


def test_of_nobody_nothing_varies():
    nobody = Estimate(
        supports=np.array([0, 0]), people=0, chances=(0.75, 0.25), labels=("a", "b"), epsilon=1.0
    )
    assert nobody.variance_of_sum(np.array([1.0, 2.0])) == 0.0
    assert nobody.counts.tolist() == [0.0, 0.0]
    assert np.isfinite(nobody.error).all()


def test_counts_are_listed_by_size_and_by_category():
    found = estimate([100, 300, 200, 300], chances=(0.75, 0.25))
    assert found.counts.tolist() == [0.0, 400.0, 200.0, 400.0]
    assert [(label, count) for label, count, _ in found.top(3)] == [
        ("1", 400.0), ("3", 400.0), ("2", 200.0)
    ]  # fmt: skip
    assert [error for _, _, error in found.top(4)] == [found.error[i] for i in (1, 3, 2, 0)]
    assert len(found.top()) == 4
    rows = found.rows()
    assert [row["category"] for row in rows] == ["0", "1", "2", "3"]
    for i, row in enumerate(rows):
        assert (row["count"], row["error"]) == (found.counts[i], found.error[i])
        assert row["projected"] == found.projected[i]
    unnamed = Estimate(
        supports=np.arange(3), people=9, chances=(0.75, 0.25), labels=(), epsilon=1.0
    )
    assert [row["category"] for row in unnamed.rows()] == ["0", "1", "2"]


@pytest.mark.parametrize("total", [0.0, 1.0, 7.0, 100.0])
def test_the_projection_is_the_nearest_of_all_lists_of_counts(total):
    """Nearest: what is left over is the same number wherever a count stays, and more elsewhere."""
    draw = np.random.default_rng(8)
    for counts in (draw.normal(3, 9, 12), np.array([5.0, 4.0, -3.0]), np.array([2.0]), -np.ones(4)):
        found = projected(counts, total)
        assert found.min() >= 0
        assert found.sum() == pytest.approx(total, abs=1e-9)
        over = counts - found
        stays = found > 0
        if stays.any():
            assert over[stays] == pytest.approx(over[stays][0])
            assert (over[~stays] <= over[stays][0] + 1e-9).all()


@pytest.mark.parametrize(("asked", "each"), [(None, 1.0), (100, 4.0), (400, 1.0), (0, 400.0)])
def test_each_report_stands_for_as_many_people_as_were_not_asked(asked, each):
    found = estimate([10], chances=(0.75, 0.25), asked=asked)
    assert found._each == each
    m = PEOPLE if asked is None else asked
    assert found.counts[0] == pytest.approx(each * (10 - m * 0.25) / 0.5)


def test_shared_collisions_count_the_largest_counts_in_reach():
    chances, shared = (0.75, 0.25), 0.01
    found = estimate([120, 160, 200], chances=chances, shared=shared)
    z = reach.deviations(0.95)
    off = reach.steps(chances, z)
    most = np.clip(found.counts, 0, PEOPLE)
    most = np.clip(found.counts + z * np.sqrt(found.variance(most)) + off, 0, PEOPLE)
    none, linear, square = reach.variance(chances, PEOPLE)
    terms = (none + shared * float(np.square(most).sum()), linear, square)
    expected = reach.widest(found.counts, PEOPLE, z=z, off=off, terms=terms)
    assert found.error == pytest.approx(expected, rel=1e-12)


@pytest.mark.parametrize("count", [3, 400])
def test_counts_that_are_left_out_are_said_to_be(count):
    found = estimate([5] * count, chances=(0.75, 0.25))
    shown, rest = found._listed()
    left = count - len(shown)
    assert len(rest) == (left > 0)
    assert all(f"{left:,} more" in line for line in rest)
    assert left == (0 if count == 3 else count - len(found.top(len(shown))))


@pytest.mark.parametrize("shared", [0.0, 0.25])
def test_what_reports_share_adds_a_part_of_all_squares(shared):
    alone = estimate([0, 0, 0], chances=(0.75, 0.25)).variance([30.0, -4.0, 10.0])
    found = estimate([0, 0, 0], chances=(0.75, 0.25), shared=shared).variance([30.0, -4.0, 10.0])
    assert found - alone == pytest.approx(np.full(3, shared * 1000.0))


@pytest.mark.parametrize("beyond", [(400, 380), (0, 10)])
def test_a_count_that_cannot_be_widens_no_other_one_whatever_it_is(beyond):
    """All counts in reach are held to 0 and everyone: 600 or 560 of 400 are the same 400."""
    one, other = (
        estimate([supports, 200], chances=(0.75, 0.25), shared=0.01) for supports in beyond
    )
    assert one.counts[0] != other.counts[0]
    assert one.error[1] == other.error[1]
    alone = estimate([beyond[0], 200], chances=(0.75, 0.25))
    assert one.error[1] > alone.error[1]


@pytest.mark.parametrize("chances", CHANCES)
def test_where_nobody_is_a_report_stands_for_one_person(chances):
    alone, asked = (
        replace(estimate([0, 0], chances=chances, asked=asked), people=0) for asked in (None, 0)
    )
    assert asked.variance(np.zeros(2)).tolist() == alone.variance(np.zeros(2)).tolist()
    assert asked.counts.tolist() == [0.0, 0.0]
