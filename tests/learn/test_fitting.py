"""s.fit: charged in the session, features from the schema, predictions on frames."""

import numpy as np
import pandas as pd
import polars as pl
import pytest
from bench._census import opened, schema

import deniable as dp
from deniable.audit import replay, search
from deniable.learn import (
    PCA,
    GaussianNB,
    GradientBoosting,
    GradientDescent,
    KMeans,
    LinearRegression,
    LogisticRegression,
    Ridge,
    StandardScaler,
)
from deniable.learn.models._estimator import ScoringClassifier

TRAIN, TEST = dp.load_adult("train"), dp.load_adult("test")
INCOME = TEST["income"].to_pylist()
NUMBERS = ["age", "education_num", "hours_per_week"]
FEW = TRAIN.slice(0, 60).to_pandas()[["age", "sex", "capital_gain", "hours_per_week", "income"]]
SMALL = dp.Schema(
    columns={
        "age": dp.bounds(17, 90, type="int"),
        "hours_per_week": dp.bounds(1, 99, type="int"),
        "capital_gain": dp.bounds(0, 1e5),
        "sex": dp.keys(["Female", "Male"]),
        "income": dp.keys(["<=50K", ">50K"]),
    }
)
MODELS = {
    "logistic": (LogisticRegression(steps=3), {"target": "income"}),
    "softmax": (LogisticRegression(steps=2), {"target": "grade", "features": ["age", "sex"]}),
    "boosting": (GradientBoosting(rounds=2), {"target": "income"}),
    "linear": (LinearRegression(), {"target": "age"}),
    "ridge": (Ridge(), {"target": "capital_gain"}),
    "bayes": (GaussianNB(), {"target": "income", "features": ["age", "capital_gain"]}),
    "means": (KMeans(n_clusters=2, steps=2), {"features": ["age", "hours_per_week"]}),
    "components": (PCA(), {"features": ["age", "capital_gain"]}),
    "scaler": (StandardScaler(), {"features": ["age", "capital_gain"]}),
}


@pytest.mark.statistical
def test_census_incomes_are_predicted_better_than_without_privacy_on_plain_features():
    """Fails with chance below 1e-6: the limits are ten standard deviations below the means."""
    budget = dp.mu(0.2678)  # ε = 1 at δ = 1e-5
    model = opened(TRAIN, budget).fit(LogisticRegression(), target="income", spend=budget)
    assert budget.epsilon_at(1e-5) < 1.001
    assert model.score(TEST, INCOME) > 0.855
    probability = model.predict_proba(TEST)
    assert np.allclose(probability.sum(axis=1), 1)
    assert len(model.features_) == model.coef_.size


def test_predictions_are_the_same_on_every_kind_of_frame():
    model = opened(TRAIN, dp.mu(3)).fit(LogisticRegression(), target="income", spend=dp.mu(1))
    some = TEST.slice(0, 500)
    frame = some.to_pandas()
    found = model.decision_function(some)
    columns = {name: frame[name] for name in frame}
    for other in (frame, pl.from_arrow(some), columns, pd.DataFrame(columns).convert_dtypes()):
        assert np.allclose(model.decision_function(other), found)


@pytest.mark.parametrize("budget", [dp.mu(1.0), dp.rho(0.5), dp.epsilon(1.0, delta=1e-5)], ids=str)
def test_a_fit_is_charged_before_rows_are_read_and_within_what_was_offered(budget):
    session = opened(TRAIN, budget)
    model = session.fit(LogisticRegression(steps=5), target="income", spend=budget)
    assert len(session.ledger.entries) == 1
    assert model.loss_ <= budget
    with pytest.raises(dp.BudgetExceeded):
        session.fit(LogisticRegression(steps=5), target="income", spend=budget)
    assert len(session.ledger.entries) == 1


