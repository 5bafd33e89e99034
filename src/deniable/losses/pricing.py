"""Which engine prices a list, and the search for ε: the parts that `Profile` is made of.

    all losses on one lattice               grid.lattice: exact sums
    moments known, or many mechanisms       contour
    few mechanisms whose moments are dear   grid

Each gives ln of an upper bound on δ(ε); every ε returned was checked against its δ.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from . import contour, grid
from .pairs import AtomicPair, BoundedRangePair, Pair
from .pairs._pair import ULP
from .pairs.discrete import ComputedAtoms

List = Sequence[tuple[Pair, int]]


def epsilon_at(pairs: List, delta: float) -> float:
    """The least ε, within the engines' tolerance and from above, whose δ(ε) is at most `delta`."""
    pairs = _that_matter(pairs)
    highest = largest_loss(pairs)
    left = (delta - infinite_mass(pairs)) * (1 - 4 * ULP)
    if left < 0:
        return math.inf
    if left == 0 or highest == 0:
        return highest
    target = math.log(left) - 8 * ULP * (1 - math.log(left))
    engine = _engine(pairs, log_delta=target)
    epsilon = _least(engine.log_delta, target=target, start=engine.start, slope=engine.slope)
    return min(highest, epsilon)


def delta_at(pairs: List, epsilon: float) -> float:
    """A number not below δ(ε), and above it by no more than the engines' tolerance."""
    pairs = _that_matter(pairs)
    infinite = infinite_mass(pairs)
    if epsilon >= largest_loss(pairs):
        return infinite
    finite = math.exp(min(0.0, _engine(pairs, epsilon=epsilon).log_delta(epsilon)))
    return min(1.0, math.nextafter((finite + infinite) * (1 + 8 * ULP), 1.0))


def largest_loss(pairs: List) -> float:
    """The largest finite total loss, rounded up."""
    return math.fsum(times * pair.largest_loss() for pair, times in pairs) * (1 + 4 * ULP)


def infinite_mass(pairs: List) -> float:
    """1 − Π(1 − pᵢ)^kᵢ, rounded up."""
    mass = 0.0
    for pair, times in pairs:
        chance = pair.infinite_mass()
        if chance >= 1:
            return 1.0
        mass += times * -math.log1p(-chance)
    return min(1.0, -math.expm1(-mass) * (1 + 32 * ULP * (1 + len(pairs))))


class _Priced(Protocol):
    def log_delta(self, epsilon: float) -> float: ...


@dataclass(frozen=True)
class _Engine:
    """A way to price, and where to begin the search."""

    priced: _Priced
    moments: List
    """The list again, if its moments may prove more than its pairs do."""
    start: float
    slope: float

    def log_delta(self, epsilon: float) -> float:
        """ln of an upper bound on δ(ε), infinite losses apart."""
        found = self.priced.log_delta(epsilon)
        return min(found, _by_moments(self.moments, epsilon)) if self.moments else found


@dataclass(frozen=True)
class _Alone:
    """A single mechanism, in closed form."""

    pair: Pair

    def log_delta(self, epsilon: float) -> float:
        delta = self.pair.delta_alone(epsilon)
        assert delta is not None
        return math.log(delta) + 8 * ULP if delta > 0 else -math.inf


def _engine(pairs: List, *, log_delta: float | None = None, epsilon: float = 0.0) -> _Engine:
    if len(pairs) == pairs[0][1] == 1 and pairs[0][0].delta_alone(1.0) is not None:
        return _Engine(_Alone(pairs[0][0]), (), max(epsilon, 0.5), 1.0)
    known = [(pair if pair.has_mgf() else _coarse(pair), times) for pair, times in pairs]
    tilt = contour.tilt_for(known, log_delta=log_delta, epsilon=epsilon)
    start = epsilon
    if log_delta is None:
        log_delta = min(-1e-3, tilt.log_m - tilt.c * epsilon + contour.log_chernoff(tilt.c))
    else:
        start = max(0.0, (tilt.log_m + contour.log_chernoff(tilt.c) - log_delta) / tilt.c)
    moments = pairs if any(isinstance(pair, BoundedRangePair) for pair, _ in pairs) else ()
    return _Engine(_choose(pairs, known, tilt, start, log_delta), moments, start, tilt.c)


