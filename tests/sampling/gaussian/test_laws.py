"""Gaussian noise has its law on every path, takes only sound parameters, and extends its digits."""

from fractions import Fraction

import mpmath
import numpy as np
import pytest
from scipy import stats
from tests import goodness

from deniable.errors import BadParameter
from deniable.sampling.gaussian import discrete_gaussian, rounded_gaussian
from deniable.sampling.gaussian.laws import _cached_law, _Law

# No more than 100 comparisons are made at this rate: together they alarm falsely once in 10⁶ runs.
ALPHA = 1e-8
N = 4_000_000


def exact_cells(sigma, edges):
    """P(x < edge) of the discrete Gaussian.

    Beyond σ = 60 it is the normal law's at half integers, by the midpoint rule: off by a part
    (z² − 1)/24σ² of a cell, less than a hundredth of what chance does to it here.
    """
    sigma = float(sigma)
    if sigma > 60:
        return stats.norm.cdf((edges - 0.5) / sigma)
    x = np.arange(-int(14 * sigma) - 5, int(14 * sigma) + 6)
    weight = np.exp(-(x**2) / (2 * sigma**2))
    below = np.concatenate([[0.0], np.cumsum(weight / weight.sum())])
    return below[np.searchsorted(x, edges)]


def fits(drawn, *, sigma, below):
    """Cells about σ/4 wide out to 5 σ, and what lies beyond."""
    edges = np.unique(np.rint(float(sigma) * np.linspace(-5, 5, 41)))
    probability = np.diff(below(edges), prepend=0, append=1)
    seen = np.histogram(drawn.astype(np.float64), bins=[-np.inf, *edges, np.inf])[0]
    return goodness.cells(seen, probability) > ALPHA


def spread_fits(drawn, *, sigma):
    """The mean of x²/σ². For σ > 60 the sum over the integers is the integral, to 16 digits."""
    sigma = float(sigma)
    x = np.arange(-int(20 * sigma) - 5, int(20 * sigma) + 6) if sigma <= 60 else None

    def exponent(t):
        """ln E exp(tX²/σ²): tilting changes the variance."""
        if x is None:
            return -np.log1p(-2 * t) / 2
        z = (x / sigma) ** 2
        return np.log(np.exp(z * (t - 0.5)).sum() / np.exp(-z / 2).sum())

    scaled = (drawn / sigma) ** 2
    return goodness.mean(scaled, exponent, spread=np.sqrt(2)) > ALPHA


def discrete_law_holds(drawn, sigma):
    cells = fits(drawn, sigma=sigma, below=lambda edges: exact_cells(sigma, edges))
    return cells and spread_fits(drawn, sigma=sigma)


