"""The price of an open-ended tree: the exact law of its totals, on every pair of neighbours.

The totals are an invertible matrix of whole numbers times (stretches + noise), so telling two
streams apart by their totals is telling apart their noises, each moved by a whole number. The
matrix, the moves and the scales come from the code itself; δ is then a sum over all outcomes.
"""

import itertools
import math

import numpy as np
import pytest

from deniable.mechanisms import Laplace, OpenEndedTreeCounter

STEPS = 7  # epochs of 1, 2 and 4 steps


class Given:
    """Noise that is given in place of noise that is drawn, and the scales that were asked for."""

    def __init__(self, monkeypatch):
        self.noise, self.scales = [], []
        given = self

        def draw(self, value):
            given.scales.append(self.scale)
            return value + given.noise[len(given.scales) - 1]

        monkeypatch.setattr(Laplace, "draw", draw)

    def totals(self, counter, stream, noise):
        self.noise, self.scales = list(map(int, noise)), []
        step = counter.totals()
        return np.array([step(int(number)) for number in stream])


def moves(most):
    """All streams of whole numbers whose sizes add up to exactly that."""
    around = range(-most, most + 1)
    return [m for m in itertools.product(around, repeat=STEPS) if sum(map(abs, m)) == most]


def rounded_laplace(scale, at):
    """The probability that Laplace noise is rounded to each of these whole numbers."""
    tails = np.exp(-np.abs(at) / scale) * math.sinh(1 / (2 * scale))
    return np.where(at == 0, -math.expm1(-1 / (2 * scale)), tails)


def laws(scales, shifts):
    """All outcomes of the noises that are moved: their probabilities before and after."""
    before, after = np.ones(1), np.ones(1)
    for scale, shift in zip(scales, shifts, strict=True):
        if shift:
            at = np.arange(-round(12 * scale), round(12 * scale) + 1)
            before = np.outer(before, rounded_laplace(scale, at)).ravel()
            after = np.outer(after, rounded_laplace(scale, at - shift)).ravel()
    return before, after


def told_apart(counter, monkeypatch):
    """For every kind of move: the scales of the noises, and how far each noise is moved."""
    given = Given(monkeypatch)
    zero = np.zeros(STEPS, dtype=int)
    columns = [given.totals(counter, zero, row) for row in np.eye(STEPS, dtype=int)]
    matrix = np.stack(columns, axis=1)
    assert round(abs(np.linalg.det(matrix))) == 1
    mixed = np.array([3, -1, 4, -1, 5, -9, 2])
    stream = np.array([2, 7, 1, 8, 2, 8, 1])
    plain = given.totals(counter, stream, zero)
    assert (given.totals(counter, stream, mixed) == plain + matrix @ mixed).all()
    found = set()
    for move in moves(int(counter.sensitivity)):
        apart = given.totals(counter, move, zero)
        shifts = np.rint(np.linalg.solve(matrix, apart)).astype(int)
        assert (matrix @ shifts == apart).all()
        found.add(
            tuple(sorted((s, abs(m)) for s, m in zip(given.scales, shifts, strict=True) if m))
        )
    return found


@pytest.mark.parametrize("sensitivity", [1, 2])
@pytest.mark.parametrize("scale", [0.4, 1.0, 1.3])
def test_no_pair_of_streams_is_told_apart_better_than_is_paid_for(scale, sensitivity, monkeypatch):
    counter = OpenEndedTreeCounter(scale=scale, sensitivity=sensitivity, first=1)
    epsilon = sensitivity / scale
    largest = 0.0
    for pair in told_apart(counter, monkeypatch):
        if len(pair) > 3:
            assert sum(shift / b for b, shift in pair) <= epsilon * (1 + 1e-12)
            continue  # too many outcomes to list; the pairs of three noises are the tight ones
        before, after = laws(*zip(*pair, strict=True))
        largest = max(largest, float(np.log(before / after).max()))
        for at in np.linspace(0, epsilon, 9):
            delta = np.maximum(before - math.exp(at) * after, 0).sum()
            assert delta <= counter.delta_at(at) + 1e-12
    assert largest == pytest.approx(epsilon, rel=1e-9)


def test_less_noise_than_is_paid_for_would_be_seen(monkeypatch):
    """As if the tree of four steps had two levels instead of three."""
    counter = OpenEndedTreeCounter(scale=1.0, first=1)
    pairs = [p for p in told_apart(counter, monkeypatch) if len(p) == 3]
    assert pairs
    for pair in pairs:
        before, after = laws(*zip(*((b * 2 / 3, shift) for b, shift in pair), strict=True))
        assert np.maximum(before - math.exp(1.0) * after, 0).sum() > 0.01 > counter.delta_at(1.0)
