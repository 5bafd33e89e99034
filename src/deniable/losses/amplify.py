"""What sampling and shuffling save: privacy amplification, for mechanisms seen from outside.

Sampled mechanisms whose law is known are priced more tightly by their dominating pairs; here are
the theorems that need nothing but (ε, δ), and the Rényi curve of the sampled Gaussian.
"""

from __future__ import annotations

import math

import numpy as np

from deniable import parameters
from deniable.calibration import last_met
from deniable.errors import BadParameter

from . import convert
from .rounding import down, product, up

# ---- sampling


def poisson(epsilon: float, *, delta: float = 0.0, rate: float) -> tuple[float, float]:
    """(ln(1 + q(e^ε − 1)), qδ): each unit takes part with probability q, independently.

    For units added or removed, and a sample nobody sees                                 [BBG18].

    >>> round(poisson(1.0, rate=0.1)[0], 4)
    0.1586
    """
    epsilon = parameters.non_negative("epsilon", epsilon)
    delta = parameters.fraction_below_one("delta", delta)
    return _amplified(epsilon, delta, parameters.probability("rate", rate))


def poisson_floor(epsilon: float, *, rate: float) -> float:
    """ln(1 + (1 − q)(e^ε − 1)), rounded down: ε less this is −ln(1 − q + q e^(−ε))."""
    if rate in {0.0, 1.0}:
        return (1 - rate) * epsilon
    return max(0.0, down(_log_grown(epsilon, 1 - rate)))


def without_replacement(
    epsilon: float, *, delta: float = 0.0, size: int, population: int
) -> tuple[float, float]:
    """(ln(1 + q(e^ε − 1)), qδ) with q = m/n: m of n units, all choices equally likely.

    For units replaced, the number n of units public, and a sample nobody sees    [BBG18, Thm 9].
    """
    epsilon = parameters.non_negative("epsilon", epsilon)
    delta = parameters.fraction_below_one("delta", delta)
    population = parameters.whole("population", population)
    size = parameters.whole("size", size)
    if size > population:
        raise BadParameter.of("size", size, must=f"at most the population, {population}")
    return _amplified(epsilon, delta, size / population)


def _amplified(epsilon: float, delta: float, rate: float) -> tuple[float, float]:
    if rate in {0.0, 1.0}:
        return rate * epsilon, rate * delta
    return min(epsilon, up(_log_grown(epsilon, rate))), product(rate, delta)


def _log_grown(epsilon: float, rate: float) -> float:
    """ln(1 + q(e^ε − 1)) = ε + ln(q + (1 − q)e^{−ε})."""
    if epsilon < 30:
        return math.log1p(rate * math.expm1(epsilon))
    return epsilon + math.log(rate + (1 - rate) * math.exp(-epsilon))


# ---- shuffling


def shuffled_closed_form(epsilon: float, *, delta: float, population: int) -> float:
    """ε of n shuffled ε₀-private reports at δ, by the closed form                 [FMT23].

    ln(1 + (e^ε₀ − 1)·(4·√(2·ln(4/δ)/((e^ε₀ + 1)·n)) + 4/n)), for ε₀ ≤ ln(n/(8·ln(2/δ)) − 1); beyond
    that, ε₀ itself. Units are replaced: everyone sends one report, all with the same randomizer.
    """
    epsilon, delta, n = _shuffle_parameters(epsilon, delta, population)
    most = n / (8 * math.log(2 / delta)) - 1
    if most <= 1 or epsilon > math.log(most):
        return epsilon
    spread = 4 * math.sqrt(2 * math.log(4 / delta) / ((math.exp(epsilon) + 1) * n)) + 4 / n
    return min(epsilon, up(math.log1p(math.expm1(epsilon) * spread)))


