"""The grid of pure ε: its candidates lie in the set and cover it."""

import itertools
import math
from fractions import Fraction

import numpy as np
import pytest

import deniable as dp
from deniable.learn.convex import Ball, Box, Simplex
from deniable.learn.convex.grid import LATTICE, Grid
from deniable.sampling import PublicRandom

SETS = [
    (Ball(2.0), 1),
    (Ball(2.0), 2),
    (Ball(0.1), 3),
    (Box(-1.0, 0.5), 2),
    (Box((0.0, -1.0, 2.0), (0.1, 1.0, 9.0)), 3),
    (Simplex(), 2),
    (Simplex(3.0), 3),
    (Simplex(), 4),
]


PER_AXIS = {1: 4096, 2: 64, 3: 16}


def grid(domain, coordinates, *, lipschitz=1.0, epsilon=1.0, unit=None):
    facts = {"lipschitz": lipschitz, "epsilon": epsilon, "unit": unit or dp.rows()}
    return Grid(domain=domain, coordinates=coordinates, **facts)


@pytest.mark.parametrize(("domain", "coordinates"), SETS, ids=str)
def test_every_point_of_the_set_has_a_candidate_within_the_cover(domain, coordinates):
    """Points inside, and as many on the boundary, where a lattice covers worst."""
    made, generator = grid(domain, coordinates), PublicRandom(11).generator
    candidates = made.points()
    middle = domain.center(coordinates)
    assert all(np.allclose(domain.project(x), x, atol=1e-9) for x in candidates[::7])
    arrows = generator.normal(size=(150, coordinates))
    inside = [domain.project(middle + domain.reach(coordinates) * 0.4 * a) for a in arrows]
    edge = [domain.project(middle + 9 * domain.reach(coordinates) * a) for a in arrows]
    poles = [domain.farthest(a) for a in (*np.eye(coordinates), *-np.eye(coordinates))]
    for x in [*inside, *edge, *poles]:
        near = np.linalg.norm(candidates - x, axis=1).min()
        assert near <= made.cover * (1 + 1e-9)
    assert made.cover <= domain.diameter(coordinates) / 12


def test_the_stated_excess_includes_the_cover_and_the_rounding_of_scores():
    made = grid(Ball(2.0), 2)
    assert made.excess(1e12) >= made.cover + 2 * 2.0 / LATTICE


@pytest.mark.parametrize("domain", [Ball(1.0), Box(0.0, 1.0), Simplex()], ids=str)
def test_a_grid_is_made_in_up_to_three_dimensions(domain):
    most = 4 if isinstance(domain, Simplex) else 3
    assert len(grid(domain, most).points()) > 100
    with pytest.raises(dp.BadParameter, match="three"):
        grid(domain, most + 1)


def spacing(low, high, d):
    return [(h - b) / (PER_AXIS[d] - 1) for b, h in zip(low, high, strict=True)]


@pytest.mark.parametrize(
    ("low", "high"), [((-1.0,), (0.5,)), ((2.0, -1.0), (9.0, 1.0)), ((0.0, 1.0, -3.0), (0.1, 4, 0))]
)
def test_in_a_box_the_candidates_are_its_lattice_from_corner_to_corner(low, high):
    d, box = len(low), Box(low, high)
    axes = [np.linspace(b, h, PER_AXIS[d]) for b, h in zip(low, high, strict=True)]
    found = grid(box, d).points()
    assert len(found) == PER_AXIS[d] ** d
    wanted = np.array(sorted(itertools.product(*(axis.tolist() for axis in axes))))
    assert found == pytest.approx(wanted, abs=1e-9)
    half = math.hypot(*spacing(low, high, d)) / 2
    assert 1 + 2.0**-21 <= grid(box, d).cover / half <= 1 + 2.0**-19


@pytest.mark.parametrize("d", [2, 3])
def test_in_a_ball_the_candidates_are_points_of_a_lattice_near_it_moved_onto_it(d):
    made, radius = grid(Ball(2.5), d), 2.5
    axis = np.linspace(-radius, radius, PER_AXIS[d])
    half = math.sqrt(d) * (axis[1] - axis[0]) / 2
    assert 1 + 2.0**-21 <= made.cover / half <= 1 + 2.0**-19
    every = np.array(list(itertools.product(axis.tolist(), repeat=d)))
    lengths = np.linalg.norm(every, axis=1)
    near = every[lengths <= radius + half * (1 + 1e-6)]
    near /= np.maximum(np.linalg.norm(near, axis=1) / radius, 1.0)[:, None]
    assert len(made.points()) == pytest.approx(len(near), rel=0.01)
    assert np.linalg.norm(made.points(), axis=1).max() <= radius * (1 + 1e-12)
    apart = np.linalg.norm(made.points()[::5, None] - near[None], axis=2).min(axis=1)
    assert apart.max() < 1e-9


