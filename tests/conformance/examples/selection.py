"""Examples: picking the best of several candidates."""

import math
from itertools import permutations

import numpy as np

from deniable import mechanisms as ms

from .example import Example, coin, discrete_laplace, masses, one_by_one

SCORES, NEIGHBOUR = [0, 1, 2], [1, 0, 3]
RUN = ms.DiscreteLaplace(scale=2.0)


def exponential(m):
    return masses(np.exp(np.array(SCORES) * m.epsilon / 2), np.arange(3.0))


def ordered_pairs(m):
    """The best two of three, in order: one exponential mechanism after another, at half of ε."""
    p = np.exp(np.array(SCORES) * m.epsilon / 4)
    p /= p.sum()
    return masses([p[a] * p[b] / (1 - p[a]) for a, b in permutations(range(3), 2)], np.arange(6.0))


def cell_of_the_median(m):
    """Of 1, 2 and 4: D is −3.5, −2.5, −0.5 and 3.5 at the edges; Δ has a margin of 2⁻⁹."""
    rate = m.epsilon * 2 / 5 / (2 * (0.5 + 2**-9))
    return masses(np.exp(-rate * np.array([2.5, 0.5, 0.0])), np.arange(3.0))


def best_of_geometrically_many(m):
    """P(max ≤ x) = sF/(1 − (1 − s)F) for a geometric number of runs."""
    points, below = discrete_laplace(m.mechanism)
    return points, m.stop * below / (1 - (1 - m.stop) * below)


def run_about(number):
    def run():
        answer = RUN.release(number)
        return answer, answer

    return run


EXAMPLES = {
    "exponential": Example(
        mechanism=ms.Exponential(epsilon=1.0),
        twin=ms.Exponential(epsilon=2.0),
        first=SCORES,
        second=NEIGHBOUR,
        declared={"linf": 1, "shape": 3},
        ask=one_by_one(),
        law=exponential,
        draws=2000,
    ),
    "interval_exponential": Example(
        mechanism=ms.IntervalExponential(epsilon=1.0, low=-5.0, high=5.0),
        twin=ms.IntervalExponential(epsilon=2.0, low=-5.0, high=5.0),
        first=([-5, 0, 5], [0, 2]),
        second=([-5, 0, 5], [1, 1]),
        declared={"linf": 1},
        ask=one_by_one(lambda number: float(number >= 0)),
        law=lambda m: coin(1 / (1 + math.exp(-m.epsilon))),
        draws=2000,
        signed=("low", "high"),
    ),
    "noisy_max": Example(
        mechanism=ms.NoisyMax(epsilon=1.0),
        twin=ms.NoisyMax(epsilon=2.0),
        first=[0, 2],
        second=[1, 1],
        declared={"linf": 1, "shape": 2},
        ask=one_by_one(),
        law=lambda m: coin(1 - math.exp(-m.epsilon) * (1 + m.epsilon / 2) / 2),
        draws=2000,
    ),
    "permute_and_flip": Example(
        mechanism=ms.PermuteAndFlip(epsilon=1.0),
        twin=ms.PermuteAndFlip(epsilon=2.0),
        first=[0, 2],
        second=[1, 1],
        declared={"linf": 1, "shape": 2},
        ask=one_by_one(),
        law=lambda m: coin(1 - math.exp(-m.epsilon) / 2),
        draws=2000,
    ),
    "top_k": Example(
        mechanism=ms.TopK(k=2, epsilon=2.0),
        twin=ms.TopK(k=2, epsilon=4.0),
        first=SCORES,
        second=NEIGHBOUR,
        declared={"linf": 1, "shape": 3},
        ask=one_by_one(lambda best: list(permutations(range(3), 2)).index(tuple(best))),
        law=ordered_pairs,
        draws=2000,
    ),
    "quantile_search": Example(
        mechanism=ms.QuantileSearch(epsilon=2.0, share=0.5),
        twin=ms.QuantileSearch(epsilon=4.0, share=0.5),
        first=np.array([[1, 2, 4]]),
        second=np.array([[1, 2, 5]]),
        declared={"l1": 1, "shape": (1, 3)},
        ask=one_by_one(lambda found: found[0, 0]),
        law=cell_of_the_median,
        draws=4000,
    ),
    "best_of": Example(
        mechanism=ms.BestOf(mechanism=RUN, stop=0.5),
        twin=ms.BestOf(mechanism=RUN, stop=0.25),
        first=run_about(0),
        second=run_about(1),
        declared={"linf": 1},
        ask=one_by_one(lambda best: best[1]),
        law=best_of_geometrically_many,
        draws=2000,
    ),
}
