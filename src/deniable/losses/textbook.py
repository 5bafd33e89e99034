"""The composition theorems of the literature, by name: to teach with, and to compare.

k mechanisms, each ε-private, at a total δ; each function answers with the ε of all together. The
library itself never composes by these: `+` and `*` on a Zcdp, Gdp, Renyi or Profile do better.

    500 mechanisms, ε = 1, δ = 10⁻⁵
        basic                      500
        advanced                   966.4     the theorem of Dwork, Rothblum and Vadhan: worse here
        kov_simple                 338.4
        kov_optimal                311.8     no theorem about all 1-private mechanisms can do better
        false_advanced             214.6     found in print, and false
"""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

from deniable import parameters
from deniable.calibration import last_met

from . import convert
from .renyi import ORDERS
from .rounding import up


def basic(epsilon: float, *, times: int) -> float:
    """kε: any mechanisms, chosen in any way, at δ = 0                  [DMNS06; DR14, Thm 3.16]."""
    epsilon, times, _ = _checked(epsilon, times, 0.5)
    return up(times * epsilon)


def advanced(epsilon: float, *, times: int, delta: float) -> float:
    """ε·√(2k·ln 1/δ) + kε(e^ε − 1)                                        [DRV10; DR14, Thm 3.20].

    >>> round(advanced(1.0, times=500, delta=1e-5), 1)
    966.4
    """
    epsilon, times, delta = _checked(epsilon, times, delta)
    return up(_deviation(epsilon, times, 1 / delta), times * epsilon * math.expm1(epsilon))


def false_advanced(epsilon: float, *, times: int, delta: float) -> float:
    """FALSE: 2ε·√(2k·ln 1/δ), as found in print; here so that its falseness can be shown.

    It drops the term that grows with k and doubles the other. For 500 × ε = 1 at δ = 10⁻⁵ it claims
    ε = 214.6; there, 500 randomized responses have δ = 0.78, and 500 Laplace answers 0.04.

    >>> kov_delta(1.0, times=500, at=false_advanced(1.0, times=500, delta=1e-5)) > 0.5
    True
    """
    epsilon, times, delta = _checked(epsilon, times, delta)
    return 2 * _deviation(epsilon, times, 1 / delta)


def kov_simple(epsilon: float, *, times: int, delta: float) -> float:
    """kε, or kε·tanh(ε/2) + ε·√(2k·ln x) with x = 1/δ or e + √k·ε/δ  [KOV15, Thm 3.4]."""
    epsilon, times, delta = _checked(epsilon, times, delta)
    drift = times * epsilon * math.tanh(epsilon / 2)
    odds = min(1 / delta, math.e + math.sqrt(times) * epsilon / delta)
    return min(up(times * epsilon), up(drift, _deviation(epsilon, times, odds)))


def kov_optimal(epsilon: float, *, times: int, delta: float) -> float:
    """The least ε that holds for all lists of k ε-private mechanisms            [KOV15, Thm 3.3].

    >>> round(kov_optimal(1.0, times=500, delta=1e-5), 2)
    311.77
    >>> round(kov_optimal(0.1, times=100, delta=1e-6), 5)
    4.77457
    """
    epsilon, times, delta = _checked(epsilon, times, delta)
    most = up(times * epsilon)

    def excess(x: float) -> float:
        return kov_delta(epsilon, times=times, at=-x) - delta

    if excess(0.0) <= 0:
        return 0.0
    return -last_met(excess, -most, 0.0, width=1e-12 * most)


def kov_delta(epsilon: float, *, times: int, at: float) -> float:
    """δ at an ε of k randomized responses, which dominate all lists of k ε-private mechanisms.

    Σᵢ P[i of k answers lie]·(1 − e^{at − (k − 2i)·ε})₊                            [KOV15, Thm 3.3]
    """
    from scipy.special import gammaln

    epsilon, times, _ = _checked(epsilon, times, 0.5)
    at = parameters.non_negative("at", at)
    lies = np.arange(times + 1)
    loss = (times - 2 * lies) * epsilon * (1 + 2.0**-51)  # upward, for those that count
    lies, loss = lies[loss > at], loss[loss > at]
    if not len(lies):
        return 0.0
    choose = gammaln(times + 1) - gammaln(lies + 1) - gammaln(times - lies + 1)
    truth = -math.log1p(math.exp(-epsilon))
    terms = np.exp(choose + times * truth - lies * epsilon) * -np.expm1(at - loss)
    # Exponents are sums of parts of this size, each right to a few ulps.
    size = 3 * float(gammaln(times + 1)) + times * (epsilon - truth) + 8
    return min(1.0, up(math.fsum(terms) * (1 + 2.0**-48 * size)))


def zcdp_classic(epsilon: float, *, times: int, delta: float) -> float:
    """ρ = kε²/2, then ρ + 2·√(ρ·ln 1/δ)                               [BS16, Props 1.3 and 1.4]."""
    epsilon, times, delta = _checked(epsilon, times, delta)
    return convert.zcdp_to_approx_classic(up(times * epsilon * epsilon / 2), delta)


def zcdp_tight(epsilon: float, *, times: int, delta: float) -> float:
    """ρ = kε·tanh(ε/2), then the best order                                   [CKS20, Cor 13]."""
    epsilon, times, delta = _checked(epsilon, times, delta)
    return convert.zcdp_to_approx(up(times * convert.pure_to_zcdp(epsilon)), delta)


def renyi_classic(epsilon: float, *, times: int, delta: float) -> float:
    """Randomized response at the best order, r + ln(1/δ)/(α − 1)        [Mir17, Prop 3]."""
    return _renyi(epsilon, times, delta, convert.renyi_to_epsilon_classic)


def renyi_improved(epsilon: float, *, times: int, delta: float) -> float:
    """The same with the better conversion                     [CKS20, Prop 12; BBGHS20, Thm 21]."""
    return _renyi(epsilon, times, delta, convert.renyi_to_epsilon)


def _renyi(
    epsilon: float, times: int, delta: float, to_epsilon: Callable[[float, float, float], float]
) -> float:
    epsilon, times, delta = _checked(epsilon, times, delta)
    divergences = [up(times * convert.pure_to_renyi(epsilon, order)) for order in ORDERS]
    return min(to_epsilon(r, order, delta) for r, order in zip(divergences, ORDERS, strict=True))


def _deviation(epsilon: float, times: int, odds: float) -> float:
    return epsilon * math.sqrt(2 * times * math.log(odds))


def _checked(epsilon: float, times: int, delta: float) -> tuple[float, int, float]:
    return (
        parameters.non_negative("epsilon", epsilon),
        parameters.whole("times", times),
        parameters.confidence("delta", delta),
    )
