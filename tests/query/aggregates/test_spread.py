"""Variances and their roots of noisy sums: of all rows, and of samples."""

import math

import numpy as np
import pytest

import deniable as dp
from deniable.losses import Approx
from deniable.query.algebra import Function
from deniable.workload.tails import reach

from .deriving import asked, noisy

FUNCTIONS = {
    Function.VAR_POP: (0, 1.0),
    Function.VAR_SAMP: (1, 1.0),
    Function.STDDEV_POP: (0, 0.5),
    Function.STDDEV_SAMP: (1, 0.5),
}
COUNTS, SUMS, SQUARES = [1000.0, 50.0, 0.3, 3.0], [500.0, 20.0, 5.0, 3.0], [9e3, 700.0, 8.0, 9.0]


@pytest.mark.parametrize("function", FUNCTIONS)
def test_a_variance_is_that_of_the_noisy_sums_and_a_samples_is_corrected(function):
    less, power = FUNCTIONS[function]
    allocation, part = asked(function)
    given = {part.count.name: COUNTS, part.sum.name: SUMS, part.squares.name: SQUARES}
    found = part.derive(allocation, noisy(**given))
    wanted = []
    for n, s, q in zip(COUNTS, SUMS, SQUARES, strict=True):
        mean = min(max(s / max(n, 1.0), -6.0), 6.0)
        variance = min(max(q / max(n, 1.0) - mean**2, 0.0), 36.0)
        many = max(n, 1.0 + less)
        wanted.append((variance * many / (many - less)) ** power)
    assert found.values.tolist() == pytest.approx(wanted)
    sums = part.sums(allocation, noisy(**given))
    for confidence in (0.5, 0.95):
        ends = sums.variance_interval(confidence, less=less)
        assert np.allclose(found.interval(confidence), [e**power for e in ends])
    assert not found.whole


@pytest.mark.parametrize("function", FUNCTIONS)
@pytest.mark.parametrize("size", [None, 0.5, 40.0, 1e7])
def test_the_error_in_advance_is_that_of_the_worst_mean_and_variance(function, size):
    allocation, part = asked(function)
    root = FUNCTIONS[function][1] == 0.5
    less = FUNCTIONS[function][0]
    most = 36.0 * (1 + less)  # two rows at the two ends
    assert part.largest == pytest.approx(math.sqrt(most) if root else most)
    found = part.error(allocation, size=size)
    if size is None:
        assert found is None
        return
    many = max(size, 1.0 + less)
    grown = many / (many - less)
    worst = max(
        reach(allocation.law, tuple(map(abs, allocation.errors(
            (part.squares, 1.0), (part.sum, a), (part.count, b * grown)))), confidence=0.95)
        for a in (12.0, -12.0) for b in (36.0, -36.0)
    )  # fmt: skip
    variance = min(most, worst / size * grown)
    assert found == pytest.approx(math.sqrt(variance) if root else variance)


@pytest.mark.parametrize("function", FUNCTIONS)
@pytest.mark.parametrize("size", [2, 3, 10])
def test_no_interval_of_so_many_rows_is_wider_than_was_told_in_advance(function, size):
    """At any mean and variance that there can be; a sample's are corrected by n/(n − 1)."""
    spend, budget = Approx(180.0, delta=1e-6), Approx(1000.0, delta=1e-5)
    unit = dp.rows(relation="replace")
    allocation, part = asked(function, unit=unit, size=size, spend=spend, budget=budget)
    means, shares = (x.ravel() for x in np.meshgrid(np.linspace(-6, 6, 25), np.linspace(0, 1, 9)))
    squares = means**2 + shares * (36 - means**2)
    given = noisy(**{part.sum.name: means * size, part.squares.name: squares * size})
    found = part.derive(allocation, given)
    low, high = found.interval(0.95)
    widest = max((found.values - low).max(), (high - found.values).max())
    told = part.error(allocation, size=None)
    assert widest <= told * (1 + 1e-6)
    if FUNCTIONS[function][1] == 1.0:  # a root is told for a variance of 0 beside one of 0 + off
        assert widest >= 0.99 * told


def test_public_sizes_take_the_place_of_counts():
    allocation, part = asked(Function.VAR_SAMP, unit=dp.rows(relation="replace"), size=100)
    assert part.tallies == (part.sum, part.squares)
    given = noisy(**{part.sum.name: [0.0], part.squares.name: [400.0]})
    assert part.derive(allocation, given).values.tolist() == pytest.approx([4 * 100 / 99])


def test_the_forms_weigh_sums_by_half_and_counts_by_a_quarter():
    _, part = asked(Function.VAR_POP)
    found = [tuple(f for _, f in form) for form in part.forms()]
    assert found == [(1.0, 0.5, 0.25), (1.0, 0.5, -0.25), (1.0, -0.5, 0.25), (1.0, -0.5, -0.25)]
    assert [t for t, _ in next(part.forms())] == [part.squares, part.sum, part.count]