def shuffled(epsilon: float, *, delta: float, population: int) -> float:
    """ε of n shuffled ε₀-private reports at δ, from the exact law of the clones   [FMT23].

    Take a unit with reports P₀ or P₁. ε₀-privacy writes (P₀, P₁) as a part Q that tells nothing
    and two disjoint parts A₀, A₁ seen with odds e^ε₀ : 1 or 1 : e^ε₀. Any other unit's report is
    at least e^{−ε₀}·max(P₀, P₁), so with probability 2/(e^ε₀ + 1) it is a fair draw from A₀ or
    A₁: a clone. Where Q has mass, thinning the case without Q gives the case with it. What is left
    to tell apart is the number of heads among C ~ Bin(n − 1, 2/(e^ε₀ + 1)) fair coins and one coin
    with odds e^ε₀ or e^{−ε₀}.

    >>> round(shuffled(1.0, delta=1e-6, population=10_000), 3)
    0.043
    """
    epsilon, delta, n = _shuffle_parameters(epsilon, delta, population)
    if epsilon == 0 or epsilon > _HOPELESS:
        return epsilon
    law = _Clones(epsilon, n)
    if law.delta(0.0) <= delta:
        return 0.0
    # The excess increases in −ε; at ε₀ no δ is needed.
    found = last_met(lambda x: law.delta(-x) - delta, -epsilon, 0.0, width=1e-9 * epsilon)
    return min(epsilon, up(-found))


def shuffled_delta(epsilon: float, *, at: float, population: int) -> float:
    """δ of n shuffled ε₀-private reports at another ε: the curve `shuffled` inverts."""
    epsilon = parameters.non_negative("epsilon", epsilon)
    at, population = parameters.non_negative("at", at), parameters.whole("population", population)
    if at >= epsilon or epsilon > _HOPELESS:
        return 0.0 if at >= epsilon else 1.0
    return _Clones(epsilon, population).delta(at)


def _shuffle_parameters(epsilon: float, delta: float, population: int) -> tuple[float, float, int]:
    return (
        parameters.non_negative("epsilon", epsilon),
        parameters.confidence("delta", delta),
        parameters.whole("population", population),
    )


_HOPELESS = 600.0  # an ε₀ at which no crowd hides anyone, and e^ε₀ nears the largest double


class _Clones:
    """The law of what a shuffler shows about one unit, cut where less than 10⁻³² is left out."""

    def __init__(self, epsilon: float, population: int) -> None:
        from scipy.stats import binom

        self.epsilon = epsilon
        share = 2 / (math.exp(epsilon) + 1)
        law = binom(population - 1, share)
        # By Bernstein's inequality what lies farther out has mass at most 2·e^{−76}.
        reach = 76 + math.sqrt(76 * 76 + 152 * population * share * (1 - share))
        middle = (population - 1) * share
        self.low = max(0, math.floor(middle - reach))
        self.high = min(population - 1, math.ceil(middle + reach))
        self.missing = 2 * math.exp(-76.0)
        self.clones = np.arange(self.low, self.high + 1)
        self.weights = law.pmf(self.clones)
        self.binom = binom

    def delta(self, at: float) -> float:
        """Σ_c P[C = c]·(P_c(x ≥ t) − e^ε·Q_c(x ≥ t)): the ratio increases with the count x.

        With c clones, P puts e^ε₀/(e^ε₀ + 1) on 1 + Bin(c, ½) and the rest on Bin(c, ½); Q the
        reverse. As P/Q at x is (h·x + (c + 1 − x))/(x + h·(c + 1 − x)) with h = e^ε₀, t solves
        P/Q = e^ε. Any t would be a lower bound on the supremum, so t is checked on both sides.
        """
        if at >= self.epsilon:
            return 0.0
        c, h, grown = self.clones, math.exp(self.epsilon), math.exp(at)
        # h·x + c + 1 − x ≥ e^ε·(x + h·(c + 1 − x))
        first = np.ceil((c + 1) * (grown * h - 1) / ((h - 1) * (1 + grown)))
        best = np.zeros(len(c))
        for t in (first - 1, first, first + 1):
            here = self.binom.sf(t - 1, c, 0.5)  # Bin(c, ½) ≥ t
            shifted = self.binom.sf(t - 2, c, 0.5)  # 1 + Bin(c, ½) ≥ t
            p, q = (h * shifted + here) / (h + 1), (shifted + h * here) / (h + 1)
            best = np.maximum(best, p - grown * q + 1e-12 * (p + grown * q))
        return min(1.0, up(float(self.weights @ best) * (1 + 1e-10), self.missing))


# ---- the sampled Gaussian


