"""Columns as cells and as numbers: the same in an engine and in a frame, by public facts alone."""

import datetime as dt
from contextlib import ExitStack
from fractions import Fraction
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest

import deniable as dp
from deniable.learn import encoding as module
from deniable.learn.encoding import (
    Encoding,
    Numbers,
    Read,
    all_features,
    by_value,
    cells_of,
    drops,
    encoded,
    finer,
    read_rows,
)
from deniable.query.rows import Number
from deniable.schema.binning import Listed
from deniable.schema.edges import binning_of
from deniable.sensitive import compute
from deniable.statistics.building import About

COLUMNS = {
    "place": dp.bounds(0, 7, type="int"),
    "age": dp.bounds(10, 125, type="int"),
    "pay": dp.bounds(-201.0, 5000.0),
    "rent": dp.bounds(1.0, 9.0, missing=3.0),
    "kind": dp.keys(["b", "a", "c"]),
    "on": dp.column("bool"),
    "day": dp.bounds(dt.date(2020, 1, 1), dt.date(2020, 12, 31), type="date"),
}
TABLE = pd.DataFrame(
    {
        "place": range(8),
        "age": pd.array([10, None, 125, 40, 41, 9, 300, 77], dtype="Int64"),
        "pay": [0.0, -3.5, 4999.0, np.nan, 17.25, 1e9, -1e9, 300.0],
        "rent": [1.5, np.nan, 9.0, 3.0, 2.0, 100.0, -1.0, 8.75],
        "kind": ["a", "b", "c", None, "z", "a", "b", "c"],
        "on": pd.array([True, False, None, True, False, True, True, False], dtype="boolean"),
        "day": [dt.date(2020, month, 5) for month in range(1, 9)],
    }
)
FEATURES = ["age", "pay", "rent", "kind", "on", "day"]


@pytest.fixture(scope="module")
def about():
    facts = dp.Schema(columns=COLUMNS)
    return About(session=dp.open(TABLE, unit=dp.rows(), budget=dp.mu(1.0), schema=facts))


def matrix_of(rows):
    """All rows, as only a session may see them."""
    value = rows.then(lambda matrix: matrix, l2=1.0, shape=())
    with ExitStack() as ready:
        for each in value.ready:
            ready.enter_context(each)
        return compute(value)


def stated(**columns):
    """A table of which only public facts are known."""
    return SimpleNamespace(
        source=SimpleNamespace(columns=columns, column=lambda name: columns[name])
    )


def test_an_engine_finds_the_cells_that_a_frame_has(about):
    made = encoded(about, FEATURES)
    assert made.names == (*FEATURES, "pay"), "pay is there twice: coarse and fine"
    assert made.bins[-1].count > made.bins[1].count
    columns = dict(zip(made.names, made.bins, strict=True))
    rows, read = read_rows(about, columns, numbers={"place": about.number("place", what="x")})
    matrix = matrix_of(rows)
    order = read.whole(matrix, read.columns["place"][0])
    assert sorted(order) == list(range(8))
    assert read.cells(matrix, made).tolist() == made.packed(TABLE)[:, order].tolist()
    rows, read = read_rows(about, columns)  # without more
    assert sorted(read.cells(matrix_of(rows), made)[0]) == sorted(made.packed(TABLE)[0])


def test_what_is_missing_has_a_cell_unless_a_value_stands_in(about):
    made = encoded(about, FEATURES)
    codes = made.space.codes(made.packed(TABLE))
    missing = [cells.missing for cells in made.bins]
    for place, name in enumerate(made.names):
        gone = {"age": [1], "pay": [3], "kind": [3, 4], "on": [2]}.get(name, [])
        if name == "rent":
            assert codes[place][1] == codes[place][3]
            continue
        assert missing[place] == made.bins[place].count - 1
        assert np.flatnonzero(codes[place] == missing[place]).tolist() == gone
    assert [drops(about, name) for name in FEATURES] == [True, True, False, True, True, True]


