"""The cell that an engine finds is the one that `encode` finds, and few comparisons find it."""

import dataclasses
import datetime as dt
import itertools
import math

import pytest

import deniable as dp
from deniable.query.algebra import Column, Domain, Kind, evaluate
from deniable.query.bind.bins import bucket, cell_of, cells_between
from deniable.schema.edges import binning_of

X = Column(name="x", domain=Domain(kind=Kind.FLOAT, low=0.0, high=100.0, nullable=True))


def compared(made):
    if not hasattr(made, "op"):
        return 0
    if made.op == "case":
        return compared(made.args[0]) + max(map(compared, made.args[1:]))
    return int(made.op == "lt")


@pytest.mark.parametrize("cells", range(1, 20))
def test_a_value_is_in_the_cell_between_its_edges_after_few_comparisons(cells):
    edges = [float(3 * i) for i in range(cells + 1)]
    made = bucket(X, edges)
    for i in range(cells):
        for value in (3.0 * i, 3.0 * i + 1, math.nextafter(3.0 * i + 3, 0)):
            assert evaluate(made, {"x": value}) == i
    assert evaluate(made, {"x": edges[-1]}) == evaluate(made, {"x": 1e9}) == cells - 1
    assert evaluate(made, {"x": -1.0}) == 0
    assert evaluate(made, {"x": None}) is None
    assert compared(made) == math.ceil(math.log2(cells))


DATES = [dt.date(2024, 1, 1) + dt.timedelta(days=k) for k in range(0, 366, 5)]
COLUMNS = {
    "listed": (dp.keys(["a", "b", "c"]), Kind.TEXT, ["a", "b", "c", "d"], None),
    "ages": (dp.bounds(0, 125, type="int", missing="drop"), Kind.INT, range(-3, 130), 7),
    "reals": (dp.bounds(0.0, 9.0, missing="drop"), Kind.FLOAT, [0.1 * k for k in range(95)], 4),
    "days": (dp.bounds(DATES[0], DATES[-1], type="date", missing="drop"), Kind.DATE, DATES, 5),
}


@pytest.mark.parametrize(("name", "null"), [*itertools.product(COLUMNS, ["drop", "own"])])
def test_an_engine_finds_the_cell_that_encode_finds(name, null):
    column, kind, values, bins = COLUMNS[name]
    cells = binning_of(column, bins=bins, null=null)
    made = cell_of(Column(name="x", domain=Domain(kind=kind, nullable=True)), cells)
    for value in (*values, None):
        found = evaluate(made, {"x": value})
        assert (-1 if found is None else found) == cells.encode([value])[0]
        assert found != -1


@pytest.mark.parametrize("name", COLUMNS)
def test_what_is_missing_may_count_in_any_cell_also_in_the_first(name):
    column, kind, values, bins = COLUMNS[name]
    plain = binning_of(column, bins=bins, null="drop")
    for place in range(plain.size):
        cells = dataclasses.replace(plain, missing=place)
        made = cell_of(Column(name="x", domain=Domain(kind=kind, nullable=True)), cells)
        assert evaluate(made, {"x": None}) == cells.encode([None])[0] == place
        held = [evaluate(made, {"x": value}) for value in values]
        assert held == cells.encode(list(values)).tolist()


def test_without_bins_there_are_ten_cells_of_equal_width():
    assert list(cells_between(X, None).edges) == pytest.approx([10.0 * k for k in range(11)])
    assert list(cells_between(X, 4).edges) == [0.0, 25.0, 50.0, 75.0, 100.0]
    assert list(cells_between(X, (0, 1, 100)).edges) == [0, 1, 100]
