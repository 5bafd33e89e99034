"""A column of noisy answers, and what is known of its noise.

The ± covers the noise alone: neither the bias of clipping nor that of bounding a person's rows.
"""

from __future__ import annotations

import datetime as dt
import math
import sys
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Final

from deniable import parameters
from deniable.errors import BadParameter, NoBound
from deniable.mechanisms import Mechanism
from deniable.workload.tails import Law, of_each, reach

from .months import PERIODS

_BEYOND: Final = 2**63
Interval = tuple[float, float]
Told = tuple[Any, Any, Any]
"""The low end, the high end and the ± of a value: numbers; of dates and moments, such, and a time.
"""
Reach = Callable[[int, float], tuple[float, float, float]]
"""From a row's number and its value to the low end, the high end and the ± (the longer arm)."""


class Spread(ABC):
    """How far the noisy numbers of one column may lie from the truth they estimate."""

    kind: ClassVar[str]

    @abstractmethod
    def at(self, confidence: float) -> Reach:
        """What holds the noiseless number of a row with at least this probability."""

    @abstractmethod
    def to_dict(self) -> dict[str, object]:
        """A record, for stored answers."""

    @staticmethod
    def from_dict(record: Mapping[str, Any]) -> Spread:
        """The spread that `to_dict` wrote."""
        kind = record.get("kind")
        for spread in (Additive, Summed, Tabulated):
            if kind == spread.kind:
                return spread.read(record)
        raise BadParameter.of("kind", kind, must="one of additive, summed, tabulated")


@dataclass(frozen=True, kw_only=True)
class Additive(Spread):
    """A mechanism's own noise, times a public factor; `whole` if it answered in whole numbers."""

    kind = "additive"
    mechanism: Mechanism
    factor: float = 1.0
    whole: bool = False

    def at(self, confidence: float) -> Reach:
        """value ± factor × error, the same for every row that its type can hold."""
        return _around(self.factor * self.mechanism.shown_error(confidence, whole=self.whole))

    def to_dict(self) -> dict[str, object]:
        """The mechanism's record, the factor, and whether answers are whole."""
        record = {"mechanism": self.mechanism.to_dict(), "factor": self.factor, "whole": self.whole}
        return {"kind": self.kind} | record

    @classmethod
    def read(cls, record: Mapping[str, Any]) -> Additive:
        """The record that `to_dict` wrote."""
        mechanism = Mechanism.from_dict(record["mechanism"])
        whole = bool(record.get("whole", False))
        return cls(mechanism=mechanism, factor=record["factor"], whole=whole)


def _around(half: float) -> Reach:
    """value ± half, or more where the value's type does not hold both ends.

    A float so large that it has fewer digits than the noise was rounded to them; a whole number at
    an end of int64 (or the largest float) may stand for any number beyond it. These are facts of
    the answer alone.
    """

    def reach(_: int, value: float) -> tuple[float, float, float]:
        if isinstance(value, int):
            exact = abs(value) + half < 2**53 or half == math.inf  # whole ends are floats
            far = half if exact else math.ceil(half)
            low = -math.inf if value - far <= -_BEYOND else value - far
            high = math.inf if value + far >= _BEYOND - 1 else value + far
            return low, high, half if max(-low, high) < math.inf else math.inf
        coarse = math.ulp(value) > half * 2.0**-20
        arm = half + math.ulp(value) if coarse else half
        if abs(value) == sys.float_info.max:
            arm = math.inf
        low, high = value - arm, value + arm
        if coarse:  # the ends were rounded to floats, perhaps inwards
            low, high = math.nextafter(low, -math.inf), math.nextafter(high, math.inf)
        return low, high, arm

    return reach


