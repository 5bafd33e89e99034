"""What a choice by score costs in the best score it misses."""

import math

import pytest

import deniable as dp
from deniable.mechanisms import TopK

MADE = [
    (dp.Exponential(epsilon=0.5, sensitivity=3.0), 12.0),
    (dp.PermuteAndFlip(epsilon=4.0), 0.5),
    (dp.NoisyMax(epsilon=0.5, sensitivity=3.0, noise="gumbel"), 12.0),
    (TopK(k=5, epsilon=0.5, sensitivity=3.0), 60.0),
]


@pytest.mark.parametrize(("mechanism", "scale"), MADE, ids=lambda m: getattr(m, "name", ""))
@pytest.mark.parametrize("confidence", [0.5, 0.9, 0.999])
@pytest.mark.parametrize("candidates", [1, 7, 10**6])
def test_the_chosen_score_is_within_its_bound_of_the_best(mechanism, scale, confidence, candidates):
    """(2Δ/ε)·ln(m/β), times k for the k best."""
    stated = mechanism.error(confidence, candidates=candidates)
    assert stated == pytest.approx(scale * math.log(candidates / (1 - confidence)), rel=1e-12)
