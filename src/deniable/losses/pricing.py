"""Which engine prices a list, and the search for ε: the parts that `Profile` is made of.

    one mechanism                              its closed form
    atoms hold all but 1e-9 of the tilted law  atoms: an exact sum
    everything else                            contour

Each gives ln of an upper bound on δ(ε); every ε returned was checked against its δ.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from deniable.calibration import looseness

from . import convert, rounding
from .contour import SMOOTHING, Saddle, Tilt, line, log_chernoff, minimise
from .pairs import AtomsPair, BoundedRangePair, BranchedPair, GaussianPair, Pair, SampledPair
from .pairs._pair import ULP
from .pairs.atoms import heaviest

List = Sequence[tuple[Pair, int]]


def epsilon_at(pairs: List, delta: float, *, least: float = 0.0) -> float:
    """The least ε, within the engines' tolerance and from above, whose δ(ε) is at most `delta`.

    Below `least` it does not matter: that is returned where Chernoff's bound shows it to do.
    """
    mu, pairs = _apart(pairs)
    if mu:  # half of δ for each: what the rest adds is next to nothing
        share = delta / 2
        return rounding.add_up(convert.gdp_to_epsilon(mu, share), epsilon_at(pairs, share))
    pairs = _trimmed(_that_matter(pairs), delta)
    highest = largest_loss(pairs)
    left = (delta - infinite_mass(pairs)) * (1 - 4 * ULP)
    if left < 0:
        return math.inf
    if left == 0 or highest == 0:
        return highest
    pairs, spent = _without_the_negligible(pairs, left)
    left -= spent
    if not pairs:
        return 0.0
    target = math.log(left) - 8 * ULP * (1 - math.log(left))
    alone = _alone(pairs)
    if alone is not None:
        return min(highest, _least(alone.log_delta, target=target, start=0.5, slope=1.0))
    if _sum_at_nothing(pairs) <= left:
        return 0.0
    saddle = Saddle(pairs)
    if least and _chernoff(saddle, least) <= target:
        return least
    tilt, start = saddle.within(target)
    # ε may move by SMOOTHING, or by as much of each 100; in a search by more, but not of a small ε.
    loose = max(1.0, looseness.get() * min(1.0, start))
    tolerance = SMOOTHING * loose * max(1.0, start / 100)
    found = _searched(saddle, tilt, target, start, tolerance)
    return min(highest, found, _epsilon_by_moments(pairs, target))


def _searched(saddle: Saddle, tilt: Tilt, target: float, start: float, tolerance: float) -> float:
    """The least ε with ln δ(ε) ≤ target, by lines near it."""
    found = start
    if target < -_FAR and saddle.log_d(tilt.c) < 1:  # most of the law is far below, and may cancel
        tilt = saddle.wider(tilt, 0.0, target)
        engine = _engine(saddle, tilt, max(tolerance, _ROUGH) * tilt.steep)
        found = _least(engine.log_delta, target=target, start=found, slope=tilt.steep)
        if saddle.cancels(tilt.c, found, target):
            return _searched_above(saddle, tilt, target, found, tolerance)
    for _ in range(3):
        engine = _engine(saddle, tilt, tolerance * tilt.steep)
        found = _least(engine.log_delta, target=target, start=found, slope=tilt.steep)
        step = 0.1 / tilt.steep
        steep = (engine.log_delta(found) - engine.log_delta(found + step)) / step
        if not 1.5 * tilt.steep < steep < math.inf:
            break
        # δ falls faster than its saddle says, so that the smoothing moved ε by more.
        tilt = dataclasses.replace(tilt, steep=steep)
    return found


_ROUGH = 300 * SMOOTHING
_FAR = 20.0
"""Below e^(−20), δ may be far below Chernoff's bound, and ε with it."""


def _searched_above(
    saddle: Saddle, tilt: Tilt, target: float, found: float, tolerance: float
) -> float:
    """The same where the bulk of the law would cancel: it is left out, up to a little below ε."""
    for _ in range(16):
        least, before = 0.9 * found, found
        engine = _engine(saddle, tilt, tolerance * tilt.steep, least=least)
        found = min(found, _least(engine.log_delta, target=target, start=found, slope=tilt.steep))
        if found > 1.01 * least or found == before:
            break
    return found


def delta_at(pairs: List, epsilon: float) -> float:
    """A number not below δ(ε), and above it by no more than the engines' tolerance."""
    mu, pairs = _apart(pairs)
    if mu:
        part = min(epsilon / 2, epsilon_at(pairs, 1e-15))
        large = convert.gdp_to_delta(mu, math.nextafter(epsilon - part, 0.0))
        return min(1.0, rounding.add_up(large, delta_at(pairs, part)))
    pairs = _that_matter(pairs)
    infinite = infinite_mass(pairs)
    if epsilon >= largest_loss(pairs) or infinite == 1:
        return infinite
    engine, most = _alone(pairs), infinite + _sum_at_nothing(pairs)
    if engine is None:
        saddle, bound = _trimmed_at(pairs, epsilon)
        pairs = saddle.pairs
        infinite = infinite_mass(pairs)
        if bound < _NOTHING:
            return min(1.0, most, math.nextafter(infinite, 1.0))
        engine = _fine_enough(saddle, epsilon, SMOOTHING * looseness.get() / 4)
    found = min(0.0, engine.log_delta(epsilon), _delta_by_moments(pairs, epsilon))
    total = min(math.exp(found) + infinite, most)
    return min(1.0, math.nextafter(total * (1 + 8 * ULP), 1.0))


