"""Sums Σ wⱼ e^(itxⱼ) at many equally spaced t at once, with a proved error.

Each weight is spread over the nearest points of a lattice by a Gaussian g(v) = e^(−v²/4κ) and the
lattice is transformed; dividing by ĝ undoes the spreading [DR93]. With u the place of a weight in
steps of the lattice and θ = t · step, Poisson summation gives exactly

    Σⱼ g(u − j) e^(iθj) = Σₗ ĝ(θ + 2πl) e^(i(θ+2πl)u),      ĝ(θ) = √(4πκ) e^(−κθ²),

so that the terms l ≠ 0 are a relative error of at most 1.01 e^(−4πκ(π − |θ|)), and cutting g at
±TAPS/2 leaves out at most `_CUT` of a weight.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

from ._pair import ULP, Complexes, Reals, log_of_sum

KAPPA = 1.6
TAPS = 30
_HALF = TAPS // 2
# Σ g(v) over |v| ≥ TAPS/2 − 1, on both sides, by a geometric series.
_EDGE = (_HALF - 1) ** 2 / (4 * KAPPA)
_CUT = 2 * math.exp(-_EDGE) / -math.expm1(-(_HALF - 1) / (2 * KAPPA))
_BLOCK = 2**14


def sums(losses: Reals, weights: Reals, step: float, count: int) -> tuple[Complexes, Reals]:
    """Σ wⱼ e^(itlⱼ) at t = 0, step, …, (count − 1) · step, and bounds on the absolute errors.

    Weights are ≥ 0. The lattice has four points for each t, so that θ ≤ π/2.
    """
    points = 2 ** math.ceil(math.log2(4 * max(count, 2 * TAPS)))
    place = losses * (step * points / (2 * math.pi))
    spread = _spread(place, weights, points)
    theta = 2 * math.pi / points * np.arange(count)
    shape = math.sqrt(4 * math.pi * KAPPA) * np.exp(-KAPPA * theta**2)
    found = np.conj(np.fft.rfft(spread)[:count]) / shape
    size = float(weights.sum())
    # The transform errs by log₂n · 8 ulp in the 2-norm [Hig02, Thm 24.2].
    # A place is right within 4 ulp of itself: its phase by t · l · 4 ulp.
    phase = 4 * ULP * theta * float(np.abs(place).max(initial=0.0))
    alias = 1.01 * np.exp(-4 * math.pi * KAPPA * (math.pi - theta))
    slips = 8 * ULP * math.log2(points) * math.sqrt(points) * math.sqrt(float((spread**2).sum()))
    slips += (_CUT + 128 * ULP * shape[0]) * size
    return found, (alias + phase) * size + slips / shape + 16 * ULP * np.abs(found)


def _spread(place: Reals, weights: Reals, points: int) -> Reals:
    """The lattice with every weight spread over `TAPS` of its points, cyclically."""
    total = np.zeros(points + TAPS)
    taps = np.arange(TAPS)
    fixed = np.exp(-(taps**2) / (4 * KAPPA))
    for start in range(0, len(place), _BLOCK):
        u = place[start : start + _BLOCK]
        first = np.floor(u) - (_HALF - 1)
        v = u - first  # from TAPS/2 − 1 to TAPS/2
        # g(v − s) = e^(−v²/4κ) · (e^(v/2κ))ˢ · e^(−s²/4κ)
        growth, part = np.exp(v / (2 * KAPPA)), np.exp(-(v**2) / (4 * KAPPA))
        part *= weights[start : start + _BLOCK]
        parts = np.empty((TAPS, len(u)))
        for tap in range(TAPS):
            parts[tap] = part * fixed[tap]
            part *= growth
        where = first.astype(np.int64) % points + taps[:, None]
        total += np.bincount(where.ravel(), parts.ravel(), len(total))
    total[:TAPS] += total[points:]
    return total[:points]


def log_sums(
    losses: Reals, log_weights: Reals, z: Complexes, *, relative: Reals
) -> tuple[Complexes, Reals]:
    """ln Σ e^(wⱼ + i Im(z) lⱼ), where wⱼ is what Re z and the law make of the weights together.

    `relative` bounds the relative error of the terms at each z; the bound returned is as in
    `Pair.log_mgf`.
    """
    top = float(log_weights.max())
    weights = np.exp(log_weights - top)
    kept = weights > 2.0**-75 / len(weights)  # the others are together below 2⁻⁷⁵ of the whole
    losses, weights = losses[kept], weights[kept]
    size = float(weights.sum())
    t = z.imag
    if len(t) * len(losses) > 2**18 and _equally_spaced(t):
        total, errors = sums(losses, weights, float(t[1]), len(t))
    else:
        total, errors = _term_by_term(losses, weights, t)
    errors += size * (relative + 2.0**-74)
    value, bound = log_of_sum(total, np.full(t.shape, size), errors / size)
    return value + top, bound + 8 * ULP * abs(top)


def near_and_far(
    evaluate: Callable[[Complexes], tuple[Complexes, Reals]], z: Complexes
) -> tuple[Complexes, Reals]:
    """The first few of many points by themselves: they weigh most, and fewer terms do for them."""
    if len(z) <= 2 * _NEAR or not _equally_spaced(z.imag):
        return evaluate(z)
    near, far = evaluate(z[:_NEAR]), evaluate(z)
    for part, whole in zip(near, far, strict=True):
        whole[:_NEAR] = part
    return far


_NEAR = 64


def _term_by_term(losses: Reals, weights: Reals, t: Reals) -> tuple[Complexes, Reals]:
    total, block = np.empty(t.shape, complex), max(1, 2**16 // len(losses))
    for start in range(0, len(t), block):
        phase = np.outer(t[start : start + block], losses)
        total[start : start + block] = (np.exp(1j * phase) * weights).sum(axis=1)
    # NumPy adds pairwise along the last axis: fewer than 40 roundings for any number of terms.
    reach = float(np.abs(losses).max())
    return total, float(weights.sum()) * 8 * ULP * (48 + np.abs(t) * reach)


def _equally_spaced(t: Reals) -> bool:
    return len(t) > 2 and t[0] == 0 and bool(np.array_equal(t, t[1] * np.arange(len(t))))
