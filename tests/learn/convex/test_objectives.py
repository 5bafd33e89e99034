"""Losses of one row against mpmath and fractions, and what rows add up to."""

import math
from fractions import Fraction

import numpy as np
import pytest
from mpmath import diff, exp, log, mp, mpf

from deniable import BadParameter
from deniable.learn.convex.objectives import STEP, Bent, Logistic, Rows, clipped, link

H = 0.25


def plus(v, h):
    """max(0, v), its corner rounded over a width h."""
    return 0 * v if v <= 0 else (v * v / (2 * h) if v <= h else v - mpf(h) / 2)


def absolute(z, h):
    return z * z / (2 * h) if abs(z) <= h else abs(z) - mpf(h) / 2


MEANT = {
    "logistic": lambda z: log(1 + exp(-z)),
    "huber": lambda z: absolute(z, 1),
    "absolute": lambda z: absolute(z, H),
    "hinge": lambda z: plus(1 - z, H),
}
POINTS = [-9.0, -1.5, -1.0, -0.75, -H, -0.125, 0.0, 0.1, H, 0.5, 0.75, 0.8, 1.0, 1.25, 2.0, 40.0]


@pytest.mark.parametrize("name", MEANT)
def test_value_slope_and_curvature_are_those_of_the_loss(name):
    """Curvature by differences, away from where it jumps."""
    made, meant = link(name, blur=H), MEANT[name]
    z = np.array(POINTS)
    with mp.workdps(40):
        values = [float(meant(mpf(x))) for x in POINTS]
        slopes = [float(diff(meant, mpf(x), h=mpf(10) ** -12)) for x in POINTS]
    assert made.value(z) == pytest.approx(values, abs=1e-15)
    assert made.slope(z) == pytest.approx(slopes, abs=1e-11)
    inner = np.array([x for x in POINTS if min(abs(x - e) for e in jumps(made)) > 1e-6])
    with mp.workdps(40):
        bent = [float(diff(meant, mpf(x), 2, h=mpf(10) ** -10)) for x in inner.tolist()]
    assert made.curvature(inner) == pytest.approx(bent, abs=1e-9)
    assert np.abs(made.slope(z)).max() <= 1.0
    assert made.curvature(np.linspace(-3, 3, 601)).max() == pytest.approx(made.sharpest)


def jumps(made):
    return made.bends if math.isfinite(made.bends[0]) else (1e9,)


@pytest.mark.parametrize(
    ("name", "bends", "sharpest", "labels", "blur"),
    [
        ("logistic", (-math.inf, math.inf), 0.25, True, 0.0),
        ("huber", (-1.0, 1.0), 1.0, False, 0.0),
        ("absolute", (-H, H), 1 / H, False, H / 2),
        ("hinge", (1 - H, 1.0), 1 / H, True, H / 2),
    ],
)
def test_what_is_said_of_a_loss(name, bends, sharpest, labels, blur):
    made = link(name, blur=H)
    assert made.bends == pytest.approx(bends)
    assert (made.sharpest, made.labels, made.blur) == (sharpest, labels, blur)
    if name != "logistic":
        ends = np.array(bends)
        assert made.curvature(ends).tolist() == [0.0, 0.0]
        assert (made.curvature(ends * (1 - 1e-9) + 1e-9 * ends[::-1]) == sharpest).all()


@pytest.mark.parametrize(("name", "named"), [("absolute", abs), ("hinge", lambda z: max(0, 1 - z))])
def test_a_rounded_corner_lies_at_most_its_blur_below(name, named):
    for blur in (H, 0.0):
        made = link(name, blur=blur)
        z = np.linspace(-2, 2, 401)
        below = np.array([named(x) for x in z.tolist()]) - made.value(z)
        assert below.min() >= -1e-15
        assert below.max() == pytest.approx(made.blur, abs=1e-15)
        assert made.blur == max(blur, 2.0**-40) / 2
        assert np.abs(made.slope(np.array([-3.0, 3.0]))).max() == 1.0


def test_only_named_losses_are_known():
    with pytest.raises(BadParameter, match="loss"):
        link("squared")


def test_the_logistic_loss_has_no_limits():
    z = np.array([-1e4, -800.0, 800.0, 1e4])
    assert Logistic().value(z).tolist() == [1e4, 800.0, 0.0, 0.0]
    assert Logistic().slope(z) == pytest.approx([-1, -1, 0, 0])
    assert (Logistic().slope(z) <= 0).all()


@pytest.mark.parametrize("bits", [20, 80])
@pytest.mark.parametrize("name", MEANT)
def test_bounds_hold_the_value_and_are_a_few_units_apart(name, bits):
    made = link(name, blur=H)
    for x in (
        Fraction(-7),
        Fraction(-1, 8),
        Fraction(0),
        Fraction(1, 3),
        Fraction(9, 10),
        Fraction(5),
    ):
        low, high = made.bounds(x, bits)
        with mp.workdps(60):
            exact = MEANT[name](mpf(x.numerator) / x.denominator) * mpf(2) ** bits
            assert low <= exact <= high
        assert high - low <= 3


def test_a_bent_loss_takes_any_ends_offset_and_sign():
    """By its definition: c·(v − c/2)/h, where c is v within the ends."""
    made = Bent(-0.5, 2.0, 4.0, sign=-2.0, offset=0.75)
    for z in (-3.0, -0.6, 0.0, 0.5, 0.625, 4.0):
        v = 0.75 - 2 * z
        c = min(max(v, -0.5), 2.0)
        assert float(made.value(np.array(z))) == pytest.approx(c * (v - c / 2) / 4)
        assert float(made.slope(np.array(z))) == pytest.approx(-2 * c / 4)
        low, high = made.bounds(Fraction(z), 30)
        assert low <= c * (v - c / 2) / 4 * 2**30 <= high
        assert high == low + 1
    assert made.sharpest == 0.25
    plain = Bent(-0.5, 2.0, 2.5, sign=-1.0, offset=0.75)
    assert plain.bends == (-1.25, 1.25)


