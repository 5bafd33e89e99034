"""Integer arithmetic without loss, on a million cells: block sums and convolutions.

Strategies multiply counts by matrices of whole numbers. A product is exact here, or it is clipped
to ±2⁶², which never moves two vectors further apart. Numbers beyond 64 bits are held in parts, and
whether one is clipped is decided in whole numbers as well. So the norms of a matrix's columns bound
what one unit can change, and nothing has to be said about floating-point error.

Long convolutions are computed by the fast Fourier transform on digits of 11 bits. With a transform
of length N the error of each output is below 40·log₂N·2⁻⁵³·‖kernel‖₂·‖digits‖₂ (Higham, *Accuracy
and Stability of Numerical Algorithms*, Theorem 24.2, proves about 7·log₂N per transform); `DIGIT`
and the limit on ‖kernel‖₂ keep that below 1/8, and the nearest whole number is then the exact one.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, TypeAlias

import numpy as np
from numpy.typing import NDArray

Integers: TypeAlias = NDArray[np.int64]
Floats: TypeAlias = NDArray[np.float64]

HELD: Final = 2**62
LARGEST_CELL: Final = 2**50
"""Cells beyond this are clipped to it: 10⁹ rows of a person-weighted count, 10¹⁵ rows otherwise."""
WEIGHT_BITS: Final = 11
"""Cells are multiplied by weights below 2¹¹ before a convolution."""
DIGIT: Final = 11
"""Bits of a digit: what a convolution drops, it drops digit by digit."""
_DIGITS: Final = 6  # 11 · 6 bits hold 2⁵⁰ · 2¹¹ and a sign
MOST_SHIFT: Final = _DIGITS
"""How many digits a convolution can drop: all of them, after which only carries are left."""
_HALF: Final = 31  # bits of the lower part of a cell, where cells are added


def joined(parts: Sequence[Integers], bits: int, *, shift: int = 0) -> Integers:
    """⌊Σ partₖ·2^(bits·k)/2ˢ⌋, exact or clipped to ±2⁶², for parts within ±2⁶².

    Carries go from each part to the next, so no sum is ever formed that might not fit. The last
    part must stand for bits below 2⁶², and none of it is dropped.
    """
    above = bits * (len(parts) - 1) - shift
    assert 0 <= above <= 62, "the last part lies beyond what is held, or is dropped"
    low = carry = np.zeros_like(parts[0])
    for place, part in enumerate(parts[:-1]):
        full = part + carry
        digit, at = full & ((1 << bits) - 1), bits * place - shift
        low = low | (digit << at if at >= 0 else digit >> min(-at, 63))
        carry = full >> bits
    top, most = parts[-1] + carry, HELD >> above
    inside = (top >= -most) & (top < most)
    exact = (np.where(inside, top, 0) << above) + low
    return np.where(inside, exact, np.where(top < 0, -HELD, HELD))


def grouped_sums(cells: Integers, codes: Integers, groups: int) -> Integers:
    """The sum of the cells of each group, exact or clipped to ±2⁶²; for up to 2³⁰ cells."""
    parts = np.zeros((2, groups), dtype=np.int64)
    np.add.at(parts[0], codes, cells & ((1 << _HALF) - 1))
    np.add.at(parts[1], codes, cells >> _HALF)
    return joined(list(parts), _HALF)


def block_sums(cells: Integers, size: int, blocks: int) -> Integers:
    """The sums of consecutive blocks of so many cells; what lies beyond the last cell is 0."""
    if size == 1:
        return np.clip(cells, -HELD, HELD)
    padded = np.zeros(size * blocks, dtype=np.int64)
    padded[: len(cells)] = cells
    table = padded.reshape(blocks, size)
    low, high = table & ((1 << _HALF) - 1), table >> _HALF
    return joined([low.sum(axis=1), high.sum(axis=1)], _HALF)


def held_cells(cells: Integers) -> Integers:
    """Cells clipped so that a weight of 11 bits does not overflow."""
    return np.clip(cells, -LARGEST_CELL, LARGEST_CELL)


def convolve(kernel: Integers, signal: Integers, *, shift: int) -> Integers:
    """⌊(kernel ⊛ signal)/2^(11·shift)⌋ on a circle, exact, clipped to ±2⁶².

    Both have the same length, made of small prime factors; |signal| ≤ 2⁶¹ and ‖kernel‖₂ as
    `kernel_fits` allows; `shift` is at most `MOST_SHIFT`. The time does not depend on the signal.
    """
    from scipy import fft

    assert 0 <= shift <= MOST_SHIFT, "more digits are dropped than there are"
    length = len(kernel)
    turned = fft.rfft(kernel.astype(np.float64))
    rest, half = signal.copy(), 1 << DIGIT - 1
    carry, kept = np.zeros(length, dtype=np.int64), []
    for place in range(_DIGITS):
        digit = ((rest + half) & (2 * half - 1)) - half if place < _DIGITS - 1 else rest
        rest = (rest - digit) >> DIGIT
        real = np.rint(fft.irfft(turned * fft.rfft(digit.astype(np.float64)), n=length))
        product = real.astype(np.int64)
        if place < shift:  # what is carried to the next digit, rounded down
            carry = (carry + product) >> DIGIT
        else:
            kept.append(product)
    if not kept:
        return carry
    return joined([kept[0] + carry, *kept[1:]], DIGIT)


def times(matrix: Integers, cells: Integers, *, shift: int = 0) -> Integers:
    """⌊matrix·cells/2ˢ⌋, exact or clipped to ±2⁶², for any cells; rows are ≤ 2⁶¹ long in L1.

    Cells are cut into parts so short that the products of a row and a part stay below 2⁶², and that
    the last one begins at bit 42 or above: s is at most that.
    """
    longest = matrix.shape[1] * int(np.abs(matrix).max(initial=0))
    bits = min(62 - longest.bit_length(), 31)
    assert bits > 0, "a row is too long for exact products"
    parts, rest = [], np.clip(cells, -HELD, HELD)
    for _ in range(-(-63 // bits) - 1):
        parts.append(matrix @ (rest & ((1 << bits) - 1)))
        rest = rest >> bits
    return joined([*parts, matrix @ rest], bits, shift=shift)


def kernel_fits(kernel: Integers) -> bool:
    """Whether convolutions with a kernel are exact."""
    length = len(kernel)
    norm = float(np.sqrt(np.square(kernel.astype(np.float64)).sum()))
    digits = np.sqrt(length) * 2.0 ** (DIGIT - 1)
    return bool(40 * np.log2(length) * 2.0**-53 * norm * digits < 1 / 8)