def sampled_gaussian_renyi(order: float, *, rate: float, sigma: float) -> float:
    """Rényi divergence of Gaussian noise σ (sensitivity 1) on a Poisson sample of rate q.

    D_α = ln E[(1 − q + q·e^{(2x − 1)/2σ²})^α]/(α − 1) with x ~ N(0, σ²), which is the larger of
    both directions                                                      [MTZ19].

    Whole orders are a sum of positive terms; others are integrated, and never exceed the chord
    between the whole orders around them (ln E is convex in α); far out the chord is used alone.

    >>> round(sampled_gaussian_renyi(8, rate=0.01, sigma=1.0), 6)
    0.000894
    """
    order = convert.check_order(order)
    rate, sigma = parameters.probability("rate", rate), parameters.positive("sigma", sigma)
    if rate == 0:
        return 0.0
    plain = max(up(order / (2 * sigma) / sigma), 5e-324)
    if rate == 1 or not 1e-290 < plain < 1e290:
        return plain
    if order == math.floor(order):
        moment = _whole_log_moment(int(order), rate, sigma)
    else:
        below = math.floor(order)
        first = _whole_log_moment(below, rate, sigma) if below > 1 else 0.0
        second = _whole_log_moment(below + 1, rate, sigma)
        moment = up((below + 1 - order) * first, (order - below) * second)
        if order < 64:
            moment = min(moment, _integrated_log_moment(order, rate, sigma))
    return min(plain, up(moment / (order - 1)))


def _whole_log_moment(order: int, rate: float, sigma: float) -> float:
    """ln(1 + Σ_{k≥2} C(α, k)·(1 − q)^{α−k}·q^k·(e^{k(k−1)/2σ²} − 1)): k = 0 and 1 cancel."""
    from scipy.special import gammaln

    k = np.arange(2, order + 1, dtype=float)
    growth = k * (k - 1) / (2 * sigma) / sigma
    # ln(e^g − 1) without overflow or loss.
    less_one = np.where(growth > 30, growth, np.log(np.expm1(np.minimum(growth, 30))))
    choose = gammaln(order + 1) - gammaln(k + 1) - gammaln(order - k + 1)
    terms = choose + (order - k) * math.log1p(-rate) + k * math.log(rate) + less_one
    top = float(terms.max())
    log_sum = top + math.log(float(np.exp(terms - top).sum()))
    # Each term is a sum of parts of at most this size, right to a few ulps.
    size = 4 * float(gammaln(order + 1)) + order * -math.log(rate) - order * math.log1p(-rate)
    return _log1p_exp(log_sum + 2.0**-48 * (size + float(growth[-1]) + 8))


def _log1p_exp(x: float) -> float:
    return up(x, math.log1p(math.exp(-x))) if x > 0 else up(math.log1p(math.exp(x)))


def _integrated_log_moment(order: float, rate: float, sigma: float) -> float:
    """ln(1 + E[(1 + y)^α − 1 − αy]) with y = q(e^{(2x−1)/2σ²} − 1), whose mean is 0: all ≥ 0.

    The trapezoid converges geometrically: the integrand is analytic for |Im x| < πσ². The step is
    small enough that the error is below 10⁻¹² of the value, which is then raised by 10⁻⁹.
    """
    step = min(sigma, sigma * sigma) / 8
    low, high = -14 * sigma, order + 14 * sigma
    count = math.ceil((high - low) / step)
    if count > 2_000_000:
        return math.inf
    x = low + step * np.arange(count + 1)
    exponent = (2 * x - 1) / (2 * sigma) / sigma
    # ln(1 + y), from the side where e^… does not overflow.
    log_ratio = np.where(
        exponent < 30,
        np.log1p(rate * np.expm1(np.minimum(exponent, 30))),
        exponent + np.log(rate + (1 - rate) * np.exp(-np.maximum(exponent, 30))),
    )
    log_weight = -((x / sigma) ** 2) / 2 - math.log(math.tau) / 2 + math.log(step / sigma)
    tame = np.minimum(log_ratio, 110 / order)  # beyond, (1 + y)^α alone is as good
    y = np.expm1(tame)
    convex = np.expm1(order * tame) - order * y
    small = np.abs(order * y) < 1e-3
    series = y * y * order * (order - 1) / 2 * (1 + (order - 2) * y / 3 * (1 + (order - 3) * y / 4))
    with np.errstate(divide="ignore", invalid="ignore"):
        logs = np.log(np.where(small, series, convex))
    logs = np.where(order * log_ratio > 100, order * log_ratio, logs) + log_weight
    top = float(logs.max())
    return _log1p_exp(top + math.log(float(np.exp(logs - top).sum())) + 1e-9)
