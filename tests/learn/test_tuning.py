"""What s.select declares of its scores, and what s.tune pays for, by public facts."""

from contextlib import nullcontext
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest

import deniable as dp
from deniable.learn import LogisticRegression, StandardScaler, selecting
from deniable.sensitive import compute

UNITS = {
    "rows": (dp.rows(), 1),
    "replaced": (dp.rows(relation="replace"), 2),
    "people": (dp.person("who", rows=3), 3),
    "people replaced": (dp.person("who", rows=3, relation="replace"), 6),
}


@pytest.mark.parametrize("name", UNITS)
def test_a_unit_moves_each_score_by_all_of_its_rows_on_both_sides(name, monkeypatch):
    unit, moved = UNITS[name]
    declared, drawn = {}, SimpleNamespace(value=2)

    def then(function, **given):
        declared.update(given, function=function)
        return dp.Sensitive(lambda: [0, 0, 0], unit=unit, **given)

    read = SimpleNamespace(rows=SimpleNamespace(then=then), frame=lambda matrix: ("frame", "y"))
    session = SimpleNamespace(
        unit=unit, spending=lambda spend: spend, release=lambda *_, **__: drawn
    )
    monkeypatch.setattr(selecting, "About", lambda **_: None)
    monkeypatch.setattr(selecting.Columns, "of", staticmethod(lambda *_: read))
    monkeypatch.setattr(selecting, "_check_model", lambda *_: None)
    monkeypatch.setattr(selecting, "offering", lambda *_: nullcontext())
    monkeypatch.setattr(selecting, "_score", lambda model, frame, wanted, of, weights: weights or 7)
    models = [SimpleNamespace(feature_names_in_=("x",)) for _ in range(3)]
    assert selecting.select(session, models, target="y", spend=dp.mu(1.0)) is models[2]
    most = moved * 2**16
    assert (declared["linf"], declared["whole"], declared["shape"]) == (most, True, 3)
    assert most * 3**0.5 < declared["l2"] < most * 3**0.5 * (1 + 2.0**-48)
    scores = declared["function"](SimpleNamespace(weights=5))
    assert scores.tolist() == [5 if "people" in name else 7] * 3
    choice = selecting._choice(dp.mu(1.0), session)
    assert (choice.sensitivity, choice.monotonic) == (most, "replaced" not in name)


def opened(budget):
    x = np.linspace(0, 1, 60)
    frame = pd.DataFrame({"x": x, "y": np.where(x > 0.5, "yes", "no")})
    facts = dp.Schema(columns={"x": dp.bounds(0, 1), "y": dp.keys(["no", "yes"])})
    return dp.open(frame, unit=dp.rows(), budget=budget, schema=facts)


def test_all_fits_and_the_choice_are_afforded_before_the_first_is_paid_for():
    """Of μ = 1, 0.6 is left, which pays for the first fits of a tuning for 0.9."""
    session = opened(dp.mu(1.0))
    session.fit(StandardScaler(), features=["x"], spend=dp.mu(0.8))
    with pytest.raises(dp.BudgetExceeded):
        session.tune([LogisticRegression(steps=1)] * 3, target="y", spend=dp.mu(0.9))
    assert len(session.ledger.entries) == 1


def test_what_is_due_is_the_price_of_every_fit_and_of_the_choice():
    rule = opened(dp.mu(1.0)).ledger.filter
    session = opened(dp.mu(1.0))
    assert rule.admits(selecting._due(session, 3, dp.mu(1.0)))
    assert not rule.admits(selecting._due(session, 3, dp.mu(1.01)))


def test_columns_are_those_that_models_name_or_all_that_can_be_features():
    session = opened(dp.mu(1.0))
    about = selecting.About(session=session, table=None)
    named = SimpleNamespace(feature_names_in_=("b", "a"))
    encoded = SimpleNamespace(encoding_=SimpleNamespace(names=("c", "a")), feature_names_in_=("z",))
    assert selecting._names([named, encoded], about, "y", session) == ["b", "a", "c"]
    assert selecting._names([SimpleNamespace(), named], about, "y", session) == ["x", "b", "a"]


@pytest.mark.parametrize("unit", [dp.rows(), dp.person("who", rows=9)])
def test_models_are_given_the_values_of_rows_and_judged_by_their_target(unit):
    day = pd.to_datetime(["2020-03-05", "2020-11-05", "2020-03-06"]).date
    frame = pd.DataFrame(
        {"who": [1, 2, 3], "x": [0.25, np.nan, 1.0], "kind": ["b", None, "z"], "day": day}
    )
    columns = {
        "who": dp.column("int"), "x": dp.bounds(0, 1), "kind": dp.keys(["a", "b"]),
        "day": dp.bounds(day[0].replace(month=1), day[1].replace(month=12), type="date"),
    }  # fmt: skip
    session = dp.open(frame, unit=unit, budget=dp.mu(1.0), schema=dp.Schema(columns=columns))
    about = selecting.About(session=session, table=None)
    found = selecting.Columns.of(about, ["kind", "day"], "x")
    value = found.rows.then(found.frame, l2=1.0, shape=())
    with value.ready[0]:
        rows, target = compute(value)
    order = np.argsort(np.nan_to_num(target, nan=0.5))
    np.testing.assert_allclose(target[order], [0.25, np.nan, 1.0], atol=1e-6)
    kinds = rows["kind"].to_numpy()[order]
    assert (kinds[0], pd.isna(kinds[1:]).tolist()) == ("b", [True, True])
    months = pd.to_datetime(rows["day"]).dt.month.to_numpy()[order]
    assert np.abs(months - [3, 11, 3]).max() <= 1


@pytest.mark.parametrize(
    ("count", "delta"), [(9, 8.01156e-9), (39, 6.7820394e-6), (26, 3.3437e-10)]
)
def test_equal_shares_of_delta_never_add_up_to_more_than_the_whole(count, delta):
    spend = dp.epsilon(1.0, delta=delta)
    _, each = selecting._shares(spend, count)
    total = sum([each] * (count - 1), start=each)
    assert delta * (1 - 1e-9) < total.delta <= spend.delta


def test_made_up_keys_are_of_the_type_that_keys_of_rows_have():
    """Objects, as one of them may be missing."""
    cells = {name: selecting.cells_of(dp.keys([1, 2, 3]), name) for name in ("k", "y")}
    found = selecting.Columns(cells=cells, target="y", rows=None, read=None).made_up(3)
    assert found["k"].dtype == object
    assert found["k"].tolist() == [1, 2, 3]


def test_what_has_no_predictions_is_no_fitted_model():
    with pytest.raises(dp.BadParameter, match="fitted models"):
        selecting._check_model(1, None)
