"""The noise that meets a loss, and the loss that meets an error.

Answers are on the safe side: the number returned was itself tried and found to meet what was asked.

    >>> round(analytic_gaussian_sigma(1.0, delta=1e-6), 4)
    4.2247
"""

from __future__ import annotations

import math
from collections.abc import Callable
from contextvars import ContextVar
from typing import Protocol, Self, TypeVar

from . import parameters
from .errors import BadParameter, NoBound

# ---- searching


class Target(Protocol):
    """A loss, used as what has to be met."""

    @property
    def kind(self) -> str:
        """Its name in ledgers and messages."""

    @property
    def figure(self) -> str:
        """The name of the field that holds what it is counted in; empty for a curve."""

    def __le__(self, other: Self, /) -> bool: ...


T = TypeVar("T", bound=Target)


class Priced(Protocol[T]):
    """Anything with a price: a mechanism, or a list of them."""

    def loss(self, kind: type[T]) -> T:
        """What it loses, in this kind."""

    def epsilon_at(self, delta: float = 0.0) -> float:
        """The smallest ε known to hold at this δ."""

    def delta_at(self, epsilon: float) -> float:
        """The smallest δ known to hold at this ε."""


class Erring(Protocol):
    """Anything with a ±."""

    def error(self, confidence: float = 0.95, /) -> float:
        """Half-width of the interval that holds the noise with this probability."""


@parameters.called(
    "dp.calibrate(lambda s: 1000 * dp.Gaussian(sigma=s), to=dp.epsilon(2, delta=1e-6))"
)
def calibrate(make: Callable[[float], Priced[T]], *, to: T, relative: float = 1e-9) -> float:
    """The least s such that make(s) loses no more than `to`, to a relative 10⁻⁹.

    make(s) must lose less as s grows, as mechanisms do with the scale of their noise. What is
    returned has been priced and found to meet `to`; the least s may be smaller by `relative`.
    """
    price, target = _price(to)
    return _least(
        lambda s: price(make(s)), target, relative=parameters.positive("relative", relative)
    )


def least_loss(
    make: Callable[[float], Erring],
    *,
    within: float,
    confidence: float = 0.95,
    relative: float = 1e-9,
) -> float:
    """The least loss whose ± is at most `within`: make(loss) must err less as the loss grows.

    make(0.1) is a mechanism calibrated to ε = 0.1 (or ρ, or μ: whatever make reads).
    """
    within = parameters.positive("within", within)
    confidence = parameters.confidence("confidence", confidence)
    relative = parameters.positive("relative", relative)
    return _least(lambda loss: make(loss).error(confidence), within, relative=relative)


def _price(to: T) -> tuple[Callable[[Priced[T]], float], float]:
    """What to compute of a mechanism, and what it may at most be."""
    if not hasattr(to, "kind"):
        raise BadParameter.of("to", to, must="a privacy loss", fix="to=dp.epsilon(2, delta=1e-6)")
    if to.kind in {"pure", "approx"}:
        epsilon, delta = float(getattr(to, to.figure)), float(getattr(to, "delta", 0.0))
        if epsilon > 0:
            return lambda priced: priced.epsilon_at(delta), epsilon
        return lambda priced: priced.delta_at(epsilon), delta
    kind = type(to)
    if to.figure:
        field = to.figure
        return lambda priced: float(getattr(priced.loss(kind), field)), float(getattr(to, field))
    # A curve has no single figure: met or not.
    return lambda priced: 0.5 if priced.loss(kind) <= to else 2.0, 1.0


_FARTHEST = 600.0  # of ln s; parameters.positive allows about 624

looseness: ContextVar[float] = ContextVar("looseness", default=1.0)
"""How many times their usual tolerance prices may be above the truth: more while far from the end
of a search. They are upper bounds however loose."""
_LOOSE = 300.0


