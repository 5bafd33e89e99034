"""Staircase noise: the least that pure privacy of one number allows."""

import math
import sys

import numpy as np
import pytest
from tests import goodness

import deniable as dp
from deniable.mechanisms import Laplace, Staircase


@pytest.mark.parametrize("epsilon", [0.1, 1.0, 4.0, 10.0])
def test_the_mean_error_is_the_least_possible(epsilon):
    m = Staircase(epsilon=epsilon, sensitivity=3.0)
    assert m.mean_error == pytest.approx(3 * math.exp(epsilon / 2) / math.expm1(epsilon), rel=1e-6)
    assert m.mean_error < 3 / epsilon


@pytest.mark.statistical
def test_draws_have_that_mean():
    """5,000 draws; false alarm below 1e-8. The chances are those of cells 1/1,000 wide."""
    m = Staircase(epsilon=2.0)
    errors = np.abs([m.release(0.3) - 0.3 for _ in range(5000)])
    x = (np.arange(40_000) + 0.5) / 1000
    chances = density(m, x) / density(m, x).sum()
    assert chances @ x == pytest.approx(m.mean_error, rel=1e-3)
    exponent = lambda t: math.log(chances @ np.exp(t * x))  # noqa: E731
    assert goodness.mean(errors, exponent, spread=0.5) > 1e-8
    assert goodness.mean(1.3 * errors, exponent, spread=0.5) < 1e-8
    assert m.mean_error < 0.9 * Laplace(scale=0.5).scale


def density(m: Staircase, x: np.ndarray) -> np.ndarray:
    gamma, fall = m.high_cells / 2**20, math.exp(-m.epsilon)
    stair, y = np.divmod(np.abs(x), 1.0)
    height = (1 - fall) / (2 * (gamma + fall * (1 - gamma)))
    return height * np.exp(-m.epsilon * (stair + (y >= gamma)))


@pytest.mark.parametrize("epsilon", [0.5, 2.0])
@pytest.mark.parametrize("move", [1.0, 0.7, 0.3, 0.05])
def test_the_price_covers_every_move_up_to_the_sensitivity(epsilon, move):
    m = Staircase(epsilon=epsilon)
    x = (np.arange(-400_000, 400_000) + 0.5) / 20_000
    p, q = density(m, x), density(m, x - move)
    for at in (0.0, 0.2, 0.4, 0.6):
        true = float(np.maximum(p - math.exp(at * epsilon) * q, 0).sum() / 20_000)
        assert true <= m.delta_at(at * epsilon) * (1 + 1e-3) + 1e-6
        if move == 1.0:
            assert m.delta_at(at * epsilon) == pytest.approx(true, rel=1e-3)


def test_vectors_are_refused():
    with pytest.raises(dp.BadParameter, match="one number"):
        Staircase(epsilon=1.0).release([1.0, 2.0])


def test_answers_lie_on_the_lattice():
    m = Staircase(epsilon=1.0, sensitivity=2.0)
    for value in (1 / 3, -1e9, 5, 0.0):
        steps = m.release(value) * 2**20 / 2.0
        assert steps == int(steps)


def test_the_end_of_the_floats_does_not_show_as_a_failure():
    answers = [Staircase(epsilon=0.01, sensitivity=2.0**890).release(1.7e308) for _ in range(20)]
    assert max(answers) <= 1.7976931348623157e308
    assert min(answers) > 1e307


@pytest.mark.parametrize("sign", [1, -1])
def test_beyond_the_floats_an_answer_is_held_at_the_end_where_it_lies(sign):
    """Noise of about 2⁹⁹⁰: half of all answers leave the floats; that none does: 2⁻⁶⁰."""
    mechanism, largest = Staircase(epsilon=2.0**-90, sensitivity=2.0**900), sys.float_info.max
    drawn = [mechanism.draw(sign * largest) for _ in range(60)]
    assert all(math.isfinite(x) and sign * x > largest / 2 for x in drawn)
    assert sign * largest in drawn


@pytest.mark.parametrize("epsilon", [0.1, 1.0, 4.0])
@pytest.mark.parametrize("tail", [0.9, 0.5, 0.05, 1e-6])
def test_the_quantile_leaves_the_tail_beyond_it(epsilon, tail):
    """The density is flat on pieces of each stair: what lies beyond is a sum of rectangles."""
    m = Staircase(epsilon=epsilon, sensitivity=3.0)
    gamma, fall = m.high_cells / 2**20, math.exp(-epsilon)
    height = (1 - fall) / (gamma + fall * (1 - gamma))  # of both signs together
    reach = m.quantile(tail) / 3.0
    beyond = 0.0
    for stair in range(1000):
        for low, high, falls in ((0, gamma, stair), (gamma, 1, stair + 1)):
            width = stair + high - max(stair + low, reach)
            beyond += height * math.exp(-epsilon * falls) * max(0.0, width)
    assert beyond == pytest.approx(tail, rel=1e-9)
    assert m.error(1 - tail) == pytest.approx(3 * reach, abs=3 * 2.0**-20)