@pytest.mark.statistical
@pytest.mark.parametrize("sigma", [Fraction(1, 3), 1, 3.7, 10, 63, 64, 1000, 10**6, 2**33])
def test_vectors_of_discrete_noise_have_the_law(sigma):
    assert discrete_law_holds(discrete_gaussian(sigma, N // 4), sigma)


@pytest.mark.statistical
@pytest.mark.parametrize("sigma", [Fraction(1, 3), 1, 10, 1000, 2**40, 2**60, 2**450])
def test_single_draws_of_discrete_noise_have_the_law(sigma):
    drawn = np.concatenate([discrete_gaussian(sigma, 10) for _ in range(2000)]).astype(np.float64)
    assert discrete_law_holds(drawn, sigma)


@pytest.mark.statistical
@pytest.mark.parametrize("sigma", [3, 40, 1000, 10**6])
def test_a_sigma_wrong_by_half_a_percent_is_caught(sigma):
    wrong = discrete_gaussian(Fraction(sigma) * Fraction(1005, 1000), N)
    assert not discrete_law_holds(wrong, sigma)


@pytest.mark.statistical
@pytest.mark.parametrize("sigma", [Fraction(1, 3), 5, 1000, 2**20, 2**24, 2**44])
@pytest.mark.parametrize("offset", [0.0, 0.3, -0.5])
def test_rounded_noise_is_real_noise_rounded(sigma, offset):
    """Cells of the integers against differences of the normal distribution function."""
    count = N // 8 if sigma < 2**40 else N // 100
    drawn = rounded_gaussian(sigma, offset, count)

    def below(edges):
        return stats.norm.cdf((edges - 0.5 - offset) / float(sigma))

    assert fits(drawn, sigma=max(sigma, 1), below=below)
    singles = np.concatenate([rounded_gaussian(sigma, offset, 10) for _ in range(300)])
    assert fits(singles, sigma=max(sigma, 1), below=below)


@pytest.mark.statistical
def test_rounded_noise_of_the_wrong_sigma_is_caught():
    drawn = rounded_gaussian(2.0**20 * 1.005, 0.0, N)
    assert not spread_fits(drawn, sigma=2.0**20)
    assert spread_fits(rounded_gaussian(2.0**20, 0.0, N), sigma=2.0**20)


@pytest.mark.statistical
def test_each_value_gets_the_noise_of_its_own_offset():
    """σ tiny: the answer is ⌊offset + ½⌋, whatever is redrawn."""
    offsets = np.linspace(-1, 1, 50_000)
    place = (offsets + 0.5) % 1
    clear = np.minimum(place, 1 - place) > 1e-6
    drawn = rounded_gaussian(1e-9, offsets)
    assert (drawn == np.floor(offsets + 0.5))[clear].all()
    assert clear.sum() > 49_990


def test_a_point_on_the_edge_is_settled_by_the_sign(scripted):
    """offset ½ and σ = 2⁻⁹⁰⁰: every draw is in doubt in float64, and a fair coin in truth."""
    drawn = rounded_gaussian(2.0**-900, np.full(2000, 0.5))
    assert set(drawn.tolist()) == {0, 1}
    assert 700 < drawn.sum() < 1300  # P < 1e-40


def test_the_ends_of_the_range_of_sigma():
    """2⁻⁹⁰⁰ is the point 0; 2⁹⁰⁰ is noise of that size."""
    assert not discrete_gaussian(2.0**-900, 5).any()
    assert not discrete_gaussian(2.0**-900, 1000).any()
    assert not rounded_gaussian(2.0**-900, 0.25, 1000).any()
    for drawn in (discrete_gaussian(2.0**900, 400), rounded_gaussian(2**900, 0.0, 400)):
        sizes = [abs(x) / 2**900 for x in drawn]
        assert 0.5 < sum(size < 1 for size in sizes) / 400 < 0.85  # 0.68, P < 1e-11
        assert max(sizes) < 9


def test_shapes_and_counts_are_as_asked():
    assert discrete_gaussian(3, 0).shape == (0,)
    assert rounded_gaussian(3, np.zeros((2, 0, 3))).shape == (2, 0, 3)
    assert rounded_gaussian(3, np.zeros((20, 30))).shape == (20, 30)
    assert rounded_gaussian(3).shape == (1,)
    assert rounded_gaussian(3, 0, 5).shape == (5,)
    assert rounded_gaussian(3, 0.5, 7).dtype == discrete_gaussian(3, 7).dtype == np.int64
    assert all(type(x) is int for x in discrete_gaussian(2**60, 3))
    assert all(type(x) is int for x in rounded_gaussian(2**60, [0.0] * 20))


@pytest.mark.parametrize("sigma", [Fraction(1, 3), Fraction(1), Fraction(10), Fraction(2**40)])
def test_rejection_is_right_at_every_distance_from_its_threshold(sigma, scripted):
    """V at distance 2⁰ … 2⁴⁵ from 2ᵍ·exp(−x²/2σ²), further digits 0101…, against mpmath."""
    law, settled = _Law(sigma), 0
    with mpmath.workdps(50):
        s = mpmath.mpf(sigma.numerator) / sigma.denominator
        for g in (0, 1, 2, 5):
            for x in {g * law.t, g * law.t + law.t // 2, (g + 1) * law.t - 1}:
                limit = 2**g * mpmath.exp(-(mpmath.mpf(x) ** 2) / (2 * s * s))
                assert limit <= 1
                middle = int(mpmath.floor(limit * 2**64))
                for v in (middle + sign * 2**power for power in range(46) for sign in (-1, 0, 1)):
                    if 0 <= v < 2**64:
                        source = scripted()
                        kept = (v + mpmath.mpf(1) / 3) / 2**64 < limit
                        assert law._keeps(x, g, v, source) == kept
                        settled += source.drawn > 0
    assert settled > 0


def test_rejection_counts_coins_beyond_one_word(scripted):
    """A word without heads adds 63 to the block; t = 1 for σ = ½, so x = 63 + 2 is proposed."""
    law = _Law(Fraction(1, 2))
    asked = []
    law._keeps = lambda x, g, v, source: asked.append((x, g, v)) or True
    assert law.one(scripted([7, 1, 0, 4 << 1])) == -65
    assert asked == [(65, 65, 7)]


def test_rejection_throws_minus_zero_and_unfair_remainders_away(scripted):
    law = _Law(Fraction(10))
    heads = 1 << 1
    last = 2**64 - 1  # 2⁶⁴ is not a multiple of t = 12
    assert law.t == 12
    assert 2**64 % law.t != 0
    assert law.one(scripted([0, heads | 1, 0, 0, heads, last, 0, heads, 3])) == 3


def test_a_residual_column_is_drawn_in_the_vector(scripted):
    """σ = 10, the residual's word among others; its uniform 0 gives 0, and 1 − 2⁻¹²⁸ the tail."""
    law = _cached_law(10)
    table = law.table
    words = np.arange(4096, dtype=np.uint64) << np.uint64(52)
    residual = next(
        int(word)
        for index in range(int(table.mask) + 1)
        for word in (index, (1 << 64) - int(table.mask) - 1 + index)
        if table.pick(np.array([word], dtype=np.uint64))[0] > 10**9
    )
    clean = law.many(4096, scripted(words))
    drawn = law.many(4097, scripted([*words, residual, 0, 0, 0]))
    assert (drawn[:-1] == clean).all()
    assert drawn[-1] == 0
    drawn = law.many(4097, scripted([*words, residual, 2**64 - 1, 2**64 - 1, 0, 0, 2**64 - 1]))
    assert drawn[-1] <= -len(table.units)


def test_bad_parameters_are_refused_before_anything_is_drawn(scripted, bad_numbers):
    source = scripted()
    for bad in [*bad_numbers, 10**400, np.array([1.0])]:
        for draw in (discrete_gaussian, rounded_gaussian):
            with pytest.raises(BadParameter):
                draw(bad, source=source)
    for count in (-1, 1.5, True, "1", float("nan")):
        with pytest.raises(BadParameter):
            discrete_gaussian(1, count, source=source)
        with pytest.raises(BadParameter):
            rounded_gaussian(1, 0.0, count, source=source)
    ragged = [[0.1], [0.1, 0.2]]
    for offsets in (
        1.5,
        -1.01,
        float("nan"),
        [0.0, np.nan],
        "0",
        [True],
        ragged,
        None,
    ):
        with pytest.raises(BadParameter):
            rounded_gaussian(1, offsets, source=source)
    with pytest.raises(BadParameter):
        rounded_gaussian(1, [0.0, 0.1], 2, source=source)
    with pytest.raises(BadParameter):
        discrete_gaussian(1, 1, source=np.random.default_rng())
    assert source.drawn == 0


def test_a_table_is_made_once_it_pays():
    sigma = Fraction(12345, 1000)
    discrete_gaussian(sigma, 20)
    assert "table" not in vars(_cached_law(sigma))
    discrete_gaussian(sigma, 200)
    assert "table" in vars(_cached_law(sigma))
