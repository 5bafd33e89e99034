"""Postgres adds, multiplies and divides all floats as IEEE 754 says, and fails for none."""

import itertools
import math

import pytest

import deniable as dp
from deniable.query.algebra import call, literal

from .holding import Holding, scan_of

# Around every power of two at which a guard changes its mind.
EXPONENTS = (-1074, -1061, -1023, -1000, -621, -538, -531, -500, -252, -100, -51, -1, 0, 1, 52,
             100, 252, 439, 440, 499, 500, 501, 537, 700, 1000, 1021, 1022, 1023)  # fmt: skip
SIZES = [math.ldexp(part, e) for e in EXPONENTS for part in (1.0, 1.75)]
VALUES = sorted({0.0, 1.7976931348623157e308, *SIZES})
BOUNDS = [None, (-1e300, 1e300), (-(2.0**-300), 2.0**-300), (2.0**-900, 2.0**-400), (0.5, 2.0**700)]
OPERATORS = ("add", "subtract", "multiply", "divide")


def wanted(op, x, y):
    """What IEEE 754 says; None for what is not a number."""
    match op:
        case "add":
            made = x + y
        case "subtract":
            made = x - y
        case "multiply":
            made = x * y
        case _:
            made = x / y if y else math.nan
    return None if math.isnan(made) else made


def alike(op, found, ieee, most):
    """The same; or 0 for what is nothing beside the largest result, ∞ for what is beyond 2⁴⁴⁰."""
    if found == ieee or found is None or ieee is None:
        return found == ieee or (op in ("add", "subtract") and found is None)
    if abs(ieee) >= 2.0**440:
        return math.isinf(found) and found * ieee > 0
    return op in ("multiply", "divide") and found == 0 and abs(ieee) <= min(most, 1.0) * 2.0**-120


@pytest.mark.parametrize(("first", "second"), list(itertools.product(BOUNDS, repeat=2))[::2])
def test_all_sizes_together(postgres, first, second):
    facts = {
        name: dp.column("float") if ends is None else dp.bounds(*ends)
        for name, ends in (("x", first), ("y", second))
    }
    signed = [-1.0, 1.0]
    pairs = [(s * x, t * y) for x in VALUES for y in VALUES for s in signed for t in signed][::3]
    rows = [{"i": i, "x": x, "y": y} for i, (x, y) in enumerate(pairs)]
    table = Holding(kind="postgres", place=postgres).table(
        "data", rows, facts | {"i": dp.column("int")}
    )
    column = {c.name: c for c in scan_of(table).columns}
    calls = [(op, call(op, column["x"], column["y"])) for op in OPERATORS]
    found = Holding(kind="postgres", place=postgres).values(table, calls)
    for row, values in zip(rows, found, strict=True):
        x, y = (
            row[n] if ends is None else min(max(row[n], ends[0]), ends[1])
            for n, ends in (("x", first), ("y", second))
        )
        for (op, made), value in zip(calls, values, strict=True):
            low, high = made.domain.low, made.domain.high
            most = math.inf if None in (low, high) else max(abs(low), abs(high))
            assert alike(op, value, wanted(op, x, y), most), (op, x, y, value)
            assert value is None or (low is None or value >= low), (op, x, y, value)
            assert value is None or (high is None or value <= high), (op, x, y, value)


CONSTANTS = (2.0**-1000, -1e-300, 2.0**-60, 0.75, 3.0, -(2.0**60), 1e300, 2.0**1000)


@pytest.mark.parametrize("ends", BOUNDS)
def test_all_sizes_with_constants_of_all_sizes(postgres, ends):
    facts = {"x": dp.column("float") if ends is None else dp.bounds(*ends), "i": dp.column("int")}
    rows = [{"i": i, "x": s * x} for i, (x, s) in enumerate(itertools.product(VALUES, (-1, 1)))]
    held = Holding(kind="postgres", place=postgres)
    table = held.table("data", rows, facts)
    (x,) = (c for c in scan_of(table).columns if c.name == "x")
    asked = [(op, c, first) for op in OPERATORS for c in CONSTANTS for first in (True, False)]
    sides = [(x, literal(c)) if first else (literal(c), x) for _, c, first in asked]
    calls = [
        (f"made{i}", call(op, *both))
        for i, ((op, _, _), both) in enumerate(zip(asked, sides, strict=True))
    ]
    for row, values in zip(rows, held.values(table, calls), strict=True):
        value = row["x"] if ends is None else min(max(row["x"], ends[0]), ends[1])
        for (op, c, first), (_, made), found in zip(asked, calls, values, strict=True):
            low, high = made.domain.low, made.domain.high
            most = math.inf if None in (low, high) else max(abs(low), abs(high))
            ieee = wanted(op, value, c) if first else wanted(op, c, value)
            tiny = found == 0 and ieee is not None and abs(ieee) < 2.0**-1022
            assert tiny or alike(op, found, ieee, most), (op, value, c, first, found)
