"""Randomized response tells the truth just as often as it may, and its counts can be undone."""

import math
from fractions import Fraction

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from mpmath import mp
from scipy import stats
from tests import goodness

import deniable as dp
from deniable.losses import convert
from deniable.mechanisms import RandomizedResponse, Shuffled
from deniable.sampling.source import Source, using


@settings(deadline=None)
@given(st.floats(1e-9, 200.0), st.integers(2, 1000))
def test_the_true_epsilon_is_at_most_the_claim_and_hardly_less(epsilon, categories):
    truth = RandomizedResponse(epsilon=epsilon, categories=categories).truth
    assert 0 < truth < 1
    with mp.workdps(60):
        lies = (1 - mp.mpf(truth.numerator) / truth.denominator) / categories
        real = mp.log(1 + (mp.mpf(truth.numerator) / truth.denominator) / lies)
        assert real <= mp.mpf(epsilon)
        assert real >= mp.mpf(min(epsilon, 64.0)) * (1 - mp.mpf(10) ** -12)


def test_two_coins_are_two_fair_coins():
    m = RandomizedResponse.two_coins()
    assert m.truth == Fraction(1, 2)
    assert m.epsilon_at() == pytest.approx(math.log(3), rel=1e-15)
    assert m.epsilon_at() >= math.log(3)


def test_the_estimate_for_two_coins_is_twice_the_share_less_a_quarter():
    reports = np.array([1] * 400 + [0] * 600)
    estimate = RandomizedResponse.two_coins().estimate(reports)
    assert estimate.shares[1] == pytest.approx(2 * (0.4 - 0.25))
    assert estimate.counts.sum() == pytest.approx(1000)


@pytest.mark.statistical
@pytest.mark.parametrize("categories", [2, 5])
def test_estimates_are_unbiased_and_within_their_error(categories):
    """300 surveys of 400, each category tested at 1e-8."""
    m = RandomizedResponse(epsilon=1.5, categories=categories)
    people = np.arange(400) % 7 % categories
    runs = [m.estimate(m.release(people)) for _ in range(300)]
    truth, false = float(m.truth), float(1 - m.truth) / categories
    for category, true in enumerate(np.bincount(people, minlength=categories)):

        def exponent(t, true=true):
            """Reports of the category are two binomial counts."""
            rise = math.expm1(t / truth)
            honest = true * math.log1p((truth + false) * rise)
            return honest + (400 - true) * math.log1p(false * rise) - t * 400 * false / truth

        counts = np.array([run.counts[category] for run in runs])
        assert goodness.mean(counts, exponent, spread=12 / truth) > 1e-8
        assert goodness.mean(counts + 20, exponent, spread=12 / truth) < 1e-8
        errors = np.array([run.errors[category] for run in runs])
        assert goodness.covered(int((np.abs(counts - true) <= errors).sum()), 300, 0.95) > 1e-8
        assert goodness.covered(int((np.abs(counts - true) <= errors / 2).sum()), 300, 0.95) < 1e-8


@pytest.mark.parametrize("inside", [0, 4, 8, 16])
def test_the_error_is_the_spread_of_the_reports(inside):
    """16 people, 4 categories, odds 5 : 1 : 1 : 1; the law of one category's reports is summed.

    The stated error is that of the worst true count within reach, so it is this or more.
    """
    right, false = 5 / 8, 1 / 8
    seen = round(right * inside + false * (16 - inside))
    reports = [0] * seen + [1 + i % 3 for i in range(16 - seen)]
    law = np.convolve(
        stats.binom.pmf(range(17), inside, right), stats.binom.pmf(range(17), 16 - inside, false)
    )
    spread = math.sqrt(np.arange(33) ** 2 @ law - (np.arange(33) @ law) ** 2)
    found = RandomizedResponse(epsilon=math.log(5), categories=4).estimate(reports, confidence=0.9)
    assert found.counts[0] == pytest.approx(inside, abs=1e-6)
    least = (1.6448536 * spread + 0.5) / (right - false)
    assert least * (1 - 1e-6) <= found.errors[0] <= 1.6 * least


def test_categories_outside_the_list_are_refused_and_nothing_is_drawn():
    class NothingDrawn(Source):
        def words(self, count):
            raise AssertionError("randomness was drawn")

    m = RandomizedResponse(epsilon=1.0, categories=3)
    for bad in (3, -1, 1.0, "a", [0, 3], None, True, [True]):
        with using(NothingDrawn()), pytest.raises(dp.BadParameter, match="from 0 to 2"):
            m.release(bad)


