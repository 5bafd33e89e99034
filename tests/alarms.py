"""How often the checks of `goodness` alarm falsely, by simulation and by enumeration.

Nulls are drawn with NumPy's generator: a surrogate of the same law as our samplers', and not ours.
Rates near 1e-8 cannot be simulated; where there are two or three cells all outcomes are enumerated.
"""

import argparse
import itertools
import math
import sys

import numpy as np
from scipy import stats
from tests import goodness

LEVELS = (1e-2, 1e-3, 1e-4)
STATED = (1e-6, 1e-8)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--times", type=int, default=200_000)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    draw, wrong = np.random.default_rng(options.seed), False
    print(f"{'simulated':42}" + "".join(f"{level:>10.0e}" for level in LEVELS))
    for name, values in simulated(draw, options.times):
        hits = [int((values <= level).sum()) for level in LEVELS]
        doubt = [goodness.count(h, values.size, a) for h, a in zip(hits, LEVELS, strict=True)]
        above = [h > a * values.size for h, a in zip(hits, LEVELS, strict=True)]
        wrong |= any(a and p < 1e-6 for a, p in zip(above, doubt, strict=True))
        print(f"{name:42}" + "".join(f"{hit / values.size:>10.1e}" for hit in hits))
    print(f"{'enumerated':42}" + "".join(f"{level:>10.0e}" for level in STATED))
    for name, (values, chances) in enumerated():
        rates = [chances[values <= level].sum() for level in STATED]
        wrong |= any(rate > level for rate, level in zip(rates, STATED, strict=True))
        print(f"{name:42}" + "".join(f"{rate:>10.1e}" for rate in rates))
    return int(wrong)


def simulated(draw, times):
    """The name of each null and the values of a check on `times` samples of it."""
    for total, chances in cell_laws():
        drawn = draw.multinomial(total, chances, times)
        values = np.array([goodness.cells(seen, chances) for seen in drawn])
        yield f"cells: {len(chances)}, the least expects {total * min(chances):.3g}", values
    for name, sums, size, exponent, spread in means(draw, times):
        values = [goodness.mean(np.full(size, s / size), exponent, spread=spread) for s in sums]
        yield f"mean: {size:,} {name}", np.array(values)
    for trials, chance in ((400, 0.95), (20_000, 0.25), (10**6, 1e-6)):
        hits = draw.binomial(trials, chance, times)
        known = {hit: goodness.count(hit, trials, chance) for hit in np.unique(hits)}
        yield f"count: {trials:,} at {chance:g}", np.array([known[hit] for hit in hits])
        known = {hit: goodness.covered(hit, trials, chance) for hit in known}
        yield f"covered: {trials:,} at {chance:g}", np.array([known[hit] for hit in hits])
    for size in (20, 1000):
        samples = (draw.random(size) for _ in range(times))
        yield f"law: {size:,} uniform", np.array([goodness.law(x, lambda p: p) for x in samples])


def cell_laws():
    """Samples and chances: even, falling, and those of Laplace noise with hopeless tails."""
    yield 1000, np.full(2, 0.5)
    yield 100, np.full(64, 1 / 64)
    yield 10_000, np.full(40, 1 / 40)
    rare = 0.002 / 4_000_000
    yield 4_000_000, np.array([rare, *np.full(19, (1 - rare) / 19)])
    falling = np.exp(-np.arange(30.0))
    yield 500, falling / falling.sum()


def means(draw, times):
    """Sums of draws from laws whose sums have a law of their own."""
    for size in (200, 5000):
        exponential = draw.gamma(size, 1.0, times)
        yield "exponentials", exponential, size, lambda t: -math.log1p(-t), 1.0
        squares = draw.chisquare(size, times)
        yield "squares of normals", squares, size, lambda t: -math.log1p(-2 * t) / 2, math.sqrt(2)


def enumerated():
    """All outcomes: the values of a check, and the chance of each."""
    for total, chance in ((2000, 0.5), (2000, 0.001), (10**5, 0.3)):
        seen = np.arange(total + 1)
        pairs = zip(seen, total - seen, strict=True)
        values = np.array([goodness.cells(pair, (chance, 1 - chance)) for pair in pairs])
        yield f"cells: 2 of {total:,}, {chance:g}", (values, stats.binom.pmf(seen, total, chance))
    for total, chances in ((300, (0.2, 0.3, 0.5)), (300, (1e-5, 0.01, 0.98999))):
        outcomes = [
            (a, b, total - a - b)
            for a, b in itertools.product(range(total + 1), repeat=2)
            if a + b <= total
        ]
        values = np.array([goodness.cells(seen, chances) for seen in outcomes])
        law = stats.multinomial(total, chances)
        yield f"cells: 3 of {total}, {chances[0]:g} …", (values, law.pmf(outcomes))
    for trials, confidence in ((400, 0.95), (20_000, 0.25)):
        hits = np.arange(trials + 1)
        chances = stats.binom.pmf(hits, trials, confidence)
        values = np.array([goodness.count(hit, trials, confidence) for hit in hits])
        yield f"count: {trials:,} at {confidence:g}", (values, chances)


if __name__ == "__main__":
    sys.exit(main())
