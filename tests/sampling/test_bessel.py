"""Skellam numbers: the weights are Bessel functions, the draws follow them, sums stay Skellam."""

from fractions import Fraction

import mpmath as mp
import numpy as np
import pytest
from scipy import special
from tests import goodness

import deniable as dp
from deniable.sampling import SeededSource, skellam
from deniable.sampling.bessel import BesselWeights
from deniable.sampling.gaussian.table import alias_table

VARIANCES = [Fraction(1, 1000), Fraction(1, 3), Fraction(2), Fraction(37), Fraction(5000)]


@pytest.mark.parametrize("variance", VARIANCES, ids=str)
@pytest.mark.parametrize("bits", [64, 160])
def test_the_weights_lie_between_their_bounds(variance, bits):
    pairs, rest = BesselWeights(variance=variance).bounds(bits)
    with mp.workdps(80):
        x = mp.mpf(variance.numerator) / variance.denominator
        for k in {0, 1, 2, len(pairs) // 2, len(pairs) - 1}:
            weight = mp.besseli(k, x) / mp.besseli(0, x) / (2 if k == 0 else 1)
            low, high = pairs[k]
            assert low <= weight * 2**bits <= high
            assert high - low <= 2
        beyond = mp.nsum(lambda k: mp.besseli(k, x), [len(pairs), len(pairs) + 60])
        assert beyond / mp.besseli(0, x) * 2**bits <= rest


@pytest.mark.parametrize("variance", VARIANCES, ids=str)
def test_no_column_of_the_table_exceeds_its_probability(variance):
    """Then the rest, which is drawn exactly, makes up for what they lack."""
    weights = BesselWeights(variance=variance)
    table = alias_table(weights, mirror=0)
    pairs, rest = weights.bounds(200)
    total = sum(high for _, high in pairs) + rest
    for unit, (low, _) in zip(table.units, pairs, strict=False):
        assert unit * total <= low << table.bits
    assert 0 < (1 << table.bits) - sum(table.units) < 1 << (table.bits - 38)


def law(variance, reach=400):
    points = np.arange(-reach, reach + 1)
    return points, special.ive(np.abs(points), float(variance))


@pytest.mark.statistical
@pytest.mark.parametrize("variance", VARIANCES[1:4], ids=str)
def test_the_draws_follow_the_law(variance):
    """False-alarm rate 1e-8."""
    draws = skellam(variance, 200_000)
    points, chances = law(variance)
    wide = chances * draws.size > 25
    seen = np.array([(draws == k).sum() for k in points[wide]] + [0])
    seen[-1] = draws.size - seen.sum()
    expected = np.append(chances[wide], max(1e-12, 1 - chances[wide].sum()))
    assert goodness.cells(seen, expected) > 1e-8


@pytest.mark.statistical
def test_the_rest_column_follows_what_the_table_lacks():
    """The exact fall-back, drawn on purpose: its law is p·2ᵇ − a. False-alarm rate 1e-8."""
    weights = BesselWeights(variance=Fraction(2))
    table = alias_table(weights, mirror=0)
    pairs, _ = weights.bounds(256)
    total = sum(low for low, _ in pairs)
    lacking = [
        max(0.0, float(Fraction(low << table.bits, total) - unit))
        for (low, _), unit in zip(pairs, table.units, strict=False)
    ]
    chances = np.array(lacking) / ((1 << table.bits) - sum(table.units))
    source = SeededSource(5)
    draws = np.array([table.residual(source) for _ in range(1500)])
    wide = chances * draws.size > 25
    seen = np.array([(draws == k).sum() for k in np.flatnonzero(wide)] + [0])
    seen[-1] = draws.size - seen.sum()
    expected = np.append(chances[wide], max(1e-12, 1 - chances[wide].sum()))
    assert goodness.cells(seen, expected) > 1e-8


@pytest.mark.statistical
def test_shares_add_up_to_a_draw_of_the_whole():
    """False-alarm rate 1e-8."""
    total = sum(skellam(Fraction(5, 7), 100_000) for _ in range(7))
    points, chances = law(5)
    wide = chances * total.size > 25
    seen = np.array([(total == k).sum() for k in points[wide]] + [0])
    seen[-1] = total.size - seen.sum()
    expected = np.append(chances[wide], 1 - chances[wide].sum())
    assert goodness.cells(seen, expected) > 1e-8


@pytest.mark.parametrize("bad", [0, -1, float("nan"), "2", None, True, 2**22 + 1])
def test_a_variance_that_cannot_be_drawn_is_refused(bad):
    with pytest.raises(dp.BadParameter):
        skellam(bad)
