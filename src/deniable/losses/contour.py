"""The price of a fixed list of mechanisms by one integral in the complex plane.

Count losses from their origins: with g = Σ originᵢ − ε, D(z) = ΠE e^(z(Lᵢ − originᵢ)) and any c > 0
at which it is finite,

    δ(ε) = (1/2πi) ∫ e^(zg) D(z)/(z(z + 1)) dz   along Re z = c                   [AGACKS23; ZDW22]

**Never below the truth.** The trapezoid rule of step d on this line equals Σₘ e^(cmΛ) δ(ε + mΛ),
Λ = 2π/d, by Poisson summation; every term is ≥ 0 and the one of m = 0 is δ(ε), so the *untruncated*
sum is an upper bound. Of the terms below ε the least they can be is taken off: δ(x) ≥ 1 − e^x, as
Q has a mass of at most 1. What is cut off is bounded through |D(c + it)| ≤ D(c)·Π decayᵢ; where
that does not fall fast enough (losses with atoms), a Gaussian mechanism of tiny μ = τ is added to
the list, which can only raise δ and brings e^(−τ²t²/2). Errors of each log_mgf, times its count,
and of the floating-point sum are bounded node by node and added.

**Above it by little.** Λ is taken so large that the terms m ≠ 0 are below 1e-9 of δ (Chernoff), the
cut so far out that the rest is below 1e-9, and τ² so small that M(c) grows by 2e-7 or, where ε is
sought, so that ε does. That bounds what smoothing does on the average; at an atom of mass p it
does more, as δ has a kink there: at x = ε − l the smoothed δ of an atom is (1 − e^x)₊ + κ(x), where
κ(x) = e^min(x, 0) δ_τ(|x|) and δ_τ is that of the Gaussian. So p κ(x) is taken off again for every
atom that is known (`atoms`): what is left is an exact sum over these and smoothed only in the rest,
in which no atom has a share of the tilted law above 1/4096.

Where nearly all of a law lies far below ε, that part is left out: see `pairs.upper`.
"""

from __future__ import annotations

import dataclasses
import itertools
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from . import rounding
from .pairs import GaussianPair, Pair
from .pairs._pair import ULP, Complexes, Reals
from .pairs.atoms import Atoms
from .pairs.upper import Decays, Share, Slower, upper_parts

List = Sequence[tuple[Pair, int]]
"""Pairs of one direction, each with how often it is used."""

SLACK = 1e-9
"""Relative excess of δ allowed to each of aliasing and truncation."""
SMOOTHING = 6e-7
"""How much ln δ, or ε, may grow by the Gaussian that is added to losses with atoms."""
MOST_NODES = 2**18
FEW_NODES = 2**15


@dataclass(frozen=True)
class Tilt:
    """Where on the real axis to integrate, and how wide the loss is there."""

    c: float
    log_d: float
    """About ln D(c)."""
    window: float
    """Λ: beyond it aliases are negligible."""
    steep: float
    """About −d ln δ/dε: c at the saddle."""


