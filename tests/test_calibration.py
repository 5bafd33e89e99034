"""The noise that meets a loss, and the loss that meets an error."""

import math

import mpmath as mp
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import deniable as dp
from deniable import calibration
from deniable.calibration import (
    analytic_gaussian_sigma,
    calibrate,
    gaussian_log_delta,
    last_met,
    least_loss,
)
from deniable.losses import convert
from deniable.losses._loss import Stated


class Noise(Stated):
    """A Gaussian, or a Laplace, seen through its prices."""

    def loss(self, kind):
        return kind.from_facts(self)

    def epsilon_at(self, delta=0.0):
        return convert.gdp_to_epsilon(self.mu, delta) if math.isfinite(self.mu) else self.epsilon

    def delta_at(self, epsilon):
        return convert.gdp_to_delta(self.mu, epsilon)

    def error(self, confidence=0.95):
        return -math.log(1 - confidence) / self.epsilon


def gaussian(sigma):
    return Noise(mu=1 / sigma)


def laplace(scale):
    return Noise(epsilon=1 / scale)


@pytest.mark.parametrize(
    ("epsilon", "sigma"),
    [
        (0.1, 36.3047),
        (0.5, 8.05762),
        (1.0, 4.22468),
        (2.0, 2.23048),
        (4.0, 1.19352),
        (8.0, 0.652935),
    ],
)
def test_the_analytic_gaussian_at_one_in_a_million(epsilon, sigma):
    assert analytic_gaussian_sigma(epsilon, delta=1e-6) == pytest.approx(sigma, rel=2e-6)
    assert analytic_gaussian_sigma(epsilon, delta=1e-6, sensitivity=3.0) == pytest.approx(
        3 * sigma, rel=2e-6
    )


def exact_delta(sigma, epsilon):
    mu, e = 1 / mp.mpf(sigma), mp.mpf(epsilon)
    upper = lambda x: mp.erfc(x / mp.sqrt(2)) / 2  # noqa: E731
    return upper(e / mu - mu / 2) - mp.exp(e) * upper(e / mu + mu / 2)


@pytest.mark.parametrize("delta", [0.5, 1e-3, 1e-12, 1e-60, 1e-300])
@pytest.mark.parametrize("epsilon", [0.0, 1e-4, 1.0, 60.0])
def test_the_analytic_gaussian_keeps_its_promise_and_wastes_nothing(epsilon, delta):
    sigma = analytic_gaussian_sigma(epsilon, delta=delta)
    with mp.workdps(700):
        assert exact_delta(sigma, epsilon) <= delta
        assert exact_delta(sigma * (1 - 1e-11), epsilon) > delta


@given(st.floats(0, 50), st.floats(1e-200, 0.4), st.floats(1e-200, 0.4))
@settings(max_examples=30)
def test_less_delta_needs_more_noise(epsilon, one, two):
    low, high = sorted((one, two))
    assert analytic_gaussian_sigma(epsilon, delta=low) >= analytic_gaussian_sigma(
        epsilon, delta=high
    ) * (1 - 1e-12)


@pytest.mark.parametrize("bad", [0.0, 1.0, -1e-6, math.nan])
def test_the_gaussian_needs_a_delta(bad):
    with pytest.raises(dp.BadParameter):
        analytic_gaussian_sigma(1.0, delta=bad)


def test_the_gaussian_curve_at_its_ends():
    assert gaussian_log_delta(1.0, mu=0.0) == -math.inf
    assert gaussian_log_delta(1.0, mu=math.inf) == 0.0
    assert gaussian_log_delta(1.0, mu=1e-200) == -math.inf


@pytest.mark.parametrize("epsilon", [1e-6, 0.1, 1.0, 50.0])
def test_calibrating_a_gaussian_by_search_agrees_with_the_formula(epsilon):
    found = calibrate(gaussian, to=dp.epsilon(epsilon, delta=1e-6))
    exact = analytic_gaussian_sigma(epsilon, delta=1e-6)
    assert found == pytest.approx(exact, rel=2e-9)
    assert gaussian(found).epsilon_at(1e-6) <= epsilon


@pytest.mark.parametrize(
    ("make", "to", "least"),
    [
        (laplace, dp.epsilon(0.25), 4.0),
        (gaussian, dp.rho(0.02), 5.0),
        (gaussian, dp.mu(1e-3), 1000.0),
        (laplace, dp.rho(1e-8), 1 / math.sqrt(2e-8)),
        (gaussian, dp.Zcdp(0.02).to(dp.Renyi), 5.0),
        (gaussian, dp.epsilon(0.0, delta=1e-3), 1 / (2 * math.sqrt(2) * 8.86227e-4)),
    ],
    ids=lambda v: getattr(v, "__name__", str(v)),
)
def test_every_kind_of_loss_can_be_met(make, to, least):
    found = calibrate(make, to=to)
    assert found == pytest.approx(least, rel=1e-5)
    if not isinstance(to, dp.Approx):
        assert make(found).loss(type(to)) <= to


def test_smooth_prices_need_few_trials():
    trials = []

    def counted(sigma):
        trials.append(sigma)
        return gaussian(sigma)

    calibrate(counted, to=dp.epsilon(0.01, delta=1e-9))
    assert len(trials) < 40


def test_what_cannot_be_met_is_said():
    with pytest.raises(dp.NoBound, match="no amount of noise"):
        calibrate(lambda s: Noise(epsilon=3.0), to=dp.epsilon(1.0))
    with pytest.raises(dp.BadParameter, match="without noise"):
        calibrate(lambda s: Noise(epsilon=0.5), to=dp.epsilon(1.0))
    with pytest.raises(dp.BadParameter, match="above 0"):
        calibrate(laplace, to=dp.epsilon(0.0))


def test_the_least_loss_that_meets_an_error():
    found = least_loss(lambda epsilon: Noise(epsilon=epsilon), within=10.0)
    assert found == pytest.approx(math.log(20) / 10, rel=1e-8)
    assert Noise(epsilon=found).error() <= 10.0


@given(st.floats(-50, 50), st.sampled_from([1e-12, 1e-6, 1e-2]))
def test_the_search_ends_on_the_safe_side_within_the_width(root, width):
    for function in (
        lambda x: x - root,
        lambda x: math.copysign(1, x - root) if x > root else -1.0,
    ):
        found = last_met(function, -100.0, 100.0, width=width)
        assert function(found) <= 0
        assert function(found + width + 1e-12) > 0


def test_a_search_is_mostly_by_loose_prices():
    """Of prices at their usual tolerance, which take the time, four or five are enough."""
    tight = []

    def made(sigma):
        if calibration.looseness.get() == 1:
            tight.append(sigma)
        return 25 * dp.Gaussian(sigma=sigma, sensitivity=6).sampled(rate=0.001)

    sigma = dp.calibrate(made, to=dp.epsilon(1.0, delta=1e-6))
    assert len(tight) <= 6
    assert made(sigma).epsilon_at(1e-6) <= 1.0
    assert made(sigma * (1 - 1e-8)).epsilon_at(1e-6) > 1.0