def _least(price: Callable[[float], float], target: float, *, relative: float) -> float:
    if not target > 0:
        raise BadParameter.of("to", target, must="above 0", why="only silence loses nothing")
    seen: dict[float, float] = {}
    excess = _excess(price, target, seen)
    before = looseness.set(_LOOSE)
    try:
        low, high = _bracket(excess, 0.0, 0.0, math.log(2))
        low = last_met(excess, low, high, width=max(relative, 1e-4))
        slope = _slope(seen, low)
    finally:
        looseness.reset(before)
    return math.exp(-_polished(_excess(price, target, {}), low, slope, width=relative))


def _excess(
    price: Callable[[float], float], target: float, seen: dict[float, float]
) -> Callable[[float], float]:
    """Increasing in x = −ln s; at most 0 where the target is met. Each x is priced once."""

    def computed(x: float) -> float:
        try:
            paid = price(math.exp(-x))
        except NoBound:
            return math.inf
        if paid <= target:
            return math.log(paid / target) if paid > 0 else -math.inf
        return max(math.log(paid / target), 5e-324)

    def excess(x: float) -> float:
        if x not in seen:
            seen[x] = computed(x)
        return seen[x]

    return excess


def _slope(seen: dict[float, float], x: float) -> float:
    """About the slope at x: towards the nearest point that is far enough from it to tell."""
    others = [other for other in seen if abs(other - x) > 1e-5 and math.isfinite(seen[other])]
    if not others or not math.isfinite(seen[x]):
        return math.inf
    nearest = min(others, key=lambda other: abs(other - x))
    return (seen[nearest] - seen[x]) / (nearest - x)


def _bracket(
    excess: Callable[[float], float], low: float, high: float, step: float
) -> tuple[float, float]:
    """Where the target is met, and where it is not, from two points that may be one."""
    first, grow = step, 2 if step > 0.1 else 16
    while excess(low) > 0:
        high, low, step = low, low - step, grow * step
        if low < -_FARTHEST:
            raise NoBound(
                "no amount of noise was found to meet that loss",
                why="the price stayed above it up to a scale of 10²⁶⁰",
                fix="ask for a larger loss, or for a definition in which something is proved",
            )
    step = first
    while high == low or excess(high) <= 0:
        low, high, step = high, high + step, grow * step
        if high > _FARTHEST:
            raise BadParameter(
                "that loss is met without noise",
                why="the price stayed below it down to a scale of 10⁻²⁶⁰",
            )
    return low, high


def _polished(excess: Callable[[float], float], x: float, slope: float, *, width: float) -> float:
    """`last_met` from a point that is nearly right: two secant steps, then both sides are tried."""
    before, found = x, excess(x)
    if 0 < slope < math.inf and abs(found) < 0.1 * slope:
        x -= found / slope
        change = excess(x) - found
        if change and 0.5 < change / (slope * (x - before)) < 2:
            x -= excess(x) * (x - before) / change
    low, high = _bracket(excess, x - 0.4 * width, x + 0.4 * width, 16 * width)
    return last_met(excess, low, high, width=width)


def last_met(excess: Callable[[float], float], low: float, high: float, *, width: float) -> float:
    """Where an increasing function is still at most 0, and within `width` no longer is.

    Given excess(low) ≤ 0 < excess(high). The ITP method: as fast as the secant on smooth functions,
    never slower than bisection by more than one step                                  [OT20].
    """
    below, above = excess(low), excess(high)
    width = max(width / 2, 1e-15 * max(abs(low), abs(high)), 5e-324)
    budget = math.ceil(math.log2(max((high - low) / (2 * width), 1.0))) + 1
    for used in range(budget + 1):
        if high - low <= 2 * width:
            break
        middle = (low + high) / 2
        secant = middle
        if math.isfinite(below) and math.isfinite(above) and above > below:
            secant = (above * low - below * high) / (above - below)
        toward = math.copysign(1.0, middle - secant)
        nudge = 0.2 * (high - low) * min(1.0, high - low)
        candidate = secant + toward * nudge if nudge <= abs(middle - secant) else middle
        reach = max(0.0, width * 2.0 ** (budget - used) - (high - low) / 2)
        if abs(candidate - middle) > reach:
            candidate = middle - toward * reach
        if not low < candidate < high:
            candidate = middle
        found = excess(candidate)
        if found <= 0:
            low, below = candidate, found
        else:
            high, above = candidate, found
    return low