@dataclass(frozen=True)
class Line:
    """The nodes of the rule, with everything that does not depend on ε."""

    tilt: Tilt
    t: Reals
    terms: Complexes
    """d/2π · D(c + it)/(D(c) z(z + 1)); twice that for t > 0, as conjugates are left out."""
    errors: float
    """A bound on the errors of the terms."""
    rest: float
    """A bound on the modulus of all that is left out."""
    tau: float
    """μ of the Gaussian that was added, or 0."""
    atoms: Atoms | None
    origin: float
    finite: float
    """The mass of all finite losses, rounded down; 0 if some are left out."""
    furthest: float = math.inf
    """The gap of the ε up to which losses may have been left out."""

    @cached_property
    def size(self) -> float:
        """The sum of all |term|."""
        return float(np.abs(self.terms).sum())

    @cached_property
    def moment(self) -> float:
        """The sum Σ t·|term|."""
        return float((self.t * np.abs(self.terms)).sum())

    def log_delta(self, gap: float) -> float:
        """ln of a number that is never below δ at `gap` below the origin."""
        if gap > self.furthest:
            return 0.0  # δ ≤ 1 is all that is known
        phase = self.t * gap
        real = self.terms.real * np.cos(phase) - self.terms.imag * np.sin(phase)
        # NumPy adds pairwise: fewer than 40 roundings for any number of terms.
        slips = ULP * (56 * self.size + 4 * abs(gap) * self.moment)
        total = float(real.sum()) + self.rest + (self.errors + slips) * (1 + 1e-9)
        exponent = self.tilt.log_d + self.tilt.c * gap
        slip = 8 * ULP * (1 + abs(self.tilt.log_d) + self.tilt.c * abs(gap))
        if self.tau and self.atoms is not None:
            total -= self._kinks(self.atoms, gap, exponent + slip)
        total -= self._aliases(gap, exponent + slip)
        if total <= 0:  # not where δ is as small as the errors: those were added
            return -math.inf
        return exponent + math.log(total) + slip

    def _aliases(self, gap: float, log_scale: float) -> float:
        """Σ e^(−cmΛ) δ(ε − mΛ) over m > 0, rounded down, in units of e^log_scale."""
        m = self.tilt.window * np.arange(1, 2 + min(64, math.ceil(40 / self._turn)))
        least = self.finite - 2 * np.exp(np.minimum(self.origin - gap - m, 0.0))
        logs = -self.tilt.c * m * (1 + 1e-12) - log_scale
        return math.fsum(np.maximum(least, 0.0) * np.exp(np.minimum(logs, 700.0))) * (1 - 1e-12)

    @property
    def _turn(self) -> float:
        return self.tilt.c * self.tilt.window

    def _kinks(self, atoms: Atoms, gap: float, log_scale: float) -> float:
        """Σ p κ(ε − l) over the known atoms, rounded down, in units of e^log_scale."""
        x = atoms.deficits - gap
        near = np.abs(x) < 12 * self.tau
        x, logs = x[near], np.log(atoms.masses[near]) - log_scale
        lost = atoms.blur + 8 * ULP * (np.abs(atoms.deficits[near]) + abs(gap))
        raised = np.exp(np.minimum(x, 0.0)) * smoothed(self.tau, np.abs(x)) - 2 * lost
        return math.fsum(np.exp(logs) * np.maximum(raised, 0.0)) * (1 - atoms.slack - 1e-12)


def smoothed(tau: float, x: Reals) -> Reals:
    """δ(x) of N(τ, 1) against N(0, 1) at x ≥ 0, rounded down: φ(a)(R(a) − R(a + τ)), R of Mills."""
    from scipy.special import erfcx

    a = x / tau - tau / 2
    # Below −20, where R grows without end, δ is 1 but for 10⁻⁸⁰.
    held = np.maximum(a, -20.0)
    near, far = (math.sqrt(math.pi / 2) * erfcx(b / math.sqrt(2)) for b in (held, a + tau))
    scale = np.exp(-(held**2) / 2) / math.sqrt(2 * math.pi)
    delta = np.maximum(scale * (near - far - 16 * ULP * near), 0.0)
    return np.where(a < held, 1.0, delta) * (1 - 1e-12)


def line(
    pairs: List, tilt: Tilt, *, tolerance: float, atoms: Atoms | None, least: float = 0.0
) -> Line:
    """Nodes good for prices near the ε that the tilt was made for, and not below `least`."""
    upper = upper_parts(pairs, least)
    slower = [(Slower(p, u, tilt.c), k - 1) for (p, k), u in zip(pairs, upper, strict=False)]
    decaying: list[tuple[Decays, int]] = [*(slower or pairs)]
    tau, count, step = plan(decaying, tilt, tolerance=tolerance)
    if tau:
        pairs = [*pairs, (GaussianPair(mu=tau), 1)]
        decaying.append(pairs[-1])
    t = step * np.arange(count + 1)
    z: Complexes = (tilt.c + 1j * t).astype(np.complex128)
    log_d, bound = np.zeros(z.shape, complex), np.full(z.shape, 32 * ULP)
    share = Share(z)
    for (pair, times), part in itertools.zip_longest(pairs, upper):
        value, error = pair.log_mgf(z)
        log_d += times * value
        bound += times * (error + 8 * ULP * np.abs(value))
        if part is not None:
            share.add(part, times, value, error)
    if upper:
        log_d, bound = share.of(log_d, bound)
    peak = float(log_d[0].real) + float(bound[0])
    terms = np.exp(log_d - peak) * (step / math.pi) / (z * (z + 1))
    terms[0] /= 2
    size = np.abs(terms)
    errors = size * np.expm1(np.minimum(bound, 700.0))
    kept = size + errors > 1e-3 * SLACK / (1 + count) * size[0]
    kept[0] = True
    rest = _rest(decaying, tilt.c, step, count) + float((size + errors)[~kept].sum())
    above = dataclasses.replace(tilt, log_d=peak)
    wrong = float(errors[kept].sum())
    origin = math.fsum(times * pair.origin() for pair, times in pairs)
    finite = 1 - math.fsum(times * (pair.infinite_mass() + 1e-12) for pair, times in pairs) - 1e-11
    rest *= 1 + 1e-9
    if not upper:
        return Line(above, t[kept], terms[kept], wrong, rest, tau, atoms, origin, finite)
    furthest = origin - least
    return Line(above, t[kept], terms[kept], wrong, rest, tau, atoms, origin, 0.0, furthest)


