"""What all estimators share: when a fit is refused, charged, counted and finished."""

import os

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from tests.learn import told

import deniable as dp
from deniable.learn.encoding import Numbers
from deniable.learn.engine.budget import Part
from deniable.learn.engine.examples import unlabelled
from deniable.learn.engine.spaces import Dense, up
from deniable.learn.models._estimator import (
    PrivateEstimator,
    ScoringClassifier,
    at_hand,
    labelled,
    numbers,
)
from deniable.learn.models.accounts import Account

X = np.array([[0.5, 0.25]] * 40)


class Sums(PrivateEstimator):
    """The noisy sum of rows; `seen` says what was called."""

    def __init__(self, epsilon=None, delta=None, wrong=False, fails=False, random_state=None):
        self.epsilon, self.delta, self.random_state = epsilon, delta, random_state
        self.wrong, self.fails = wrong, fails

    def check_parameters(self):
        if self.wrong:
            raise dp.BadParameter("wrong")

    def _on_arrays(self, X, y):
        self.seen_ = ["rows"]
        found, space = numbers(self, X, reset=True), Dense(dimension=2)
        return at_hand(lambda: unlabelled(space.rounded(found)), space)

    def on_table(self, session, about, target, features):
        return self._on_arrays(X, None)

    def _parts(self, held):
        return [Part(share=1.0, l2=up(held.space.norm), numbers=2)]

    def _steps(self, bought, held):
        self.seen_.append("steps")
        if self.fails:
            raise KeyboardInterrupt
        total = held.sum(lambda rows: rows.x.sum(axis=0), l2=held.space.norm, shape=2)
        self.sum_ = yield bought.handle.on(total)

    def _finish(self):
        self.seen_.append("finish")


class Blocks(Sums):
    """The same as a block, as if its noise had no μ."""

    _in_mu = False


def made(kind=Sums, **given):
    return kind(**{"epsilon": 1.0, "delta": 1e-6, **given})


def test_a_fit_reads_rows_takes_its_steps_and_finishes():
    model = made()
    assert model.fit(X) is model
    assert model.seen_ == ["rows", "steps", "finish"]
    assert np.abs(np.array(model.sum_) / 2**13 - X.sum(axis=0)).max() < 45, (
        "ten standard deviations"
    )
    assert model.loss_ == dp.epsilon(1.0, delta=1e-6)
    assert model.unit_ == dp.rows()
    assert dp.Mechanism.from_dict(model.plan_).epsilon_at(1e-6) == pytest.approx(1.0, rel=1e-6)
    assert model.certificate().to_dict()["model"]["kind"] == "Sums"


def test_a_fit_on_a_table_is_charged_to_its_session():
    session = dp.open(pd.DataFrame({"a": [1.0]}), unit=dp.rows(), budget=dp.mu(1.0))
    model = Sums()
    assert model.fit_table(session, None, None, [], dp.mu(0.5)) is model
    assert model.seen_ == ["rows", "steps", "finish"]
    assert len(session.ledger.entries) == 1
    assert model.loss_ == dp.mu(0.5)
    assert model.spent == dp.mu(0.0), "counted there, not here"


@pytest.mark.parametrize("kind", [Sums, Blocks])
@pytest.mark.parametrize("missing", ["epsilon", "delta"])
def test_a_fit_without_a_loss_is_refused_before_anything_is_read(kind, missing):
    model = made(kind, **{missing: None})
    model._on_arrays = None  # not even looked at
    with pytest.raises(dp.BadParameter, match="needs epsilon and delta"):
        model.fit(X)


def test_fits_of_an_estimator_and_its_clones_add_up():
    model = made()
    one = model.fit(X).spent
    assert one.epsilon_at(1e-6) == pytest.approx(1.0, rel=1e-6)
    clone(model).fit(X)
    assert model.spent.mu == pytest.approx(one.mu * np.sqrt(2))
    block = made(Blocks)
    block.fit(X)
    assert block.fit(X).spent == dp.epsilon(2.0, delta=2e-6)


def test_what_was_charged_counts_however_a_fit_ends_and_what_was_refused_does_not():
    model = made(fails=True)
    with pytest.raises(KeyboardInterrupt):
        model.fit(X)
    assert model.spent.epsilon_at(1e-6) == pytest.approx(1.0, rel=1e-6)
    refused = made(wrong=True)
    with pytest.raises(dp.BadParameter, match="wrong"):
        refused.fit(X)
    assert refused.spent == dp.mu(0.0)