@pytest.mark.parametrize("coordinates", [2, 3, 4])
def test_in_a_simplex_the_last_coordinate_is_off_by_the_sum_of_the_others(coordinates):
    made, d, total = grid(Simplex(3.0), coordinates), coordinates - 1, 3.0
    half = total / (PER_AXIS[d] - 1) / 2
    wanted = math.sqrt(d * half**2 + (d * half) ** 2)
    assert 1 + 2.0**-21 <= made.cover / wanted <= 1 + 2.0**-19
    found = made.points()
    assert found.sum(axis=1) == pytest.approx(np.full(len(found), total))
    assert found.min() >= 0
    inside = math.comb(PER_AXIS[d] - 1 + d, d)  # whole numbers ≥ 0 that add up to at most k − 1
    assert inside <= len(found) <= inside * (1 + 6 * d * d / PER_AXIS[d])


# ---- scores


@pytest.mark.parametrize(("unit", "sides"), [(dp.rows(), 1), (dp.rows(relation="replace"), 2)])
def test_a_score_moves_by_at_most_what_the_mechanism_is_told(unit, sides):
    made = grid(Ball(2.0), 2, epsilon=0.7, unit=unit)
    assert made.mechanism.sensitivity == 2.0**20 * sides == LATTICE * sides
    assert made.mechanism.epsilon == 0.7


@pytest.mark.parametrize("spare", [0.0, 2.0**-10])
@pytest.mark.parametrize("lipschitz", [0.5, 4.0])
def test_a_score_is_a_sum_of_clipped_rises_cut_towards_0(spare, lipschitz):
    """A rise of M·r at most, in steps of 2⁻²⁰ of it; what is not a number counts 0."""
    made = grid(Box((-1.0, 0.0), (1.0, 4.0)), 2, lipschitz=lipschitz)
    far = lipschitz * math.sqrt(5)
    losses = np.array([0.3, -0.7, 5.0, 1e9, -1e9, math.inf, -math.inf, math.nan, 2.0])
    base = np.array([0.1, 0.9, 5.0, 1.0, 1.0, 0.0, 0.0, 0.0, math.nan])
    steps = []
    for loss, before in zip(losses.tolist(), base.tolist(), strict=True):
        if math.isnan(loss - before):
            rise = Fraction(0)
        elif math.isinf(loss):
            rise = Fraction(int(math.copysign(1, loss)))
        else:
            rise = (Fraction(loss) - Fraction(before)) / Fraction(far)
        limit = 1 - Fraction(spare)
        steps.append(math.trunc(min(max(rise, -limit), limit) * 2**20))
        alone = made.scores(np.array([loss]), np.array([before]), spare=spare)
        assert abs(alone + steps[-1]) <= 1
        assert abs(alone) <= 2**20 * limit
    assert made.scores(losses, base, spare=spare) == pytest.approx(-sum(steps), abs=9)
    assert made.scores(losses[2:3], base[2:3]) == 0


# ---- bounds


@pytest.mark.parametrize("confidence", [None, 0.95])
@pytest.mark.parametrize(("unit", "sides"), [(dp.rows(), 1), (dp.rows(relation="replace"), 2)])
def test_the_excess_has_a_term_for_the_choice_for_the_cover_and_for_rounding(
    confidence, unit, sides
):
    """(ln N + ln 1/(1 − p))·2Δ/ε, where Δ is M·r, the cover times M, and two steps of a score."""
    domain = Box((-1.0, 0.0), (1.0, 4.0))
    made = grid(domain, 2, lipschitz=3.0, epsilon=0.7, unit=unit)
    far, rare = 3.0 * math.sqrt(5), 0.0 if confidence is None else math.log(1 / (1 - confidence))
    choice = (math.log(64**2) + rare) * 2 * sides * far / 0.7
    rest = 3.0 * made.cover + 2 * far / 2**20
    assert made.excess(1e9, confidence) == pytest.approx(choice / 1e9 + rest, rel=1e-12)
    for few in (0.0, -2.0, 1e-9):
        assert made.excess(few, confidence) == pytest.approx(3.0 * 2 * math.sqrt(5))
