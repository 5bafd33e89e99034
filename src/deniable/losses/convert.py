"""From one definition of privacy to another: each function is one theorem, rounded outward.

    pure ε ──→ zCDP ρ ──→ Rényi (α, r) ──→ (ε, δ)
      │          ↑                           ↑
      └──→ GDP μ ┴───────────────────────────┘

Every answer is an upper bound of what its theorem states, float error included; ∞ goes to ∞.
Nothing leads back: an (ε, δ) statement does not imply any of the others.

Orders α are above 1; ε, ρ, μ and r at least 0; δ from 0 to below 1.
"""

from __future__ import annotations

import functools
import math

from deniable import parameters
from deniable.calibration import gaussian_log_delta, last_met
from deniable.errors import BadParameter

from .rounding import FORMULA_ERROR, down, product, up

# ---- from pure


def pure_to_zcdp(epsilon: float) -> float:
    """ρ = ε·tanh(ε/2), the least ρ that every ε-private mechanism satisfies; below the usual ε²/2.

    Randomized response dominates every ε-private mechanism [KOV15]. With t = ε/2 and
    s = 2α − 1 its divergence is (α − 1)·D = ln cosh(st) − ln cosh(t), and α(α − 1) = (s² − 1)/4. As
    u ↦ ln cosh √u is concave, the difference is at most (s²t² − t²)·tanh(t)/2t = α(α − 1)·ε·tanh t.
    Equality as α → 1, so no smaller ρ will do. The bound ε²/2 is [BS16, Prop 1.4].
    """
    return product(epsilon, math.tanh(epsilon / 2))


def pure_to_gdp(epsilon: float) -> float:
    """μ = −2·Φ⁻¹(1/(1 + e^ε)): the least μ that every ε-private mechanism satisfies.

    The trade-off of every ε-private mechanism lies above that of randomized response, which is
    straight between (0, 1), (c, c) and (1, 0) with c = 1/(1 + e^ε) [DRS22]. A Gaussian
    trade-off is convex, so it lies below these segments as soon as it does at (c, c): that is
    Φ(Φ⁻¹(1 − c) − μ) ≤ c.
    """
    if not 0 < epsilon < math.inf:
        return epsilon
    slack = 1 + FORMULA_ERROR

    def excess(y: float) -> float:
        """At most 0 where P[N(0, 1) > −y] ≤ c for certain; by ends that lose no digits."""
        if epsilon < 1:  # 1 − 2c = tanh(ε/2)
            return math.tanh(epsilon / 2) * slack - math.erf(-y / math.sqrt(2)) / slack
        return up(_log_upper_tail(-y)) - down(-epsilon, -math.log1p(math.exp(-epsilon)))

    widest = min(math.sqrt(2 * epsilon), epsilon) * slack  # as P[|N(0, 1)| ≤ ε] ≥ tanh(ε/2)
    return up(-2 * last_met(excess, -widest, 0.0, width=1e-15 * epsilon))


def _log_upper_tail(x: float) -> float:
    """ln P[N(0, 1) > x] for x ≥ 0; far out the upper bound φ(x)/x."""
    if x < 30:
        return math.log(math.erfc(x / math.sqrt(2)) / 2)
    return -x * x / 2 - math.log(math.tau) / 2 - math.log(x)


def pure_to_renyi(epsilon: float, order: float) -> float:
    """The Rényi divergence of randomized response, which dominates all ε-private mechanisms.

    D_α = ln((e^{αε} + e^{(1−α)ε})/(1 + e^ε))/(α − 1)                        [KOV15; Mir17]
    """
    order = check_order(order)
    if math.isinf(epsilon):
        return math.inf
    divergence = _response_divergence(epsilon, order, 1 / (1 + math.exp(-epsilon)))
    return min(divergence, product(order, epsilon, math.tanh(epsilon / 2)), epsilon)


# ---- from a law that is known


def response_to_renyi(epsilon: float, order: float, *, truth: float) -> float:
    """The Rényi divergence of a loss that is ε with probability `truth`, −ε or 0.

    Such is k-ary randomized response, with truth e^ε/(e^ε + k − 1) [KOV16], and staircase
    noise. P(−ε) = e^(−ε)·P(ε), as both sides are probabilities, so that with t = ε/2
    (α − 1)·D = ln(1 + 4·truth·e^(−t)·sinh(αt)·sinh((α − 1)t)).

    >>> nine = math.exp(-3.192151)  # odds of one wrong answer against the right one
    >>> round(pure_to_renyi(3.192151, 1.5), 3)
    3.115
    >>> round(response_to_renyi(3.192151, 1.5, truth=1 / (1 + 9 * nine)), 3)
    2.695
    """
    order = check_order(order)
    return min(pure_to_renyi(epsilon, order), _response_divergence(epsilon, order, truth))


