"""Every mechanism that selects refuses parameters for which nothing is proved."""

import math

import pytest

from deniable.errors import BadParameter
from deniable.mechanisms import Exponential, NoisyMax, PermuteAndFlip, TopK

KINDS = [Exponential, PermuteAndFlip, NoisyMax, lambda **given: TopK(k=2, **given)]
WRONG = [
    {"epsilon": bad} for bad in (0, -1.0, math.nan, math.inf, "1", None)
] + [
    {"epsilon": 1.0, "sensitivity": bad} for bad in (0, -1.0, math.nan, math.inf, "1", None)
] + [{"epsilon": 1.0, "monotonic": bad} for bad in (1, 0, "yes", None)]  # fmt: skip


@pytest.mark.parametrize("kind", KINDS, ids=["exponential", "flip", "max", "top k"])
@pytest.mark.parametrize("given", WRONG, ids=str)
def test_wrong_parameters_are_refused_by_every_kind(kind, given):
    with pytest.raises(BadParameter):
        kind(**given)


@pytest.mark.parametrize("k", [0, -1, 1.5, math.nan, "2", None])
def test_a_number_of_answers_is_whole_and_above_zero(k):
    with pytest.raises(BadParameter):
        TopK(k=k, epsilon=1.0)
