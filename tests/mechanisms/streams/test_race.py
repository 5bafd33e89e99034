"""What is decided in floats is what exact arithmetic decides with the same random words."""

from fractions import Fraction

import numpy as np
import pytest

from deniable.errors import BadParameter
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


@pytest.mark.parametrize("as_given", [list, tuple, np.array, iter], ids=lambda kind: kind.__name__)
def test_winners_are_numbered_from_the_first_query_on_over_all_blocks(as_given):
    """Queries so far from the threshold that no noise of this source decides."""
    count = 5000 if as_given is np.array else 300
    queries = [1e9 if i % 3 == 0 else -1e9 for i in range(count)]
    queries[-1] = 2e9
    with using(SeededSource(7)):
        race = Race(0.0, Fraction(1), Fraction(2))
        found = list(race.winners(as_given(queries)))
    assert found == [i for i in range(count) if queries[i] > 0]
    assert race.last == 2e9


LARGE = [2**53 + 1, 2**62 + 1, 2**63 - 1, -(2**60) - 3]


@pytest.mark.parametrize(
    "queries",
    [
        np.zeros((2, 2)),
        np.array(["a"]),
        [True, False],
        [1.0, np.nan],
        [np.inf],
        *([each, 0] for each in LARGE),
        *(np.array([0, each]) for each in LARGE),
        range(2**53 + 1, 2**53 + 2),
        np.array([2**64 - 1], dtype=np.uint64),
        np.array([2**53 + 1], dtype=np.longdouble),
    ],
    ids=str,
)
def test_queries_are_a_stream_of_numbers_that_floats_hold(queries):
    """Rounded, two queries that one unit moves by 1 could be a thousand apart."""
    with pytest.raises(BadParameter):
        list(Race(0.0, Fraction(1), Fraction(2)).winners(queries))


@pytest.mark.parametrize("query", [2**53, 2**53 + 2, -(2**62), 2**62 + 2**11, 1000.5, 1e300])
def test_large_numbers_that_floats_hold_are_taken(query):
    race = Race(0.0, Fraction(1), Fraction(2))
    for queries in ([query], np.array([query]), iter([query])):
        assert list(race.winners(queries)) == [0] * (query > 0)
