"""Strategies of one convolution with whole numbers: the sine transform, and the square root."""

from __future__ import annotations

import math
from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import ClassVar, Final

import numpy as np

from deniable.mechanisms.counting._online import inverse
from deniable.mechanisms.counting.square_root import column_squares, row_weights, square_root
from deniable.workload.split import Vector

from ._strategy import Bounds, IntervalQueries, Strategy
from .exact import (
    DIGIT,
    HELD,
    MOST_SHIFT,
    WEIGHT_BITS,
    Floats,
    Integers,
    convolve,
    held_cells,
    kernel_fits,
)

_KERNEL: Final = 2.0**16  # the largest entry of a kernel
_LARGEST_WEIGHT: Final = 2**WEIGHT_BITS - 1
_LARGEST_ROW: Final = 2**8 - 1  # the largest v
_WIDEST: Final = 2.0**36  # what one unit moves after the shift: 2²⁶ units still fit 64 bits
_ABOVE: Final = 1 + 2.0**-20  # norms are computed in floats, and rounded up by far more than errors


@dataclass(frozen=True, kw_only=True)
class Transformed(Strategy):
    """y = v ∘ ⌊K·(w ∘ x)/2ˢ⌋ with a matrix K of whole numbers applied by convolution.

    For Gaussian noise only: columns are short in L2, not in L1. The weights w make the columns of
    the product equally long; v is 1 unless some numbers are to get less noise than others. Rounding
    down after the exact product moves two neighbours at most ‖v‖ further apart in L2, which is part
    of the bound: about one part in 2¹⁵ where s > 0 and v = 1, and nothing where s = 0, as for rows.
    """

    @cached_property
    @abstractmethod
    def weights(self) -> Integers:
        """The factors w of the cells before the transform."""

    @property
    @abstractmethod
    def column_norm(self) -> float:
        """At least the L2 norm of the longest column of diag(v)·K·diag(w)."""

    @property
    def rounding(self) -> float:
        """‖v‖, by which rounding can move an encoded vector."""
        return math.sqrt(self.lengths[0])

    @abstractmethod
    def _solve(self, numbers: Floats) -> Floats:
        """(diag(v)·K)⁻¹·numbers, along the last axis."""

    @abstractmethod
    def _solve_transposed(self, numbers: Floats) -> Floats:
        """A vector as long as (diag(v)·K)⁻ᵀ·numbers (perhaps turned), along the last axis."""

    @property
    def shift(self) -> int:
        """s, in digits of 11 bits: none unless one unit moves the product by more than 2³⁶.

        At most all digits there are: clipped cells do not move further, whatever bound is declared.
        """
        bits = math.log2(self.bounds.l1) + math.log2(self.column_norm / _WIDEST)
        return min(max(0, math.ceil(bits / DIGIT)), MOST_SHIFT)

    @property
    def vectors(self) -> tuple[Vector, ...]:
        l2 = self.bounds.l1 * self.column_norm
        if self.shift:
            l2 = l2 * 2.0 ** (-DIGIT * self.shift) + self.rounding
        l2 *= _ABOVE
        return (Vector(l1=l2 * math.sqrt(self.lengths[0]) * _ABOVE, l2=l2),)

    def decode(self, noisy: Sequence[Floats], _deviations: Sequence[float]) -> Floats:
        """The product undone; nothing is left over to be fitted."""
        solved = self._solve(noisy[0] * 2.0 ** (DIGIT * self.shift))
        return np.asarray(solved[: self.cells] / self.weights[: self.cells])

    def variance(self, weights: Floats, deviations: Sequence[float]) -> Floats:
        """σ²·‖(diag(v)·K)⁻ᵀ(weights/w)‖²."""
        spread = self._solve_transposed(weights / self.weights[: self.cells])
        return np.asarray(np.square(spread).sum(axis=-1) * _unit(self, deviations))

    def prefix_variances(self, deviations: Sequence[float]) -> Floats:
        """As computed once for noise of scale 1."""
        return _prefixes(type(self), self.cells) * _unit(self, deviations)

    def cell_variances(self, deviations: Sequence[float]) -> Floats:
        """As computed once for noise of scale 1."""
        return _cells(type(self), self.cells) * _unit(self, deviations)

    def mean_variance(self, queries: IntervalQueries, deviations: Sequence[float]) -> float:
        """As computed once for noise of scale 1."""
        return _mean(type(self), self.cells, queries) * _unit(self, deviations)

    @abstractmethod
    def unit_cells(self) -> Floats:
        """The variance of every cell, for noise of scale 1 before the shift."""


