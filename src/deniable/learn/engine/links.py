"""Residuals: how much each example pulls, as whole numbers in units of 2⁻¹⁶, clipped.

A residual is a function of one row's margin and of public numbers. It is looked up in a table, or
made by single IEEE operations, so that where in an array a row stands cannot change its rounding,
as it can in a library's vectorised exponential.
"""

from __future__ import annotations

from functools import cache, lru_cache
from typing import Final

import numpy as np
from numpy.typing import NDArray

from .rowwise import squares
from .spaces import Floats, Integers

BITS: Final = 16
"""Residuals are multiples of 2⁻¹⁶."""
_STEP: Final = 10
"""Margins are told apart in steps of 2⁻¹⁰."""
_FAR: Final = 32
"""Margins beyond ±32 count as that: e⁻³² is far below a step of the residuals."""
_PLACES: Final = 2 * _FAR << _STEP


def logistic(
    margins: Integers, labels: NDArray[np.integer], *, exponent: int, most: Floats | float
) -> Floats:
    """σ(margin) − label for labels 0 and 1, within ±`most` and rounded towards 0; 0 for label −1.

    Where all rows have the same limit, the table holds what is left within it.
    """
    places = margins >> (-exponent - _STEP)
    places += _FAR << _STEP
    np.clip(places, 0, _PLACES - 1, out=places)
    places += (labels.astype(np.int64) + 1) * _PLACES
    if isinstance(most, float):
        return _residuals(most).take(places)
    return clipped(_residuals(np.inf).take(places), most)


def softmax(margins: Integers, labels: NDArray[np.integer], *, exponent: int) -> Floats:
    """P(class | margins) − 1 for the label's own class, P for others: a row per example."""
    below = (margins.max(axis=1, keepdims=True) - margins) >> (-exponent - _STEP)
    weights = _exponential()[np.minimum(below, (_FAR << _STEP) - 1)]
    total = np.zeros(len(weights))
    for column in weights.T:
        total += column
    found: Floats = np.floor(np.ldexp(weights / total[:, None], BITS))
    found[np.arange(len(found)), labels] -= 2.0**BITS
    return found


def clipped(residuals: Floats, most: Floats | float) -> Floats:
    """Each residual, or row of residuals, shortened to L2 norm `most`, rounded towards 0."""
    if residuals.ndim == 1:
        return np.trunc(np.clip(residuals, -most, most))
    lengths = np.sqrt(np.maximum(squares(residuals), 1.0))
    shrink = np.minimum(1.0, (1 - 2.0**-40) * most / lengths)
    return np.trunc(residuals * shrink[:, None])


def probabilities(scores: Floats) -> Floats:
    """P(class) from public log-odds, or from a score per class: a column per class."""
    if scores.ndim == 1:
        scores = np.stack([np.zeros_like(scores), scores], axis=1)
    weights = np.exp(scores - scores.max(axis=1, keepdims=True))
    found: Floats = weights / weights.sum(axis=1, keepdims=True)
    return found


def likeliest(scores: Floats) -> NDArray[np.intp]:
    """The number of the class with the largest probability."""
    best = scores > 0 if scores.ndim == 1 else scores.argmax(axis=1)
    return np.asarray(best, dtype=np.intp)


@lru_cache(maxsize=8)
def _residuals(most: float) -> Floats:
    """0 for unknown labels; σ at the middle of each step, in units of 2⁻¹⁶; σ − 1."""
    middles = (np.arange(_PLACES) + 0.5) / (1 << _STEP) - _FAR
    sigmoid = np.rint(np.ldexp(1 / (1 + np.exp(-middles)), BITS))
    return clipped(np.concatenate([np.zeros(_PLACES), sigmoid, sigmoid - 2.0**BITS]), most)


@cache
def _exponential() -> Floats:
    """exp(−t) for t = 0, 1, … steps, in units of 2⁻³²: sums of them are exact."""
    return np.rint(np.ldexp(np.exp(-np.arange(_FAR << _STEP) / (1 << _STEP)), 32))
