"""A real noisy gradient descent is audited by one run; false alarms at 1e-9 each."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import optimize, special, stats

import deniable as dp
from deniable.audit import audit_scores, audit_training
from deniable.audit.one_run import epsilon_lower, p_value

SURE = 1 - 1e-9


# ---- the theorem


@given(st.integers(1, 300), st.data(), st.floats(0, 4), st.sampled_from([0.0, 1e-6, 1e-3]))
@settings(max_examples=60)
def test_the_p_value_is_the_formula_of_the_theorem(guesses, data, epsilon, delta):
    right = data.draw(st.integers(0, guesses))
    canaries = guesses + data.draw(st.integers(0, 100))
    heads = math.exp(epsilon) / (1 + math.exp(epsilon))
    tail = [stats.binom.sf(v - 1, guesses, heads) for v in range(guesses + 2)]
    slope = max(((tail[right - i] - tail[right]) / i for i in range(1, right + 1)), default=0.0)
    expected = min(1.0, tail[right] + 2 * canaries * delta * slope)
    found = p_value(canaries=canaries, guesses=guesses, right=right, epsilon=epsilon, delta=delta)
    assert found == pytest.approx(expected, rel=1e-9, abs=1e-300)


def test_the_steepest_step_is_found_far_from_the_mean_too():
    right, guesses, heads = 19_000, 20_000, 0.5
    back = np.arange(1, right + 1)
    rise = np.cumsum(stats.binom.pmf(right - back, guesses, heads))
    found = p_value(canaries=20_000, guesses=guesses, right=right, epsilon=0.0, delta=1e-6)
    assert found == pytest.approx(0.04 * float((rise / back).max()))


@given(st.integers(10, 2000), st.data(), st.sampled_from([0.0, 1e-7]))
@settings(max_examples=40)
def test_the_refuted_epsilon_is_the_largest(guesses, data, delta):
    right = data.draw(st.integers(0, guesses))
    known = {"canaries": guesses, "guesses": guesses, "right": right, "delta": delta}
    bound = epsilon_lower(alpha=0.01, **known)
    if bound > 0:
        assert p_value(epsilon=bound, **known) < 0.01
    assert p_value(epsilon=bound + 1e-6, **known) >= 0.01 * (1 - 1e-3)


def test_randomized_response_is_measured_almost_exactly_and_never_accused():
    """The theorem is tight here; 100 audits at 90 % accuse 32 times or more with chance < 1e-6."""
    rng = np.random.default_rng(3)
    accused, bounds = 0, []
    for _ in range(100):
        included = rng.random(2000) < 0.5
        honest = rng.random(2000) < math.e / (1 + math.e)
        scores = np.where(honest, included, ~included) + 1e-3 * rng.random(2000)
        verdict = audit_scores(scores, included, epsilon=1.0, guesses=2000, confidence=0.9)
        accused += verdict.violated
        bounds.append(verdict.epsilon_lower)
    assert accused < 32
    assert np.mean(bounds) > 0.85


# ---- a training run


def gradient_descent(rng, *, draw, clip=1.0, steps=4, features=5.0):
    """Logistic regression; each canary is one example with a feature of its own.

    Each step sums the clipped gradients of the examples that are in, adds noise and publishes the
    sum; a canary's score is what the published sums hold of its own direction.
    """

    def train(included):
        weights = np.zeros(included.size)
        published = np.zeros(included.size)
        for _ in range(steps):
            pull = features * special.expit(-features * weights)
            gradient = included * np.minimum(pull, clip)
            noisy = gradient + draw(included.size)
            published += noisy
            weights += 0.01 * noisy
        return published

    return train


def gaussian_epsilon(mu, delta):
    return optimize.brentq(
        lambda e: (
            special.ndtr(mu / 2 - e / mu) - math.exp(e + special.log_ndtr(-mu / 2 - e / mu)) - delta
        ),
        0.0,
        60.0,
    )


def test_gaussian_training_passes_and_forgotten_clipping_is_flagged():
    rng = np.random.default_rng(4)
    noise = lambda n: rng.normal(0, 2.0, n)  # noqa: E731 - four steps: μ = √4/2 = 1
    claim = {"canaries": 20_000, "epsilon": gaussian_epsilon(1.0, 1e-9), "delta": 1e-9}
    right = gradient_descent(rng, draw=noise, features=12.0)
    assert not audit_training(right, confidence=SURE, **claim).violated
    wrong = gradient_descent(rng, draw=noise, features=12.0, clip=math.inf)
    assert audit_training(wrong, **claim).violated


def test_half_the_noise_in_training_is_flagged():
    """Two steps with Laplace noise of scale 2 on gradients clipped to 1: ε = 1."""
    rng = np.random.default_rng(5)
    claim = {"canaries": 20_000, "epsilon": 1.0}
    right = gradient_descent(rng, draw=lambda n: rng.laplace(0, 2, n), steps=2)
    assert not audit_training(right, confidence=SURE, **claim).violated
    wrong = gradient_descent(rng, draw=lambda n: rng.laplace(0, 1, n), steps=2)
    found = audit_training(wrong, **claim)
    assert found.violated
    assert 1 < found.epsilon_lower < 2
    assert "guesses who was in were right" in found.witness


def test_the_power_of_one_run_grows_with_the_canaries():
    rng = np.random.default_rng(6)
    powers = []
    for size in (500, 5000, 50_000):
        included = rng.random(size) < 0.5
        verdict = audit_scores(rng.random(size), included, epsilon=1.0)
        powers.append(verdict.power)
        assert not verdict.violated
    assert 1 > powers[0] > powers[1] > powers[2] > 0
    assert math.isinf(audit_scores([0.5], np.array([True]), epsilon=5.0).power)


@pytest.mark.parametrize(
    ("scores", "included", "options"),
    [
        ([1.0, 2.0], [True], {}),
        ([], [], {}),
        ([1.0], [1], {}),
        ([1.0], [True], {"guesses": 2}),
        ([1.0], [True], {"guesses": 0}),
        ([1.0], [True], {"epsilon": -1.0}),
        ([1.0], [True], {"delta": 1.0}),
    ],
)
def test_what_cannot_be_right_is_refused(scores, included, options):
    with pytest.raises(dp.BadParameter):
        audit_scores(scores, included, **{"epsilon": 1.0, **options})
