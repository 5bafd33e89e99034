"""Zero-concentrated differential privacy."""

import math

import pytest

import deniable as dp
from deniable.losses._loss import Stated


def test_the_tight_conversion_beats_the_classic():
    assert dp.Zcdp(0.5).epsilon_at(1e-6) == pytest.approx(5.2215344, abs=1e-6)


def test_groups_pay_by_the_square():
    assert dp.Zcdp(0.5).group(3) == dp.Zcdp(4.5)


def test_no_delta_no_epsilon():
    assert dp.Zcdp(0.5).epsilon_at(0.0) == math.inf


def test_the_best_of_all_facts_is_taken():
    assert dp.Zcdp.from_facts(Stated(rho=0.5)) == dp.Zcdp(0.5)
    assert dp.Zcdp.from_facts(Stated(mu=1.0)).rho == pytest.approx(0.5)
    assert dp.Zcdp.from_facts(Stated(epsilon=1.0)).rho == pytest.approx(math.tanh(0.5))
    with pytest.raises(dp.NoBound):
        dp.Zcdp.from_facts(Stated(epsilon=1.0, delta=1e-6))
