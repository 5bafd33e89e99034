"""Streams of any length: what is extrapolated is no less than what would be computed."""

import math

import numpy as np
import pytest

from deniable.mechanisms import Gaussian, UnboundedCounter
from deniable.mechanisms.counting import unbounded
from deniable.mechanisms.counting._factored import ABOVE

COUNTER = UnboundedCounter(sigma=2.0)


def test_errors_beyond_the_list_are_a_little_more_than_those_of_the_matrices(monkeypatch):
    steps, listed = 2**13, 2**11
    computed = COUNTER.deviations(steps)
    monkeypatch.setattr(unbounded, "_LISTED", listed)
    found = COUNTER.deviations(steps)
    assert found.shape == (steps,)
    assert found[:listed] == pytest.approx(computed[:listed], rel=1e-12)
    ratio = found[listed:] / computed[listed:]
    assert 1.0 <= ratio.min() < ratio.max() < 1.01
    assert ratio[0] == pytest.approx(1.0, abs=1e-5)
    for step in (1, listed, listed + 1, steps):
        assert COUNTER.deviation(step) == pytest.approx(found[step - 1], rel=1e-12)


def test_a_list_of_any_length_begins_in_the_same_way():
    longer = COUNTER.deviations(3000)
    for steps in (1, 1024, 1025):
        assert COUNTER.deviations(steps) == pytest.approx(longer[:steps], rel=1e-12)


@pytest.mark.parametrize("sigma", [2.0, 2.0**38])
def test_noise_is_that_of_the_lattice_and_its_rounding(sigma):
    made = UnboundedCounter(sigma=sigma)
    wide = made._spread(0) / 2.0**made.digits
    rounding = 4.0**-made.digits / 12
    assert made._noise == pytest.approx(math.sqrt(wide**2 + rounding), rel=1e-12)
    assert made._spread(0) == made._spread(7)
    assert made._weight(3) == 1


def test_the_error_is_the_quantile_of_the_noise_after_a_step():
    for step in (5, 700):
        normal = Gaussian(sigma=COUNTER.deviation(step)).quantile(1 - 0.9)
        assert COUNTER.error(0.9, step=step) == pytest.approx(normal * ABOVE, rel=1e-12)
    assert UnboundedCounter(sigma=2.0, steps=9).error(0.9) == pytest.approx(
        UnboundedCounter(sigma=2.0, steps=9).error(0.9, step=9)
    )


@pytest.mark.parametrize("steps", [1, 7, 1024, 1025, 4000])
def test_the_norm_is_that_of_the_factor_or_a_little_more(steps):
    """cₖ = C(2k, k)/4ᵏ·(1 + 0.3·ln(1 + k))^−0.6."""
    k = np.arange(steps)
    root = np.cumprod(np.append(1.0, 1 - 1 / (2 * k[1:]))) if steps > 1 else np.ones(1)
    factor = root * (1 + 0.3 * np.log1p(k)) ** -0.6
    norm = math.sqrt(float(np.square(factor).sum()))
    assert norm <= unbounded._norm(steps) <= norm * (1 + 1e-4)
    assert unbounded._factor(steps) == pytest.approx(factor, rel=1e-12)