def test_shapes_are_kept():
    m = RandomizedResponse(epsilon=1.0)
    assert m.release(1) in (0, 1)
    assert m.release(np.zeros((2, 3), dtype=int)).shape == (2, 3)
    assert m.release([]).shape == (0,)


def test_more_categories_cost_less_when_composed():
    two, many = (100 * RandomizedResponse(epsilon=0.5, categories=k) for k in (2, 50))
    assert many.epsilon_at(1e-6) < two.epsilon_at(1e-6)


@pytest.mark.parametrize("categories", [2, 3])
@pytest.mark.parametrize("entries", [1, 2, 5])
def test_all_answers_of_one_unit_together_cost_epsilon(entries, categories):
    """Enumerated: the likelihood ratio of all of a unit's reports, at its worst."""
    m = RandomizedResponse(epsilon=1.5, categories=categories, entries=entries)
    likely = m.truth + (1 - m.truth) / categories
    ratio = (likely / ((1 - m.truth) / categories)) ** entries
    assert mp.log(mp.mpf(ratio.numerator) / ratio.denominator) <= 1.5
    assert mp.log(mp.mpf(ratio.numerator) / ratio.denominator) > 1.499
    assert m.pure() == 1.5
    assert RandomizedResponse.from_dict(m.to_dict()) == m


@pytest.mark.parametrize("categories", [2, 3, 1000])
@pytest.mark.parametrize("epsilon", [0.1, 1.5, 6.0])
def test_several_answers_are_priced_as_the_worst_that_epsilon_allows(epsilon, categories):
    one = RandomizedResponse(epsilon=epsilon / 3, categories=categories)
    all_ = RandomizedResponse(epsilon=epsilon, categories=categories, entries=3)
    assert all_.zcdp() >= 3 * one.zcdp() * (1 - 1e-9)  # what three independent answers cost
    assert all_.zcdp() == pytest.approx(epsilon * math.tanh(epsilon / 2))
    for at in (0.0, 0.3 * epsilon, 0.9 * epsilon):
        assert all_.delta_at(at) == pytest.approx(dp.Pure(epsilon).delta_at(at))


REPLACED = dp.rows(relation="replace")


def asked(m, value, unit=REPLACED, **declared):
    s = dp.open(pa.table({"x": [1]}), unit=unit, budget=dp.epsilon(9.0))
    try:
        return s.release(m.on(dp.Sensitive(lambda: value, **declared))).value
    finally:
        assert s.failures or len(s.ledger.entries) <= 1


def test_a_list_of_answers_says_how_many_one_unit_has():
    """Under replacement only: where rows come and go, the length of the list would tell."""
    m = RandomizedResponse(epsilon=1.0)
    assert asked(m, [0, 1, 1], linf=1, shape=3, entries=1).shape == (3,)
    assert asked(m, [0, 1, 1], l1=1, shape=3).shape == (3,)
    assert asked(m, 1, linf=1) in (0, 1)
    with pytest.raises(dp.SensitivityMismatch, match="entries=1"):
        asked(m, [0, 1, 1], linf=1, shape=3)
    with pytest.raises(dp.SensitivityMismatch, match="entries=2"):
        asked(m, [0, 1, 1], linf=1, shape=3, entries=2)
    with pytest.raises(dp.UnitMismatch):
        asked(m, [0, 1, 1], unit=dp.rows(), linf=1, shape=3, entries=1)
    with pytest.raises(dp.UnitMismatch):
        asked(2 * m, 1, unit=dp.rows(), linf=1)


def test_a_shuffled_survey_has_one_report_per_person():
    survey = Shuffled(of=RandomizedResponse(epsilon=1.0), people=3, delta=1e-9)
    with pytest.raises(dp.SensitivityMismatch):
        survey.on(dp.Sensitive(list, linf=1, shape=3, entries=2))
    with pytest.raises(dp.BadParameter, match="3 people"):
        survey.on(dp.Sensitive(list, linf=1, shape=4, entries=1))
    with pytest.raises(dp.BadParameter, match="one report"):
        Shuffled(of=RandomizedResponse(epsilon=1.0, entries=2), people=3, delta=1e-9)


@pytest.mark.parametrize("entries", [2, 5])
def test_several_answers_of_a_person_are_priced_by_epsilon_alone(entries):
    """The law of one answer says nothing about several."""
    several = RandomizedResponse(epsilon=1.0, categories=10, entries=entries)
    assert several.zcdp() == convert.pure_to_zcdp(several.pure())
    assert RandomizedResponse(epsilon=1.0, categories=10).zcdp() < convert.pure_to_zcdp(1.0)
