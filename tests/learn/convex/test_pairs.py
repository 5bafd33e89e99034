"""The sampler: one pair of draws leaves the target law as it is, and enough pairs reach it.

Each statistical test alarms falsely with probability below 1e-7.
"""

import math
from fractions import Fraction

import mpmath
import numpy as np
import pytest
from scipy import stats
from tests import goodness

from deniable.learn.convex import Ball, Box, Simplex
from deniable.learn.convex.coins import Tangent
from deniable.learn.convex.lattice import Lattice
from deniable.learn.convex.objectives import NAMES, STEP, Rows, link
from deniable.learn.convex.proximal import Chain, Target
from deniable.sampling import PublicRandom

from .law import Interval

ALARM = 1e-8
POINTS = np.rint(np.array([1.0, 0.8, -0.3, 0.5, 1.0, -1.0, 0.9]) / STEP)[:, None]
TARGETS = np.array([0.5, 0.2, -1.0, 3.0, 0.0, 0.1, 0.4])


def rows(name):
    made = link(name, blur=0.2)
    return Rows(points=POINTS, targets=0 * TARGETS if made.labels else TARGETS, link=made)


def chain(name, *, domain, weight=1.5, ridge=2.0, mixing=1e-9, **changes):
    target = Target(rows=rows(name), domain=domain, weight=weight, ridge=ridge)
    return Chain(target=target, mixing=mixing, arithmetic=1e-8, **changes)


@pytest.mark.statistical
@pytest.mark.parametrize(("low", "high"), [(-2.0, 2.0), (-1.5, 0.0)])
@pytest.mark.parametrize("name", NAMES)
def test_one_pair_of_draws_leaves_the_law_as_it_is(name, low, high):
    """Starts are drawn from the exact law, so that the ends must have it too."""
    domain, center = Box(low, high), (low + high) / 2
    law = Interval(rows(name), weight=1.5, ridge=2.0, low=low, high=high, center=center)
    walk = chain(name, domain=domain)
    chances = PublicRandom(1).generator.uniform(size=300)
    starts = np.rint(law.quantile(chances) / walk.width).astype(np.int64)
    ends = [int(walk._next(np.array([x]))[0][0]) * walk.width for x in starts]
    assert goodness.law(ends, law.chance) > ALARM
    assert np.mean(np.abs(ends - starts * walk.width) > 1e-3 * (high - low)) > 0.9


@pytest.mark.statistical
@pytest.mark.parametrize("direction", [0, 1, 2])
def test_one_pair_of_draws_leaves_the_law_as_it_is_in_several_dimensions(direction):
    """Where Huber's loss is quadratic, up to 15 standard deviations away, the law is normal."""
    generator = PublicRandom(6).generator
    points = generator.normal(size=(40, 3)) * [1.0, 0.5, 0.1]
    points = np.trunc(points / np.linalg.norm(points, axis=1).max() / STEP)
    held = Rows(points=points, targets=generator.uniform(-0.2, 0.2, size=40), link=link("huber"))
    target = Target(rows=held, domain=Ball(8.0), weight=8.0, ridge=20.0)
    walk, place = Chain(target=target, mixing=1e-9, arithmetic=1e-8), None
    a = points * STEP
    spread = np.linalg.inv(8.0 * a.T @ a + 20.0 * np.eye(3))
    mean = spread @ (8.0 * a.T @ held.targets)
    starts = mean + generator.normal(size=(300, 3)) @ np.linalg.cholesky(spread).T
    ends = []
    for start in starts:
        end, place = walk._next(np.rint(start / walk.width).astype(np.int64), place)
        ends.append(float(end[direction] * walk.width))
    law = stats.norm(mean[direction], math.sqrt(spread[direction, direction]))
    assert np.abs(a @ starts.T - held.targets[:, None]).max() < 0.9
    assert goodness.law(ends, law.cdf) > ALARM


def test_short_rows_take_fewer_steps():
    """The curvature of the sum is bounded by the rows' lengths, not by their number."""
    steps = []
    for shrunk in (1, 2, 8):
        held = Rows(points=np.trunc(POINTS / shrunk), targets=0 * TARGETS)
        target = Target(rows=held, domain=Ball(2.0), weight=3000.0, ridge=2.0)
        assert target.mass >= float(((held.points * STEP) ** 2).sum())
        steps.append(Chain(target=target, mixing=1e-9, arithmetic=1e-6).lattice.steps)
    assert steps[0] > 2 * steps[1] > 4 * steps[2]


