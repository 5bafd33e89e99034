"""Selection has its law, decides every near tie rightly, and takes only sound parameters."""

from fractions import Fraction
from itertools import pairwise

import mpmath
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import integrate, stats
from tests import goodness

from deniable.errors import BadParameter
from deniable.sampling import select
from deniable.sampling.select import _Rival, gumbel_max, noisy_max, noisy_top
from deniable.sampling.select_noise import NOISES, _waiting

# Fewer than 20 comparisons are made at this rate: together they alarm falsely once in 10⁷ runs.
ALPHA = 5e-9
TRIALS = 5000
THIRD = mpmath.mpf(1) / 3
KINDS = ["laplace", "exponential", "gumbel"]


def noise_of(kind, word):
    """The noise whose further digits are all 0101…, to 60 digits."""
    u = ((word >> 1) + THIRD) / mpmath.mpf(2) ** 63
    if kind == "gumbel":
        # Its further digits are those of 1 − U.
        u = ((word >> 1) + 1 - THIRD) / mpmath.mpf(2) ** 63
        return -mpmath.log(-mpmath.log1p(-u))
    return mpmath.log(u) if kind == "laplace" and word & 1 else -mpmath.log(u)


def law_of(kind, scores):
    """P(index) by quadrature over the value of its key."""
    density, below = {
        "laplace": (stats.laplace.pdf, stats.laplace.cdf),
        "exponential": (stats.expon.pdf, stats.expon.cdf),
        "gumbel": (stats.gumbel_r.pdf, stats.gumbel_r.cdf),
    }[kind]

    def chance(i):
        def integrand(x):
            others = [below(x - s) for j, s in enumerate(scores) if j != i]
            return density(x - scores[i]) * np.prod(others)

        edges = sorted({-30.0, *scores, 40.0})
        return sum(integrate.quad(integrand, *pair)[0] for pair in pairwise(edges))

    return np.array([chance(i) for i in range(len(scores))])


def fits(indices, probabilities):
    seen = np.bincount(indices, minlength=len(probabilities))
    return goodness.cells(seen, probabilities) > ALPHA


@pytest.mark.statistical
def test_the_exponential_mechanism_is_the_softmax():
    scores = np.array([0.0, 1.0, 2.5, -1.0])
    chances = np.exp(0.7 * scores) / np.exp(0.7 * scores).sum()
    drawn = [gumbel_max(scores, 0.7) for _ in range(TRIALS)]
    assert fits(drawn, chances)
    wrong = np.exp(scores) / np.exp(scores).sum()
    assert not fits(drawn, wrong)


