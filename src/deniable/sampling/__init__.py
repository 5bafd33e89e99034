"""Exact randomness: the only place where noise is drawn.

    source      where words come from: the operating system's generator; `using` swaps it in tests
    seeded      words that repeat, for tests and replayed audits; refuses to run elsewhere
    public      seeded randomness that protects nobody: made-up rows, attacks, demonstrations
    exact       certified e^x, ln x and cos πx in Python integers
    floats      how far float64 functions may be wrong, tested on this machine before the first draw
    lazy        real random numbers known to as many digits as a comparison needs
    inversion   exact floors of shifted exponentials: the engine of the next
    laplace     discrete Laplace, real Laplace rounded to a lattice, geometric
    uniform     integers below a bound, coins, binomials, permutations, Poisson samples
    lattice     the grid on which every number is released
    gaussian    discrete Gaussian, real Gaussian rounded to a lattice
    bessel      Skellam numbers: differences of two Poisson numbers, noise that adds up in shares
    select, select_noise    the index of a noisy maximum, and its noise

Every sampler takes `source=`; left out, it draws from `current()`. Every sampler is exact: floats
decide where their error cannot matter, and exact arithmetic on further bits of the same uniform
decides the rest. Parameters are checked before a word is drawn. Except in those rare cases, every
draw takes the same work, so its time says next to nothing of the noise.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from deniable.loading import on_first_use

if TYPE_CHECKING:
    from .bessel import skellam
    from .gaussian import discrete_gaussian, rounded_gaussian
    from .laplace import discrete_laplace, geometric, rounded_laplace
    from .lattice import Lattice
    from .public import PublicRandom
    from .seeded import SeededSource
    from .select import gumbel_max, noisy_max, noisy_top
    from .source import Source, SystemSource, current, using
    from .uniform import (
        below,
        bernoulli,
        bernoulli_bits,
        bernoulli_exp,
        binomial,
        permutation,
        poisson_mask,
    )
else:
    __getattr__, __dir__ = on_first_use(
        __name__,
        {
            "gaussian": "discrete_gaussian rounded_gaussian",
            "laplace": "discrete_laplace geometric rounded_laplace",
            "lattice": "Lattice",
            "public": "PublicRandom",
            "seeded": "SeededSource",
            "select": "gumbel_max noisy_max noisy_top",
            "bessel": "skellam",
            "source": "Source SystemSource current using",
            "uniform": "below bernoulli bernoulli_bits bernoulli_exp binomial permutation "
            "poisson_mask",
        },
    )

__all__ = [
    "Lattice",
    "PublicRandom",
    "SeededSource",
    "Source",
    "SystemSource",
    "below",
    "bernoulli",
    "bernoulli_bits",
    "bernoulli_exp",
    "binomial",
    "current",
    "discrete_gaussian",
    "discrete_laplace",
    "geometric",
    "gumbel_max",
    "noisy_max",
    "noisy_top",
    "permutation",
    "poisson_mask",
    "rounded_gaussian",
    "rounded_laplace",
    "skellam",
    "using",
]
