"""The low end of a variance where the count is as noisy as it is large: seeded, so no alarms."""

import numpy as np
import pytest
from tests import goodness

from deniable.workload.ratios import Sums

GROUPS = 20_000


def sums(law, *, size, noise, mean, variance):
    """Nearly exact sums beside a noisy count: the mean is off by what the count is."""
    scales = (noise, 1e-3, 1e-3)
    source = np.random.default_rng(4)
    draw = source.laplace if law == "laplace" else source.normal
    truth = (size, size * mean, size * (mean**2 + variance))
    noisy = [true + draw(0, scale, GROUPS) for true, scale in zip(truth, scales, strict=True)]
    return Sums(
        law=law,
        count=noisy[0],
        total=noisy[1],
        squares=noisy[2],
        mixture=np.diag(scales),
        reach=50.0,
    )


@pytest.mark.parametrize("law", ["laplace", "gaussian"])
@pytest.mark.parametrize(
    ("size", "noise", "mean", "variance"),
    [(100, 50, 40, 1), (100, 40, 40, 100), (1000, 400, 45, 4)],
)
def test_a_mean_that_is_off_moves_the_low_end_down(law, size, noise, mean, variance):
    """Without the square of how far the mean may be off, 88 % of these are covered at 95 %."""
    low, high = sums(law, size=size, noise=noise, mean=mean, variance=variance).variance_interval(
        0.95
    )
    inside = int(((low <= variance) & (variance <= high)).sum())
    assert goodness.covered(inside, GROUPS, 0.95) > 1e-6
    below = int((low <= variance).sum())
    assert goodness.covered(below, GROUPS, 0.975) > 1e-6