def _trimmed_at(pairs: List, epsilon: float) -> tuple[Saddle, float]:
    """The list trimmed by far less than its δ(ε), and ln of a bound on that for finite losses.

    What may be trimmed follows from a bound on δ(ε), and Chernoff's is better for a trimmed list.
    """
    already, most = infinite_mass(pairs), min(1.0, _sum_at_nothing(pairs))
    while True:
        trimmed = _trimmed(pairs, most)
        saddle, log_bound = Saddle(trimmed), -math.inf
        if epsilon < largest_loss(trimmed):
            log_bound = _chernoff(saddle, epsilon)
        bound = math.exp(min(0.0, log_bound)) + max(0.0, infinite_mass(trimmed) - already)
        if bound == 0 or bound > most / 10:
            return saddle, log_bound
        most = bound


def _trimmed(pairs: List, delta: float) -> List:
    """The list with rare losses far out made infinite, of a total mass far below `delta`."""
    if delta <= 0 or not pairs or len(pairs) == pairs[0][1] == 1:
        return pairs
    share = 1e-12 * delta / len(pairs)
    return [(pair.trimmed(share / times), times) for pair, times in pairs]


def largest_loss(pairs: List) -> float:
    """The largest finite total loss, rounded up."""
    return rounding.from_ticks(
        sum(times * rounding.ticks(pair.largest_loss()) for pair, times in pairs)
    )


def infinite_mass(pairs: List) -> float:
    """1 − Π(1 − pᵢ)^kᵢ, rounded up."""
    mass = 0.0
    for pair, times in pairs:
        chance = pair.infinite_mass()
        if chance >= 1:
            return 1.0
        mass += times * -math.log1p(-chance)
    return min(1.0, -math.expm1(-mass) * (1 + 32 * ULP * (1 + len(pairs))))


_MOST_MU, _MOST_MU_SAMPLED = 1e6, 64.0
"""Beyond, moments are not computed: noise so small beside the sensitivity hides nobody."""
_NOTHING = -745.0
"""ln of the least double."""


def _chernoff(saddle: Saddle, epsilon: float) -> float:
    """ln of a bound on δ(ε), from the moment at the saddle alone."""
    gap = saddle.gap(epsilon)
    c = saddle.lowest(gap)
    moments = [(pair.log_mgf(np.array([complex(c)])), times) for pair, times in saddle.pairs]
    log_d = math.fsum(times * float(v[0].real + e[0]) for (v, e), times in moments)
    return log_d + c * gap + log_chernoff(c) + 1e-12 * (1 + abs(log_d) + c * abs(gap))


def _without_the_negligible(pairs: List, delta: float) -> tuple[List, float]:
    """The list without mechanisms of tiny total variation, and the sum of those.

    Exchanging P for Q in one factor of a product moves δ(ε) by at most their total variation, δ(0).
    """
    kept, spent = [], 0.0
    for pair, times in pairs:
        distance = pair.delta_alone(0.0)
        if distance is not None and times * distance < 1e-9 * delta / len(pairs):
            spent += times * distance * (1 + 4 * ULP)
        else:
            kept.append((pair, times))
    return kept, spent


def _sum_at_nothing(pairs: List) -> float:
    """A bound on δ(0): total variations add up."""
    alone = [(pair.delta_alone(0.0), times) for pair, times in pairs]
    return math.fsum(times * (1.0 if d is None else d) for d, times in alone) * (1 + 4 * ULP)


class _Engine(Protocol):
    def log_delta(self, epsilon: float) -> float:
        """ln of an upper bound on δ(ε), infinite losses apart."""


class _Counted(Protocol):
    def log_delta(self, gap: float) -> float:
        """ln of an upper bound on δ at a loss that is `gap` below the origin."""


@dataclass(frozen=True)
class _Alone:
    """A single mechanism, in closed form."""

    pair: Pair

    def log_delta(self, epsilon: float) -> float:
        delta = self.pair.delta_alone(epsilon)
        assert delta is not None
        return math.log(delta) + 8 * ULP if delta > 0 else -math.inf


@dataclass(frozen=True)
class _Composed:
    """A list, priced where losses are counted from their origins."""

    saddle: Saddle
    priced: _Counted

    def log_delta(self, epsilon: float) -> float:
        return self.priced.log_delta(self.saddle.gap(epsilon))


