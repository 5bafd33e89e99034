"""Minima of penalised logistic losses, with a certified bound on the gradient that is left.

    F(θ) = Σ w·ℓ(⟨x, θ⟩, y) + λ‖θ‖²/2 + ⟨b, θ⟩

ℓ is the logistic loss with its derivative held within ±clip: convex, of second derivative at most
¼. F is λ-strongly convex, so a point where ‖∇F‖ ≤ τ is within τ/λ of the minimum.

Finding    Newton steps −H⁻¹g, of which so much is taken that F still falls at the end, and at most
           half as steeply as at the start (or all of it, if F falls more steeply there). F falls by
           at least a constant times ‖g‖² in each, as its slope has a Lipschitz constant: so it
           converges from everywhere, for every table, in exact arithmetic.
Certifying Whichever way θ was found, ‖∇F(θ)‖ is bounded by the gradient in floats plus how far
           floats can be from it. With u = 2⁻⁵³ and k terms, a product of float vectors in any order
           of additions is within k·u/(1 − k·u)·Σ|aᵢbᵢ| of the exact one [Hig02, §3.1]. Rows are
           added up in parts of 2⁸, and parts with the errors of their additions beside them, which
           leaves 2u of the sum and, of all terms, n²·u² [Hig02, §4.3]. A residual is ±σ(t),
           which never cancels: it is right to 2⁻⁴⁵ of itself, as exp is right to 2⁻⁴⁶ of itself
           (`sampling.floats` tests it on this machine), and clipped it is off by at most 2⁻⁴⁵·clip.
           As |σ′| = σ·(1 − σ), an error of the margin moves it by at most min(¼, clip) of that.
           So all errors but those of λθ + b shrink with clip, as what is tolerated does.
           Features are whole numbers over a power of 2: they are exact.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

import numpy as np

from deniable.sampling.floats import check_floats

from .cells import Cells
from .examples import Examples
from .spaces import WEIGHT, Floats, Space

_CHUNK: Final = 1 << 14
_PART: Final = 1 << 8
_ULP: Final = 2.0**-53
_SIGMOID: Final = 2.0**-45
_STEPS: Final = 200
_HALVINGS: Final = 60
_HOPELESS: Final = 64.0


@dataclass(frozen=True, kw_only=True, eq=False)
class Penalised:
    """F, of rows that are at hand."""

    rows: Examples
    space: Space
    clip: float
    ridge: float
    slope: Floats

    def minimum(self, tolerance: float) -> Floats:
        """θ with ‖∇F(θ)‖ ≤ tolerance, certified; ArithmeticError if floats cannot tell."""
        check_floats()
        theta = np.zeros(self.space.dimension)
        found = self._at(theta)
        for _ in range(_STEPS):
            if found.bound <= tolerance:
                return theta
            if found.bound > _HOPELESS * float(np.linalg.norm(found.gradient)):
                break  # nearly all of the bound is what floats miss, and no step helps
            hessian = self._quadratic(found.curvature) + self.ridge * np.eye(len(theta))
            step = -np.asarray(np.linalg.solve(hessian, found.gradient), dtype=np.float64)
            share = self._share(theta, step, float(found.gradient @ step))
            theta = theta + share * step
            found = self._at(theta)
        raise ArithmeticError("the gradient cannot be certified to be so small: too many rows")

    def _share(self, theta: Floats, step: Floats, start: float) -> float:
        """How much of a step to take: the slope of F along it grows from `start`, below 0."""
        low, high, share = 0.0, 1.0, 1.0
        for _ in range(_HALVINGS):
            slope = float(self._at(theta + share * step).gradient @ step)
            if start / 2 <= slope <= 0 or (slope < 0 and share == 1.0):
                return share
            low, high = (share, high) if slope < 0 else (low, share)
            share = (low + high) / 2
        return share

    def _at(self, theta: Floats) -> _Found:
        rows, total = self.rows, _Exactly(self.space.dimension)
        known = rows.y >= 0
        weights = known.astype(np.float64)
        if rows.w is not None:
            weights *= np.ldexp(rows.w.astype(np.float64), -WEIGHT)
        curvature = np.zeros(len(rows.y))
        linear = self._linear(theta)
        for start in range(0, len(rows.y), _CHUNK):
            part = slice(start, start + _CHUNK)
            margins = linear(part)
            small = np.exp(-np.abs(margins))
            sign = np.where(rows.y[part] == 1, -1.0, 1.0)
            wrong = np.where(sign * margins >= 0, 1.0, small) / (1 + small)
            short = np.minimum(wrong, self.clip)
            for some in self._totals(part, sign * short * weights[part]):
                total.add(some)
            curvature[part] = np.where(short == wrong, wrong * (1 - wrong), 0.0)
        gradient = total.value + self.ridge * theta + self.slope
        size = float(weights.sum())
        bound = float(np.linalg.norm(gradient)) * (1 + 2.0**-40) + self._missed(theta, size)
        return _Found(gradient=gradient, curvature=curvature * weights, bound=bound)

    def _missed(self, theta: Floats, size: float) -> float:
        """How far the gradient in floats can be from the exact one; twice what was proved."""
        long = self.space.norm / self.space.unit
        if isinstance(self.space, Cells):  # a margin is the sum of a parameter per column
            largest = np.maximum.reduceat(np.abs(theta), self.space.starts)
            terms, reach = len(largest), float(largest.sum())
        else:
            terms, reach = self.space.dimension, long * float(np.linalg.norm(theta))
        margin = (terms + 2) * _ULP * reach
        each = self.clip * (_SIGMOID + (_PART + 8) * _ULP) + min(0.25, self.clip) * margin
        other = self.ridge * float(np.linalg.norm(theta)) + float(np.linalg.norm(self.slope))
        return 2 * (size * long * each + 4 * _ULP * other)

    def _linear(self, theta: Floats) -> Callable[[slice], Floats]:
        """The margins of some of the rows."""
        x, space = self.rows.x, self.space
        if isinstance(space, Cells):
            found = space.linear(theta)
            return lambda part: found(x[:, part])
        return lambda part: x[part].astype(np.float64) @ (theta / space.unit)

    def _totals(self, part: slice, residuals: Floats) -> Floats:
        """Σ residual · row, a line for each 2⁸ rows; residuals of rows that are not there are 0."""
        parts = -(-len(residuals) // _PART)
        filled = np.zeros(parts * _PART)
        filled[: len(residuals)] = residuals
        if isinstance(self.space, Cells):
            which = np.arange(len(residuals)) // _PART
            pairs = zip(self.space.codes(self.rows.x[:, part]), self.space.sizes, strict=True)
            found = [
                np.bincount(which * size + code, residuals, parts * size).reshape(parts, size)
                for code, size in pairs
            ]
            return np.concatenate(found, axis=1)
        x = np.zeros((len(filled), self.space.dimension))
        x[: len(residuals)] = self.rows.x[part]
        shape = (parts, _PART)
        scaled: Floats = np.einsum("pr,prd->pd", filled.reshape(shape), x.reshape(*shape, -1))
        return scaled / self.space.unit

    def _quadratic(self, weights: Floats) -> Floats:
        """Σ weight · x ⊗ x, never below 0: the step must lead downward."""
        if isinstance(self.space, Cells):
            whole = np.floor(np.ldexp(weights, WEIGHT)).astype(np.int64)
            unit = self.space.moment_unit(weighted=True)
            return self.space.matrix(self.space.moments(self.rows.x, whole) / unit)
        found = np.zeros((self.space.dimension, self.space.dimension))
        for start in range(0, len(weights), _CHUNK):
            part = slice(start, start + _CHUNK)
            rooted = self.rows.x[part] * (np.sqrt(weights[part]) / self.space.unit)[:, None]
            found += rooted.T @ rooted
        return found


class _Exactly:
    """A sum of vectors beside the sum of what its additions rounded away."""

    def __init__(self, dimension: int) -> None:
        self._sum, self._lost = np.zeros(dimension), np.zeros(dimension)

    def add(self, some: Floats) -> None:
        """Without an error: what the addition rounds away is a float [Hig02, §4.3]."""
        total = self._sum + some
        other = total - self._sum
        self._lost += (self._sum - (total - other)) + (some - other)
        self._sum = total

    @property
    def value(self) -> Floats:
        return self._sum + self._lost


@dataclass(frozen=True, kw_only=True, eq=False)
class _Found:
    """∇F in floats, ℓ″ of each row, and a bound on ‖∇F‖."""

    gradient: Floats
    curvature: Floats
    bound: float