@pytest.mark.parametrize("domain", [Ball(0.9), Box(-0.3, 0.5), Simplex()], ids=str)
@pytest.mark.parametrize("name", NAMES)
def test_rows_that_bend_nowhere_on_the_set_cost_no_steps(domain, name):
    """Every row that bends somewhere counts, and none whose corner is out of reach."""
    generator, made = PublicRandom(10).generator, link(name, blur=0.01)
    points = np.trunc(generator.uniform(-0.6, 0.6, size=(60, 3)) / STEP)
    targets = np.zeros(60) if made.labels else generator.normal(size=60) * 3
    held = Rows(points=points, targets=targets, link=made)
    target = Target(rows=held, domain=domain, weight=1.0, ridge=2.0)
    corners = np.array([domain.farthest(x) for x in generator.normal(size=(300, 3))])
    shares = np.linspace(0, 1, 21)[:, None, None]
    inside = (shares * corners[1:] + (1 - shares) * corners[:-1]).reshape(-1, 3)
    bent = made.curvature(points @ inside.T * STEP - targets[:, None]).max(axis=1) > 0
    squares = ((points * STEP) ** 2).sum(axis=1)
    assert target.mass >= squares[bent].sum()
    least, most = domain.ends(points * STEP)
    assert (points @ inside.T * STEP >= least[:, None] - 1e-9).all()
    assert (points @ inside.T * STEP <= most[:, None] + 1e-9).all()
    if name in ("hinge", "absolute"):
        assert target.mass < 0.9 * squares.sum()


@pytest.mark.statistical
def test_a_loss_that_is_linear_on_the_set_is_drawn_in_a_few_steps():
    """Hinge loss of rows that never reach its corner: a normal law, moved and restricted."""
    held = Rows(points=np.full((40, 1), 0.9 / STEP), targets=np.zeros(40), link=link("hinge"))
    target = Target(rows=held, domain=Ball(1.0), weight=0.1, ridge=4.0)
    walk = Chain(target=target, mixing=1e-9, arithmetic=1e-10)
    assert target.mass == 0
    assert walk.lattice.steps < 30
    law = Interval(held, weight=0.1, ridge=4.0, low=-1.0, high=1.0)
    drawn = [float(walk.draw()[0]) for _ in range(200)]
    assert goodness.law(drawn, law.chance) > ALARM


@pytest.mark.parametrize("domain", [Ball(0.5), Box(-0.4, 0.1), Simplex()], ids=str)
@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("ridge", [0.5, 2000.0])
def test_a_pair_takes_few_proposals_from_every_state_of_every_set(name, domain, ridge, monkeypatch):
    """Rows at the corner of the loss, tight sets, and starts at the points farthest out.

    False alarms: 1e-8 for each case, by the tail of `most_proposals`.
    """
    made = link(name, blur=0.02)
    points = np.rint(np.tile([[0.9, 0.1], [0.3, -0.9], [-0.5, 0.5]], (40, 1)) / STEP)
    targets = np.zeros(120) if made.labels else np.full(120, 0.05)
    target = Target(
        rows=Rows(points=points, targets=targets, link=made), domain=domain, weight=1.0, ridge=ridge
    )
    walk = Chain(target=target, mixing=1e-9, arithmetic=1e-8)
    asked = []
    kept, place, most = Tangent.kept, None, most_proposals(walk, pairs=24)

    def counted(*given):
        asked.append(1)
        assert len(asked) <= most, "hardly any is kept"
        return kept(*given)

    monkeypatch.setattr(Tangent, "kept", counted)
    for direction in ([1.0, 0.2], [-1.0, 0.1], [0.0, -1.0], [0.3, 1.0]):
        state = np.rint(domain.farthest(np.array(direction)) / walk.width).astype(np.int64)
        for _ in range(6):
            state, place = walk._next(state, place)
    assert len(asked) >= 24


