"""How far float64 functions may be wrong, and the test that on this machine they are not.

NumPy documents at most 4 units in the last place (2⁻⁵⁰ relative) for its vectorised logarithm and
exponential. The samplers allow 2⁻⁴⁶; and before anything is drawn, some hundred values of each
function are compared with the nearest floats, as exact arithmetic found them (`floats.f64`, which a
test computes again), and must be right to 2⁻⁴⁹.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import cache
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]

# What the fast paths assume: |computed − true| ≤ error·|true|.
LOG_ERROR = EXP_ERROR = 2.0**-46
# What is asked for here, less an eighth: the nearest float is itself 2⁻⁵³ from the truth.
_TESTED = 0.875 * 2.0**-49
_POINTS, _COSINES = 768, 200


@cache
def check_floats() -> None:
    """Compare np.log, np.exp and math.log, exp, cos with the nearest floats; once a process."""
    logs, exps, cosines = points()
    nearest = np.frombuffer(Path(__file__).with_name("floats.f64").read_bytes(), dtype="<f8")
    of_log, of_exp, of_cos = np.split(nearest, [_POINTS, 2 * _POINTS])
    _compare("log", np.log, math.log, logs, of_log)
    _compare("exp", np.exp, math.exp, exps, of_exp)
    turned = np.array([math.cos(math.pi * point) for point in cosines.tolist()])
    # Only to 2⁻⁵⁰ of a whole turn's cosine: π·x is rounded first.
    _check("cos π·", cosines, turned, of_cos, np.full(_COSINES, _TESTED / 2))


def points() -> tuple[Floats, Floats, Floats]:
    """Where logarithms, exponentials and cos π· are compared.

    They fall on every binade used and spread over its mantissas by a golden-ratio sequence.
    """
    spread = (np.arange(1.0, _POINTS + 1) * 0.6180339887498949) % 1.0
    logs = np.ldexp(1.0 + spread, np.arange(_POINTS) % 66 - 1)
    exps = -np.ldexp(1.0 + spread, np.arange(_POINTS) % 56 - 50)
    return logs, exps, spread[:_COSINES]


def _compare(
    name: str,
    vector: Callable[[Floats], Floats],
    scalar: Callable[[float], float],
    points: Floats,
    nearest: Floats,
) -> None:
    """Arrays of odd length, with strides and of length one take NumPy's other code paths."""
    strided = np.repeat(points, 2)[::2]
    odd = np.append(vector(points[:-1]), vector(points[-1:]))
    alone = np.array([scalar(point) for point in points.tolist()])
    for values in (vector(points), vector(strided), odd, alone):
        _check(name, points, values, nearest, _TESTED * np.abs(nearest))


def _check(name: str, points: Floats, values: Floats, nearest: Floats, most: Floats) -> None:
    # The difference of close floats is exact, and that of others is rounded by less than `most`.
    wrong = ~(np.abs(values - nearest) <= most)
    if wrong.any():
        place = int(wrong.argmax())
        raise ArithmeticError(
            f"{name}({float(points[place])!r}) is {float(values[place])!r} on this machine, "
            "further from the truth than exact sampling can allow for: nothing will be drawn"
        )
