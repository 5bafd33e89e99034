"""Estimators by themselves: scikit-learn's contract, public parameters, hostile rows."""

import copy
import pickle
import warnings
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.exceptions import SkipTestWarning
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer
from sklearn.utils.estimator_checks import check_estimator

import deniable as dp
from deniable.audit import replay, search
from deniable.learn import (
    PCA,
    GaussianNB,
    GradientBoosting,
    KMeans,
    LinearRegression,
    LogisticRegression,
    Ridge,
    StandardScaler,
)

PRIVACY = {"epsilon": 1.0, "delta": 1e-5}
EASY = {"epsilon": 1000.0, "delta": 1e-3, "bounds": (-10, 10)}

_EMPTY = {"check_estimators_empty_data_messages": "whether there are rows is private: 0 rows fit"}
_EMPTY |= {
    "check_dtype_object": "an error would tell that a cell is odd: it counts as missing",
    "check_complex_data": "an error would tell that a cell is odd: it counts as missing",
}
_TARGET = _EMPTY | {"check_supervised_y_no_nan": "an error would tell that a target is missing"}
_CLASSES = _TARGET | {
    "check_classifiers_classes": "classes are public parameters, not those of y",
    "check_classifiers_train": "classes are public parameters, not those of y",
    "check_decision_proba_consistency": "classes are public parameters, not those of y",
    "check_classifiers_one_label": "classes are public parameters, not those of y",
    "check_classifiers_regression_target": "rows of other classes are left out, row by row",
}
_CHANCE = {"check_classifiers_one_label"}  # noise decides whether the one label is predicted
# Of boosting it decides whether two scores are alike; those of naive Bayes always are.
_BY_KIND = {kind: {"check_decision_proba_consistency"} for kind in (GaussianNB, GradientBoosting)}
_BY_NAME = "scikit-learn sets a parameter of its own class of the same name"
CONFORMING = [
    (LogisticRegression(**EASY, classes=[0, 1, 2]), _CLASSES),
    (GaussianNB(**EASY, classes=[0, 1, 2]), _CLASSES),
    (GradientBoosting(**EASY, classes=[0, 1, 2], rounds=5, bins=4), _CLASSES),
    (Ridge(**EASY, target_bounds=(-100, 100)), _TARGET),
    (LinearRegression(**EASY, target_bounds=(-100, 100)), _TARGET),
    (
        KMeans(**EASY, n_clusters=3),
        _EMPTY | {"check_clustering": "labels of training rows are private, and not stored"},
    ),
    (PCA(**EASY), _EMPTY),
    (
        StandardScaler(**EASY),
        _EMPTY
        | {"check_estimator_sparse_array": _BY_NAME, "check_estimator_sparse_matrix": _BY_NAME},
    ),
]


def data(rows=300, seed=0):
    random = np.random.default_rng(seed)
    X = random.uniform(-1, 1, (rows, 3))
    return X, (X[:, 0] + 0.3 * X[:, 1] > 0).astype(int)


@pytest.mark.parametrize(("estimator", "expected"), CONFORMING, ids=lambda x: type(x).__name__)
def test_scikit_learn_finds_no_fault_but_those_that_privacy_demands(estimator, expected):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        warnings.simplefilter("ignore", SkipTestWarning)
        found = check_estimator(estimator, expected_failed_checks=expected, on_fail=None)
    failed = {each["check_name"]: each["exception"] for each in found if each["status"] == "failed"}
    assert not failed
    met = {each["check_name"] for each in found if each["status"] == "xfail"}
    chance = _CHANCE | _BY_KIND.get(type(estimator), set())
    assert met - chance == set(expected) - chance


