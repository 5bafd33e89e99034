"""Domains: their geometry, and normal draws restricted to them (false alarms below 1e-7)."""

import math

import mpmath
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import special
from tests import goodness

import deniable as dp
from deniable.learn.convex import Ball, Box, Domain, Simplex

ALARM = 1e-8
DOMAINS = [
    Ball(2.0),
    Box(-1.0, 0.5),
    Box((-1.0, 0.0, 2.0), (1.0, 0.25, 5.0)),
    Simplex(),
    Simplex(3),
]


@pytest.mark.parametrize("domain", DOMAINS, ids=str)
@given(points=st.lists(st.floats(-9, 9), min_size=6, max_size=6))
def test_a_projection_is_in_the_set_and_nearer_to_its_points_than_before(domain, points):
    outside, inside = np.array(points[:3]), domain.project(np.array(points[2:5]))
    found = domain.project(outside)
    assert np.allclose(domain.project(found), found, atol=1e-9)
    assert np.linalg.norm(found - inside) <= np.linalg.norm(outside - inside) + 1e-9
    assert np.linalg.norm(found - domain.center(3)) <= domain.reach(3) * (1 + 1e-9)
    assert np.linalg.norm(found - inside) <= domain.diameter(3) * (1 + 1e-9)
    direction = np.array(points[3:])
    assert direction @ domain.farthest(direction) >= direction @ found - 1e-9


@pytest.mark.parametrize("domain", DOMAINS, ids=str)
def test_a_record_reads_back_as_the_same_set(domain):
    assert Domain.of(domain.record()) == domain
    assert domain.scaled(2.0).diameter(3) == pytest.approx(2 * domain.diameter(3))


@pytest.mark.parametrize(
    "wrong",
    [
        lambda: Ball(0.0),
        lambda: Ball(math.inf),
        lambda: Ball("1"),
        lambda: Box(1.0, 1.0),
        lambda: Box((0.0, 1.0), (1.0, 1.0, 2.0)),
        lambda: Box(0.0, math.nan),
        lambda: Box(1.0, 1.0 + 1e-13),
        lambda: Box((0.0, 0.0), (1.0, 1e-15)),
        lambda: Simplex(-1.0),
        lambda: Simplex().dimension(1),
        lambda: Box((0.0, 1.0), (1.0, 2.0)).dimension(3),
        lambda: Domain.of(("cone", 1.0)),
    ],
)
def test_what_is_not_a_bounded_set_is_refused(wrong):
    with pytest.raises(dp.BadParameter):
        wrong()


def truncated(points, center, sigma, low, high):
    """P(x ≤ point) of a normal law restricted to an interval, however far outside its center is."""
    at = [(np.asarray(p) - center) / sigma for p in (points, low, high)]
    if center < low:
        at = [-at[0], -at[2], -at[1]]
    logs = [special.log_ndtr(a) for a in at]
    below = (np.exp(logs[0] - logs[2]) - np.exp(logs[1] - logs[2])) / -np.expm1(logs[1] - logs[2])
    return 1 - below if center < low else below


@pytest.mark.statistical
@pytest.mark.parametrize("center", [0.0, 0.9, 1.2, -3.0, 40.0])
@pytest.mark.parametrize("domain", [Ball(1.0), Box(-1.0, 1.0)], ids=str)
def test_a_restricted_normal_draw_has_its_law_however_far_outside_it_is_aimed(domain, center):
    width = 2.0**-30
    if isinstance(domain, Box):  # one draw per coordinate
        drawn = domain.normal(np.full(1500, round(center / width)), 0.3 / width, width) * width
    else:
        aim = np.array([round(center / width)])
        drawn = np.array([domain.normal(aim, 0.3 / width, width)[0] * width for _ in range(250)])
    assert np.abs(drawn).max() <= 1 + width
    assert goodness.law(drawn, lambda x: truncated(x, center, 0.3, -1.0, 1.0)) > ALARM
    if isinstance(domain, Box):
        assert goodness.law(drawn, lambda x: truncated(x, center, 0.45, -1.0, 1.0)) < ALARM


