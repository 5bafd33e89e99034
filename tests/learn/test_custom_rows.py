"""Rows for a user's own gradient: as they are, with targets, weights and whose they are."""

import numpy as np
import pandas as pd
import pytest
from sklearn.exceptions import NotFittedError
from tests.learn import told

import deniable as dp
from deniable.learn import GradientDescent
from deniable.statistics.building import About

X, Y = np.array([[1.0, 2.0], [3.0, 4.0]]), np.array([5.0, np.nan])
FRAME = pd.DataFrame(
    {"who": [1, 2, 3], "a": [1.0, 2.0, 3.0], "b": [1.0, np.nan, 0.5], "y": [2.0, 4.0, 8.0]}
)
FACTS = {"who": dp.column("int"), "a": dp.bounds(0, 4), "b": dp.bounds(0, 1), "y": dp.bounds(0, 9)}


def model(**given):
    settings = {"gradient": lambda theta, X, y: X[:, :1] - y[:, None], "clip": 1.0, "size": 9}
    return GradientDescent(**{**settings, "steps": 10, **given})


def test_arrays_are_taken_as_they_are_with_zeros_for_targets_that_are_not_given():
    rows = told.examples(model()._on_arrays(X, Y))
    assert rows.x.tolist() == X.tolist()
    np.testing.assert_array_equal(rows.y, Y)
    rows = told.examples(model()._on_arrays(X, None))
    assert (rows.x.tolist(), rows.y.tolist()) == (X.tolist(), [0.0, 0.0])


@pytest.mark.parametrize("unit", [dp.rows(), dp.person("who", rows=2)])
@pytest.mark.parametrize("target", ["y", None])
def test_columns_of_a_table_are_numbers_and_rows_without_one_are_left_out(unit, target):
    facts = dp.Schema(columns=FACTS)
    session = dp.open(FRAME, unit=unit, budget=dp.mu(1.0), schema=facts)
    made = model()
    held = made.on_table(session, About(session=session), target, ["a", "b"])
    assert held.needs == (("a", "b") if target is None else ("a", "b", "y"))
    assert (made.encoding_.names, made.features_) == (("a", "b"), ["a", "b"])
    rows = told.examples(held)
    order = np.argsort(rows.x[:, 0])
    np.testing.assert_allclose(rows.x[order], [[1.0, 1.0], [3.0, 0.5]], atol=1e-6)
    np.testing.assert_allclose(rows.y[order], [2.0, 8.0] if target else [0.0, 0.0], atol=1e-6)
    if unit.column is None:
        assert (rows.w, rows.who) == (None, None)
    else:
        assert rows.w.tolist() == [1 << 20] * 2
        assert len(set(rows.who.tolist())) == 2


@pytest.mark.parametrize("unit", [dp.rows(), dp.person("who", rows=3)])
def test_the_noise_of_a_plan_covers_what_a_step_declares(unit):
    loss = dp.epsilon(1.0, delta=1e-6)
    ways = [{}, {"batches": 4}, *([{"sample_rate": 0.5}] if unit.column is None else [])]
    for way in ways:
        made = model(**way)
        held = made._on_arrays(X, None)
        held.unit = unit
        plan = made.planned(held, loss)
        bought = plan if "batches" in way else plan.parts[0][0]
        noise = bought.of if way else bought
        value = made._sum(held, 1, lambda rows: rows.y.sum())
        own = 1 if unit.column is None else 3
        assert own * 2**20 < value.bound("l2") <= noise.sensitivity < own * (2**20 + 1)
        assert (value.stream == "batch 1 of 4") == ("batches" in way)
        assert (value.form.statistic is not None) == ("sample_rate" in way)
    assert model(batches=4).planned(held, loss).epochs == 3
    assert model(batches=5).planned(held, loss).epochs == 2


def test_work_is_judged_by_the_rows_and_numbers_of_all_steps():
    held = model()._on_arrays(X, None)
    loss = dp.mu(1.0)
    model(steps=5_000).planned(held, loss)
    model(steps=20_000, batches=4).planned(held, loss)
    for many in ({"steps": 5_001}, {"steps": 20_001, "batches": 4}):
        with pytest.raises(dp.BadParameter, match="would read the rows"):
            model(**many).planned(held, loss)
    with pytest.raises(dp.BadParameter, match="would add noise to"):
        model(steps=20_000, batches=4, dimension=30_000).planned(held, loss)


@pytest.mark.parametrize(
    "wrong",
    [{"gradient": None}, {"clip": None}, {"size": None}, {"gradient": 3}, {"clip": 0.0},
     {"size": 0.0}, {"learning_rate": 0.0}, {"steps": 0}, {"dimension": 0}, {"momentum": 1.0},
     {"sample_rate": 2.0}, {"batches": 0}, {"batches": 2, "sample_rate": 0.5}],
    ids=str,
)  # fmt: skip
def test_parameters_that_no_fit_can_have_are_refused_by_themselves(wrong):
    model().check_parameters()
    words = "needs gradient, clip and size" if None in wrong.values() else "."
    with pytest.raises(dp.BadParameter, match=words):
        model(**wrong).check_parameters()


def test_only_a_fitted_model_predicts():
    made = model(dimension=2)
    with pytest.raises(NotFittedError):
        made.predict(X)
    made.theta_, made.n_features_in_ = np.array([2.0, -1.0]), 2
    assert made.predict(X).tolist() == [0.0, 2.0]
