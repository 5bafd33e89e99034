"""Domains: their geometry, and normal draws restricted to them (false alarms below 1e-7)."""

import itertools
import math
from fractions import Fraction

import mpmath
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import special
from tests import goodness

import deniable as dp
from deniable.learn.convex import Ball, Box, Domain, Simplex, domains
from deniable.learn.convex.restricted import means_above

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
        lambda: Domain.of(()),
        lambda: Domain.of((None,)),
    ],
)
def test_what_is_not_a_bounded_set_is_refused(wrong):
    with pytest.raises(dp.BadParameter):
        wrong()


# ---- geometry, by hand


@pytest.mark.parametrize(
    ("domain", "coordinates", "dimension", "center", "reach", "diameter", "inner"),
    [
        (Ball(2.0), 3, 3, [0, 0, 0], 2.0, 4.0, 2.0),
        (Box(1.0, 5.0), 4, 4, [3, 3, 3, 3], 4.0, 8.0, 2.0),
        (Box((1.0, -4.0), (7.0, 4.0)), 2, 2, [4, 0], 5.0, 10.0, 3.0),
        (Box(-1.0, (2.0, 7.0)), 2, 2, [0.5, 3], math.hypot(1.5, 4), math.hypot(3, 8), 1.5),
        (Simplex(6.0), 4, 3, [1.5] * 4, math.sqrt(27), math.sqrt(72), 3.0),
        (Simplex(), 2, 1, [0.5, 0.5], math.sqrt(0.5), math.sqrt(2), 0.5),
    ],
    ids=str,
)
@pytest.mark.parametrize("factor", [1.0, 4.0])
def test_the_measures_of_a_set(
    domain, coordinates, dimension, center, reach, diameter, inner, factor
):
    made = domain.scaled(factor)
    assert made.dimension(coordinates) == dimension
    assert made.center(coordinates) == pytest.approx(np.array(center) * factor)
    assert made.reach(coordinates) == pytest.approx(reach * factor)
    assert made.diameter(coordinates) == pytest.approx(diameter * factor)
    assert made.inner(coordinates) == pytest.approx(inner * factor)
    wanted = math.hypot(*center) * factor + reach * factor
    assert made.norm(coordinates) == pytest.approx(wanted)


def corners(domain):
    if isinstance(domain, Simplex):
        return domain.total * np.eye(3)
    low, high = (np.broadcast_to(end, 3) for end in (domain.low, domain.high))
    return np.array(list(itertools.product(*zip(low, high, strict=True))))


@pytest.mark.parametrize("domain", DOMAINS, ids=str)
def test_what_lies_farthest_and_the_ends_of_products_are_at_corners_or_on_the_sphere(domain):
    rows = np.array([[1.0, 2.0, -2.0], [-0.3, 0.1, 0.2], [4.0, 5.0, 6.0], [-1.0, -2.0, -3.0]])
    least, most = domain.ends(rows)
    for row, low, high in zip(rows, least, most, strict=True):
        far = domain.farthest(row)
        if isinstance(domain, Ball):
            wanted = 2.0 * math.hypot(*row)
            assert math.hypot(*far) == pytest.approx(2.0)
            assert low == pytest.approx(-wanted)
        else:
            products = corners(domain) @ row
            wanted = products.max()
            assert low == pytest.approx(products.min())
            assert far.tolist() in corners(domain).tolist()
        assert high == pytest.approx(wanted)
        assert row @ far == pytest.approx(wanted)
    assert Ball(2.0).farthest(np.zeros(3)).tolist() == [0, 0, 0]


def test_a_point_of_a_ball_stays_and_others_end_inside_it_exactly():
    assert Ball(5.0).project(np.array([3.0, 4.0])).tolist() == [3.0, 4.0]
    draw = np.random.default_rng(2)
    for _ in range(200):
        point, radius = draw.normal(size=3) * 10, Fraction(float(draw.uniform(0.1, 2)))
        found = Ball(float(radius)).project(point)
        square = sum(Fraction(float(x)) ** 2 for x in found)
        assert radius**2 * (1 - Fraction(2) ** -46) <= square <= radius**2
        assert found * np.linalg.norm(point) == pytest.approx(point * float(radius))


def nearest_on_simplex(point, total):
    """By trying every set of coordinates that are above 0."""
    found, size = [], len(point)
    for above in itertools.product([False, True], repeat=size):
        kept = np.array(above)
        if kept.any():
            x = np.where(kept, point - (point[kept].sum() - total) / kept.sum(), 0.0)
            if (x >= -1e-12).all():
                found.append(x)
    return min(found, key=lambda x: np.linalg.norm(x - point))


