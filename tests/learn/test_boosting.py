"""How far boosting steps and how large its trees grow, where the caller leaves that open."""

import numpy as np
import pytest

from deniable.learn import GradientBoosting
from deniable.learn.models import boosting


def fitted(monkeypatch, **settings):
    """The leaves and the rate of a fit whose trees all say 1, on 4,000 rows."""
    asked = []

    def grown(space, slopes, weights, *, noise, leaves, ordered):
        asked.append((leaves, noise))
        return np.ones_like(slopes)

    monkeypatch.setattr(boosting, "grown", grown)
    X = np.linspace(-1, 1, 4000).reshape(-1, 1)
    model = GradientBoosting(
        delta=1e-6, bounds=(-1, 1), classes=[0, 1], rounds=5, bins=4, random_state=1, **settings
    )
    theta = model.fit(X, (X[:, 0] > 0).astype(int)).theta_
    assert len(asked) == 5
    return asked[0][0], float(-theta[0] / 5), 4000 / asked[0][1]


@pytest.mark.parametrize("epsilon", [0.02, 0.1, 0.3, 1.0, 30.0])
def test_steps_and_trees_are_as_large_as_noise_allows(epsilon, monkeypatch):
    """0.1 to 0.3 and 8 to 32; the noisy number of rows is within a fifth or clearly too small."""
    leaves, rate, clearness = fitted(monkeypatch, epsilon=epsilon)
    if clearness > 80 * 9 * 1.2:
        assert (leaves, rate) == (32, pytest.approx(0.3))
    elif clearness < 80 / 1.2:
        assert (leaves, rate) == (8, pytest.approx(0.1))
    else:
        assert rate == pytest.approx(0.1 * (clearness / 80) ** 0.5, rel=0.1)
        assert leaves == pytest.approx(min(8 * clearness / 80, 32), rel=0.2)


def test_both_ends_of_that_range_are_reached(monkeypatch):
    assert fitted(monkeypatch, epsilon=0.02)[:2] == (8, pytest.approx(0.1))
    assert fitted(monkeypatch, epsilon=30.0)[:2] == (32, pytest.approx(0.3))


def test_what_the_caller_says_is_taken(monkeypatch):
    leaves, rate, _ = fitted(monkeypatch, epsilon=1.0, max_leaves=5, learning_rate=0.7)
    assert (leaves, rate) == (5, pytest.approx(0.7))
