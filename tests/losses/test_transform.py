"""Many sums at once: within their stated errors of sums term by term, wherever the losses lie."""

import math

import numpy as np
import pytest
from tests.losses import figures

from deniable.losses.pairs.transform import (
    TAPS,
    _spread,
    _term_by_term,
    log_sums,
    near_and_far,
    sums,
)

PLACES = {
    "around 0": lambda rng: rng.normal(size=400),
    "at 0": lambda rng: np.zeros(3),
    "below 0": lambda rng: -np.abs(rng.normal(size=400)) - 1e-9,
    "far out": lambda rng: 1e4 + rng.normal(size=400),
    "far below": lambda rng: -1e4 + rng.normal(size=400),
    "one": lambda rng: np.array([-0.3]),
}


def term_by_term(losses, weights, t):
    phases = np.outer(t.astype(np.longdouble), losses.astype(np.longdouble))
    return (np.cos(phases) @ weights) + 1j * (np.sin(phases) @ weights)


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize(("step", "count"), [(0.01, 500), (0.2, 64), (1.7, 200)])
def test_sums_are_within_their_stated_errors(place, step, count):
    rng = np.random.default_rng(8)
    losses = PLACES[place](rng)
    weights = rng.random(losses.size)
    found, errors = sums(losses, weights, step, count)
    truth = term_by_term(losses, weights, step * np.arange(count))
    assert (np.abs(found - truth) <= errors).all()
    assert errors.max() <= 1e-6 * weights.sum()


@pytest.mark.parametrize("points", [64, 256])
@pytest.mark.parametrize("place", [-40.3, -0.2, 0.0, 0.4, 31.5, 63.99, 250.6])
def test_a_weight_is_spread_over_its_nearest_points_round_the_circle(points, place):
    found = _spread(np.array([place]), np.array([2.0]), points)
    at = np.arange(-20 * points, 20 * points)
    near = (np.abs(at - place) <= TAPS / 2 - 1) * 2.0 * np.exp(-((at - place) ** 2) / (4 * 1.6))
    wanted = np.bincount(at % points, near, points)
    assert found == pytest.approx(wanted, abs=1e-11)


@pytest.mark.parametrize("count", [8, 5000])
def test_logarithms_of_sums_are_within_their_stated_errors(count):
    rng = np.random.default_rng(3)
    losses, logs = rng.normal(size=300), -rng.exponential(size=300) * 30 - 700
    z = 0.5 + 1j * 0.003 * np.arange(count)
    found, bound = log_sums(losses, logs, z, relative=np.zeros(count))
    truth = np.log(term_by_term(losses, np.exp(logs + 700), z.imag).astype(complex))
    off = np.abs(np.exp(found + 700 - truth) - 1)
    assert (off <= np.expm1(bound) + 1e-15).all()
    assert bound.max() < 1e-6
    near, close = near_and_far(lambda part: log_sums(losses, logs, part, relative=0.0), z)
    assert np.allclose(near, found, atol=1e-7)
    assert (close <= bound + 1e-9).all()
    assert math.isclose(near[0].real, found[0].real, rel_tol=1e-12)


@pytest.mark.parametrize("points", [0.003 * np.arange(1000) ** 1.1, 1 + 0.003 * np.arange(1000)])
def test_points_that_are_not_multiples_of_one_step_are_summed_as_they_are(points):
    rng = np.random.default_rng(4)
    losses, logs = rng.normal(size=300), -rng.exponential(size=300)
    truth = np.log(term_by_term(losses, np.exp(logs), points).astype(complex))

    def evaluate(part):
        return log_sums(losses, logs, part, relative=np.zeros(len(part)))

    for found, bound in (evaluate(0.5 + 1j * points), near_and_far(evaluate, 0.5 + 1j * points)):
        assert (np.abs(np.exp(found - truth) - 1) <= np.expm1(bound) + 1e-15).all()


PART = "transform"
LOSSES, WEIGHTS = np.linspace(-2, 3, 40), np.linspace(0.1, 1, 40)
LOGS, LINE = np.log(WEIGHTS) - 3, 1.5 + 0.25j * np.arange(200)
SCATTERED = 1.5 + 1j * np.array([0.0, 0.3, 7.0])
MANY = np.linspace(-2, 3, 3000)
CASES = {
    "sums": lambda: [part[[0, 1, 50, 199]] for part in sums(LOSSES, WEIGHTS, 0.25, 200)],
    "few": lambda: sums(LOSSES, WEIGHTS, 0.25, 3),
    "spread": lambda: _spread(LOSSES * 9, WEIGHTS, 64),
    "by terms": lambda: log_sums(LOSSES, LOGS, SCATTERED, relative=np.full(3, 1e-6)),
    "at once": lambda: [
        part[[0, 1, 50, 199]]
        for part in log_sums(MANY, -(MANY**2), LINE, relative=np.full(200, 1e-6))
    ],
    "term by term": lambda: _term_by_term(LOSSES, WEIGHTS, LINE.imag[:5]),
}


@pytest.mark.parametrize("case", CASES)
def test_figures_and_what_they_allow_for_rounding_are_as_recorded(case):
    figures.check(PART, case, CASES[case], within=1e-9)