def _choose(
    pairs: List, known: List, tilt: contour.Tilt, start: float, log_delta: float
) -> _Priced:
    laws = [(law, times) for pair, times in pairs if (law := pair.lattice()) is not None]
    if len(laws) == len(pairs) and len({law.step for law, _ in laws}) == 1:
        return grid.lattice(laws, tilt, epsilon=start)
    tilt = contour.gentler(known, tilt, epsilon=start, log_delta=log_delta, room=6.0)
    on_line = math.inf
    if all(pair.has_mgf() for pair, _ in pairs):
        on_line = contour.cost(pairs, tilt, epsilon=start)
    if on_line > 2**16:
        tilt_of_grid = contour.gentler(known, tilt, epsilon=start, log_delta=log_delta, room=14.0)
        # A point of the grid costs about three exponentials, transforms included.
        if 3.0 * len(pairs) * grid.mesh(pairs, tilt_of_grid, epsilon=start)[1] < on_line:
            return grid.grid(pairs, tilt_of_grid, epsilon=start, log_delta=log_delta)
    return contour.line(pairs, tilt, epsilon=start)


def _coarse(pair: Pair) -> AtomicPair:
    """A few hundred atoms that dominate the pair: enough to find the saddle."""
    low, high = pair.support(1e-12)
    step = max((high - low) / 400, 1e-12)
    first, masses, _ = grid.connect(pair, step, 1e-12)
    kept = masses > 0
    losses = step * np.arange(first, first + len(masses), dtype=np.float64)
    return ComputedAtoms(losses[kept], masses[kept])


def _by_moments(pairs: List, epsilon: float) -> float:
    """ln δ(ε) ≤ min over c of Σ ln E e^(cL) − cε + ln(cᶜ/(1+c)^(1+c))       [CKS20, Prop 12]."""

    def bound(c: float) -> float:
        moments = math.fsum(times * pair.log_moment(c) for pair, times in pairs)
        return moments - c * epsilon + contour.log_chernoff(c)

    return bound(contour.minimise(bound)) + 1e-12


def _least(f: Callable[[float], float], *, target: float, start: float, slope: float) -> float:
    """The least ε ≥ 0 with f(ε) ≤ target, from above: f falls, about as −slope · ε."""
    low = high = (start, f(start) - target)
    step = 1e-6 * (1 + start)
    while high[1] > 0:
        if step > 1e300:
            return math.inf
        low, further = high, high[0] + max(step, min(1.1 * high[1] / slope, 1e300))
        high, step = (further, f(further) - target), 4 * step
    while low[1] <= 0:
        if low[0] == 0:
            return 0.0
        high, nearer = low, max(0.0, low[0] - max(step, -1.1 * low[1] / slope))
        low, step = (nearer, f(nearer) - target), 4 * step
    return _between(f, target, low, high)


def _between(
    f: Callable[[float], float], target: float, low: tuple[float, float], high: tuple[float, float]
) -> float:
    """Illinois' rule, kept away from the ends; returns the upper end, which was checked."""
    (a, fa), (b, fb) = low, high
    side = 0
    while b - a > 1e-11 * (1 + b):
        share = fa / (fa - fb) if math.isfinite(fb) else 0.5
        x = a + (b - a) * min(max(share, 1e-3), 1 - 1e-3)
        if not a < x < b:
            break
        fx = f(x) - target
        if fx > 0:
            a, fa = x, fx
            fb = fb / 2 if side == 1 else fb
            side = 1
        else:
            b, fb = x, fx
            fa = fa / 2 if side == -1 else fa
            side = -1
    return b


def _that_matter(pairs: List) -> List:
    """All but those that lose nothing."""
    return [
        (pair, times)
        for pair, times in pairs
        if times and (pair.largest_loss() > 0 or pair.infinite_mass() > 0)
    ]
