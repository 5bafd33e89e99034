"""Specimens: the usual mistakes in private training. Refuted by replay and by arithmetic.

Rows are (x₁, x₂, y): two features and a label. Every wrong one takes a single noisy step from
θ = 0, where the residual of logistic regression is ½ − y.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import partial
from statistics import NormalDist

import numpy as np

from deniable.learn.engine.budget import paid
from deniable.learn.engine.descent import Descent, descend
from deniable.learn.engine.examples import Examples, Held
from deniable.learn.engine.spaces import Dense
from deniable.losses import rho
from deniable.mechanisms import Gaussian
from deniable.sensitive import Sensitive
from deniable.units import rows

from ._specimen import Computed, Floats, Replayed, Specimen, session

ROWS = np.array([[0.6, 0.8, 1.0], [1.0, 0.0, 1.0], [0.8, 0.6, 1.0], [1.0, 0.0, 1.0]])
JOINED = np.vstack([ROWS, [[1.0, 0.0, 0.0]]])
CLIP = 0.5
_BATCHES, _BATCH = 10, Gaussian(sigma=0.3)
_POISSON = _BATCHES * _BATCH.sampled(rate=1 / _BATCHES)


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


def _gradients(data: Floats, features: Floats | None = None) -> Floats:
    """Those of the weights, one row each, clipped to ½."""
    return (0.5 - data[:, 2:]) * _shortened(data[:, :2] if features is None else features)


def _noisy(compute: Callable[[], Floats], *, l2: float = CLIP, shape: int = 2) -> Floats:
    mechanism = Gaussian(sigma=10 * l2, sensitivity=l2)
    step = mechanism.on(Sensitive(compute, l2=l2, shape=shape))
    return np.asarray(session().release(step).value)


def _bias_unclipped(data: Floats) -> Floats:
    terms = np.column_stack([_gradients(data), 0.5 - data[:, 2]])
    return _noisy(lambda: terms.sum(axis=0), shape=3)


def _standardised(data: Floats) -> Floats:
    scaled = data[:, :2] / np.abs(data[:, :2]).max(axis=0)
    return _noisy(lambda: _gradients(data, scaled).sum(axis=0))


def _summed(data: Floats) -> Floats:
    return _noisy(lambda: _gradients(data).sum(axis=0))


def _in_some_batch() -> float:
    """P(some batch is large) with the row in a random batch, less e times without it (ε = 1)."""
    normal = NormalDist()

    def gap(t: float) -> float:
        below = normal.cdf(t) ** (_BATCHES - 1)
        there = 1 - below * normal.cdf(t - 1 / _BATCH.sigma)
        return there - math.e * (1 - below * normal.cdf(t))

    return max(gap(t / 100) for t in range(600))


_trained = partial(Replayed, data=(ROWS, JOINED), right=right)

SPECIMENS: tuple[Specimen, ...] = (
    _trained(
        name="gradient of the bias not clipped",
        wrong_because="weights are clipped to ½, and the bias adds another ½ of its own: √½ in all",
        holds="the constant feature counts in the norm that is clipped",
        wrong=_bias_unclipped,
    ),
    _trained(
        name="average over the batch that was drawn",
        wrong_because="one more row also changes what the sum is divided by: an average of "
        "gradients moves by up to 2C/n",
        holds="sums get the noise, and a public size divides them",
        wrong=lambda data: _noisy(lambda: _gradients(data).mean(axis=0), l2=CLIP / 5),
    ),
    _trained(
        name="features standardised by the data",
        wrong_because="one far value rescales the features of everybody",
        holds="bounds are public, or means and scales are released with noise",
        data=(ROWS, np.vstack([ROWS, [[1000.0, 1000.0, 0.0]]])),
        wrong=_standardised,
    ),
    _trained(
        name="intercept without noise",
        wrong_because="the intercept is a function of the labels, released exactly",
        holds="the intercept is one of the parameters that get noise",
        wrong=lambda data: (_summed(data), float(np.sum(data[:, 2] - 0.5))),
    ),
    _trained(
        name="number of rows taken exactly",
        wrong_because="the step size tells how many rows there are",
        holds="n is public, noisy, or cancels",
        wrong=lambda data: -_summed(data) / len(data),
    ),
    Computed(
        name="training on shuffled batches priced as Poisson samples",
        wrong_because="a shuffled row is in exactly one batch of each epoch; a Poisson sample "
        "leaves it out of a third of them",
        holds="Poisson samples are drawn, or an epoch of fixed batches costs what one batch does",
        source="[CGKKMSZ24]",
        wrong=lambda: (_in_some_batch(), _POISSON.delta_at(1.0)),
        right=lambda: (_in_some_batch(), _BATCH.delta_at(1.0)),
    ),
)
