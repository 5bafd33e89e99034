"""How far float64 functions may be wrong, and the test that on this machine they are not.

NumPy documents at most 4 units in the last place (2⁻⁵⁰ relative) for its vectorised logarithm and
exponential. The samplers allow 2⁻⁴⁶; and before anything is drawn, some hundred points of each
function are compared with exact arithmetic on this machine and must be right to 2⁻⁴⁹.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from functools import cache

import numpy as np
from numpy.typing import NDArray

from .exact import cos_bounds, exp_bounds, log_bounds

# What the fast paths assume: |computed − true| ≤ error·|true|.
LOG_ERROR = EXP_ERROR = 2.0**-46
_TESTED_BITS = 49
_POINTS = 768


@cache
def check_floats() -> None:
    """Compare np.log, np.exp and math.log, exp, cos with exact arithmetic; once a process.

    The points fall on every binade used and spread over its mantissas by a golden-ratio sequence;
    arrays of odd length, with strides and of length one take NumPy's other code paths.
    """
    spread = (np.arange(1, _POINTS + 1) * 0.6180339887498949) % 1.0
    logs = np.ldexp(1.0 + spread, np.arange(_POINTS) % 66 - 1)
    exps = -np.ldexp(1.0 + spread, np.arange(_POINTS) % 56 - 50)
    _compare("log", np.log, math.log, logs, log_bounds)
    _compare("exp", np.exp, math.exp, exps, exp_bounds)
    for point in spread[:200].tolist():
        lo, hi = cos_bounds(Fraction(point), 64)
        _check("cos π·", point, math.cos(math.pi * point), 64, (lo - 2**14, hi + 2**14))


def _compare(
    name: str,
    vector: Callable[[NDArray[np.float64]], NDArray[np.float64]],
    scalar: Callable[[float], float],
    points: NDArray[np.float64],
    bounds: Callable[[Fraction, int], tuple[int, int]],
) -> None:
    strided = np.repeat(points, 2)[::2]
    odd = points[:-1]
    variants = [vector(points), vector(strided), np.append(vector(odd), vector(points[-1:]))]
    variants.append(np.array([scalar(point) for point in points.tolist()]))
    for index, point in enumerate(points.tolist()):
        bits = 80 + (int(-1.45 * point) if name == "exp" else 0)
        lo, hi = bounds(Fraction(point), bits)
        reach = abs(lo) + ((hi - lo) << _TESTED_BITS)
        ends = (lo << _TESTED_BITS) - reach, (hi << _TESTED_BITS) + reach
        for value in {float(values[index]) for values in variants}:
            _check(name, point, value, bits + _TESTED_BITS, ends)


def _check(name: str, point: float, value: float, bits: int, ends: tuple[int, int]) -> None:
    """Whether value·2ᵇⁱᵗˢ lies between the ends, in whole numbers."""
    numerator, denominator = value.as_integer_ratio()
    if not ends[0] * denominator <= numerator << bits <= ends[1] * denominator:
        raise ArithmeticError(
            f"{name}({point!r}) is {value!r} on this machine, further from the truth than exact "
            "sampling can allow for: nothing will be drawn"
        )
