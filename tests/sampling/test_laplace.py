"""Laplace noise has its law, takes only sound parameters, and tells nothing by its run time."""

from collections import Counter
from fractions import Fraction

import numpy as np
import pytest
from scipy import stats
from tests import goodness

from deniable.errors import BadParameter
from deniable.sampling import SystemSource, discrete_laplace, geometric, rounded_laplace

SCALES = [Fraction(1, 3), 1, 10, 1000, 10**6, 10**9, 2**45]
N = 4_000_000
# Each test below alarms falsely with probability at most 1e-8; there are fewer than 60 of them.
ALPHA = 1e-8


def size_is_right(drawn, *, scale):
    """The means of |X| and X, in units of the scale, against the exact discrete law."""
    x = drawn.astype(np.float64) / float(scale)
    fall = 1 / float(scale)  # P(X = k) ∝ exp(−fall·|k|)

    def size(t):
        """ln E exp(t·|X|/scale), of which (1 − q)/(1 + q) = tanh(fall/2) for q = exp(−fall)."""
        return np.log(np.tanh(fall / 2) / np.tanh(fall * (1 - t) / 2))

    def signed(t):
        """The sign is fair: E exp(tX) = (E exp(t|X|) + E exp(−t|X|))/2."""
        return np.logaddexp(size(t), size(-t)) - np.log(2)

    return (
        goodness.mean(np.abs(x), size, spread=1.0) > ALPHA / 2
        and goodness.mean(x, signed, spread=np.sqrt(2)) > ALPHA / 2
    )


def cells_are_right(drawn, *, scale):
    """Cells of |X| with chances that fall by e^⅛, and the sign, against the exact discrete law."""
    q = np.exp(-1 / float(scale))
    levels = np.exp(-np.arange(20) / 8)
    edges = np.unique(np.ceil(-float(scale) * np.log(levels * (1 + q) / 2)).clip(1))
    tail = 2 * np.exp(-edges / float(scale)) / (1 + q)
    expected = -np.diff(np.concatenate([[1.0], tail, [0.0]]))
    seen = np.histogram(np.abs(drawn), bins=np.concatenate([[0], edges, [np.inf]]))[0]
    fair = goodness.count(int((drawn > 0).sum()), int((drawn != 0).sum()), 0.5) > ALPHA
    return goodness.cells(seen, expected) > ALPHA and fair


@pytest.mark.statistical
@pytest.mark.parametrize("scale", SCALES)
def test_discrete_noise_has_its_law(scale):
    drawn = discrete_laplace(scale, N)
    assert size_is_right(drawn, scale=scale)
    assert cells_are_right(drawn, scale=scale)


@pytest.mark.statistical
@pytest.mark.parametrize("scale", [10, 10**6, 10**9])
def test_a_scale_wrong_by_one_percent_is_caught(scale):
    drawn = discrete_laplace(Fraction(scale) * Fraction(101, 100), N)
    assert not size_is_right(drawn, scale=scale)


@pytest.mark.statistical
def test_a_lost_sign_is_caught():
    assert not cells_are_right(np.abs(discrete_laplace(10, 10**5)), scale=10)


@pytest.mark.statistical
@pytest.mark.parametrize("scale", [0.5, 3, 2**20, 10**9])
@pytest.mark.parametrize("offset", [0.0, 0.3, -0.5])
def test_rounded_noise_has_the_law_of_real_noise(scale, offset):
    """Cells of the integers against differences of the real Laplace distribution function.

    The log-likelihood ratio of 3 % more noise is 430 ± 30, and 85 is an alarm: it is never missed.
    """
    drawn = rounded_laplace(scale, np.full(10**6, offset))
    edges = np.unique(np.rint(scale * np.linspace(-4, 4, 33)))
    below = stats.laplace.cdf((edges - 0.5 - offset) / scale)
    chances, bins = np.diff(below, prepend=0, append=1), [-np.inf, *edges, np.inf]
    assert goodness.cells(np.histogram(drawn, bins=bins)[0], chances) > ALPHA
    wrong = rounded_laplace(scale * 1.03, np.full(10**6, offset))
    assert goodness.cells(np.histogram(wrong, bins=bins)[0], chances) < ALPHA