# ---- the Gaussian


def analytic_gaussian_sigma(epsilon: float, *, delta: float, sensitivity: float = 1.0) -> float:
    """The least σ for which Gaussian noise is (ε, δ)-private: at any ε and δ  [BW18, Thm 8].

    >>> [round(analytic_gaussian_sigma(e, delta=1e-6), 4) for e in (0.1, 2.0, 8.0)]
    [36.3047, 2.2305, 0.6529]
    """
    epsilon = parameters.non_negative("epsilon", epsilon)
    delta = parameters.confidence("delta", delta)
    sensitivity = parameters.positive("sensitivity", sensitivity)
    aim = math.log(delta) * (1 + 2.0**-50)  # rounded down: the logarithm is negative

    def excess(x: float) -> float:
        return gaussian_log_delta(epsilon, mu=math.exp(x)) - aim

    low = high = 0.0
    step = 1.0
    while excess(low) > 0:
        high, low, step = low, low - step, 2 * step
    while excess(high) <= 0:
        low, high, step = high, high + step, 2 * step
    mu = math.exp(last_met(excess, low, high, width=1e-15))
    # exp and log each err by an ulp: step below until the μ itself is found to meet δ.
    while gaussian_log_delta(epsilon, mu=mu) > aim:
        mu = math.nextafter(mu, 0.0)
    return math.nextafter(sensitivity / mu, math.inf)


def gaussian_log_delta(epsilon: float, *, mu: float) -> float:
    """ln δ of N(0, 1) against N(μ, 1) at ε, rounded up                       [BW18, Thm 8].

    δ = Φ(−a) − e^ε·Φ(−b) with a = ε/μ − μ/2 and b = ε/μ + μ/2. The difference loses every digit
    when μ is small or δ is, so with Mills ratios R(x) = ∫₀^∞ exp(−xt − t²/2) dt we write it as
    φ(a)·(R(a) − R(b)) = φ(a)·∫₀^∞ (1 − e^{−μt})·exp(−at − t²/2) dt: nothing is subtracted.
    """
    if mu == 0 or math.isinf(epsilon):
        return -math.inf
    if math.isinf(mu):
        return 0.0
    ratio = epsilon / mu
    a = ratio - mu / 2
    if a > 1e8:  # there δ ≤ Φ(−a) ≤ e^{−a²/2} is all that can matter
        return -a * a / 2
    # a errs by an ulp of each of its two terms; ln δ changes by at most |a| + 2 times that.
    slack = 2.0**-49 * (8 + (abs(a) + 2) * (ratio + mu))
    if a >= -1:
        value = -a * a / 2 - _HALF_LOG_TAU + math.log(_mills(a, lambda t: -math.expm1(-mu * t)))
    else:
        minus = math.exp(-a * a / 2 - _HALF_LOG_TAU) * _mills(a + mu, lambda _: 1.0)
        value = math.log1p(-(math.erfc(-a / math.sqrt(2)) / 2 + minus))
    return min(0.0, value + slack)


_HALF_LOG_TAU = math.log(math.tau) / 2


def _mills(x: float, weight: Callable[[float], float]) -> float:
    """∫₀^∞ weight(t)·exp(−xt − t²/2) dt for x ≥ −1, by the double-exponential rule  [TM74]."""
    scale = 1 / max(x, 1.0)
    total = 0.0
    for node, step in _NODES:
        t = scale * node
        total += step * weight(t) * math.exp(-t * (x + t / 2))
    return max(scale * total, math.ulp(0.0))


def _nodes() -> tuple[tuple[float, float], ...]:
    """t = exp(u − e^{−u}), dt = t·(1 + e^{−u})·du, on a grid of u."""
    step = 1 / 16
    grid = [step * k for k in range(-60, 64)]
    abscissae = [(u, math.exp(u - math.exp(-u))) for u in grid]
    return tuple((t, step * t * (1 + math.exp(-u))) for u, t in abscissae)


_NODES = _nodes()