def most_proposals(walk, *, pairs, alarm=1e-8):
    """So many proposals or fewer make so many pairs, but for a chance of `alarm` at most.

    E has a mean of at most (Σb·φ″‖a‖² + h·d)/2(1/η + m), h ≤ m/4d being what is spared of m, and a
    quarter more for a p whose distance from the mean of the proposals, squared, is a quarter of
    1/(1/η + m), where `_near` stops; and a little for what rounding adds. So by Jensen each
    proposal is kept with a probability of at least exp(−that), whatever came before, and more than
    L proposals are needed with a probability of at most P(Binomial(L, that probability) < pairs).
    """
    made = walk.lattice
    spread = 1 / (1 / made.root**2 + made.ridge)
    chance = math.exp(-1.25 * spread * (made.bend + made.ridge / 4) / 2 - 0.01)
    return int(pairs + stats.nbinom.isf(alarm, pairs, chance))


@pytest.mark.parametrize("columns", [2, 16])
@pytest.mark.parametrize("domain", [Ball(0.5), Box(0.0, 1.0), Simplex()], ids=str)
@pytest.mark.parametrize("name", ["huber", "absolute"])
def test_a_pair_takes_few_proposals_where_many_sides_meet(name, domain, columns, monkeypatch):
    """All rows are alike, and their loss is least at a corner of the set: there and on the way.

    False alarms: 1e-8 for each case, by the tail of `most_proposals`.
    """
    ones = np.full(columns, -1.0) if isinstance(domain, Box) else np.eye(columns)[0]
    corner = domain.farthest(ones)
    points = np.rint(np.tile(ones / np.linalg.norm(ones) * 0.999, (400, 1)) / STEP)
    made = link(name, blur=0.02)
    rows = Rows(points=points, targets=points @ corner * STEP, link=made)
    target = Target(rows=rows, domain=domain, weight=1.0, ridge=2.0 * columns)
    walk = Chain(target=target, mixing=1e-9, arithmetic=1e-6)
    asked = []
    kept, most = Tangent.kept, most_proposals(walk, pairs=8)

    def counted(*given):
        asked.append(1)
        assert len(asked) <= most, "hardly any is kept"
        return kept(*given)

    monkeypatch.setattr(Tangent, "kept", counted)
    for start in (corner, domain.center(columns)):
        state = np.rint(start / walk.width).astype(np.int64)
        for _ in range(4):
            state = walk._next(state)[0]
    assert len(asked) >= 8


@pytest.mark.statistical
@pytest.mark.parametrize("fault", ["weight", "acceptance"])
def test_the_same_test_catches_a_faulty_sampler(fault, monkeypatch):
    """A fifth of the weight; or all proposals accepted.

    The ends are independent, and on average their law is d from the right one at some point. So the
    fault is missed with probability at most exp(−2n·(d − √(ln(2/α)/2n))²) by Hoeffding's
    inequality: 4e-12 for the weight, where d = 0.224 by integration, and 6e-29 for all accepted,
    where d ≥ 0.293 (0.345 in 4,000 draws, which are wrong by 0.052 with probability 1e-9).
    """
    law = Interval(rows("huber"), weight=15.0, ridge=2.0, low=-2.0, high=2.0)
    start, walk = law, chain("huber", domain=Ball(2.0), weight=15.0)
    if fault == "weight":
        start = Interval(rows("huber"), weight=3.0, ridge=2.0, low=-2.0, high=2.0)
        walk = chain("huber", domain=Ball(2.0), weight=3.0)
    else:
        walk.__dict__["_root"] = 4 * walk.lattice.root  # any η is right, but for the coins
        monkeypatch.setattr(Tangent, "kept", lambda *_: True)
    starts = np.rint(start.quantile((np.arange(900) + 0.5) / 900) / walk.width).astype(np.int64)
    ends = np.array([int(walk._next(np.array([x]))[0][0]) for x in starts])
    assert goodness.law(ends * walk.width, law.chance) < ALARM


@pytest.mark.statistical
def test_after_its_steps_a_chain_has_the_law():
    law = Interval(rows("logistic"), weight=1.5, ridge=4.0, low=-1.0, high=1.0)
    walk = chain("logistic", domain=Ball(1.0), ridge=4.0, mixing=1e-5)
    drawn = [float(walk.draw()[0]) for _ in range(100)]
    assert goodness.law(drawn, law.chance) > ALARM