@dataclass(frozen=True, kw_only=True)
class Summed(Spread):
    """A weighted sum of independent noises of one law, the same for every row.

    `rounded` if answers are rounded to whole numbers, which the ± covers; `whole` if the truth is
    whole, too: then that is without loss, since |⌊z + ½⌋| ≤ k as often as |z| < k + ½.

    >>> Summed(law="laplace", scales=(2.0, 2.0), rounded=True, whole=True).half(0.95)
    8.0
    """

    kind = "summed"
    law: Law
    scales: tuple[float, ...]
    rounded: bool = False
    whole: bool = False
    among: int = 1
    """The ± holds for so many rows at once, with noise of their own each."""

    def half(self, confidence: float) -> float:
        """The ± at a confidence."""
        far = reach(self.law, self.scales, confidence=of_each(confidence, self.among))
        if self.rounded and self.whole:
            return float(math.ceil(far - 0.5))
        return far + 0.5 * self.rounded

    def at(self, confidence: float) -> Reach:
        """value ± the same for every row that its type can hold."""
        return _around(self.half(confidence))

    def to_dict(self) -> dict[str, object]:
        """The law, the scales, and how answers are rounded."""
        return {
            "kind": self.kind,
            "law": self.law,
            "scales": list(self.scales),
            "rounded": self.rounded,
            "whole": self.whole,
            "among": self.among,
        }

    @classmethod
    def read(cls, record: Mapping[str, Any]) -> Summed:
        """The record that `to_dict` wrote."""
        return cls(
            law=record["law"],
            scales=tuple(record["scales"]),
            rounded=bool(record["rounded"]),
            whole=bool(record["whole"]),
            among=record.get("among", 1),
        )


@dataclass(frozen=True, kw_only=True)
class Tabulated(Spread):
    """Intervals worked out beforehand at a few confidences, for ratios and other derived numbers.

    Asked at another confidence it answers with the next higher one it has: wider, never too narrow.
    """

    kind = "tabulated"
    intervals: Mapping[float, Sequence[Interval]]

    def __post_init__(self) -> None:
        """As they are read again: an answer that was just drawn looks like a stored one."""
        same = {c: tuple((low, high) for low, high in rows) for c, rows in self.intervals.items()}
        object.__setattr__(self, "intervals", same)

    def at(self, confidence: float) -> Reach:
        """The intervals at the least tabulated confidence that suffices."""
        enough = [c for c in self.intervals if c >= confidence]
        if not enough:
            must = f"at most {max(self.intervals):g} for this column"
            raise BadParameter.of("confidence", confidence, must=must)
        chosen = self.intervals[min(enough)]

        def reach(row: int, value: float) -> tuple[float, float, float]:
            low, high = chosen[row]
            return low, high, max(high - value, value - low)

        return reach

    def to_dict(self) -> dict[str, object]:
        """The table, with confidences as text because JSON has no other names."""
        table = {repr(c): [list(pair) for pair in rows] for c, rows in self.intervals.items()}
        return {"kind": self.kind, "intervals": table}

    @classmethod
    def read(cls, record: Mapping[str, Any]) -> Tabulated:
        """The record that `to_dict` wrote."""
        table: Mapping[str, list[list[float]]] = record["intervals"]
        return cls(intervals={float(c): [(low, high) for low, high in table[c]] for c in table})


@dataclass(frozen=True, kw_only=True)
class Noisy:
    """One column of answers: the values, their shape if they are one array, and their spread.

    `estimand` says what the numbers estimate where that is not what was asked: a sum of clipped
    values, an average over at most ten rows a person.
    """

    cells: tuple[object, ...]
    shape: tuple[int, ...] | None = None
    spread: Spread | None = None
    estimand: str = ""

    def intervals(self, confidence: float = 0.95) -> tuple[tuple[Any, Any] | None, ...]:
        """An interval for each value; None where there is no ± to show."""
        return tuple(None if told is None else told[:2] for told in self._told(confidence))

    def errors(self, confidence: float = 0.95) -> tuple[Any, ...]:
        """The ± of each value, a timedelta for dates and moments; None where there is none."""
        return tuple(None if told is None else told[2] for told in self._told(confidence))

    def _told(self, confidence: float) -> list[Told | None]:
        confidence = parameters.confidence("confidence", confidence)
        nothing: list[Told | None] = [None] * len(self.cells)
        if self.spread is None or all(_number(cell) is None for cell in self.cells):
            return nothing
        try:
            reach = self.spread.at(confidence)
        except NoBound:  # a noise scale that depends on data may not be shown
            return nothing
        numbers = map(_number, self.cells)
        found = (None if n is None else reach(row, n) for row, n in enumerate(numbers))
        return [t and _as_told(cell, *t) for cell, t in zip(self.cells, found, strict=True)]

    def to_dict(self) -> dict[str, object]:
        """A record, for stored answers."""
        record: dict[str, object] = {"cells": [encode(v) for v in self.cells]}
        if self.shape is not None:
            record["shape"] = list(self.shape)
        if self.spread is not None:
            record["spread"] = self.spread.to_dict()
        return record | ({"estimand": self.estimand} if self.estimand else {})

    @staticmethod
    def from_dict(record: Mapping[str, Any]) -> Noisy:
        """The column that `to_dict` wrote."""
        shape: Sequence[int] | None = record.get("shape")
        spread: Mapping[str, object] | None = record.get("spread")
        return Noisy(
            cells=tuple(map(decode, record["cells"])),
            shape=None if shape is None else tuple(shape),
            spread=None if spread is None else Spread.from_dict(spread),
            estimand=str(record.get("estimand", "")),
        )