def test_numbers_are_read_in_their_own_units_and_missing_ones_are_the_middle(about):
    names = ["age", "pay", "rent", "place"]
    numbers = {name: about.number(name, what="x") for name in names}
    rows, read = read_rows(about, {}, numbers=numbers)
    matrix = matrix_of(rows)
    assert read.columns == {"age": (0, 1), "pay": (2, 3), "rent": (4,), "place": (5, 6)}
    table, whole = read.all_values(matrix, names)
    table, whole = table[np.argsort(table[:, 3])], whole[np.argsort(table[:, 3])]
    assert table[:, 0].tolist()[:1] == [10.0]
    np.testing.assert_array_equal(table[:, 0], [10, np.nan, 125, 40, 41, 10, 125, 77])
    pay = [0, -3.5, 4999, np.nan, 17.25, 5000, -201, 300]
    np.testing.assert_allclose(table[:, 1], pay, atol=1e-3)
    np.testing.assert_allclose(table[:, 2], [1.5, 3, 9, 3, 2, 9, 1, 8.75], atol=1e-3)
    assert whole.tolist() == [True, False, True, False, *[True] * 4]
    place = read.number(matrix, 5)
    age, pay = (read.number(matrix, at) for at in (0, 2))
    assert age[place == 1] == 68, "67.5, to an even number"
    assert pay[place == 3] == pytest.approx(2399.5, abs=1e-3)
    none, all_of_them = read.all_values(matrix, [])
    assert none.shape == (8, 0)
    assert all_of_them.all()


def test_a_number_is_so_many_steps_from_its_centre():
    own = Number(measure="sum", of="", worth=Fraction(1, 4), centre=100.0, low=-9, high=9)
    flag = Number(measure="sum", of="", worth=Fraction(1), centre=0.0, low=0, high=1)
    read = Read(numbers=(own, flag), columns={"a": (0, 1), "b": (0,)})
    matrix = SimpleNamespace(points=np.array([[-3, 0], [8, 1]]))
    assert read.values(matrix, "b").tolist() == [99.25, 102.0]
    assert read.whole(matrix, 0).tolist() == [99, 102]
    np.testing.assert_array_equal(read.values(matrix, "a"), [99.25, np.nan])


def test_more_is_read_after_the_columns(about):
    more = [about.number("rent", what="x")]
    rows, read = read_rows(about, {"kind": encoded(about, ["kind"]).bins[0]}, more)
    matrix = matrix_of(rows)
    assert read.columns == {"kind": (0,)}
    assert len(read.numbers) == 2
    assert sorted(read.number(matrix, -1)) == pytest.approx([1, 1.5, 2, 3, 3, 8.75, 9, 9], abs=1e-3)


def test_only_numbers_come_by_value():
    assert [by_value(cells_of(COLUMNS[name], name)) for name in FEATURES] == [
        True, True, True, False, False, False,
    ]  # fmt: skip


def test_labels_name_the_column_and_the_cell():
    made = encoded(stated(**COLUMNS), ["kind", "on"])
    assert made.labels == [
        "kind = b", "kind = a", "kind = c", "kind = missing",
        "on = False", "on = True", "on = missing",
    ]  # fmt: skip
    assert made.space.sizes == (4, 3)
    theta = np.arange(7.0)
    frame = {"kind": ["a", None], "on": [True, False]}
    assert made.margins(frame, theta).tolist() == [1.0 + 5.0, 3.0 + 4.0]


def test_numbers_of_a_frame_are_side_by_side():
    found = Numbers(names=("b", "a")).matrix({"a": [1.0, None], "b": [3, 4], "c": [5, 6]})
    np.testing.assert_array_equal(found, [[3.0, 1.0], [4.0, np.nan]])


# ---- finer cells


def whole_edges(low, high):
    """The least whole numbers that are not below 2^(k/16), by exact integers, and 1 minus them."""
    largest, found, edge = max(abs(low), abs(high)), set(), 1
    for k in range(16 * 64):
        if 2**k >= largest**16:
            break
        while edge**16 < 2**k:
            edge += 1
        found |= {edge, 1 - edge}
    return sorted(each for each in found if low < each < high)


