"""What a row adds: clamped or not it is within its ends; rows are left out only if nobody asks."""

import dataclasses
import math

import pytest

import deniable as dp
from deniable.query.aggregates import Measure
from deniable.query.algebra import (
    Aggregate,
    Filter,
    Function,
    Join,
    Key,
    Project,
    Question,
    Read,
    Scan,
    call,
    literal,
)
from deniable.query.backends import engine_for
from deniable.query.compile import Relations
from deniable.query.compile.contributions import Base, _bin, _point
from deniable.query.compile.duckdb import DuckDB
from deniable.query.integers import in_integers

from .holding import Holding, cells_of, scan_of

BOUNDS = [
    (0.0, 100.0),
    (-3.0, 10.0),
    (0.1, 0.3),
    (-1e-300, 1e-300),
    (5e-324, 1e-323),
    (1e15, 1e15 + 0.125),
    (-1.7e134, 1.1e100),
    (1 / 3, 1e9 / 7),
]


def around(low, high):
    """The bounds, their neighbours on both sides, values far out, and none."""
    near = [math.nextafter(end, to) for end in (low, high) for to in (-math.inf, math.inf)]
    far = [math.inf, -math.inf, 1.7e308, -1.7e308, 0.0, -0.0, math.nan, None]
    return [low, high, *near, low / 2 + high / 2, low + (high - low) / 3, *far]


def asked(scan, *aggregates, unit=None, keys=(), sets=((),)):
    return Question(
        unit=unit or dp.rows(),
        relation=scan,
        keys=keys,
        grouping_sets=sets,
        aggregates=aggregates,
    )


def of(function, argument):
    return Aggregate(name=f"{function}", function=function, argument=argument)


def expected(x, tally, low, high):
    """The same in Python, with the clamp."""
    number = max(low, min(high, x)) - tally.centre
    if tally.measure is Measure.SQUARES:
        number *= number
    point = math.floor(number * 2.0**-tally.lattice.exponent + 0.5)
    return max(tally.low, min(tally.high, point))


@pytest.mark.parametrize(("low", "high"), BOUNDS)
@pytest.mark.parametrize("kept", ["drop", "low"])
def test_every_row_adds_what_the_clamp_would_have_left(holding, low, high, kept):
    values = around(low, high)
    missing = "drop" if kept == "drop" else low
    facts = {
        "g": dp.keys(range(len(values))),
        "x": dp.bounds(low, high, missing=missing),
    }
    table = holding.table("data", [{"g": g, "x": x} for g, x in enumerate(values)], facts)
    scan = scan_of(table)
    g, x = scan.columns
    key = Key(name="g", expression=g, values=tuple(range(len(values))))
    functions = [of(f, x) for f in (Function.SUM, Function.AVG, Function.VAR_SAMP)]
    plan, found = cells_of(asked(scan, *functions, keys=(key,), sets=((0,),)), [table])
    summed = [t for t in plan.tallies if t.measure in (Measure.SUM, Measure.SQUARES)]
    assert {t.measure for t in summed} == {Measure.SUM, Measure.SQUARES}
    for tally in summed:
        for value, number in zip(values, found.numbers[tally.name], strict=True):
            gone = value is None or math.isnan(value)
            if gone and kept == "drop":
                assert number == 0
            else:
                assert tally.low <= number <= tally.high
                assert number == expected(low if gone else value, tally, low, high)


def base_of(relation, value):
    plan = in_integers(asked(relation, of(Function.SUM, value)))
    (tally,) = [t for t in plan.tallies if t.measure is Measure.SUM]
    return Base(Relations(DuckDB(), {}), plan, [tally], ()), tally


def bounded_scan(low=-3.0, high=10.0):
    return Scan(table="t", reads=(Read(name="x", source="x", facts=dp.bounds(low, high)),))


# On the lattice, and between its points on either side of the middle.
BOUNDS = pytest.mark.parametrize(
    "ends", [(-3.0, 10.0), (-0.1, 0.7), (0.1, 0.9), (-1 / 3, 2 / 3), (-0.7, 0.1), (-2 / 3, 1e9 / 3)]
)


@BOUNDS
def test_a_column_as_it_was_read_needs_no_clamp(ends):
    scan = bounded_scan(*ends)
    (x,) = scan.columns
    kept = Filter(source=scan, where=call("gt", x, literal(0.0)))
    renamed = Project(source=kept, named=(("y", x),))
    for relation, value in ((scan, x), (kept, x), (renamed, renamed.columns[0])):
        base, tally = base_of(relation, value)
        assert base.holds(tally)


