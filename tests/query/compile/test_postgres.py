"""Exponentials and powers for Postgres: no value makes it fail, and ranges are kept."""

import itertools
import math

import pytest

from deniable.query.algebra import Domain, Kind, ranges
from deniable.query.compile import nodes as sql
from deniable.query.compile.postgres import Postgres
from deniable.query.compile.reals import Real

from .engine import OutOfRange, called, worked_out

POSTGRES = Postgres()


def real(name, low, high):
    facts = Domain(kind=Kind.FLOAT, low=low, high=high, nullable=False)
    return Real(dialect=POSTGRES, node=sql.name(name), facts=facts)


def within(value, made):
    assert made.low is None or value >= made.low
    assert made.high is None or value <= made.high


LOGS = [
    -1e300, -800.0, -745.2, -709.0, -708.5, -708.0, -700.0, -1.0, 0.0, 1.0, 700.0, 708.9, 709.0,
    709.5, 709.8, 800.0, 1e300,
]  # fmt: skip
RANGES = [
    (None, None), (-708.0, 709.0), (-5.0, 5.0), (-709.0, 5.0), (0.0, 710.0), (None, 3.0),
    (700.0, None), (-800.0, -750.0), (-1000.0, 1000.0),
]  # fmt: skip


@pytest.mark.parametrize("ends", RANGES, ids=str)
def test_an_exponential_never_fails_and_stays_in_its_range(ends):
    x = real("x", *ends)
    made = ranges.exp(x.facts)
    node = POSTGRES.exponential(x, made)
    guarded = "CASE" in POSTGRES.write(node.copy())
    inside = [
        v for v in LOGS if (ends[0] is None or v >= ends[0]) and (ends[1] is None or v <= ends[1])
    ]
    failing = []
    for value in inside:
        found = worked_out(node, {"x": value})
        within(found, made)
        try:
            truth = called("EXP", [value])
        except OutOfRange:
            failing.append(value)
            truth = 0.0 if value < 0 else math.inf
        if -708 <= value <= 709:
            assert found == truth
        elif value > 709:
            assert found >= 8e307
        else:
            assert found <= 4e-308
    low, high = (
        (-math.inf if ends[0] is None else ends[0]),
        (math.inf if ends[1] is None else ends[1]),
    )
    assert guarded == (low < -708.0 or high > 709.0)
    assert guarded or not failing


BASES = [0.0, 5e-324, 1e-300, 0.5, 1.0, 1.0000001, 2.0, 10.0, 1e300, 1.7e308]
POWERS = [0.0, 1e-320, 1e-200, 0.5, 1.0, 2.0, 3.0, 50.0, 1e6, 1e15, 1e300]
DOMAINS = [(None, None), (0.0, 1e300), (0.5, 2.0), (0.0, 1e-200), (-1e300, 1e300)]


@pytest.mark.parametrize(("first", "second"), [*itertools.product(DOMAINS, repeat=2)], ids=str)
def test_a_power_never_fails_where_it_is_defined_and_stays_in_its_range(first, second):
    x, y = real("x", *first), real("y", *second)
    made = ranges.power(x.facts, y.facts)
    node = POSTGRES.power(x, y, made)
    signed = [(s * a, t * b) for a in BASES for b in POWERS for s in (1, -1) for t in (1, -1)]
    for a, b in signed:
        inside = all(
            (low is None or v >= low) and (high is None or v <= high)
            for v, (low, high) in ((a, first), (b, second))
        )
        defined = not (a == 0 and b < 0) and not (a < 0 and not float(b).is_integer())
        if not inside or not defined:
            continue
        found = worked_out(node, {"x": a, "y": b})
        assert found is not None
        within(found, made)
        try:
            truth = called("POWER", [a, b])
        except OutOfRange:
            log = b * math.log(abs(a))
            truth = 0.0 if log < 0 else math.copysign(math.inf, a if b % 2 else 1.0)
        if 1e-290 < abs(truth) < 1e290 or truth == 0:
            assert found == truth or abs(found - truth) <= 1e-290, (a, b, found, truth)
        elif abs(truth) >= 1e290:
            assert found * truth > 0
            assert abs(found) >= 1e290
