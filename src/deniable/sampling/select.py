"""Exact selection: the largest of scores with real noise, decided with certainty.

Key i is rate·(scoreᵢ − max score) + ln widthᵢ + noiseᵢ with real noise, a function of a uniform U
of which one word is drawn. Float64 bounds from above rule nearly every candidate out; the few
contenders get two-sided bounds; and those whose bounds overlap are ordered in exact arithmetic,
with further bits of the same U.

    exponential   −ln U             laplace   ±ln U, fair sign             gumbel   −ln(−ln(1 − U))

For Gumbel noise −ln(1 − U) ≥ U, so −ln U bounds it from above: one logarithm a candidate.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import cmp_to_key
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from deniable.errors import BadParameter
from deniable.parameters import LARGEST, one_of, rational, value_as_fraction, whole

from .exact import log_bounds
from .floats import check_floats
from .select_noise import NOISES, Noise
from .source import Source, Words, chosen

Integers = NDArray[np.int64]
Floats = NDArray[np.float64]

_CHUNK = 1 << 15
_FEW = 32  # contenders whose bounds are cheaper to find than to avoid
_FLOOR = -1e300  # keys below it are known to be below it, and no more
# A key in float64: each logarithm is at most 745 (of a width) and right to 2⁻⁴⁶ of itself, as
# `floats` tests; the inner one of Gumbel noise has a relative error below 2⁻⁴⁵; products, sums and
# 63·ln 2 are right to 2⁻⁵⁰ of terms that are at most |key| + 800. Together below 2⁻³⁵ + 2⁻⁵⁰|key|.
_MARGIN, _RELATIVE = 2.0**-34, 2.0**-48


def gumbel_max(
    scores: ArrayLike,
    rate: Fraction | float,
    *,
    widths: ArrayLike | None = None,
    source: Source | None = None,
) -> int:
    """An index i with probability exactly proportional to widthᵢ·exp(rate·scoreᵢ).

    The exponential mechanism by the Gumbel trick: it never adds up exponentials, so nothing can
    overflow [MT07]. A score of −∞, or a width of 0, is never chosen. Widths (all 1 if left out) are
    taken exactly, whole numbers of any size included: with them, an interval is chosen from a
    piecewise constant score on the reals.

    >>> gumbel_max([0.0, 1e6, -1e6], 1)
    1
    """
    field = _Field.of(scores, rational("rate", rate), widths)
    return int(_winners(field, 1, NOISES["gumbel"], chosen(source))[0])


def noisy_max(
    scores: ArrayLike,
    scale: Fraction | float,
    *,
    noise: str = "laplace",
    source: Source | None = None,
) -> int:
    """The index of the largest of scoreᵢ + scale·noiseᵢ, with real noise of unit scale.

    Exponential noise is permute-and-flip [DKSSWXZ21], Gumbel noise the exponential mechanism.
    """
    return int(noisy_top(scores, scale, 1, noise=noise, source=source)[0])


def noisy_top(
    scores: ArrayLike,
    scale: Fraction | float,
    k: int,
    *,
    noise: str = "gumbel",
    source: Source | None = None,
) -> Integers:
    """The indices of the k largest of scoreᵢ + scale·noiseᵢ, largest first.

    With Gumbel noise these are k rounds of the exponential mechanism without replacement [DR19].
    """
    field = _Field.of(scores, 1 / rational("scale", scale), None)
    one_of("noise", noise, NOISES)
    k = whole("k", k)
    if k > field.scores.size:
        raise BadParameter.of("k", k, must="at most the number of candidates (−∞ does not count)")
    return _winners(field, k, NOISES[noise], chosen(source))


@dataclass(frozen=True, kw_only=True, eq=False)
class _Field:
    """The candidates that can win, and what their keys are before noise."""

    index: Integers | None
    """Their numbers, if some candidates were left out."""
    scores: Floats
    widths: NDArray[Any] | None
    rate: Fraction
    top: float
    half: float
    """½ where the range of the scores is beyond float64, else 1."""

    @staticmethod
    def of(scores: ArrayLike, rate: Fraction, widths: ArrayLike | None) -> _Field:
        given, sizes = _scores(scores), None
        alive = given > -np.inf if given.min() == -np.inf else None
        if widths is not None:
            sizes = _widths(widths, given.size)
            positive = sizes > 0
            alive = positive if alive is None else alive & positive
        if alive is not None and not alive.any():
            raise BadParameter("scores must leave at least one candidate that can be chosen")
        index = None if alive is None else np.flatnonzero(alive)
        if index is not None:
            given, sizes = given[index], None if sizes is None else sizes[index]
        low, top = float(given.min()), float(given.max())
        half = 1.0 if top - low < np.inf else 0.5
        return _Field(index=index, scores=given, widths=sizes, rate=rate, top=top, half=half)

    def base(self, where: slice | Integers) -> Floats:
        """Keys without noise, in float64; never below _FLOOR."""
        part = self.scores[where] if self.half == 1 else self.scores[where] * self.half
        base = np.subtract(part, self.top * self.half)
        base *= float(self.rate) / self.half
        np.maximum(base, _FLOOR, out=base)
        if self.widths is not None:
            base += np.log(self.widths[where].astype(np.float64))
        return base

    def exact(self, i: int, bits: int) -> tuple[Fraction, Fraction]:
        """The ends of key i without noise, times 2ᵇⁱᵗˢ."""
        fixed = self.rate * (Fraction(float(self.scores[i])) - Fraction(self.top)) * (1 << bits)
        if self.widths is None:
            return fixed, fixed
        low, high = log_bounds(value_as_fraction(self.widths[i]), bits)
        return fixed + low, fixed + high


@dataclass(frozen=True, kw_only=True, eq=False)
class _Pool:
    """Contenders: their numbers, their words, and float64 bounds of their keys from above."""

    index: Integers
    words: Words
    keys: Floats

    def __getitem__(self, which: Integers) -> _Pool:
        return _Pool(index=self.index[which], words=self.words[which], keys=self.keys[which])

    def and_(self, other: _Pool) -> _Pool:
        return _Pool(
            index=np.concatenate([self.index, other.index]),
            words=np.concatenate([self.words, other.words]),
            keys=np.concatenate([self.keys, other.keys]),
        )


_EMPTY = _Pool(
    index=np.empty(0, dtype=np.int64), words=np.empty(0, dtype=np.uint64), keys=np.empty(0)
)


def _winners(field: _Field, k: int, noise: Noise, source: Source) -> Integers:
    """The k largest keys, largest first."""
    check_floats()
    size, enough = field.scores.size, max(k, _FEW)
    pool, cut = _EMPTY, -np.inf
    with np.errstate(divide="ignore", over="ignore"):
        for start in range(0, size, _CHUNK):
            part = slice(start, min(start + _CHUNK, size))
            words = source.words(part.stop - start)
            keys = noise.above(words)
            keys += field.base(part)
            fresh = _Pool(index=np.arange(start, part.stop), words=words, keys=keys)
            if start > 0:
                fresh = fresh[np.flatnonzero(keys >= cut)]
                if not fresh.keys.size:
                    continue
            pool = pool.and_(fresh) if start > 0 else fresh
            if pool.keys.size > enough:
                pool, cut = _pruned(field, noise, pool, k)
        found = _ranked(field, noise, pool, k, source)
    return found if field.index is None else field.index[found]


def _pruned(field: _Field, noise: Noise, pool: _Pool, k: int) -> tuple[_Pool, float]:
    """Leave out who is surely not among the k largest: below k others' bounds from below."""
    best = np.array([pool.keys.argmax()]) if k == 1 else np.argpartition(pool.keys, -k)[-k:]
    cut = float(_ends(field, noise, pool[best])[0].min())
    cut -= 2 * (_MARGIN + _RELATIVE * abs(cut))
    return pool[np.flatnonzero(pool.keys >= cut)], cut


