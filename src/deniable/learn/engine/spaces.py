"""Features as whole numbers, and the sums over rows that learners need, exact for any table.

Why whole numbers. The sensitivity of a sum holds on paper; in floating point, one row more can
change how the other rows' terms are rounded. Here every term is a whole number and no partial sum
reaches 2⁵³, so float64 arithmetic is exact in whatever order a library adds, and one row moves the
sum by its own term and by nothing else. What a row's term is depends on that row and on public
numbers alone: all steps towards it are exact sums, table lookups, or single IEEE operations.

    Cells    one cell per column is 1, all others are 0: columns of keys, and numbers in bins
             (in `cells`)
    Dense    real features, scaled to a norm of at most 1, in steps of 2⁻¹³
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import Final, Protocol

import numpy as np
from numpy.typing import NDArray

from .rowwise import squares

Integers = NDArray[np.int64]
Floats = NDArray[np.float64]
Features = NDArray[np.integer]

THETA: Final = 20
"""Parameters are multiples of 2⁻²⁰ (they are public: rounding them costs nothing)."""
DENSE: Final = 13
WEIGHT: Final = 20
"""Weights are in units of 2⁻²⁰ of a row, as queries weigh the rows of persons."""
_CHUNK: Final = 1 << 16
_LARGEST: Final = 2.0**18


class Space(Protocol):
    """Features of a public form; `x` below are the features of some rows, which are private."""

    @property
    def axis(self) -> int:
        """The axis of x along which rows follow each other."""

    @property
    def dimension(self) -> int:
        """The number of features."""

    @property
    def exponent(self) -> int:
        """Margins are multiples of 2 to this power."""

    @property
    def unit(self) -> int:
        """The whole number that stands for a feature of 1."""

    @property
    def norm(self) -> float:
        """No row is longer (L2), in whole numbers; rounded up."""

    def moment_unit(self, *, weighted: bool) -> int:
        """The whole number that stands for 1 in `moments`."""

    @property
    def moments_l2(self) -> float:
        """No row moves `moments` further, where `moment_unit` is 1; rounded up."""

    @property
    def moments_size(self) -> int:
        """The number of different second moments."""

    def linear(self, theta: Integers) -> Callable[[Features], Integers]:
        """The function that finds ⟨row, θ⟩ of each row; θ may have a column per class."""

    def total(
        self, parts: Iterable[tuple[Features, Floats]], columns: tuple[int, ...] = ()
    ) -> Integers:
        """Σ residual · row over all parts; residuals are whole numbers below 2²⁰, one per row.

        With `columns`, a residual is a row of so many.
        """

    def moments(self, x: Features, weights: Integers | None) -> Integers:
        """Σ weight · row ⊗ row, each different number once, in steps of `moment_unit`."""

    def matrix(self, moments: Floats) -> Floats:
        """The symmetric matrix that `moments` lists."""

    def lengths(self, x: Features) -> Floats | float:
        """The L2 norm of each row in whole numbers, or of all."""


def on_lattice(theta: Floats) -> Integers:
    """Public parameters as whole numbers, so small that margins are exact; NaN becomes 0."""
    sound = np.nan_to_num(theta, nan=0.0, posinf=0.0, neginf=0.0)
    length = float(np.sqrt((sound * sound).sum(axis=0).max(initial=0.0)))
    shrunk = sound * min(1.0, _LARGEST / length) if length else sound
    return np.rint(np.ldexp(shrunk, THETA)).astype(np.int64)


@dataclass(frozen=True)
class Dense:
    """Real features in steps of 2⁻¹³, rows of norm at most 1. x has a line per row, of int16.

    >>> space = Dense(dimension=2)
    >>> x = space.rounded(np.array([[0.6, 0.8], [3.0, 4.0]]))
    >>> x.tolist()
    [[4915, 6553], [4915, 6553]]
    """

    dimension: int

    axis = 0
    exponent = -THETA - DENSE
    unit = 1 << DENSE

    @property
    def norm(self) -> float:
        """2¹³: `rounded` sees to it."""
        return float(self.unit)

    def moment_unit(self, *, weighted: bool) -> int:
        """A product of two features; weights are taken off it."""
        del weighted
        return self.unit**2

    @property
    def moments_l2(self) -> float:
        """‖row ⊗ row‖ = ‖row‖² ≤ 1, and the part on and above the diagonal is not longer."""
        return 1.0

    @property
    def moments_size(self) -> int:
        """On and above the diagonal."""
        return math.comb(self.dimension + 1, 2)

    def rounded(self, rows: Floats) -> NDArray[np.int16]:
        """Rows shortened to norm 1, rounded towards 0; NaN counts as 0, infinity as very much.

        Rounding towards 0 lets no row grow. Each row is treated by itself. What floats round adds
        less than 1 to the square of a row's length, 2²⁶ at most, which is a whole number.
        """
        made = np.empty(rows.shape, dtype=np.int16)
        for part in chunks(len(rows)):
            some = np.nan_to_num(rows[part].astype(np.float64), nan=0.0, posinf=1e9, neginf=-1e9)
            some = np.clip(some, -1e9, 1e9)
            shrink = self.unit / np.sqrt(np.maximum(squares(some), 1.0))
            made[part] = np.trunc(some * shrink[:, None]).astype(np.int16)
        return made

    def linear(self, theta: Integers) -> Callable[[Features], Integers]:
        """Exact: ‖row‖ ≤ 2¹³ and ‖θ‖ ≤ 2³⁸, so every partial sum is below 2⁵¹."""
        return partial(self._products, theta.astype(np.float64))

    def _products(self, weights: Floats, x: Features) -> Integers:
        found = np.empty((len(x), *weights.shape[1:]), dtype=np.int64)
        for part in chunks(len(x)):
            found[part] = x[part].astype(np.float64) @ weights
        return found

    def total(
        self, parts: Iterable[tuple[Features, Floats]], columns: tuple[int, ...] = ()
    ) -> Integers:
        """Exact: 2¹⁶ rows of products below 2³³ stay below 2⁴⁹; chunks are added in int64."""
        found = np.zeros((self.dimension, *columns), dtype=np.int64)
        for x, residuals in parts:
            for part in chunks(len(x)):
                found += (x[part].astype(np.float64).T @ residuals[part]).astype(np.int64)
        return found

    def moments(self, x: Features, weights: Integers | None) -> Integers:
        """The products of features, added up; a weight is taken off one factor, towards 0."""
        found = np.zeros((self.dimension, self.dimension), dtype=np.int64)
        for part in chunks(len(x)):
            some = x[part].astype(np.float64)
            other = some if weights is None else weighed(some, weights[part][:, None])
            found += (some.T @ other).astype(np.int64)
        return found[np.triu_indices(self.dimension)]

    def matrix(self, moments: Floats) -> Floats:
        """With the part below the diagonal."""
        made = np.zeros((self.dimension, self.dimension))
        made[np.triu_indices(self.dimension)] = moments
        return made + np.triu(made, 1).T

    def lengths(self, x: Features) -> Floats | float:
        """Each row's, at least 1; squares are added up exactly."""
        found = np.empty(len(x))
        for part in chunks(len(x)):
            some = x[part].astype(np.float64)
            found[part] = np.einsum("ij,ij->i", some, some)
        lengths: Floats = np.sqrt(np.maximum(found, 1.0))
        return lengths


def weighed(terms: Floats, weights: Integers) -> Floats:
    """Whole numbers times weights, rounded towards 0: below 2³³·2²⁰, so the product is exact."""
    product: Floats = terms * weights
    return np.trunc(np.ldexp(product, -WEIGHT))


def up(number: float) -> float:
    """A float above a number that was computed to within an ulp or two."""
    return number * (1 + 2.0**-50)


def chunks(rows: int) -> Iterator[slice]:
    """So many rows in parts that stay in a processor's cache; of no rows, one empty part."""
    for start in range(0, max(rows, 1), _CHUNK):
        yield slice(start, start + _CHUNK)