@pytest.mark.parametrize(
    ("make", "error", "words"),
    [
        (lambda: LogisticRegression(**PRIVACY, classes=[0, 1]), dp.MissingBounds, "or a norm"),
        (lambda: LogisticRegression(**PRIVACY, bounds=(0, 1)), dp.UnknownKeys, "list of classes"),
        (
            lambda: LogisticRegression(bounds=(0, 1), classes=[0, 1]),
            dp.BadParameter,
            "needs epsilon",
        ),
        (
            lambda: LogisticRegression(epsilon=1.0, delta=0.0, bounds=(0, 1), classes=[0, 1]),
            dp.MixedLosses,
            "needs a δ",
        ),
        (
            lambda: LogisticRegression(**PRIVACY, bounds=(1, 0), classes=[0, 1]),
            dp.BadParameter,
            "low at most high",
        ),
        (
            lambda: LogisticRegression(**PRIVACY, bounds=(0, np.inf), classes=[0, 1]),
            dp.BadParameter,
            "finite",
        ),
        (
            lambda: LogisticRegression(**PRIVACY, bounds=(0, [1, 2]), classes=[0, 1]),
            dp.BadParameter,
            "number per feature",
        ),
        (
            lambda: LogisticRegression(**PRIVACY, bounds=(0, 1), classes=[0]),
            dp.BadParameter,
            "two or more different labels",
        ),
        (
            lambda: LogisticRegression(**PRIVACY, bounds=(0, 1), classes=[0, 1], clip=2),
            dp.BadParameter,
            "clip",
        ),
        (
            lambda: LogisticRegression(**PRIVACY, norm=-1, classes=[0, 1]),
            dp.BadParameter,
            "norm",
        ),
        (lambda: Ridge(**PRIVACY, bounds=(0, 1)), dp.MissingBounds, "target"),
        (lambda: GaussianNB(**PRIVACY, classes=[0, 1]), dp.MissingBounds, "bounds"),
        (lambda: KMeans(**PRIVACY), dp.MissingBounds, "bounds"),
        (lambda: PCA(**PRIVACY, bounds=(0, 1), n_components=9), dp.BadParameter, "at most 3"),
    ],
)
def test_a_missing_or_impossible_parameter_is_an_error(make, error, words):
    X, y = data()
    with pytest.raises(error, match=words):
        make().fit(X, y)


def test_a_seed_is_refused_outside_tests(monkeypatch):
    X, y = data()
    model = LogisticRegression(**PRIVACY, bounds=(-1, 1), classes=[0, 1], random_state=1)
    first, second = (clone(model).fit(X, y).coef_ for _ in range(2))
    assert (first == second).all()
    monkeypatch.delenv("DENIABLE_TESTING")
    with pytest.raises(dp.SeedOutsideTests):
        model.fit(X, y)


MAKERS = {
    "logistic": lambda: LogisticRegression(**PRIVACY, bounds=(-1, 1), classes=[0, 1], steps=3),
    "norm": lambda: LogisticRegression(**PRIVACY, norm=1.0, classes=[0, 1], steps=3),
    "softmax": lambda: LogisticRegression(**PRIVACY, bounds=(-1, 1), classes=[0, 1, 2], steps=2),
    "bayes": lambda: GaussianNB(**PRIVACY, bounds=(-1, 1), classes=[0, 1]),
    "boosting": lambda: GradientBoosting(
        **PRIVACY, bounds=(-1, 1), classes=[0, 1], rounds=3, bins=4
    ),
    "ridge": lambda: Ridge(**PRIVACY, bounds=(-1, 1), target_bounds=(0, 1)),
    "means": lambda: KMeans(**PRIVACY, bounds=(-1, 1), n_clusters=2, steps=2),
    "components": lambda: PCA(**PRIVACY, bounds=(-1, 1)),
    "scaler": lambda: StandardScaler(**PRIVACY, bounds=(-1, 1)),
}


@pytest.mark.parametrize("model", MAKERS)
def test_hostile_rows_move_no_step_further_than_was_declared(model):
    X, y = data(12)
    table = np.column_stack([X, y.astype(float)])
    found = search(lambda rows: MAKERS[model]().fit(rows[:, :3], rows[:, 3]).loss_, table, most=50)
    assert found.ok, found


CLOSE = [(1.0, np.nextafter(1, 2)), (1e16, 1e16 + 2), (0.0, 1e-323), (2.0**60, 2.0**60 + 256)]


