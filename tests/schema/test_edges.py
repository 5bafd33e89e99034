"""Where cells lie, against exact arithmetic: equal widths, half-octaves, given edges."""

import datetime as dt
import math
from fractions import Fraction

import mpmath
import pytest

import deniable as dp
from deniable.errors import BadParameter, MissingBounds
from deniable.schema.edges import between, binning_of, magnitudes

WIDE = 1.7e308


@pytest.mark.parametrize(("low", "high"), [(0, 125), (-7, 3), (5, 5), (-(2**60), 2**60), (10, 29)])
@pytest.mark.parametrize("count", [1, 2, 3, 7, 20, 999])
def test_whole_numbers_are_shared_out_evenly(low, high, count):
    edges = between(low, high, type="int", bins=count).edges
    span = high - low + 1
    cells = min(count, span)
    assert len(edges) == cells + 1
    assert (edges[0], edges[-1]) == (low, high + 1)
    assert {type(edge) for edge in edges} == {int}
    assert edges == tuple(low + math.ceil(Fraction(span * i, cells)) for i in range(cells + 1))


@pytest.mark.parametrize(
    ("low", "high"),
    [(0.0, 1.0), (-3.5, 10.25), (1e-300, 2e-300), (-WIDE / 2, WIDE / 2), (0.0, WIDE), (-WIDE, 1.0)],
)
@pytest.mark.parametrize("count", [1, 3, 20, 1000])
def test_real_cells_have_equal_width(low, high, count):
    edges = between(low, high, type="float", bins=count).edges
    assert len(edges) == count + 1
    assert (edges[0], edges[-1]) == (low, high)
    for i, edge in enumerate(edges):
        truth = Fraction(low) + (Fraction(high) - Fraction(low)) * i / count
        assert abs(Fraction(edge) - truth) <= Fraction(max(abs(low), abs(high))) / 2**50


@pytest.mark.parametrize("count", [0, 1001, 2.5])
def test_cells_are_one_to_a_thousand(count):
    with pytest.raises(BadParameter):
        between(0, 10, type="float", bins=count)
    assert between(0, 10.0, type="float", bins=1000).size == 1000


@pytest.mark.parametrize(
    ("low", "high"), [(0, 20), (-20, 20), (-9, 3), (5, 100), (-100, -5), (0, 1)]
)
def test_whole_half_octaves_begin_at_powers_of_root_two_rounded_up(low, high):
    edges = between(low, high, type="int", bins="half-octaves").edges
    roots = {next(n for n in range(1, 999) if n * n >= 2**k) for k in range(15)}
    wanted = {e for r in roots for e in (r, 1 - r) if low < e <= high}
    assert edges == (low, *sorted(wanted), high + 1)


@pytest.mark.parametrize(
    ("low", "high"),
    [(0.0, 1.0), (0.0, 1.5), (-3.0, 100.0), (4.0, 4096.0), (-8.0, -0.001), (0.0, 3e-300)],
)
def test_real_half_octaves_are_powers_of_root_two_down_to_a_millionth(low, high):
    cells = between(low, high, type="float", bins="half-octaves")
    assert (cells.edges[0], cells.edges[-1]) == (low, high)
    assert list(cells.edges) == sorted(set(cells.edges))
    assert cells.zero == (low <= 0 <= high)
    largest = max(-low, high)
    top = math.frexp(largest)[1]
    inner = [e for e in cells.edges if low < e < high]
    with mpmath.workdps(40):
        wanted = set()
        for k in range(2 * top - 40, 2 * top + 1):
            power = float(mpmath.sqrt(2) ** k)
            wanted |= {e for e in (power, -power) if low < e < high}
    assert len(inner) == len(wanted)
    for found, truth in zip(inner, sorted(wanted), strict=True):
        assert found == pytest.approx(truth, rel=1e-15)


def test_other_words_and_moments_have_no_half_octaves():
    with pytest.raises(BadParameter, match="half-octaves"):
        between(0, 10, type="int", bins="octaves")
    for kind in ("date", "timestamp"):
        with pytest.raises(BadParameter, match=f"a {kind} has no half-octaves"):
            between(0, 10, type=kind, bins="half-octaves")


@pytest.mark.parametrize("edges", [[], [1], [1, 1], [2, 1], [0, 5, 5, 10], [0, 6, 5, 10]])
def test_edges_are_at_least_two_in_increasing_order(edges):
    with pytest.raises(BadParameter, match="increasing"):
        between(0, 10, type="float", bins=edges)


@pytest.mark.parametrize("edges", [[0.5, 10], [0, 9.5], [1, 9], [11, 12]])
def test_edges_cover_the_bounds(edges):
    with pytest.raises(BadParameter, match="cover the bounds, 0 to 10"):
        between(0, 10, type="float", bins=edges)


