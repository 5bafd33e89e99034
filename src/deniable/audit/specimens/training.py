"""Specimens: the usual mistakes in private training. Refuted by replay and by arithmetic.

Rows are (x₁, x₂, y): two features and a label. Every wrong one takes a single noisy step from
θ = 0, where the residual of logistic regression is ½ − y.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Generator
from statistics import NormalDist
from typing import Any

import numpy as np
from numpy.typing import NDArray

from deniable.learn.engine.budget import paid
from deniable.learn.engine.descent import Descent, descend
from deniable.learn.engine.examples import Examples, Held
from deniable.learn.engine.spaces import Dense
from deniable.losses import rho
from deniable.mechanisms import Gaussian
from deniable.sensitive import Sensitive
from deniable.units import rows

from ._specimen import Computed, Replayed, Specimen
from .sums import session

Floats = NDArray[np.float64]
ROWS = np.array([[0.6, 0.8, 1.0], [1.0, 0.0, 1.0], [0.8, 0.6, 1.0], [1.0, 0.0, 1.0]])
JOINED = np.vstack([ROWS, [[1.0, 0.0, 0.0]]])
CLIP = 0.5


def specimens() -> list[Specimen]:
    """All of this file."""
    return [*_gradients(), *_past_the_noise(), _shuffled()]


def right(data: Floats) -> Floats:
    """Two steps of the library's own descent: clipped, on a lattice, all of θ with noise."""
    space = Dense(dimension=3)

    def examples(_: object) -> Examples:
        features = np.column_stack([data[:, :2], np.ones(len(data))]) / math.sqrt(2)
        return Examples(x=space.rounded(features), y=data[:, 2].astype(np.int64))

    held = Held(examples, space=space, unit=rows())
    how = Descent(space=space, classes=2, steps=2, clip=CLIP)
    door = session()
    with paid(door, held, how.parts(held), spend=rho(1.0)) as bought:
        return door.run(descend(bought.handle, held, how))


def _shortened(features: Floats) -> Floats:
    lengths = np.maximum(np.linalg.norm(features, axis=1, keepdims=True), 1.0)
    return np.asarray(features / lengths)


def _noisy(compute: Callable[[], Floats], *, l2: float, shape: int) -> Generator[Any, Any, Floats]:
    mechanism = Gaussian(sigma=10 * l2, sensitivity=l2)
    found = yield mechanism.on(Sensitive(compute, l2=l2, shape=shape))
    return np.asarray(found)


def _trained(
    steps: Callable[[Floats], Generator[Any, Any, Any]],
) -> Callable[[Floats], object]:
    return lambda data: session().run(steps(data))


def _replayed(
    name: str,
    steps: Callable[[Floats], Generator[Any, Any, Any]],
    *,
    because: str,
    holds: str,
    second: Floats = JOINED,
) -> Specimen:
    return Replayed(
        name=name,
        wrong_because=because,
        holds=holds,
        first=ROWS,
        second=second,
        wrong=_trained(steps),
        right=right,
    )


def _gradients() -> list[Specimen]:
    def bias(data: Floats) -> Generator[Any, Any, Floats]:
        residual = 0.5 - data[:, 2]
        terms = np.column_stack([residual[:, None] * _shortened(data[:, :2]), residual])
        return (yield from _noisy(lambda: terms.sum(axis=0), l2=CLIP, shape=3))

    def average(data: Floats) -> Generator[Any, Any, Floats]:
        terms = (0.5 - data[:, 2])[:, None] * _shortened(data[:, :2])
        return (yield from _noisy(lambda: terms.mean(axis=0), l2=CLIP / 5, shape=2))

    def standardised(data: Floats) -> Generator[Any, Any, Floats]:
        scaled = data[:, :2] / np.abs(data[:, :2]).max(axis=0)
        terms = (0.5 - data[:, 2])[:, None] * _shortened(scaled)
        return (yield from _noisy(lambda: terms.sum(axis=0), l2=CLIP, shape=2))

    far = np.vstack([ROWS, [[1000.0, 1000.0, 0.0]]])
    return [
        _replayed(
            "gradient of the bias not clipped",
            bias,
            because="weights are clipped to ½, and the bias adds another ½ of its own: √½ in all",
            holds="the constant feature counts in the norm that is clipped",
        ),
        _replayed(
            "average over the batch that was drawn",
            average,
            because="one more row also changes what the sum is divided by: an average of "
            "gradients moves by up to 2C/n",
            holds="sums get the noise, and a public size divides them",
        ),
        _replayed(
            "features standardised by the data",
            standardised,
            because="one far value rescales the features of everybody",
            holds="bounds are public, or means and scales are released with noise",
            second=far,
        ),
    ]


def _past_the_noise() -> list[Specimen]:
    def intercept(data: Floats) -> Generator[Any, Any, tuple[Floats, float]]:
        terms = (0.5 - data[:, 2])[:, None] * _shortened(data[:, :2])
        weights = yield from _noisy(lambda: terms.sum(axis=0), l2=CLIP, shape=2)
        return weights, float(np.sum(data[:, 2] - 0.5))

    def counted(data: Floats) -> Generator[Any, Any, Floats]:
        terms = (0.5 - data[:, 2])[:, None] * _shortened(data[:, :2])
        noisy = yield from _noisy(lambda: terms.sum(axis=0), l2=CLIP, shape=2)
        return -noisy / len(data)

    return [
        _replayed(
            "intercept without noise",
            intercept,
            because="the intercept is a function of the labels, released exactly",
            holds="the intercept is one of the parameters that get noise",
        ),
        _replayed(
            "number of rows taken exactly",
            counted,
            because="the step size tells how many rows there are",
            holds="n is public, noisy, or cancels",
        ),
    ]


def _shuffled() -> Specimen:
    batches, sigma, epsilon = 10, 0.3, 1.0

    def truth() -> float:
        """P(some batch is large) with the row in a random batch, less e^ε times without it."""
        normal = NormalDist()

        def gap(t: float) -> float:
            below = normal.cdf(t) ** (batches - 1)
            there = 1 - below * normal.cdf(t - 1 / sigma)
            return there - math.exp(epsilon) * (1 - below * normal.cdf(t))

        return max(gap(t / 100) for t in range(600))

    one = Gaussian(sigma=sigma)
    return Computed(
        name="training on shuffled batches priced as Poisson samples",
        wrong_because="a shuffled row is in exactly one batch of each epoch; a Poisson sample "
        "leaves it out of a third of them",
        holds="Poisson samples are drawn, or an epoch of fixed batches costs what one batch does",
        source="[CGKKMSZ24]",
        wrong=lambda: (truth(), (batches * one.sampled(rate=1 / batches)).delta_at(epsilon)),
        right=lambda: (truth(), one.delta_at(epsilon)),
    )
