"""Approximate differential privacy."""

import math

import mpmath as mp
import pytest
from hypothesis import given
from hypothesis import strategies as st

import deniable as dp
from deniable.losses import Loss, convert
from deniable.losses.approx import delta_of_response, epsilon_of_response


@pytest.mark.parametrize("bad", [1.0, 1.5, -1e-9, math.nan, "1e-6", True])
def test_a_delta_outside_zero_to_one_is_refused(bad):
    with pytest.raises(dp.BadParameter):
        dp.Approx(1.0, delta=bad)


def test_delta_is_given_by_name():
    with pytest.raises(TypeError):
        dp.Approx(1.0, 1e-6)


def test_sums_may_reach_a_delta_of_one_which_promises_nothing():
    lost = 3 * dp.Approx(1.0, delta=0.5)
    assert lost.delta == 1.0
    assert lost.epsilon_at(0.99) == math.inf
    assert lost.delta_at(100.0) == 1.0
    assert Loss.from_dict(lost.to_dict()) == lost


def test_what_is_not_covered_by_delta_has_no_epsilon():
    assert dp.Approx(1.0, delta=1e-6).epsilon_at(1e-7) == math.inf
    assert dp.Approx(1.0, delta=1e-6).epsilon_at(1e-6) == 1.0


@given(st.floats(1e-3, 20), st.floats(1e-12, 0.1), st.integers(2, 40))
def test_the_delta_of_a_group_is_the_theorem_s_and_not_below_it(epsilon, delta, size):
    group = dp.Approx(epsilon, delta=delta).group(size)
    with mp.workdps(60):
        truth = delta * mp.expm1(size * mp.mpf(epsilon)) / mp.expm1(epsilon)
        assert group.delta >= min(mp.mpf(1), truth)
        assert group.delta <= truth * (1 + mp.mpf(1e-10))
    assert group.epsilon >= size * epsilon * (1 - 1e-15)


def test_the_delta_of_a_group_grows_faster_than_the_group():
    assert convert.approx_group_delta(1.0, 1e-6, 3) > 1e-5 > 3e-6
    assert convert.approx_group_delta(0.0, 1e-6, 3) == pytest.approx(3e-6)


def test_a_pair_is_within_another_if_it_implies_it():
    pair = dp.Approx(1.0, delta=1e-6)
    assert pair <= dp.Approx(2.0, delta=1e-6)
    assert pair <= dp.Approx(1.0, delta=1e-5)
    assert not pair <= dp.Approx(1.0, delta=1e-7)
    assert not pair <= dp.Approx(0.9, delta=1e-6)
    # (1, 0) implies (0.9, 0.07): randomized response has δ = 0.0696 there.
    assert dp.Approx(1.0, delta=0.0) <= dp.Approx(0.9, delta=0.07)
    assert not dp.Approx(1.0, delta=0.0) <= dp.Approx(0.9, delta=0.069)


def test_without_a_delta_it_is_pure():
    assert dp.Approx(1.0, delta=0.0).to(dp.Pure) == dp.Pure(1.0)
    with pytest.raises(dp.MixedLosses):
        dp.Approx(1.0, delta=1e-9).to(dp.Pure)


def test_facts_prove_a_pair_or_nothing():
    class Facts:
        def __init__(self, pair, pure=math.inf):
            self.approx, self.pure = lambda: pair, lambda: pure

    assert dp.Approx.from_facts(Facts((1.0, 1e-6))) == dp.Approx(1.0, delta=1e-6)
    assert dp.Approx.from_facts(Facts((math.inf, 0.0), pure=2.0)) == dp.Approx(2.0, delta=0.0)
    with pytest.raises(dp.NoBound):
        dp.Approx.from_facts(Facts((math.inf, 0.0)))


@pytest.mark.parametrize("epsilon", [1e-300, 1e-9, 0.1, 1.0, 30.0, 600.0, 1e6])
@pytest.mark.parametrize("delta", [0.0, 1e-12, 0.3])
def test_a_larger_delta_never_costs_more_epsilon(epsilon, delta):
    more = [delta, math.nextafter(delta, 1), delta + 1e-18, delta + 1e-15, delta + 1e-3]
    found = [epsilon_of_response(epsilon, delta, at) for at in more]
    assert found[0] == epsilon
    assert all(0 <= each <= epsilon for each in found)
    for at, each in zip(more, found, strict=True):
        assert delta_of_response(epsilon, delta, each) <= at * (1 + 1e-9) + 1e-300
