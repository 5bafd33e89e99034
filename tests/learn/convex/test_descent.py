"""Noisy descent: its noise, its bounds and its steps, against the theorems and by hand."""

import math
from fractions import Fraction

import numpy as np
import pytest

import deniable as dp
from deniable.learn.convex import Ball, Box, Simplex
from deniable.learn.convex.brought import SPARE
from deniable.learn.convex.descent import LATTICE, Descent, sums_of_gradients
from deniable.learn.convex.objectives import Rows
from deniable.sampling import PublicRandom

REPLACED = dp.rows(relation="replace")


def descent(**changes):
    facts = {"domain": Ball(3.0), "coordinates": 4, "lipschitz": 2.0, "mu": 0.5, "size": 100.0}
    return Descent(**{**facts, "unit": dp.rows(), **changes})


@pytest.mark.parametrize(
    ("mu", "size", "coordinates", "turns"),
    [
        (0.5, 100.0, 50, 50),  # (μn)²/d
        (0.5, 100.0, 49, 51),
        (0.5, 100.0, 2500, 8),
        (0.5, 100.0, 10, 250),
        (0.5, 100.0, 9, 256),
        (2.0, 1e6, 1, 256),
        (0.25, 100.0, 25, 25),
        (0.001, 1.0, 3, 8),
    ],
)
def test_so_many_steps_are_made_as_are_of_use(mu, size, coordinates, turns):
    assert descent(mu=mu, size=size, coordinates=coordinates).turns == turns


@pytest.mark.parametrize("mu", [0.1, 0.37, 3.0])
@pytest.mark.parametrize(("unit", "sides"), [(dp.rows(), 1), (REPLACED, 2)])
def test_all_steps_together_cost_mu_and_hardly_less(mu, unit, sides):
    """T·(Δ/σ)² against μ², exactly: a little is left for what rounding does to each of them."""
    made = descent(mu=mu, unit=unit)
    noise = made.mechanism
    assert noise.sensitivity == 2.0**36 * sides == LATTICE * sides
    each = Fraction(noise.sensitivity) / Fraction(noise.sigma)
    spent = made.turns * each**2 / Fraction(mu) ** 2
    assert 1 - Fraction(2) ** -38 <= spent <= 1 - Fraction(2) ** -40


# ---- bounds


@pytest.mark.parametrize("mu", [1e-250, 1e-160, 1e160])
def test_noise_and_privacy_whose_squares_overflow_have_steps_and_a_bound(mu):
    made = descent(mu=mu)
    assert made.turns == (8 if mu < 1 else 256)
    assert 0 < made._length < 1
    assert 0 < made.excess(least=100.0, most=100.0) <= 12.0
    assert 0 < made.excess(least=100.0, most=100.0, confidence=0.9) <= 12.0


def theorem(made, *, least, most, sides, confidence=None):
    """r²/2ℓT + ℓ·(n²M² + noise)/2 for steps ℓ, and how far noise leads astray; per row.

    σ² = TΔ²/μ²; with a confidence, half of the rest is for the length of the noise (a χ² law with
    dT degrees of freedom, and its products with gradients), half for its products with x − x*.
    """
    d, turns, reach = made.coordinates, made.turns, made.domain.reach(made.coordinates)
    diameter, M = made.domain.diameter(d), made.lipschitz
    sigma = math.sqrt(turns) * sides * M / made.mu
    length = reach / math.sqrt(turns * (made.size**2 * M**2 + d * sigma**2))
    noise, astray = d * sigma**2, 0.0
    if confidence is not None:
        x = math.log(2 / (1 - confidence))
        freedom = d * turns
        noise = sigma**2 * (freedom + 2 * math.sqrt(freedom * x) + 2 * x) / turns
        noise += 2 * most * M * sigma * math.sqrt(2 * x / turns)
        astray = diameter * sigma * math.sqrt(2 * x / turns)
    start = reach * reach / (2 * length * turns)
    return (start + length * (most * most * M * M + noise) / 2 + astray) / least


@pytest.mark.parametrize("confidence", [None, 0.95, 0.5])
@pytest.mark.parametrize(("least", "most"), [(1e4, 1e4), (9_000.0, 11_000.0)])
@pytest.mark.parametrize(("unit", "sides"), [(dp.rows(), 1), (REPLACED, 2)])
@pytest.mark.parametrize("domain", [Ball(3.0), Box(-1.0, 0.25), Simplex(2.0)], ids=str)
def test_the_excess_is_bounded_by_the_theorem(domain, unit, sides, least, most, confidence):
    made = descent(domain=domain, unit=unit, size=1e4, coordinates=5)
    found = made.excess(least=least, most=most, confidence=confidence)
    wanted = theorem(made, least=least, most=most, sides=sides, confidence=confidence)
    assert found == pytest.approx(wanted, rel=1e-9)
    assert found < 2.0 * domain.diameter(5)


def test_for_as_many_rows_as_were_planned_for_the_bound_is_that_of_the_paper():
    """M·r·√(1/T + d·(Δ/M)²/(μn)²)."""
    made = descent()
    paper = 2.0 * 3.0 * math.sqrt(1 / made.turns + 4 / (0.5 * 100) ** 2)
    assert made.excess(least=100, most=100) == pytest.approx(paper)