@pytest.mark.parametrize("total", [1.0, 3.0])
def test_the_nearest_point_of_a_simplex_is_the_nearest(total):
    draw = np.random.default_rng(3)
    cases = [draw.normal(size=4) * scale for scale in (0.3, 2.0, 50.0) for _ in range(8)]
    for point in [*cases, np.zeros(4), np.array([1.0, 1.0, 0.0, -1.0]), np.full(4, -7.0)]:
        found = Simplex(total).project(point)
        assert found == pytest.approx(nearest_on_simplex(point, total), abs=1e-9)


# ---- boxes are measured in steps that lattices divide


def test_a_box_lies_within_its_ends_in_whole_steps_and_loses_at_most_two_of_them():
    draw = np.random.default_rng(4)
    for _ in range(60):
        low = draw.normal(size=3) * 10 ** draw.uniform(-3, 3)
        box = Box(low, low + 10 ** draw.uniform(-3, 3, size=3))
        step = Fraction(box._step)
        farthest = max(abs(Fraction(float(x))) for x in (*box.low, *box.high))
        assert 2**44 <= farthest / step < 2**45
        sides = ([Fraction(float(x)) for x in side] for side in box._sides(3))
        for end, other, middle, half in zip(box.low, box.high, *sides, strict=True):
            assert (middle / step).denominator == (half / step).denominator == 1
            assert Fraction(end) <= middle - half < Fraction(end) + 2 * step
            assert Fraction(other) - 2 * step < middle + half <= Fraction(other)


def test_the_sides_of_a_box_are_at_least_two_to_the_tenth_steps():
    assert Box(1 - 2.0**-34, 1.0).inner(1) == 2.0**-35
    with pytest.raises(dp.BadParameter, match="2⁻³⁵ of the farthest end"):
        Box(1 - 2.0**-34 + 2.0**-53, 1.0)


@pytest.mark.parametrize(
    ("low", "high", "said"),
    [
        (1.0, 1.0, "above low in every"),
        ((0.0, 1.0), (1.0, 1.0), "above low in every"),
        ((0.0, 1.0), (1.0, 2.0, 3.0), "above low in every"),
        (0.0, 2.0**101, "between 2⁻¹⁰⁰ and 2¹⁰⁰"),
        ((0.0, 0.0), (1.0, 2.0**-101), "between 2⁻¹⁰⁰ and 2¹⁰⁰"),
    ],
)
def test_ends_of_no_box_are_refused_in_their_own_words(low, high, said):
    with pytest.raises(dp.BadParameter, match=said):
        Box(low, high)


def test_ends_are_kept_as_plain_floats():
    assert Box([0, 1], np.array([2, 3])).record() == ("box", (0.0, 1.0), (2.0, 3.0))
    assert all(type(end) is float for end in (Box(0, 1).low, Ball(2).radius, Simplex(3).total))
    for size in (2.0**-100, 2.0**100):
        assert Ball(size).radius == Simplex(size).total == size


# ---- what is drawn in the steps of a lattice


class Given:
    """Blocks that draw what they are told, and remember what they were made of."""

    def __init__(self, monkeypatch, drawn=None):
        self.drawn, self.made = iter(drawn or []), None
        monkeypatch.setattr(domains, "Blocks", self)

    def __call__(self, **facts):
        self.made = facts
        return self

    def draw(self):
        return next(self.drawn, self.made["center"])


@pytest.mark.parametrize("kind", [np.int64, object])
def test_balls_and_boxes_are_blocks_in_steps_of_the_lattice(kind, monkeypatch):
    given, center = Given(monkeypatch), np.array([7, -9], dtype=kind)
    assert Ball(3.0).normal(center, 5.0, 0.25).tolist() == [7, -9]
    assert given.made["radius"].tolist() == [12.0]
    assert given.made["middle"].tolist() == [[0, 0]]
    assert given.made["sigma"] == 5.0
    assert Box((1.0, -4.0), (5.0, 4.0)).normal(center, 5.0, 0.25).tolist() == [7, -9]
    assert given.made["center"].tolist() == [[7], [-9]]
    assert given.made["middle"].tolist() == [[12], [0]]
    assert given.made["radius"].tolist() == [8.0, 16.0]
    assert given.made["middle"].dtype == given.made["center"].dtype == kind


