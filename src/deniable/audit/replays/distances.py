"""How far one unit moved a value, in the sense in which the value's mechanism promises.

Most mechanisms promise for numbers that move by at most Δ in a norm. Others promise for scores, for
counts of keys, for a pair of a number and a distance: one function each. All comparisons are exact:
floats are the rational numbers they are.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import singledispatch
from typing import Any

import numpy as np
from numpy.typing import NDArray

from deniable.mechanisms import (
    AboveThreshold,
    BestOf,
    Catastrophe,
    Composed,
    IntervalExponential,
    Mechanism,
    Parallel,
    ProposeTestRelease,
    RandomizedResponse,
    Sampled,
    SampledWithoutReplacement,
    Shuffled,
    SmoothNoise,
    SparseVector,
)
from deniable.mechanisms.combine.composed import ForEach
from deniable.mechanisms.keys._keys import KeyMechanism, checked_counts
from deniable.mechanisms.selection._scores import Selection
from deniable.sensitive import Sensitive

Value = Any
Declared = Sensitive[Any]
_NORMS = {"l1": "L1", "l2": "L2", "linf": "L∞"}


@dataclass(frozen=True, kw_only=True)
class Moved:
    """How far something moved, and how far it was said to move at most."""

    what: str
    moved: float
    declared: float
    within: bool
    """Decided exactly; the two numbers are rounded."""

    def __str__(self) -> str:
        unlike = f"{self.moved:.6g}" != f"{self.declared:.6g}"
        moved, declared = (
            f"{x:.6g}" if unlike or self.within else repr(x) for x in (self.moved, self.declared)
        )
        return f"{self.what} moved by {moved}; at most {declared} was declared"


class Unlike(Exception):
    """Two values that cannot be compared, because their shape or type depends on the data."""


@singledispatch
def moved(mechanism: Mechanism, first: Value, second: Value, declared: Declared) -> list[Moved]:
    """How far the value moved, in every sense that counts; Unlike if shapes or types differ.

    Numbers, in each norm that is bounded; the mechanism's own norm comes first.
    """
    gaps = _gaps(first, second)
    norms = sorted(_NORMS, key=lambda norm: norm != mechanism.norm)
    bounds = {norm: declared.bound(norm) for norm in norms}
    return [_in_norm(gaps, n, bound) for n, bound in bounds.items() if bound is not None]


@moved.register
def _(
    mechanism: Selection | AboveThreshold | SparseVector,
    first: Value,
    second: Value,
    declared: Declared,
) -> list[Moved]:
    """Each score by at most Δ; if monotonic, all to the same side."""
    if isinstance(mechanism, Selection):  # whole or not, scores are compared as floats
        first, second = (np.asarray(scores, dtype=np.float64) for scores in (first, second))
    gaps = _gaps(first, second)
    found = [_in_norm(gaps, "linf", declared.bound("linf") or 0.0)]
    if mechanism.monotonic:
        up, down = max([*gaps, Fraction(0)]), max([*(-gap for gap in gaps), Fraction(0)])
        found.append(
            _at_most("of scores said to be monotonic, one the other way", min(up, down), 0)
        )
    return found


@moved.register
def _(
    mechanism: IntervalExponential, first: Value, second: Value, declared: Declared
) -> list[Moved]:
    """The score at each point of the public grid, whatever pieces it was given in."""
    starts, scores = zip(
        *(
            (mechanism.first_points(edges, len(own)), np.asarray(own, dtype=np.float64))
            for edges, own in (first, second)
        ),
        strict=True,
    )
    points = np.unique(np.concatenate(starts))[:-1]
    at = [
        own[np.searchsorted(s, points, "right") - 1] for s, own in zip(starts, scores, strict=True)
    ]
    return [_in_norm(_gaps(*at), "linf", declared.bound("linf") or 0.0, "the score")]


@moved.register
def _(mechanism: KeyMechanism, first: Value, second: Value, _declared: Declared) -> list[Moved]:
    """At most g keys, each by one person."""
    listed = map(checked_counts, (first, second))
    counts = [dict(zip(keys, people.tolist(), strict=True)) for keys, people in listed]
    keys = dict.fromkeys([*counts[0], *counts[1]])
    gaps = [Fraction(counts[0].get(key, 0) - counts[1].get(key, 0)) for key in keys]
    changed = sum(gap != 0 for gap in gaps)
    return [
        _in_norm(gaps, "linf", 1.0, "the number of people of a key"),
        _at_most("the number of keys that one unit has", changed, mechanism.groups),
    ]


@moved.register
def _(
    mechanism: ProposeTestRelease, first: Value, second: Value, _declared: Declared
) -> list[Moved]:
    """The distance D by at most 1; f by at most b, unless both say that they are not stable."""
    (f, d), (g, e) = first, second
    apart = Fraction(0) if d == e else math.inf if math.isinf(d) or math.isinf(e) else _gap(d, e)
    found = [_at_most("the distance D to an unstable data set", apart, 1)]
    if max(d, e) >= 1:
        found.append(
            _at_most("the answer, where D says that it is stable,", _gap(f, g), mechanism.bound)
        )
    return found


@moved.register
def _(mechanism: SmoothNoise, first: Value, second: Value, _declared: Declared) -> list[Moved]:
    """f by at most S of either side; ln S by at most β."""
    (f, s), (g, t) = first, second
    ratio = abs(math.log(s) - math.log(t))
    room = mechanism.beta + 2.0**-45  # ln is right to an ulp or so; S itself has more room
    smooth = Moved(
        what="ln of the smooth bound S", moved=ratio, declared=mechanism.beta, within=ratio <= room
    )
    return [_at_most("the answer, beyond its smooth bound S,", _gap(f, g), min(s, t)), smooth]


@moved.register
def _(mechanism: Parallel, first: Value, second: Value, declared: Declared) -> list[Moved]:
    """Each part as its own mechanism says; and no more parts than a unit is in."""
    values = list(zip(first, second, strict=True))
    parts = zip(mechanism.parts, values, strict=True)
    found = [each for part, (a, b) in parts for each in moved(part, a, b, declared)]
    own = mechanism.unit
    most = (own.groups or own.rows) * own.sides
    changed = sum(not np.array_equal(a, b) for a, b in values)
    return [*found, _at_most("the number of parts that one unit touches", changed, most)]


@moved.register
def _(mechanism: Composed, first: Value, second: Value, declared: Declared) -> list[Moved]:
    """One value, as each of its mechanisms reads it and says."""
    one, other = (
        value if isinstance(value, ForEach) else [value] * len(mechanism.parts)
        for value in (first, second)
    )
    values = zip(mechanism.parts, one, other, strict=True)
    return [m for (part, _), a, b in values for m in moved(part, a, b, declared)]


@moved.register
def _(
    mechanism: Sampled | SampledWithoutReplacement, first: Value, second: Value, declared: Declared
) -> list[Moved]:
    """One row more or less (or another one), and what is asked about all rows moves as said."""
    (rows, ask), (others, ask_again) = (
        v if isinstance(v, tuple) and len(v) == 2 and callable(v[1]) else (v, _total)
        for v in (first, second)
    )
    most = 1 if isinstance(mechanism, Sampled) else 2
    found = _at_most("the number of rows", _rows_apart(rows, others), most)
    return [found, *moved(mechanism.of, ask(rows), ask_again(others), declared)]


@moved.register
def _(
    mechanism: Shuffled | RandomizedResponse, first: Value, second: Value, _declared: Declared
) -> list[Moved]:
    """One person's answers."""
    changed = sum(gap != 0 for gap in _gaps(first, second))
    most = mechanism.entries if isinstance(mechanism, RandomizedResponse) else 1
    return [_at_most(f"the number of answers in {mechanism.name}", changed, most)]


