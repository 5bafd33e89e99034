"""Which pairs dominate which: always themselves, and what has less of everything."""

import itertools

import pytest

from deniable.losses.pairs import (
    ApproxPair,
    BoundedRangePair,
    GaussianPair,
    LaplacePair,
    SampledPair,
)

ALIKE = {
    "gaussian": [GaussianPair(mu=m) for m in (0.3, 0.9, 0.9001)],
    "laplace": [LaplacePair(ratio=a) for a in (0.4, 1.0, 1.0001)],
    "range": [BoundedRangePair(epsilon=e) for e in (0.4, 1.0)],
    "approx": [
        ApproxPair(epsilon=e, delta=d) for e, d in itertools.product((0.5, 1.0), (0.0, 1e-3, 0.1))
    ],
    "sampled": [
        SampledPair(inner=GaussianPair(mu=m), rate=q, direction=direction)
        for m, q, direction in itertools.product((0.3, 0.9), (0.1, 0.2), ("remove", "add"))
    ],
}


@pytest.mark.parametrize("kind", ALIKE)
def test_a_pair_dominates_itself(kind):
    assert all(pair.dominates(pair) for pair in ALIKE[kind])


@pytest.mark.parametrize("kind", ["gaussian", "laplace", "range"])
def test_more_of_the_same_noise_dominates_less(kind):
    for i, one in enumerate(ALIKE[kind]):
        for j, other in enumerate(ALIKE[kind]):
            assert one.dominates(other) == (i >= j)


def test_a_black_box_dominates_what_is_within_both_of_its_bounds():
    for one, other in itertools.product(ALIKE["approx"], repeat=2):
        within = one.epsilon >= other.epsilon and one.delta >= other.delta
        assert one.dominates(other) == within
    box = ApproxPair(epsilon=1.0, delta=0.0)
    assert box.dominates(LaplacePair(ratio=1.0))
    assert not box.dominates(LaplacePair(ratio=1.0001))
    assert not box.dominates(GaussianPair(mu=0.01))


def test_sampling_more_dominates_sampling_less():
    for one, other in itertools.product(ALIKE["sampled"], repeat=2):
        within = one.rate >= other.rate and one.inner.mu >= other.inner.mu
        assert one.dominates(other) == (within and one.direction == other.direction)