def test_anything_computed_is_clamped():
    scan = bounded_scan()
    (x,) = scan.columns
    made = call("multiply", x, literal(2.0))
    computed = Project(source=scan, named=(("x", made),))
    for relation, value in ((scan, made), (computed, computed.columns[0])):
        base, tally = base_of(relation, value)
        assert not base.holds(tally)


@pytest.mark.parametrize("number", [math.nan, math.inf, -math.inf, 1e100, -5e-324])
@pytest.mark.parametrize("measure", [Measure.SUM, Measure.SQUARES, Measure.HISTOGRAM])
def test_a_number_that_no_engine_should_find_is_clamped_all_the_same(holding, number, measure):
    """The clamp depends on nothing that was computed before it."""
    table = holding.table("data", [{"x": 1.0}], {"x": dp.bounds(-3.0, 10.0)})
    scan = scan_of(table)
    made = call("multiply", scan.columns[0], literal(2.0))
    functions = of(Function.VAR_POP, made), of(Function.MIN, made)
    tally = next(t for t in in_integers(asked(scan, *functions)).tallies if t.measure is measure)
    with engine_for([table])([table]) as engine:
        dialect = engine.dialect
        node = dialect.real(number)
        if tally.bins is None:
            ends = tally.low, tally.high
            point = _point(node, tally, dialect, clamp=True)
        else:
            ends = 0, tally.bins.count - 1
            point = _bin(node, made, tally.bins, dialect)
        ((row,),) = engine.run([f"SELECT {dialect.write(point)}"])
    assert ends[0] <= row[0] <= ends[1]


@BOUNDS
@pytest.mark.parametrize("off", [{"low": 1}, {"high": -1}])
def test_ends_that_the_bounds_could_pass_are_clamped_to(off, ends):
    scan = bounded_scan(*ends)
    base, tally = base_of(scan, scan.columns[0])
    narrower = {end: getattr(tally, end) + by for end, by in off.items()}
    assert not base.holds(dataclasses.replace(tally, **narrower))


# ---- rows off a list

ROWS = [{"g": g, "x": 1.0} for g in ("a", "b", "elsewhere", None, "a")]


def counted(holding, sets, **rule):
    facts = {"g": dp.keys(["a", "b", "rest"], **rule), "x": dp.bounds(0.0, 1.0)}
    table = holding.table("data", ROWS, facts)
    scan = scan_of(table)
    key = Key(name="g", expression=scan.columns[0], values=("a", "b", "rest"))
    count = Aggregate(name="n", function=Function.COUNT)
    plan, found = cells_of(asked(scan, count, keys=(key,), sets=sets), [table])
    (tally,) = plan.tallies
    return dict(zip(found.groups, found.numbers[tally.name], strict=True))


def test_rows_off_the_list_are_in_no_group(holding):
    assert counted(holding, ((0,),)) == {("a",): 2, ("b",): 1, ("rest",): 0}


def test_but_in_the_set_that_leaves_the_key_out(holding):
    assert counted(holding, ((0,), ())) == {("a",): 2, ("b",): 1, ("rest",): 0, (None,): 5}


def test_and_in_what_the_schema_says_they_count_as(holding):
    assert counted(holding, ((0,),), missing="rest") == {("a",): 2, ("b",): 1, ("rest",): 2}


def test_of_a_public_table_the_first_row_counts_whether_it_is_on_the_list_or_not():
    """Left out too early, "elsewhere" would give way to the second row for i = 1."""
    holding = Holding(kind="duckdb")
    facts = {"i": dp.bounds(0, 9, type="int")}
    private = holding.table("data", [{"i": i} for i in (1, 1, 2)], facts)
    number = dp.bounds(0, 9, type="int")
    places = {"j": number, "order": number, "g": dp.keys(["near", "zone"])}
    listed = [(1, 1, "elsewhere"), (1, 2, "zone"), (2, 1, "near")]
    rows = [dict(zip(places, row, strict=True)) for row in listed]
    public = holding.table("places", rows, places)
    left = scan_of(private)
    right = dataclasses.replace(scan_of(public), public=True)
    on = ((left.columns[0], right.columns[0]),)
    joined = Join(left=left, right=right, on=on, unique=True)
    key = Key(name="g", expression=right.columns[2], values=("near", "zone"))
    count = Aggregate(name="n", function=Function.COUNT)
    plan, found = cells_of(asked(joined, count, keys=(key,), sets=((0,),)), [private, public])
    (tally,) = plan.tallies
    assert list(found.numbers[tally.name]) == [1, 0]
