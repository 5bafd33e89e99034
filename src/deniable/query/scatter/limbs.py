"""Whole numbers of up to 38 digits, a column at a time: ⌊x/2ᵏ + ½⌋, held at the ends of 64 bits.

Sums of weighted values are wider than 64 bits. Engines send them as decimals, which Arrow keeps as
two's complement of 128 bits: x = high·2⁶⁴ + low, high signed and low not. With 0 < k < 64,

    low′ = low + 2ᵏ⁻¹ mod 2⁶⁴, with a carry into high     |x| < 10³⁸ < 2¹²⁷ − 2⁶²: no overflow
    ⌊x′/2ᵏ⌋ = (high′ >> k)·2⁶⁴ + (high′·2⁶⁴⁻ᵏ mod 2⁶⁴ | low′ >> k)

and the quotient fits in 64 bits if its upper limb is the sign of its lower one.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    import pyarrow as pa

_ENDS = np.iinfo(np.int64)


def rounded(column: pa.Array[Any], *, shift: int) -> NDArray[np.int64]:
    """A column of 64-bit integers or of decimals without fraction; nothing in it is missing.

    With a negative shift numbers are multiplied, as far as there is room.

    >>> import pyarrow as pa
    >>> from decimal import Decimal
    >>> wide = pa.array([Decimal(2**80), Decimal(-(2**80) - 1), Decimal(7)], pa.decimal128(38, 0))
    >>> rounded(wide, shift=60).tolist(), rounded(wide, shift=1)[2].item()
    ([1048576, -1048576, 0], 4)
    """
    import pyarrow as pa

    if shift < 0:
        held = np.clip(rounded(column, shift=0), _ENDS.min >> -shift, _ENDS.max >> -shift)
        return held << -shift
    if column.null_count:
        raise ValueError("a number is missing")
    if pa.types.is_int64(column.type) and shift == 0:
        return np.asarray(column.to_numpy(zero_copy_only=False), dtype=np.int64)
    if not 0 <= shift < 64 or not pa.types.is_decimal128(column.type):
        return _one_by_one(column, shift)
    if column.type.scale != 0:
        raise ValueError("a number has a fraction")
    words = np.frombuffer(column.buffers()[1], dtype="<u8", count=2 * (column.offset + len(column)))
    pairs = words.reshape(-1, 2)[column.offset :]
    return _quotients(pairs[:, 0].copy(), pairs[:, 1].view(np.int64).copy(), shift)


def _quotients(low: NDArray[np.uint64], high: NDArray[np.int64], shift: int) -> NDArray[np.int64]:
    if shift:
        before = low
        low = low + np.uint64(1 << (shift - 1))
        high = high + (low < before)
        low = (high.view(np.uint64) << np.uint64(64 - shift)) | (low >> np.uint64(shift))
        high = high >> np.int64(shift)
    found = low.view(np.int64)
    fits = high == (found >> np.int64(63))
    return np.where(fits, found, np.where(high < 0, _ENDS.min, _ENDS.max))


def _one_by_one(column: pa.Array[Any], shift: int) -> NDArray[np.int64]:
    """In Python's integers: for bounds so far apart that 63 bits are rounded away."""
    half = (1 << shift) >> 1
    whole = (((int(x) + half) >> shift) for x in column.to_pylist())
    held = (max(_ENDS.min, min(x, _ENDS.max)) for x in whole)
    return np.fromiter(held, dtype=np.int64, count=len(column))
