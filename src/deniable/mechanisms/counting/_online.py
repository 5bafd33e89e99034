"""Toeplitz products of a stream: each output is needed before the next input is known.

An output is Σ cₖ·xₜ₋ₖ. When a multiple t of the block length is reached, and m is the largest power
of two that divides t, the last m inputs are multiplied with c₁, …, c₂ₘ₋₁ at once, for the m outputs
that follow: every pair of an input and a later output is met at exactly one such t. With products
by Fourier transforms that is O(log² t) per step, instead of O(t).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import partial
from operator import mul
from typing import Any, Final, TypeAlias

import numpy as np
from numpy.typing import NDArray

Floats: TypeAlias = NDArray[np.float64]

BLOCK: Final = 64
_ROOM: Final = 53 - 3 - math.log2(8 * 40)
"""Bits for ‖a‖₂·‖b‖₂·log₂N: errors are below 40·log₂N·2⁻⁵³·‖a‖₂·‖b‖₂ per product of digits (Higham,
*Accuracy and Stability of Numerical Algorithms*, Theorem 24.2, proves about 7·log₂N per transform),
at most 8 products are added, and the sum must be off by less than 1/8 to be rounded rightly."""


class Online:
    """Σ cₖ·xₜ₋ₖ, one t after the other; exact where c and x are whole numbers."""

    def __init__(self, column: Sequence[Any], *, exact: bool) -> None:
        self._column, self._product = column, _whole if exact else _real
        self._seen: list[Any] = []
        self._ahead: list[Any] = []  # what complete blocks add to the next outputs
        self._start = 0  # the output that `_ahead` begins with

    def __call__(self, number: Any) -> Any:
        step = len(self._seen)
        if step and step % BLOCK == 0:
            self._look_ahead(step)
        self._seen.append(number)
        recent = self._seen[step - step % BLOCK :]
        within = sum(map(mul, self._column, reversed(recent)))
        return within + self._ahead[step - self._start] if self._ahead else within

    def _look_ahead(self, step: int) -> None:
        size = step & -step
        added = self._product(self._seen[-size:], self._column[1 : 2 * size])
        known = self._ahead[step - self._start :]
        short = known[:size] + [0] * (size - len(known))
        self._ahead = [a + b for a, b in zip(added, short, strict=True)] + known[size:]
        self._start = step


def _real(inputs: Sequence[float], column: Sequence[float]) -> list[float]:
    """The product in floats."""
    size = len(inputs)
    turn = partial(np.fft.rfft, n=2 * size)
    found: list[float] = _cut(turn(inputs) * turn(column), size).tolist()
    return found


def _cut(turned: NDArray[np.complex128], size: int) -> Floats:
    """The entries m − 1, …, 2m − 2, which are the same on a circle of 2m as on a line."""
    return np.asarray(np.fft.irfft(turned, n=2 * size)[size - 1 : 2 * size - 1])


def _whole(inputs: Sequence[int], column: Sequence[int]) -> list[int]:
    """The product in whole numbers, exact: digit by digit, with digits that are small enough."""
    size = len(inputs)
    norms = math.log2(size) + 0.5 + math.log2(math.log2(2 * size))
    bits = int((_ROOM - norms) / 2) + 1
    first, second = _digits(inputs, bits), _digits(column, bits)
    turn = partial(np.fft.rfft, n=2 * size)
    a, b = [turn(each) for each in first], [turn(each) for each in second]
    assert min(len(a), len(b)) <= 8, "numbers of a stream have at most 64 bits"
    found: list[int] = [0] * size
    for place in range(len(a) + len(b) - 1):
        pairs = [a[i] * b[place - i] for i in range(len(a)) if 0 <= place - i < len(b)]
        part = np.rint(_cut(sum(pairs[1:], pairs[0]), size)).astype(np.int64).tolist()
        found = [f + (p << bits * place) for f, p in zip(found, part, strict=True)]
    return found


def _digits(numbers: Sequence[int], bits: int) -> list[Floats]:
    """Balanced digits, |digit| ≤ 2^(bits−1), the lowest first, as many as there are."""
    rest: NDArray[Any] = np.array(numbers, dtype=np.int64)
    found: list[Floats] = []
    while rest.any() or not found:
        high = (rest >> bits) + ((rest >> (bits - 1)) & 1)  # rounded, without adding before
        found.append((rest - (high << bits)).astype(np.float64))
        rest = high
    assert all(np.abs(each).max(initial=0) <= 1 << (bits - 1) for each in found)
    return found


def inverse(column: Floats) -> Floats:
    """The first column of the inverse Toeplitz matrix, by Newton's iteration: b ← b·(2 − c·b)."""
    found = np.array([1 / column[0]])
    while len(found) < len(column):
        size = min(2 * len(found), len(column))
        turn = partial(np.fft.rfft, n=4 * len(found))
        rest = -np.fft.irfft(turn(found) * turn(column[:size]), n=4 * len(found))[:size]
        rest[0] += 2
        found = np.fft.irfft(turn(found) * turn(rest), n=4 * len(found))[:size]
    return np.asarray(found)
