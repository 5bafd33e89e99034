"""The law of a sampled Gaussian's loss: its density, its ends and its decay."""

import math

import mpmath as mp
import numpy as np
import pytest
from tests.losses import figures

from deniable.losses.pairs.mixture import NormalMixture, _spread

REMOVED, ADDED = NormalMixture(0.9, 0.05, added=False), NormalMixture(0.9, 0.05, added=True)
CUT = NormalMixture(0.9, 0.05, added=False, cut=4.0)
UPPER = NormalMixture(0.9, 0.05, added=False, cut=6.0, start=1.5)
FREE = NormalMixture(0.9, 0.05, added=False, start=1.5)
EVERY = {"removed": REMOVED, "added": ADDED, "cut": CUT, "upper": UPPER, "free": FREE}
X = np.array([-3.0, -0.5, 0.0, 0.7, 4.0])


def ratio(x, mixture):
    mu, q = mp.mpf(mixture.mu), mp.mpf(mixture.rate)
    return 1 - q + q * mp.exp(mu * mp.mpf(float(x)) - mu**2 / 2)


@pytest.mark.parametrize("mixture", [REMOVED, ADDED], ids=["removed", "added"])
def test_deficits_slopes_and_weights_are_those_of_the_mixture(mixture):
    sign, origin = (-1, -mp.log(1 - mp.mpf(0.05))) if mixture.added else (1, mp.mpf(0))
    assert origin <= mixture.origin() <= origin * (1 + mp.mpf(2) ** -50)
    for c in (0.5, 3.0):
        for i, x in enumerate(X):
            r = ratio(x, mixture)
            deficit = origin - sign * mp.log(r)
            assert mixture.deficits(X)[i] == pytest.approx(float(deficit))
            assert mixture.slope(X)[i] == pytest.approx(float((r - 1 + mp.mpf(0.05)) / r))
            assert mixture.log_ratio(X)[i] == pytest.approx(float(mp.log(r)))
            under = mp.log(mp.npdf(x)) + (0 if mixture.added else mp.log(r))
            assert mixture.log_weights(X, c)[i] == pytest.approx(float(under - c * deficit))


@pytest.mark.parametrize("name", EVERY)
@pytest.mark.parametrize("c", [0.5, 6.0])
def test_outside_of_the_limits_lies_no_more_than_stated(name, c):
    mixture = EVERY[name]
    low, high, _ = mixture.limits(c)
    start, cut = max(mixture.start, -40), min(mixture.cut, 60)
    assert start <= low < high <= cut

    def tail(a, b):
        x = np.linspace(a, max(a, b), 40_001)
        return float(np.trapezoid(np.exp(mixture.log_weights(x, c)), x))

    for left, right in [(low, high), (max(start, -2.5), min(cut, 3.5) - 0.25)]:
        outside = tail(start, left) + tail(right, cut)
        stated = mixture.log_beyond(left, right, c)
        assert outside <= math.exp(min(stated, 700.0)) * (1 + 1e-6)
    assert mixture.log_beyond(low, high, c) < mixture.rough_log_mgf(c) - 35


@pytest.mark.parametrize("mixture", [REMOVED, ADDED], ids=["removed", "added"])
@pytest.mark.parametrize("ends", [(-1.0, 0.2), (0.5, 1.5), (2.0, 4.0)])
def test_weights_in_the_complex_plane_are_no_larger_than_stated(mixture, ends):
    c, across = 3.0, 0.6
    stated = mixture.log_most(np.array([ends[0]]), np.array([ends[1]]), np.array([across]), c)[0]
    q = mixture.rate
    x = np.linspace(*ends, 40)[:, None] + 1j * np.linspace(-across, across, 21)
    r = 1 - q + q * np.exp(mixture.mu * x - mixture.mu**2 / 2)
    power = np.abs(r / (1 - q)) ** -c if mixture.added else np.abs(r) ** (1 + c)
    logs = np.log(power) + (-(x**2) / 2).real - math.log(math.tau) / 2
    assert logs.max() <= stated <= logs.max() + 1


@pytest.mark.parametrize("mixture", [REMOVED, ADDED], ids=["removed", "added"])
@pytest.mark.parametrize("c", [0.5, 5.0])
def test_the_spread_of_a_tilted_loss_is_on_the_safe_side_and_near(mixture, c):
    """The masses and the variance of the tilted law, by a fine sum."""
    found = _spread(mixture, c)
    low, high, _ = mixture.limits(c)
    x = np.linspace(low, high, 400_001)
    weights = np.exp(mixture.log_weights(x, c))
    weights /= weights.sum()
    losses = mixture.log_ratio(x) - math.log1p(-mixture.rate)
    variance = weights @ losses**2 - (weights @ losses) ** 2
    assert 0.5 * variance < found.variance[-1] <= variance
    assert found.variance[0] == 0
    assert (np.diff(found.variance) >= 0).all()
    assert found.distance[-1] == pytest.approx(losses[-1])
    assert 0.7 < found.above.max() <= 1
    assert (found.amplitude[found.above == 0] == 0).all()


@pytest.mark.parametrize("mu", [0.05, 0.8, 3.0])
@pytest.mark.parametrize("added", [False, True])
def test_moments_decay_as_stated_and_not_much_slower(mu, added):
    mixture, c = NormalMixture(mu, 0.3, added), 2.0
    t = np.concatenate([[0.0], np.geomspace(0.1, 400, 50)])
    logs = mixture.log_mgf(c + 1j * t)[0].real
    tail = np.maximum.accumulate(np.exp(logs - logs[0])[::-1])[::-1]
    stated = np.array([mixture.decay(c, float(each)) for each in t])
    assert stated[0] == 1.0
    assert (tail <= stated + 1e-12).all()
    assert stated[-1] < 0.9


PART = "mixture"
LOW, HIGH, ACROSS = np.array([-2.0, 0.5]), np.array([-1.0, 1.0]), np.array([0.3, 0.7])
CASES = {
    f"{case} {name}": lambda mixture=mixture, compute=compute: compute(mixture)
    for name, mixture in EVERY.items()
    for case, compute in {
        "origin": lambda m: m.origin(),
        "limits": lambda m: [m.limits(0.5), m.limits(200.0)],
        "most": lambda m: m.log_most(LOW, HIGH, ACROSS, 3.0),
        "precision": lambda m: m.precision(X),
        "weights": lambda m: [m.log_weights(X, 3.0), m.deficits(X), m.slope(X)],
        "beyond": lambda m: [
            m.log_beyond(a, b, 3.0)
            for a, b in [(-9.5, 9.5), (-0.5, 0.5), (-2.0, 3.9), (1.6, 5.5), (2.0, 3.0)]
            if m.start <= a and b <= m.cut
        ],
    }.items()
} | {
    f"{case} {name}": lambda mixture=mixture, compute=compute: compute(mixture)
    for name, mixture in [*EVERY.items()][:3]
    for case, compute in {
        "decay": lambda m: [m.decay(c, t) for c in (0.5, 5.0) for t in (0.1, 1.0, 20.0, 3e3, 1e9)],
        "spread": lambda m: [part[::19] for part in _spread(m, 2.0)],
    }.items()
}


@pytest.mark.parametrize("case", CASES)
def test_figures_and_what_they_allow_for_rounding_are_as_recorded(case):
    figures.check(PART, case, CASES[case], within=1e-9)
