"""Normal draws restricted to balls: the tilt, the coin and the last digits, in exact numbers."""

import math
from fractions import Fraction

import numpy as np
import pytest
from mpmath import erfc, exp, mp, mpf, npdf, quad, sqrt

from deniable.learn.convex import restricted
from deniable.learn.convex.restricted import (
    Blocks,
    _Coin,
    is_above,
    means_above,
    means_within,
    shift,
    whole,
)


def blocks(center, middle, radius, sigma):
    return Blocks(
        center=np.array(center), middle=np.array(middle), radius=np.array(radius), sigma=sigma
    )


# ---- the tilt


@pytest.mark.parametrize("sigma", [1.0, 30.0, 400.0])
@pytest.mark.parametrize("center", [[0, 0], [500, 0], [900, 1200], [40_000, 3]])
def test_the_tilt_brings_a_proposal_to_the_boundary(center, sigma):
    """‖c′‖² + d/(a + λ) = R² with c′ = c/(1 + λ/a); no tilt where that is less without one."""
    radius, middle = 1000.0, [10, -20]
    moved = [c + m for c, m in zip(center, middle, strict=True)]
    (tilt,) = blocks([moved], [middle], [radius], sigma)._tilt()
    size = lambda t: sum(c * c for c in center) / (1 + t) ** 2 + 2 * sigma**2 / (1 + t)  # noqa: E731
    if size(0.0) <= radius**2:
        assert tilt == 0
    else:
        assert tilt > 0
        assert size(tilt) == pytest.approx(radius**2, rel=1e-9)


def test_every_row_has_its_own_tilt_and_a_tiny_one_is_none():
    far, near = [3000, 0], [10, 0]
    found = blocks([far, near], [[0, 0], [0, 0]], [1000.0, 1000.0], 5.0)._tilt()
    assert found[0] == pytest.approx(2, rel=1e-3)
    assert found[1] == 0
    edge = blocks([[1 << 40, 0]], [[0, 0]], [float((1 << 40) - 1)], 1e-9)._tilt()
    assert edge.tolist() == [0.0]


# ---- the coin


@pytest.mark.parametrize("sigma", [3.0, 7.5])
@pytest.mark.parametrize("narrow", [1.5, 2.25])
@pytest.mark.parametrize("radius", [6.0, 6.4])
def test_the_coin_is_what_the_proposal_leaves_of_the_density(sigma, narrow, radius):
    """For all points, ln of the density less ln of the proposal's differs by the coin's exponent.

    What a coin adds is the same for every point, and no point inside has a negative exponent.
    """
    center, aim = np.array([9, -4]), np.array([3, -1])
    coin = _Coin.of(center, aim, narrow, radius, sigma)
    constants = set()
    for x in range(-6, 7):
        for y in range(-6, 7):
            point = np.array([x, y])
            if x * x + y * y > radius**2:
                continue
            late = coin.late(point)
            wanted = sum(
                (Fraction(int(p)) - int(c)) ** 2 for p, c in zip(point, center, strict=True)
            )
            had = sum((Fraction(int(p)) - int(c)) ** 2 for p, c in zip(point, aim, strict=True))
            exact = -wanted / (2 * Fraction(sigma) ** 2) + had / (2 * Fraction(narrow) ** 2)
            constants.add(late + exact)
            assert late >= 0
    assert len(constants) == 1
    (constant,) = constants
    # The least constant with no negative exponent is λR²/2 + ‖r‖R; R and ‖r‖ are rounded up.
    a, b = 1 / Fraction(sigma) ** 2, 1 / Fraction(narrow) ** 2
    rest = [a * int(c) - b * int(m) for c, m in zip(center, aim, strict=True)]
    far = math.ceil(radius)
    norm = math.sqrt(sum(float(r) ** 2 for r in rest))
    base = -a * int(center @ center) / 2 + b * int(aim @ aim) / 2
    least = float((b - a) * far**2 / 2 + base) + norm * far
    unit = float(coin.below) * far
    assert least - 1e-9 <= float(constant) <= least + unit + 1e-9


def test_a_point_just_outside_is_kept_for_certain():
    coin = _Coin.of(np.array([9, 0]), np.array([3, 0]), 1.5, 6.0, 3.0)
    assert coin.late(np.array([90, 0])) == 0
    assert isinstance(coin.late(np.array([1, 1])), Fraction)


# ---- who is inside


def test_the_digits_of_a_cell_decide_at_the_boundary(monkeypatch):
    """The real point is the cell's middle − ½, plus its digits."""
    for digits, radius, inside in (
        ((1 << 39, 1 << 39), 5.0, True),
        ((1 << 39, (1 << 39) + 1), 5.0, False),
        ((1 << 39, (1 << 39) - 1), 5.0, True),
        ((0, 0), math.hypot(2.5, 3.5) + 1e-9, True),
        ((0, 0), math.hypot(2.5, 3.5) - 1e-9, False),
    ):
        monkeypatch.setattr(restricted, "below", lambda bound, n, d=digits: bounded(bound, n, d))
        assert restricted._within(np.array([3, 4]), radius) is inside