def test_the_number_of_steps_is_the_theorems():
    """T = 1 + ln(r²/4ηTV²)/(2·ln(1 + ηm)): the distance that it certifies is what was asked."""
    for mixing in (1e-3, 1e-9, 1e-15):
        walk = chain("logistic", domain=Ball(1.0), mixing=mixing)
        eta, steps = walk._root**2, walk.lattice.steps
        left = max(1 / (2 * eta), 1.0) * (1 + eta * 2.0) ** (-2 * (steps - 1))
        assert math.sqrt(left / 2) <= mixing
        assert math.sqrt(left / 2) > mixing / (1 + eta * 2.0) * (1 - 1e-6)


@pytest.mark.parametrize("name", NAMES)
def test_after_the_first_point_ahead_the_divergence_is_as_small_as_is_said(name):
    """KL(N(o, η) ‖ π∗N(0, η)), by integration, against r²/2η."""
    law = Interval(rows(name), weight=1.5, ridge=2.0, low=-2.0, high=2.0)
    walk = chain(name, domain=Ball(2.0))
    root = walk._root
    y = np.linspace(-8 * root, 8 * root, 801)
    weights = law.density[::100] / law.density[::100].sum()

    def bell(center):
        return np.exp(-((y - center) ** 2) / (2 * root**2)) / (root * math.sqrt(2 * math.pi))

    mixed = sum(w * bell(x) for w, x in zip(weights, law.x[::100], strict=True))
    found = np.trapezoid(bell(0.0) * np.log(bell(0.0) / mixed), y)
    assert 0 <= found <= 4.0 / (2 * root**2)


# ---- arithmetic


DOMAINS = [Ball(2.0), Box(-1.0, 3.0), Simplex(2.0)]


def pace(domain=DOMAINS[0], *, coordinates=3, size=10, name="logistic", arithmetic=1e-10, **facts):
    made = {"mass": size, "weight": 0.3, "ridge": 2.0, "mixing": 1e-9} | facts
    named = link(name, blur=0.05)
    return Lattice(
        domain=domain, coordinates=coordinates, size=size, link=named, arithmetic=arithmetic, **made
    )


@pytest.mark.parametrize("domain", DOMAINS, ids=str)
@pytest.mark.parametrize("arithmetic", [1e-6, 1e-9, 1e-20, 1e-40])
@pytest.mark.parametrize("size", [0, 1, 10_000, 10**9])
@pytest.mark.parametrize("name", NAMES)
def test_what_the_lattice_adds_is_within_what_is_allowed(domain, arithmetic, size, name):
    """For any number of rows and any share of a δ: digits are added until they suffice."""
    made = pace(domain, size=size, arithmetic=arithmetic, name=name)
    assert made.missed <= arithmetic
    far = domain.norm(3) + (40 + 3**0.5) * made.root + 4 * made.root**2 * made.steepest
    assert far / made.width <= 2.0**61 or made.kind.kind == "O"
    assert math.frexp(made.width)[0] == 0.5


@pytest.mark.parametrize("domain", DOMAINS, ids=str)
def test_parts_of_the_bound_add_up_to_what_is_added_per_pair(domain):
    """Each part as the module derives it, in one coordinate's width, for this set."""
    made, d = pace(domain, size=10_000), 3
    ball, far, inner = not isinstance(domain, Simplex), domain.diameter(d), domain.inner(d)
    push, pull, eta = 0.3 * 10_000, 2.0 * far, made.root**2
    sharp, moved = 1 / eta + 2.0, (math.sqrt(d) if ball else d) / 2
    aimed = 3 * (push + pull) + 2 * math.sqrt(d / eta) + d / inner
    means = 2 * moved / math.sqrt(2 * math.pi * eta) + moved * pull
    proposals = sharp * far + 2 * aimed if ball else 5 * (sharp * domain.total + aimed)
    coins = 2 * push + pull + (aimed if ball else 4 * sharp * domain.total + 3 * aimed)
    parts = [means, moved * proposals, moved * coins / 2]
    if not ball:
        slope = push + pull + sharp * far + aimed
        parts.append(2 * d * (d / domain.total + math.sqrt(2) * slope))
    assert sum(parts) <= made._harm <= 40 * sum(parts)
    assert made.missed == pytest.approx((made.steps + 4) * made._harm * made.width)


