"""Covariances and correlations of noisy sums are covered as often as they say; alarms at 1e-8."""

import numpy as np
import pytest
from tests import goodness

from deniable.workload.ratios import Pairs, Sums

GROUPS = 2_000
ALARM = 1e-8
REACHES = (50.0, 2.0)


def pairs(law, *, size, means, deviations, r, noise, others=1.0, seed=5):
    """Sums of `size` rows with these moments.

    The count has `noise`, the others `others` times as much in units of what one row moves.
    """
    source = np.random.default_rng(seed)
    draw = source.laplace if law == "laplace" else source.normal
    (a, b), (s, t), (x, y) = means, deviations, REACHES
    truth = [size, size * a, size * b, size * (a * b + r * s * t)]
    truth += [size * (a * a + s * s), size * (b * b + t * t)]
    scales = [noise, *(noise * others * each for each in (x, y, x * y, x * x, y * y))]
    noisy = [true + draw(0, scale, GROUPS) for true, scale in zip(truth, scales, strict=True)]

    def sums(total, squares, reach):
        return Sums(
            law=law,
            count=noisy[0],
            total=noisy[total],
            squares=noisy[squares],
            mixture=np.diag([scales[0], scales[total], scales[squares]]),
            reach=reach,
        )

    return Pairs(
        first=sums(1, 4, x),
        second=sums(2, 5, y),
        products=noisy[3],
        mixture=np.diag(scales[:4]),
    )


def inside(ends, truth):
    low, high = ends
    return int(((low <= truth + 1e-9) & (truth - 1e-9 <= high)).sum())


@pytest.mark.statistical
@pytest.mark.parametrize("law", ["laplace", "gaussian"])
@pytest.mark.parametrize(
    ("size", "noise", "others", "means", "r"),
    [
        (20, 4.0, 1.0, (0.0, 0.0), 0.6),
        (100, 10.0, 1.0, (45.0, -1.8), 0.0),
        (100, 50.0, 1e-5, (45.0, -1.8), 0.0),
        (10_000, 3.0, 1.0, (0.0, 0.0), -1.0),
    ],
)
def test_intervals_hold_the_truth_at_least_as_often_as_they_say(law, size, noise, others, means, r):
    deviations = (3.0, 0.4) if means[0] else (25.0, 1.0)
    moments = {"size": size, "means": means, "deviations": deviations, "r": r}
    found = pairs(law, **moments, noise=noise, others=others)
    truth = r * deviations[0] * deviations[1]
    for confidence in (0.8, 0.95):
        within = inside(found.covariance_interval(confidence), truth)
        assert goodness.covered(within, GROUPS, confidence) > ALARM
        sample = inside(found.covariance_interval(confidence, less=1), truth * size / (size - 1))
        assert goodness.covered(sample, GROUPS, confidence) > ALARM
        ratio = inside(found.correlation_interval(confidence), r)
        assert goodness.covered(ratio, GROUPS, confidence) > ALARM


@pytest.mark.statistical
@pytest.mark.parametrize("law", ["laplace", "gaussian"])
def test_means_that_are_not_known_are_paid_for(law, monkeypatch):
    """With means taken as they are seen, far fewer intervals hold: the test above can fail."""
    found = pairs(
        law, size=100, means=(45.0, -1.8), deviations=(3.0, 0.4), r=0.0, noise=50.0, others=1e-5
    )
    monkeypatch.setattr(Sums, "mean_interval", lambda self, _: (self.mean(), self.mean()))
    within = inside(found.covariance_interval(0.95), 0.0)
    assert goodness.covered(within, GROUPS, 0.95) < ALARM


@pytest.mark.parametrize("law", ["laplace", "gaussian"])
def test_little_noise_gives_narrow_intervals_around_the_estimate(law):
    moments = {"size": 10_000, "means": (10.0, 1.0), "deviations": (20.0, 0.5), "r": 0.5}
    found = pairs(law, **moments, noise=1.0)
    low, high = found.covariance_interval(0.95)
    assert np.all((low <= found.covariance()) & (found.covariance() <= high))
    # One noise of scale 100 on the products alone reaches ± 300 at 95 %: 0.03 of 10,000 rows.
    assert float((high - low).mean()) < 0.15
    low, high = found.correlation_interval(0.95)
    assert np.all((low <= found.correlation()) & (found.correlation() <= high))
    assert float((high - low).mean()) < 0.06


def test_several_confidences_at_once_are_those_one_by_one():
    found = pairs("laplace", size=100, means=(1.0, 0.1), deviations=(9.0, 0.5), r=0.3, noise=2.0)
    levels = np.array([0.5, 0.95])
    for interval in (found.covariance_interval, found.correlation_interval):
        low, high = interval(levels[:, None])
        for i, level in enumerate(levels):
            one = interval(level)
            assert np.array_equal(low[i], one[0])
            assert np.array_equal(high[i], one[1])


def test_what_noise_drowns_may_be_anything():
    found = pairs("laplace", size=10, means=(1.0, 0.1), deviations=(9.0, 0.5), r=0.3, noise=1e4)
    low, high = found.correlation_interval(0.95)
    assert float(np.mean((low == -1) & (high == 1))) > 0.9