def _alone(pairs: List) -> _Engine | None:
    single = len(pairs) == pairs[0][1] == 1 and pairs[0][0].delta_alone(1.0) is not None
    return _Alone(pairs[0][0]) if single else None


def _fine_enough(saddle: Saddle, epsilon: float, tolerance: float) -> _Engine:
    """The engine for one ε. Where the law is dense, smoothing raises δ by more than the tolerance.

    What it raises falls with the tolerance: at a sixteenth of it, a fifteenth of the difference is
    left.
    """
    tilt = saddle.at(epsilon)
    engine, least = _engine(saddle, tilt, tolerance), 0.0
    if not getattr(engine.priced, "tau", 0.0):
        return engine
    coarse = _engine(saddle, tilt, 16 * tolerance).log_delta(epsilon)
    if saddle.cancels(tilt.c, epsilon, coarse):
        least = epsilon
        engine = _engine(saddle, tilt, tolerance, least=least)
        coarse = _engine(saddle, tilt, 16 * tolerance, least=least).log_delta(epsilon)
    for _ in range(3):
        found = engine.log_delta(epsilon)
        if coarse - found < 15 * SMOOTHING * looseness.get():
            break
        coarse, tolerance = found, tolerance / 16
        engine = _engine(saddle, tilt, tolerance, least=least)
    return engine


def _engine(saddle: Saddle, tilt: Tilt, tolerance: float, *, least: float = 0.0) -> _Composed:
    pairs = saddle.pairs
    atoms = heaviest(pairs, tilt.c)
    if atoms is not None and atoms.left < 1e-9:
        return _Composed(saddle, atoms)
    return _Composed(saddle, line(pairs, tilt, tolerance=tolerance, atoms=atoms, least=least))


def _delta_by_moments(pairs: List, epsilon: float) -> float:
    """ln δ(ε) ≤ min over c of Σ ln E e^(cL) − cε + ln(cᶜ/(1+c)^(1+c))       [CKS20, Prop 12]."""
    if not _moments_help(pairs):
        return math.inf

    def bound(c: float) -> float:
        moment = _moment(pairs, c)
        return moment - c * epsilon + log_chernoff(c) + 1e-12 * (1 + abs(moment) + c * epsilon)

    return bound(minimise(bound, fine=_FINE))


def _epsilon_by_moments(pairs: List, log_delta: float) -> float:
    """The same bound, solved for ε: its least over c."""
    if not _moments_help(pairs):
        return math.inf

    def bound(c: float) -> float:
        moment = _moment(pairs, c)
        slip = 1e-12 * (1 + abs(moment) - log_delta)
        return (moment + log_chernoff(c) - log_delta + slip) / c

    return max(0.0, bound(minimise(bound, fine=_FINE)))


_FINE = 1 + 1e-4
"""The ratio to which an order is sought: at its least a bound is flat."""


def _moments_help(pairs: List) -> bool:
    """Moments may prove more than pairs do where a bounded range stands for many mechanisms."""
    return any(isinstance(pair, BoundedRangePair) for pair, _ in pairs)


def _moment(pairs: List, c: float) -> float:
    return math.fsum(times * pair.log_moment(c) for pair, times in pairs)


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


def _that_matter(pairs: List) -> list[tuple[Pair, int]]:
    """All but those that lose nothing."""
    if pairs and _alone(pairs) is None:
        pairs = [(_told(pair), times) for pair, times in pairs]
    return [
        (pair, times)
        for pair, times in pairs
        if times and (pair.largest_loss() > 0 or pair.infinite_mass() > 0)
    ]


def _told(pair: Pair) -> Pair:
    """A sample's answer with next to no noise, as if it told whether the unit is in the sample.

    Nothing is easier to tell apart; so it is when adding, where that is a loss of −ln(1 − q).
    """
    if not isinstance(pair, SampledPair) or not isinstance(pair.inner, GaussianPair):
        return pair
    if pair.inner.mu <= _MOST_MU_SAMPLED:
        return pair
    q = pair.rate
    if pair.direction == "add":
        return AtomsPair(losses=(-math.log1p(-q) * (1 + 4 * ULP),), probabilities=(1.0,))
    nothing = AtomsPair(losses=(0.0,), probabilities=(1.0,))
    return BranchedPair(parts=(nothing,), weights=(1 - q,), reveals=q)


def _apart(pairs: List) -> tuple[float, List]:
    """μ of all Gaussians whose noise is next to none, and the rest of a list; 0 without any."""
    large = [
        (pair, times)
        for pair, times in pairs
        if isinstance(pair, GaussianPair) and pair.mu > _MOST_MU
    ]
    if not large or len(pairs) == 1:
        return 0.0, pairs
    squares = sum(times * rounding.square_ticks(p.mu) for p, times in large)
    return rounding.from_square_ticks(squares), [each for each in pairs if each not in large]