def _ends(field: _Field, noise: Noise, pool: _Pool) -> tuple[Floats, Floats]:
    """Certified bounds of the keys."""
    base = field.base(pool.index)
    low, high = noise.ends(pool.words)
    low, high = base + low, base + high
    low -= _MARGIN + _RELATIVE * np.abs(low)
    high += _MARGIN + _RELATIVE * np.abs(high)
    low[base < _FLOOR / 2] = -np.inf
    return low, high


def _ranked(field: _Field, noise: Noise, pool: _Pool, k: int, source: Source) -> Integers:
    """Order the pool; runs whose bounds overlap are ordered exactly."""
    if pool.index.size == 1:
        return pool.index
    low, high = _ends(field, noise, pool)
    order = np.argsort(-high, kind="stable")
    low, high = low[order], high[order]
    # A cut between two places is sure if all before it are above all after it.
    cuts = np.flatnonzero(
        np.minimum.accumulate(low)[:-1] > np.maximum.accumulate(high[::-1])[-2::-1]
    )
    ranked: list[int] = []
    for start, stop in pairwise([0, *(cuts + 1).tolist(), order.size]):
        run = order[start:stop].tolist()
        rivals = [_Rival(field, noise, pool, i, source) for i in run] if len(run) > 1 else []
        rivals.sort(key=cmp_to_key(_Rival.compare))
        ranked += [rival.index for rival in rivals] or [int(pool.index[run[0]])]
        if len(ranked) >= k:
            break
    return np.array(ranked[:k], dtype=np.int64)