@pytest.mark.parametrize("bounds", CLOSE, ids=str)
@pytest.mark.parametrize("model", ["bayes", "means", "components", "scaler", "logistic", "ridge"])
@pytest.mark.parametrize("d", [1, 4])
def test_bounds_a_few_floats_apart_are_bounds(model, bounds, d):
    middle = bounds[0] / 2 + bounds[1] / 2
    rows = np.full((3, d), middle)
    for end in bounds:
        one = np.full((1, d), middle)
        one[0, 0] = end
        for more in (one, np.full((1, d), end)):
            found = replay(
                lambda X: MAKERS[model]().set_params(bounds=bounds).fit(X, np.zeros(len(X))).loss_,
                rows,
                np.vstack([rows, more]),
            )
            assert found.ok, found


@pytest.mark.parametrize("model", MAKERS)
@pytest.mark.parametrize(
    "spoil",
    [
        lambda X, y: (np.full_like(X, np.nan), y),
        lambda X, y: (np.full_like(X, np.inf), y),
        lambda X, y: (1e300 * X, y),
        lambda X, y: (X, np.zeros_like(y)),
        lambda X, y: (X, np.full_like(y, 77)),
        lambda X, y: (X[:0], y[:0]),
        lambda X, y: (X[:1], y[:1]),
    ],
    ids=["nan", "inf", "unscaled", "one class", "unseen class", "no rows", "one row"],
)
def test_no_rows_whatever_stop_a_fit(model, spoil):
    fitted = MAKERS[model]().fit(*spoil(*data()))
    for name, value in vars(fitted).items():
        if isinstance(value, np.ndarray) and value.dtype.kind == "f":
            assert np.isfinite(value).all(), name


@pytest.mark.parametrize("model", ["bayes", "means", "scaler"])
def test_means_lie_within_the_bounds_however_few_rows_there_are(model):
    fitted = MAKERS[model]().fit(*[each[:0] for each in data()])
    found = next(
        getattr(fitted, name)
        for name in ("cluster_centers_", "theta_", "mean_")
        if hasattr(fitted, name)
    )
    assert np.abs(found).max() <= 1 + 1e-12


def test_more_features_than_rows_can_be_fitted():
    X = np.random.default_rng(0).uniform(-1, 1, (20, 60))
    model = LogisticRegression(**PRIVACY, bounds=(-1, 1), classes=[0, 1]).fit(X, X[:, 0] > 0)
    assert model.coef_.shape == (1, 60)


def test_what_is_learnt_with_little_noise_is_nearly_exact():
    X, _ = data(4000)
    y = 1 + X @ [2.0, -1.0, 0.5]
    easy = {"epsilon": 500.0, "delta": 1e-3, "bounds": (-1, 1)}
    line = LinearRegression(**easy, target_bounds=(-6, 6)).fit(X, y)
    assert np.allclose(line.coef_, [2, -1, 0.5], atol=0.02)
    assert abs(line.intercept_ - 1) < 0.02
    labels = (X[:, 0] > 0).astype(int)
    bayes = GaussianNB(**easy, classes=[0, 1]).fit(X, labels)
    for group in (0, 1):
        assert np.allclose(bayes.theta_[group], X[labels == group].mean(axis=0), atol=0.01)
        assert np.allclose(bayes.var_[group], X[labels == group].var(axis=0), atol=0.01)
    parts = PCA(**easy).fit(X * [1, 0.5, 0.1])
    assert np.allclose(np.abs(parts.components_), np.eye(3), atol=0.1)
    assert np.allclose(parts.explained_variance_, np.array([1, 0.25, 0.01]) / 3, atol=0.02)


def test_probabilities_are_calibrated_where_residuals_are_not_clipped():
    random = np.random.default_rng(3)
    X = random.uniform(-1, 1, (60_000, 2))
    y = random.uniform(size=60_000) < 1 / (1 + np.exp(-(2 * X[:, 0] - X[:, 1])))
    model = LogisticRegression(
        epsilon=50.0, delta=1e-3, bounds=(-1, 1), classes=[False, True], clip=1.0
    ).fit(X, y)
    assert np.allclose(model.coef_[0], [2, -1], atol=0.15)


