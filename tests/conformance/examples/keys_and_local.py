"""Examples: private keys, and answers that people randomize themselves."""

import math

import numpy as np

from deniable import mechanisms as ms

from .example import (
    Example,
    at_once,
    coin,
    key_by_key,
    masses,
    rounded_gaussian,
    rounded_laplace,
    threshold,
)

EXAMPLES = {
    "partition_selection": Example(
        mechanism=ms.PartitionSelection(epsilon=1.0, delta=0.01),
        twin=ms.PartitionSelection(epsilon=2.0, delta=0.01),
        first=3,
        second=4,
        declared={"linf": 1, "l1": 1},
        asked={"a": 120, 7: 100},
        ask=key_by_key,
        law=lambda m: coin(0.01 * math.expm1(3.0) / math.expm1(1.0)),
    ),
    "laplace_threshold": Example(
        mechanism=ms.LaplaceThreshold(scale=2.0, threshold=5),
        twin=ms.LaplaceThreshold(scale=1.0, threshold=5),
        first=3,
        second=4,
        declared={"linf": 1, "l1": 1},
        asked={"a": 120, 7: 100},
        ask=key_by_key,
        law=lambda m: threshold(m, rounded_laplace(m.scale, 3.0)),
    ),
    "gaussian_threshold": Example(
        mechanism=ms.GaussianThreshold(sigma=2.0, threshold=5, delta=0.1),
        twin=ms.GaussianThreshold(sigma=1.0, threshold=5, delta=0.1),
        first=4,
        second=5,
        declared={"linf": 1, "l1": 1},
        asked={"a": 120, 7: 100},
        ask=key_by_key,
        law=lambda m: threshold(m, rounded_gaussian(m.sigma, 4.0)),
    ),
    "randomized_response": Example(
        mechanism=ms.RandomizedResponse(epsilon=1.0, categories=3),
        twin=ms.RandomizedResponse(epsilon=2.0, categories=3),
        first=0,
        second=1,
        declared={"linf": 2},
        ask=at_once,
        law=lambda m: masses([math.exp(m.epsilon), 1, 1], np.arange(3.0)),
    ),
    "support_response": Example(
        mechanism=ms.SupportResponse(epsilon=1.0, reports=7, support=3),
        twin=ms.SupportResponse(epsilon=2.0, reports=7, support=3),
        first=0,
        second=3,
        declared={"linf": 6},
        ask=at_once,
        law=lambda m: masses([math.exp(m.epsilon)] * 3 + [1] * 4, np.arange(7.0)),
    ),
    "unary_response": Example(
        mechanism=ms.UnaryResponse(epsilon=1.0, categories=3),
        twin=ms.UnaryResponse(epsilon=2.0, categories=3),
        first=0,
        second=1,
        declared={"linf": 2},
        ask=lambda m, value, n: m.release(np.full(n, value)) @ np.array([1.0, 2.0, 4.0]),
        law=lambda m: masses(
            [
                (math.e if other == 0 else 1) * (math.e if rest == 0 else 1)
                for rest in (0, 1)
                for other in (0, 1)
                for own in (0, 1)
            ],
            np.arange(8.0),
        ),
    ),
}