class _Rival:
    """A contender whose key is known to any precision."""

    def __init__(self, field: _Field, noise: Noise, pool: _Pool, i: int, source: Source) -> None:
        self.index, self.field = int(pool.index[i]), field
        self.noise = noise.lazy(int(pool.words[i]), source)

    def bounds(self, bits: int) -> tuple[Fraction, Fraction]:
        """The ends of the key times 2ᵇⁱᵗˢ."""
        fixed, noise = self.field.exact(self.index, bits), self.noise.bounds(bits)
        return fixed[0] + noise[0], fixed[1] + noise[1]

    def compare(self, other: _Rival) -> int:
        """−1 if this key is the larger one. A tie has probability 0."""
        bits = 64
        while True:
            mine, theirs = self.bounds(bits), other.bounds(bits)
            if mine[0] > theirs[1]:
                return -1
            if theirs[0] > mine[1]:
                return 1
            bits *= 2


def _scores(scores: ArrayLike) -> Floats:
    must = "a flat list of at least one number, each finite or −∞"
    try:
        given = np.asarray(scores)
    except (TypeError, ValueError):
        raise BadParameter.of("scores", type(scores).__name__, must=must) from None
    exact = given.dtype.kind in "iuf" and given.dtype.itemsize <= 8
    if not exact or given.ndim != 1 or given.size == 0:
        raise BadParameter(f"scores must be {must}")
    if given.dtype.kind in "iu" and max(-int(given.min()), int(given.max())) > 2**53:
        raise BadParameter("scores must be whole numbers of at most 2⁵³, or floats")
    floats = given.astype(np.float64, copy=False)
    if not floats.max() < np.inf:  # also refuses NaN
        raise BadParameter(f"scores must be {must}")
    return floats


def _widths(widths: ArrayLike, size: int) -> NDArray[Any]:
    must = "a number of at least 0 for each score"
    try:
        given = np.asarray(widths)
    except (TypeError, ValueError):
        raise BadParameter.of("widths", type(widths).__name__, must=must) from None
    whole_numbers = given.dtype.kind == "O" and all(type(width) is int for width in given.flat)
    exact = given.dtype.kind in "iuf" and given.dtype.itemsize <= 8
    if not (exact or whole_numbers) or given.shape != (size,):
        raise BadParameter(f"widths must be {must}")
    if not (given.min() >= 0 and given.max() <= LARGEST):  # also refuses NaN
        raise BadParameter(f"widths must be {must}")
    return given
