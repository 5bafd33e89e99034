"""Mechanisms of learners."""

from dataclasses import replace

import numpy as np
from scipy import special

from deniable.learn.engine.batches import DisjointBatches
from deniable.learn.engine.examples import Examples
from deniable.learn.engine.minima import Penalised
from deniable.learn.engine.perturbed import ObjectivePerturbation
from deniable.learn.engine.spaces import Dense
from deniable.mechanisms import Gaussian

from .example import Example, one_by_one, rounded_gaussian

OBJECTIVE = ObjectivePerturbation.calibrate(
    coordinates=1, sensitivity=1.0, smoothness=0.25, epsilon=2.0, delta=0.05
)


def objective(*labels):
    """Rows of one feature, which is nearly 1."""
    rows = Examples(x=np.full((len(labels), 1), 8191, dtype=np.int16), y=np.array(labels))
    space, ridge = Dense(dimension=1), OBJECTIVE.ridge
    return lambda slope: Penalised(rows=rows, space=space, clip=1.0, ridge=ridge, slope=slope)


def below(m):
    """P(θ ≤ t) = P(b ≥ −∇F(t)) = Φ(∇F(t)/s), as the minimum falls where b grows."""
    t = np.linspace(-3, 3, 81) * m.sigma / m.ridge
    x = 8191 / 8192
    slope = m.ridge * t + x * (2 * special.expit(x * t) - 1)
    return t, special.ndtr(slope / m.sigma)


EXAMPLES = {
    "objective_perturbation": Example(
        mechanism=OBJECTIVE,
        twin=replace(OBJECTIVE, sigma=OBJECTIVE.sigma / 2),
        first=objective(1, 0),
        second=objective(1, 0, 1),
        declared={"l2": 1.0, "shape": 1},
        ask=one_by_one(lambda theta: theta[0]),
        law=below,
        draws=800,
    ),
    "disjoint_batches": Example(
        mechanism=DisjointBatches(of=Gaussian(sigma=4.0), batches=2, epochs=2),
        twin=DisjointBatches(of=Gaussian(sigma=2.0), batches=2, epochs=2),
        first=[0, 0],
        second=[0, 1],
        declared={"l2": 1},
        ask=one_by_one(lambda answers: answers[1]),
        law=lambda m: rounded_gaussian(m.of.sigma),
        draws=2000,
    ),
}