@pytest.mark.parametrize("center", [[5, 900, -3], [400, 300, 200], [-9000, 7, 8500]])
def test_proposals_and_the_coin_of_a_simplex_make_its_density(center, monkeypatch):
    """ln of the proposals' density plus ln of the coin's chance is −‖x − c‖²/2σ², but for a const.

    Σx is the total in steps, others are restricted to [0, total], and their sum is about right.
    """
    sigma, top, late, constants = 50.0, 3 * 2**8, [], set()
    draws = [[[100], [30]], [[0], [700]], [[250], [250]], [[5], [1]]]
    given = Given(monkeypatch, [np.array(x) for x in draws])
    monkeypatch.setattr(domains, "is_above", lambda rest, others: rest >= 0 and others == 2)
    monkeypatch.setattr(domains, "bernoulli_exp", lambda x: [late.append(x) or True])
    for draw in draws:
        found = Simplex(3.0).normal(np.array(center), sigma, 2.0**-8)
        assert int(found.sum()) == top
        aims = given.made["center"][:, 0].tolist()
        proposed = sum((x - m) ** 2 for (x,), m in zip(draw, aims, strict=True))
        wished = sum((int(x) - c) ** 2 for x, c in zip(found, center, strict=True))
        constants.add(Fraction(proposed - wished) / (2 * Fraction(sigma) ** 2) + late[-1])
    assert len(constants) == 1
    assert given.made["middle"].tolist() == [[top // 2]] * 2
    assert given.made["radius"].tolist() == [top / 2] * 2
    j = int(np.argmax(center))
    moved = np.array(center) - center[j] + aim_of_rest(aims, center, j)
    assert float(means_above(moved, sigma).sum()) == pytest.approx(top, rel=0.01)


def aim_of_rest(aims, center, j):
    """All coordinates were moved by the same: so was the one that is what the others leave."""
    shifts = {a - c for a, c in zip(aims, np.delete(center, j).tolist(), strict=True)}
    assert len(shifts) == 1
    return center[j] + shifts.pop()


def test_a_draw_of_a_simplex_is_kept_if_it_is_inside_and_its_coin_agrees(monkeypatch):
    Given(monkeypatch, [np.array([[k], [k]]) for k in (1, 2, 3)])
    inside, coin = iter([True, False, True]), iter([False, True])
    monkeypatch.setattr(domains, "is_above", lambda rest, others: next(inside))
    monkeypatch.setattr(domains, "bernoulli_exp", lambda x: [next(coin)])
    assert Simplex(1.0).normal(np.array([9, 0, 0]), 4.0, 2.0**-8).tolist() == [250, 3, 3]


@pytest.mark.parametrize("total", [0.1, 0.3, 2.7])
def test_the_total_of_a_simplex_is_rounded_down_to_steps_of_its_own(total, monkeypatch):
    Given(monkeypatch, [np.array([[1], [1]])])
    monkeypatch.setattr(domains, "bernoulli_exp", lambda x: [True])
    drawn = int(Simplex(total).normal(np.array([9, 0, 0]), 4.0, 2.0**-50).sum())
    assert 0 < Fraction(total) - Fraction(drawn, 2**50) < Fraction(total) / 2**43


@pytest.mark.parametrize(
    ("center", "sigma", "aim"),
    [
        ([10**30, 10**29, -(10**30)], 4.0, 2),
        ([-(10**30), 3, 10**30], 4.0, 2),
        ([0, 1, 2], 2.0**60, -1),
    ],
)
def test_an_aim_far_from_the_simplex_is_brought_near_it(center, sigma, aim, monkeypatch):
    """To one total below 0 or two above: what digits add is bounded for such aims."""
    late, top = [], 2**30
    Given(monkeypatch, [np.array([[1], [1]], dtype=object)])
    monkeypatch.setattr(domains, "is_above", lambda *_: True)
    monkeypatch.setattr(domains, "bernoulli_exp", lambda x: [late.append(x) or True])
    Simplex(1.0).normal(np.array(center, dtype=object), sigma, 1 / top)
    assert late == [((top - 2 - aim * top) / Fraction(sigma)) ** 2 / 2]


def test_the_mean_in_a_box_moves_with_the_box():
    centers = np.array([-3.0, 0.2, 0.9])
    still, moved = Box(-1.0, 1.0).mean(centers, 0.4), Box(4.0, 6.0).mean(centers + 5, 0.4)
    assert moved == pytest.approx(still + 5, abs=1e-6)


def test_the_mean_on_a_simplex_is_about_that_of_the_restricted_law():
    """By summation over the triangle, wherever on the plane's normal the center is."""
    first, second = (x.ravel() for x in np.meshgrid(*[np.linspace(0, 1, 201)] * 2))
    points = np.stack([first, second, 1 - first - second], axis=1)[first + second <= 1]
    for center in ([0.3, 0.3, 0.4], [0.2, 0.2, 0.6], [0.0, 0.5, 0.5]):
        for along in (0.0, 5.0, -5.0):
            mass = np.exp(-((points - center) ** 2).sum(axis=1) / (2 * 0.5**2))
            exact = mass @ points / mass.sum()
            found = Simplex().mean(np.array(center) + along, 0.5)
            assert found == pytest.approx(exact, abs=0.02)


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