@pytest.mark.parametrize("missing", ["drop", 7])
@pytest.mark.parametrize(
    ("low", "high"), [(0, 5000), (-5000, 300), (-300, 5000), (-1024, 1024), (2, 3000), (-9000, -3)]
)
def test_whole_numbers_are_told_apart_by_sixteenths_of_an_octave(low, high, missing):
    missing = missing if missing == "drop" or low <= 7 <= high else "drop"
    column = dp.bounds(low, high, type="int", missing=missing)
    (made,) = finer(column)
    inner = whole_edges(low, high)
    assert list(made.edges[1:-1]) == inner
    cells = np.searchsorted(inner, values := np.arange(low, high + 1), side="right")
    assert made.encode(values).tolist() == cells.tolist()
    assert made.size == len(inner) + 1
    assert made.missing == (made.size if missing == "drop" else made.encode([7])[0])


@pytest.mark.parametrize(("low", "high"), [(0.0, 5000.0), (-5000.0, 300.0), (-0.5, 1500.0)])
def test_floats_are_told_apart_down_to_a_millionth_of_the_largest(low, high):
    (made,) = finer(dp.bounds(low, high))
    largest = max(-low, high)
    powers = largest * 2.0 ** (np.arange(320) / 16 - 20)
    sides = np.sort(np.concatenate([-powers, powers]))
    wanted = sides[(sides > low) & (sides < high)]
    assert np.array(made.edges[1:-1]) == pytest.approx(wanted, rel=1e-12)


@pytest.mark.parametrize(
    "column",
    [dp.bounds(0, 900, type="int"), dp.bounds(0.0, 900.0), dp.keys([1, 5000]), dp.column("float"),
     dp.bounds(dt.date(1900, 1, 1), dt.date(2100, 1, 1), type="date")],
    ids=range(5),
)  # fmt: skip
def test_other_columns_have_no_finer_cells(column):
    assert finer(column) == []


def test_finer_cells_are_left_out_where_there_would_be_too_many(monkeypatch):
    columns = {"a": dp.bounds(0, 5000, type="int"), "b": dp.keys([1, 2, 3])}
    both = encoded(stated(**columns), ["a", "b"])
    assert both.names == ("a", "b", "a")
    assert both.bins[0] == binning_of(columns["a"], bins="half-octaves", null="own")
    assert [both.bins[2]] == finer(columns["a"])
    monkeypatch.setattr(module, "_MOST", both.space.dimension)
    assert encoded(stated(**columns), ["a", "b"]) == both
    monkeypatch.setattr(module, "_MOST", both.space.dimension - 1)
    assert encoded(stated(**columns), ["a", "b"]) == Encoding(names=("a", "b"), bins=both.bins[:2])


# ---- refusals


@pytest.mark.parametrize("kind", ["int", "float", "text", "date"])
def test_a_column_of_which_nothing_is_known_has_no_cells(kind):
    with pytest.raises(dp.MissingBounds, match="neither bounds nor keys"):
        cells_of(dp.column(kind), "x")
    assert isinstance(cells_of(dp.column("bool"), "x"), Listed)


def test_features_are_all_columns_with_cells_but_the_target_and_who():
    columns = {**COLUMNS, "who": dp.bounds(0, 9, type="int"), "note": dp.column("text")}
    session = SimpleNamespace(unit=dp.person("who", rows=2))
    wanted = ["place", "age", "pay", "rent", "day"]
    assert all_features(stated(**columns), "kind", session) == wanted
    alone = SimpleNamespace(unit=dp.rows())
    assert all_features(stated(**columns), None, alone) == [
        "place", "age", "pay", "rent", "kind", "day", "who",
    ]  # fmt: skip
    with pytest.raises(dp.MissingBounds, match="no column has bounds or keys"):
        all_features(
            stated(who=columns["who"], kind=columns["kind"], note=columns["note"]), "kind", session
        )
