"""The composition theorems of the literature, by name: to teach with, and to compare.

k mechanisms, each ε-private or, with `each_delta` δ₁, (ε, δ₁)-private; each function answers with
the ε of all together at a total δ. The library itself never composes by these: `+` and `*` on a
Zcdp, Gdp, Renyi or Profile do better.

An (ε, δ₁)-private mechanism is dominated by randomized response that fails with probability δ₁ and
then tells all [KOV15]. With probability (1 − δ₁)ᵏ none of k fails, and what is left is
pure. So a theorem about pure mechanisms at δ′ holds at a total of 1 − (1 − δ₁)ᵏ(1 − δ′), which is
at most kδ₁ + δ′; the theorem of 2010 is stated, and computed here, with kδ₁ + δ′.

    500 mechanisms, ε = 1, δ = 10⁻⁵
        basic                      500
        advanced                   966.4     the theorem of Dwork, Rothblum and Vadhan: worse here
        kov_simple                 338.4
        kov_optimal                311.8     no theorem about all 1-private mechanisms can do better
        false_advanced             214.6     found in print, and false

    with δ₁ = 10⁻⁹ each, 5·10⁻⁷ of the δ are gone before any ε is counted
        advanced                   966.7     kov_optimal 311.9
"""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

from deniable import parameters
from deniable.calibration import last_met
from deniable.errors import BadParameter

from . import convert
from .renyi import ORDERS
from .rounding import down, up


def basic(epsilon: float, *, times: int, each_delta: float = 0.0) -> float:
    """kε, at a total δ of kδ₁: any mechanisms, chosen in any way [DMNS06; DKMMN06; DR14, Thm 3.16].

    >>> round(basic(0.1, times=10, each_delta=1e-7), 9)
    1.0
    """
    epsilon, times, _ = _checked(epsilon, times, 0.5)
    _spent(each_delta, times, 1.0)
    return up(times * epsilon)


def advanced(epsilon: float, *, times: int, delta: float, each_delta: float = 0.0) -> float:
    """ε·√(2k·ln 1/δ′) + kε(e^ε − 1) at a total δ of kδ₁ + δ′              [DRV10; DR14, Thm 3.20].

    >>> round(advanced(1.0, times=500, delta=1e-5), 1)
    966.4
    """
    epsilon, times, delta = _checked(epsilon, times, delta)
    left = down(delta, -_spent(each_delta, times, delta))
    return up(_deviation(epsilon, times, 1 / left), times * epsilon * math.expm1(epsilon))


def false_advanced(epsilon: float, *, times: int, delta: float, each_delta: float = 0.0) -> float:
    """FALSE: 2ε·√(2k·ln 1/δ′), as found in print; here so that its falseness can be shown.

    It drops the term that grows with k and doubles the other. For 500 × ε = 1 at δ = 10⁻⁵ it claims
    ε = 214.6; there, 500 randomized responses have δ = 0.78, and 500 Laplace answers 0.04.

    >>> kov_delta(1.0, times=500, at=false_advanced(1.0, times=500, delta=1e-5)) > 0.5
    True
    """
    epsilon, times, delta = _checked(epsilon, times, delta)
    left = delta - _spent(each_delta, times, delta)
    return 2 * _deviation(epsilon, times, 1 / left)


def kov_simple(epsilon: float, *, times: int, delta: float, each_delta: float = 0.0) -> float:
    """kε, or kε·tanh(ε/2) + ε·√(2k·ln x) with x = 1/δ′ or e + √k·ε/δ′  [KOV15, Thm 3.4]."""
    epsilon, times, delta = _checked(epsilon, times, delta, each_delta)
    drift = times * epsilon * math.tanh(epsilon / 2)
    odds = min(1 / delta, math.e + math.sqrt(times) * epsilon / delta)
    return min(up(times * epsilon), up(drift, _deviation(epsilon, times, odds)))


def kov_optimal(epsilon: float, *, times: int, delta: float, each_delta: float = 0.0) -> float:
    """The least ε that holds for all lists of k (ε, δ₁)-private mechanisms      [KOV15, Thm 3.3].

    >>> round(kov_optimal(1.0, times=500, delta=1e-5), 2)
    311.77
    >>> round(kov_optimal(0.1, times=100, delta=1e-6), 5)
    4.77457
    """
    epsilon, times, delta = _checked(epsilon, times, delta, each_delta)
    most = up(times * epsilon)

    def excess(x: float) -> float:
        return kov_delta(epsilon, times=times, at=-x) - delta

    if excess(0.0) <= 0:
        return 0.0
    return -last_met(excess, -most, 0.0, width=1e-12 * most)


