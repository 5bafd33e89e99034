"""Examples: running totals."""

import math

from deniable import mechanisms as ms

from .example import Example, gaussian, one_by_one, plain_error, rounded_laplace, sum_of

LAPLACE = ms.Laplace(scale=2.0)


EXAMPLES = {
    "binary_tree_counter": Example(
        mechanism=ms.BinaryTreeCounter(steps=3, noise=LAPLACE),
        twin=ms.BinaryTreeCounter(steps=3, noise=ms.Laplace(scale=1.0)),
        first=[0, 0, 0],
        second=[0, 1, 0],
        declared={"l1": 1, "shape": 3},
        ask=one_by_one(lambda totals: totals[2]),
        law=lambda m: sum_of(rounded_laplace(m.noise.scale), 2),
        draws=2000,
        error=plain_error,
    ),
    "open_ended_counter": Example(
        mechanism=ms.OpenEndedCounter(steps=3, sigma=2.0, first=1),
        twin=ms.OpenEndedCounter(steps=3, sigma=1.0, first=1),
        first=[0, 0, 0],
        second=[1, 0, 0],
        declared={"l1": 1, "shape": 3},
        ask=one_by_one(lambda totals: totals[2]),
        law=lambda m: gaussian(m.sigma * math.sqrt(1 + 5 / 4 * 5 / 4)),
        draws=2000,
        error=plain_error,
    ),
    "open_ended_tree_counter": Example(
        mechanism=ms.OpenEndedTreeCounter(steps=3, scale=2.0, first=1),
        twin=ms.OpenEndedTreeCounter(steps=3, scale=1.0, first=1),
        first=[0, 0, 0],
        second=[1, 0, 0],
        declared={"l1": 1, "shape": 3},
        ask=one_by_one(lambda totals: totals[0]),
        law=lambda m: rounded_laplace(m.scale),
        draws=2000,
        error=lambda m, confidence: m.error(confidence, step=1),
    ),
    "square_root_counter": Example(
        mechanism=ms.SquareRootCounter(steps=3, sigma=2.0),
        twin=ms.SquareRootCounter(steps=3, sigma=1.0),
        first=[0, 0, 0],
        second=[1, 0, 0],
        declared={"l1": 1, "shape": 3},
        ask=one_by_one(lambda totals: totals[1]),
        law=lambda m: gaussian(m.sigma * 1.27535),  # the largest of the three
        draws=2000,
        error=plain_error,
    ),
    "toeplitz_counter": Example(
        mechanism=ms.ToeplitzCounter(steps=3, sigma=2.0),
        twin=ms.ToeplitzCounter(steps=3, sigma=1.0),
        first=[0, 0, 0],
        second=[1, 0, 0],
        declared={"l1": 1, "shape": 3},
        ask=one_by_one(lambda totals: totals[2]),
        law=lambda m: gaussian(m.sigma * math.sqrt(1 + 1 / 4 + 9 / 64)),
        draws=2000,
        error=plain_error,
    ),
    "unbounded_counter": Example(
        mechanism=ms.UnboundedCounter(steps=3, sigma=2.0),
        twin=ms.UnboundedCounter(steps=3, sigma=1.0),
        first=[0, 0, 0],
        second=[1, 0, 0],
        declared={"l1": 1, "shape": 3},
        ask=one_by_one(lambda totals: totals[2]),
        law=lambda m: gaussian(m.deviation(3)),
        draws=2000,
        error=plain_error,
    ),
}
