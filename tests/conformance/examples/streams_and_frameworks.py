"""Examples: thresholds on a stream, and noise that depends on how stable an answer is."""

import math

import numpy as np

from deniable import mechanisms as ms

from .example import (
    WHOLE,
    Example,
    coin,
    laplace,
    mixture,
    one_by_one,
    plain_error,
    rounded_laplace,
)

HIDDEN = -99.0


def passes(m):
    """P(aL − bL′ ≥ T) for T > 0 and independent standard Laplace L, L′."""
    b, a = map(float, getattr(m, "as_sparse", m).scales)
    near, far = math.exp(-m.threshold / a), math.exp(-m.threshold / b)
    return coin((a * a * near - b * b * far) / (2 * (a * a - b * b)))


def proposed(m):
    """With the distance at 3: no answer, or one with Laplace noise."""
    shown = 1 - float(laplace(np.array(m.threshold - 3.0), 1 / m.epsilon_test))
    points = np.linspace(-8, 8, 41)
    below = 1 - shown + shown * laplace(points, m.bound / m.epsilon_release)
    return np.concatenate([[HIDDEN], points]), np.concatenate([[1 - shown], below])


def student(m):
    """Student's t of 2 degrees of freedom, scaled by 1/s; β = ε/6."""
    points = np.linspace(-12, 12, 61)
    z = points * (m.epsilon - 2 * m.beta) * 2 * math.sqrt(2) / 3
    return points, (1 + z / np.sqrt(2 + z * z)) / 2


EXAMPLES = {
    "above_threshold": Example(
        mechanism=ms.AboveThreshold(epsilon=2.0, threshold=2.0),
        twin=ms.AboveThreshold(epsilon=6.0, threshold=2.0),
        first=[0.0],
        second=[1.0],
        declared={"linf": 1, "shape": 1},
        ask=one_by_one(lambda index: float(index is not None)),
        law=passes,
        draws=2000,
        signed=("threshold",),
    ),
    "sparse_vector": Example(
        mechanism=ms.SparseVector(epsilon=2.0, answers=2, threshold=4.0),
        twin=ms.SparseVector(epsilon=6.0, answers=2, threshold=4.0),
        first=[0.0],
        second=[1.0],
        declared={"linf": 1, "shape": 1},
        ask=one_by_one(len),
        law=passes,
        draws=2000,
        signed=("threshold",),
    ),
    "propose_test_release": Example(
        mechanism=ms.ProposeTestRelease(
            bound=1.0, epsilon_test=1.0, epsilon_release=0.5, delta=0.05
        ),
        twin=ms.ProposeTestRelease(bound=1.0, epsilon_test=1.0, epsilon_release=1.0, delta=0.05),
        first=(0.0, 3),
        second=(1.0, 2),
        declared={"linf": 1},
        ask=one_by_one(lambda answer: HIDDEN if answer is None else answer),
        law=proposed,
        draws=2000,
    ),
    "smooth_noise": Example(
        mechanism=ms.SmoothNoise(epsilon=1.0, low=-1000.0, high=1000.0),
        twin=ms.SmoothNoise(epsilon=2.0, low=-1000.0, high=1000.0),
        first=(0.0, 1.0),
        second=(1.0, 1.0),
        declared={"linf": 1},
        ask=one_by_one(),
        law=student,
        draws=2000,
        signed=("low", "high", "delta"),
    ),
    "catastrophe": Example(
        mechanism=ms.Catastrophe(delta=0.1, of=ms.Laplace(scale=4.0)),
        twin=ms.Catastrophe(delta=0.2, of=ms.Laplace(scale=4.0)),
        first=0,
        second=1,
        declared={"l1": 1},
        ask=one_by_one(),
        law=lambda m: mixture(rounded_laplace(m.of.scale), (WHOLE, WHOLE >= 0), m.delta),
        draws=4000,
        error=plain_error,
    ),
}
