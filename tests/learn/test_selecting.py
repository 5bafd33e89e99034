"""s.select and s.tune: the best model, chosen privately, for what was offered."""

import dataclasses
import datetime as dt
import math
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest

import deniable as dp
from deniable.audit import replay
from deniable.learn import (
    GaussianNB,
    GradientBoosting,
    GradientDescent,
    KMeans,
    LogisticRegression,
    Ridge,
    StandardScaler,
    selecting,
)
from deniable.schema.binning import Listed

FACTS = dp.Schema(
    columns={
        "x": dp.bounds(0, 1),
        "kind": dp.keys(["a", "b"]),
        "y": dp.keys(["no", "yes"]),
        "z": dp.bounds(-1, 1),
    }
)


class Threshold:
    """A model that was made elsewhere."""

    feature_names_in_ = ("x",)

    def __init__(self, at):
        self.at = at

    def predict(self, frame):
        return np.where(frame["x"] > self.at, "yes", "no")


class Line(Threshold):
    def predict(self, frame):
        return self.at * frame["x"].to_numpy()


def table(rows=3000):
    x = np.random.default_rng(0).uniform(size=rows)
    kind = np.where(np.arange(rows) % 2, "a", "b")
    return pd.DataFrame({"x": x, "kind": kind, "y": np.where(x > 0.5, "yes", "no"), "z": x / 2})


def opened(budget, frame=None, unit=None):
    data = table() if frame is None else frame
    return dp.open(data, unit=unit or dp.rows(), budget=budget, schema=FACTS)


@pytest.mark.parametrize(
    "budget", [dp.epsilon(1.0), dp.epsilon(1.0, delta=1e-6), dp.rho(0.5), dp.mu(1.0)], ids=str
)
def test_the_best_model_is_chosen_in_every_currency(budget):
    session = opened(budget)
    models = [Threshold(at) for at in (0.1, 0.5, 0.9)]
    assert session.select(models, target="y", spend=budget) is models[1]
    assert len(session.ledger.entries) == 1
    with pytest.raises(dp.BudgetExceeded):
        session.select(models, target="y", spend=budget)


@pytest.mark.parametrize(
    "budget", [dp.epsilon(1.0), dp.epsilon(1.0, delta=1e-6), dp.rho(0.5), dp.mu(1.0)], ids=str
)
@pytest.mark.parametrize("relation", ["add_remove", "replace"])
def test_a_choice_costs_all_that_was_offered_and_no_more(budget, relation):
    session = opened(budget, unit=dp.rows(relation=relation))
    made = selecting._choice(budget, session)
    assert made.sensitivity == 2**16 * session.unit.sides
    assert session.ledger.filter.admits(session.ledger.price(made))
    more = dataclasses.replace(made, epsilon=made.epsilon * (1 + 1e-6))
    assert not session.ledger.filter.admits(session.ledger.price(more))


def test_numeric_targets_are_judged_by_their_errors():
    models = [Line(at) for at in (-1.0, 0.5, 1.0)]
    assert opened(dp.mu(1.0)).select(models, target="z", spend=dp.mu(1.0)) is models[1]


