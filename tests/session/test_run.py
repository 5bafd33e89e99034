"""Algorithms that choose as they go, and adversaries that do."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.session.opened import EIGHTH, explode, secret, session

import deniable as dp
from deniable.errors import (
    BadParameter,
    BudgetExceeded,
    DataFailure,
)
from deniable.mechanisms import SparseVector
from deniable.mechanisms.numbers import Gaussian, Laplace

# ---- algorithms


def test_an_algorithm_is_sent_plain_values_and_its_result_returned():
    def doubled(start):
        first = yield EIGHTH.on(secret(start))
        second, third = yield EIGHTH.on(secret(first)), EIGHTH.on(secret(np.zeros(2), shape=2))
        (fourth,) = yield [EIGHTH.on(secret(second))]
        return first, third, fourth

    s = session()
    first, third, fourth = s.run(doubled(1000.0), name="doubled")
    assert isinstance(first, float)
    assert third.shape == (2,)
    assert isinstance(fourth, float)
    assert s.spent == 4 * dp.epsilon(0.125)
    assert len(s.ledger.entries) == 3
    assert s.ledger.entries[1].what == "doubled, step 2"


def test_the_charges_of_a_run_are_its_own_whoever_else_writes(tmp_path):
    """A mechanism that is opened, a step, a list are noted; another's line is not."""
    books = str(tmp_path / "books.ledger")
    s, other = session(ledger=books), session(ledger=books)
    charges = []

    def chosen():
        handle = yield SparseVector(epsilon=0.5, answers=2, threshold=1000.0)
        other.release(EIGHTH.on(secret(1.0)), title="another's")
        yield handle.on(secret(1.0, linf=1))
        yield EIGHTH.on(secret(1.0))
        other.release(EIGHTH.on(secret(1.0)), title="another's")
        yield [EIGHTH.on(secret(1.0)), EIGHTH.on(secret(2.0))]
        other.release(EIGHTH.on(secret(1.0)), title="another's")

    s.run(chosen(), name="chosen", charges=charges)
    own = [e for e in s.ledger.entries if e.kind == "charge" and e.what != "another's"]
    assert [e.hash for e in charges] == [e.hash for e in own]
    assert [e.price.epsilon for e in charges] == [0.5, 0.125, 0.25]


def test_an_algorithm_may_stop_early_when_the_budget_is_gone():
    def greedy():
        answers = []
        try:
            while True:
                answers.append((yield EIGHTH.on(secret(1.0))))
        except BudgetExceeded:
            return answers

    s = session(dp.epsilon(1.0))
    assert len(s.run(greedy())) == 8
    assert s.spent <= dp.epsilon(1.0)


def test_an_error_reaches_the_caller_and_the_algorithm_is_closed():
    closed = []

    def careless():
        try:
            yield Laplace(scale=0.001).on(secret(1.0))
        finally:
            closed.append(1)

    with pytest.raises(BudgetExceeded):
        session(dp.epsilon(1.0)).run(careless())
    assert closed == [1]

    def mistaken():
        yield EIGHTH.on(secret(1.0))
        raise KeyError("mine")

    with pytest.raises(KeyError, match="mine"):
        session().run(mistaken())


def test_a_failure_inside_an_algorithm_is_opaque_there_too():
    def algorithm():
        try:
            yield EIGHTH.on(dp.Sensitive(explode, l1=1))
        except DataFailure as error:
            return error

    error = session().run(algorithm())
    assert "Secret" not in str(error)
    assert error.__context__ is None
    assert error.__cause__ is None


@pytest.mark.parametrize("thing", [lambda: None, iter([1]), EIGHTH.on(secret(1)), None])
def test_only_generators_run(thing):
    with pytest.raises(BadParameter, match="generator"):
        session().run(thing)


def test_what_an_algorithm_yields_must_be_releasable():
    def wrong():
        try:
            yield 5
        except BadParameter as error:
            return error.code

    assert session().run(wrong()) == "DP111"


def test_an_empty_algorithm_returns_its_result():
    def nothing():
        return 7
        yield

    assert session().run(nothing()) == 7


@pytest.mark.parametrize(
    ("steps", "cost"),
    [
        (0, "nothing was spent"),
        (1, "this step was not charged; the step before it cost ε 0.125"),
        (3, "this step was not charged; the 3 steps before it cost ε 0.375"),
    ],
)
def test_an_error_says_what_the_steps_before_it_cost_and_not_those_of_earlier_runs(steps, cost):
    def chosen():
        for _ in range(steps):
            yield EIGHTH.on(secret(1.0))
        yield Laplace(scale=0.001).on(secret(1.0))

    s, charges = session(dp.epsilon(9.0)), []
    for _ in range(2):
        with pytest.raises(BudgetExceeded) as refused:
            s.run(chosen(), charges=charges)
        assert refused.value.cost == cost
    assert len(charges) == 2 * steps


# ---- adaptivity


BUDGETS = {
    "pure": dp.epsilon(1.0),
    "approx": dp.epsilon(1.0, delta=1e-6),
    "zcdp": dp.rho(0.1),
    "gdp": dp.mu(0.5),
}


def within(kind, admitted, order=None):
    """Worked out again from the mechanisms alone: do they stay within the ceiling together?"""
    if kind == "approx":
        pure = sum(m.pure() for m in admitted)
        curve = dp.Renyi(orders=[order], values=[sum(m.renyi(order) for m in admitted)])
        return pure <= 1 + 1e-9 or curve.epsilon_at(1e-6) <= 1 + 1e-9
    natural = {"pure": dp.Pure, "zcdp": dp.Zcdp, "gdp": dp.Gdp}[kind]
    losses = [m.loss(natural) for m in admitted]
    return not losses or sum(losses[1:], losses[0]) <= BUDGETS[kind]


@settings(deadline=None, max_examples=30)
@given(
    st.sampled_from(list(BUDGETS)),
    st.lists(st.floats(0.3, 50.0), min_size=1, max_size=30),
    st.integers(0, 2**32),
)
def test_no_adversary_passes_the_ceiling(kind, scales, salt):
    """The next mechanism is chosen after seeing the answers; refused charges change nothing."""
    s, admitted = session(BUDGETS[kind]), []

    def adversary():
        last = float(salt)
        for scale in scales:
            shrunk = scale / (1 + (int(last * 7) ^ salt) % 5)
            laplace = kind == "pure" or (kind != "gdp" and int(last) % 2)
            mechanism = Laplace(scale=shrunk) if laplace else Gaussian(sigma=shrunk)
            before = s.spent
            try:
                last = yield mechanism.on(secret(last))
                admitted.append(mechanism)
            except BudgetExceeded:
                assert s.spent == before

    s.run(adversary())
    assert within(kind, admitted, getattr(s.ledger.filter, "order", None))
    s.ledger.verify()


@pytest.mark.parametrize("kind", list(BUDGETS))
def test_a_session_without_a_ceiling_would_be_noticed(kind):
    loose = Laplace(scale=0.5) if kind == "pure" else Gaussian(sigma=0.5)
    assert not within(kind, [loose] * 3, order=20.0)