_EPOCH: Final = dt.datetime.fromisoformat("1970-01-01")


def _number(cell: object) -> float | None:
    """A number as it is, a date in days and a moment in minutes since 1970; None of all else."""
    match cell:
        case bool():
            return None
        case int() | float():
            return cell
        case dt.datetime():
            return (cell - _EPOCH) / dt.timedelta(minutes=1)
        case dt.date():
            return (cell - _EPOCH.date()).days
    return None


def _as_told(cell: object, low: float, high: float, half: float) -> Told:
    """Ends and ± in the kind of the value."""
    match cell:
        case dt.datetime():
            start: dt.date = _EPOCH
            unit = dt.timedelta(minutes=1)
        case dt.date():
            start, unit = _EPOCH.date(), dt.timedelta(days=1)
        case _:
            return low, high, half
    return start + math.floor(low) * unit, start + math.ceil(high) * unit, math.ceil(half) * unit


def encode(value: object) -> object:
    """A plain answer as JSON can hold it: arrays, tuples and dates are marked as such."""
    match value:
        case None | bool() | int() | float() | str():
            return value
        case tuple():
            return {"tuple": [encode(v) for v in value]}
        case list():
            return [encode(v) for v in value]
        case dict():
            return {"dict": [[encode(k), encode(v)] for k, v in value.items()]}
    if hasattr(value, "tolist") and hasattr(value, "dtype"):
        return {"array": value.tolist(), "dtype": str(value.dtype)}
    if hasattr(value, "isoformat"):
        return {type(value).__name__: value.isoformat()}
    raise BadParameter.of("an answer", type(value), must="numbers, text, lists or arrays")


def decode(record: object) -> object:
    """The plain answer that `encode` wrote."""
    if isinstance(record, list):
        return [decode(v) for v in record]
    if not isinstance(record, dict):
        return record
    if "tuple" in record:
        return tuple(decode(v) for v in record["tuple"])
    if "dict" in record:
        return {decode(k): decode(v) for k, v in record["dict"]}
    if "array" in record:
        import numpy as np

        return np.array(record["array"], dtype=record["dtype"])
    kind, text = next(iter(record.items()))
    period = PERIODS.get(kind.lower())
    when: dt.date = (getattr(dt, kind) if period is None else period).fromisoformat(text)
    return when


def marked(record: Any) -> Any:
    """A record in which JSON can hold every number: ∞ and NaN, which noise can make, as text."""
    if isinstance(record, float) and not math.isfinite(record):
        return {"float": repr(record)}
    if isinstance(record, Mapping):
        return {name: marked(part) for name, part in record.items()}
    return [marked(part) for part in record] if isinstance(record, list) else record


def unmarked(record: Any) -> Any:
    """The record that `marked` was given."""
    if isinstance(record, Mapping):
        if record.keys() == {"float"} and isinstance(record["float"], str):
            return float(record["float"])
        return {name: unmarked(part) for name, part in record.items()}
    return [unmarked(part) for part in record] if isinstance(record, list) else record