def test_clones_and_pipelines_work_and_every_fit_is_counted():
    X, y = data()
    model = LogisticRegression(**PRIVACY, bounds=(-1, 1), classes=[0, 1], steps=2)
    assert model.spent == dp.mu(0.0)
    cross_val_score(model, X, y, cv=3)
    one = model.spent.mu / np.sqrt(3)
    assert dp.mu(one).epsilon_at(1e-5) == pytest.approx(1.0, rel=1e-6)
    search_ = GridSearchCV(
        make_pipeline(FunctionTransformer(), model),
        {"logisticregression__steps": [1, 2]},
        cv=2,
    ).fit(X, y)
    assert model.spent.mu == pytest.approx(one * np.sqrt(3 + 2 * 2 + 1))
    assert search_.best_estimator_[-1].loss_ == dp.epsilon(1.0, delta=1e-5)
    again = pickle.loads(pickle.dumps(model.fit(X, y)))
    assert (again.predict(X) == model.predict(X)).all()


@pytest.mark.parametrize("fitted", [False, True])
def test_a_fit_in_another_process_is_refused(fitted):
    X, y = data()
    model = LogisticRegression(**PRIVACY, bounds=(-1, 1), classes=[0, 1], steps=2)
    if fitted:
        model.fit(X, y)
    spent = model.spent
    with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as pool:
        sent = pool.submit(model.fit, X, y)
    with pytest.raises(dp.LedgerFailure, match="another process"):
        sent.result()
    assert model.spent == spent


@pytest.mark.parametrize("copied", [pickle, copy], ids=["pickled", "copied"])
def test_a_copy_in_the_same_process_is_counted_together(copied):
    X, y = data()
    model = LogisticRegression(**PRIVACY, bounds=(-1, 1), classes=[0, 1], steps=2)
    again = copy.deepcopy(model) if copied is copy else pickle.loads(pickle.dumps(model))
    again.fit(X, y)
    assert model.spent == again.spent
    assert model.spent.mu > 0


def test_a_refused_fit_is_not_counted():
    model = PCA(**PRIVACY, bounds=(0, 1), n_components=9)
    with pytest.raises(dp.BadParameter):
        model.fit(data()[0])
    assert model.spent == dp.mu(0.0)


def test_a_certificate_says_what_was_claimed():
    X, y = data()
    model = LogisticRegression(**PRIVACY, bounds=(-1, 1), classes=[0, 1]).fit(X, y)
    record = model.certificate().to_dict()
    assert record["claim"]["this_release"] == "ε 1, δ 1e-05"
    assert record["model"]["settings"]["bounds"] == [-1, 1]
    plan = dp.Mechanism.from_dict(record["mechanisms"][0])
    assert plan.epsilon_at(1e-5) <= 1.0 + 1e-9
    assert model.certificate().to_json()


@pytest.mark.parametrize("model", MAKERS)
@pytest.mark.parametrize("end", [KeyboardInterrupt, dp.BadParameter("refused")], ids=["^C", "no"])
def test_a_fit_that_does_not_end_leaves_the_model_as_it_was(model, end, monkeypatch):
    X, y = data()
    fitted = MAKERS[model]().fit(X, y)
    before, certificate = dict(vars(fitted)), fitted.certificate().to_dict()
    learn = type(fitted)._learn

    def ended(*given):
        learn(*given)
        raise end

    fitted.set_params(epsilon=5.0)
    monkeypatch.setattr(type(fitted), "_learn", ended)
    with pytest.raises((KeyboardInterrupt, dp.DeniableError)):
        fitted.fit(-X, y)
    after = vars(fitted)
    assert after.pop("epsilon") == 5.0
    assert all(after[name] is before[name] for name in after)
    assert fitted.certificate().to_dict() == certificate


def test_nothing_is_left_of_a_fit_in_the_other_mode():
    X, y = data()
    facts = dp.Schema(columns={"a": dp.bounds(-1, 1), "t": dp.keys([0, 1])})
    session = dp.open(
        pd.DataFrame({"a": X[:, 0], "t": y}), unit=dp.rows(), budget=dp.mu(1.0), schema=facts
    )
    model = session.fit(LogisticRegression(), target="t", spend=dp.mu(0.5))
    alone = model.set_params(**PRIVACY, bounds=(-1, 1), classes=[0, 1]).fit(X, y)
    assert alone.predict(X).shape == (300,)
    assert not hasattr(alone, "features_")
    session.fit(model.set_params(epsilon=None, delta=None), target="t", spend=dp.mu(0.5))
    assert not hasattr(model, "n_features_in_")
    assert len(model.predict({"a": [0.5]})) == 1
