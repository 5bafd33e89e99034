"""Examples from columns of a table, as formulas of the docstrings make them of a frame."""

import datetime as dt
from functools import partial

import numpy as np
import pandas as pd
import pytest
from tests.learn import told

import deniable as dp
from deniable.learn.encoding import Read
from deniable.learn.from_table import (
    as_number,
    classified,
    needed,
    needed_whole,
    numbered,
    regressed,
)
from deniable.statistics.building import About

ROWS = 6
FRAME = pd.DataFrame(
    {
        "who": [1, 1, 1, 2, 3, 4],
        "place": [0.0, 1.0, 2.0, 3.0, 4.0, 5.0],
        "size": [2.0, np.nan, 10.0, 4.0, 1e9, -5.0],
        "label": ["b", "a", "c", None, "z", "a"],
        "flag": [True, False, True, True, False, False],
        "day": [dt.date(2020, 1, 1)] * ROWS,
    }
)
COLUMNS = {
    "who": dp.column("int"),
    "place": dp.bounds(0.0, 5.0),
    "size": dp.bounds(2.0, 10.0),
    "label": dp.keys(["c", "a", "b"]),
    "flag": dp.column("bool"),
    "day": dp.bounds(dt.date(2020, 1, 1), dt.date(2021, 1, 1), type="date"),
    "note": dp.column("text"),
}
UNITS = {"rows": dp.rows(), "people": dp.person("who", rows=2)}


def about(unit="rows", frame=FRAME, **columns):
    facts = dp.Schema(columns={**COLUMNS, **columns})
    frame = frame.assign(note=["x"] * len(frame))
    return About(session=dp.open(frame, unit=UNITS[unit], budget=dp.mu(1.0), schema=facts))


def weights(rows, order, unit):
    """None where rows are units; else in units of 2⁻²⁰, at most two rows of each person."""
    if unit == "rows":
        assert rows.w is None
        return
    found = rows.w[order] / 2**20
    assert found[:3].sum() <= 2
    assert (found[3:] == 1).all()


@pytest.mark.parametrize("unit", UNITS)
def test_classes_are_numbered_in_order_and_others_are_none(unit):
    table = about(unit)
    held, encoding, classes = classified(table.session, table, "label", ["place", "flag"])
    assert classes.tolist() == ["a", "b", "c"]
    rows = told.examples(held)
    codes = encoding.space.codes(rows.x)
    order = np.argsort(codes[0])
    assert rows.y[order].tolist() == [1, 0, 2, -1, -1, 0]
    assert codes[1][order].tolist() == [1, 0, 1, 1, 0, 0]
    weights(rows, order, unit)
    assert held.needs == ()


@pytest.mark.parametrize("unit", UNITS)
def test_targets_are_scaled_to_their_bounds_and_missing_ones_left_out(unit):
    table = about(unit)
    held, encoding, ends = regressed(table.session, table, "size", ["place"])
    assert ends == (2.0, 10.0)
    assert held.needs == ("size",)
    rows = told.examples(held)
    order = np.argsort(encoding.space.codes(rows.x)[0])
    assert rows.y[order].tolist() == [-(2**16), 2**16, -(2**15), 2**16, -(2**16)]
    if unit == "rows":
        assert rows.w is None
    else:
        assert (rows.w[order][2:] == 2**20).all()


@pytest.mark.parametrize(
    ("low", "high"), [(-3.0, 9.0), (0.0, 5e-324), (1e15, 1e15 + 0.25), (1e16, 1e16 + 2)]
)
def test_targets_stay_within_their_bounds_however_near_these_are(low, high):
    frame = FRAME.assign(size=[low, high, low / 2 + high / 2, high, low, high])
    table = about(frame=frame, size=dp.bounds(low, high))
    held, *_ = regressed(table.session, table, "size", ["place"])
    found = told.examples(held).y
    assert (np.abs(found) <= 2**16).all()
    assert len(found) == ROWS
    if high == 9.0:  # others are told apart by less than a step of the lattice
        assert sorted(found) == pytest.approx([-(2**16)] * 2 + [0] + [2**16] * 3, abs=1)