def plan(
    pairs: Sequence[tuple[Decays, int]], tilt: Tilt, *, tolerance: float
) -> tuple[float, int, float]:
    """μ of the Gaussian to be added, or 0; how many nodes it takes; and their distance."""
    step = 2 * math.pi / tilt.window
    count = _count(pairs, tilt, step, most=FEW_NODES)
    if count <= FEW_NODES:
        return 0.0, count, step
    least = math.sqrt(2 * tolerance / (tilt.steep * (1 + tilt.steep)))
    for tau in (least * 2.0**doubled for doubled in range(1000)):  # less tight, but soon
        smooth = [*pairs, (GaussianPair(mu=tau), 1)]
        count = _count(smooth, tilt, step, most=MOST_NODES)
        if count <= MOST_NODES:
            return tau, count, step
    raise AssertionError("no Gaussian is wide enough")


class Saddle:
    """D(c) of a list near the real axis, remembered: where to integrate, for an ε or for a δ."""

    def __init__(self, pairs: List) -> None:
        self.pairs = pairs
        self.origin = sum(times * rounding.ticks(pair.origin()) for pair, times in pairs)
        self.highest = sum(times * rounding.ticks(pair.largest_loss()) for pair, times in pairs)
        self._known: dict[float, float] = {}

    def gap(self, epsilon: float) -> float:
        """By how much ε is below the origin: rounded up, which can only raise a price."""
        return rounding.from_ticks(self.origin - rounding.ticks(epsilon))

    def log_d(self, c: float) -> float:
        """ln D(c), approximately."""
        if c not in self._known:
            self._known[c] = math.fsum(times * pair.rough_log_mgf(c) for pair, times in self.pairs)
        return self._known[c]

    def lowest(self, gap: float) -> float:
        """The c at which the integrand is least on the real axis."""
        return minimise(lambda c: self.log_d(c) + c * gap - math.log(c * (1 + c)), floor=-1000.0)

    def at(self, epsilon: float) -> Tilt:
        """The tilt for an ε."""
        gap = self.gap(epsilon)
        c = self.lowest(gap)
        bound = self.log_d(c) + c * gap + log_chernoff(c)
        return self._gentle(c, gap, min(-1.0, bound))

    def within(self, log_delta: float) -> tuple[Tilt, float]:
        """The tilt for the ε that belongs to a δ, and about that ε."""
        c = minimise(lambda c: (self.log_d(c) + log_chernoff(c) - log_delta) / c)
        gap = -(self.log_d(c) + log_chernoff(c) - log_delta) / c
        epsilon = max(0.0, rounding.from_ticks(self.origin - _signed_ticks(gap)))
        return self._gentle(c, self.gap(epsilon), log_delta), epsilon

    def wider(self, tilt: Tilt, epsilon: float, log_delta: float) -> Tilt:
        """The tilt with a window that is wide enough at an ε below the one it was made for."""
        window = self._window(tilt.c, self.gap(epsilon), log_delta)
        return dataclasses.replace(tilt, window=max(tilt.window, window))

    def cancels(self, c: float, epsilon: float, log_delta: float) -> bool:
        """Is M(c)e^(−cε) so far above δ(ε) that errors of its terms may show?"""
        return self.log_d(c) + c * self.gap(epsilon) > log_delta + 16

    def _gentle(self, c: float, gap: float, log_delta: float) -> Tilt:
        """A smaller tilt, if heavy tails then need less of a window.

        M(c)e^(−cε) may then be e^6 δ, or more where the errors of few mechanisms allow.
        """
        best = Tilt(c, self.log_d(c), self._window(c, gap, log_delta), c)
        most = max(6.0, 14 - math.log(sum(times for _, times in self.pairs)))
        for share in (0.85, 0.7, 0.55, 0.4, 0.3, 0.2, 0.14, 0.1):
            smaller = share * c
            if self._below(smaller, gap, log_delta) >= best.window:
                break
            log_d = self.log_d(smaller)
            if log_d + smaller * gap > log_delta + most:
                break
            other = Tilt(smaller, log_d, self._window(smaller, gap, log_delta), c)
            best = min(best, other, key=lambda t: t.window)
        return best

    def _window(self, c: float, gap: float, log_delta: float) -> float:
        """Λ with e^(cΛ) δ(ε + Λ) below SLACK · δ by Chernoff at sc, and so the aliases below ε."""
        need = _need(c, log_delta)
        # No loss is further up; and an alias at the highest atom would be smoothed with it.
        smeared = 12 * math.sqrt(2 * SMOOTHING / (c * (1 + c)))
        above = rounding.from_ticks(self.highest - self.origin) + gap + smeared
        right = [
            (self.log_d(c * s) - self.log_d(c) + (s - 1) * c * gap + need) / ((s - 1) * c)
            for s in (1.02, 1.05, 1.1, 1.25, 1.5, 2.0, 3.0)
        ]
        enough = [x for x in (above, *right) if math.isfinite(x)] or [4 * need / c]
        return max(self._below(c, gap, log_delta), min(enough))

    def _below(self, c: float, gap: float, log_delta: float) -> float:
        """Λ at which the aliases below ε are negligible: the smaller c, the wider.

        Of those e^(−cΛ)(1 − 2e^(ε−Λ)) is taken off, which costs digits if it is far above δ.
        """
        need = _need(c, log_delta)
        epsilon = max(0.0, rounding.from_ticks(self.origin) - gap)
        return min(max((need + epsilon + 1) / (1 + c), (-log_delta - 4) / c), need / c)


