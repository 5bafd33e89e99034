"""Whole workloads under the black-box auditor, and twins with too little noise, which it finds.

Right ones are audited at confidence 1 − 1e-9: false alarms of all of them have odds below 1e-6.
"""

import dataclasses

import numpy as np
import pyarrow as pa
import pytest

import deniable as dp
from deniable import workload
from deniable.audit import audit
from deniable.mechanisms import BinaryTreeCounter
from deniable.workload.linear import on_lattice
from deniable.workload.split import scaled

SAMPLES = 1200
COUNTS = np.array([3, 0, 5, 2, 2, 1])
MORE = COUNTS + np.array([0, 0, 0, 1, 0, 0])


def cells(make, spend):
    """Answers of workloads over cells, drawn by their plan; `share` of its noise."""

    def batch(counts, n, share=1.0):
        chosen = make(6).plan(spend=spend).chosen
        noisy = dataclasses.replace(chosen, noise=chosen.noise.scaled(share))
        return np.array([noisy.draw(counts) for _ in range(n)])

    return batch


def levels(spend):
    w = workload.groupings(6, {"half": [0, 0, 0, 1, 1, 1], "third": [0, 1, 2, 0, 1, 2]})

    def batch(counts, n, share=1.0):
        plan = w.plan(spend=spend)
        noise, exact = plan.noise.scaled(share), [w._counted(counts, i) for i in range(4)]
        return np.array([w._read(plan, noise.draw(exact)).values for _ in range(n)])

    return batch


def tables(spend):
    w = workload.marginals({"a": 2, "b": 3}, ways=1)

    def batch(counts, n, share=1.0):
        plan = w.plan(spend=spend)
        noise = plan.noise.scaled(share)
        sums = {("a",): counts.reshape(2, 3).sum(axis=1), ("b",): counts.reshape(2, 3).sum(axis=0)}
        exact = [make(sums[c]) for c, make, _ in w._steps(plan.law)]
        return np.array([w._read(plan, noise.draw(exact)).values for _ in range(n)])

    return batch


def sums(spend):
    """Running sums of amounts up to 100 per unit, in real numbers."""

    def batch(counts, n, share=1.0):
        w, amounts = workload.prefixes(6), counts * 100.0
        exact, moved, _ = on_lattice(amounts, 6, 100.0)
        chosen = w.plan(spend=spend, sensitivity=moved).chosen
        noisy = dataclasses.replace(chosen, noise=chosen.noise.scaled(share))
        return np.array([noisy.draw(exact) for _ in range(n)])

    return batch


def stream(spend, steps):
    def batch(counts, n, share=1.0):
        made = workload.stream(steps=steps).counter(spend=spend)
        if isinstance(made, BinaryTreeCounter):
            less = dataclasses.replace(made, noise=scaled([made.noise], share)[0])
        elif hasattr(made, "scale"):
            less = dataclasses.replace(made, scale=made.scale * share)
        else:
            less = dataclasses.replace(made, sigma=made.sigma * share)
        return np.array([less.release(counts) for _ in range(n)])

    return batch


def session(algorithm):
    """What an algorithm returns in a session; with less noise it is run at a larger ε."""

    def batch(counts, n, share=1.0):
        s = dp.open(pa.table({"a": [1]}), unit=dp.rows(), budget=dp.epsilon(1e9))
        hidden = dp.Sensitive(lambda: counts, l1=1, whole=True, shape=6, unit=s.unit)
        found = [s.run(algorithm(hidden, (1 / share) ** 2)) for _ in range(n)]
        return np.array([[answer.value for answer in each] for each in found])

    return batch


IN_SESSIONS = {"known number of ranges", "multiplicative weights"}
PLAIN = {
    *("ranges, pure", "ranges, Gaussian", "running totals", "hierarchy", "matrix"),
    *("marginals", "marginals, pure"),
}
"""Those of which so few samples tell a quarter of the noise apart."""
QUERIES = [(3, 3), (0, 2)]
PURE, SMOOTH = dp.epsilon(1.0), dp.mu(1.0)
EVERY = {
    "running totals, pure": (cells(workload.prefixes, PURE), {"epsilon": 1.0}),
    "running sums": (sums(SMOOTH), {"mu": 1.0}),
    "running sums, pure": (sums(PURE), {"epsilon": 1.0}),
    "matrix": (cells(lambda n: workload.matrix(np.tri(3, n, 2) - 0.3), SMOOTH), {"mu": 1.0}),
    "stream": (stream(SMOOTH, 6), {"mu": 1.0}),
    "stream, pure": (stream(PURE, 6), {"epsilon": 1.0}),
    "endless stream": (stream(SMOOTH, None), {"mu": 1.0}),
    "endless stream, pure": (stream(PURE, None), {"epsilon": 1.0}),
    "known number of ranges": (
        session(
            lambda hidden, more: workload.arriving(
                hidden, QUERIES, number=2, spend=dp.epsilon(more)
            )
        ),
        {"epsilon": 1.0},
    ),
    "multiplicative weights": (
        session(
            lambda hidden, more: workload.multiplicative_weights(
                hidden, QUERIES, epsilon=2 * more, updates=2, threshold=1
            )
        ),
        {"epsilon": 2.0},
    ),
    "ranges, pure": (cells(workload.ranges, PURE), {"epsilon": 1.0}),
    "ranges, Gaussian": (cells(workload.ranges, SMOOTH), {"mu": 1.0}),
    "running totals": (cells(workload.prefixes, SMOOTH), {"mu": 1.0}),
    "hierarchy": (levels(SMOOTH), {"mu": 1.0}),
    "marginals": (tables(SMOOTH), {"mu": 1.0}),
    "marginals, pure": (tables(PURE), {"epsilon": 1.0}),
}


@pytest.mark.parametrize("name", EVERY)
def test_workloads_keep_their_claim_and_a_twin_with_less_noise_does_not(name):
    batch, claim = EVERY[name]
    samples = SAMPLES if name not in IN_SESSIONS else SAMPLES // 3
    right = audit(None, COUNTS, MORE, batch=batch, samples=samples, confidence=1 - 1e-9, **claim)
    assert not right.violated, right

    def twin(counts, n):
        return batch(counts, n, share=0.25 if name in PLAIN else 0.05)

    assert audit(None, COUNTS, MORE, batch=twin, samples=samples, **claim).violated
