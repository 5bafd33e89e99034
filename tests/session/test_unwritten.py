"""A ledger that fails after the charge: the error says what was spent, and holds no cause."""

import sys
import traceback
import warnings
from functools import partial
from itertools import count

import pyarrow as pa
import pytest
from tests.interrupting import Interrupt, alone

import deniable as dp
from deniable.errors import AskerStopped, DataFailure, LedgerFailure
from deniable.ledger import Account
from deniable.ledger.stores.store import STEPS, watching
from deniable.mechanisms import SparseVector
from deniable.session import drawing

SECRET = "Secret Person 8675309"
TENTH = dp.Laplace(scale=10.0)
TABLE = pa.table({"x": [1]})


def by_release(s, value):
    return s.release(TENTH.on(value))


def by_question(s, value):
    return s.release(TENTH.on(value), question="how many?")


def by_run(s, value):
    def algorithm():
        return (yield TENTH.on(value))

    return s.run(algorithm())


def by_handle(s, value):
    handle = s.open(SparseVector(epsilon=0.1, answers=5, threshold=1e9))
    return s.release(handle.on(value))


DOORS = {door.__name__: door for door in (by_release, by_question, by_run, by_handle)}
every_door = pytest.mark.parametrize("door", DOORS.values(), ids=list(DOORS))


def asked(door, error, *, step, fails):
    """Ask; once the value is computed, every write ends in an error at this step."""
    s = dp.open(TABLE, unit=dp.rows(), budget=dp.epsilon(1.0))
    begun = []

    def compute():
        begun.append(1)
        if fails:
            raise ValueError(SECRET)
        return 1

    def watch(reached):
        if begun and reached == step:
            raise error

    with watching(watch):
        try:
            return s, door(s, dp.Sensitive(compute, l1=1, l2=1, linf=1))
        except BaseException as told:
            return s, told


def held(error):
    """All that a logger could print of an error: the variables of every frame, and of its causes.

    The frames of this file, which know the secret, are left out.
    """
    found, seen = [], []
    while error is not None and error not in seen:
        seen.append(error)
        for frame, _ in traceback.walk_tb(error.__traceback__):
            if frame.f_code.co_filename != __file__:
                found += frame.f_locals.values()
        error = error.__cause__ or error.__context__
    return repr(found)


@every_door
@pytest.mark.parametrize("step", STEPS)
@pytest.mark.parametrize("error", [LedgerFailure("no room"), KeyboardInterrupt()], ids=type)
def test_a_stop_that_cannot_be_written_shows_no_cause_and_stops_all_the_same(door, step, error):
    s, told = asked(door, error, step=step, fails=True)
    assert isinstance(told, type(error))
    assert SECRET not in held(told) + str(told)
    with pytest.raises(AskerStopped):
        by_release(s, dp.Sensitive(lambda: 1, l1=1))
    if isinstance(told, LedgerFailure):
        assert "was spent" in told.cost
        assert "nothing was spent" not in str(told)
        assert ("nothing more" in told.cost) == (door is by_handle)


@pytest.mark.parametrize("step", STEPS)
def test_an_answer_that_cannot_be_kept_says_what_was_spent(step):
    s, told = asked(by_question, LedgerFailure("no room"), step=step, fails=False)
    assert isinstance(told, LedgerFailure)
    assert told.cost == "ε 0.1 was spent"
    assert s.spent == dp.epsilon(0.1)


@pytest.mark.parametrize("new", [True, False])
def test_a_stored_answer_that_cannot_be_shown_says_what_was_spent_on_it(monkeypatch, new):
    s = dp.open(TABLE, unit=dp.rows(), budget=dp.epsilon(1.0))
    s.ledger.share("ann", amount=dp.epsilon(0.5))
    ann, value = s.for_("ann"), dp.Sensitive(lambda: 1, l1=1)
    by_question(s if new else ann, value)

    def fail(_):
        raise LedgerFailure("no room")

    monkeypatch.setattr(Account, "halts", fail)
    with pytest.raises(LedgerFailure) as told:
        by_question(ann, value)
    assert told.value.cost == ("ε 0.1 was spent" if new else "nothing more was spent")
    assert ann.spent == dp.epsilon(0.1)


OURS = tuple(sys.modules[name].__file__ for name in ("deniable.session._session", drawing.__name__))


def interrupted(s, value, at):
    """Where a question was interrupted, and in what it ended; None if it was not."""
    interrupt = Interrupt(OURS, at=at)
    try:
        interrupt.during(lambda: by_question(s, value))
    except (KeyboardInterrupt, DataFailure, AskerStopped) as error:
        return interrupt.where, error
    return interrupt.where, None


@pytest.mark.parametrize("fails", [True, False])
def test_wherever_it_is_interrupted_a_failure_stops_and_all_is_put_back(fails):
    filters = list(warnings.filters)

    def once(at):
        s, other = (dp.open(TABLE, unit=dp.rows(), budget=dp.epsilon(1.0)) for _ in range(2))
        ran = []

        def compute():
            ran.append(1)
            return {}[SECRET] if fails else 1

        where, told = interrupted(s, dp.Sensitive(compute, l1=1), at)
        assert SECRET not in held(told), where
        assert not drawing._computing.get(), where
        if ran and fails:
            with pytest.raises(AskerStopped):
                by_release(s, dp.Sensitive(lambda: 1, l1=1))
        by_release(other, dp.Sensitive(lambda: 1, l1=1))
        assert list(warnings.filters) == filters, where
        s.ledger.verify()
        return where

    lines = next(at for at in count(1) if alone(partial(once, at)) is None)
    assert lines > 40, "there are lines to interrupt"


def test_the_look_at_frames_would_notice_a_cause():
    """Else the tests above could not fail."""

    def careless():
        raise LedgerFailure("no room") from ValueError(SECRET)

    program = compile("def told(cause, act):\n act()", "elsewhere.py", "exec")
    scope = {}
    exec(program, scope)
    with pytest.raises(LedgerFailure) as caught:
        scope["told"](SECRET, careless)
    assert SECRET in held(caught.value)
