"""An engine and NumPy put every value into the same cell, also next to an edge."""

import datetime as dt
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
from deniable.query.bind.bins import bucket, cell_of
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


FIRST, LAST = dt.date(2019, 12, 30), dt.date(2020, 3, 2)
DAYS = [FIRST + dt.timedelta(days=i) for i in range(-2, 70)]
MOMENTS = [dt.datetime.combine(day, dt.time(23, 59, 59, 999_999)) for day in DAYS]
MIDNIGHTS = [dt.datetime.combine(day, dt.time()) for day in DAYS]
TEXTS = ["", "a", "A", " a", "it's", "é", "e\u0301", "missing"]
ALSO = {
    "text": (dp.keys(["a", "", "it's", "é"]), TEXTS),
    "whole": (dp.keys([7, -3, 2**53 + 1]), [7, -3, 2**53, 2**53 + 1, 2**53 + 2]),
    "truth": (dp.column("bool", missing="drop"), [True, False]),
    "day": (dp.keys([LAST, FIRST]), DAYS),
    "days": (dp.bounds(FIRST, LAST, type="date"), DAYS),
    "moments": (
        dp.bounds(MIDNIGHTS[2], MOMENTS[-2], type="timestamp"),
        [*MOMENTS, *MIDNIGHTS],
    ),
    "stand-in": (dp.keys(["a", "é"], missing="é"), TEXTS),
    "bounded stand-in": (dp.bounds(0, 9, missing=4), [*ODD, 3.9, 4.0]),
}


RULES = [
    (name, null)
    for name, (facts, _) in ALSO.items()
    for null in (["own", "drop"] if facts.missing == "drop" else [None])
]


@pytest.mark.parametrize(("name", "null"), RULES)
def test_cells_of_every_type_and_of_missing_values(engine, name, null):
    facts, values = ALSO[name]
    cells = binning_of(facts, null=null)
    values = [None, *values, None]
    rows = [{"i": i, "x": x} for i, x in enumerate(values)]
    table = engine.table("data", rows, {"i": dp.column("int"), "x": facts})
    x = next(c for c in scan_of(table).columns if c.name == "x")
    found = engine.values(table, (("cell", cell_of(x, cells)),))
    assert codes(code for (code,) in found) == cells.encode(values).tolist()


def test_a_marginal_counted_by_an_engine_is_the_one_of_encoded_columns(engine):
    facts = {
        "income": dp.bounds(-1000, 2**40, type="int"),
        "school": dp.keys(["none", "some"]),
        "born": dp.bounds(FIRST, LAST, type="date"),
    }
    picks = {
        "income": [None, *(s * 2**k + d for k in range(42) for s in (-1, 1) for d in (-1, 0, 1))],
        "school": ["none", "some", "other", None],
        "born": [None, *DAYS],
    }
    rows = [{name: v[i * 31 % len(v)] for name, v in picks.items()} for i in range(400)]
    table = engine.table("data", rows, facts)
    scan = scan_of(table)
    cells = {name: binning_of(each, null="own") for name, each in facts.items()}
    keys = tuple(
        Key(
            name=c.name, expression=cell_of(c, cells[c.name]), values=(*range(cells[c.name].count),)
        )
        for c in scan.columns
    )
    count = Aggregate(name="n", function=Function.COUNT)
    question = Question(
        unit=dp.rows(), relation=scan, keys=keys, grouping_sets=((0, 1, 2),), aggregates=(count,)
    )
    plan, found = cells_of(question, [table])
    encoded = [cells[key.name].encode([row[key.name] for row in rows]) for key in keys]
    expected = np.zeros([cells[key.name].count for key in keys], dtype=int)
    np.add.at(expected, tuple(encoded), 1)
    counted = found.numbers[plan.tallies[0].name]
    assert expected.sum() == len(rows)
    assert list(counted) == expected.ravel().tolist()


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
