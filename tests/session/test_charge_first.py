"""Whichever door is used, a value is computed after its charge is in the ledger, and never before.

A crash between the two loses budget; the other order would lose privacy.
"""

import pyarrow as pa
import pytest

import deniable as dp
from deniable.errors import BudgetExceeded
from deniable.mechanisms import SparseVector
from deniable.session import open as open_session

EIGHTH = dp.Laplace(scale=8.0)


def through_run(session, wanted):
    def algorithm():
        return (yield wanted)

    return session.run(algorithm())


def twice_through_run(session, wanted):
    def algorithm():
        yield wanted
        yield wanted

    return session.run(algorithm())


def opened(session, wanted):
    (step,) = wanted if isinstance(wanted, list) else [wanted]
    handle = session.open(SparseVector(epsilon=0.5, answers=3, threshold=0.0))
    return session.release(handle.on(step.value))


# Each door, how many values it computes, and the charges that must be there when each is.
DOORS = {
    "release": (lambda s, step: s.release(step()), [1]),
    "release of a question": (lambda s, step: s.release(step(), question="q"), [1]),
    "release together": (lambda s, step: s.release([step(), step(), step()]), [1, 1, 1]),
    "run": (lambda s, step: through_run(s, step()), [1]),
    "run of a list": (lambda s, step: through_run(s, [step(), step()]), [1, 1]),
    "run of a tuple": (lambda s, step: through_run(s, (step(), step())), [1, 1]),
    "run of two steps": (lambda s, step: twice_through_run(s, step()), [1, 2]),
    "an opened mechanism": (lambda s, step: opened(s, step()), [1]),
}


def asked(door, budget):
    """What the ledger held when each value was computed."""
    session = open_session(pa.table({"x": [1]}), unit=dp.rows(), budget=budget)
    seen = []

    def value():
        seen.append(sum(entry.kind == "charge" for entry in session.ledger.entries))
        return 1.0

    def step():
        return EIGHTH.on(dp.Sensitive(value, l1=1, linf=1))

    try:
        DOORS[door][0](session, step)
    except BudgetExceeded:
        assert not session.ledger.entries
    return seen


@pytest.mark.parametrize("door", DOORS)
def test_a_value_is_computed_when_its_charge_is_written(door):
    assert asked(door, dp.epsilon(10.0)) == DOORS[door][1]


@pytest.mark.parametrize("door", DOORS)
def test_nothing_is_computed_where_the_budget_does_not_allow_it(door):
    assert asked(door, dp.epsilon(0.1)) == []
