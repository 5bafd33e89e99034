"""What is decided in floats is what exact arithmetic decides with the same random words."""

from fractions import Fraction

import numpy as np
import pytest

from deniable.mechanisms.streams._race import Race
from deniable.sampling import lazy
from deniable.sampling.seeded import SeededSource
from deniable.sampling.source import using

SCALES = [
    (Fraction(1), Fraction(2)),
    (Fraction(1, 10**6), Fraction(1, 10**7)),
    (Fraction(3), Fraction(1, 7)),
]


@pytest.mark.parametrize("scales", SCALES, ids=str)
@pytest.mark.parametrize("threshold", [0.0, -3.5, 1e3, 1e12, -1e15, 2.0**60])
@pytest.mark.parametrize("far", [0.0, 1.0, 1e15])
def test_no_query_is_decided_wrongly_in_floats(scales, threshold, far):
    """Queries around the threshold, where sums of floats round; and others far from it."""
    with using(SeededSource(5)):
        race = Race(threshold, *scales)
        steps = np.arange(-60, 61) * max(np.spacing(abs(threshold)), float(scales[1]) / 16)
        block = threshold + steps + far
        words = SeededSource(6).words(block.size)
        found = dict(race._likely(block, words))
        for index, query in enumerate(block.tolist()):
            passes = race._decide(query, lazy.Laplace(word=int(words[index])))
            if found.get(index) is not False:
                assert (index in found) == passes
