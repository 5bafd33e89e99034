"""How small an error an audit would have caught: what "no violation found" is worth."""

from __future__ import annotations

import math

import numpy as np
from scipy import stats

from .certify import RATES, quick_rates, upper_rate
from .claims import Claim

_CHANCE = 0.9
_STEPS = 64


def smallest_error(claim: Claim, *, trials: int, alpha: float) -> float:
    """The least relative error in noise scale that is caught 9 times in 10; ∞ if none is.

    Meant is a mechanism that would be exactly as private as claimed (Laplace for ε, Gaussian for
    μ) but whose noise is too small by the factor 1 − error, judged by the best threshold event
    with `trials` fresh answers on each side. Mechanisms whose right version is more private than
    claimed hide errors up to that slack.
    """
    if catches(claim, 1e-12, trials=trials, alpha=alpha) < _CHANCE:
        return math.inf
    low, high = 0.0, 1.0
    for _ in range(12):
        error = (low + high) / 2
        if catches(claim, 1 - error, trials=trials, alpha=alpha) < _CHANCE:
            low = error
        else:
            high = error
    return high


def catches(claim: Claim, scale: float, *, trials: int, alpha: float) -> float:
    """The probability that noise of `scale` times the right size is found out.

    The mean over the quantiles of the other side's count of P[lower rate > what is then allowed].
    """
    p, q = claim.rates(scale)
    low, _ = quick_rates(p * trials, trials=trials, alpha=alpha / RATES)
    _, high = quick_rates(q * trials, trials=trials, alpha=alpha / RATES)
    best = int(claim.lower(low, high).argmax())
    counts = stats.binom.ppf((np.arange(_STEPS) + 0.5) / _STEPS, trials, q[best])
    allowed = claim.most(upper_rate(counts, trials=trials, alpha=alpha / RATES))
    needed = stats.binom.isf(alpha / RATES, trials, np.minimum(allowed, 1.0))
    return float(np.mean(stats.binom.sf(needed, trials, p[best])))
