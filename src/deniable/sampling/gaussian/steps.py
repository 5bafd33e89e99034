"""Normal noise under a staircase: one table for every σ.

The staircase has steps of width w = 2⁻⁶ and stands above the normal density: over
[jw, (j + 1)w), and over its mirror image, it has height hⱼ = exp(−((j − ½)w)²/2), h₀ = 1. A
proposal is a signed step s, drawn from an alias table, and a place R in it: z = (s + R)·w. It
becomes x = ⌊offset + ½ + σz⌋ and is kept with probability exp(−t²/2)/hⱼ, where

    Rounded     t = |z|       so z is a standard normal and x = ⌊offset + ½ + σZ⌋ for a real Z
    Discrete    t = |x|/σ     so x has probability ∝ exp(−x²/2σ²); every x owns a stretch 1/σ of z

Both need t ≥ (j − ½)w. For Discrete |x| ≥ σ|z| − ½, so 1/σ ≤ w is asked: σ ≥ 64.

R and the uniform V that decides are first known to 43 and 21 binary digits. Nearly all is decided
in float64, with margins that cover rounding and the unknown digits; what falls within a margin is
settled in exact arithmetic by drawing further digits *of the same* R and V (`digits`).
So the law is exact.
"""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from functools import cache

import numpy as np
from numpy.typing import NDArray

from deniable.sampling.floats import check_floats
from deniable.sampling.lazy import Uniform
from deniable.sampling.source import Source, Words

from .digits import EXP_MARGIN, R_BITS, STEPS, UNIT, V_BITS, WIDTH_BITS, Digits, Target
from .table import RESIDUAL, AliasTable, Weights, alias_table

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]
Bools = NDArray[np.bool_]

LARGEST_WORD = 2**52
"""Beyond this σ, results are Python integers."""

_CHUNK = 1 << 16  # words whose intermediates stay in the second-level cache
_FEW = 12  # below this a loop in Python is cheaper than thirty calls of NumPy
_V_MASK = (1 << V_BITS) - 1


def draw(target: Target, offsets: Floats | float, *, count: int, source: Source) -> Ints:
    """That many independent draws; `offsets` is one number, or one for each draw."""
    large = target.sigma > LARGEST_WORD
    out = np.empty(count, dtype=object if large else np.int64)
    if count < _FEW or large:
        each = offsets.tolist() if isinstance(offsets, np.ndarray) else [offsets] * count
        out[:] = [_one(target, offset, source) for offset in each]
        return out
    rejected = []
    for start in range(0, count, _CHUNK):
        stop = min(start + _CHUNK, count)
        rejected.append(_chunk(target, _part(offsets, slice(start, stop)), out[start:stop], source))
        rejected[-1] += start
    again = np.concatenate(rejected)
    if again.size:
        out[again] = draw(target, _part(offsets, again), count=again.size, source=source)
    return out


def _part(offsets: Floats | float, where: slice | Ints | int) -> Floats | float:
    return offsets[where] if isinstance(offsets, np.ndarray) else offsets


def _one(target: Target, offset: float, source: Source) -> int:
    """One draw with Python's own numbers: the same words, the same law."""
    mask, thresholds, labels = _staircase_lists()
    while True:
        bits = source.integer(128)
        first, second = bits & (1 << 64) - 1, bits >> 64
        index = first & mask
        label = labels[2 * index + (first >= thresholds[index])]
        x = target.settle(_digits(label >> R_BITS, second, source), offset)
        if x is not None:
            return x


def _chunk(target: Target, offsets: Floats | float, out: Ints, source: Source) -> Ints:
    """Fill `out` with proposals; the places of those that are not kept are returned."""
    words = source.words(2 * out.size)
    first, second = words[: out.size], words[out.size :]
    place = _staircase().pick(first)
    scratch = place & _V_MASK  # V below this is kept without a look at R
    place ^= scratch
    slow = np.flatnonzero((second & np.uint64(_V_MASK)).view(np.int64) >= scratch)
    np.right_shift(second, np.uint64(V_BITS), out=scratch.view(np.uint64))
    place += scratch  # z in units of 2⁻⁴⁹; |place| < 2⁵³, so float64 holds it exactly

    sigma = target.sigma_float
    y = np.multiply(place, sigma * UNIT)
    y += offsets + 0.5
    x = np.floor(y)
    np.copyto(out, x, casting="unsafe")
    y -= x
    y -= 0.5
    np.abs(y, out=y)
    # |σz| ≤ 9σ is right to 9σ·2⁻⁵¹ and the sum to (9σ + 2)·2⁻⁵²; unknown digits move it by less
    # than σ·2⁻⁴⁹. Together below σ·2⁻⁴⁶ + 2⁻⁴⁹.
    doubtful = y > 0.5 - (sigma * 2.0**-46 + 2.0**-49)

    kept, dropped = _judge(target, place[slow], second[slow], x[slow])
    dropped &= ~doubtful[slow]
    doubtful[slow[~(kept | dropped)]] = True
    lost = []
    for i in np.flatnonzero(doubtful).tolist():
        digits = _digits(int(place[i]) >> R_BITS, int(second[i]), source)
        settled = target.settle(digits, float(_part(offsets, i)))
        if settled is None:
            lost.append(i)
        else:
            out[i] = settled
    return np.append(slow[dropped], np.array(lost, dtype=np.int64))


def _judge(target: Target, place: Ints, second: Words, x: Floats) -> tuple[Bools, Bools]:
    """Which of these proposals are surely kept, and which are surely not."""
    step = place >> R_BITS
    j = step ^ (step >> 63)
    height = np.maximum(0.0, (j - 0.5) * 2.0**-WIDTH_BITS)
    reach = target.reach(place * UNIT, x)
    chance = np.exp((height * height - reach * reach) / 2)
    v = (second & np.uint64(_V_MASK)).view(np.int64) * 2.0**-V_BITS
    known = j < STEPS
    return known & (v + 2.0**-V_BITS < chance - EXP_MARGIN), known & (v > chance + EXP_MARGIN)


def _digits(step: int, second: int, source: Source) -> Digits:
    if step == STEPS:
        j = _table().residual(source)
        step = ~j if source.integer(1) else j
    place = Uniform(source, width=R_BITS, value=second >> V_BITS)
    chance = Uniform(source, width=V_BITS, value=second & _V_MASK)
    return Digits(step=step, place=place, chance=chance)


@cache
def _table() -> AliasTable:
    check_floats()
    half = Fraction(1, 2)
    rate = Fraction(1, 2 << (2 * WIDTH_BITS))
    return alias_table(Weights(rate=rate, shift=half, first=Fraction(1)), mirror=1)


@cache
def _staircase() -> AliasTable:
    """The table with its labels packed: s·2⁴³, plus the V below which a proposal is surely kept.

    In step j the exponent e = (t² − ((j − ½)w)²)/2 is at most ((j + 1½)² − (j − ½)²)w²/2 =
    (2j + 1)w², and 1.125w² for j = 0; as e⁻ᵉ ≥ 1 − e, V + 2⁻²¹ ≤ 1 − (2j + 1.125)w² is enough.
    """
    table = _table()
    labels = table.labels
    j = labels ^ (labels >> 63)
    sure = (1 << V_BITS) - ((16 * j + 9) << (V_BITS - 2 * WIDTH_BITS - 3))
    packed = np.where(labels == RESIDUAL, STEPS << R_BITS, (labels << R_BITS) + sure)
    return replace(table, labels=packed)


@cache
def _staircase_lists() -> tuple[int, list[int], list[int]]:
    table = _staircase()
    return int(table.mask), table.thresholds.tolist(), table.labels.tolist()
