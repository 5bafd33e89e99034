"""Guarded arithmetic, worked out by an engine in Python that fails where Postgres does."""

import itertools
import math
import sys

import pytest
from sqlglot import exp

from deniable.query.algebra import Domain, Kind, ranges
from deniable.query.compile import nodes as sql
from deniable.query.compile.postgres import Postgres
from deniable.query.compile.reals import Guarded, Real

from .engine import IEEE, OutOfRange, arithmetic, worked_out

POSTGRES = Postgres()
MOST = sys.float_info.max
KINDS = {
    exp.Add: ranges.add,
    exp.Sub: ranges.subtract,
    exp.Mul: ranges.multiply,
    exp.Div: ranges.divide,
}


def ends_of(facts):
    low, high = (
        (-MOST if facts.low is None else facts.low),
        (MOST if facts.high is None else facts.high),
    )
    return float(low), float(high)


def real(name, low, high, kind=Kind.FLOAT):
    facts = Domain(kind=kind, low=low, high=high, nullable=False)
    return Real(dialect=POSTGRES, node=sql.name(name), facts=facts)


RANGES = [
    (None, None),
    (-1e300, 1e300),
    (0.5, 2.0**700),
    (-(2.0**-300), 2.0**-300),
    (2.0**-900, 2.0**-400),
    (3.0, 3.0),
    (-(2.0**-1000), -(2.0**-1000)),
    (2.0**1000, 2.0**1000),
    (-4.0, 9.0),
    (0.0, 2.0**-600),
    (-(2.0**600), -(2.0**500)),
    (None, -1.0),
    (2.0**-1074, None),
    (0.0, 0.0),
]
EXPONENTS = (-1074, -1070, -1022, -1000, -900, -620, -530, -500, -400, -300, -51, -1, 0, 1, 52, 60,
             440, 500, 512, 530, 600, 700, 1000, 1021, 1022, 1023)  # fmt: skip
SIZES = [0.0, MOST, *(math.ldexp(part, e) for e in EXPONENTS for part in (1.0, 1.75))]


def values(facts):
    low, high = ends_of(facts)
    inside = {s * size for size in SIZES for s in (1.0, -1.0)} | {low, high}
    return sorted(v for v in inside if low <= v <= high)


def plain(kind, x, y):
    """Whether the engine itself can work it out."""
    try:
        arithmetic(kind, x, y)
    except OutOfRange:
        return False
    return True


def alike(found, ieee, nothing):
    """The same; or 0 for what is next to nothing, or ∞ for what is beyond 2⁴⁴⁰."""
    if found == ieee:
        return True
    if abs(ieee) >= 2.0**440:
        return math.isinf(found) and found * ieee > 0
    return found == 0 and abs(ieee) <= nothing


def nothing(kind, x, y):
    """XY/2ᵗ with XY/4ᵗ = 2⁻¹⁰⁶⁰, of a product with |x| ≤ X and |y| ≤ Y; of a sum, 0."""
    if kind in (exp.Add, exp.Sub):
        return 0.0
    sizes = [max(map(abs, ends_of(each))) for each in (x, y)]
    if kind is exp.Div:
        low, high = ends_of(y)
        least = 2.0**-1074 if low <= 0 <= high else min(abs(low), abs(high))
        sizes[1] = 1 / max(least, 2.0**-1022)
    most = math.prod(min(size, 1.0) for size in sizes)
    return 8 * math.sqrt(most) * 2.0**-530


PAIRS = [*itertools.product(RANGES, repeat=2)]


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.__name__)
def test_no_value_makes_the_engine_fail_and_results_are_those_of_ieee_754(kind):
    for first, second in PAIRS:
        x, y = real("x", *first), real("y", *second)
        made = KINDS[kind](x.facts, y.facts)
        guarded = Guarded(kind, x, y, made)
        small = nothing(kind, x.facts, y.facts)
        pairs = [
            (a, b) for a in values(x.facts) for b in values(y.facts) if kind is not exp.Div or b
        ]
        for a, b in pairs[::29] + pairs[:20] + pairs[-20:]:
            found, ieee = worked_out(guarded.node, {"x": a, "y": b}), IEEE[kind](a, b)
            if math.isnan(found):  # ∞ − ∞, which is made missing
                assert guarded.overflows
                assert min(abs(a), abs(b)) >= 2.0**1022
                continue
            assert alike(found, ieee, small), (first, second, a, b, found, ieee)
            if not guarded.strays:
                assert made.low is None or found >= made.low
                assert made.high is None or found <= made.high


