"""How far estimates from randomized reports may be off: what every ± in the local model shares.

A report supports its sender's category with probability p and any other with probability q. If y of
n reports support a category that c people are in, ĉ = (y − n·q)/(p − q) is unbiased for c [WBLJ17].
"""

from __future__ import annotations

from fractions import Fraction
from statistics import NormalDist

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Chances = tuple[float, float] | tuple[Fraction, Fraction]
"""(p, q)."""
Polynomial = tuple[float, float, float]
"""A variance by the true count c: the coefficients of 1, c and c²."""


def deviations(confidence: float, *, among: int = 1) -> float:
    """z: a normal number is within z standard deviations, or so many of them are together."""
    return -NormalDist().inv_cdf((1 - confidence) / (2 * among))


def skewness(z: float) -> float:
    """What skewness adds to z standard deviations of a sum: by how many times κ₃/κ₂ it is off.

    This is the next term of the Cornish–Fisher expansion. κ₃/κ₂ of a sum of independent reports is
    at most that of one report, so the term matters only where reports are few or rarely lie.
    """
    return max(0.0, z * z - 1) / 6


def steps(chances: Chances, z: float) -> float:
    """What a count is off by beyond z standard deviations: half a report, and skewness."""
    skewed = max(abs(1 - 2 * float(x)) for x in chances)  # κ₃/κ₂ of a coin is 1 − 2p
    return (0.5 + skewness(z) * skewed) / float(chances[0] - chances[1])


def variance(chances: Chances, people: int) -> Polynomial:
    """(c·p(1 − p) + (n − c)·q(1 − q))/(p − q)², the variance of a count."""
    own, other = (float(x * (1 - x)) / float(chances[0] - chances[1]) ** 2 for x in chances)
    return people * other, own - other, 0.0


def widest(counts: Floats, people: int, *, z: float, off: float, terms: Polynomial) -> Floats:
    """z standard deviations and `off`, where the variance is the largest within reach.

    Within reach are true counts c with |c − ĉ| ≤ z·sd(c) + off, as in Wilson's interval: the ends
    solve a quadratic equation.
    """
    none, linear, square = terms
    top = -linear / (2 * square) if square else 0.0  # where the variance is largest
    ends = []
    for sign in (-1, 1):
        middle = counts + sign * off
        a, b = 1 - z * z * square, middle + z * z * linear / 2
        root = np.sqrt(np.maximum(b * b - a * (middle**2 - z * z * none), 0.0))
        ends.append(np.clip((b + sign * root) / a, 0, people))
    places = [*ends, np.clip(top, *ends)] if square else ends
    largest = np.max([none + linear * c + square * c * c for c in places], axis=0)
    return np.asarray(z * np.sqrt(np.maximum(largest, 0.0)) + off)