@pytest.mark.parametrize("least", [1e-9, 0.0, -5.0])
def test_no_bound_exceeds_the_lipschitz_bound_times_the_diameter(least):
    assert descent().excess(least=least, most=100.0) == 2.0 * 6.0
    assert descent().excess(least=least, most=100.0, confidence=0.9) == 2.0 * 6.0


# ---- steps


@pytest.mark.parametrize("domain", [Ball(3.0), Box(-1.0, 0.25), Simplex(2.0)], ids=str)
def test_each_step_goes_down_the_noisy_gradient_and_the_average_is_returned(domain):
    made = descent(domain=domain, mu=0.05)
    answers = PublicRandom(2).generator.normal(size=(made.turns, 4)) * 1e12
    M, d = 2.0, 4
    sigma = math.sqrt(made.turns) * M / 0.05
    length = domain.reach(4) / math.sqrt(made.turns * ((100.0 * M) ** 2 + d * sigma**2))
    steps = made.steps(lambda x: x)
    point, points, step = domain.center(4), [], next(steps)
    for answer in answers[:-1]:
        assert step.mechanism == made.mechanism
        assert step.value.bound("l2") == LATTICE
        points.append(point)
        point = domain.project(point - length * answer * M / 2.0**36)
        step = steps.send(answer)
    with pytest.raises(StopIteration) as end:
        steps.send(answers[-1])
    average = np.mean([*points, point], axis=0)
    assert end.value.value == pytest.approx(domain.project(average), rel=1e-9, abs=1e-12)
    assert not np.allclose(points[1], points[2])


@pytest.mark.parametrize(("unit", "sides"), [(dp.rows(), 1), (REPLACED, 2)])
def test_each_sum_is_declared_to_move_by_one_clipped_gradient_per_side(unit, sides):
    step = next(descent(unit=unit).steps(lambda x: x))
    assert step.value.bound("l2") == LATTICE * sides
    assert step.value.unit == unit
    assert step.value.form.shape == (4,)


# ---- sums


def shortened(row, norm):
    """The exact row in steps of the lattice, and at most how long it may be."""
    exact = [Fraction(float(x)) / Fraction(norm) * 2**36 for x in row]
    square = sum(x * x for x in exact)
    most = (1 - Fraction(SPARE)) * 2**36
    if square <= most * most:
        return exact
    scale = Fraction(math.isqrt(int(most * most / square * 4**1200))) / 2**1200
    return [x * scale for x in exact]


@pytest.mark.parametrize("norm", [0.5, 1.0, 40.0])
def test_each_gradient_is_shortened_to_the_norm_and_cut_towards_0(norm):
    rows = [
        [3.0, -4.0], [0.03, 0.04], [0.0, 0.0], [1e300, -1e300], [5e-324, 0.0], [1e-9, 7.0],
        [0.499, 0.0], [0.0, -0.4999], [39.0, 3.0], [-0.9, 0.3],
    ]  # fmt: skip
    for row in rows:
        found = sums_of_gradients(np.array([row]), norm=norm)
        for got, exact in zip(found.tolist(), shortened(row, norm), strict=True):
            assert abs(got) <= abs(exact) * (1 + Fraction(2) ** -48)
            assert abs(exact) - abs(got) <= 1 + abs(exact) / 2**48
            assert got * exact >= 0
        assert math.hypot(*map(float, found)) <= 2.0**36 * (1 - 2.0**-10)
    every = sums_of_gradients(np.array(rows), norm=norm)
    alone = [sums_of_gradients(np.array([row]), norm=norm) for row in rows]
    assert every.tolist() == np.sum(alone, axis=0).tolist()


@pytest.mark.parametrize("bad", [math.nan, math.inf, -math.inf])
def test_a_gradient_that_is_not_finite_counts_nothing_and_the_given_ones_stay(bad):
    given = np.array([[1.0, bad], [0.25, -0.5], [bad, bad]])
    before = given.copy()
    found = sums_of_gradients(given, norm=1.0)
    assert found.tolist() == [2**34, -(2**35)]
    assert np.array_equal(given, before, equal_nan=True)


def test_room_is_left_for_the_last_digits_of_a_thousand_rows():
    """A step of the lattice in each of a thousand others, and hardly any of the bound is lost."""
    assert 1000 / LATTICE < SPARE < 0.01


def test_gradients_of_any_size_move_their_sum_by_less_than_the_bound():
    """With room for a step of the lattice in each of a thousand other rows."""
    for size in (5e-324, 1e-3, 1.0, 1e3, 1e308):
        for norm in (1e-200, 1.0, 1e200):
            steps = sums_of_gradients(np.array([[size, -size, size / 3]]), norm=norm)
            most = LATTICE - 1000 * math.sqrt(3)
            assert sum(x * x for x in steps) <= most**2


@pytest.mark.parametrize("rows", [0, 1, 70_000])
def test_sums_are_whole_numbers_that_no_number_of_rows_overflows(rows):
    """Each row adds up to 2³⁶ steps: 64 bits are full at 2²⁷ rows, so totals are Python's."""
    brought = sums_of_gradients(np.ones((rows, 2)), norm=0.5)
    named = Rows(points=np.ones((rows, 2)), targets=np.zeros(rows)).sums(np.zeros(2))
    for total in (*brought, *named):
        assert type(total) is int
    alone = sums_of_gradients(np.ones((1, 2)), norm=0.5)
    assert (brought == rows * alone).all()
    assert (named == -rows * 2**19).all()
    assert sum(x * x for x in alone) <= LATTICE**2