WHOLE = [(None, None), (-5, 9), (1, 7), (0, 0), (-(2**62), 2**62), (3, 3)]
MIXED = [(real("x", *r), r) for r in RANGES] + [(real("x", *r, kind=Kind.INT), r) for r in WHOLE]


def corners(facts):
    """The least and the largest sizes that there are, apart from 0."""
    low, high = ends_of(facts)
    tiny = 1.0 if facts.kind is Kind.INT else 2.0**-1074
    if facts.kind is Kind.INT:
        low, high = max(low, -(2.0**63)), min(high, 2.0**63)
    found = {low, high} - {0.0}
    found |= {tiny} if low <= tiny <= high else set()
    found |= {-tiny} if low <= -tiny <= high else set()
    return found | {-each for each in found}  # of sums only sizes are looked at


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.__name__)
def test_there_is_a_guard_only_where_some_value_needs_it(kind):
    """Where the engine can work out every pair of ends by itself, it is left to do so."""
    for (x, first), (y, second) in itertools.product(MIXED, repeat=2):
        other = Real(dialect=POSTGRES, node=sql.name("y"), facts=y.facts)
        made = KINDS[kind](x.facts, y.facts)
        guarded = Guarded(kind, x, other, made)
        needed = not all(plain(kind, a, b) for a in corners(x.facts) for b in corners(y.facts))
        if not needed:
            assert not guarded.vanishes, (first, second)
            assert not guarded.overflows, (first, second)
            assert guarded.node == sql.binary(kind, x.node, other.node)


@pytest.mark.parametrize(
    ("vanishes", "low", "high", "strays"),
    [
        (True, 0.0, 1.0, False),
        (True, -1.0, 1.0, False),
        (True, 2.0**-1000, 1.0, True),
        (True, -1.0, -0.5, True),
        (False, 2.0**-1000, 1.0, False),
    ],
)
def test_zero_for_what_vanishes_may_lie_outside_the_range(vanishes, low, high, strays):
    tiny = (2.0**-1000, 2.0**-500) if vanishes else (1.0, 2.0)
    made = Domain(kind=Kind.FLOAT, low=low, high=high)
    guarded = Guarded(exp.Mul, real("x", *tiny), real("y", *tiny), made)
    assert (guarded.vanishes, guarded.strays) == (vanishes, strays)


@pytest.mark.parametrize(
    ("low", "high", "strays"),
    [
        (None, None, False),
        (None, 5.0, True),
        (None, 0.0, False),
        (-5.0, None, True),
        (0.0, None, False),
    ],
)
def test_infinity_for_what_overflows_may_lie_outside_the_range(low, high, strays):
    made = Domain(kind=Kind.FLOAT, low=low, high=high)
    guarded = Guarded(exp.Add, real("x", None, None), real("y", None, None), made)
    assert (guarded.overflows, guarded.strays) == (True, strays)


@pytest.mark.parametrize("kind", [exp.Mul, exp.Div], ids=lambda kind: kind.__name__)
def test_the_smallest_product_that_is_tried_is_a_float_with_bits_to_spare(kind):
    """2⁻¹⁰⁶⁰, or twice that where the exponents of the ranges do not add up to an even number."""
    tried = set()
    for first, second in itertools.product((0, 1, 2, 7, 100, 301), repeat=2):
        x = real("x", 0.0, 2.0**-first)
        y = real("y", 2.0**second, None) if kind is exp.Div else real("y", 0.0, 2.0**-second)
        guarded = Guarded(kind, x, y, KINDS[kind](x.facts, y.facts))
        (test,) = (node.left for node in guarded.node.find_all(exp.LTE) if node.find(kind))
        far = {"x": 0.0, "y": MOST if kind is exp.Div else 0.0}
        tried.add(math.log2(worked_out(test, far)))
    assert tried == {-1060.0, -1059.0}


def test_a_divisor_that_is_always_huge_has_a_window_that_floats_can_hold():
    x, y = real("x", 0.0, 1.0), real("y", 2.0**1000, None)
    guarded = Guarded(exp.Div, x, y, ranges.divide(x.facts, y.facts))
    assert guarded.vanishes
    small = nothing(exp.Div, x.facts, y.facts)
    for a, b in itertools.product((0.0, 2.0**-1074, 2.0**-30, 1.0), (2.0**1000, 2.0**1020, MOST)):
        assert alike(worked_out(guarded.node, {"x": a, "y": b}), a / b, small), (a, b)
