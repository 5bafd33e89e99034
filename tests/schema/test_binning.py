"""Cells of a column: values to codes and back, whatever the values are."""
# ruff: noqa: DTZ901  (timestamps have no time zone here)

import datetime as dt
import decimal
import math
import sys

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from deniable.errors import BadParameter, MissingBounds
from deniable.schema import Column, bounds, column, keys
from deniable.schema.binning import Grid, Intervals, Listed
from deniable.schema.edges import between, binning_of, magnitudes

DAY, NOON = dt.date(2020, 2, 29), dt.datetime.fromisoformat("2020-02-29T12:00:00.000001")
HALF = "half-octaves"
LISTED = [
    keys(["b", "a", "missing", "(missing)"]),
    keys([7, -3, 2**63 - 1]),
    keys([True, False]),
    keys([DAY, dt.date(1, 1, 1)]),
    keys([NOON, dt.datetime.min, dt.datetime.max]),
    column("bool", missing="drop"),
]

ends = st.floats(-1e300, 1e300).map(lambda x: x + 0.0)
wholes = st.integers(-(2**63), 2**63 - 1)


@st.composite
def ranged(draw):
    """Cells between bounds, of every kind and arrangement, however extreme the bounds."""
    kind = draw(st.sampled_from(["int", "float", "date", "timestamp"]))
    pick = {
        "int": wholes,
        "float": ends,
        "date": st.dates(),
        "timestamp": st.datetimes(),
    }[kind]
    low, high = sorted(draw(st.lists(pick, min_size=2, max_size=2, unique=True)))
    counts = st.integers(1, 40)
    arrangements = [counts, st.none()]
    if kind in ("int", "float"):
        arrangements.append(st.just(HALF))
    inner = draw(st.lists(pick, max_size=5, unique=True))
    within = sorted({*(e for e in inner if low < e < high), low, high})
    if kind != "int" or all(abs(e) < 2**53 for e in within):
        arrangements.append(st.just(within))
    missing, null = draw(
        st.sampled_from([("drop", "drop"), ("drop", "own"), ("drop", None), (low, None)])
    )
    facts = Column(type=kind, low=low, high=high, missing=missing)
    try:
        return binning_of(facts, bins=draw(st.one_of(arrangements)), null=null)
    except BadParameter:  # the bounds are too close together for so many cells
        return binning_of(facts, bins=1, null=null)


