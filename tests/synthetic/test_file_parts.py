"""Each part of a saved table is checked by itself: sizes, numbers, groups and trees."""

import datetime as dt
import io
import json
import math
import zipfile
from types import SimpleNamespace

import numpy as np
import pytest

from deniable.errors import DeniableError
from deniable.schema.binning import Intervals, Listed
from deniable.synthetic import files
from deniable.synthetic.domain import MOST_CELLS, Domain

DOMAIN = Domain(
    cells={
        name: Listed(type="int", keys=tuple(range(size)), missing=-1)
        for name, size in (("a", 2), ("b", 3), ("c", 4))
    }
)
BROKEN = (ValueError, TypeError, LookupError, DeniableError, OverflowError)


def archive_of(**arrays):
    held = io.BytesIO()
    np.savez(held, **arrays)
    return zipfile.ZipFile(held)


# ---- arrays


@pytest.mark.parametrize(
    ("header", "more", "fits"),
    [(128, 0, True), (4096, 0, True), (4097, 0, False), (128, 3969, False)],
)
def test_an_array_comes_with_at_most_so_many_bytes_about_it(header, more, fits):
    text = "{'descr': '<f8', 'fortran_order': False, 'shape': (3,), }".ljust(header - 11) + "\n"
    start = b"\x93NUMPY\x01\x00" + len(text).to_bytes(2, "little") + text.encode()
    held = io.BytesIO()
    with zipfile.ZipFile(held, "w") as made:
        made.writestr("x.npy", start + np.arange(3.0).tobytes() + bytes(more))
    archive = zipfile.ZipFile(held)
    assert len(start) == header
    if fits:
        assert files._array(archive, "x", np.float64, most=24).tolist() == [0.0, 1.0, 2.0]
    else:
        with pytest.raises(BROKEN):
            files._array(archive, "x", np.float64, most=24)


def test_an_array_is_read_up_to_its_bytes_and_not_one_more(monkeypatch):
    archive = archive_of(x=np.arange(6.0).reshape(2, 3))
    assert files._array(archive, "x", np.float64, most=48).tolist() == [[0, 1, 2], [3, 4, 5]]
    for most, kind in ((47, np.float64), (48, np.int64), (48, np.float32)):
        with pytest.raises(ValueError, match=r"^$"):
            files._array(archive, "x", kind, most=most)
    monkeypatch.setattr(files, "_MOST", 48)
    files._array(archive, "x", np.float64, most=48)
    with pytest.raises(ValueError, match=r"^$"):
        files._array(archive, "x", np.float64, most=49)


