"""Skellam numbers: the weights are Bessel functions, the draws follow them, sums stay Skellam."""

import hashlib
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


def test_half_of_the_first_weight_is_exact():
    for variance in VARIANCES:
        assert BesselWeights(variance=variance).bounds(64)[0][0] == (2**63, 2**63)


@pytest.mark.parametrize("variance", VARIANCES[:4], ids=str)
def test_every_rounding_is_outward(variance):
    """Each step of the recurrence in fractions: bounds lie outside, by a unit or two."""
    work, last = 60, 12
    ratios = BesselWeights(variance=variance)._ratios(last, work)
    low, high = Fraction(0), variance / (2 * last + 2)
    high = Fraction(-(-(high.numerator << work) // high.denominator), 1 << work)
    for k in range(last, 0, -1):
        exact = 1 / (2 * k / variance + high), 1 / (2 * k / variance + low)
        found = [Fraction(end, 1 << work) for end in ratios[k - 1]]
        assert 0 <= exact[0] - found[0] < Fraction(2, 1 << work)
        assert 0 <= found[1] - exact[1] < Fraction(3, 1 << work)
        low, high = found


def test_bounds_are_as_recorded():
    """Whole numbers only."""
    found = [BesselWeights(variance=v).bounds(bits) for v in VARIANCES[:4] for bits in (64, 160)]
    found += [BesselWeights(variance=v)._ratios(9, 40) for v in VARIANCES]
    assert hashlib.sha256(repr(found).encode()).hexdigest()[:16] == "681dce35f0d159a3"


def test_float_weights_are_the_middles_of_their_bounds_down_to_the_rarest():
    for variance in VARIANCES:
        weights = BesselWeights(variance=variance)
        exact = [Fraction(lo + hi, 2 << 160) for lo, hi in weights.bounds(160)[0]]
        assert weights.floats().tolist() == [float(w) for w in exact if w > Fraction(1, 2**60)]


def test_ratios_begin_far_enough_out_to_need_no_second_try(monkeypatch):
    """At about 2√(v·bits) + bits, where the start of the recurrence no longer shows."""
    seen, inner = [], BesselWeights._ratios

    def watched(self, last, work):
        seen.append((last, work))
        return inner(self, last, work)

    monkeypatch.setattr(BesselWeights, "_ratios", watched)
    for variance in VARIANCES:
        BesselWeights(variance=variance).bounds(64)
    assert seen == [(82, 160), (88, 160), (102, 160), (176, 160), (1210, 160)]