def bounded(bound, count, digits):
    assert bound == 1 << 40
    assert count == len(digits)
    return np.array(digits)


@pytest.mark.parametrize(
    ("rest", "others", "digits", "above"),
    [
        (3, 2, None, True),
        (-3, 2, None, False),
        (0, 2, (1 << 39, (1 << 39) - 1), True),
        (0, 2, (1 << 39, 1 << 39), False),
        (2, 2, ((1 << 40) - 1, (1 << 40) - 1), True),
        (1, 2, ((1 << 40) - 1, (1 << 40) - 1), True),
        (-1, 2, (0, 0), False),
        (1, 2, ((1 << 40) - 1, (1 << 40) + 1), False),
    ],
)
def test_what_a_sum_leaves_is_decided_by_digits_only_if_they_can(
    rest, others, digits, above, monkeypatch
):
    def drawn(bound, count):
        assert digits is not None
        return bounded(bound, count, digits)

    monkeypatch.setattr(restricted, "below", drawn)
    assert is_above(rest, others) is above


def test_close_calls_alone_are_decided_by_digits(monkeypatch):
    asked = []

    def within(point, radius):
        asked.append((point.tolist(), radius))
        return False

    monkeypatch.setattr(restricted, "_within", within)
    held = blocks([[0, 0]] * 4, [[0, 0]] * 4, [1000.0, 1000.0, 1000.0, 500.0], 5.0)
    drawn = np.array([[0, 3], [0, 1000], [0, 2000], [0, 498]])
    kept = held._kept(drawn, np.arange(4), {})
    assert kept.tolist() == [True, False, False, False]
    assert asked == [([0, 1000], 1000.0), ([0, 498], 500.0)]


def test_a_point_is_close_up_to_cells_away_from_the_boundary(monkeypatch):
    """|R² − ‖x‖²| ≤ 4R(2 + √d) + 2⁻⁴⁰R²: about seven cells on either side in two dimensions."""
    asked = []
    monkeypatch.setattr(restricted, "_within", lambda point, radius: asked.append(int(point[-1])))
    radius = 1000.0
    held = blocks([[0, 0]], [[0, 0]], [radius], 5.0)
    limit = 4 * radius * (2 + math.sqrt(2))
    every = range(980, 1020)
    for y in every:
        held._kept(np.array([[0, y]]), np.array([0]), {})
    assert asked == [y for y in every if abs(radius**2 - y * y) <= limit]
    asked.clear()
    wide = 2.0**60
    held = blocks([[0]], [[0]], [wide], 5.0)
    for y in (2**60 - 2**18, 2**60 - 2**20):
        held._kept(np.array([[y]], dtype=object), np.array([0]), {})
    assert asked == [2**60 - 2**18]


def test_a_coin_keeps_or_drops_what_is_inside(monkeypatch):
    asked = []

    class Coin:
        def late(self, point):
            return Fraction(int(point[0]))

    monkeypatch.setattr(restricted, "bernoulli_exp", lambda x: [asked.append(x) or x == 1])
    held = blocks([[0, 0]] * 4, [[0, 0]] * 4, [1000.0] * 4, 5.0)
    drawn = np.array([[1, 0], [2, 0], [3, 0], [5000, 0]])
    kept = held._kept(drawn, np.array([3, 1, 0, 2]), {3: Coin(), 1: Coin(), 2: Coin()})
    assert kept.tolist() == [True, False, True, False]
    assert asked == [1, 2]


# ---- a whole draw


def test_untilted_rows_are_drawn_around_their_center_and_tilted_ones_nearer(monkeypatch):
    """With no noise at all and a coin that always agrees, a draw is the aim itself."""
    asked = []

    def none(sigma, mean, count):
        assert len(asked) < 9, "an aim outside is never kept"
        asked.append((sigma, mean, count))
        return np.zeros(count)

    monkeypatch.setattr(restricted, "rounded_gaussian", none)
    monkeypatch.setattr(restricted, "bernoulli_exp", lambda late: [True])
    monkeypatch.setattr(restricted, "_within", lambda point, radius: True)
    held = blocks([[7, 1], [3005, 1]], [[5, 1], [5, 1]], [1000.0, 1000.0], 5.0)
    tilt = held._tilt()
    found = held.draw()
    assert found[0].tolist() == [7, 1]
    assert found[1].tolist() == [5 + round(3000 / (1 + tilt[1])), 1]
    assert sorted(asked) == [(pytest.approx(5 / math.sqrt(1 + tilt[1])), 0.0, 2), (5.0, 0.0, 2)]


