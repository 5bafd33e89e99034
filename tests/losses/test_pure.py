"""Pure differential privacy."""

import math

import mpmath as mp
import pytest
from hypothesis import given
from hypothesis import strategies as st

import deniable as dp


@given(st.floats(1e-6, 600), st.floats(0, 600))
def test_delta_is_that_of_randomized_response_and_not_below_it(epsilon: float, at: float):
    with mp.workdps(320):
        truth = max(mp.mpf(0), (mp.exp(epsilon) - mp.exp(at)) / (1 + mp.exp(epsilon)))
        found = dp.Pure(epsilon).delta_at(at)
        assert found >= truth
        assert found <= truth * (1 + mp.mpf(1e-12)) + mp.mpf(1e-12)


@given(st.floats(1e-12, 30), st.floats(0, 0.99))
def test_epsilon_is_that_of_randomized_response_and_not_below_it(epsilon: float, delta: float):
    with mp.workdps(60):
        inside = mp.exp(epsilon) - delta * (1 + mp.exp(epsilon))
        truth = max(mp.mpf(0), mp.log(inside)) if inside > 1 else mp.mpf(0)
        found = dp.Pure(epsilon).epsilon_at(delta)
        assert found >= truth - mp.mpf(10) ** -50
        assert found <= truth + mp.mpf(1e-11) * (1 + epsilon) / (1 - delta) ** 2


def test_at_no_delta_epsilon_is_what_it_says():
    assert dp.Pure(1.0).epsilon_at(0.0) == 1.0
    assert dp.Pure(1.0).epsilon_at() == 1.0
    assert dp.Pure(1.0).delta_at(epsilon=1.0) == 0.0


def test_groups_pay_in_proportion():
    assert dp.Pure(0.5).group(4) == dp.Pure(2.0)


def test_facts_without_a_bound_are_refused():
    class Nothing:
        def pure(self):
            return math.inf

    with pytest.raises(dp.NoBound, match=r"dp\.Pure"):
        dp.Pure.from_facts(Nothing())


def test_it_reads_well():
    assert repr(dp.Pure(0.5)) == "Pure(epsilon=0.5)"
    assert str(dp.Pure(0.12345)) == "ε = 0.124"