# ---- rows


def made_up(count, columns=3, seed=4, targets=0.0):
    draw = np.random.default_rng(seed)
    points = np.trunc(draw.uniform(-1, 1, (count, columns)) / columns / STEP)
    return Rows(points=points, targets=np.full(count, targets), link=link("huber"))


@pytest.mark.parametrize("count", [0, 1, 63, 64, 65, 130])
@pytest.mark.parametrize("scale", [0.0, 1e-3, 1.0, 300.0])
def test_arguments_are_products_with_a_point_of_35_digits(count, scale):
    rows, point = made_up(count, targets=0.5), scale * np.array([0.3, -0.7, 0.2])
    found = rows.arguments(point)
    assert len(found) == -(-count // 64) * 64
    exact = rows.points @ point * STEP - 0.5
    assert found[:count] == pytest.approx(exact, abs=2.0**-32 * max(scale, 1e-300) * 3)
    assert (found[count:] == 0).all()
    assert rows.values(point) == pytest.approx(rows.link.value(exact), abs=1e-6)
    assert rows.slopes(point).shape == (count,)
    assert rows.slopes(point) == pytest.approx(rows.link.slope(exact), abs=1e-6)


def test_the_point_is_rounded_until_products_are_exact():
    """To 2⁻³⁵ of the power of two above its length, and not more coarsely."""
    rows = Rows(points=np.eye(2) / STEP, targets=np.zeros(2), link=link("huber"))
    point = np.array([0.3, 0.61])
    found = rows.arguments(point)[:2]
    width = 2.0**-35
    assert found.tolist() == [round(x / width) * width for x in point.tolist()]
    assert not np.array_equal(found, point)


@pytest.mark.parametrize("count", [0, 1, 200, (1 << 16) + 3])
def test_the_gradient_is_added_up_exactly(count):
    rows, point = made_up(count, targets=0.1), np.array([0.4, -0.2, 0.9])
    slopes = np.trunc(rows.slopes(point) * 2.0**20).astype(int)
    exact = (slopes[:, None] * rows.points.astype(int)).sum(axis=0)
    found = rows.sums(point)
    assert found.dtype == object
    assert found.tolist() == exact.tolist()
    norm = 2.5
    placed = Rows(points=rows.points, targets=rows.targets, link=rows.link, center=point, norm=norm)
    assert np.asarray(placed) == pytest.approx(exact * 2.0**-36 * norm)
    assert np.asarray(rows) == pytest.approx(rows.sums(np.zeros(3)).astype(float) * 2.0**-36)
    assert rows.beside.dtype == np.float32
    assert rows.beside.tolist() == rows.points.tolist()


# ---- clipping


@pytest.mark.parametrize("labels", [False, True])
@pytest.mark.parametrize("norm", [1.0, 4.0])
def test_rows_are_shortened_to_the_norm_and_cut_to_steps(labels, norm):
    rows = np.array(
        [[3.0, 4.0], [0.3, -0.4], [0.0, 0.0], [1e300, 1e300], [1e-300, 0.0], [4.0, 0.0]]
    )
    targets = np.array([1.0, -2.0, 0.0, 5.0, 1e-9, 0.5])
    points, values = clipped(rows, targets, norm=norm, labels=labels)
    signs = np.where(targets > 0, 1, -1) if labels else np.ones(6)
    assert values.tolist() == ([0.0] * 6 if labels else targets.tolist())
    for point, sign, row in zip(points, signs, rows, strict=True):
        length = math.hypot(*row)
        expected = row / max(length, norm) / STEP * sign
        assert np.abs(point - expected).max() <= 1 + 1e-6
        assert (point == np.trunc(point)).all()
        assert sum(Fraction(x) ** 2 for x in point.tolist()) <= Fraction(1 / STEP) ** 2
        assert (np.abs(point) <= np.abs(expected)).all()


@pytest.mark.parametrize("norm", [1.0, 4.0, 0.1])
def test_a_row_as_long_as_the_norm_loses_its_last_step(norm):
    """Floats may have rounded it up, and then a step less is within the norm for certain."""
    points, _ = clipped(
        [[norm, 0.0], [0.0, -norm], [9 * norm, 0.0]], [1] * 3, norm=norm, labels=False
    )
    assert np.abs(points).max(axis=1).tolist() == [65535.0] * 3


def test_labels_above_0_are_the_one_class_and_all_others_the_other():
    labels = np.array([2.0, 1e-300, 0.0, -0.0, -1e-300, -5.0])
    points, targets = clipped(np.full((6, 1), 0.5), labels, norm=1.0, labels=True)
    assert np.sign(points[:, 0]).tolist() == [1, 1, -1, -1, -1, -1]
    assert targets.tolist() == [0.0] * 6


@pytest.mark.parametrize("bad", [math.nan, math.inf, -math.inf])
def test_a_row_that_is_not_finite_becomes_zeros(bad):
    rows = [[bad, 1.0], [1.0, 2.0], [0.5, 0.5]]
    points, values = clipped(rows, [1.0, bad, 2.0], norm=3.0, labels=False)
    assert points[:2].tolist() == [[0, 0], [0, 0]]
    assert points[2].any()
    assert values.tolist() == [0.0, 0.0, 2.0]
    given = np.array(rows)
    clipped(given, [0.0] * 3, norm=1.0, labels=True)
    assert np.array_equal(given, rows, equal_nan=True)
