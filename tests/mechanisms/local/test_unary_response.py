"""Reports of one bit per category: the bits stand where they belong, and nowhere else."""

import math
from fractions import Fraction

import numpy as np
import pytest
from mpmath import mp

import deniable as dp
from deniable.mechanisms import UnaryResponse

BAD = [
    *[{"epsilon": bad} for bad in (0, -1.0, math.nan, math.inf, "1")],
    *[{"categories": bad} for bad in (1, 0, 2.5, True)],
    *[{"kind": bad} for bad in ("best", "", None)],
]


@pytest.mark.parametrize("bad", BAD, ids=str)
def test_parameters_that_mean_nothing_are_refused(bad):
    with pytest.raises(dp.BadParameter):
        UnaryResponse(**({"epsilon": 1.0, "categories": 3} | bad))


def test_parameters_are_plain_numbers():
    made = UnaryResponse(epsilon=2, categories=np.int64(3))
    assert (type(made.epsilon), type(made.categories)) == (float, int)


@pytest.mark.parametrize("kind", ["symmetric", "optimised"])
@pytest.mark.parametrize("epsilon", [1e-6, 0.1, 1.0, 2.3, 7.7, 30.0])
def test_chances_are_those_of_the_protocol_and_never_tell_more(kind, epsilon):
    """p = ½, q = 1/(e^ε + 1); or p = 1 − q = e^(ε/2)/(e^(ε/2) + 1). p(1 − q)/(q(1 − p)) ≤ e^ε."""
    m = UnaryResponse(epsilon=epsilon, categories=3, kind=kind)
    p, q = m.true_bit, m.other_bit
    half = mp.mpf(epsilon) / 2
    wanted = (mp.mpf(1) / 2, 1 / (mp.exp(epsilon) + 1))
    if kind == "symmetric":
        wanted = (1 / (1 + mp.exp(-half)), 1 / (1 + mp.exp(half)))
    for found, exact in zip((p, q), wanted, strict=True):
        assert abs(mp.mpf(found.numerator) / found.denominator / exact - 1) < 1e-14
        assert found.denominator & (found.denominator - 1) == 0  # a power of two
    ratio = Fraction(p * (1 - q), q * (1 - p))
    assert mp.mpf(ratio.numerator) / ratio.denominator <= mp.exp(mp.mpf(epsilon))


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