@pytest.mark.parametrize("kind", [Sums, Blocks])
def test_normal_noise_needs_a_delta(kind):
    with pytest.raises(dp.MixedLosses, match="needs a δ"):
        made(kind, delta=0.0).fit(X)


def test_a_ledger_holds_exactly_one_fit():
    assert made()._ceiling(dp.epsilon(1.0, delta=1e-6)).epsilon_at(1e-6) == pytest.approx(1.0)
    assert made(Blocks)._ceiling(dp.epsilon(1.0, delta=1e-6)) == dp.epsilon(1.0, delta=4e-6)


def test_a_fit_in_another_process_is_refused_before_its_steps():
    steps = []
    model = made()
    model._account = Account("elsewhere of estimators", os.getpid() + 1)
    model._steps = lambda *given: steps.append(given)
    with pytest.raises(dp.LedgerFailure, match="another process"):
        model.fit(X)
    assert not steps
    assert "_account" in made().__getstate__(), "a copy is refused even if we never fitted"


def test_a_seed_decides_the_noise_and_without_one_it_is_fresh():
    first, second = (made(random_state=7).fit(X).sum_ for _ in range(2))
    assert list(first) == list(second)
    assert list(made().fit(X).sum_) != list(made().fit(X).sum_)


# ---- scores


class Scores(ScoringClassifier):
    _in_mu = True

    def _scores(self, X):
        return np.array([3.0, -1.0])


def test_scores_are_of_arrays_or_of_the_cells_of_frames():
    model = Scores()
    for use in (model.decision_function, lambda _: model.certificate()):
        with pytest.raises(NotFittedError):
            use(X)
    model.theta_, model.classes_ = np.array([1.0, 2.0]), np.array(["no", "yes"])
    assert model.decision_function(X).tolist() == [3.0, -1.0]
    assert model.predict(X).tolist() == ["yes", "no"]
    assert model.predict_proba(X)[:, 1] == pytest.approx(1 / (1 + np.exp([-3.0, 1.0])))

    class Encoding:
        def margins(self, frame, theta):
            return theta * frame

    model.encoding_ = Encoding()
    assert model.decision_function(2).tolist() == [2.0, 4.0]


# ---- arrays


@pytest.mark.parametrize(
    ("given", "words"),
    [
        (np.ones(3), "got 1D array"),
        (np.ones((2, 2, 2)), "dim 3"),
        (5, "scalar"),
        ([[], []], r"0 feature\(s\)"),
    ],
)
def test_what_is_no_table_is_refused_by_its_dimensions(given, words):
    with pytest.raises(ValueError, match=words):
        numbers(Sums(), given, reset=True)


def test_columns_are_counted_and_named_at_the_fit_and_compared_later():
    model = Sums()
    assert numbers(model, [[1, None]], reset=True).shape == (1, 2)
    assert model.n_features_in_ == 2
    assert not hasattr(model, "feature_names_in_")
    with pytest.raises(ValueError, match="3 features"):
        numbers(model, [[1, 2, 3]])
    frame = pd.DataFrame({"b": [1.0], "a": [2.0]})
    assert numbers(model, frame, reset=True).tolist() == [[1.0, 2.0]]
    assert list(model.feature_names_in_) == ["b", "a"]
    with pytest.raises(ValueError, match="feature names"):
        numbers(model, frame[["a", "b"]])


def test_a_model_of_a_table_reads_frames_until_it_is_fitted_again():
    model = Sums()
    model.encoding_ = Numbers(names=("b",))
    assert numbers(model, {"a": [1.0, 2.0], "b": [3.0, 4.0]}).tolist() == [[3.0], [4.0]]
    assert numbers(model, [[1.0, 2.0]], reset=True).tolist() == [[1.0, 2.0]]


def test_targets_are_numbers_or_labels_as_many_as_rows():
    rows = [[1.0], [2.0], [3.0]]
    found, target = labelled(Sums(), rows, [True, None, "x"], numeric=True)
    assert found.tolist() == rows
    np.testing.assert_array_equal(target, [1.0, np.nan, np.nan])
    assert labelled(Sums(), rows, (True, None, "x"))[1] == [True, None, "x"]
    for wrong, words in ((None, "requires y"), ([1, 2], "same number of rows")):
        with pytest.raises(ValueError, match=words):
            labelled(Sums(), rows, wrong)


def test_rows_at_hand_are_units_of_their_own():
    held = at_hand(lambda: unlabelled(np.zeros((3, 2), dtype=np.int16)), Dense(dimension=2))
    assert held.unit == dp.rows()
    assert len(told.examples(held).y) == 3