def test_a_target_of_one_number_is_always_the_middle():
    table = about(frame=FRAME.assign(size=[5] * ROWS), size=dp.keys([5]))
    held, _, ends = regressed(table.session, table, "size", ["place"])
    assert ends == (5.0, 5.0)
    assert told.examples(held).y.tolist() == [0] * ROWS


@pytest.mark.parametrize("unit", UNITS)
@pytest.mark.parametrize("labels", [True, False])
@pytest.mark.parametrize("intercept", [True, False])
def test_numbers_are_scaled_by_the_bounds_of_the_schema(unit, labels, intercept):
    table = about(unit)
    target = "label" if labels else None
    held, numbers, scaled, classes = numbered(
        table.session, table, target, ["place", "size"], labels=labels, intercept=intercept
    )
    assert numbers.names == ("place", "size")
    assert classes.tolist() == (["a", "b", "c"] if labels else [])
    assert (scaled.low.tolist(), scaled.high.tolist()) == ([0, 2], [5, 10])
    assert scaled.intercept == intercept
    assert held.needs == ("place", "size")
    rows = told.examples(held)
    order = np.argsort(rows.x[:, 0])
    kept = [0, 2, 3, 4, 5]  # the second has no size
    wanted = scaled.rows(FRAME[["place", "size"]].to_numpy()[kept])
    assert np.abs(rows.x[order].astype(int) - wanted).max() <= 1
    assert rows.y[order].tolist() == ([1, 2, -1, -1, 0] if labels else [0] * 5)
    assert (rows.w is None) == (unit == "rows")


@pytest.mark.parametrize("made", [classified, partial(numbered, labels=True)])
def test_a_label_beyond_the_classes_is_none_of_them_and_no_failure(made, monkeypatch):
    """A failure for the row of one person would be an answer."""
    table = about()
    for code, wanted in {-7: 2, 0: 2, 1: 0, 2: 1, 3: -1, 4: -1, 99: -1}.items():
        codes = lambda read, matrix, place, code=code: np.full(len(matrix.points), code)  # noqa: E731
        monkeypatch.setattr(Read, "whole", codes)
        rows = told.examples(made(table.session, table, "label", ["place"])[0])
        assert rows.y.tolist() == [wanted] * ROWS


def test_labels_are_a_list_of_two_or_more():
    table = about(label=dp.keys(["a"]))
    with pytest.raises(dp.BadParameter, match="one class"):
        classified(table.session, table, "label", ["place"])
    with pytest.raises(dp.UnknownKeys, match="no list of classes"):
        classified(table.session, table, "size", ["place"])
    two = about(label=dp.keys(["a", "b"]))
    assert classified(two.session, two, "label", ["place"])[2].tolist() == ["a", "b"]


def test_a_target_must_be_said_and_a_likely_one_is_suggested():
    table = about("people")
    assert needed("size", table) == "size"
    for classes, likely in ((True, "label"), (False, "day")):
        with pytest.raises(dp.BadParameter, match="missing target=") as error:
            needed(None, table, classes=classes)
        assert f'target="{likely}"' in str(error.value)
    whose = about("people", who=dp.keys([1, 2]), label=dp.column("text"))
    with pytest.raises(dp.BadParameter, match="a column with keys or bounds"):
        needed(None, whose)


def test_only_columns_that_drop_rows_are_needed_whole():
    table = about(size=dp.bounds(2.0, 10.0, missing=3.0))
    assert needed_whole(table, ["place", "size", "label"]) == ["place", "label"]


def test_keys_and_texts_are_no_numbers():
    table = about()
    assert as_number(table, "size").domain.high == 10
    for name in ("label", "note", "flag"):
        with pytest.raises(dp.BadParameter, match="reads this feature as a number"):
            as_number(table, name)
    with pytest.raises(dp.DeniableError) as error:
        as_number(table, "day")
    assert "reads this feature" not in str(error.value)
