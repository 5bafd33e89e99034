"""One pair of laws is said to be easier to tell apart than another if it is, at every ε."""

import itertools

import pytest

from deniable.losses.pairs import GaussianPair, LaplacePair

LAWS = {
    "gaussian": [GaussianPair(mu=mu) for mu in (0.1, 0.5, 3.0)],
    "laplace": [LaplacePair(ratio=ratio) for ratio in (0.1, 0.5, 3.0)],
}


@pytest.mark.parametrize("law", LAWS)
def test_a_law_moved_further_dominates_those_moved_less_and_no_others(law):
    for (i, less), (j, more) in itertools.product(enumerate(LAWS[law]), repeat=2):
        assert more.dominates(less) == (j >= i)


def test_whatever_is_said_to_dominate_has_the_larger_delta_everywhere():
    everyone = [pair for pairs in LAWS.values() for pair in pairs]
    for one, other in itertools.product(everyone, repeat=2):
        if one.dominates(other):
            for epsilon in (0.0, 0.05, 0.3, 1.0, 2.5, 4.0):
                assert one.delta_alone(epsilon) >= other.delta_alone(epsilon)
