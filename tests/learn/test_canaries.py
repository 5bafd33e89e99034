"""One-run audits of our own training: canaries that are in or out by coins.

Every canary has a feature of its own, so that its score shows what the model holds of it. Sound
training is accused with probability at most 1e-9 per audit.
"""

import numpy as np
import pytest

from deniable.audit import audit_training
from deniable.learn import GradientDescent, LogisticRegression

CANARIES = 240
CLAIM = {"canaries": CANARIES, "epsilon": 1.0, "delta": 1e-5}


def pull(theta, X, y):
    """Every row pulls its own parameter up."""
    return -X


def logistic(**how):
    return lambda epsilon: LogisticRegression(
        norm=1.0, classes=[0, 1], fit_intercept=False, epsilon=epsilon, delta=1e-5, **how
    )


def descent(**how):
    return lambda epsilon: GradientDescent(
        gradient=pull,
        dimension=CANARIES,
        clip=1.0,
        size=CANARIES,
        steps=8,
        epsilon=epsilon,
        delta=1e-5,
        **how,
    )


MODELS = {
    "descent": logistic(steps=6),
    "objective": logistic(solver="objective"),
    "output": logistic(solver="output"),
    "full batches": descent(),
    "samples": descent(sample_rate=0.5),
    "disjoint batches": descent(batches=4),
}


def training(model, epsilon):
    def train(included):
        rows = np.eye(CANARIES)[included]
        fitted = MODELS[model](epsilon).fit(rows, np.ones(len(rows), dtype=int))
        return fitted.theta_

    return train


@pytest.mark.statistical
@pytest.mark.parametrize("model", MODELS)
def test_canaries_do_not_refute_our_training(model):
    found = audit_training(training(model, 1.0), confidence=1 - 1e-9, **CLAIM)
    assert not found.violated, found


@pytest.mark.statistical
@pytest.mark.parametrize("model", MODELS)
def test_the_same_canaries_refute_training_with_a_fraction_of_the_noise(model):
    """What is trained at ε = 300 is claimed to be at 1; missed with a chance far below 1e-6."""
    found = audit_training(training(model, 300.0), **CLAIM)
    assert found.violated, found