@moved.register
def _(_mechanism: BestOf, _first: Value, _second: Value, _declared: Declared) -> list[Moved]:
    """Any value will do: the runs carry their own noise."""
    return []


@moved.register
def _(mechanism: Catastrophe, first: Value, second: Value, declared: Declared) -> list[Moved]:
    """As the mechanism says that is asked if nothing goes wrong; any value will do without one."""
    return [] if mechanism.of is None else moved(mechanism.of, first, second, declared)


# ---- exact arithmetic


def _gaps(first: Value, second: Value) -> list[Fraction]:
    """The differences that are not 0, exactly."""
    a, b = _numbers(first), _numbers(second)
    if a.shape != b.shape:
        raise Unlike(f"the shape of the value is {a.shape} on one side and {b.shape} on the other")
    if a.size and a.dtype.kind != b.dtype.kind:
        raise Unlike(f"the value is of type {a.dtype} on one side and {b.dtype} on the other")
    a, b = a.ravel(), b.ravel()
    return [_gap(a[i], b[i], signed=True) for i in np.flatnonzero(a != b)]


def _numbers(value: Value) -> NDArray[Any]:
    array = np.asarray(value)
    if array.dtype.kind == "O" and all(isinstance(x, int) for x in array.flat):
        return array  # whole numbers beyond int64
    if array.dtype.kind in "biu":
        return array.astype(object)
    if array.dtype.kind != "f":
        raise Unlike(f"the value is not a number ({type(value).__name__})")
    return array


def _gap(a: Value, b: Value, *, signed: bool = False) -> Fraction:
    exact = [
        Fraction(int(x)) if isinstance(x, int | np.integer) else Fraction(float(x)) for x in (a, b)
    ]
    return exact[0] - exact[1] if signed else abs(exact[0] - exact[1])


def _in_norm(gaps: Sequence[Fraction], norm: str, bound: float, what: str = "the value") -> Moved:
    what = f"{what} in {_NORMS[norm]}"
    sizes = [abs(gap) for gap in gaps]
    if norm == "l2":
        square = sum((size * size for size in sizes), Fraction(0))
        within = square <= Fraction(bound) ** 2
        return Moved(what=what, moved=math.sqrt(square), declared=bound, within=within)
    distance = sum(sizes, Fraction(0)) if norm == "l1" else max(sizes, default=Fraction(0))
    return _at_most(what, distance, bound)


def _at_most(what: str, distance: Fraction | float, bound: float) -> Moved:
    within, shown = bool(distance <= bound), float(distance)
    if not within and shown <= bound:  # beyond it by less than a float can tell
        shown = math.nextafter(bound, math.inf)
    return Moved(what=what, moved=shown, declared=float(bound), within=within)


def _total(rows: Value) -> NDArray[Any]:
    return np.asarray(np.asarray(rows).sum(axis=0))


def _rows_apart(first: Value, second: Value) -> int:
    """How many rows are in one of two lists and not in the other, each as often as it comes."""
    counts = [Counter(np.asarray(row).tobytes() for row in rows) for rows in (first, second)]
    return sum(((counts[0] - counts[1]) + (counts[1] - counts[0])).values())
