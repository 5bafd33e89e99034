"""The effect of a setting on the score, on data that protect nobody."""

import numpy as np
import pytest

import deniable as dp
from deniable.learn import LogisticRegression, effect

X = np.random.default_rng(0).uniform(-1, 1, (800, 2))
Y = (X[:, 0] > 0).astype(int)
MODEL = LogisticRegression(bounds=(-1, 1), classes=[0, 1], delta=1e-6, epsilon=1.0, steps=10)


def test_more_loss_gives_a_better_score_and_no_fit_is_charged_to_the_model():
    found = effect(MODEL, X, Y, epsilon=[0.01, 20.0], repeats=2)
    first, last = found.rows()
    assert last["score"] > max(first["score"], 0.9)
    assert first["lowest"] <= first["score"] <= first["highest"]
    assert MODEL.spent == dp.mu(0.0)


def test_any_setting_can_be_looked_at_and_plotted():
    pytest.importorskip("matplotlib").use("Agg")
    axes = effect(MODEL, X, Y, steps=[1, 5], repeats=1).plot()
    assert axes.get_xlabel() == "steps"


@pytest.mark.parametrize("settings", [{}, {"epsilon": []}, {"nothing": [1]}, {"a": [1], "b": [1]}])
def test_what_cannot_be_looked_at_is_refused(settings):
    with pytest.raises(dp.BadParameter):
        effect(MODEL, X, Y, **settings)
