"""Rows without a number that a model reads: left out, or replaced, as the schema says."""

import numpy as np
import pandas as pd
import pytest

import deniable as dp
from deniable.learn import (
    PCA,
    GaussianNB,
    GradientDescent,
    KMeans,
    LinearRegression,
    Ridge,
    StandardScaler,
)

N = 4000
HALF = np.arange(N) % 2 == 0
TABLE = pd.DataFrame(
    {
        "who": np.arange(N) // 4,
        "x": np.where(HALF, 10.0, np.nan),
        "even": np.where(np.arange(N) % 4 < 2, "yes", "no"),
        "other": np.full(N, 3.0),
    }
)


def towards(theta, X, y):
    """The gradient of (θ − x)²/2."""
    del y
    return theta - X[:, :1]


def towards_target(theta, X, y):
    """The gradient of (θ − y)²/2."""
    return (theta - y[:, None]) * np.ones((len(X), 1))


DESCENT = {"dimension": 1, "clip": 100.0, "steps": 40, "learning_rate": 0.5}

MODELS = {
    "linear": (LinearRegression(), {"target": "x", "features": ["even"]}),
    "ridge": (Ridge(), {"target": "x", "features": ["even"]}),
    "bayes": (GaussianNB(), {"target": "even", "features": ["x", "other"]}),
    "means": (KMeans(n_clusters=1), {"features": ["x", "other"]}),
    "components": (PCA(), {"features": ["x", "other"]}),
    "scaler": (StandardScaler(), {"features": ["x", "other"]}),
    "descent": (GradientDescent(gradient=towards, size=N, **DESCENT), {"features": ["x"]}),
    "target": (
        GradientDescent(gradient=towards_target, size=N, **DESCENT),
        {"features": ["other"], "target": "x"},
    ),
    "batches": (
        GradientDescent(gradient=towards, size=N, batches=2, **DESCENT),
        {"features": ["x"]},
    ),
}


def mean_of_x(model) -> float:
    """What a fitted model takes for the mean of x."""
    if isinstance(model, GradientDescent):
        return float(model.theta_[0])
    if isinstance(model, GaussianNB):
        return float(model.theta_[:, 0].mean())
    if isinstance(model, KMeans):
        return float(model.cluster_centers_[0, 0])
    if isinstance(model, PCA | StandardScaler):
        return float(model.mean_[0])
    return float(np.mean(model.predict(TABLE)))


def session(unit: dp.Unit, missing: object) -> dp.Session:
    """A session with so large a budget that noise moves a mean by less than 0.1."""
    facts = {
        "x": dp.bounds(0, 100, missing=missing),
        "other": dp.bounds(0, 10),
        "even": dp.keys(["yes", "no"]),
    }
    return dp.open(TABLE, unit=unit, budget=dp.mu(2000.0), schema=dp.Schema(columns=facts))


@pytest.mark.parametrize("name", MODELS)
@pytest.mark.parametrize(
    "unit",
    [dp.rows(), dp.rows(relation="replace"), dp.person("who", rows=4)],
    ids=["rows", "replaced", "people"],
)
def test_rows_without_a_number_are_left_out_where_the_schema_drops_them(name, unit):
    model, given = MODELS[name]
    fitted = session(unit, "drop").fit(model, spend=dp.mu(1000.0), **given)
    assert mean_of_x(fitted) == pytest.approx(10, abs=0.5)


@pytest.mark.parametrize("name", MODELS)
def test_a_value_of_the_schema_stands_in_for_what_is_missing(name):
    model, given = MODELS[name]
    fitted = session(dp.rows(), 50).fit(model, spend=dp.mu(1000.0), **given)
    assert mean_of_x(fitted) == pytest.approx(30, abs=0.5)


@pytest.mark.parametrize("name", MODELS)
@pytest.mark.parametrize(("missing", "said"), [("drop", True), (50, False)])
def test_the_plan_says_which_rows_are_left_out(name, missing, said):
    model, given = MODELS[name]
    plan = str(session(dp.rows(), missing).explain_fit(model, spend=dp.mu(10.0), **given))
    (note,) = [line for line in plan.splitlines() if "are left out" in line] or [""]
    assert ("x" in note.split()) is said


def test_models_of_cells_keep_rows_with_missing_features():
    plan = session(dp.rows(), "drop").explain_fit(
        LinearRegression(), target="other", features=["x"], spend=dp.mu(10.0)
    )
    assert "a missing other" in str(plan)
    assert "a missing x" not in str(plan)


@pytest.mark.parametrize("model", [GaussianNB, KMeans])
def test_a_missing_feature_does_not_count_as_zero_in_a_prediction(model):
    """Where one of two features is missing, the other one decides."""
    rng = np.random.default_rng(0)
    side = rng.integers(0, 2, N)
    X = np.stack([50 + 40.0 * side, 50 + 40.0 * side], axis=1) + rng.normal(size=(N, 2))
    kind = {"classes": [0, 1]} if model is GaussianNB else {"n_clusters": 2}
    fitted = model(epsilon=50.0, delta=1e-3, bounds=(0, 100), **kind).fit(X, side)
    low, high = fitted.predict([[50.0, 50.0], [90.0, 90.0]])
    assert fitted.predict([[np.nan, 50.0], [90.0, np.nan]]).tolist() == [low, high]
