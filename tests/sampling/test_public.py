"""Public randomness repeats, and is no Source."""

import pytest

from deniable.errors import BadParameter
from deniable.sampling import PublicRandom, Source


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
