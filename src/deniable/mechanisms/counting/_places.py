"""A smooth function of the steps of a stream, computed at some of them."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Final

import numpy as np

from ._stream import Floats, Integers

_ALL: Final = 1500  # so many are all computed; of more, at graded places
_APART: Final = 0.5  # how far apart places are at most, in log(b/(n − b)), but for the ends
_ABOVE: Final = 1.002  # of up to 2¹⁹ steps no interpolated variance was too small by half of that


def after_each(steps: int, variances: Callable[[Integers], Floats]) -> Floats:
    """The variance of the total of the first b numbers, for b = 0, …, n; that of none is 0.

    Of more than 1,500 they are computed at places that are dense near both ends, and interpolated
    in log(b/(n − b)), in which they are smooth, and rounded up.
    """
    places = np.arange(steps + 1) if steps < _ALL else _graded(steps)
    known = np.concatenate([[0.0], variances(places[1:])])
    if len(places) == steps + 1:
        return known
    from scipy.interpolate import PchipInterpolator

    smooth = PchipInterpolator(_odds(places, steps), known)
    return np.asarray(smooth(_odds(np.arange(steps + 1), steps)) * _ABOVE)


def _odds(places: Integers, n: int) -> Floats:
    return np.asarray(np.log((places + 1.0) / (n - places + 1.0)))


def _graded(n: int) -> Integers:
    end = np.log(n + 1.0)
    odds = np.exp(np.linspace(-end, end, 1 + math.ceil(2 * end / _APART)))
    places = np.rint(((n + 1) * odds - 1) / (1 + odds))
    return np.unique(np.clip(places, 0, n)).astype(np.int64)
