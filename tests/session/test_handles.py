"""Mechanisms that are opened: paid once, asked many times, closed by a failure."""

import threading
import time

import numpy as np
import pytest
from tests.session.opened import EIGHTH, explode, secret, session

import deniable as dp
from deniable.errors import (
    BadParameter,
    DataFailure,
    SensitivityMismatch,
)
from deniable.mechanisms.combine import Composed
from deniable.mechanisms.interactive import Block, Handle
from deniable.mechanisms.numbers import Gaussian, Laplace
from deniable.mechanisms.streams import SparseVector


def test_an_opened_mechanism_is_charged_once_and_asked_freely():
    s = session()
    handle = s.open(SparseVector(epsilon=1.0, answers=2, sensitivity=1.0, threshold=1000.0))
    spent = s.spent
    assert spent == dp.epsilon(1.0)
    answers = [s.release(handle.on(secret(v))).value for v in (0.0, 1e6, 0.0, 1e6)]
    assert answers == [False, True, False, True]
    assert s.spent == spent
    with pytest.raises(BadParameter, match="has no answers left"):
        s.release(handle.on(secret(0.0)))


@pytest.mark.parametrize(
    "mechanism",
    [
        SparseVector(epsilon=1.0, answers=2, threshold=1000.0),
        2 * EIGHTH,
        EIGHTH + dp.Laplace(scale=2.0),
    ],
    ids=["sparse", "plan", "list"],
)
def test_a_free_answer_says_what_was_paid_before_for_all_of_them(mechanism):
    s = session()
    handle = s.open(mechanism)
    for _ in range(2):
        r = s.release(handle.on(secret(1e6)))
        assert r.loss == mechanism.loss(dp.Pure) == s.spent
        assert "free: paid when the mechanism was opened" in str(r)
        claim = r.certificate()["claim"]
        assert claim["this_release"] != "ε 0"
        assert "paid when the mechanism was opened; this loss covers all of its" in claim["paid"]
    assert "paid" not in s.release(EIGHTH.on(secret(0.0))).certificate()["claim"]


def test_a_plan_fixed_in_advance_is_charged_in_full_at_its_start():
    def training():
        plan = yield 80 * EIGHTH
        first = yield plan.on(secret(1.0))
        return first

    s = session()
    assert isinstance(s.run(training()), float)
    assert s.spent == dp.epsilon(10.0)


def test_a_plan_may_be_priced_tightly_as_one_block():
    plan = 200 * Gaussian(sigma=40.0)
    s = session(dp.epsilon(3.0, delta=1e-5))
    handle = s.open(plan, delta=1e-6)
    assert s.spent.epsilon == pytest.approx(plan.epsilon_at(1e-6), rel=1e-6)
    for _ in range(200):
        s.release(handle.on(secret(0.0)))
    with pytest.raises(BadParameter, match="has no answers left"):
        s.release(handle.on(secret(0.0)))


def test_the_parts_of_a_plan_are_used_in_order_and_checked():
    s = session()
    handle = s.open(EIGHTH + Laplace(scale=20.0, sensitivity=2.0))
    with pytest.raises(SensitivityMismatch):
        s.release(handle.on(secret(1.0, l1=2)))
    s.release(handle.on(secret(1.0)))
    s.release(handle.on(secret(1.0, l1=2)))


def test_a_handle_is_good_in_its_own_session_only():
    first, second = session(), session()
    handle = first.open(2 * EIGHTH)
    for forged in (handle.on(secret(1.0)), Handle(2 * EIGHTH).on(secret(1.0))):
        with pytest.raises(BadParameter, match="not open in this session"):
            second.release(forged)
    with pytest.raises(BadParameter, match="one step at a time"):
        first.release([handle.on(secret(1.0)), handle.on(secret(1.0))])
    with pytest.raises(BadParameter):
        handle.on(1.0)


def test_a_failure_closes_an_opened_mechanism():
    """Else each failure would tell something about the data, free and without end."""
    s = session()
    handle = s.open(SparseVector(epsilon=1.0, answers=5, threshold=1000.0))
    with pytest.raises(DataFailure):
        s.release(handle.on(dp.Sensitive(explode, linf=1)))
    with pytest.raises(BadParameter, match="not open"):
        s.release(handle.on(secret(0.0)))


def test_a_mechanism_that_answers_once_cannot_be_opened_and_costs_nothing():
    s = session()
    with pytest.raises(BadParameter, match="single answer"):
        s.open(EIGHTH)
    with pytest.raises(BadParameter):
        s.open(3)
    assert s.spent == dp.epsilon(0)


def test_threads_that_waited_find_a_failed_mechanism_closed():
    s, started, outcomes = session(), threading.Event(), []
    handle = s.open(SparseVector(epsilon=1.0, answers=5, threshold=1000.0))

    def slow_failure():
        started.set()
        time.sleep(0.2)
        raise ValueError

    def ask(value):
        try:
            outcomes.append(s.release(handle.on(value)).value)
        except (BadParameter, DataFailure) as error:
            outcomes.append(type(error))

    first = threading.Thread(target=ask, args=(dp.Sensitive(slow_failure, linf=1),))
    second = threading.Thread(target=ask, args=(secret(0.0),))
    first.start()
    started.wait()
    second.start()
    first.join()
    second.join()
    assert sorted(kind.__name__ for kind in outcomes) == ["BadParameter", "DataFailure"]


def test_an_algorithm_can_open_a_plan_that_is_paid_for_as_a_block():
    """At the δ that it names: tighter than by the order that the session was opened with."""
    plan = Composed.of((dp.Gaussian(sigma=8.0).sampled(rate=0.1), 20))
    spent = []
    for wanted in (plan, Block(mechanism=plan, delta=1e-7)):
        s = session(dp.epsilon(5.0, delta=1e-6))

        def asking(wanted=wanted):
            handle = yield wanted
            value = dp.Sensitive(lambda: np.ones(3), l2=1, entries=1)
            return (yield handle.on(value))

        assert isinstance(s.run(asking()), float)
        assert len(s.ledger.entries) == 1
        spent.append(s.ledger.entries[0].price)
    assert spent[1].delta == 1e-7
    assert spent[1].epsilon == pytest.approx(plan.epsilon_at(1e-7), rel=1e-6)
    assert spent[0].delta == 0
