"""The μ that a loss buys: one formula for workloads, learning and convex minimisation."""

import pytest

import deniable as dp
from deniable.learn.engine.budget import gaussian
from deniable.workload.split import _GAUSSIAN_95, _LAPLACE_95

LOSSES = [dp.mu(0.7), dp.rho(0.3), dp.epsilon(1.0, delta=1e-6), dp.epsilon(0.01, delta=1e-12)]


@pytest.mark.parametrize("loss", LOSSES, ids=str)
def test_noise_of_that_mu_meets_the_loss_and_hardly_more_does(loss):
    mu = dp.Gaussian.mu_within(loss)
    noises = [dp.Gaussian.calibrate(mu=mu * by) for by in (1 - 1e-9, 1 + 1e-6)]
    if isinstance(loss, dp.Approx):
        met, more = (each.epsilon_at(loss.delta) for each in noises)
    else:
        met, more = (getattr(each.loss(type(loss)), loss.figure) for each in noises)
    assert met <= getattr(loss, loss.figure) < more


@pytest.mark.parametrize("loss", [dp.epsilon(1.0), dp.Approx(1.0, delta=0.0)], ids=str)
def test_without_a_delta_there_is_none(loss):
    assert dp.Gaussian.mu_within(loss) is None


@pytest.mark.parametrize("loss", LOSSES, ids=str)
def test_learning_takes_no_more_of_it(loss):
    mu = dp.Gaussian.mu_within(loss)
    assert mu * (1 - 1e-11) < gaussian(loss) <= mu


def test_the_reach_at_95_percent_is_that_of_the_mechanisms():
    assert dp.Laplace(scale=1.0).error(0.95) == pytest.approx(_LAPLACE_95, rel=1e-5)
    assert dp.Gaussian(sigma=1.0).error(0.95) == pytest.approx(_GAUSSIAN_95, rel=1e-5)
