"""Do draws fit a law? Each check returns a bound on the p-value that holds for every sample size.

A χ² or z-test is right near its centre and wrong far in its tail, where these tests alarm: a single
draw in a cell that expects 0.002 has p = 3e-97 by χ², and happens once in 500 runs. The bounds here
are theorems, so they need neither large cells nor the normal approximation: under the null
hypothesis each value is at most α with probability at most α, for every α.

`script/alarms` simulates them under the null hypothesis with NumPy's generator: 2 to 64 cells, also
some that expect 0.002 and 1e-10; 20 to 4,000,000 draws; 200,000 repetitions each. Where outcomes
can be enumerated (2 and 3 cells, binomial counts) it computes the rate. The worst rates were

    α         cells      mean       count      covered    law
    1e-2      1.1e-04    3.2e-04    9.9e-03    1.0e-02    9.8e-03    simulated
    1e-3      5.0e-06    5.5e-05    9.0e-04    9.3e-04    9.5e-04
    1e-4      0          1.0e-05    6.5e-05    8.5e-05    9.5e-05
    1e-6      3.0e-09               9.6e-07                          enumerated
    1e-8      2.1e-11               9.4e-09
"""

import math
from collections.abc import Callable

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import stats


def cells(seen: ArrayLike, chances: ArrayLike) -> float:
    """Counts in cells against their chances: a likelihood-ratio test without large-sample theory.

    For k cells, D = Σ p̂·ln(p̂/p) and nD > k − 1,
    P(D ≥ d) ≤ exp(−nd)·(e·nd/(k − 1))ᵏ⁻¹    (Agrawal 2020, Theorem 1.2).
    Compared with χ² it asks for about 1.5 times the deviation at 40 cells and α = 1e-8.
    """
    seen, chances = np.asarray(seen, dtype=float), np.asarray(chances, dtype=float)
    assert seen.shape == chances.shape, "one chance per cell"
    assert abs(chances.sum() - 1) < 1e-6, "the cells cover everything"
    assert (chances > -1e-12).all()
    if seen[chances <= 0].any():
        return 0.0
    hit = seen > 0
    total, freedom = seen.sum(), np.count_nonzero(chances > 0) - 1
    statistic = (seen[hit] * np.log(seen[hit] / (total * chances[hit]))).sum()
    if statistic <= freedom or freedom == 0:
        return 1.0
    return math.exp(freedom * (1 + math.log(statistic / freedom)) - statistic)


def mean(values: ArrayLike, log_moment: Callable[[float], float], *, spread: float) -> float:
    """A sample mean against its law, given t ↦ ln E exp(tX), in both directions.

    exp(t·Σxᵢ)/E exp(tX)ⁿ has expectation 1 for every t, and so has the average of two such values:
    by Markov's inequality 1/average is a p-value. t = ±6/(spread·√n) is the best choice where the
    mean is six standard errors off; any other `spread` costs power and not validity.
    """
    values = np.asarray(values, dtype=float)
    t = 6 / (spread * math.sqrt(values.size))
    logs = [values.size * (s * float(values.mean()) - log_moment(s)) for s in (t, -t)]
    return min(1.0, math.exp(math.log(2) - float(np.logaddexp(*logs))))


def count(hits: int, trials: int, chance: float) -> float:
    """The exact two-sided test of a binomial count."""
    tails = stats.binom.cdf(hits, trials, chance), stats.binom.sf(hits - 1, trials, chance)
    return min(1.0, 2 * float(min(tails)))


def covered(hits: int, trials: int, confidence: float) -> float:
    """The exact test that intervals hold the truth at least as often as they say."""
    return float(stats.binom.cdf(hits, trials, confidence))


def law(drawn: ArrayLike, below: Callable[[NDArray[np.float64]], ArrayLike]) -> float:
    """Kolmogorov–Smirnov for a continuous law: P(sup|F̂ − F| ≥ d) ≤ 2·exp(−2nd²) (Massart 1990)."""
    points = np.sort(np.asarray(drawn, dtype=float))
    chances, n = np.asarray(below(points), dtype=float), points.size
    high, low = np.arange(1, n + 1) / n - chances, chances - np.arange(n) / n
    return min(1.0, 2 * math.exp(-2 * n * max(high.max(), low.max()) ** 2))