@pytest.mark.parametrize("edges", [[0, 10], [-5, 3.5, 12], (0, 1, 10)])
def test_edges_are_kept_as_they_are_given(edges):
    assert between(0, 10, type="float", bins=edges).edges == tuple(edges)


def test_edges_of_moments_are_moments():
    column = dp.bounds(dt.date(2024, 1, 1), dt.date(2024, 12, 31), type="date", missing="drop")
    days = [dt.date(2024, 1, 1), dt.date(2024, 7, 1), dt.date(2025, 1, 1)]
    cells = binning_of(column, bins=days)
    found = cells.encode([dt.date(2024, 6, 30), dt.date(2024, 7, 1), dt.date(2024, 12, 31), None])
    assert found.tolist() == [0, 1, 1, -1]
    with pytest.raises(BadParameter, match=r"cover the bounds\n"):
        binning_of(column, bins=days[1:])
    with pytest.raises(BadParameter):
        binning_of(column, bins=[1, 2, 3])


def test_magnitudes_are_powers_of_two_on_both_sides_of_zero():
    edges = magnitudes(-2, 3).edges
    powers = [0.25, 0.5, 1.0, 2.0, 4.0, 8.0]
    assert edges == (*(-p for p in reversed(powers)), *powers)
    found = magnitudes(-2, 3)
    assert found.zero
    assert found.encode([-99, -0.3, 0.0, 0.24, 0.25, 7.9, 99]).tolist() == [0, 4, 5, 5, 6, 10, 10]
    assert magnitudes().edges[-1] == 2.0**64
    assert magnitudes().size == 2 * 97 - 1


# ---- columns


@pytest.mark.parametrize(
    ("low", "high", "octaves"),
    [
        (0, 1000, False), (0, 1001, True), (-500, 500, False), (-500, 501, True), (1, 1001, False),
        (1, 1002, True), (2, 2002, False), (2, 2003, True), (-2002, -2, False), (-2003, -2, True),
        (0.0, 0.5, False), (1e-9, 1000.5, True),
    ],
)  # fmt: skip
def test_columns_over_several_magnitudes_have_half_octaves_unless_asked(low, high, octaves):
    kind = "int" if isinstance(low, int) else "float"
    column = dp.bounds(low, high, type=kind, missing="drop")
    usual = binning_of(column, bins=20)
    assert (binning_of(column).edges == usual.edges) != octaves


def test_dates_never_have_half_octaves():
    column = dp.bounds(dt.date(1900, 1, 1), dt.date(2024, 1, 1), type="date", missing="drop")
    assert binning_of(column).size == 20


def test_listed_values_have_a_cell_each_and_no_bins():
    listed = dp.keys(["a", "b"])
    assert binning_of(listed, null="drop").size == 2
    with pytest.raises(BadParameter, match="one cell per value"):
        binning_of(listed, bins=3, null="drop")
    assert binning_of(dp.column("bool"), null="drop").encode([True, False, None]).tolist() == [
        1,
        0,
        -1,
    ]


@pytest.mark.parametrize("column", [dp.column("float"), dp.column("text")])
def test_other_columns_need_bounds(column):
    with pytest.raises(MissingBounds):
        binning_of(column, null="drop")


def test_missing_values_are_dropped_counted_or_replaced_as_is_said():
    dropped = dp.bounds(0, 10, type="int", missing="drop")
    assert binning_of(dropped, bins=2).encode([None, 3]).tolist() == [-1, 0]
    assert binning_of(dropped, bins=2, null="drop").encode([None]).tolist() == [-1]
    assert binning_of(dropped, bins=2, null="own").encode([None, 10]).tolist() == [2, 1]
    filled = dp.bounds(0, 10, type="int", missing=9)
    assert binning_of(filled, bins=2).encode([None]).tolist() == [1]
    for null in ("own", "drop"):
        with pytest.raises(BadParameter, match="count as 9"):
            binning_of(filled, bins=2, null=null)
    silent = dp.bounds(0, 10, type="int")
    if silent.missing is None:
        with pytest.raises(BadParameter, match="does not say"):
            binning_of(silent, bins=2)
        assert binning_of(silent, bins=2, null="drop").encode([None]).tolist() == [-1]
    with pytest.raises(BadParameter):
        binning_of(dropped, bins=2, null="other")


def test_every_cell_holds_a_value():
    with pytest.raises(BadParameter, match="each cell must hold a value"):
        binning_of(dp.bounds(0, 10, type="int", missing="drop"), bins=[0, 0.25, 0.5, 11])


def test_the_smallest_floats_are_divided_exactly():
    edges = between(0.0, 2.0**-1064, type="float", bins=4).edges
    assert edges == tuple(i * 2.0**-1066 for i in range(5))


@pytest.mark.parametrize("listed", [(True,), (True, False), (False, True)])
def test_listed_truth_values_have_their_cells_in_their_order(listed):
    assert binning_of(dp.keys(list(listed)), null="drop").keys == listed