@functools.lru_cache(maxsize=256)
def response_to_zcdp(epsilon: float, *, truth: float) -> float:
    """The least ρ of a loss that is ε with probability `truth`, −ε or 0: sup of D_α/α.

    With t = ε/2, w = (2α − 1)² and γ = 2·truth·e^(−t), (α − 1)·D = G(w) = ln(β + γ·cosh(t√w)),
    β = P(0), and α(α − 1) = (w − 1)/4. So ρ is 4 times the steepest chord of G from w = 1. With
    x = t√w, G is convex as long as β ≥ γ·(sinh x cosh x − x)/(x cosh x − sinh x). The power series
    of this quotient have coefficients of rising ratio 4ⁿ/2n, so it rises: G is convex, then
    concave. D_α/α falls from its limit at α → 1, or rises first and then falls.
    """
    if not 1e-5 < epsilon < 300:  # too small for floats to find the top, or all but pure
        return pure_to_zcdp(epsilon)
    t = epsilon / 2
    neither, steep = 1 - truth * (1 + math.exp(-epsilon)), 2 * truth * math.exp(-t)
    if neither <= steep * _bend(t):
        return min(product(epsilon, truth, -math.expm1(-epsilon)), pure_to_zcdp(epsilon))
    # A top below the first order is missed by (10⁻⁶)² of ρ, as α changes by 1/t on this scale.
    first, last, width = math.log(1e-6 / t), math.log(300 / epsilon), 1e-10

    def falling(x: float) -> float:
        """Above 0 where D_α/α falls, α = 1 + eˣ."""
        if x == first:
            return -1.0
        less = math.exp(x)
        grown = _response_growth(epsilon, less, truth)
        rise = steep * epsilon * math.sinh((1 + 2 * less) * t) / (1 + grown)
        return (1 + 2 * less) * math.log1p(grown) - less * (1 + less) * rise

    if falling(last) <= 0:
        return pure_to_zcdp(epsilon)
    top = last_met(falling, first, last, width=width)
    # D rises with the order, so between two orders D_α/α is at most D of the upper/the lower one.
    above = _response_divergence(epsilon, 1 + math.exp(top + width), truth)
    return min(above / (1 + math.exp(top)) * (1 + 1e-10), pure_to_zcdp(epsilon))


def _bend(x: float) -> float:
    """(sinh x cosh x − x)/(x cosh x − sinh x)."""
    if x < 1.5:
        return _odd_series(2 * x, 0) / _odd_series(x, 1)
    return (math.sinh(x) * math.cosh(x) - x) / (x * math.cosh(x) - math.sinh(x))


def _response_divergence(epsilon: float, order: float, truth: float) -> float:
    less = order - 1
    if order * epsilon < 600:  # a product in place of a difference of logarithms
        grown = _response_growth(epsilon, less, truth)
        # sinh multiplies the relative error of its argument by the argument.
        return up(math.log1p(grown) / less * (1 + 2.0**-50 * order * epsilon))
    neither = max(0.0, 1 - truth * (1 + math.exp(-epsilon))) + 2.0**-50
    rest = neither / truth * math.exp(-less * epsilon) + math.exp(-(order + less) * epsilon)
    return up(epsilon, math.log(truth) / less, math.log1p(rest) / less)


def _response_growth(epsilon: float, less: float, truth: float) -> float:
    """E e^(cL) − 1 at c = α − 1."""
    t = epsilon / 2
    return 4 * truth * math.exp(-t) * math.sinh((1 + less) * t) * math.sinh(less * t)


def bounded_range_to_renyi(epsilon: float, order: float) -> float:
    """The largest Rényi divergence of any mechanism whose privacy losses span at most ε.

    Such are the exponential mechanism and Gumbel noisy max, not Laplace noisy max nor
    permute-and-flip [DDR20, CR21]. For losses in [u − ε, u], E_Q e^(αL) is at most that of the two
    ends, as e^(αL) is convex in e^L, whose mean under Q is 1. The best u in closed form gives, with
    φ(y) = y·ln(sinh(yε/2)/(yε/2)), (α − 1)·D = φ(α) − φ(α − 1) − φ(1). Scores that move by ±Δ
    where the others do not reach it.
    """
    order = check_order(order)
    if math.isinf(epsilon) or epsilon == 0:
        return epsilon
    less, t = order - 1, epsilon / 2
    if less * t < 3:
        parts = [order * _log_sinhc(order * t), -less * _log_sinhc(less * t), -_log_sinhc(t)]
        divergence = up(*(part / less for part in parts))
    else:  # sinh(x) = e^x·(1 − e^(−2x))/2: the large parts cancel to (α − 1)·ε
        near = [_log_complement(y * epsilon) for y in (order, less, 1.0)]
        parts = [order * near[0], -less * near[1], -near[2], -math.log(order)]
        divergence = up(epsilon, -math.log1p(1 / less), *(part / less for part in parts))
    return min(divergence, product(order, bounded_range_to_zcdp(epsilon)), epsilon)