def test_no_more_bytes_are_unpacked_than_an_array_may_have(monkeypatch):
    sizes, inner = [], zipfile.ZipExtFile.read
    monkeypatch.setattr(zipfile.ZipExtFile, "read", lambda f, n=-1: sizes.append(n) or inner(f, n))
    files._array(archive_of(x=np.zeros(2)), "x", np.float64, most=16)
    assert sizes[0] == 16 + files._HEADER + 1
    long = archive_of(x=np.zeros(2 + files._HEADER // 8))
    with pytest.raises(ValueError, match=r"^$"):
        files._array(long, "x", np.float64, most=16)


@pytest.mark.parametrize("bad", [math.nan, math.inf, -math.inf])
def test_floats_have_their_shape_and_are_finite(bad):
    archive = archive_of(x=np.ones((2, 3)), y=np.array([1.0, bad]))
    assert files._floats(archive, "x", (2, 3)).shape == (2, 3)
    for shape in ((3, 2), (6,), (2, 4), (2,)):
        with pytest.raises(ValueError, match=r"^$"):
            files._floats(archive, "x", shape)
    with pytest.raises(ValueError, match=r"^$"):
        files._floats(archive, "y", (2,))


# ---- groups, folds and cliques


@pytest.mark.parametrize(
    ("groups", "fits"),
    [
        ([0, 0, 1], True), ([1, 0, 2], True), ([0, 0, 0], True), ([0, 0], False),
        ([0, 0, 1, 1], False), ([0, 0, 2], False), ([1, 1, 1], False), ([0, 0, 1.0], False),
        ([0, 0, True], False), ((0, 0, 1), False), ([-1, 0, 1], False), ("001", False),
    ],
)  # fmt: skip
def test_groups_are_numbered_from_0_without_a_gap(groups, fits):
    if fits:
        assert files._partition(groups, 3).group.tolist() == groups
        assert files._groups((None, files._partition(groups, 3))) == [None, groups]
    else:
        with pytest.raises(BROKEN):
            files._partition(groups, 3)
    assert files._partition(None, 3) is None
    assert files._groups(None) == []


@pytest.mark.parametrize(
    ("shares", "fits"),
    [
        ([0.25, 0.75, 1.0], True), ([0.0, 1.0, 1.0], True), ([0.25, 0.75], False),
        ([0.25, 0.75, 0.999], False), ([0.5, 0.75, 1.0], False), ([-0.25, 1.25, 1.0], False),
        ([math.nan, 1.0, 1.0], False), ([0.25, 0.75, 1.0 + 5e-7], True),
        ([0.25, 0.75, 1.0 + 2e-6], False), ([[0.25, 0.75, 1.0]], False),
    ],
)  # fmt: skip
def test_the_shares_of_a_group_add_up_to_1(shares, fits):
    record = [None, [[0, 0, 1], shares], None]
    if fits:
        first, fold, last = files._folds(DOMAIN, record)
        assert (first, last) == (None, None)
        assert fold.shares.tolist() == shares
        assert fold.partition.group.tolist() == [0, 0, 1]
    else:
        with pytest.raises(BROKEN):
            files._folds(DOMAIN, record)
    with pytest.raises(BROKEN):
        files._folds(DOMAIN, record[:2])


@pytest.mark.parametrize(
    ("columns", "fits"),
    [
        ([0], True), ([2, 0, 1], True), ([], False), ([3], False), ([-1], False), ([0, 0], False),
        ([1.0], False), ([True], False), (["0"], False),
    ],
)  # fmt: skip
def test_a_clique_names_columns_once(columns, fits):
    if fits:
        assert files._clique(DOMAIN, columns) == tuple(columns)
    else:
        with pytest.raises(BROKEN):
            files._clique(DOMAIN, columns)


NO_FOLDS = (None, None, None)


@pytest.mark.parametrize(
    ("cliques", "edges", "fits"),
    [
        ([[0, 1, 2]], [], True),
        ([[0, 1], [1, 2]], [[1, 0, [1]]], True),
        ([[0], [1], [2]], [[1, 0, []], [2, 0, []]], True),
        ([[0, 1], [1, 2]], [], False),
        ([[0, 1], [1, 2]], [[1, 0, []]], False),
        ([[0, 1], [1, 2]], [[1, 0, [0]]], False),
        ([[0, 1], [1, 2]], [[1, 0, [1]], [1, 0, [1]]], False),
        ([[0, 1], [1, 2]], [[0, 1, [1]]], False),
        ([[0, 1], [1, 2]], [[2, 0, [1]]], False),
        ([[0, 1], [1, 2]], [[-1, 0, [1]]], False),
        ([[0, 1]], [], False),
        ([], [], False),
        ([[0, 1], [1], [0, 2]], [[1, 0, [1]], [2, 1, []]], False),
        ([[0, 1], [1], [0, 2]], [[1, 0, [1]], [2, 0, [0]]], True),
        ([[0], [1], [0, 1, 2]], [[1, 0, []], [2, 0, [0]]], False),
        ([[0, 1, 2], [0]], [], False),  # a clique that hangs on nothing
        ([[0, 1, 2], [0], [1]], [[1, 0, [0]], [1, 0, [0]]], False),  # or one that hangs twice
        ([[0, 1, 2], [1]], [[0, 0, [0, 1, 2]]], False),  # or on itself
    ],
)
def test_a_tree_reaches_every_column_along_what_cliques_share(cliques, edges, fits):
    record = {"cliques": cliques, "edges": edges}
    if fits:
        tree = files._tree(DOMAIN, NO_FOLDS, record)
        assert tree.cliques == tuple(map(tuple, cliques))
        assert tree.sizes == (2, 3, 4)
        assert len(tree.edges) == len(edges)
    else:
        with pytest.raises(BROKEN):
            files._tree(DOMAIN, NO_FOLDS, record)


def test_the_sizes_of_a_tree_are_those_of_folded_columns():
    folds = files._folds(DOMAIN, [None, [[0, 0, 1], [0.5, 0.5, 1.0]], None])
    tree = files._tree(DOMAIN, folds, {"cliques": [[0, 1, 2]], "edges": []})
    assert tree.sizes == (2, 2, 4)


# ---- what was measured


def measured(row, counts):
    return files._measured(archive_of(counts0=counts), DOMAIN, [row])


@pytest.mark.parametrize(
    ("row", "shape", "fits"),
    [
        ([[0, 1], 2.0, "gaussian", 1.0], (2, 3), True),
        ([[0, 1], 2, "laplace", 1, []], (2, 3), True),
        ([[0, 1], 2.0, "gaussian", 0.5, [None, [0, 1, 1]]], (2, 2), True),
        ([[0, 1], 2.0, "gaussian", 0.5, [None, None]], (2, 3), True),
        ([[0, 1], 2.0, "gaussian", 0.5, [None]], (2, 3), False),
        ([[0, 1], 2.0, "gaussian", 0.5, [None, None, None]], (2, 3), False),
        ([[0, 1], 2.0, "gaussian", 1.0], (3, 2), False),
        ([[0, 1], 0.0, "gaussian", 1.0], (2, 3), False),
        ([[0, 1], -1.0, "gaussian", 1.0], (2, 3), False),
        ([[0, 1], math.inf, "gaussian", 1.0], (2, 3), False),
        ([[0, 1], math.nan, "gaussian", 1.0], (2, 3), False),
        ([[0, 1], 2.0, "gaussian", 0], (2, 3), False),
        ([[0, 1], 2.0, "gaussian", True], (2, 3), False),
        ([[0, 1], "2", "gaussian", 1.0], (2, 3), False),
        ([[0, 1], 2.0, "normal", 1.0], (2, 3), False),
    ],
)
def test_a_measurement_has_counts_noise_and_groups_that_fit(row, shape, fits):
    counts = np.arange(6.0)[: math.prod(shape)].reshape(shape)
    if not fits:
        with pytest.raises(BROKEN):
            measured(row, counts)
        return
    (found,) = measured(row, counts)
    assert (found.columns, found.sigma, found.law, found.grain) == (
        tuple(row[0]), float(row[1]), row[2], float(row[3])
    )  # fmt: skip
    assert type(found.sigma) is type(found.grain) is float
    assert found.counts.tolist() == counts.tolist()
    grouped = len(row) > 4 and any(row[4])
    assert (found.partitions is not None) == grouped


def test_all_that_was_measured_may_have_exactly_the_limit(monkeypatch):
    row = [[0, 1], 2.0, "gaussian", 1.0]
    archive = archive_of(counts0=np.zeros((2, 3)), counts1=np.zeros((2, 3)))
    monkeypatch.setattr(files, "_ALL", 2 * 8 * 6)
    assert len(files._measured(archive, DOMAIN, [row, row])) == 2
    monkeypatch.setattr(files, "_ALL", 2 * 8 * 6 - 1)
    with pytest.raises(ValueError, match=r"^$"):
        files._measured(archive, DOMAIN, [row, row])


# ---- cells


@pytest.mark.parametrize(
    ("change", "fits"),
    [
        ({}, True), ({"missing": -1}, True), ({"missing": 2}, True), ({"missing": 3}, False),
        ({"missing": -2}, False), ({"missing": True}, False), ({"low": 9}, True),
        ({"low": 10}, False), ({"edges": [0, 10]}, True), ({"edges": [0]}, False),
        ({"edges": [0, 5, 5, 10]}, False), ({"low": True}, False), ({"high": math.nan}, False),
    ],
)  # fmt: skip
def test_intervals_have_rising_edges_and_finite_bounds(change, fits):
    cut = {"type": "int", "missing": 1, "edges": [0, 5, 10], "low": 0, "high": 9, "zero": False}
    if change == {"low": 9}:
        change = {"low": 9, "edges": [9, 10], "missing": 0}
    if change == {"edges": [0, 10]}:
        change = {"edges": [0, 10], "missing": 0}
    if fits:
        made = files.read_cells(cut | change)
        assert files.read_cells(files.written_cells(made)) == made
    else:
        with pytest.raises(BROKEN):
            files.read_cells(cut | change)


@pytest.mark.parametrize(
    ("change", "fits"),
    [
        ({}, True), ({"high": math.inf}, False), ({"low": -math.inf}, False),
        ({"zero": False}, True), ({"type": "int", "zero": False}, False),  # none from −0.5 to −0.2
        ({"edges": [0], "missing": 0}, False),
    ],
)  # fmt: skip
def test_every_cell_holds_a_value_and_bounds_are_finite_also_around_0(change, fits):
    edges = [-1, -0.5, -0.2, 1]
    cut = {"type": "float", "missing": -1, "edges": edges, "low": -1, "high": 1, "zero": True}
    if fits:
        assert files.read_cells(cut | change).size == 3
    else:
        with pytest.raises(BROKEN):
            files.read_cells(cut | change)


@pytest.mark.parametrize("wrong", [3, -1, "1", True, None, 1.0])
def test_each_column_of_a_clique_is_one_of_the_domain(wrong):
    for columns in ([0, wrong], [wrong, 2]):
        with pytest.raises(BROKEN):
            files._clique(DOMAIN, columns)


@pytest.mark.parametrize(("count", "fits"), [(MOST_CELLS, True), (MOST_CELLS + 1, False)])
def test_a_column_may_have_exactly_the_most_cells(count, fits):
    record = {"type": "int", "missing": -1, "keys": list(range(count))}
    if fits:
        assert files.read_cells(record).count == count
    else:
        with pytest.raises(ValueError, match=r"^$"):
            files.read_cells(record)


@pytest.mark.parametrize(
    ("number", "later"), [(1, False), (2, False), (3, True), ("3", False), (None, False)]
)
def test_only_a_larger_number_is_a_later_format(number, later):
    assert files._later(number) is later


# ---- the model as a whole

THIRDS = np.array([1 / 3, 1 / 3, 1 / 3])
NEAR, APART = (np.array([-x, x / 2, x / 2]) for x in (0.9e-6, 1e-6))
RARE = np.array([1e-6, 0.5, 0.499999])


def read(monkeypatch, first, second, *, total=5.0):
    """A model of two tables with the given shares of the column that they have in common."""
    tables = iter([np.outer(first, [0.25, 0.75]), np.outer(second, [0.5, 0.5])])
    monkeypatch.setattr(files, "_floats", lambda archive, name, shape: next(tables))
    monkeypatch.setattr(files, "Release", SimpleNamespace(from_dict=lambda record: "release"))
    keys = {"a": [1, 2, 3], "b": [1, 2], "c": [1, 2]}
    record = {
        "format": 2,
        "columns": {n: {"type": "int", "missing": -1, "keys": k} for n, k in keys.items()},
        "cliques": [[0, 1], [0, 2]],
        "edges": [[1, 0, [0]]],
        "total": total,
        "method": "tree",
        "measured": [],
        "release": {},
        "notes": ["one"],
    }
    return files._read(None, record)


@pytest.mark.parametrize(
    ("first", "second", "fits"),
    [
        (THIRDS, THIRDS, True),
        (THIRDS, THIRDS + NEAR, True),
        (RARE, RARE + APART, False),  # the first share is 0: they differ by 1e-6 exactly
        (THIRDS * (1 + 0.9e-6), THIRDS * (1 + 0.9e-6), True),
        (THIRDS * (1 + 1.1e-6), THIRDS, False),
        (THIRDS, THIRDS * (1 - 1.1e-6), False),
        (np.array([-1e-9, 0.5, 0.5]), np.array([0.0, 0.5, 0.5]), False),
        (np.array([0.0, 0.5, 0.5]), np.array([0.0, 0.5, 0.5]), True),
    ],
)
def test_tables_are_shares_and_agree_on_what_they_have_in_common(first, second, fits, monkeypatch):
    if fits:
        made = read(monkeypatch, first, second)
        assert (made.total, made.method, made.notes) == (5.0, "tree", ("one",))
    else:
        with pytest.raises(BROKEN):
            read(monkeypatch, first, second)


@pytest.mark.parametrize(
    ("total", "fits"),
    [(1, True), (1.0, True), (0.999, False), (1e300, True), (math.inf, False), ("5", False)],
)
def test_a_table_has_a_row_at_least_and_a_finite_number(total, fits, monkeypatch):
    if fits:
        assert read(monkeypatch, THIRDS, THIRDS, total=total).total == total
    else:
        with pytest.raises(BROKEN):
            read(monkeypatch, THIRDS, THIRDS, total=total)


@pytest.mark.parametrize("spare", [0, -1])
def test_a_model_may_have_exactly_the_most_bytes(spare, monkeypatch):
    monkeypatch.setattr(files, "_MOST", 8 * 12 + spare)
    if spare:
        with pytest.raises(BROKEN):
            read(monkeypatch, THIRDS, THIRDS)
    else:
        assert read(monkeypatch, THIRDS, THIRDS).model.folded.tree.cells == 12


@pytest.mark.parametrize(
    "cells",
    [
        Listed(type="int", keys=(3, 1), missing=2),
        Listed(type="bool", keys=(False, True)),
        Listed(type="date", keys=(dt.date(2024, 5, 17), dt.date(1969, 1, 2))),
        Listed(type="timestamp", keys=(dt.datetime.fromisoformat("2024-05-17T03:04:05.000678"),)),
        Intervals(type="float", edges=(-1.0, -0.5, 0.5, 1.0), low=-1.0, high=1.0, zero=True),
        Intervals(type="date", edges=(10, 20, 31), low=10, high=30, missing=2),
    ],
    ids=lambda cells: cells.type,
)
def test_cells_are_the_same_after_they_were_written_as_text(cells):
    assert files.read_cells(json.loads(json.dumps(files.written_cells(cells)))) == cells
