"""How far boosting steps and how large its trees grow, where the caller leaves that open."""

import numpy as np
import pytest
from tests.learn import told

import deniable as dp
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


# ---- histograms, on sums without noise

ROWS = np.column_stack([np.arange(400) % 3, np.arange(400) % 2]).astype(float)
LABELS = (np.arange(400) % 5 == 0).astype(int)
CELLS = {"bounds": (0, 2), "bins": 2, "classes": [0, 1]}


@pytest.mark.parametrize(
    ("noise", "rate", "leaves"), [(0.5, 0.3, 32), (2.5, 0.1 * 2**0.5, 16), (100.0, 0.1, 8)]
)
def test_each_round_grows_trees_on_the_gradients_of_all_columns(noise, rate, leaves, monkeypatch):
    asked = []

    def grown(space, slopes, weights, **how):
        asked.append((slopes, weights, how))
        return np.arange(float(space.dimension))

    monkeypatch.setattr(boosting, "grown", grown)
    model = GradientBoosting(rounds=2, **CELLS)
    told.fitted(model, ROWS, LABELS, sigmas=[1.0, noise * 2**16])
    (slopes, weights, how), _ = asked
    cells = [ROWS[:, 0] < 1, ROWS[:, 0] >= 1, ROWS[:, 1] < 1, ROWS[:, 1] >= 1]
    counts = [sum(each) for each in cells]
    assert weights == pytest.approx(np.insert(counts, [2, 4], 0) / 4), "last: what is missing"
    pull = [(0.5 - LABELS)[each].sum() for each in cells]
    assert slopes == pytest.approx(np.insert(pull, [2, 4], 0.0), abs=0.02)
    assert how == {"noise": noise, "leaves": leaves, "ordered": [True, True]}
    assert model.theta_ == pytest.approx(-2 * rate * np.arange(6.0))


def test_cells_that_noise_made_negative_weigh_nothing(monkeypatch):
    asked = []

    def grown(space, slopes, weights, **how):
        asked.append(weights)
        return np.zeros_like(slopes)

    monkeypatch.setattr(boosting, "grown", grown)
    model = GradientBoosting(rounds=1, **CELLS)
    told.fitted(model, ROWS, LABELS, sigmas=[1.0, 1.0], answer=lambda sums: -np.abs(sums))
    assert asked[0].tolist() == [0.0] * 6


def test_counts_take_a_tenth_and_each_unit_moves_them_by_all_of_its_rows():
    model = GradientBoosting(rounds=7, **CELLS)
    held = model._on_arrays(ROWS, LABELS)
    held.unit = dp.person("who", rows=3)
    counts, gradients = model._parts(held)
    assert (counts.share, gradients.share) == (0.1, 0.9)
    assert (counts.numbers, gradients.numbers) == (6, 6)
    assert (counts.times, gradients.times) == (1, 7)
    assert counts.l2 == pytest.approx(3 * 2**16 * 2**0.5)
    assert gradients.l2 == pytest.approx(3 * 2**15 * 2**0.5)


@pytest.mark.parametrize(
    "wrong",
    [{"rounds": 0}, {"bins": 0}, {"max_leaves": 1}, {"learning_rate": 0.0}],
)
def test_parameters_that_no_fit_can_have_are_refused(wrong):
    with pytest.raises(dp.BadParameter):
        GradientBoosting(**wrong).check_parameters()
    GradientBoosting(max_leaves=2, learning_rate=0.5).check_parameters()


def test_features_need_bounds():
    with pytest.raises(dp.MissingBounds, match="GradientBoosting needs bounds"):
        GradientBoosting(classes=[0, 1])._on_arrays(ROWS, LABELS)