@pytest.mark.statistical
def test_widths_weigh_intervals():
    widths, scores = [1, 7, 2.0**70, 0.125], np.array([0.0, 1.0, -48.0, 3.0])
    chances = np.array(widths) * np.exp(scores)
    drawn = [gumbel_max(scores, 1, widths=widths) for _ in range(TRIALS)]
    assert fits(drawn, chances / chances.sum())
    drawn = [gumbel_max(scores[:3], 1, widths=[1, 7, 2**70]) for _ in range(TRIALS // 2)]
    assert fits(drawn, chances[:3] / chances[:3].sum())


@pytest.mark.statistical
@pytest.mark.parametrize("kind", KINDS)
def test_the_noisy_maximum_has_the_law_of_real_noise(kind):
    scores = [0.0, 1.0, 2.0]
    chances = law_of(kind, scores)
    assert abs(chances.sum() - 1) < 1e-6
    assert fits([noisy_max(np.array(scores) * 3, 3, noise=kind) for _ in range(TRIALS)], chances)
    wrong = [noisy_max(np.array(scores) * 3, 4.5, noise=kind) for _ in range(TRIALS)]
    assert not fits(wrong, chances)


@pytest.mark.statistical
def test_the_top_two_with_gumbel_noise_are_two_rounds_without_replacement():
    weights = np.exp([0.0, 1.0, 2.0])
    pairs = [(i, j) for i in range(3) for j in range(3) if i != j]
    p = weights / weights.sum()
    chances = [p[i] * p[j] / (1 - p[i]) for i, j in pairs]
    drawn = [pairs.index(tuple(noisy_top([0.0, 1.0, 2.0], 1, 2).tolist())) for _ in range(TRIALS)]
    assert fits(drawn, chances)


@pytest.mark.statistical
def test_a_million_candidates_are_equally_likely():
    """The winner's place among equals is uniform: Kolmogorov–Smirnov over 200 winners."""
    winners = [gumbel_max(np.zeros(50_000), 1) for _ in range(200)]
    assert goodness.law((np.array(winners) + 0.5) / 50_000, lambda share: share) > ALPHA


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("gap", [0.0, 0.3, -2.0])
def test_near_ties_are_decided_rightly_at_every_distance(kind, gap, scripted, monkeypatch):
    """The second word at distance 2⁰ … 2⁴⁵ from a tie with the first, against mpmath."""
    compared = []
    exact = _Rival.compare
    monkeypatch.setattr(_Rival, "compare", lambda a, b: compared.append(1) or exact(a, b))
    generator, tried = np.random.default_rng(3), 0
    with mpmath.workdps(60):
        for _ in range(6):
            first = int(generator.integers(2**63)) * 2 + int(gap < 0)
            target = noise_of(kind, first) - mpmath.mpf(gap)
            if kind == "gumbel":
                u = -mpmath.expm1(-mpmath.exp(-target))
            else:
                u = mpmath.exp(-abs(target))
            sign = int(kind == "laplace" and target < 0)
            for step in (s * 2**power for power in range(46) for s in (-1, 0, 1)):
                value = int(mpmath.floor(u * 2**63)) + step
                tie = gap == 0 and value == first >> 1  # the same digits for ever
                if tie or not 0 <= value < 2**63 or (kind == "exponential" and target < 0):
                    continue
                second = 2 * value + sign
                larger = noise_of(kind, second) + mpmath.mpf(gap) > noise_of(kind, first)
                source = scripted([first, second])
                assert noisy_max([0.0, gap], 1, noise=kind, source=source) == int(larger)
                tried += 1
    assert tried > 250
    assert 0 < len(compared) < tried


def test_a_selection_that_trusts_float64_is_caught(scripted, monkeypatch):
    """Two words apart by one in the last bit, in the order that float64 cannot tell."""
    words = [2**63 + 2, 2**63]
    assert noisy_max([0.0, 0.0], 1, noise="exponential", source=scripted(words)) == 1
    monkeypatch.setattr(_Rival, "compare", lambda a, b: a.index - b.index)
    assert noisy_max([0.0, 0.0], 1, noise="exponential", source=scripted(words)) == 0


@given(st.integers(0, 2**64 - 1))
def test_the_float_bounds_hold(word):
    """True noise lies between the bounds, and below the bound from above, up to 2⁻³⁸."""
    words = np.array([word], dtype=np.uint64)
    slack = mpmath.mpf(2) ** -38
    with mpmath.workdps(60), np.errstate(divide="ignore"):
        for kind in KINDS:
            low, high = NOISES[kind].ends(words)
            noise = noise_of(kind, word)
            assert mpmath.mpf(low[0]) - slack <= noise <= mpmath.mpf(high[0]) + slack
            assert noise <= mpmath.mpf(NOISES[kind].above(words)[0]) + slack


@given(st.integers(1, 2**63 - 1), st.integers(0, 62))
def test_small_waiting_times_keep_their_relative_precision(value, shift):
    u = max(1, value >> shift)
    with mpmath.workdps(60):
        exact = -mpmath.log1p(-mpmath.mpf(u) / 2**63)
        assert abs(float(_waiting(np.array([u], dtype=np.uint64))[0] / exact) - 1) < 2.0**-45


@pytest.mark.parametrize("kind", KINDS)
def test_the_top_k_are_the_k_largest_in_order(kind, scripted):
    """Five hundred candidates, every k, against a sort in mpmath."""
    generator = np.random.default_rng(8)
    words = generator.integers(0, 2**64, 500, dtype=np.uint64)
    scores = generator.normal(size=500) * 2
    with mpmath.workdps(40):
        keys = [
            mpmath.mpf(s) / 2 + noise_of(kind, int(w)) for s, w in zip(scores, words, strict=True)
        ]
    order = sorted(range(500), key=lambda i: -keys[i])
    for k in (1, 2, 33, 250, 500):
        got = noisy_top(scores, 2, k, noise=kind, source=scripted(words))
        assert got.tolist() == order[:k]


def test_candidates_in_every_chunk_are_seen():
    scores = np.zeros(100_000)
    for place in (0, 32_767, 32_768, 99_999):
        spiked = scores.copy()
        spiked[place] = 1e4
        assert gumbel_max(spiked, 1) == place
    spiked[[5, 50_000]] = 3e4, 2e4
    assert noisy_top(spiked, 1, 3).tolist() == [5, 50_000, 99_999]


def test_huge_scores_do_not_overflow():
    assert gumbel_max([-1.7e308, 1.7e308], 1e-270) == 1
    assert gumbel_max([1.7e308, -1.7e308, -np.inf], 2.0**800) == 0
    assert noisy_top([0.0, -1e308, -1.5e308], 1e-3, 3).tolist() == [0, 1, 2]
    assert noisy_top([-1.5e308, -1e308, 1e308], 1e-3, 3).tolist() == [2, 1, 0]
    assert {gumbel_max([1e270, 1e270 * (1 - 2**-53)], 1e-270) for _ in range(60)} == {0, 1}


def test_a_tiny_rate_makes_a_fair_choice_of_the_whole_range():
    """rate·range = 2⁻⁸⁰⁰: both ends of the floats are as likely."""
    drawn = [gumbel_max([-1e60, 1e60], 2.0**-899) for _ in range(400)]
    assert 100 < sum(drawn) < 300  # P < 1e-22


def test_what_cannot_win_never_does():
    assert gumbel_max([-np.inf, -1e300, -np.inf], 1) == 1
    assert {gumbel_max([5.0, 0.0, 0.0], 100, widths=[0, 1, 1]) for _ in range(60)} == {1, 2}
    assert gumbel_max([0.0, 0.0], 1, widths=[2**900, 1]) == 0
    assert gumbel_max([1], Fraction(1, 3)) == 0


def test_bad_parameters_are_refused_before_anything_is_drawn(scripted, bad_numbers):
    source = scripted()
    bad_scores = [
        [],
        [[1.0]],
        [np.nan],
        [1.0, np.inf],
        ["a"],
        [True],
        None,
        3.0,
        [-np.inf],
        [2**53 + 1, 0],
        [0, -(2**53) - 1],
        np.array([2**53 + 1], dtype=np.uint64),
        [2**54],
    ]
    for scores in [*bad_scores, [1j], [[1.0], [1.0, 2.0]]]:
        with pytest.raises(BadParameter):
            gumbel_max(scores, 1, source=source)
        with pytest.raises(BadParameter):
            noisy_max(scores, 1, source=source)
    for bad in [*bad_numbers, 10**400]:
        with pytest.raises(BadParameter):
            gumbel_max([1.0], bad, source=source)
        with pytest.raises(BadParameter):
            noisy_max([1.0], bad, source=source)
    for k in (0, 3, 1.0, True, "1", None):
        with pytest.raises(BadParameter):
            noisy_top([1.0, 2.0, -np.inf], 1, k, source=source)
    for widths in (
        [1.0],
        [1.0, -1.0],
        [np.nan, 1],
        [np.inf, 1],
        [0, 0],
        ["1", "2"],
        [True, True],
        [2**1000, 1],
    ):
        with pytest.raises(BadParameter):
            gumbel_max([1.0, 2.0], 1, widths=widths, source=source)
    with pytest.raises(BadParameter):
        noisy_max([1.0], 1, noise="gaussian", source=source)
    with pytest.raises(BadParameter):
        gumbel_max([1.0], 1, source=np.random.default_rng())
    assert source.drawn == 0


WIDE = np.array([1, 2], dtype=np.longdouble)


@pytest.mark.skipif(WIDE.dtype.itemsize <= 8, reason="here a long double is a double")
def test_numbers_that_float64_cannot_hold_are_refused():
    with pytest.raises(BadParameter):
        noisy_max(WIDE, 1.0)
    with pytest.raises(BadParameter):
        gumbel_max([1.0, 2.0], 1, widths=WIDE)


def test_few_candidates_are_ranked_without_pruning(monkeypatch):
    monkeypatch.delattr(select, "_pruned")
    assert noisy_top(np.arange(5.0) * 1e6, 1, 3, noise="laplace").tolist() == [4, 3, 2]
    with pytest.raises(NameError):
        noisy_top(np.arange(5000.0), 1, 3)
