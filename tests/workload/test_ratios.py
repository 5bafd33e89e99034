"""Ends of averages, variances and covariances, against tests inverted one number at a time."""

import dataclasses
import itertools
import math
from statistics import NormalDist

import numpy as np
import pytest

from deniable.workload.ratios import Pairs, Sums, correlation_ends

COUNT, TOTAL, SQUARES = [90.0, 12.0, 0.4, 400.0], [150.0, -30.0, 5.0, 2.0], [900.0, 160.0, 7.0, 800]
OTHER, PRODUCTS = [40.0, 8.0, 1.0, -90.0], [300.0, -25.0, 2.0, 120.0]
SCALES = (3.0, 5.0, 20.0)
REACH, FAR = 6.0, 2.0


def sums(law="gaussian", *, total=TOTAL, squares=SQUARES, scales=SCALES, reach=REACH):
    return Sums(
        law=law, count=np.array(COUNT), total=np.array(total), squares=np.array(squares),
        mixture=np.diag(scales), reach=reach,
    )  # fmt: skip


def gaussian(amount, scales):
    return math.erfc(abs(amount) / math.hypot(*scales) / math.sqrt(2))


def laplace(amount, scales):
    """By partial fractions of the characteristic function; no two scales are equal here."""
    total = 0.0
    for i, own in enumerate(scales):
        weight = math.prod(own**2 / (own**2 - s**2) for j, s in enumerate(scales) if j != i)
        total += weight * math.exp(-abs(amount) / own)
    return total


LAWS = {"gaussian": gaussian, "laplace": laplace}


def crossing(refuted, outer, inner):
    """Where a test that refutes the outer end stops to; the outer end itself if it does not."""
    if not refuted(outer):
        return outer
    for _ in range(60):
        middle = (outer + inner) / 2
        outer, inner = (middle, inner) if refuted(middle) else (outer, middle)
    return outer


def inverted(law, seen, scales, least, most, alpha):
    """The ends of θ at which what is seen is not larger than noise usually is, with its sign."""

    def refuted(sign):
        return lambda t: sign * seen(t) > 0 and LAWS[law](seen(t), scales(t)) < alpha

    return crossing(refuted(1), least, most), crossing(refuted(-1), most, least)


def mean_ends(law, n, s, scales, reach, alpha):
    return inverted(
        law, lambda t: s - t * n, lambda t: (abs(t) * scales[0] + 1e-12, scales[1]), -reach, reach,
        alpha,
    )  # fmt: skip


def variance_ends(law, n, s, q, m, less, alpha):
    return inverted(
        law,
        lambda v: q - 2 * m * s + m * m * n - v * (n - less),
        lambda v: (abs(m * m - v) * SCALES[0] + 1e-9, 2 * abs(m) * SCALES[1], SCALES[2]),
        0.0, (1 + less) * REACH**2, alpha,
    )  # fmt: skip


def test_estimates_are_ratios_held_in_reach():
    made = sums()
    means, variances = [], []
    for n, s, q in zip(COUNT, TOTAL, SQUARES, strict=True):
        many = max(n, 1.0)
        means.append(min(max(s / many, -REACH), REACH))
        variances.append(min(max(q / many - means[-1] ** 2, 0.0), REACH**2))
    assert made.mean().tolist() == pytest.approx(means)
    assert made.variance().tolist() == pytest.approx(variances)
    assert sums(squares=[0.0] * 4).variance().tolist() == [0.0] * 4
    assert sums(squares=[1e9] * 4).variance().tolist() == [REACH**2] * 4


@pytest.mark.parametrize("confidence", [0.5, 0.95, 0.999])
def test_the_ends_of_an_average_are_those_of_fieller(confidence):
    """(s − θ·n)² = z²·(σₛ² + θ²·σₙ²), where the count is clearly above its noise."""
    z = -NormalDist().inv_cdf((1 - confidence) / 2)
    low, high = sums().mean_interval(confidence)
    for i in (0, 3):
        n, s = COUNT[i], TOTAL[i]
        a, b, c = n * n - (z * SCALES[0]) ** 2, -2 * s * n, s * s - (z * SCALES[1]) ** 2
        root = math.sqrt(b * b - 4 * a * c)
        wanted = (-b - root) / (2 * a), (-b + root) / (2 * a)
        assert (low[i], high[i]) == pytest.approx(wanted, abs=1e-7)


@pytest.mark.parametrize("law", LAWS)
@pytest.mark.parametrize("confidence", [0.5, 0.95, 0.999])
def test_averages_that_a_test_refutes_are_outside_and_no_others(law, confidence):
    low, high = sums(law).mean_interval(confidence)
    for i, (n, s) in enumerate(zip(COUNT, TOTAL, strict=True)):
        wanted = mean_ends(law, n, s, SCALES, REACH, 1 - confidence)
        assert (low[i], high[i]) == pytest.approx(wanted, abs=1e-3 * REACH)
        free = (low[i], high[i]) == (-REACH, REACH)
        assert sums(law).drowned(confidence)[i] == free


@pytest.mark.parametrize("law", LAWS)
@pytest.mark.parametrize("less", [0, 1])
@pytest.mark.parametrize("confidence", [0.8, 0.99])
def test_variances_that_a_test_refutes_are_outside_and_the_mean_moves_the_low_end(
    law, less, confidence
):
    made = sums(law)
    low, high = made.variance_interval(confidence, less=less)
    for i, (n, s, q) in enumerate(zip(COUNT, TOTAL, SQUARES, strict=True)):
        m = float(made.mean()[i])
        first, last = variance_ends(law, n, s, q, m, less, 1 - confidence)
        ends, many = made.mean_interval(confidence), max(n, 1.0 + less)
        off = max(m - ends[0][i], ends[1][i] - m)
        wanted = max(first - off**2 * many / (many - less), 0.0), last
        assert (low[i], high[i]) == pytest.approx(wanted, abs=2e-3 * REACH**2)


