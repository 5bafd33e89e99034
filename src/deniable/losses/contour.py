"""The price of a fixed list of mechanisms by one integral in the complex plane.

With M(z) = ΠE e^(zLᵢ) and any c > 0 at which it is finite,

    δ(ε) = (1/2πi) ∫ e^(−zε) M(z)/(z(z + 1)) dz   along Re z = c            [AGACKS23, Eq 14; ZDW22]

**Never below the truth.** The trapezoid rule of step d on this line equals Σₘ e^(cmΛ) δ(ε + mΛ),
Λ = 2π/d, by Poisson summation; every term is ≥ 0 and the one of m = 0 is δ(ε), so the *untruncated*
sum is an upper bound. What is cut off is bounded through |M(c + it)| ≤ M(c)·Π decayᵢ. Where that
does not fall fast enough (losses with atoms), a Gaussian mechanism of tiny μ = τ is added to the
list, which can only raise δ and brings e^(−τ²t²/2). Errors of each log_mgf, times its count, and of
the floating-point sum are bounded node by node and added.

**Above it by little.** Λ is taken so large that the terms m ≠ 0 are below 1e-9 of δ (Chernoff), the
cut so far out that the rest is below 1e-9, and τ² so small that it moves ε by about 3e-7, or by
3e-9 · ε if that is more.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from .pairs import GaussianPair, Pair
from .pairs._pair import ULP, Complexes, Reals

List = Sequence[tuple[Pair, int]]
"""Pairs of one direction, each with how often it is used."""

SLACK = 1e-9
"""Relative excess of δ allowed to each of aliasing and truncation."""
SMOOTHING = 3e-7
"""How much ε may grow by the Gaussian that is added to losses with atoms."""
MOST_NODES = 2**23
MOST_POINTS = 2**17


@dataclass(frozen=True)
class Tilt:
    """Where on the real axis to integrate, and how wide the loss is there."""

    c: float
    log_m: float
    """An upper bound on ln M(c)."""
    window: float
    """Λ: beyond it aliases are negligible."""
    saddle: float
    """The best c, whether taken or not: ln δ falls by about this much for each unit of ε."""


@dataclass(frozen=True)
class Line:
    """The nodes of the rule, with everything that does not depend on ε."""

    tilt: Tilt
    t: Reals
    terms: Complexes
    """d/2π · M(c + it)/(M(c) z(z + 1)); twice that for t > 0, as conjugates are left out."""
    errors: Reals
    """Bounds on the errors of the terms."""
    rest: float
    """A bound on the modulus of all that is left out."""

    def log_delta(self, epsilon: float) -> float:
        """ln of a number that is never below δ(ε)."""
        phase = self.t * epsilon
        size = np.abs(self.terms)
        real = self.terms.real * np.cos(phase) + self.terms.imag * np.sin(phase)
        slips = ULP * size * (16 + 4 * phase)
        total = math.fsum(real) + self.rest + float((self.errors + slips).sum()) * (1 + 1e-9)
        if total <= 0:  # not where δ is as small as the errors: those were added
            return -math.inf
        exponent = self.tilt.log_m - self.tilt.c * epsilon
        slip = 8 * ULP * (1 + abs(self.tilt.log_m) + self.tilt.c * epsilon)
        return exponent + math.log(total) + slip


def line(pairs: List, tilt: Tilt, *, epsilon: float) -> Line:
    """Nodes good for prices near `epsilon`."""
    smoothed, count, step = plan(pairs, tilt, epsilon=epsilon)
    t = step * np.arange(count + 1)
    z: Complexes = (tilt.c + 1j * t).astype(np.complex128)
    log_m, bound = np.zeros(z.shape, complex), np.zeros(z.shape)
    for pair, times in smoothed:
        value, error = pair.log_mgf(z)
        log_m += times * value
        bound += times * error + 8 * ULP * np.abs(times * value)
    peak = float(log_m[0].real) + float(bound[0])
    shape = np.where(t > 0, 2.0, 1.0) * step / (2 * math.pi) / (z * (z + 1))
    terms = np.exp(log_m - peak) * shape
    size = np.abs(terms)
    errors = size * np.expm1(np.minimum(bound + 32 * ULP, 700.0))
    rest = _rest(smoothed, tilt.c, step, count)
    kept = size + errors > 1e-3 * SLACK / (1 + count) * size[0]
    kept[0] = True
    rest += float((size + errors)[~kept].sum())
    above = Tilt(tilt.c, peak, tilt.window, tilt.saddle)
    return Line(above, t[kept], terms[kept], errors[kept], rest * (1 + 1e-9))


def plan(pairs: List, tilt: Tilt, *, epsilon: float) -> tuple[List, int, float]:
    """The list, smoothed where it must be; how many nodes it takes; and their distance."""
    step = 2 * math.pi / tilt.window
    count = _count(pairs, tilt, step, most=2**12)
    if count <= 2**12:
        return pairs, count, step
    tolerance = SMOOTHING * max(1.0, epsilon / 100)
    tau = math.sqrt(2 * tolerance / (1 + tilt.saddle))
    smoothed = [*pairs, (GaussianPair(mu=tau), 1)]
    return smoothed, _count(smoothed, tilt, step, most=MOST_NODES), step


def cost(pairs: List, tilt: Tilt, *, epsilon: float) -> float:
    """About how many exponentials the line takes."""
    smoothed, count, step = plan(pairs, tilt, epsilon=epsilon)
    return count * sum(pair.nodes(tilt.c, count * step / 2) for pair, _ in smoothed)


def tilt_for(pairs: List, *, log_delta: float | None = None, epsilon: float = 0.0) -> Tilt:
    """The saddle for a given ε, or for the ε that belongs to a given δ."""
    if log_delta is None:
        c = minimise(lambda c: _log_m(pairs, c) - c * epsilon - math.log(c * (1 + c)))
        log_m = _log_m(pairs, c)
        log_delta = min(-1.0, log_m - c * epsilon + log_chernoff(c))
    else:
        target = log_delta
        c = minimise(lambda c: (_log_m(pairs, c) + log_chernoff(c) - target) / c)
        log_m = _log_m(pairs, c)
        epsilon = max(0.0, (log_m + log_chernoff(c) - target) / c)
    return Tilt(c, log_m, _window(pairs, c, log_m, epsilon, log_delta), c)


def gentler(pairs: List, tilt: Tilt, *, epsilon: float, log_delta: float, room: float) -> Tilt:
    """A smaller tilt, if heavy tails then need less of a window; M(c)e^(−cε) ≤ e^room δ."""
    best = tilt
    for share in (0.85, 0.7, 0.5, 0.3):
        c = share * tilt.c
        log_m = _log_m(pairs, c)
        if log_m - c * epsilon > log_delta + room:
            break
        window = _window(pairs, c, log_m, epsilon, log_delta)
        best = min(best, Tilt(c, log_m, window, tilt.saddle), key=lambda t: t.window)
    return best


def _window(pairs: List, c: float, log_m: float, epsilon: float, log_delta: float) -> float:
    """Λ with e^(−cΛ) and e^(cΛ) δ(ε + Λ) both below SLACK · δ, the latter by Chernoff at sc."""
    need = -log_delta - math.log(SLACK) + math.log(4 + c * c)
    right = min(
        (_log_m(pairs, c * s) - log_m - (s - 1) * c * epsilon + need) / ((s - 1) * c)
        for s in (1.02, 1.05, 1.1, 1.25, 1.5, 2.0, 3.0)
    )
    return max(need / c, right if math.isfinite(right) else 4 * need / c)


def log_chernoff(c: float) -> float:
    """ln of cᶜ/(1 + c)^(1+c) = sup (1 − e^(−l))₊ e^(−cl): δ(ε) ≤ M(c) e^(−cε) times it."""
    return c * math.log(c) - (1 + c) * math.log1p(c)


def _log_m(pairs: List, c: float) -> float:
    """About ln M(c); ∞ where it would take too many points to know."""
    if any(pair.nodes(c, 0.0) > MOST_POINTS for pair, _ in pairs):
        return math.inf
    point = np.array([complex(c)])
    return math.fsum(times * float(pair.log_mgf(point)[0][0].real) for pair, times in pairs)


def minimise(function: Callable[[float], float]) -> float:
    """Near the least value of a function of c > 0 that falls, then rises."""
    ratio, best, value = 4.0, 1.0, function(1.0)
    while ratio > 1.04:
        for candidate in (best * ratio, best / ratio):
            if 1e-9 < candidate < 1e9 and (found := function(candidate)) < value:
                best, value = candidate, found
                break
        else:
            ratio = math.sqrt(ratio)
    return best


def _count(pairs: List, tilt: Tilt, step: float, *, most: int) -> int:
    """About the least number of nodes that leaves a negligible rest."""
    size = step / (2 * math.pi) / (tilt.c * (1 + tilt.c))
    count = 8
    while count <= most and _rest(pairs, tilt.c, step, count) > SLACK * size:
        count *= 2
    low = count // 2
    while count - low > max(4, count // 32):
        middle = (low + count) // 2
        if _rest(pairs, tilt.c, step, middle) > SLACK * size:
            low = middle
        else:
            count = middle
    return count


def _rest(pairs: List, c: float, step: float, count: int) -> float:
    """Bound on the terms beyond `count`: Σ 1/|z||z+1| ≤ Σ 1/(nd)² ≤ 1/(d² count)."""
    log = 0.0
    for pair, times in pairs:
        decay = pair.decay(c, (count + 1) * step)
        log += times * math.log(decay) if decay > 0 else -math.inf
        if log < -700:
            return 1e-290
    return math.exp(log) / (math.pi * step * count) * (1 + 1e-9)