def test_an_untilted_aim_keeps_all_of_its_digits(monkeypatch):
    """No coin would make up for digits that floats do not hold."""
    monkeypatch.setattr(restricted, "rounded_gaussian", lambda sigma, mean, count: np.zeros(count))
    center = [[2**59 + 1, -(2**58) - 3]]
    assert blocks(center, [[1, 0]], [2.0**60], 5.0).draw().tolist() == center


def test_rows_that_were_not_kept_are_drawn_again(monkeypatch):
    steps = iter([np.array([4000, 0, 1, 2]), np.array([3, -4])])
    monkeypatch.setattr(restricted, "rounded_gaussian", lambda sigma, mean, count: next(steps))
    found = blocks([[0, 0], [10, 10]], [[0, 0], [10, 10]], [1000.0, 1000.0], 5.0).draw()
    assert found.tolist() == [[3, -4], [11, 12]]


def test_numbers_of_any_size_are_rounded_to_whole_ones():
    given = np.array([[0.5, 1.5], [-2.5, 1e300]])
    found = whole(given, np.dtype(object))
    assert found.tolist() == [[0, 2], [-2, int(1e300)]]
    assert all(type(x) is int for x in found.ravel())
    assert whole(given[:, :1], np.dtype(np.int64)).tolist() == [[0], [-2]]
    assert whole(given[:, :1], np.dtype(np.int64)).dtype == np.int64


# ---- means


def mean_above(c, sigma):
    with mp.workdps(40):
        c, sigma = mpf(c), mpf(sigma)
        tail = erfc(-c / sigma / sqrt(2)) / 2
        return float(c + sigma * npdf(c / sigma) / tail)


@pytest.mark.parametrize("sigma", [0.5, 2.0])
def test_means_above_0_are_those_of_a_normal_law(sigma):
    centers = [-40.0, -6.0, -1.0, 0.0, 0.3, 2.0, 50.0]
    exact = [mean_above(c, sigma) for c in centers]
    assert means_above(np.array(centers), sigma) == pytest.approx(exact, rel=1e-6)
    far = means_above(np.array([-1e9, -1e6]), 1.0)
    assert (far >= 0).all()
    assert (far < 1e-3).all()


@pytest.mark.parametrize("sigma", [0.5, 3.0])
def test_means_within_an_interval_are_those_of_a_normal_law(sigma):
    for c in (-300.0, -2.0, -0.5, 0.0, 0.7, 5.0):
        for h in (0.25, 2.0):
            with mp.workdps(15):
                top = min(max(mpf(c), -h), mpf(h))
                weight = lambda x, c=c, top=top: exp(  # noqa: E731
                    (-((x - c) ** 2) + (top - c) ** 2) / (2 * mpf(sigma) ** 2)
                )
                near = min(mpf(h), 8 * mpf(sigma))
                ends = sorted(
                    {-mpf(h), max(-mpf(h), top - near), top, min(mpf(h), top + near), mpf(h)}
                )
                mass = quad(weight, ends)
                exact = float(quad(lambda x, weight=weight: x * weight(x), ends) / mass)
            (found,) = means_within(np.array([c]), sigma, np.array([h]))
            assert found == pytest.approx(exact, rel=2e-3, abs=2e-3 * min(h, sigma))
            assert abs(found) <= h


@pytest.mark.parametrize("sign", [1, -1])
@pytest.mark.parametrize(
    ("center", "sigma", "half"),
    [(50.0, 0.5, 200.0), (5.0, 1e-3, 2.0), (2.001, 0.01, 2.0), (2.3, 0.1, 2.0), (9.0, 30.0, 2.0)],
)
def test_how_far_a_mean_is_from_the_nearest_end_is_right_to_two_digits(center, sigma, half, sign):
    """Also where the law falls off within a small part of σ, or is wide inside a long interval."""
    with mp.workdps(60):
        c, s = mpf(center), mpf(sigma)
        low, high = ((end - c) / s for end in (-mpf(half), mpf(half)))
        mass = (erfc(-high / sqrt(2)) - erfc(-low / sqrt(2))) / 2
        exact = float(half - (c + s * (npdf(low) - npdf(high)) / mass))
    (found,) = means_within(np.array([sign * center]), sigma, np.array([half]))
    assert half - sign * found == pytest.approx(exact, rel=1e-2)


@pytest.mark.parametrize(
    ("center", "sigma", "total"),
    [
        ([0.0, 3.0, -2.0], 1.0, 2.0),
        ([0.0, 0.0], 4.0, 10.0),
        ([5.0, 90.0, 7.0], 0.5, 1.0),
        ([3.0], 0.01, 9.0),  # far below the least center
        ([0.0] * 5, 1.0, 0.6),  # far above the largest
    ],
)
def test_the_shift_makes_means_add_up_to_the_whole(center, sigma, total):
    t = shift(np.array(center), sigma, total)
    assert sum(mean_above(c - t, sigma) for c in center) == pytest.approx(total, rel=1e-4)
