"""An engine and NumPy put every value into the same cell, also next to an edge."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import deniable as dp
from deniable.query.algebra import (
    Aggregate,
    Column,
    Domain,
    Function,
    Key,
    Kind,
    Question,
    evaluate,
)
from deniable.query.bind.bins import bucket
from deniable.schema.edges import between, binning_of, magnitudes

from .holding import Holding, cells_of, scan_of

HALF = "half-octaves"
ODD = (None, math.nan, math.inf, -math.inf, -0.0, 0.0, 5e-324, -5e-324, 1e308, -1e308)
FLOATS = {
    "third": (dp.bounds(0, 0.7), 7),
    "both sides": (dp.bounds(-1e6, 1e6), 9),
    "far": (dp.bounds(1e16, 1e16 + 64), 20),
    "tiny": (dp.bounds(-1e-300, 3e-300), 10),
    "huge": (dp.bounds(-8e307, 8e307), 11),
    "given": (dp.bounds(0, 1), [-0.1, 0.1, 0.2, 0.30000000000000004, 2]),
    "magnitude": (dp.bounds(-1e6, 1e6), HALF),
}
WHOLE = {
    "age": (dp.bounds(0, 125, type="int"), 10),
    "each": (dp.bounds(-3, 3, type="int"), 20),
    "wide": (dp.bounds(-(2**62), 2**62, type="int"), 13),
    "magnitude": (dp.bounds(-(2**40), 2**62, type="int"), HALF),
    "given": (dp.bounds(0, 2**60, type="int"), [-0.5, 17.5, 2**53 + 2, 2**53 + 4, 2**60]),
}


@pytest.fixture(params=["duckdb", "postgres"])
def engine(request):
    place = None if request.param == "duckdb" else request.getfixturevalue("postgres")
    return Holding(kind=request.param, place=place)


def next_to(edges, facts):
    """Each edge and what lies on both sides of it, and values that are odd everywhere."""
    if facts.type == "float":
        near = [math.nextafter(e, to) for e in edges for to in (-math.inf, math.inf)]
        return [*ODD, *edges, *near]
    near = [math.floor(e) + step for e in edges for step in (-2, -1, 0, 1, 2)]
    return [None, -(2**63), 2**63 - 1, *(n for n in near if -(2**63) <= n < 2**63)]


def codes(found):
    return [-1 if code is None else code for code in found]


@pytest.mark.parametrize(("facts", "bins"), [*FLOATS.values(), *WHOLE.values()], ids=str)
def test_cells_between_edges(engine, facts, bins):
    cells = binning_of(facts, bins=bins)
    values = next_to(cells.edges, facts)
    rows = [{"i": i, "x": x} for i, x in enumerate(values)]
    table = engine.table("data", rows, {"i": dp.column("int"), "x": facts})
    x = next(c for c in scan_of(table).columns if c.name == "x")
    found = engine.values(table, (("cell", bucket(x, cells.edges)),))
    assert codes(code for (code,) in found) == cells.encode(values).tolist()


@pytest.mark.parametrize("bins", [3, 16, 1000])
@pytest.mark.parametrize("facts", [f for f, _ in [*FLOATS.values(), *WHOLE.values()]], ids=str)
def test_cells_of_a_grid(engine, facts, bins):
    """One group per row: the cell that holds its 1 is the row's."""
    low, high = facts.low, facts.high
    edges = between(low, high, type=facts.type, bins=min(bins, 20)).edges
    values = next_to(edges, facts)
    rows = [{"i": i, "x": x} for i, x in enumerate(values)]
    table = engine.table("data", rows, {"i": dp.keys(range(len(rows))), "x": facts})
    scan = scan_of(table)
    column = {c.name: c for c in scan.columns}
    asked = Aggregate(name="m", function=Function.QUANTILE, argument=column["x"], q=0.5)
    key = Key(name="i", expression=column["i"], values=tuple(range(len(rows))))
    question = Question(
        unit=dp.rows(),
        relation=scan,
        keys=(key,),
        grouping_sets=((0,),),
        aggregates=(asked,),
    )
    plan, found = cells_of(question, [table], bins=bins)
    (tally,) = (t for t in plan.tallies if t.bins is not None)
    counted = found.histograms[tally.name]
    assert counted.shape == (len(rows), tally.bins.count)
    place = np.where(counted.sum(axis=1) == 1, counted.argmax(axis=1), -1)
    assert place.tolist() == tally.bins.encode(values).tolist()


@settings(max_examples=200)
@given(x=st.floats(allow_nan=False), name=st.sampled_from(sorted(FLOATS)))
def test_the_algebra_puts_every_float_where_numpy_does(x, name):
    facts, bins = FLOATS[name]
    cells = binning_of(facts, bins=bins)
    column = Column(name="x", domain=Domain(kind=Kind.FLOAT))
    assert [evaluate(bucket(column, cells.edges), {"x": x})] == cells.encode([x]).tolist()
    every = magnitudes()
    assert [evaluate(bucket(column, every.edges), {"x": x})] == every.encode([x]).tolist()