@pytest.mark.statistical
@pytest.mark.parametrize("aim", [(0.3, 0.7), (1.6, -0.5), (-2.0, -2.0)])
def test_a_draw_from_the_simplex_of_two_is_a_draw_from_an_interval(aim):
    """On x₁ + x₂ = 1 the exponent is that of x₁ with center (1 + c₁ − c₂)/2 and σ/√2."""
    width, sigma = 2.0**-30, 0.3
    center = np.rint(np.array(aim) / width).astype(np.int64)
    drawn = [Simplex().normal(center, sigma / width, width) for _ in range(300)]
    assert {int(x.sum()) for x in drawn} == {2**30}
    middle, narrow = (1 + aim[0] - aim[1]) / 2, sigma / math.sqrt(2)
    first = np.array([x[0] * width for x in drawn])
    assert goodness.law(first, lambda x: truncated(x, middle, narrow, 0.0, 1.0)) > ALARM


@pytest.mark.statistical
def test_in_the_plane_a_restricted_draw_agrees_with_plain_rejection():
    """The share of draws beyond a line, for a center outside the disc."""
    width, sigma, center = 2.0**-30, 0.5, np.array([1.0, 0.6])
    aim = np.rint(center / width).astype(np.int64)
    drawn = np.array([Ball(1.0).normal(aim, sigma / width, width) for _ in range(400)]) * width
    x, y = np.meshgrid(np.linspace(-1, 1, 801), np.linspace(-1, 1, 801))
    mass = np.exp(-((x - center[0]) ** 2 + (y - center[1]) ** 2) / (2 * sigma**2))
    mass[x**2 + y**2 > 1] = 0.0
    cut = 0.6
    share = float(mass[x + y > cut].sum() / mass.sum())
    hits = int((drawn.sum(axis=1) > cut).sum())
    assert goodness.count(hits, len(drawn), share) > ALARM


@pytest.mark.parametrize("center", [0.0, 0.7, 1.0, -1.3, 30.0, -1e6])
@pytest.mark.parametrize("sigma", [1e-3, 0.3, 20.0])
def test_means_of_restricted_draws_are_right_to_a_few_digits(center, sigma):
    with mpmath.workdps(40):
        c, s = mpmath.mpf(center), mpmath.mpf(sigma)
        top = min(max(c, -1), 1)

        def mean(low, high):
            inner = [top + k * s / (1 + abs(c) / s) for k in (-40, -4, 4, 40)]
            ends = [low, *sorted(x for x in {*inner, top} if low < x < high), high]
            mass = lambda x: mpmath.exp(((top - c) ** 2 - (x - c) ** 2) / (2 * s * s))  # noqa: E731
            return mpmath.quad(lambda x: x * mass(x), ends) / mpmath.quad(mass, ends)

        exact = float(mean(mpmath.mpf(-1), mpmath.mpf(1)))
    found = Box(-1.0, 1.0).mean(np.array([center]), sigma)[0]
    assert found == pytest.approx(exact, abs=0.02 * min(sigma, 1.0))


@pytest.mark.parametrize("aim", [(0.2, 0.3, 0.5), (4.0, 0.0, -4.0), (1e6, 1e6, -1e6)])
@pytest.mark.parametrize("domain", DOMAINS, ids=str)
def test_the_mean_of_a_restricted_draw_lies_in_the_set(domain, aim):
    for sigma in (1e-6, 0.1, 50.0):
        found = domain.mean(np.array(aim), sigma)
        assert np.allclose(domain.project(found), found, atol=1e-9)


@pytest.mark.parametrize("record", [(), ("sphere", 1.0), (None,)])
def test_a_record_of_no_set_is_refused(record):
    with pytest.raises(dp.BadParameter, match="domain must be"):
        Domain.of(record)