@pytest.mark.parametrize("model", MODELS)
def test_a_replay_on_neighbours_finds_every_step_within_what_was_declared(model):
    estimator, options = MODELS[model]
    frame = FEW.assign(capital_gain=FEW["capital_gain"].astype(float))
    frame["grade"] = np.array(["a", "b", "c"])[frame["age"] % 3]
    columns = dict(SMALL.columns) | {"grade": dp.keys(["a", "b", "c"])}

    def program(data):
        facts = dp.Schema(columns=columns)
        session = dp.open(data, unit=dp.rows(), budget=dp.mu(1.0), schema=facts)
        fitted = session.fit(type(estimator)(**estimator.get_params()), spend=dp.mu(1.0), **options)
        return {name: value for name, value in vars(fitted).items() if name == "coef_"}

    found = search(program, frame, where="end", most=2)
    assert found.ok, found
    assert found.measured


def test_a_person_with_a_thousand_rows_counts_as_much_as_their_limit():
    unit = dp.person("who", rows=3)
    frame = FEW.assign(who=np.arange(len(FEW)) % 20)
    one = pd.DataFrame([FEW.iloc[0].to_dict() | {"who": 99, "age": 90, "income": ">50K"}])
    crowd = pd.concat([frame, *[one] * 1000], ignore_index=True)
    facts = dp.Schema(columns=dict(SMALL.columns) | {"who": dp.column("int")})

    def program(data):
        session = dp.open(data, unit=unit, budget=dp.mu(1.0), schema=facts)
        session.fit(LogisticRegression(steps=4), target="income", spend=dp.mu(1.0))

    found = replay(program, frame, crowd)
    assert found.ok, found
    assert found.moved > 0.5 * found.declared


@pytest.mark.parametrize(
    ("options", "error", "words"),
    [
        ({}, dp.BadParameter, "is missing target="),
        ({"target": "age"}, dp.UnknownKeys, "list of classes"),
        ({"target": "nobody"}, dp.UnknownName, "nobody"),
        ({"target": "income", "features": ["income"]}, dp.BadParameter, "cannot be a feature"),
        ({"target": "income", "features": []}, dp.BadParameter, "one or more columns"),
        ({"target": "income", "features": ["fnlwgt"]}, dp.MissingBounds, "fnlwgt"),
        ({"target": "income", "features": "age"}, dp.BadParameter, "a list of columns"),
    ],
)
def test_what_public_facts_can_refuse_is_refused_for_free(options, error, words):
    session = opened(TRAIN, dp.mu(1.0))
    with pytest.raises(error, match=words):
        session.fit(LogisticRegression(), spend=dp.mu(1.0), **options)
    assert not session.ledger.entries


def test_what_is_not_ours_or_has_a_price_of_its_own_is_refused():
    session = opened(TRAIN, dp.mu(1.0))
    with pytest.raises(dp.BadParameter, match=r"builtins\.object is not an estimator of"):
        session.fit(object(), target="income", spend=dp.mu(1.0))
    with pytest.raises(dp.BadParameter, match="PCA is a class"):
        session.fit(PCA, features=NUMBERS, spend=dp.mu(1.0))
    for model in (GaussianNB(), PCA(), Ridge()):
        target = {"target": "income"} if model.has_target else {}
        with pytest.raises(dp.BadParameter, match=r"as a number, and `(sex|income)` is text"):
            session.fit(model, features=["sex"], spend=dp.mu(1.0), **target)
    with pytest.raises(dp.BadParameter, match="from spend="):
        session.fit(LogisticRegression(epsilon=1.0), target="income", spend=dp.mu(1.0))
    pure = opened(TRAIN, dp.epsilon(1.0))
    with pytest.raises(dp.MixedLosses, match="needs a δ"):
        pure.fit(LogisticRegression(), target="income", spend=dp.epsilon(1.0))


def test_an_empty_table_and_unseen_values_are_no_reason_to_fail():
    session = opened(TRAIN.slice(0, 0), dp.mu(1.0))
    model = session.fit(LogisticRegression(), target="income", spend=dp.mu(1.0))
    strange = {name: [None, "never seen", -1] for name in schema().columns}
    assert len(model.predict(strange)) == 3
    with pytest.raises(dp.UnknownName, match="age"):
        model.predict({"sex": ["Male"]})


