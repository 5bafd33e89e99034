"""What may tell two data sets apart: scores of answers, learned or plain.

An event is "this score is at most t" or "at least t", so that one search over thresholds serves
them all. Plain scores are numbers an observer reads off an answer (a value, its last binary digit,
a difference of two entries, the largest entry, the run time); learned scores are smoothed
likelihood ratios over bins or over exact values. Everything here only proposes: what is proposed
is judged on answers drawn afresh, so that a bad idea costs power and never a false alarm.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from .certify import FloatArray
from .outputs import IntArray, Table


class Feature(Protocol):
    """A score of answers, and the events it makes in words."""

    def scores(self, table: Table) -> FloatArray:
        """One score an answer; NaN belongs to no event."""

    def words(self, threshold: float, *, at_least: bool) -> str:
        """The event "score ≥ threshold" (or ≤), as one would say it."""


@dataclass(frozen=True, eq=False)
class Readout:
    """A number read off an answer."""

    name: str
    scores: Callable[[Table], FloatArray]
    verb: str = "is"
    show: Callable[[float], str] = "{:.6g}".format

    def words(self, threshold: float, *, at_least: bool) -> str:
        """Such as "the answer is at most 3.2"."""
        how = "at least" if at_least else "at most"
        return f"{self.name} {self.verb} {how} {self.show(threshold)}"


@dataclass(frozen=True, eq=False)
class Binned:
    """The learned likelihood ratio of a number's bin."""

    reading: Readout
    edges: FloatArray
    ratios: FloatArray

    @staticmethod
    def learn(reading: Readout, first: Table, second: Table) -> Binned | None:
        """Bins of equal weight; None where all numbers are the same."""
        a, b = (finite(reading.scores(table)) for table in (first, second))
        pooled = np.sort(np.concatenate([a, b]))
        bins = int(np.clip(pooled.size // 100, 8, 256))
        at = (np.arange(1, bins) * (pooled.size / bins)).astype(np.int64)
        edges = np.unique(pooled[at]) if pooled.size >= bins else pooled[:0]
        if edges.size == 0 or pooled[0] == pooled[-1]:
            return None
        counts = [
            np.bincount(np.searchsorted(edges, x, side="right"), minlength=edges.size + 1)
            for x in (a, b)
        ]
        return Binned(reading, edges, _log_ratio(counts[0], counts[1], first.size, second.size))

    def scores(self, table: Table) -> FloatArray:
        """The ratio of each number's bin; NaN stays NaN."""
        numbers = self.reading.scores(table)
        found = self.ratios[np.searchsorted(self.edges, numbers, side="right")]
        return np.where(np.isnan(numbers), np.nan, found)

    def words(self, threshold: float, *, at_least: bool) -> str:
        """The bins as intervals, the neighbouring ones joined."""
        inside = self.ratios >= threshold if at_least else self.ratios <= threshold
        bounds = np.concatenate([[-math.inf], self.edges, [math.inf]])
        changes = np.flatnonzero(
            np.diff(np.concatenate([[False], inside, [False]]).astype(np.int8))
        )
        intervals = [
            f"[{self.reading.show(bounds[start])}, {self.reading.show(bounds[stop])})"
            for start, stop in zip(changes[::2], changes[1::2], strict=True)
        ]
        return f"{self.reading.name} lies in {_some(intervals[:3], of=len(intervals))}"


@dataclass(frozen=True, eq=False)
class Coded:
    """The learned likelihood ratio of an exact value; one never met before counts as even."""

    name: str
    codes: Callable[[Table], IntArray]
    values: IntArray
    ratios: FloatArray
    label: Callable[[int], str]
    """The value at a place in `values`, in words."""

    @staticmethod
    def learn(
        name: str,
        codes: Callable[[Table], IntArray],
        label: Callable[[Table, int], str],
        first: Table,
        second: Table,
    ) -> Coded | None:
        """The commonest values that came twice; None if there are none or all are the same."""
        sides = [codes(first), codes(second)]
        values, where, counts = np.unique(
            np.concatenate(sides), return_index=True, return_counts=True
        )
        repeated = np.flatnonzero(counts > 1)
        if values.size == 1 or repeated.size == 0:
            return None
        keep = np.sort(repeated[np.argsort(-counts[repeated], kind="stable")][:4096])
        values, where = values[keep], where[keep]
        here, there = (_counts(values, side) for side in sides)

        def in_words(place: int) -> str:
            at = int(where[place])
            return label(first, at) if at < first.size else label(second, at - first.size)

        return Coded(
            name, codes, values, _log_ratio(here, there, first.size, second.size), in_words
        )

    def scores(self, table: Table) -> FloatArray:
        """The ratio of each answer's value."""
        codes = self.codes(table)
        at = np.minimum(np.searchsorted(self.values, codes), self.values.size - 1)
        return np.where(self.values[at] == codes, self.ratios[at], 0.0)

    def words(self, threshold: float, *, at_least: bool) -> str:
        """The values, or those outside where unknown values are inside."""
        inside = self.ratios >= threshold if at_least else self.ratios <= threshold
        unknown = threshold <= 0 if at_least else threshold >= 0
        chosen = ~inside if unknown else inside
        places = np.flatnonzero(chosen)
        places = places[np.argsort(-np.abs(self.ratios[places]), kind="stable")]
        shown = _some([self.label(int(place)) for place in places[:3]], of=places.size)
        return f"{self.name} {'is not' if unknown else 'is'} {shown}"


def last_digit(numbers: FloatArray) -> FloatArray:
    """The exponent of the largest power of two that divides a number: its last binary digit.

    Noise added in floating point leaves traces here: results that are near zero can have finer
    digits than the sum of a large number and noise ever has [Mir12].

    >>> last_digit(np.array([1.0, 6.0, 0.375, 0.0])).tolist()  # all powers divide 0
    [0.0, 1.0, -3.0, 1100.0]
    """
    fraction, exponent = np.frexp(np.where(np.isfinite(numbers), numbers, 0.0))
    mantissa = np.abs(fraction * 2.0**53).astype(np.int64)
    lowest = np.frexp((mantissa & -mantissa).astype(np.float64))[1] - 1
    digit = np.where(mantissa == 0, 1100.0, exponent - 53.0 + lowest)
    return np.where(np.isfinite(numbers), digit, np.nan)


def precision_cell(numbers: FloatArray) -> IntArray:
    """A code for a number's size and its last binary digit together, both as powers of two."""
    size = np.frexp(np.where(np.isfinite(numbers), numbers, 0.0))[1].astype(np.int64)
    digit = np.nan_to_num(last_digit(numbers), nan=2000.0).astype(np.int64)
    return size * 8192 + digit + 4096


def precision_words(code: int) -> str:
    """What `precision_cell` coded."""
    size, digit = divmod(code, 8192)
    return f"between 2^{size - 1} and 2^{size} with last binary digit 2^{digit - 4096}"


def finite(numbers: FloatArray) -> FloatArray:
    """The numbers that are numbers."""
    return numbers[~np.isnan(numbers)]


def _counts(values: IntArray, codes: IntArray) -> IntArray:
    at = np.minimum(np.searchsorted(values, codes), values.size - 1)
    return np.bincount(at[values[at] == codes], minlength=values.size)


def _log_ratio(a: IntArray, b: IntArray, size_a: int, size_b: int) -> FloatArray:
    """ln of the ratio of rates, each count raised by ½ so that none is zero."""
    return np.asarray(np.log((a + 0.5) / (size_a + 1)) - np.log((b + 0.5) / (size_b + 1)))


def _some(items: list[str], *, of: int) -> str:
    more = f" (or {of - len(items)} more like it)" if of > len(items) else ""
    return (" or ".join(items) or "anything") + more