def _unit(strategy: Transformed, deviations: Sequence[float]) -> float:
    """The variance of the noise, before the shift."""
    return (deviations[0] * 2.0 ** (DIGIT * strategy.shift)) ** 2


@lru_cache(maxsize=64)
def _mean(kind: type[Transformed], cells: int, queries: IntervalQueries) -> float:
    return Strategy.mean_variance(kind(cells=cells, bounds=Bounds()), queries, [1.0])


@lru_cache(maxsize=32)
def _prefixes(kind: type[Transformed], cells: int) -> Floats:
    return Strategy.prefix_variances(kind(cells=cells, bounds=Bounds()), [1.0])


@lru_cache(maxsize=32)
def _cells(kind: type[Transformed], cells: int) -> Floats:
    return kind(cells=cells, bounds=Bounds()).unit_cells()


# ---- the sine transform


@dataclass(frozen=True, kw_only=True)
class Sine(Transformed):
    """All ranges at once, within 1 % of the lower bound of the matrix mechanism.

    The ranges W over n cells have WᵀW = (n + 1)·T⁻¹ with T = tridiag(−1, 2, −1), whose eigenvectors
    are sines: K = S·diag(√s)·S with sₖ = √(n + 1)/(2·sin(kπ/(2(n + 1)))), the square root of WᵀW's
    own root, is the best strategy but for the lengths of its columns [LMHMR15], which w evens out.
    K has entries t(i − j) − t(i + j), and t is rounded to whole numbers: *that* matrix is used.
    """

    name: ClassVar[str] = "sine transform"

    @property
    def lengths(self) -> tuple[int, ...]:
        """A few more than cells, where that makes the transform fast."""
        return (_padded(self.cells),)

    @cached_property
    def weights(self) -> Integers:
        """w ∝ 1/‖column of K‖."""
        return _sine(self.cells)[1]

    @property
    def column_norm(self) -> float:
        """‖column j‖² = wⱼ²·(R(0) − R(2j)) with R the autocorrelation of t on its circle."""
        return _sine(self.cells)[2]

    def encode(self, _part: int, counts: Integers) -> Integers:
        """The odd extension of w ∘ x, convolved with t."""
        kernel, (size,) = _sine(self.cells)[0], self.lengths
        weighted = held_cells(counts) * self.weights[: self.cells]
        length = _circle(size)
        signal = np.zeros(length, dtype=np.int64)
        signal[1 : self.cells + 1] = weighted
        signal[-self.cells :] = -weighted[::-1]
        lags = np.arange(length)
        lags = np.where(lags <= 2 * size, lags, lags - length) % (2 * size + 2)
        return convolve(kernel[lags], signal, shift=self.shift)[1 : size + 1]

    @cached_property
    def _eigenvalues(self) -> Floats:
        from scipy import fft

        return np.asarray(fft.rfft(_sine(self.cells)[0].astype(np.float64)).real[1:-1])

    def _solve(self, numbers: Floats) -> Floats:
        from scipy import fft

        turned = fft.dst(numbers, type=1, norm="ortho") / self._eigenvalues
        return np.asarray(fft.dst(turned, type=1, norm="ortho"))

    def _solve_transposed(self, numbers: Floats) -> Floats:
        from scipy import fft

        padded = np.zeros((*numbers.shape[:-1], self.lengths[0]))
        padded[..., : self.cells] = numbers
        return np.asarray(fft.dst(padded, type=1, norm="ortho") / self._eigenvalues)

    def unit_cells(self) -> Floats:
        from scipy import fft

        (size,) = self.lengths
        lags = fft.irfft(np.concatenate([[0.0], self._eigenvalues**-2, [0.0]]), n=2 * size + 2)
        j = np.arange(1, self.cells + 1)
        return np.asarray(
            (lags[0] - lags[2 * j % (2 * size + 2)]) / self.weights[: self.cells] ** 2
        )


def _padded(cells: int) -> int:
    """So many cells that 2·(m + 1) has small factors, if that is within 0.2 %."""
    from scipy import fft

    size = fft.next_fast_len(2 * cells + 2, real=True)
    while size % 2:
        size = fft.next_fast_len(size + 1, real=True)
    return size // 2 - 1 if size <= (2 * cells + 2) * 1.002 else cells


def _circle(size: int) -> int:
    """A length on which lags from 1 − m to 2m do not meet: that of t itself if it is a fast one."""
    from scipy import fft

    own = 2 * size + 2
    return own if fft.next_fast_len(own, real=True) == own else fft.next_fast_len(3 * size + 2)


