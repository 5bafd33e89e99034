"""The columns and the residual together are the law: counted out, and forced."""

from dataclasses import replace
from fractions import Fraction

import mpmath
import numpy as np
import pytest

from deniable.sampling.gaussian.table import RESIDUAL, Weights, _vose, alias_table

HALF = Fraction(1, 2)
SIGMAS = [
    Fraction(1, 3),
    Fraction(1),
    Fraction(7, 2),
    Fraction(10),
    Fraction(2**-900),
    Fraction(63),
]
STAIRCASE = Weights(rate=Fraction(1, 2 << 12), shift=HALF, first=Fraction(1))


def discrete(sigma):
    return Weights(rate=1 / (2 * sigma * sigma), shift=Fraction(0), first=HALF)


def probabilities(weights):
    """p₀, p₁, … in mpmath, to 60 digits."""
    with mpmath.workdps(60):
        terms = []
        while not terms or terms[-1] > mpmath.mpf(10) ** -55 or len(terms) < 2:
            distance = max(Fraction(0), len(terms) - weights.shift)
            exponent = weights.rate * distance * distance
            terms.append(mpmath.exp(-mpmath.mpf(exponent.numerator) / exponent.denominator))
        terms[0] *= mpmath.mpf(weights.first.numerator) / weights.first.denominator
        total = mpmath.fsum(terms)
        return [term / total for term in terms]


def lower_bounds_hold(table):
    """aₖ ≤ pₖ·2ᵇ in every column."""
    p = probabilities(table.weights)
    return all(unit <= p[k] * 2**table.bits for k, unit in enumerate(table.units))


@pytest.mark.parametrize("sigma", SIGMAS[:4])
@pytest.mark.parametrize("bits", [8, 12])
def test_every_word_counted_gives_the_columns_and_the_residual(sigma, bits):
    """A reduced table, all 2ᵇ⁺¹ words: each label has exactly its units, with either sign."""
    table = alias_table(discrete(sigma), mirror=0, bits=bits)
    labels = table.pick(np.arange(2 << bits, dtype=np.uint64)).tolist()
    left = (1 << bits) - sum(table.units)
    assert labels.count(RESIDUAL) == 2 * left
    assert labels.count(0) == 2 * table.units[0]
    for k, unit in enumerate(table.units[1:], start=1):
        assert labels.count(k) == labels.count(-k) == unit


@pytest.mark.parametrize("weights", [*map(discrete, SIGMAS[:4]), STAIRCASE])
@pytest.mark.parametrize("bits", [12, 63])
def test_the_residual_is_what_the_columns_leave(weights, bits):
    """Inverted on a grid, against cumulated pₖ·2ᵇ − aₖ: so columns + residual = law."""
    table = alias_table(weights, mirror=0, bits=bits)
    left = (1 << bits) - sum(table.units)
    p = probabilities(weights)
    with mpmath.workdps(60):
        ends, total = [], mpmath.mpf(0)
        for k, probability in enumerate(p):
            total += probability * 2**bits - (table.units[k] if k < len(table.units) else 0)
            ends.append(total)
        assert abs(total - left) < mpmath.mpf(10) ** -30 * 2**bits
        for cell in range(1, 256, 9):
            uniform = (cell << 120) + 12345
            k = table._invert(left * uniform, left * (uniform + 1), 128)
            value = mpmath.mpf(uniform) / 2**128 * left
            assert (ends[k - 1] if k else 0) <= value < ends[k]


@pytest.mark.parametrize("weights", [*map(discrete, SIGMAS), STAIRCASE])
def test_no_column_has_more_than_its_share_and_little_is_left(weights):
    table = alias_table(weights, mirror=1)
    assert lower_bounds_hold(table)
    assert 0 < (1 << 63) - sum(table.units) < 2**63 * 2.0**-39


def test_the_check_of_the_columns_can_fail():
    table = alias_table(discrete(Fraction(10)), mirror=0)
    raised = (table.units[0] + 2**25, *table.units[1:])
    assert not lower_bounds_hold(replace(table, units=raised))


def test_the_residual_draws_more_digits_at_an_edge(scripted):
    """A uniform on the edge between two columns to 128 digits is told apart by the next ones."""
    table = alias_table(discrete(Fraction(10)), mirror=0)
    left = (1 << 63) - sum(table.units)
    with mpmath.workdps(90):
        p = probabilities(table.weights)
        edge = (p[0] * 2**63 - table.units[0]) / left * 2**128
        low, high = [int(mpmath.floor(edge))] * 2
    words = [low & (2**64 - 1), low >> 64]
    for then, expected in ((0, 0), (2**64 - 1, 1)):
        source = scripted(words, then=then)
        assert table.residual(source) == expected
        assert source.drawn == 4
    assert low == high
    assert table.residual(scripted([0, 0], then=0)) == 0


def test_the_residual_reaches_the_tail(scripted):
    table = alias_table(discrete(Fraction(10)), mirror=0)
    far = table.residual(scripted([2**64 - 1, 2**64 - 1], then=0))
    assert far >= len(table.units)


def test_a_source_of_zero_variance_is_a_point(scripted):
    """σ = 2⁻⁹⁰⁰: 0 and the residual are all there is."""
    table = alias_table(discrete(SIGMAS[4]), mirror=0)
    assert table.units[0] > 2**62
    assert set(table.pick(np.arange(10**5, dtype=np.uint64) << np.uint64(40)).tolist()) <= {
        0,
        RESIDUAL,
    }


@pytest.mark.parametrize("weights", [*map(discrete, SIGMAS), STAIRCASE])
def test_float_weights_end_just_beyond_the_last_exponent(weights):
    found = weights.floats()
    rate = float(min(weights.rate, 2**20))
    exponents = [rate * max(0.0, k - float(weights.shift)) ** 2 for k in range(len(found) + 1)]
    first = next(k for k, exponent in enumerate(exponents) if exponent >= 36.5)
    assert len(found) == first + 1
    assert found[1:] == pytest.approx(np.exp(-np.array(exponents[1:-1])))
    assert found[0] == float(weights.first)


@pytest.mark.parametrize("last", [0, 2**64 - 1])
def test_a_residual_draw_has_a_fair_sign_of_its_own(last, scripted):
    table = alias_table(discrete(Fraction(10)), mirror=0)
    position = int(np.flatnonzero(table.labels == RESIDUAL)[0])
    index, second = divmod(position, 2)
    size = int(table.mask) + 1
    word = index + (2**64 - size if second else 0)
    assert table.pick(np.array([word], dtype=np.uint64))[0] == RESIDUAL
    source = scripted([word, 2**64 - 1, 2**64 - 1, 0, 0, last], then=0)
    (drawn,) = table.many(1, source)
    assert (drawn < 0) == (last > 0)
    assert abs(drawn) >= len(table.units)


@pytest.mark.parametrize(
    ("units", "levels", "others"),
    [
        ([4, 4, 4], [0, 0, 0], [0, 1, 2]),
        ([6, 2, 4], [0, 2, 0], [0, 0, 2]),
        ([4, 2, 6], [0, 2, 0], [0, 2, 2]),
        ([1, 9, 2], [1, 0, 2], [1, 1, 1]),
        ([12, 0, 0], [0, 0, 0], [0, 0, 0]),
        ([3, 3, 6], [3, 3, 0], [2, 2, 2]),
        ([7, 1, 4], [0, 1, 0], [0, 0, 2]),
    ],
)
def test_urns_hold_their_own_label_and_one_other(units, levels, others):
    """All urns hold 4; a full one is left alone."""
    assert _vose(units, 4) == (levels, others)
