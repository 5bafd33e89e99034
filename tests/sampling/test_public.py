"""Public randomness repeats, and is not a Source."""

import numpy as np
import pytest
from scipy import special

from deniable.errors import BadParameter
from deniable.sampling import PublicRandom, Source
from deniable.sampling.public import public_directions


def test_the_same_seed_gives_the_same_numbers():
    first, second = PublicRandom(3).generator.random(5), PublicRandom(3).generator.random(5)
    assert first.tolist() == second.tolist()
    assert first.tolist() != PublicRandom(4).generator.random(5).tolist()
    assert not isinstance(PublicRandom(3), Source)
    assert repr(PublicRandom(3)) == "PublicRandom(3)"


@pytest.mark.parametrize("seed", [-1, 0.5, True, None, "3"])
def test_a_seed_is_a_whole_number(seed):
    with pytest.raises(BadParameter, match="seed"):
        PublicRandom(seed)


@pytest.mark.parametrize("dimension", [1, 2, 3, 4, 5, 8, 9])
def test_directions_have_length_one_and_are_found_without_those_before(dimension):
    found = public_directions(7, dimension, count=6)
    assert found.shape == (6, dimension)
    assert np.linalg.norm(found, axis=1) == pytest.approx(np.ones(6))
    assert len({tuple(row) for row in found.tolist()}) == (6 if dimension > 1 else 2)
    for i in range(6):
        assert public_directions(7, dimension, first=i).tolist() == found[i : i + 1].tolist()
    assert (public_directions(8, dimension, count=6) != found).any()


def test_directions_are_uniform_on_the_sphere():
    """Of 4,000 fixed ones: their mean is 0 and their squares are a third each."""
    found = public_directions(1, 3, count=4000)
    assert np.abs(found.mean(axis=0)).max() < 0.05
    assert (found**2).mean(axis=0) == pytest.approx([1 / 3] * 3, abs=0.02)
    ranks = (np.arange(4000) + 0.5) / 4000
    assert np.abs((np.sort(found[:, 0]) + 1) / 2 - ranks).max() < 0.04  # uniform: Archimedes


def test_words_become_normal_numbers_in_the_middle_of_their_cells():
    words = np.random.Philox(key=7, counter=10).random_raw(8)[:5]
    normal = special.ndtri([(int(word >> np.uint64(12)) + 0.5) / 2**52 for word in words])
    assert public_directions(7, 5, first=5)[0] == pytest.approx(normal / np.linalg.norm(normal))
