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
}