def _need(c: float, log_delta: float) -> float:
    """By how many logarithms an alias is to be smaller than 1."""
    return -log_delta - math.log(SLACK) + math.log(4 + c * c)


def log_chernoff(c: float) -> float:
    """ln of cᶜ/(1 + c)^(1+c) = sup (1 − e^(−l))₊ e^(−cl): δ(ε) ≤ M(c) e^(−cε) times it."""
    return -math.log1p(c) - c * math.log1p(1 / c)


def minimise(
    function: Callable[[float], float], *, floor: float = -math.inf, fine: float = 1.1
) -> float:
    """Near the least value of a function of c > 0 that falls, then rises; or where it is low."""
    ratio, best, value = 4.0, 1.0, function(1.0)
    while ratio > fine and value > floor:
        for candidate in (best * ratio, best / ratio):
            if 1e-12 < candidate < 1e18 and (found := function(candidate)) < value:
                best, value = candidate, found
                break
        else:
            ratio = math.sqrt(ratio)
    return best


def _signed_ticks(number: float) -> int:
    return rounding.ticks(number) if number >= 0 else -rounding.ticks(-number)


def _count(pairs: Sequence[tuple[Decays, int]], tilt: Tilt, step: float, *, most: int) -> int:
    """About the least number of nodes that leaves a negligible rest."""
    size = step / (2 * math.pi) / (tilt.c * (1 + tilt.c))
    counts = (8 << doubled for doubled in range(most.bit_length()))
    enough = (n for n in counts if n > most or _rest(pairs, tilt.c, step, n) <= SLACK * size)
    count = next(enough)
    low = count // 2
    while count - low > max(4, count // 32):
        middle = (low + count) // 2
        if _rest(pairs, tilt.c, step, middle) > SLACK * size:
            low = middle
        else:
            count = middle
    return count


def _rest(pairs: Sequence[tuple[Decays, int]], c: float, step: float, count: int) -> float:
    """Bound on the terms beyond `count`: Σ 1/|z||z+1| ≤ Σ 1/(nd)² ≤ 1/(d² count)."""
    log = 0.0
    for pair, times in pairs:
        decay = pair.decay(c, (count + 1) * step)
        log += times * math.log(decay) if decay > 0 else -math.inf
        if log < -700:
            return 1e-290
    return math.exp(log) / (math.pi * step * count) * (1 + 1e-9)