@pytest.mark.parametrize("dimensions", [1, 2])
def test_cells_and_middles_change_a_law_by_no_more_than_the_slopes_say(dimensions):
    """On a coarse lattice, by summation: the exponent of a cell's middle, and of its average."""
    fine, slope = np.linspace(-1, 1, 512, endpoint=False) + 1 / 512, 3.0
    grids = np.meshgrid(*[fine] * dimensions, indexing="ij")
    direction = np.arange(1.0, dimensions + 1) / np.linalg.norm(np.arange(1.0, dimensions + 1))
    exponent = slope * np.abs(sum(c * x for c, x in zip(direction, grids, strict=True)) - 0.1)
    width = 2 / 32
    middles = [(np.floor(x / width) + 0.5) * width for x in grids]
    there = slope * np.abs(sum(c * x for c, x in zip(direction, middles, strict=True)) - 0.1)
    first, second = (np.exp(-each) / np.exp(-each).sum() for each in (exponent, there))
    moved = width * math.sqrt(dimensions) / 2
    assert 0 < np.abs(first - second).sum() / 2 <= moved * slope / 2


@pytest.mark.statistical
@pytest.mark.parametrize("low", [-2.0, -0.5])
def test_a_lattice_of_more_than_64_bits_leaves_the_law_as_it_is(low):
    """Starts are drawn from the exact law, so that the ends must have it too."""
    law = Interval(rows("logistic"), weight=1.5, ridge=2.0, low=low, high=2.0, center=(low + 2) / 2)
    target = Target(rows=rows("logistic"), domain=Box(low, 2.0), weight=1.5, ridge=2.0)
    walk = Chain(target=target, mixing=1e-9, arithmetic=1e-25)
    assert walk.lattice.kind.kind == "O"
    starts = law.quantile(PublicRandom(8).generator.uniform(size=300))
    ends = np.array([float(walk._next(walk._points(np.array([x])))[0][0]) for x in starts])
    assert goodness.law(ends * walk.width, law.chance) > ALARM


@pytest.mark.parametrize("domain", DOMAINS, ids=str)
def test_points_of_more_than_64_bits_stay_whole_numbers_in_the_set(domain):
    generator = PublicRandom(9).generator
    held = Rows(points=np.trunc(generator.normal(size=(30, 3)) / 8 / STEP), targets=np.zeros(30))
    target = Target(rows=held, domain=domain, weight=1.0, ridge=2.0)
    walk = Chain(target=target, mixing=1e-9, arithmetic=1e-30)
    state, place = walk._center, None
    for _ in range(20):
        state, place = walk._next(state, place)
        assert all(type(x) is int for x in state.tolist())
        x = np.asarray(state * walk.width, dtype=np.float64)
        assert np.linalg.norm(x - domain.project(x)) < 1e-12
    assert max(abs(x) for x in state.tolist()) > 2**64


def test_rounding_a_state_moves_a_pair_by_no_more_than_its_share_of_the_bound():
    """On a coarse lattice in one dimension, by integration: the two normal means that are moved."""
    made, width = pace(coordinates=1, size=0), 2.0**-6
    root = made.root
    x = np.linspace(-12 * root, 12 * root, 48_001)
    bells = [np.exp(-((x - c) ** 2) / (2 * root**2)) for c in (0.0, width / 2)]
    first, second = (b / np.trapezoid(b, x) for b in bells)
    moved = np.trapezoid(np.abs(first - second), x) / 2
    assert 0 < 2 * moved <= width / 2 / root


@pytest.mark.parametrize("name", NAMES)
def test_exact_losses_enclose_the_true_ones(name):
    made = link(name, blur=0.125)
    for z in (*PublicRandom(5).generator.normal(size=50) * 3, -40.0, 40.0, 0.0, 1.0):
        low, high = made.bounds(Fraction(float(z)), 100)
        with mpmath.workdps(60):
            exact = _value(made, mpmath.mpf(float(z))) * mpmath.mpf(2) ** 100
            assert low <= exact <= high
        assert high - low <= 8


def _value(made, z):
    if not hasattr(made, "scale"):
        return mpmath.log1p(mpmath.exp(-z))
    v = made.offset + made.sign * z
    c = min(max(v, made.low), made.high)
    return c * (v - c / 2) / made.scale
