"""Gaussian naive Bayes is the textbook's, on sums without noise."""

import numpy as np
import pytest
from scipy.special import logsumexp
from scipy.stats import norm
from sklearn.exceptions import NotFittedError
from tests.learn import told

from deniable.learn import GaussianNB
from deniable.learn.engine.spaces import DENSE

UNIT = 1 << DENSE
BOUNDS = ([0.0, -4.0], [10.0, 4.0])
DRAW = np.random.default_rng(4)
X = np.stack([DRAW.uniform(1, 9, 600), DRAW.normal(0, 1, 600).clip(-4, 4)], axis=1)
Y = np.where(X[:, 0] > 6, "b", "a")


def fitted(X=X, y=Y, noise=1.0, classes=("a", "b")):
    model = GaussianNB(bounds=BOUNDS, classes=list(classes))
    return told.fitted(model, X, y, sigmas=[noise * UNIT])


def test_means_variances_and_priors_are_those_of_the_classes():
    model = fitted()
    for place, label in enumerate("ab"):
        own = X[label == Y]
        assert model.theta_[place] == pytest.approx(own.mean(axis=0), abs=0.01)
        assert model.var_[place] == pytest.approx(own.var(axis=0), abs=0.02)
        assert model.class_count_[place] == pytest.approx(len(own))
        assert model.class_prior_[place] == pytest.approx(len(own) / 600)


def test_a_variance_is_at_least_that_of_a_hundredth_of_the_bounds():
    model = fitted(X=np.full((50, 2), 2.0), y=["a"] * 50)
    least = [(5 / 100) ** 2 / 3, (4 / 100) ** 2 / 3]
    assert model.var_[1] == pytest.approx(least)
    assert (model.var_[0] >= np.array(least) * (1 - 1e-9)).all()


def test_a_class_that_noise_drowns_counts_as_much_as_the_noise():
    model = fitted(noise=7.0, classes="abc")
    a, b = (int(sum(label == each for each in Y)) for label in "ab")
    assert model.class_count_ == pytest.approx([a, b, 7.0])
    assert model.class_prior_ == pytest.approx(np.array([a, b, 7.0]) / (600 + 7))


def test_classes_are_as_likely_as_the_normal_law_says_where_cells_are_there():
    model = fitted()
    rows = np.array([[2.0, 0.5], [8.0, -3.0], [6.0, np.nan], [np.nan, 1.0], [5.9, 4.0]])
    scores = np.empty((5, 2))
    for place in range(2):
        each = norm.logpdf(rows, model.theta_[place], np.sqrt(model.var_[place]))
        scores[:, place] = np.log(model.class_prior_[place]) + np.nansum(each, axis=1)
    logs = scores - logsumexp(scores, axis=1, keepdims=True)
    assert model.predict_log_proba(rows) == pytest.approx(logs)
    assert model.predict_proba(rows) == pytest.approx(np.exp(logs))
    assert model.predict(rows).tolist() == [model.classes_[i] for i in scores.argmax(axis=1)]
    assert {*model.predict(rows)} == {"a", "b"}


def test_rows_far_away_are_as_far_as_numbers_can_tell():
    model = fitted()
    far, end = model._log_joint([[1e300, np.inf], [-1e300, 0.0]]), 1e150
    assert np.isfinite(far).all()
    assert far == pytest.approx(model._log_joint([[end, end], [-end, 0.0]]))


def test_nothing_is_predicted_before_a_fit():
    for predict in (GaussianNB.predict, GaussianNB.predict_log_proba):
        with pytest.raises(NotFittedError):
            predict(GaussianNB(), [[0.0, 0.0]])
