"""Examples: numbers that get noise."""

import math

import numpy as np

from deniable import mechanisms as ms

from .example import (
    WHOLE,
    Example,
    at_once,
    discrete_laplace,
    gaussian,
    masses,
    one_by_one,
    plain_error,
    rounded_laplace,
    whole_error,
)

LAPLACE = ms.Laplace(scale=2.0)
DISCRETE = ms.DiscreteLaplace(scale=2.0)


def staircase(m):
    """P(|X| ≤ (k + y)Δ) = 1 − e^(−kε)·(1 − (1 − e⁻ᵋ)·share(y))."""
    epsilon, gamma = m.epsilon, 1 / (1 + math.exp(m.epsilon / 2))
    points = np.linspace(-3, 3, 61) + 1e-5
    stair, y = np.divmod(np.abs(points), 1.0)
    fall = math.exp(-epsilon)
    high = gamma / (gamma + (1 - gamma) * fall)
    share = np.interp(y, (0, gamma, 1), (0, high, 1))
    beyond = np.exp(-stair * epsilon) * (1 - (1 - fall) * share)
    return points, np.where(points > 0, 1 - beyond / 2, beyond / 2)


EXAMPLES = {
    "laplace": Example(
        mechanism=LAPLACE,
        twin=ms.Laplace(scale=1.0),
        first=0,
        second=1,
        declared={"l1": 1},
        ask=at_once,
        law=lambda m: rounded_laplace(m.scale),
        error=whole_error,
    ),
    "gaussian": Example(
        mechanism=ms.Gaussian(sigma=2.0),
        twin=ms.Gaussian(sigma=1.0),
        first=0.0,
        second=1.0,
        declared={"l2": 1},
        ask=at_once,
        law=lambda m: gaussian(m.sigma),
        error=plain_error,
    ),
    "discrete_laplace": Example(
        mechanism=DISCRETE,
        twin=ms.DiscreteLaplace(scale=1.0),
        first=0,
        second=1,
        declared={"l1": 1},
        ask=at_once,
        law=discrete_laplace,
        error=plain_error,
    ),
    "discrete_gaussian": Example(
        mechanism=ms.DiscreteGaussian(sigma=2.0),
        twin=ms.DiscreteGaussian(sigma=1.0),
        first=0,
        second=1,
        declared={"l2": 1},
        ask=at_once,
        law=lambda m: masses(np.exp(-(WHOLE**2) / (2 * m.sigma**2))),
        error=plain_error,
    ),
    "staircase": Example(
        mechanism=ms.Staircase(epsilon=1.0),
        twin=ms.Staircase(epsilon=2.0),
        first=0.0,
        second=1.0,
        declared={"linf": 1},
        ask=one_by_one(),
        law=staircase,
        draws=2000,
        error=plain_error,
    ),
}