def bounded_range_to_zcdp(epsilon: float) -> float:
    """The least ρ of all mechanisms whose privacy losses span at most ε: below the usual ε²/8.

    ρ = ln(sinh(t)/t) + t/tanh(t) − 1 with t = ε/2: the limit of D_α/α at α → 1. Elsewhere it is
    less: φ′(y) = q(y²) with q concave and q(0) = 0 (both ln(sinh √u/√u) and √u/tanh √u are sums of
    concave functions of u), so φ′(y + 1) − φ′(y) ≤ q(2y + 1) ≤ (2y + 1)·φ′(1), and the integral of
    this up to α − 1 is (α − 1)·D ≤ α(α − 1)·φ′(1). The bound ε²/8 is [CR21, Lemma 3.2].
    """
    t = epsilon / 2
    if not 0 < t < math.inf:
        return epsilon
    # Below, t/tanh(t) − 1 = (t·cosh t − sinh t)/sinh t without the difference.
    slope = t / math.tanh(t) - 1 if t >= 3 else _odd_series(t, 1) / (1 + _odd_series(t, 0))
    return min(product(epsilon, epsilon / 8), max(up(_log_sinhc(t), slope), math.ulp(0.0)))


def _log_sinhc(x: float) -> float:
    """ln(sinh(x)/x) to a few ulps."""
    if x < 3:
        return math.log1p(_odd_series(x, 0))
    return x - math.log(2 * x) + _log_complement(2 * x)


def _log_complement(x: float) -> float:
    return math.log1p(-math.exp(-x)) if x > 0.7 else math.log(-math.expm1(-x))


def _odd_series(x: float, power: int) -> float:
    """Σ (2n)^power·x²ⁿ/(2n + 1)! over n ≥ 1, for x < 3: all terms are positive, no digit is lost.

    sinh(x)/x − 1 for power 0, cosh(x) − sinh(x)/x for power 1.
    """
    total, term = 0.0, 1.0
    for n in range(1, 20):
        term *= x * x / (2 * n * (2 * n + 1))
        total += (2 * n) ** power * term
    return total


# ---- from zero-concentrated


def zcdp_to_approx_classic(rho: float, delta: float) -> float:
    """ε = ρ + 2·√(ρ·ln 1/δ)                                                    [BS16, Prop 1.3]."""
    if rho == 0 or math.isinf(rho) or delta == 0:
        return _all_or_nothing(rho)
    return up(rho, 2 * math.sqrt(rho * -math.log(delta)))


def zcdp_to_approx(rho: float, delta: float) -> float:
    """The least ε over all orders, each converted as Rényi divergence αρ              [CKS20].

    >>> round(zcdp_to_approx_classic(0.5, 1e-6), 3), round(zcdp_to_approx(0.5, 1e-6), 3)
    (5.757, 5.222)
    """
    if rho == 0 or math.isinf(rho) or delta == 0:
        return _all_or_nothing(rho)

    def slope(x: float) -> float:
        """Of ε along the orders, times (α − 1)²: increasing, 0 at the best order."""
        return rho * math.exp(2 * x) + math.log(delta) + math.log1p(math.exp(x))

    order = 1 + math.exp(last_met(slope, *_ALL_ORDERS, width=1e-8))
    return renyi_to_epsilon(product(rho, order), order, delta)


# Any order is sound, the best one is good: ln(α − 1) runs over all that doubles can tell apart.
_ALL_ORDERS = (-30.0, 60.0)


def zcdp_to_delta(rho: float, epsilon: float) -> float:
    """The least δ over all orders, each converted as Rényi divergence αρ              [CKS20]."""
    if rho == 0 or math.isinf(rho):
        return 1.0 if rho else 0.0

    def slope(x: float) -> float:
        """Of ln δ along the orders: increasing, 0 at the best order."""
        return (1 + 2 * math.exp(x)) * rho - epsilon - math.log1p(math.exp(-x))

    order = 1 + math.exp(last_met(slope, *_ALL_ORDERS, width=1e-8))
    return renyi_to_delta(product(rho, order), order, epsilon)


# ---- from Rényi


def renyi_to_epsilon_classic(divergence: float, order: float, delta: float) -> float:
    """ε = r + ln(1/δ)/(α − 1)                                                  [Mir17, Prop 3]."""
    order = check_order(order)
    if divergence == 0 or delta == 0:
        return _all_or_nothing(divergence)
    return up(divergence, -math.log(delta) / (order - 1))


