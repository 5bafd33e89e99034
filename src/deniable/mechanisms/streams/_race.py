"""Comparing noisy queries with one noisy threshold, exactly and fast."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from deniable.errors import BadParameter
from deniable.sampling import current, lazy

_BLOCK = 4096
_EXACT = 2.0**53  # all whole numbers below it are floats


class Race:
    """Is q + a·Laplace ≥ T + b·Laplace, with b's noise drawn once and a's anew for each query?

    One query costs a few microseconds, a long array about as many nanoseconds: blocks are decided
    in floats, with a margin that covers all rounding, and only what falls within it is decided
    lazily, with the very words drawn for it.
    """

    def __init__(self, threshold: float, threshold_scale: Fraction, query_scale: Fraction) -> None:
        self._threshold = Fraction(threshold)
        self._threshold_scale = threshold_scale
        self._query_scale = query_scale
        self._noise = lazy.Laplace()
        self.last: float | int = 0

    def above(self, query: float | Fraction) -> bool:
        """Whether this query passes."""
        return self._decide(query, lazy.Laplace())

    def winners(self, queries: Iterable[float]) -> Iterator[int]:
        """The indices of the queries that pass, in order; `last` is the value of the newest."""
        start = 0
        for block in _blocks(queries):
            words = current().words(block.size)
            for index, certain in self._likely(block, words):
                query = block[index].item()
                if certain or self._decide(query, lazy.Laplace(word=int(words[index]))):
                    self.last = query
                    yield start + index
            start += block.size

    def _decide(self, query: float | Fraction, noise: lazy.Laplace) -> bool:
        terms = ((self._query_scale, noise), (-self._threshold_scale, self._noise))
        return lazy.sign(Fraction(query) - self._threshold, *terms) >= 0

    def _likely(
        self, block: NDArray[np.float64], words: NDArray[np.uint64]
    ) -> Iterator[tuple[int, bool]]:
        """(index, True) if a query certainly passes, (index, False) if it is too close to tell."""
        noise, error = lazy.Laplace.estimates(words)
        scale, other = float(self._query_scale), float(self._threshold_scale)
        held = float(self._threshold) + other * self._noise.estimate
        gap = block + scale * noise - held
        size = (
            np.abs(block)
            + scale * np.abs(noise)
            + abs(float(self._threshold))
            + abs(other * self._noise.estimate)
        )
        slack = scale * error + other * self._noise.error + size * 2.0**-46 + 2.0**-1000
        for index in np.nonzero(gap > -slack)[0].tolist():
            yield index, bool(gap[index] > slack[index])


def _blocks(queries: Iterable[float]) -> Iterator[NDArray[np.float64]]:
    """The stream in arrays: long ones as they are, anything else one query at a time."""
    if isinstance(queries, list | tuple):
        queries = np.asarray(queries)
    if isinstance(queries, np.ndarray):
        if queries.ndim != 1 or queries.dtype.kind not in "iuf":
            raise BadParameter("queries must be a one-dimensional stream of numbers")
        pieces: Iterable[NDArray[np.float64]] = (
            queries[i : i + _BLOCK] for i in range(0, queries.size, _BLOCK)
        )
    else:
        pieces = (np.asarray([q]) for q in queries)
    for piece in pieces:
        array = piece.astype(np.float64)
        if not np.isfinite(array).all() or not _held(array, piece):
            raise BadParameter("a query's value must be a finite number that a float can hold")
        yield array


def _held(array: NDArray[np.float64], piece: NDArray[Any]) -> bool:
    """Are the floats the very numbers? NumPy would round large whole ones before it compares."""
    if np.abs(array).max(initial=0.0) < _EXACT:
        return bool((array == piece).all())
    return bool(array.tolist() == piece.tolist())
