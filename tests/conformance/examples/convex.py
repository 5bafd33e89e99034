"""Draws from a convex set."""

import numpy as np

from deniable.learn.convex import Ball, ConvexExponential
from deniable.learn.convex.objectives import STEP, Logistic, Rows

from .example import Example


def rows(*points):
    """Rows of one coordinate, in units of the Lipschitz bound."""
    return Rows(points=np.array(points)[:, None] / STEP, targets=np.zeros(len(points)))


FIRST = rows(1.0, 0.5, -0.25)


def mechanism(weight):
    return ConvexExponential(
        loss_name="logistic",
        domain=Ball(1.0).record(),
        coordinates=1,
        lipschitz=1.0,
        sensitivity=1.0,
        weight=weight,
        ridge=8.0,
        epsilon=2.0,
        mixing=1e-3,
        arithmetic=1e-4,
    )


def law(m):
    x = np.linspace(-1, 1, 20_001)
    exponent = m.ridge * x**2 / 2
    for point in FIRST.points[:, 0] * STEP:
        exponent = exponent + m.weight * Logistic().value(point * x)
    density = np.exp(exponent.min() - exponent)
    below = np.cumsum((density[1:] + density[:-1]) / 2)
    return x[1:][499::500], (below / below[-1])[499::500]


def draws(m, value, n):
    chain = m.chain(value)
    return np.array([float(chain.draw()[0]) for _ in range(n)])


EXAMPLES = {
    "convex_exponential": Example(
        mechanism=mechanism(1.0),
        twin=mechanism(8.0),
        first=FIRST,
        second=rows(1.0, 0.5),
        declared={"l2": 1.0, "shape": 1},
        ask=draws,
        law=law,
        draws=600,
    )
}