def kov_delta(epsilon: float, *, times: int, at: float, each_delta: float = 0.0) -> float:
    """δ at an ε of k randomized responses, which dominate all lists of k such mechanisms.

    1 − (1 − δ₁)ᵏ(1 − δ′), δ′ = Σᵢ P[i of k answers lie]·(1 − e^{at − (k − 2i)·ε})₊
                                                                                   [KOV15, Thm 3.3]
    """
    pure = _pure_delta(epsilon, times=times, at=at)
    failed = _failed(parameters.fraction_below_one("each_delta", each_delta), times)
    return min(1.0, up(failed, (1 - failed) * pure)) if failed else pure


def _pure_delta(epsilon: float, *, times: int, at: float) -> float:
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


def zcdp_classic(epsilon: float, *, times: int, delta: float, each_delta: float = 0.0) -> float:
    """ρ = kε²/2, then ρ + 2·√(ρ·ln 1/δ)                               [BS16, Props 1.3 and 1.4]."""
    epsilon, times, delta = _checked(epsilon, times, delta, each_delta)
    return convert.zcdp_to_approx_classic(up(times * epsilon * epsilon / 2), delta)


def zcdp_tight(epsilon: float, *, times: int, delta: float, each_delta: float = 0.0) -> float:
    """ρ = kε·tanh(ε/2), then the best order                                           [CKS20]."""
    epsilon, times, delta = _checked(epsilon, times, delta, each_delta)
    return convert.zcdp_to_approx(up(times * convert.pure_to_zcdp(epsilon)), delta)


def renyi_classic(epsilon: float, *, times: int, delta: float, each_delta: float = 0.0) -> float:
    """Randomized response at the best order, r + ln(1/δ)/(α − 1)        [Mir17, Prop 3]."""
    checked = _checked(epsilon, times, delta, each_delta)
    return _renyi(*checked, convert.renyi_to_epsilon_classic)


def renyi_improved(epsilon: float, *, times: int, delta: float, each_delta: float = 0.0) -> float:
    """`renyi_classic` with the better conversion              [CKS20, Prop 12; BBGHS20, Thm 21]."""
    checked = _checked(epsilon, times, delta, each_delta)
    return _renyi(*checked, convert.renyi_to_epsilon)


def _renyi(
    epsilon: float, times: int, delta: float, to_epsilon: Callable[[float, float, float], float]
) -> float:
    divergences = [up(times * convert.pure_to_renyi(epsilon, order)) for order in ORDERS]
    return min(to_epsilon(r, order, delta) for r, order in zip(divergences, ORDERS, strict=True))


def _deviation(epsilon: float, times: int, odds: float) -> float:
    return epsilon * math.sqrt(2 * times * math.log(odds))


def _checked(
    epsilon: float, times: int, delta: float, each_delta: float = 0.0
) -> tuple[float, int, float]:
    """ε, k, and the δ′ that is left for what did not fail: 1 − (1 − δ)/(1 − δ₁)ᵏ, rounded down."""
    epsilon, times = parameters.non_negative("epsilon", epsilon), parameters.whole("times", times)
    delta = parameters.confidence("delta", delta)
    if not each_delta:
        return epsilon, times, delta
    _spent(each_delta, times, delta, least=_failed)
    failed = _failed(each_delta, times)
    return epsilon, times, down(delta, -failed) / (1 - failed) * (1 - 2.0**-50)


def _failed(each_delta: float, times: int) -> float:
    """1 − (1 − δ₁)ᵏ, rounded up: the chance that any of k mechanisms tells all."""
    return up(-math.expm1(times * math.log1p(-each_delta))) if each_delta else 0.0


def _added(each_delta: float, times: int) -> float:
    return up(times * each_delta)


def _spent(
    each_delta: float,
    times: int,
    delta: float,
    *,
    least: Callable[[float, int], float] = _added,
) -> float:
    """The δ that k failures of δ₁ take, which must leave some of the total."""
    each_delta = parameters.fraction_below_one("each_delta", each_delta)
    spent = least(each_delta, times)
    if spent >= delta:
        raise BadParameter.of(
            "each_delta",
            each_delta,
            must=f"below the total δ shared by {times}: {delta / times:.3g}",
            why="the δ of each mechanism adds to that of all together",
        )
    return spent
