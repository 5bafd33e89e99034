"""Integers, coins, binomials and shuffles are exact, in every cell of every decision."""

import itertools
import math
from collections import Counter
from fractions import Fraction

import mpmath
import numpy as np
import pytest
from scipy import stats
from tests import goodness

from deniable.errors import BadParameter
from deniable.sampling import (
    PublicRandom,
    below,
    bernoulli,
    bernoulli_bits,
    bernoulli_exp,
    binomial,
    permutation,
    poisson_mask,
    uniform,
)
from deniable.sampling.source import Source

FULL = 2**64
ALMOST = 1 - Fraction(1, 2**1000)
ALPHA = 1e-8  # for each statistical test; there are fewer than 30


@pytest.mark.parametrize("bound", [1, 2, 3, 7, 10, 1000, 2**32 + 1, 2**63 - 1, 2**63 + 1, FULL - 1])
def test_integers_below_a_bound_are_remainders_of_complete_runs(bound, scripted):
    """Each residue has exactly ⌊2⁶⁴/bound⌋ accepted words: the first and last runs are checked."""
    limit = FULL // bound * bound
    words = [0, 1, bound - 1, bound, limit // 2, *range(limit - 50, limit)]
    source = scripted(word for word in words if 0 <= word < limit)
    drawn = below(bound, len(source.script), source=source)
    assert drawn.tolist() == [word % bound for word in source.script]
    assert drawn.dtype == (np.int64 if bound <= 2**63 else np.uint64)


@pytest.mark.parametrize("eighths", range(9))
def test_packed_coins_compare_every_bit_with_the_chance(eighths, scripted):
    """Lane i of three words spells the number i/8 (modulo 1): it is heads if that is below p."""
    words = [sum((lane % 8 >> digit & 1) << lane for lane in range(64)) for digit in (2, 1, 0)]
    drawn = int(bernoulli_bits(Fraction(eighths, 8), 1, source=scripted(words))[0])
    assert [drawn >> lane & 1 for lane in range(64)] == [i % 8 < eighths for i in range(64)]


def test_packed_coins_are_independent_and_have_their_chance():
    words = bernoulli_bits(Fraction(1, 3), 4000)
    bits = np.unpackbits(words.view(np.uint8)).reshape(-1, 64)
    assert goodness.count(int(bits.sum()), bits.size, 1 / 3) > ALPHA
    pairs = np.bincount(2 * bits[:, 0:32].ravel() + bits[:, 32:64].ravel(), minlength=4)
    assert goodness.cells(pairs, [4 / 9, 2 / 9, 2 / 9, 1 / 9]) > ALPHA
    assert bernoulli_bits(0.5, 0).size == 0


def test_words_of_the_incomplete_run_are_drawn_again(scripted):
    limit = FULL // 1000 * 1000
    source = scripted([limit, 5, FULL - 1, limit - 1, limit + 1, 1234, 77])
    assert below(1000, 4, source=source).tolist() == [77, 5, 234, 999]
    assert source.drawn == 7


@pytest.mark.parametrize("bound", [2**64, 2**63])
def test_powers_of_two_use_every_word(bound, scripted):
    words = [0, 1, FULL - 1, 2**63, 2**63 - 1]
    assert below(bound, 5, source=scripted(words)).tolist() == [word % bound for word in words]


def test_bounds_beyond_a_word_give_python_integers(scripted):
    bound = 10**40
    drawn = below(bound, 200).tolist()
    assert all(type(x) is int and 0 <= x < bound for x in drawn)
    assert max(drawn) > bound // 2  # false alarm 2⁻²⁰⁰
    ones = [FULL - 1] * 3
    assert below(bound, 1, source=scripted(ones, then=0)).tolist() == [0]  # too large: drawn again


@pytest.mark.parametrize("p", [Fraction(1, 3), 0.1, Fraction(2, 7), 1e-30, 1 - 2.0**-53, 0.5])
def test_coins_next_to_their_probability_are_exact(p, scripted):
    exact = Fraction(p)
    floor = int(exact * FULL)
    words = [w for d in range(-3, 4) if 0 <= (w := floor + d) < FULL] + [0, FULL - 1]
    for then, tail in ((0, Fraction(0)), (FULL - 1, ALMOST), (0x5555555555555555, Fraction(1, 3))):
        wanted = [(word + tail) / FULL < exact for word in words]
        if (floor + tail) / FULL == exact:
            continue  # infinitely many bits equal to p: probability 0
        assert bernoulli(p, len(words), source=scripted(words, then=then)).tolist() == wanted


def test_certain_coins_are_certain(scripted):
    assert bernoulli(1, 5, source=scripted([FULL - 1] * 5)).all()
    assert not bernoulli(0, 5, source=scripted([0] * 5)).any()
    assert bernoulli_exp(0, 5, source=scripted([FULL - 1] * 5)).all()
    assert not bernoulli_exp(10**6, 5).any()


@pytest.mark.parametrize("x", [Fraction(1, 3), 1e-9, 0.7, 5, 30.25, 44, 700.0, 1e-300])
def test_exponential_coins_next_to_their_probability_are_exact(x, scripted):
    with mpmath.workprec(1500):
        exact = Fraction(x)
        chance = mpmath.exp(-mpmath.mpf(exact.numerator) / exact.denominator) * FULL
        floor = int(mpmath.floor(chance))
        steps = [0, *(sign << power for power in range(50) for sign in (1, -1))]
        words = [w for d in steps if 0 <= (w := floor + d) < FULL]
        wanted = [bool(mpmath.mpf(word) + mpmath.mpf(1) / 3 < chance) for word in words]
    assert bernoulli_exp(x, len(words), source=scripted(words)).tolist() == wanted
    if isinstance(x, float):
        source = scripted(words)
        assert bernoulli_exp(np.full(len(words), x), source=source).tolist() == wanted
        assert source.drawn >= len(words)


def test_exponential_coins_take_a_rate_each():
    rates = np.array([[0.0, 800.0], [1e9, 0.0]])
    assert bernoulli_exp(rates).tolist() == [[True, False], [False, True]]


@pytest.mark.parametrize("p", [Fraction(1, 2), Fraction(3, 4), Fraction(5, 8), Fraction(1, 8)])
@pytest.mark.parametrize("trials", [1, 2, 3])
def test_enumerating_all_words_gives_the_binomial_law_exactly(p, trials, scripted, monkeypatch):
    """Only the first bits of a word matter: run over all of them, for each binary digit of p."""
    monkeypatch.setattr(uniform, "_FEW_COINS", 0)
    digits = p.denominator.bit_length() - 1
    law = Counter()
    words = [top << 61 for top in range(8)]
    for script in itertools.product(words, repeat=digits):
        law[int(binomial(trials, p, source=scripted(script))[0])] += Fraction(1, 8**digits)
    exact = {k: math.comb(trials, k) * p**k * (1 - p) ** (trials - k) for k in range(trials + 1)}
    assert law == exact


@pytest.mark.statistical
@pytest.mark.parametrize(
    ("trials", "p"),
    [(5, Fraction(1, 3)), (64, 0.9), (65, 0.01), (1000, 0.3), (100_000, Fraction(1, 7))],
)
def test_binomials_have_their_law(trials, p):
    count = 2000 if trials > 10**4 else 100_000
    drawn = binomial(trials, p, count)
    cuts = np.unique(stats.binom.ppf(np.linspace(0.05, 0.95, 15), trials, float(p)))
    chances = np.diff(stats.binom.cdf(cuts, trials, float(p)), prepend=0, append=1)

    def cells(drawn):
        return np.bincount(np.searchsorted(cuts, drawn), minlength=len(chances))

    assert goodness.cells(cells(drawn), chances) > ALPHA
    if trials * float(p) > 5:
        off = binomial(trials, min(1, 1.03 * float(p)), count)
        assert goodness.cells(cells(off), chances) < ALPHA


def test_large_binomials_are_near_their_mean():
    drawn = binomial(10**7, Fraction(1, 3), 3)
    assert (abs(drawn - 10**7 / 3) < 7 * math.sqrt(10**7 * 2 / 9)).all()  # false alarm 1e-11


def test_degenerate_binomials_are_constants():
    assert binomial(9, 1, 3).tolist() == [9, 9, 9]
    assert binomial(9, 0, 3).tolist() == [0, 0, 0]
    assert binomial(0, 0.5, 3).tolist() == [0, 0, 0]
    assert binomial(10**6, 0.5, 0).shape == (0,)


@pytest.mark.statistical
def test_permutations_are_uniform():
    seen = Counter(tuple(permutation(4).tolist()) for _ in range(24_000))
    assert len(seen) == 24
    assert goodness.cells(list(seen.values()), np.full(24, 1 / 24)) > ALPHA
    assert sorted(permutation(1000).tolist()) == list(range(1000))
    assert permutation(0).shape == (0,)


def test_tied_keys_are_drawn_again(scripted):
    source = scripted([5, 9, 5, 3, 2, 1])
    assert permutation(3, source=source).tolist() == [2, 1, 0]


@pytest.mark.statistical
def test_a_poisson_sample_has_its_rate():
    inside = int(poisson_mask(10**6, 0.01).sum())
    assert goodness.count(inside, 10**6, 0.01) > ALPHA


def test_bad_parameters_draw_nothing(scripted):
    source = scripted()
    for bad in [-0.5, 1.5, float("nan"), float("inf"), True, "1", None, [1.0]]:
        calls = [
            lambda bad: bernoulli(bad, 3, source=source),
            lambda bad: binomial(3, bad, source=source),
            lambda bad: poisson_mask(3, bad, source=source),
            lambda bad: below(bad, 3, source=source),
        ]
        for call in calls:
            with pytest.raises(BadParameter):
                call(bad)
    for bad in [-1, -0.5, float("nan"), float("inf"), True, "1", None, [-1.0], np.array([np.nan])]:
        with pytest.raises(BadParameter):
            bernoulli_exp(bad, source=source)
    for bad in [-1, 1.5, True, "3", None]:
        for call in (
            lambda bad: bernoulli(0.5, bad, source=source),
            lambda bad: below(5, bad, source=source),
            lambda bad: binomial(bad, 0.5, source=source),
            lambda bad: binomial(5, 0.5, bad, source=source),
            lambda bad: permutation(bad, source=source),
            lambda bad: poisson_mask(bad, 0.5, source=source),
        ):
            with pytest.raises(BadParameter):
                call(bad)
    with pytest.raises(BadParameter):
        binomial(2**51, 0.5, source=source)
    assert source.drawn == 0


def test_public_randomness_is_refused_for_noise():
    public = PublicRandom(3)
    for call in (below, bernoulli, bernoulli_exp, permutation):
        with pytest.raises(BadParameter, match="source"):
            call(1, source=public)


class Counting(Source):
    """Words of all ones; says how many were asked for at a time."""

    def __init__(self):
        self.asked = []

    def words(self, count):
        self.asked.append(count)
        return np.full(count, FULL - 1, dtype=np.uint64)


@pytest.mark.parametrize(
    ("at_once", "trials", "asked"),
    [
        (7 * 128 + 3, [200] * 7, [14, 14]),
        (7 * 128 - 1, [200] * 7, [14, 14]),
        (7 * 127 - 1, [128] * 7, [14, 7]),
        (1, [64, 65, 1], [3, 1]),
        (1, [64, 64], [2]),
        (1, [0, 130], [1, 1, 1]),
        (2**26, [0, 130, 64], [4]),
    ],
)
def test_halves_are_counted_in_pieces_of_limited_size(at_once, trials, asked, monkeypatch):
    monkeypatch.setattr(uniform, "_BITS_AT_ONCE", at_once)
    source = Counting()
    found = uniform._binomial_half(np.array(trials), source)
    assert found.tolist() == trials
    assert source.asked == asked