@lru_cache(maxsize=8)
def _sine(cells: int) -> tuple[Integers, Integers, float]:
    """t on its circle, the weights, and the norm of the longest column."""
    from scipy import fft

    size = _padded(cells)
    k = np.arange(1, size + 1)
    roots = (np.sqrt(size + 1) / (2 * np.sin(k * np.pi / (2 * (size + 1))))) ** 0.5
    real = fft.irfft(np.concatenate([[0.0], roots, [0.0]]), n=2 * size + 2)
    kernel = np.rint(real * (_KERNEL / real[0])).astype(np.int64)
    assert kernel_fits(kernel)
    power = fft.rfft(kernel.astype(np.float64))
    correlation = fft.irfft(np.abs(power) ** 2, n=2 * size + 2)
    lengths = correlation[0] * _ABOVE - correlation[2 * k % (2 * size + 2)]
    weights = np.rint(_LARGEST_WEIGHT * np.sqrt(lengths.min() / lengths)).astype(np.int64)
    norm = float(np.sqrt((weights[:cells] ** 2 * lengths[:cells]).max()))
    return kernel, weights, norm * _ABOVE


# ---- the square root of running sums


@dataclass(frozen=True, kw_only=True)
class SquareRoot(Transformed):
    """Running totals: the largest error over T ≥ 10 steps is below 0.846 + ln(T)/π times σ/Δ.

    K is the square root of the matrix of running sums, cₖ = cₖ₋₁·(1 − 1/2k) along its diagonals
    [FHU23], and w makes the columns equally long [HKU25]. v gives the first and last steps a little
    more noise and those in between less, which evens out the errors: see `SquareRootCounter`.
    """

    name: ClassVar[str] = "square root"

    @property
    def lengths(self) -> tuple[int, ...]:
        """One number per step."""
        return (self.cells,)

    @cached_property
    def weights(self) -> Integers:
        """w ∝ 1/‖column of diag(v)·K‖."""
        return _root(self.cells)[1]

    @property
    def column_norm(self) -> float:
        """max wⱼ·‖(vⱼ·c₀, …, v_T·c_{T−j})‖."""
        return _root(self.cells)[3]

    @property
    def rounding(self) -> float:
        return float(np.sqrt(np.square(_root(self.cells)[2]).sum())) * _ABOVE

    def encode(self, _part: int, counts: Integers) -> Integers:
        """w ∘ x, convolved with c, times v."""
        from scipy import fft

        n = self.cells
        signal = np.zeros(fft.next_fast_len(2 * n, real=True), dtype=np.int64)
        kernel = np.zeros_like(signal)
        signal[:n] = held_cells(counts) * self.weights
        kernel[:n] = _root(n)[0]
        most = HELD // _LARGEST_ROW
        product = convolve(kernel, signal, shift=self.shift)[:n]
        return np.asarray(np.clip(product, -most, most) * _root(n)[2])

    def _solve(self, numbers: Floats) -> Floats:
        return _toeplitz(_inverse(self.cells), numbers / _root(self.cells)[2])

    def _solve_transposed(self, numbers: Floats) -> Floats:
        turned = _toeplitz(_inverse(self.cells), numbers[..., ::-1])
        return np.asarray(turned / _root(self.cells)[2][::-1])

    def unit_cells(self) -> Floats:
        rows = _root(self.cells)[2].astype(np.float64)
        squares = _toeplitz(np.square(_inverse(self.cells)), 1 / np.square(rows))
        return np.asarray(squares / self.weights**2)


@lru_cache(maxsize=8)
def _root(cells: int) -> tuple[Integers, Integers, Integers, float]:
    """c, w, v, and the norm of the longest column."""
    kernel = np.rint(square_root(cells) * _KERNEL).astype(np.int64)
    rows = np.rint(row_weights(cells) * _LARGEST_ROW).astype(np.int64)
    lengths = column_squares(kernel.astype(np.float64), rows.astype(np.float64))
    weights = np.rint(_LARGEST_WEIGHT * np.sqrt(lengths.min() / lengths)).astype(np.int64)
    norm = float(np.sqrt((weights**2 * lengths).max()))
    assert kernel_fits(np.concatenate([kernel, np.zeros_like(kernel)]))
    return kernel, weights, rows, norm * _ABOVE


@lru_cache(maxsize=8)
def _inverse(cells: int) -> Floats:
    """The first column of K⁻¹."""
    return inverse(_root(cells)[0].astype(np.float64))


def _toeplitz(column: Floats, numbers: Floats) -> Floats:
    """The lower triangular Toeplitz matrix with this first column, times numbers (last axis)."""
    from scipy import fft

    n = numbers.shape[-1]
    length = fft.next_fast_len(2 * n, real=True)
    product = fft.rfft(column[:n], n=length) * fft.rfft(numbers, n=length)
    return np.asarray(fft.irfft(product, n=length)[..., :n])
