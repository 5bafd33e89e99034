"""Reports of one bit per category: the bits stand where they belong, and nowhere else."""

import numpy as np
import pytest

from deniable.mechanisms import UnaryResponse


@pytest.mark.parametrize("kind", ["symmetric", "optimised"])
@pytest.mark.parametrize("categories", [2, 63, 64, 65, 128, 130])
def test_bits_beyond_the_last_category_are_not_set(kind, categories):
    """The last bit is set with odds of 0.37 or more: for none of 2,000 people, below 1e-400."""
    m = UnaryResponse(epsilon=0.5, categories=categories, kind=kind)
    values = np.arange(2000) % categories
    words = m.words(values)
    assert words.shape == (2000, -(-categories // 64))
    last = 0
    for word in words[:, -1].tolist():
        last |= word
    assert last.bit_length() == categories - 64 * (words.shape[1] - 1)


@pytest.mark.parametrize("categories", [2, 64, 65, 130])
def test_at_a_large_epsilon_the_own_bit_stands_alone(categories):
    """A wrong bit has odds of e⁻³⁰ or less: 2e-9 for all of them."""
    m = UnaryResponse(epsilon=60.0, categories=categories, kind="symmetric")
    values = np.arange(categories)
    assert m.draw(values).tolist() == np.eye(categories, dtype=int).tolist()
    assert m.draw([[0, 1], [1, 0]]).shape == (2, 2, categories)