@pytest.mark.statistical
def test_the_low_bits_of_large_noise_are_uniform():
    drawn = discrete_laplace(2**45, 10**6)
    for bits in (drawn & 63, (drawn >> 22) & 63):
        assert goodness.cells(np.bincount(bits, minlength=64), np.full(64, 1 / 64)) > ALPHA


@pytest.mark.statistical
@pytest.mark.parametrize("scale", [0.5, 7, 10**8])
def test_the_geometric_has_its_law(scale):
    drawn = geometric(scale, 10**6).astype(np.float64)

    def exponent(t):
        """ln E exp(t·X/scale) for P(X = k) ∝ exp(−k/scale)."""
        return np.log(np.expm1(-1 / scale) / np.expm1((t - 1) / scale))

    assert goodness.mean(drawn / scale, exponent, spread=1.0) > ALPHA
    assert drawn.min() == 0 or scale > 10**6


def test_enormous_scales_give_python_integers():
    scale = 2.0**200
    drawn = discrete_laplace(scale, 300)
    assert drawn.dtype == object
    sizes = [abs(x) / scale for x in drawn.tolist()]
    assert 0.4 < np.mean(sizes) < 2.2  # the mean of 300 exponentials: false alarm below 1e-12
    assert {type(x) for x in drawn.tolist()} == {int}
    assert len({x % 2**100 for x in drawn.tolist()}) == 300
    assert rounded_laplace(scale, np.zeros((2, 3))).shape == (2, 3)


def test_tiny_scales_give_no_noise():
    assert not discrete_laplace(2.0**-900, 1000).any()
    assert not discrete_laplace(Fraction(1, 100), 1000).any()


@pytest.mark.parametrize("sampler", [discrete_laplace, geometric])
def test_bad_parameters_draw_nothing(sampler, scripted, bad_numbers):
    source = scripted()
    for bad in bad_numbers:
        with pytest.raises(BadParameter):
            sampler(bad, 5, source=source)
    for bad in (-1, 1.5, True, "3", None):
        with pytest.raises(BadParameter):
            sampler(1, bad, source=source)
    assert source.drawn == 0


@pytest.mark.parametrize("offsets", [[1.5], [float("nan")], [0.0, float("inf")], [-1.01]])
def test_bad_offsets_draw_nothing(offsets, scripted):
    source = scripted()
    with pytest.raises(BadParameter, match="offsets"):
        rounded_laplace(1, offsets, source=source)
    assert source.drawn == 0


def test_shapes_and_counts_are_kept():
    assert discrete_laplace(5, 0).shape == (0,)
    assert discrete_laplace(2**30, 0).shape == (0,)
    assert rounded_laplace(5, []).shape == (0,)
    assert rounded_laplace(5, np.zeros((4, 5, 6))).shape == (4, 5, 6)
    assert rounded_laplace(5, 0.25).shape == ()
    assert discrete_laplace(5, 100_001).shape == (100_001,)


@pytest.mark.parametrize("scale", [1000, 2**40])
def test_one_draw_and_many_read_the_same_words_alike(scale, scripted):
    """The scalar path is the vector path: the same words give the same noise."""
    words = SystemSource().words(300).tolist()
    for i in range(0, 300, 3):
        one = discrete_laplace(scale, 1, source=scripted(words[i : i + 3]))
        two = discrete_laplace(
            scale, 2, source=scripted([w for w in words[i : i + 3] for _ in "ab"])
        )
        assert one[0] == two[0] == two[1]


@pytest.mark.parametrize("scale", [10, 2**30])
def test_the_work_for_a_draw_does_not_depend_on_the_noise(scale):
    """Words drawn a call: constant, whatever comes out, but for some fall-backs in a thousand."""
    source = Counting()
    used = Counter()
    for _ in range(2000):
        before = source.count
        discrete_laplace(scale, 1, source=source)
        used[source.count - before] += 1
    assert used.most_common(1)[0][1] > 1900  # 2³⁰: 16 fall-backs expected


class Counting(SystemSource):
    count = 0

    def words(self, count):
        self.count += count
        return super().words(count)


@pytest.mark.parametrize("offset", [-1.0, 1.0])
def test_offsets_may_be_as_far_as_one_step(offset):
    assert rounded_laplace(2.0, [offset]).shape == (1,)
    with pytest.raises(BadParameter):
        rounded_laplace(2.0, [np.nextafter(offset, 2 * offset)])
