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
settled in exact arithmetic by drawing further digits *of the same* R and V (`digits`). For σ from
2⁴⁰ on, where one float cannot tell σz from its neighbours, 64 more digits of R are drawn at once;
beyond 2⁵² their product with σ is a whole number of Python.
So the law is exact.
"""

from __future__ import annotations

from array import array
from dataclasses import replace
from fractions import Fraction
from functools import cache

import numpy as np
from numpy.typing import NDArray

from deniable.sampling.floats import check_floats
from deniable.sampling.lazy import Uniform
from deniable.sampling.source import Source, Words

from .digits import (
    EXP_MARGIN,
    LARGEST_WORD,
    R_BITS,
    STEPS,
    V_BITS,
    WIDTH_BITS,
    Digits,
    Target,
    finely,
    floors,
    widely,
)
from .table import RESIDUAL, AliasTable, Weights, alias_table

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]
Bools = NDArray[np.bool_]

LEAST_DISCRETE = 1 << WIDTH_BITS
"""The σ from which the discrete law fits under the staircase."""
FEW = 12
"""Below this a loop in Python is cheaper than fifty calls of NumPy."""

_CHUNK = 1 << 16  # words whose intermediates stay in the second-level cache
_V_MASK = (1 << V_BITS) - 1


def draw(target: Target, offsets: Floats | float, *, count: int, source: Source) -> Ints:
    """That many independent draws; `offsets` is one number, or one for each draw."""
    large = target.sigma > LARGEST_WORD
    out = np.empty(count, dtype=object if large else np.int64)
    if count < FEW or (large and not target.fine):
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
    mask, rough, labels = _compact()
    while True:
        bits = source.integer(128)
        first, second = bits & (1 << 64) - 1, bits >> 64
        index = first & mask
        # Rounding to a float keeps the order, so only a tie needs a look at the integers.
        near = float(first)
        other = near > rough[index]
        if near == rough[index]:
            other = first >= int(_staircase().thresholds[index])
        label = labels[2 * index + other]
        x = target.settle(_digits(label >> R_BITS, second, source), offset)
        if x is not None:
            return x


def _chunk(target: Target, offsets: Floats | float, out: Ints, source: Source) -> Ints:
    """Fill `out`; the few places that could not be filled are returned.

    One proposal in 80 is dropped. Some more are made than there are places, and those that are not
    dropped fill the holes in the order in which they were drawn, so no value is favoured.
    """
    size = out.size
    total = size + size // 64 + 16
    words = source.words(2 * total)
    second = words[total:]
    place, slow = _proposals(words[:total], second)
    unclear, dropped = (slow[which] for which in _judge(target, place[slow], second[slow]))
    holes, alive = dropped[dropped < size], np.ones(total - size, dtype=np.bool_)
    alive[dropped[holes.size :] - size] = False
    spare = np.flatnonzero(alive)[: holes.size] + size
    holes, lost = holes[: spare.size], holes[spare.size :]
    place[holes] = place[spare]

    more = source.words(size) if target.fine else None
    x, doubtful = _floors(target, place[:size], more, offsets)
    np.copyto(out, x, casting="unsafe")
    if not unclear.size and not doubtful.any():
        return lost
    origin = np.arange(size)
    origin[holes] = spare
    doubtful |= np.isin(origin, unclear)
    doubtful[lost] = False
    again = []
    for i in np.flatnonzero(doubtful).tolist():
        digits = _digits(int(place[i]) >> R_BITS, int(second[origin[i]]), source)
        if more is not None:
            digits.place = Uniform(
                source, width=R_BITS + 64, value=(digits.place.value << 64) | int(more[i])
            )
        settled = target.settle(digits, float(_part(offsets, i)))
        if settled is None:
            again.append(i)
        else:
            out[i] = settled
    return np.append(lost, np.array(again, dtype=np.int64))


def _floors(
    target: Target, place: Ints, more: Words | None, offsets: Floats | float
) -> tuple[Ints | Floats | NDArray[np.object_], Bools]:
    if more is None:
        return floors(place, target.sigma_float, offsets)
    if target.sigma > LARGEST_WORD:
        return widely(place, more, target.sigma, offsets)
    return finely(place, more, target.sigma_float, offsets)


def _proposals(first: Words, second: Words) -> tuple[Ints, Ints]:
    """z in units of 2⁻⁴⁹, exact in float64 as |z| < 2⁵³ of them; and which need a look at V."""
    place = _staircase().pick(first)
    scratch = place & _V_MASK
    place ^= scratch
    slow = np.flatnonzero((second & np.uint64(_V_MASK)).view(np.int64) >= scratch)
    np.right_shift(second, np.uint64(V_BITS), out=scratch.view(np.uint64))
    place += scratch
    return place, slow


def _judge(target: Target, place: Ints, second: Words) -> tuple[Bools, Bools]:
    """Which of these proposals float64 cannot judge, and which are surely dropped."""
    step = place >> R_BITS
    j = step ^ (step >> 63)
    height = np.maximum(0.0, (j - 0.5) * 2.0**-WIDTH_BITS)
    reach, unclear = target.reach(place)
    unclear |= j >= STEPS
    chance = np.exp((height * height - reach * reach) / 2)
    v = (second & np.uint64(_V_MASK)).view(np.int64) * 2.0**-V_BITS
    dropped = v > chance + EXP_MARGIN
    unclear |= ~dropped & (v + 2.0**-V_BITS >= chance - EXP_MARGIN)
    return unclear, dropped & ~unclear


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
    assert len(table.units) <= STEPS
    labels = table.labels
    j = labels ^ (labels >> 63)
    sure = (1 << V_BITS) - ((16 * j + 9) << (V_BITS - 2 * WIDTH_BITS - 3))
    packed = np.where(labels == RESIDUAL, STEPS << R_BITS, (labels << R_BITS) + sure)
    return replace(table, labels=packed)


@cache
def _compact() -> tuple[int, array[float], array[int]]:
    """The same for single draws: contiguous, so that no step is quicker to look up than another.

    Thresholds as floats: an integer of Python takes longer to make the more digits it has.
    """
    table = _staircase()
    thresholds = array("d", map(float, table.thresholds.tolist()))
    return int(table.mask), thresholds, array("q", table.labels.tolist())
