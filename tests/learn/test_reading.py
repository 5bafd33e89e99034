"""Arrays and frames to learn from: no row decides how another row is read, or stops a fit."""

import datetime as dt
from decimal import Decimal

import numpy as np
import pandas as pd
import polars as pl
import pytest

import deniable as dp
from deniable.audit import replay
from deniable.learn import GaussianNB, GradientBoosting, LogisticRegression, Ridge, StandardScaler

PRIVACY = {"epsilon": 1.0, "delta": 1e-6, "bounds": (-1, 1)}
BIG = 2**53
ODD = [None, "x", "0", b"1", 1j, [1], {"a": 1}, float("nan"), 10**400, dt.date(2020, 1, 1), pd.NA]
ODD += [Decimal("NaN"), np.array([1.0]), object, True, np.float32(1)]


def _objects(cells):
    made = np.empty(len(cells), dtype=object)
    made[:] = cells
    return made


FORMS = {
    "list": list,
    "tuple": tuple,
    "array": _objects,
    "Series": lambda cells: pd.Series(cells, dtype=object),
    "Polars": lambda cells: pl.Series(cells, dtype=pl.Object),
}


def moved(make, X, y, more):
    """Whether one row more moves what is learnt from no further than declared."""
    with_it = (*X, *more[0]), (*y, *more[1])
    return replay(lambda data: make(*data).loss_, (X, y), with_it)


CLASSES = {
    "whole": ([0, 1], [0, 1]),
    "floats": ([0, 1], [0.0, 1.0]),
    "truths": ([0, 1], [False, True]),
    "large": ([BIG, BIG + 1], [BIG, BIG + 1]),
    "texts": (["None", "b"], ["None", "b"]),
}


@pytest.mark.parametrize("odd", ODD, ids=repr)
@pytest.mark.parametrize(
    ("form", "kind"),
    [
        *(("list", kind) for kind in CLASSES),
        *((form, "truths") for form in FORMS if form != "list"),
    ],
)
def test_no_label_decides_how_the_others_are_read(form, kind, odd):
    classes, labels = CLASSES[kind]

    def make(X, y):
        model = GaussianNB(**PRIVACY, classes=classes)
        return model.fit(np.array(X).reshape(-1, 1), FORMS[form](list(y)))

    found = moved(make, (0.5,) * 20, tuple(labels * 10), ((0.5,), (odd,)))
    assert found.ok, found


@pytest.mark.parametrize("model", [LogisticRegression, GradientBoosting])
@pytest.mark.parametrize("odd", [None, "x", True])
def test_all_classifiers_read_labels_one_by_one(model, odd):
    def make(X, y):
        return model(**PRIVACY, classes=[0, 1]).fit(np.array(X).reshape(-1, 1), list(y))

    found = moved(make, (0.5,) * 20, (0.0, 1.0) * 10, ((0.5,), (odd,)))
    assert found.ok, found


@pytest.mark.parametrize("odd", ODD, ids=repr)
@pytest.mark.parametrize("form", FORMS)
def test_no_target_decides_how_the_others_are_read(form, odd):
    def make(X, y):
        model = Ridge(**PRIVACY, target_bounds=(0, 1))
        return model.fit(np.array(X).reshape(-1, 1), FORMS[form](list(y)))

    found = moved(make, (1.0,) * 20, (True,) * 20, ((1.0,), (odd,)))
    assert found.ok, found


TABLES = {
    "lists": lambda cells: [[cell, 0.0] for cell in cells],
    "array": lambda cells: np.stack([_objects(cells), np.zeros(len(cells))], axis=1),
    "pandas": lambda cells: pd.DataFrame({"a": pd.Series(cells, dtype=object), "b": 0.0}),
    "Polars": lambda cells: pl.DataFrame(
        {"a": pl.Series(cells, dtype=pl.Object), "b": [0.0] * len(cells)}
    ),
}


@pytest.mark.parametrize("odd", ODD, ids=repr)
@pytest.mark.parametrize("form", TABLES)
def test_no_cell_stops_a_fit_or_changes_another_row(form, odd):
    def make(X, _):
        return StandardScaler(**PRIVACY).fit(TABLES[form](list(X)))

    found = moved(make, (0.5, True) * 10, (), ((odd,), ()))
    assert found.ok, found


def test_a_complex_array_has_the_numbers_of_a_real_one():
    X = np.array([[0.5], [1.0]] * 20)
    odd = np.vstack([X, [[1j]]])
    found = replay(lambda rows: StandardScaler(**PRIVACY).fit(rows).loss_, X, odd)
    assert found.ok, found


@pytest.mark.parametrize(
    ("X", "y"),
    [
        ([0.123, 0.456], [0, 1]),
        ([[0.123], [0.456]], [0]),
        ([[0.123], [0.456, 1.0]], [0, 1]),
        (np.full((2, 2, 2), 0.123), [0, 1]),
        ([[0.123], [0.456]], [[0.123, 0.456]]),
        ([[0.123], [0.456]], np.full((2, 2), 0.123)),
    ],
)
def test_errors_of_shape_quote_no_value(X, y):
    model = LogisticRegression(**PRIVACY, classes=[0, 1])
    with pytest.raises(ValueError, match=r"array|rows|dim") as error:
        model.fit(X, y)
    assert ".123" not in str(error.value)
    assert model.spent == dp.mu(0.0)


@pytest.mark.parametrize("classes", [[0, "a"], [b"a", b"b"], [None, 1]], ids=str)
def test_classes_are_all_numbers_or_all_texts(classes):
    with pytest.raises(dp.BadParameter, match="classes"):
        LogisticRegression(**PRIVACY, classes=classes).fit([[0.5]], [0])


@pytest.mark.parametrize(
    ("frame", "error"),
    [
        (pd.DataFrame({"z": [1]}), dp.UnknownName),
        (pd.DataFrame(), dp.UnknownName),
        (pl.DataFrame({"z": [1]}), dp.UnknownName),
        (pl.DataFrame({"z": [1]}).to_arrow(), dp.UnknownName),
        ({"z": [1]}, dp.UnknownName),
        ([[1]], dp.BadParameter),
        (5, dp.BadParameter),
        (None, dp.BadParameter),
        ({"a": 3}, dp.BadParameter),
    ],
    ids=range(9),
)
def test_predictions_say_what_frame_they_need(frame, error):
    facts = dp.Schema(columns={"a": dp.bounds(0, 9), "t": dp.keys([0, 1])})
    rows = pd.DataFrame({"a": [1.0] * 9, "t": [0] * 9})
    session = dp.open(rows, unit=dp.rows(), budget=dp.mu(1.0), schema=facts)
    model = session.fit(LogisticRegression(steps=1), target="t", spend=dp.mu(1.0))
    with pytest.raises(error):
        model.predict(frame)
