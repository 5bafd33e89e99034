"""Real features on the lattice of `Dense`, by public bounds or a public norm."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
from numpy.typing import ArrayLike

from deniable import parameters
from deniable.errors import BadParameter, MissingBounds
from deniable.learn.engine.rowwise import squares
from deniable.learn.engine.spaces import Dense, Floats, chunks

Bounds = tuple[ArrayLike, ArrayLike]

INTERCEPT: Final = 0.5
"""The constant feature, where the other features of a row have a norm of at most √(1 − ¼)."""


@dataclass(frozen=True, kw_only=True, eq=False)
class Scaling:
    """x ↦ (x − middle)/scale, of norm at most 1, with a constant feature if there is an intercept.

    With bounds alone each feature is centred and scaled to [−1, 1], and √d is the norm. With a norm
    alone rows are divided by it. With both, values are clipped to the bounds, then rows divided.
    Longer rows are shortened, values outside bounds are clipped, NaN counts as the middle.
    """

    low: Floats
    high: Floats
    middle: Floats
    scale: Floats
    intercept: bool

    @property
    def space(self) -> Dense:
        """With the constant feature, if there is one."""
        return Dense(dimension=len(self.middle) + self.intercept)

    def rows(self, X: Any) -> Any:
        """The rows on the lattice, each by itself; a few at a time."""
        space = self.space
        made = np.empty((len(X), space.dimension), dtype=np.int16)
        for part in chunks(len(X)):
            made[part] = space.rounded(self._scaled(np.asarray(X[part], dtype=np.float64)))
        return made

    def _scaled(self, some: Floats) -> Floats:
        centred = np.clip(some, self.low, self.high) - self.middle
        scaled: Floats = np.where(np.isnan(centred), 0.0, centred) / self.scale
        if not self.intercept:
            return scaled
        shrink = math.sqrt(1 - INTERCEPT**2) / np.sqrt(np.maximum(squares(scaled), 1.0))
        constant = np.full((len(scaled), 1), INTERCEPT)
        return np.hstack([scaled * shrink[:, None], constant])

    @property
    def penalty(self) -> Floats:
        """What a penalty on the coefficients of features as they were weighs here, per feature."""
        square = np.maximum(self.scale, 1e-100) ** 2
        return np.append((1 - INTERCEPT**2) / square, 0.0) if self.intercept else 1 / square

    def unscaled(self, theta: Floats) -> tuple[Floats, Floats]:
        """Coefficients and intercept for features as they were; θ has a row per feature."""
        if not self.intercept:
            slopes = theta / self.scale.reshape(-1, *[1] * (theta.ndim - 1))
            return slopes, -np.tensordot(self.middle, slopes, axes=1)
        shrunk = theta[:-1] * math.sqrt(1 - INTERCEPT**2)
        slopes = shrunk / self.scale.reshape(-1, *[1] * (theta.ndim - 1))
        return slopes, theta[-1] * INTERCEPT - np.tensordot(self.middle, slopes, axes=1)


def scaling(features: int, *, bounds: object, norm: object, intercept: bool, model: str) -> Scaling:
    """The scaling that public parameters say; refused where neither bounds nor a norm is given."""
    if norm is None:
        needs_bounds(bounds, model=model)
    length = math.sqrt(features) if norm is None else parameters.positive("norm", norm)
    if bounds is None:
        far, zero = np.full(features, 1e300), np.zeros(features)
        return _made(-far, far, zero, np.full(features, length), intercept=intercept)
    low, high = ends(bounds, features)
    if norm is not None:
        return _made(low, high, np.zeros(features), np.full(features, length), intercept=intercept)
    middle, half = low / 2 + high / 2, high / 2 - low / 2
    return _made(low, high, middle, np.where(half > 0, half, 1.0) * length, intercept=intercept)


def needs_bounds(bounds: object, *, model: str) -> None:
    """Refuse features without bounds."""
    if bounds is None:
        raise MissingBounds(
            f"{model} needs bounds for its features, or a norm where it takes one",
            why="noise is sized to the most that one row can change a sum",
            fix=f"{model}(bounds=(low, high), ...)    what is plausible; do not look at the data",
        )


def _made(low: Floats, high: Floats, middle: Floats, scale: Floats, *, intercept: bool) -> Scaling:
    return Scaling(low=low, high=high, middle=middle, scale=scale, intercept=intercept)


def ends(bounds: object, features: int | None, *, name: str = "bounds") -> tuple[Floats, Floats]:
    """The lower and the upper bound of each feature (or of a target, for None)."""
    fix = f"{name}=(low, high), two numbers, or two lists with a number per feature"
    if not isinstance(bounds, tuple | list) or len(bounds) != 2:
        raise BadParameter.of(name, bounds, must="a pair (low, high)", fix=fix)
    try:
        low, high = (np.asarray(end, dtype=np.float64) for end in bounds)
        if features is not None:
            low, high = (np.broadcast_to(end, (features,)).copy() for end in (low, high))
    except (TypeError, ValueError):
        raise BadParameter(f"{name} must have a number per feature", fix=fix) from None
    if not (np.isfinite(low) & np.isfinite(high) & (low <= high)).all():
        raise BadParameter(f"{name} must be finite, and low at most high", fix=fix)
    if (np.abs(low) > 1e150).any() or (np.abs(high) > 1e150).any():
        raise BadParameter(f"{name} must lie within ±1e150", fix=fix)
    return low, high