@st.composite
def grids(draw):
    """Cells by arithmetic, of floats and of whole numbers."""
    if draw(st.booleans()):
        low, size = draw(st.integers(-(2**53), 2**52)), draw(st.integers(1, 300))
        return Grid(type="int", low=low, high=low + size - 1, cells=size, whole=True)
    if draw(st.booleans()):
        low, high = sorted(draw(st.lists(wholes, min_size=2, max_size=2, unique=True)))
        return Grid(type="int", low=low, high=high, cells=min(1 + (high - low) // 4, 300))
    low = draw(st.floats(-1e6, 1e6))
    wide = draw(st.floats(1e-3, 1e6))
    return Grid(type="float", low=low, high=low + wide, cells=draw(st.integers(1, 300)))


binnings = st.one_of(ranged(), grids(), st.sampled_from([binning_of(c) for c in LISTED]))


@given(binnings, st.floats(0, 1, exclude_max=True))
def test_what_is_decoded_is_encoded_as_it_was(cells, draw):
    codes = np.arange(cells.count)
    for place in (0.0, draw, math.nextafter(1, 0)):
        assert cells.encode(cells.decode(codes, np.full(cells.count, place))).tolist() == (
            codes.tolist()
        )


@given(binnings)
def test_labels_are_unique_and_one_per_cell(cells):
    assert len(set(cells.labels)) == len(cells.labels) == cells.count


@given(st.one_of(ranged(), grids()), st.lists(st.one_of(ends, wholes), min_size=2))
def test_edges_rise_and_larger_values_are_in_later_cells(cells, values):
    assert (np.diff(np.array(cells.edges, dtype=object)) > 0).all()
    assert cells.ordered
    first, last = cells.spans
    assert (first <= last).all()
    assert (last[:-1] < first[1:]).all()
    if cells.type == "float":
        codes = cells.encode(sorted(values))
        assert (np.diff(codes) >= 0).all()
        assert ((codes >= 0) & (codes < cells.size)).all()


@given(
    binnings,
    st.lists(
        st.one_of(
            st.none(),
            st.floats(),
            st.integers(),
            st.text(),
            st.booleans(),
            st.dates(),
            st.datetimes(),
            st.decimals(),
            st.binary(),
            st.lists(st.integers(), max_size=2),
            st.just(pd.NA),
            st.just(np.datetime64("NaT")),
            st.just(np.array([1.0])),
        )
    ),
)
def test_whatever_a_row_holds_it_has_a_code_of_its_own(cells, rows):
    """Total, and a function of one row at a time."""
    codes = cells.encode(rows)
    assert codes.tolist() == [int(cells.encode([row])[0]) for row in rows]
    assert set(codes.tolist()) <= {*range(cells.count), cells.missing}


MISSING = [None, math.nan, pd.NA, np.datetime64("NaT"), "?", [1], decimal.Decimal("NaN")]


@pytest.mark.parametrize("facts", [*LISTED, bounds(0, 9), bounds(0, 9, type="int")], ids=repr)
def test_missing_values_are_dropped_or_have_the_last_cell(facts):
    own = binning_of(facts, null="own")
    assert set(binning_of(facts).encode(MISSING).tolist()) == {-1}
    assert set(own.encode(MISSING).tolist()) == {own.count - 1}
    assert own.count == own.size + 1
    assert pd.isna(own.decode([own.size], [0.5])[0])
    assert own.encode(own.decode([own.size, 0], [0.5, 0.5])).tolist() == [own.size, 0]


def test_a_value_that_stands_in_for_missing_ones_has_its_own_cell():
    assert binning_of(keys(["a", "b"], missing="b")).encode([None, "z", "a"]).tolist() == [1, 1, 0]
    assert binning_of(bounds(0, 9, missing=9), bins=3).encode([math.nan, 1]).tolist() == [2, 0]


@pytest.mark.parametrize(
    "array",
    [
        np.array([0, 17, 18, 999]),
        np.array([0, 17, 18, 999], dtype=np.uint16),
        np.array([-0.0, 17.0, 18.0, 999.0]),
        pa.array([0, 17, 18, 999]),
        pd.Series([0, 17, 18, 999], dtype="Int64"),
        ["0", "17", "18", "999"],
    ],
)
def test_arrays_of_every_kind_are_read_alike(array):
    ages = binning_of(bounds(0, 125, type="int"), bins=[0, 18, 125])
    assert ages.encode(array).tolist() == [0, 0, 1, 1]


def test_fractions_are_not_whole_numbers_and_values_beyond_64_bits_are_missing():
    ages = binning_of(bounds(0, 125, type="int"), bins=2, null="own")
    for array in ([1.5, 1e30, math.inf, 2**70], np.array([1.5, 1e30, math.inf, math.nan])):
        assert ages.encode(array).tolist() == [2] * 4
    assert ages.encode(np.array([2**63], dtype=np.uint64)).tolist() == [2]
    for ends in ([-(2.0**63), 2.0**63], np.array([-(2.0**63), 2.0**63])):
        assert ages.encode(ends).tolist() == [0, 2]


def test_whole_numbers_of_64_bits_are_told_apart_exactly():
    cells = binning_of(bounds(2**62, 2**62 + 3, type="int"))
    assert cells.encode([2**62 + 1, 2**62 + 2, 0, 2**63 - 1]).tolist() == [1, 2, 0, 3]
    assert cells.decode([1, 2], [0.9, 0.1]).tolist() == [2**62 + 1, 2**62 + 2]


def test_decoded_values_have_the_type_of_the_column():
    def drawn(facts, **how):
        cells = binning_of(facts, **how)
        return cells.decode([cells.size - 1], [0.5])

    assert drawn(bounds(0, 9)).dtype == np.float64
    assert drawn(bounds(0, 9, type="int")).dtype == np.int64
    assert drawn(bounds(DAY, dt.date(2021, 1, 1), type="date")).dtype == "datetime64[D]"
    late = dt.datetime.fromisoformat("2021-01-01")
    assert drawn(bounds(NOON, late, type="timestamp")).dtype == "datetime64[us]"
    assert drawn(keys(["a"])).tolist() == ["a"]
    assert drawn(keys([True])).dtype == np.bool_
    assert drawn(bounds(0, 9, type="int"), null="own").tolist() == [9]


def test_dates_are_divided_into_whole_days():
    cells = binning_of(bounds(dt.date(2020, 1, 1), dt.date(2020, 12, 31), type="date"), bins=3)
    assert cells.labels[0] == "2020-01-01 to 2020-05-01"
    found = [
        dt.date(2020, 5, 1),
        "2020-05-02",
        dt.datetime.fromisoformat("2020-05-02T23:00"),
        dt.date(1, 1, 1),
    ]
    assert cells.encode(found).tolist() == [0, 1, 1, 0]
    assert cells.encode(np.array(["2020-05-01T23", "2020-05-02"], "datetime64[s]")).tolist() == (
        [0, 1]
    )


def test_half_octaves_have_two_cells_per_doubling_and_zero_alone():
    gains = binning_of(bounds(0, 100_000, type="int"))
    assert gains.labels[:6] == ["0", "1", "2", "3", "4 to 5", "6 to 7"]
    assert gains.labels[-1] == "92682 to 100000"
    both = binning_of(bounds(-10, 10, type="int"), bins=HALF)
    assert both.labels[:5] == ["-10 to -8", "-7 to -6", "-5 to -4", "-3", "-2"]
    assert both.labels[6] == "0"
    money = binning_of(bounds(-1e6, 1e6))
    zero = money.encode([0.0])
    assert money.decode(zero, [0.9]).tolist() == [0.0]
    assert money.encode([1e-9]).tolist() == zero.tolist()
    widths = np.array(money.edges[-9:-1])
    assert widths[1:] / widths[:-1] == pytest.approx(math.sqrt(2))


@pytest.mark.parametrize(
    ("facts", "count"),
    [
        (bounds(0, 125, type="int"), 20),
        (bounds(1, 16, type="int"), 16),
        (bounds(0, 1), 20),
        (bounds(1900, 2100), 20),
        (bounds(100_000, 102_000, type="int"), 20),
        (bounds(0, 1_500_000, type="int"), 42),
    ],
    ids=repr,
)
def test_ranges_over_several_orders_of_magnitude_are_divided_by_magnitude(facts, count):
    assert binning_of(facts).count == count


def test_order_is_that_of_numbers_and_dates_and_text_has_none():
    assert binning_of(keys([1, 2, 3])).ordered
    assert not binning_of(keys([2, 1])).ordered
    assert not binning_of(keys(["a", "b"])).ordered
    assert not binning_of(keys([False, True])).ordered
    assert binning_of(bounds(0, 1)).ordered


def test_one_hot_has_a_one_per_row_and_none_for_a_dropped_row():
    cells = binning_of(keys(["a", "b"]))
    assert cells.one_hot(cells.encode(["b", "?", "a"])).tolist() == [[0, 1], [0, 0], [1, 0]]


@pytest.mark.parametrize("codes", [[2], [-2], [0.5], [[0]], ["a"]])
def test_codes_that_there_are_not_are_refused(codes):
    cells = Listed(type="text", keys=("a", "b"))
    for act in (cells.one_hot, lambda c: cells.decode(c, [0.5])):
        with pytest.raises(BadParameter):
            act(codes)


@pytest.mark.parametrize("draws", [[1.0], [-0.1], [math.nan], [0.5, 0.5], 0.5])
def test_draws_are_numbers_below_one_as_many_as_codes(draws):
    with pytest.raises(BadParameter):
        Listed(type="text", keys=("a",)).decode([0], draws)


@pytest.mark.parametrize(
    ("facts", "how"),
    [
        (bounds(0, 10), {"bins": [0, 5]}),
        (bounds(0, 10), {"bins": [5, 0, 10]}),
        (bounds(0, 10), {"bins": 0}),
        (bounds(0, 10), {"bins": 1001}),
        (bounds(0, 10), {"bins": "octaves"}),
        (bounds(0, 10), {"bins": [-5, -3, 0, 10]}),
        (bounds(0, 10, type="int"), {"bins": [0, 4.2, 4.8, 10]}),
        (bounds(DAY, DAY.replace(year=2024), type="date"), {"bins": HALF}),
        (bounds(0, 10), {"null": "cell"}),
        (keys(["a"]), {"bins": 3}),
        (column("bool"), {}),
        (keys(["a"], missing="a"), {"null": "own"}),
        (bounds(0, 10, missing=3), {"null": "drop"}),
    ],
    ids=repr,
)
def test_cells_that_cannot_be_are_refused(facts, how):
    with pytest.raises(BadParameter):
        binning_of(facts, **how)


def test_a_column_without_bounds_has_no_cells():
    with pytest.raises(MissingBounds):
        binning_of(column("float", missing="drop"))


def test_magnitudes_hold_every_float():
    cells = magnitudes()
    found = cells.encode([-math.inf, -1.0, 0.0, 1e-300, 1.0, 1.99, 2.0, 1e308, math.nan])
    assert found.tolist() == [0, 64, 96, 96, 129, 129, 130, 192, -1]


def test_a_large_column_is_encoded_at_once():
    """Without a Python loop over rows: the array's own type comes back, too."""
    rows = np.linspace(-10, 200, 10**6)
    codes = between(0.0, 125.0, type="float", bins=20).encode(rows)
    assert codes.dtype == np.int64
    assert isinstance(between(0.0, 125.0, type="float", bins=20), Intervals)
    assert codes[[0, 500_000, -1]].tolist() == [0, 15, 19]


@pytest.mark.parametrize("bins", [4, (0.0, 1.0, 5.0, 8.0)])
def test_draws_spread_real_numbers_evenly_over_their_cell(bins):
    cells = binning_of(bounds(0.0, 8.0, missing="drop"), bins=bins)
    for code in range(cells.size):
        first, last = cells.spans[0][code], cells.spans[1][code]
        draws = np.linspace(0, 1, 21)[:-1]
        found = cells.decode(np.full(20, code), draws)
        assert found == pytest.approx(first + draws * (last - first), abs=1e-12)
        assert found[0] == first
        assert (np.diff(found) > 0).all()


@pytest.mark.parametrize(("bins", "widest"), [(1, sys.float_info.max), (2, 8e307), (7, 8e307)])
def test_draws_lie_within_their_cell_also_where_its_width_is_beyond_the_floats(bins, widest):
    cells = between(-widest, widest, type="float", bins=bins)
    draws = np.array([0.0, 1e-9, 0.25, 0.5, 0.75, math.nextafter(1, 0)])
    for code in range(cells.size):
        found = cells.decode(np.full(6, code), draws)
        assert (cells.encode(found.tolist()) == code).all()
        assert (np.diff(found) > 0).all()