def test_linear_models_follow_curves_through_the_cells_of_a_column():
    x = np.linspace(0, 10, 6000)
    frame = pd.DataFrame({"x": x, "y": np.sin(x)})
    facts = dp.Schema(columns={"x": dp.bounds(0, 10), "y": dp.bounds(-1, 1)})
    session = dp.open(frame, unit=dp.rows(), budget=dp.mu(2.0), schema=facts)
    model = session.fit(LinearRegression(), target="y", spend=dp.mu(1.0))
    assert model.score(frame, np.sin(x)) > 0.9


def test_other_models_learn_from_a_table():
    session = opened(TRAIN, dp.mu(3.0))
    scaler = session.fit(StandardScaler(), features=NUMBERS, spend=dp.mu(1.0))
    exact = np.stack([TRAIN[name].to_numpy() for name in NUMBERS], axis=1)
    assert np.allclose(scaler.mean_, exact.mean(axis=0), rtol=0.02)
    assert np.allclose(scaler.scale_, exact.std(axis=0), rtol=0.05)
    parts = session.fit(PCA(n_components=2), features=NUMBERS, spend=dp.mu(1.0))
    assert parts.transform(TEST).shape == (TEST.num_rows, 2)
    assert abs(parts.components_[0, 0]) > 0.9
    with pytest.raises(dp.BadParameter, match="has no target"):
        session.fit(PCA(), target="income", features=NUMBERS, spend=dp.mu(0.1))


def test_fixes_of_refused_fits_name_what_to_import_and_what_predicts_numbers():
    from sklearn import linear_model

    s = dp.open(FEW, unit=dp.rows(), budget=dp.mu(1.0), schema=SMALL)
    with pytest.raises(dp.DeniableError, match=r"from deniable\.learn import Ridge"):
        s.fit(linear_model.Ridge(), target="age", spend=dp.mu(0.1))
    with pytest.raises(dp.DeniableError, match=r"from deniable\.learn import LogisticRegression"):
        s.fit(linear_model.Lasso(), target="age", spend=dp.mu(0.1))
    with pytest.raises(dp.DeniableError, match=r"s\.fit\(Ridge\(\), \.\.\.\)"):
        s.fit(LogisticRegression(), target="age", spend=dp.mu(0.1))
    assert s.spent.mu == 0


TOO_MUCH = {
    "steps": LogisticRegression(steps=10_000),
    "rounds": GradientBoosting(rounds=10_000),
    "clusters": KMeans(n_clusters=10_000),
    "steps of clusters": KMeans(steps=10_000),
    "steps of one's own": GradientDescent(
        gradient=lambda theta, X, y: X, clip=1.0, size=60, dimension=2, steps=10_000
    ),
    "numbers": GradientDescent(
        gradient=lambda theta, X, y: np.zeros((len(X), 10**6)), clip=1.0, size=60,
        dimension=10**6, steps=1_000,
    ),
}  # fmt: skip


@pytest.mark.parametrize("model", TOO_MUCH.values(), ids=TOO_MUCH)
def test_more_work_than_public_limits_allow_is_refused_for_free(model):
    session = dp.open(FEW, unit=dp.rows(), budget=dp.mu(1.0), schema=SMALL)
    options = {"target": "income"} if isinstance(model, ScoringClassifier) else {}
    for ask in (session.fit, session.explain_fit):
        with pytest.raises(dp.BadParameter, match=r"the limit is|at most") as seen:
            ask(model, features=["age", "hours_per_week"], spend=dp.mu(0.5), **options)
        assert seen.value.cost == "nothing was spent"
    assert not session.ledger.entries


def test_samples_and_batches_count_as_the_share_of_a_pass_that_they_are():
    """8,000 steps on a hundredth of the rows each are 80 passes."""
    few = {"gradient": lambda theta, X, y: X, "clip": 1.0, "size": 60, "steps": 8_000}
    session = dp.open(FEW, unit=dp.rows(), budget=dp.mu(1.0), schema=SMALL)
    plan = session.explain_fit(
        GradientDescent(batches=100, **few), features=["age"], spend=dp.mu(0.5)
    )
    assert plan.cost == dp.mu(0.5)