def renyi_to_epsilon(divergence: float, order: float, delta: float) -> float:
    """ε = r + ln(1 − 1/α) − (ln δ + ln α)/(α − 1)        [CKS20, Prop 12; BBGHS20, Thm 21]."""
    order = check_order(order)
    if divergence == 0 or math.isinf(divergence) or delta == 0:
        return _all_or_nothing(divergence)
    less = order - 1
    terms = (math.log1p(-1 / order), -math.log(delta) / less, -math.log(order) / less)
    return max(0.0, up(divergence, *terms))


def renyi_to_delta(divergence: float, order: float, epsilon: float) -> float:
    """δ = exp((α − 1)(r − ε))·(1 − 1/α)^(α − 1)/α        [CKS20, Prop 12; BBGHS20, Thm 21]."""
    order = check_order(order)
    if divergence == 0:
        return 0.0
    return _from_log(_renyi_log_delta(divergence, order, epsilon))


def _renyi_log_delta(divergence: float, order: float, epsilon: float) -> float:
    if math.isinf(divergence):
        return 0.0
    less = order - 1
    terms = (less * divergence, -less * epsilon, less * math.log1p(-1 / order), -math.log(order))
    return up(*terms)


def approx_budget_as_renyi(epsilon: float, delta: float, order: float) -> float:
    """The largest r at this order that `renyi_to_epsilon` turns into at most ε: rounded down."""
    order = check_order(order)
    less = order - 1
    terms = (-math.log1p(-1 / order), math.log(delta) / less, math.log(order) / less)
    return max(0.0, down(epsilon, *terms))


def best_order(epsilon: float, delta: float) -> float:
    """The order at which (ε, δ) admits the most zCDP: the largest ρ = r/α."""

    def slope(x: float) -> float:
        """Minus that of ρ along the orders: 0 at the best."""
        less = math.exp(x)
        order = 1 + less
        growth = -(math.log(delta) + math.log1p(less)) / less
        return (epsilon + math.log1p(1 / less) - growth) / order - growth / less

    return 1 + math.exp(last_met(slope, *_ALL_ORDERS, width=1e-8))


# ---- from Gaussian


def gdp_to_zcdp(mu: float) -> float:
    """ρ = μ²/2: that of N(0, 1) against N(μ, 1), which dominate  [DRS22]."""
    return product(mu, mu / 2)


def gdp_to_delta(mu: float, epsilon: float) -> float:
    """δ(ε) = Φ(−ε/μ + μ/2) − e^ε·Φ(−ε/μ − μ/2), at any size  [BW18; DRS22]."""
    return _from_log(gaussian_log_delta(epsilon, mu=mu)) if mu else 0.0


def gdp_to_epsilon(mu: float, delta: float) -> float:
    """The ε at which `gdp_to_delta` is δ, rounded up.

    >>> round(gdp_to_epsilon(1.0, 1e-6), 3)
    4.887
    """
    if mu == 0 or math.isinf(mu) or delta == 0:
        return _all_or_nothing(mu)
    aim = math.log(delta) * (1 + 2.0**-50)

    def excess(x: float) -> float:
        return gaussian_log_delta(-x, mu=mu) - aim

    if excess(0.0) <= 0:
        return 0.0
    far = zcdp_to_approx_classic(up(mu * mu / 2), delta)
    if math.isinf(far):
        return math.inf
    return -last_met(excess, -far, 0.0, width=1e-14 * far)


# ---- groups


def approx_group_delta(epsilon: float, delta: float, size: int) -> float:
    """δ·(e^{kε} − 1)/(e^ε − 1) at kε for groups of k: δ grows faster than k  [Vad17]."""
    if delta == 0 or size == 1:
        return delta
    growth = (size - 1) * epsilon
    if growth > 700:
        return 1.0
    factor = float(size)
    if epsilon > 0:
        factor = math.exp(growth) * math.expm1(-size * epsilon) / math.expm1(-epsilon)
    return min(1.0, up(delta * factor * (1 + 2.0**-50 * growth)))


def renyi_group(divergence: float, doublings: int) -> float:
    """3^c·r at order α ≥ 2 for groups of up to 2^c, from r at order 2^c·α               [Mir17]."""
    return up(3**doublings * divergence)


# ---- shared


def check_order(order: float) -> float:
    """An order of Rényi divergence: above 1."""
    number = parameters.real("order", order, must="a number above 1")
    if number <= 1:
        raise BadParameter.of("order", order, must="a number above 1")
    return number


def _all_or_nothing(amount: float) -> float:
    """Where no δ is granted or no bound is known: 0 if nothing was lost, else ∞."""
    return math.inf if amount else 0.0


def _from_log(log_delta: float) -> float:
    """e^x rounded up, never 0 for a δ that is not, and at most 1."""
    if log_delta >= 0:
        return 1.0
    error = 2.0**-50 * (1 - log_delta) if math.isfinite(log_delta) else 0.0
    return min(1.0, math.nextafter(math.exp(log_delta) * (1 + error), math.inf))