def pairs(law):
    second = sums(law, total=OTHER, squares=[200.0, 30.0, 3.0, 90.0], scales=(3.0, 2.0, 4.0),
                  reach=FAR)  # fmt: skip
    mixture = np.diag([3.0, 5.0, 2.0, 11.0])
    return Pairs(first=sums(law), second=second, products=np.array(PRODUCTS), mixture=mixture)


def test_a_covariance_and_a_correlation_are_ratios_held_in_reach():
    made = pairs("gaussian")
    covariances, correlations = [], []
    for i, n in enumerate(COUNT):
        many = max(n, 1.0)
        means = min(max(TOTAL[i] / many, -REACH), REACH) * min(max(OTHER[i] / many, -FAR), FAR)
        covariances.append(min(max(PRODUCTS[i] / many - means, -12.0), 12.0))
        scale = math.sqrt(float(made.first.variance()[i] * made.second.variance()[i]))
        correlations.append(min(max(covariances[-1] / scale, -1.0), 1.0) if scale else 0.0)
    assert made.reach == 12.0
    assert made.covariance().tolist() == pytest.approx(covariances)
    assert made.correlation().tolist() == pytest.approx(correlations)


@pytest.mark.parametrize("sign", [1.0, -1.0])
def test_noise_never_takes_a_correlation_beyond_one(sign):
    """Products as large as reach allows, of values whose squares say that they hardly spread."""
    still = {"total": [0.0] * 4, "squares": [c / 4 for c in COUNT]}
    made = Pairs(
        first=sums(**still), second=sums(**still, reach=FAR),
        products=sign * 9.0 * np.array(COUNT), mixture=np.diag([3.0, 5.0, 2.0, 11.0]),
    )  # fmt: skip
    assert made.correlation().tolist() == [sign] * 4
    larger = dataclasses.replace(made, products=10 * made.products)
    assert larger.covariance().tolist() == [sign * REACH * FAR] * 4


@pytest.mark.parametrize("law", LAWS)
@pytest.mark.parametrize("less", [0, 1])
@pytest.mark.parametrize("confidence", [0.8, 0.99])
def test_covariances_are_refuted_where_they_are_at_all_means_that_may_be(law, less, confidence):
    """Both means may miss with a tenth of what is left; at corners everything is extreme."""
    made = pairs(law)
    low, high = made.covariance_interval(confidence, less=less)
    each = 1 - 0.1 * (1 - confidence)
    boxes = [s.mean_interval(each) for s in (made.first, made.second)]
    for i, n in enumerate(COUNT):
        corners = [*itertools.product(*([float(end[i]) for end in box] for box in boxes))]
        numbers = n, TOTAL[i], OTHER[i], PRODUCTS[i]

        def terms(c, corners=corners):
            return [(a * b - c, -b, -a, 1.0) for a, b in corners]

        def refuted(c, sign, numbers=numbers, terms=terms):
            seen = min(
                sign * (sum(f * x for f, x in zip(t, numbers, strict=True)) + less * c)
                for t in terms(c)
            )
            scales = [
                max(abs(t[k]) for t in terms(c)) * s + 1e-9 * k
                for k, s in enumerate((3.0, 5.0, 2.0, 11.0))
            ]
            return seen > 0 and LAWS[law](seen, scales) < 0.8 * (1 - confidence)

        most = (1 + less) * 12.0
        wanted = (
            crossing(lambda c, f=refuted: f(c, 1), -most, most),
            crossing(lambda c, f=refuted: f(c, -1), most, -most),
        )
        assert (low[i], high[i]) == pytest.approx(wanted, abs=0.03)


def test_the_ends_of_a_correlation_are_the_extreme_ratios():
    made = pairs("laplace")
    for confidence in (0.5, 0.95):
        each = 1 - (1 - confidence) / 3
        parts = [
            made.covariance_interval(each),
            *(s.variance_interval(each) for s in (made.first, made.second)),
        ]
        wanted = correlation_ends(*parts)
        assert np.array_equal(made.correlation_interval(confidence), wanted)


@pytest.mark.parametrize("covariance", [(1.0, 2.0), (-2.0, -1.0), (-1.0, 2.0), (0.0, 0.0)])
@pytest.mark.parametrize("first", [(1.0, 4.0), (9.0, 9.0), (0.0, 4.0)])
@pytest.mark.parametrize("second", [(4.0, 5.0), (0.0, 1.0)])
def test_ratios_at_corners_are_the_ends_and_a_variance_of_nothing_leaves_all(
    covariance, first, second
):
    given = [tuple(np.array([end]) for end in ends) for ends in (covariance, first, second)]
    low, high = (float(end[0]) for end in correlation_ends(*given))
    some = [
        c / math.sqrt(v * w) for c, v, w in itertools.product(covariance, first, second) if v * w
    ]
    if first[0] * second[0]:
        assert (low, high) == pytest.approx((max(min(some), -1.0), min(max(some), 1.0)))
    else:
        assert low == (-1.0 if covariance[0] < 0 or not some else pytest.approx(max(min(some), -1)))
        assert high == (1.0 if covariance[1] >= 0 or not some else pytest.approx(max(some)))
