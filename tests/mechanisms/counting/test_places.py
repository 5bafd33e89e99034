"""Variances of a stream: all of a short one, and of a long one at places near every step."""

import numpy as np
import pytest

from deniable.mechanisms import SquareRootCounter
from deniable.mechanisms.counting._places import after_each

asked = []


def smooth(places):
    """A variance as counters have: grows with the logarithm, and falls a little at the end."""
    asked.append(places)
    return np.log1p(places) ** 2 + 0.1


@pytest.mark.parametrize("steps", [1, 2, 50, 1499])
def test_each_step_of_a_short_stream_is_computed_and_none_has_no_variance(steps):
    found = after_each(steps, smooth)
    assert found[0] == 0.0
    assert found[1:].tolist() == smooth(np.arange(1, steps + 1)).tolist()
    assert asked[-2].tolist() == list(range(1, steps + 1))


@pytest.mark.parametrize("steps", [1500, 1501, 20_000, 10**6])
def test_of_a_long_stream_few_places_are_computed_the_first_and_the_last_among_them(steps):
    found = after_each(steps, smooth)
    places = asked[-1]
    assert len(places) < 60
    assert places[0] == 1
    assert places[-1] == steps
    assert (np.diff(places) > 0).all()
    assert found.shape == (steps + 1,)
    assert found[0] == 0.0
    ratio = found[1:] / smooth(np.arange(1, steps + 1))
    assert ratio[places - 1] == pytest.approx(1.002, rel=1e-9)
    assert 0.995 <= ratio.min() < ratio.max() < 1.03


@pytest.mark.parametrize("steps", [1500, 2**15, 10**6])
def test_places_are_dense_wherever_a_step_lies_and_as_dense_at_the_end_as_at_the_start(steps):
    after_each(steps, smooth)
    places = asked[-1]
    assert np.abs(places[:-1] + places[-2::-1] - steps).max() <= 1
    odds = np.log((places + 1.0) / (steps - places + 1.0))
    assert np.diff(odds)[4:-4].max() < 0.56  # near the ends there is not a step for each
    assert np.median(np.diff(odds)) > 0.4


@pytest.mark.parametrize("steps", [1500, 2**15])
def test_no_early_error_of_a_long_stream_is_stated_too_small(steps):
    """After b steps only b noises count: the matrices of a long stream, cut to b rows, suffice."""
    counter, few = SquareRootCounter(steps=steps, sigma=1.0), 40
    column = counter._column(few) / 2.0**counter.digits
    weights = np.array([counter._weight(t) for t in range(few)])
    spreads = np.array([counter._spread(t) for t in range(few)]) / 2.0**counter.digits
    lags = np.subtract.outer(np.arange(few), np.arange(few))
    factor = np.where(lags >= 0, column[np.abs(lags)], 0.0) * weights
    undo = np.tril(np.ones((few, few))) @ np.linalg.inv(factor)
    ratio = counter.deviations(few) / np.sqrt(np.square(undo * spreads).sum(axis=1))
    assert 1.0 <= ratio.min() < ratio.max() < 1.005
