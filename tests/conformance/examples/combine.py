"""Examples: mechanisms made of mechanisms."""

import math

import numpy as np

import deniable as dp
from deniable import mechanisms as ms

from .example import Example, coin, discrete_laplace, mixture, one_by_one, sum_of

LAPLACE = ms.Laplace(scale=2.0)
DISCRETE = ms.DiscreteLaplace(scale=2.0)
SHARP = ms.DiscreteLaplace(scale=0.5)
COIN = ms.RandomizedResponse(epsilon=1.0)


EXAMPLES = {
    "composed": Example(
        mechanism=2 * DISCRETE,
        twin=2 * ms.DiscreteLaplace(scale=1.0),
        first=0,
        second=1,
        declared={"l1": 1},
        ask=one_by_one(lambda answers: answers[0] - answers[1]),
        law=lambda m: sum_of(discrete_laplace(m.parts[0][0]), 2),
        draws=2000,
    ),
    "sampled": Example(
        mechanism=SHARP.sampled(rate=0.25),
        twin=SHARP.sampled(rate=0.5),
        first=np.array([1]),
        second=np.array([], dtype=np.int64),
        declared={"l1": 1},
        ask=one_by_one(),
        law=lambda m: mixture(discrete_laplace(m.of), discrete_laplace(m.of, 1), m.rate),
        draws=2000,
    ),
    "sampled_without_replacement": Example(
        mechanism=ms.SampledWithoutReplacement(of=SHARP, size=1, population=4),
        twin=ms.SampledWithoutReplacement(of=SHARP, size=2, population=4),
        first=np.array([1, 0, 0, 0]),
        second=np.array([0, 0, 0, 0]),
        declared={"l1": 1},
        ask=one_by_one(),
        law=lambda m: mixture(
            discrete_laplace(m.of), discrete_laplace(m.of, 1), m.size / m.population
        ),
        draws=2000,
    ),
    "parallel": Example(
        mechanism=ms.Parallel(parts=(LAPLACE, DISCRETE), unit=dp.rows()),
        twin=ms.Parallel(parts=(LAPLACE, ms.DiscreteLaplace(scale=1.0)), unit=dp.rows()),
        first=[0, 0],
        second=[0, 1],
        declared={"l1": 1},
        ask=one_by_one(lambda answers: answers[1]),
        law=lambda m: discrete_laplace(m.parts[1]),
        draws=2000,
    ),
    "shuffled": Example(
        mechanism=ms.Shuffled(of=COIN, people=2, delta=0.01),
        twin=ms.Shuffled(of=ms.RandomizedResponse(epsilon=3.0), people=2, delta=0.01),
        first=[1, 1],
        second=[1, 0],
        declared={"linf": 1, "shape": 2, "entries": 1},
        ask=one_by_one(lambda reports: reports[0]),
        law=lambda m: coin(math.e / (1 + math.e)),
        draws=2000,
    ),
}