@pytest.mark.parametrize("budget", [dp.epsilon(1.0), dp.mu(1.0)], ids=str)
@pytest.mark.parametrize("rows", [1, 4])
def test_scores_move_no_further_than_declared(budget, rows):
    frame = table(30).assign(who=np.arange(30) // 2)
    one = pd.DataFrame({"x": [0.9], "kind": ["a"], "y": ["yes"], "z": [0.4], "who": [99]})
    more = pd.concat([frame, *[one] * rows], ignore_index=True)
    facts = dp.Schema(columns=dict(FACTS.columns) | {"who": dp.column("int")})
    unit = dp.rows() if rows == 1 else dp.person("who", rows=2)

    def program(data):
        session = dp.open(data, unit=unit, budget=budget, schema=facts)
        session.select([Threshold(0.1), Threshold(0.95)], target="y", spend=budget)

    found = replay(program, frame, more)
    assert found.ok, found
    assert found.moved == found.declared


class Shaped(Threshold):
    """Predicts zeros in another shape."""

    def predict(self, frame):
        return self.at(len(frame))


SHAPES = {
    "(n, 1)": lambda n: np.zeros((n, 1)),
    "(1, n)": lambda n: np.zeros((1, n)),
    "(2, n)": lambda n: np.zeros((2, n)),
    "(n, 2)": lambda n: np.zeros((n, 2)),
    "0-d": lambda n: np.float64(0),
    "(1,)": lambda n: np.zeros(1),
    "(n - 1,)": lambda n: np.zeros(max(n - 1, 0)),
}


class Odd(Threshold):
    def predict(self, frame):
        return ["odd" if x > self.at else 0.0 for x in frame["x"]]


class Beside(Threshold):
    """Predicts a row from those beside it."""

    def predict(self, frame):
        return self.at(frame["x"].to_numpy())


@pytest.mark.parametrize("target", ["y", "z"])
def test_a_list_is_read_row_by_row(target):
    frame = table(40)

    def program(data):
        session = opened(dp.epsilon(1.0), frame=data)
        session.select([Odd(0.9), Line(1.0)], target=target, spend=dp.epsilon(1.0))

    found = replay(program, frame, pd.concat([frame, frame.head(1).assign(x=1.0)]))
    assert found.ok, found


@pytest.mark.parametrize(
    "rule",
    [
        lambda x: x - x.mean(),
        lambda x: np.argsort(np.argsort(x)) / len(x),
        lambda x: np.full(len(x), len(x) / 100),
        lambda x: np.where(x >= x.max(), "yes", "no"),
        np.cumsum,
    ],
    ids=["mean", "rank", "size", "largest", "rows before"],
)
@pytest.mark.parametrize("target", ["y", "z"])
def test_a_model_that_looks_at_other_rows_is_refused_for_free(rule, target):
    session = opened(dp.epsilon(1.0))
    with pytest.raises(dp.BadParameter, match="rows beside it"):
        session.select([Line(1.0), Beside(rule)], target=target, spend=dp.epsilon(0.5))
    assert not session.ledger.entries


@pytest.mark.parametrize("kind", [np.float64, np.float32, object])
def test_missing_predictions_are_alike(kind):
    session = opened(dp.epsilon(1.0))
    none = Beside(lambda x: np.full(len(x), np.nan, dtype=kind))
    assert session.select([none, Line(0.5)], target="z", spend=dp.epsilon(1.0)).at == 0.5


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("target", ["y", "z"])
def test_predictions_count_row_by_row_or_are_refused_for_free(shape, target):
    frame = table(40)
    models = [Shaped(SHAPES[shape]), Line(1.0)]

    def program(data):
        session = opened(dp.epsilon(1.0), frame=data)
        try:
            session.select(models, target=target, spend=dp.epsilon(1.0))
        finally:
            assert bool(session.ledger.entries) == (shape == "(n, 1)")

    if shape == "(n, 1)":
        found = replay(program, frame, pd.concat([frame, frame.tail(1)], ignore_index=True))
        assert found.ok, found
    else:
        with pytest.raises(dp.BadParameter, match="one prediction per row"):
            program(frame)


def test_a_shape_that_changes_after_the_trial_stops_the_session():
    moody = Shaped(lambda n: np.zeros(n) if n == 3 else np.zeros((1, n)))
    session = opened(dp.epsilon(1.0))
    with pytest.raises(dp.DeniableError):
        session.select([moody], target="z", spend=dp.epsilon(0.5))
    spent = session.spent
    assert spent.epsilon == pytest.approx(0.5)
    with pytest.raises(dp.DeniableError):
        session.select([Line(1.0)], target="z", spend=dp.epsilon(0.1))
    assert session.spent == spent


@pytest.mark.parametrize("model", [1, LogisticRegression(), Ridge()], ids=str)
def test_what_cannot_predict_is_refused_for_free(model):
    session = opened(dp.mu(1.0))
    with pytest.raises(dp.BadParameter):
        session.select([Threshold(0.5), model], target="y", spend=dp.mu(0.5))
    assert not session.ledger.entries


@pytest.mark.parametrize("budget", [dp.mu(1.0), dp.rho(0.5), dp.epsilon(2.0, delta=1e-5)], ids=str)
def test_tuning_costs_no_more_than_was_offered(budget):
    session = opened(budget)
    best = session.tune(
        [LogisticRegression(steps=10), LogisticRegression(steps=1)], target="y", spend=budget
    )
    assert best.score(table(), table()["y"]) > 0.8
    assert session.spent <= budget
    assert len(session.ledger.entries) == 3


@pytest.mark.parametrize("fits", [1, 3, 7])
def test_equal_spends_get_equal_delta(fits):
    budget = dp.epsilon(2.0, delta=1e-5)
    session, each = opened(budget), dp.epsilon(2.0 / fits, delta=1e-5 / fits)
    models = [session.fit(StandardScaler(), features=["x"], spend=each) for _ in range(fits)]
    assert [model.loss_.delta for model in models] == pytest.approx([2.5e-6 / fits] * fits)
    assert session.spent <= budget
    with pytest.raises(dp.BudgetExceeded):
        session.fit(StandardScaler(), features=["x"], spend=each)


def test_a_hopeless_setting_is_not_chosen():
    session = opened(dp.mu(2.0))
    best = session.tune(
        [Ridge(alpha=1e9), Ridge(alpha=1.0)], target="z", features=["x"], spend=dp.mu(2.0)
    )
    assert best.alpha == 1.0


def test_nothing_to_choose_from_is_refused():
    with pytest.raises(dp.BadParameter, match="one or more"):
        opened(dp.mu(1.0)).select([], target="y", spend=dp.mu(1.0))
    with pytest.raises(dp.BadParameter, match="one or more"):
        opened(dp.mu(1.0)).tune([], target="y", spend=dp.mu(1.0))


@pytest.mark.parametrize(
    "bad",
    [
        LogisticRegression(clip=9),
        LogisticRegression(epsilon=1.0),
        GradientBoosting(learning_rate=-1),
        GradientBoosting(max_leaves=1),
        Ridge(alpha=-1),
        KMeans(),
        StandardScaler(),
        LogisticRegression,
        Ridge(),
        GaussianNB(),
        GradientDescent(gradient=np.multiply, dimension=2, clip=1.0, size=10),
        3,
    ],
    ids=str,
)
def test_every_candidate_is_checked_before_the_first_is_paid_for(bad):
    session = opened(dp.mu(1.0))
    with pytest.raises(dp.BadParameter):
        session.tune([LogisticRegression(), bad], target="y", spend=dp.mu(0.5))
    assert not session.ledger.entries


@pytest.mark.parametrize("classifier", [LogisticRegression(), GradientBoosting()], ids=str)
def test_a_classifier_of_a_number_is_refused_before_the_first_fit(classifier):
    session = opened(dp.mu(1.0))
    with pytest.raises(dp.UnknownKeys):
        session.tune([Ridge(), classifier], target="z", features=["x"], spend=dp.mu(0.5))
    assert not session.ledger.entries


@pytest.mark.parametrize("call", ["select", "tune"])
def test_one_model_alone_is_not_a_list(call):
    with pytest.raises(dp.BadParameter, match="needs a list"):
        getattr(opened(dp.mu(1.0)), call)(Ridge(), target="z", spend=dp.mu(0.5))


# ---- one step after the other


def columns(**cells):
    """Columns of which only public facts are known; the last is the target."""
    made = {name: selecting.cells_of(column, name) for name, column in cells.items()}
    return selecting.Columns(cells=made, target=[*cells][-1], rows=None, read=None)


def test_made_up_rows_go_from_the_first_value_to_the_last():
    days = dp.bounds(dt.date(2020, 1, 1), dt.date(2020, 12, 31), type="date")
    found = columns(
        x=dp.bounds(-2, 6), kind=dp.keys(["a", "b", "c"]), day=days, y=dp.keys([0, 1])
    ).made_up(3)
    assert list(found) == ["x", "kind", "day"]
    assert found["x"].tolist() == [-2.0, 2.0, 6.0]
    assert found["kind"].tolist() == ["a", "b", "c"]
    first, middle, last = pd.to_datetime(found["day"])
    assert first < pd.Timestamp(2020, 2, 1) < middle < pd.Timestamp(2020, 8, 1)
    assert last > pd.Timestamp(2020, 12, 1)


@pytest.mark.parametrize(
    ("target", "span", "labelled"),
    [(dp.bounds(-2, 6), 8.0, False), (dp.bounds(3, 4), 1.0, False), (dp.keys(["a"]), 1.0, True)],
)
def test_errors_are_judged_by_the_span_of_the_target(target, span, labelled):
    found = columns(z=target)
    assert (found.span, found.labelled) == (span, labelled)


@pytest.mark.parametrize("weights", [None, [1 << 20, 1 << 19, 1 << 20, 0, 1 << 20]])
def test_scores_are_right_predictions_or_one_minus_the_error(weights):
    weights = None if weights is None else np.array(weights)
    share = np.ones(5) if weights is None else weights / 2**20
    model = SimpleNamespace(predict=np.array)
    wanted = np.array(["a", "b", "a", "a", None], dtype=object)
    found = selecting._score(model, [*"abcaa"], wanted, columns(y=dp.keys(["a", "b"])), weights)
    assert found == 2**16 * (share * [1, 1, 0, 1, 0]).sum()
    near = columns(z=dp.bounds(-2, 6))
    predicted = [1.0, 3.0, 1e9, -np.inf, np.nan]
    found = selecting._score(model, predicted, np.array([1.0, 1.0, 0.0, 0.0, 0.0]), near, weights)
    assert found == 2**16 * (share * [1, 0.75, 0, 0, 0]).sum()


@pytest.mark.parametrize("count", [1, 3, 4, 7])
def test_a_fifth_is_for_the_choice_and_the_rest_for_the_fits(count):
    for spend in (dp.mu(1.0), dp.rho(1.0)):
        choice, each = selecting._shares(spend, count)
        assert sum([each] * count, start=choice) <= spend
    choice, each = selecting._shares(dp.mu(1.0), count)
    assert (choice.mu**2, count * each.mu**2) == (pytest.approx(0.2), pytest.approx(0.8))
    choice, each = selecting._shares(dp.epsilon(1.0, delta=1e-6), count)
    total = sum([each] * (count - 1), start=each)
    assert (choice.epsilon, total.epsilon) == (pytest.approx(0.2), pytest.approx(0.8))
    assert 1e-6 * (1 - 1e-9) < total.delta <= 1e-6


@pytest.mark.parametrize(
    ("first", "second", "same"),
    [(1.0, 1.0005, True), (1.0, 1.002, False), (0.0, 9e-7, True), (0.0, 2e-6, False),
     (math.nan, math.nan, True), (math.nan, 1.0, False), (1.0, math.nan, False), ("a", "a", True),
     ("a", "b", False), (None, None, True), (None, 1.0, False), (True, 1, True),
     (math.nan, "a", False)],
)  # fmt: skip
def test_predictions_are_alike_but_for_the_last_digits_of_numbers(first, second, same):
    assert selecting._alike(first, second) is same


def test_a_row_of_a_frame_has_its_form():
    assert selecting._row({"a": np.array([1, 2, 3])}, 1)["a"].tolist() == [2]
    found = selecting._row(pd.DataFrame({"a": [1, 2, 3]}), 1)
    assert (found["a"].tolist(), found.index.tolist()) == ([2], [0])


def test_a_code_beyond_the_keys_is_a_missing_value_and_no_failure():
    """A failure for the row of one person would be an answer."""
    found = np.array([0, 1, 2, 3, 99, -7])
    read = SimpleNamespace(columns={"kind": ["code"]}, whole=lambda matrix, name: found)
    cells = {"kind": Listed(type="text", keys=("a", "b"))}
    columns = selecting.Columns(cells=cells, target="kind", rows=None, read=read)
    assert columns._values(None, "kind").tolist() == ["a", "b", None, None, None, "a"]
