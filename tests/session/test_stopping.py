"""A failure is an answer: one bit to its asker, and none after it until the curator resumes."""

import multiprocessing
import signal
import sys
import threading
import warnings

import numpy as np
import pyarrow as pa
import pytest

import deniable as dp
from deniable import sensitivity
from deniable.errors import AskerStopped, DataFailure
from deniable.mechanisms import SparseVector
from deniable.session import open as open_session

TINY = dp.Laplace(scale=1e12)
INCOME = 234_567
ERROR = ValueError


def session(ledger=None, **options):
    table = pa.table({"income": [INCOME]})
    return open_session(table, unit=dp.rows(), budget=dp.epsilon(5.0), ledger=ledger, **options)


def probe(threshold):
    """A value that can be computed unless one person's income is at most the threshold."""

    def compute():
        if threshold >= INCOME:
            raise ERROR(f"Secret Person earns {INCOME}")
        return 1

    return dp.Sensitive(compute, l1=1, l2=1, linf=1)


def by_release(s, threshold):
    s.release(TINY.on(probe(threshold)))


def by_question(s, threshold):
    s.release(TINY.on(probe(threshold)), question=f"at most {threshold}")


def by_run(s, threshold):
    def algorithm():
        yield TINY.on(probe(threshold))

    s.run(algorithm())


def by_handle(s, threshold):
    handle = s.open(SparseVector(epsilon=1e-3, answers=5, threshold=1e9))
    s.release(handle.on(probe(threshold)))


DOORS = {door.__name__: door for door in (by_release, by_question, by_run, by_handle)}
every_door = pytest.mark.parametrize("door", DOORS.values(), ids=list(DOORS))


def bisect(ask):
    """The attack: 21 questions that fail or not; the number of bits that were learnt."""
    bits, low, high = 0, 0, 2**21
    while low < high:
        middle = (low + high) // 2
        try:
            ask(middle)
        except DataFailure:
            high, bits = middle, bits + 1
        except AskerStopped:
            return bits
        else:
            low, bits = middle + 1, bits + 1
    assert low == INCOME
    return bits


def failures_on_the_way():
    """How many of the 21 questions fail."""
    count, low, high = 0, 0, 2**21
    while low < high:
        middle = (low + high) // 2
        if middle >= INCOME:
            high, count = middle, count + 1
        else:
            low = middle + 1
    return count


@every_door
def test_the_attack_reads_nothing_past_its_first_failure(door):
    s = session()
    assert bisect(lambda threshold: door(s, threshold)) == 1  # its first question fails
    assert len(s.failures) == 1
    before = s.ledger.head()
    for other in DOORS.values():
        with pytest.raises(AskerStopped):
            other(s, 0)
    assert s.ledger.head() == before


@every_door
def test_each_failure_that_the_attack_sees_is_a_resumption_in_the_next_certificate(door):
    s = session()

    def ask(threshold):
        try:
            door(s, threshold)
        except DataFailure:
            s.resume()
            raise

    assert bisect(ask) == 21
    release = s.release(TINY.on(probe(0)))
    stated, failed = release.certificate()["ledger"], failures_on_the_way()
    assert stated["resumptions"] == stated["failures"] == failed > 5
    assert f"resumed {failed} times" in repr(s)


def test_an_algorithm_that_catches_the_failure_cannot_go_on():
    s, told = session(), []

    def stubborn():
        for threshold in (INCOME, 0, 0, 0):
            try:
                yield TINY.on(probe(threshold))
            except dp.DeniableError as error:
                told.append(type(error))
        try:
            yield SparseVector(epsilon=1e-3, answers=5, threshold=1e9)
        except dp.DeniableError as error:
            told.append(type(error))
        return "done"

    assert s.run(stubborn()) == "done"
    assert told == [DataFailure] + 4 * [AskerStopped]
    assert [entry.kind for entry in s.ledger.entries] == ["charge", "stop"]


def test_mechanisms_opened_before_the_failure_wait_for_the_curator():
    s = session()
    handle = s.open(SparseVector(epsilon=1e-3, answers=5, threshold=1e9))
    with pytest.raises(DataFailure):
        by_release(s, INCOME)
    with pytest.raises(AskerStopped):
        s.release(handle.on(probe(0)))
    s.resume()
    assert s.release(handle.on(probe(0))).certificate()["ledger"]["resumptions"] == 1


def test_the_curator_prints_the_cause_with_its_question():
    s = session()
    with pytest.raises(DataFailure):
        by_question(s, INCOME)
    assert f"at most {INCOME}" in str(s.failures)
    assert "Secret Person" in str(s.failures)
    assert "Secret" not in repr(s.failures) + repr(s) + s._repr_html_()
    seen = s.resume()
    assert "Secret Person" in seen[0].detail
    assert str(s.failures) == "no failures"


def raising(error):
    def compute():
        raise error

    return dp.Sensitive(compute, l1=1)


def interrupted():
    signal.raise_signal(signal.SIGINT)
    return 1


def test_an_interrupt_is_charged_and_stops_nobody():
    s, before = session(), signal.getsignal(signal.SIGINT)
    with pytest.raises(KeyboardInterrupt):
        s.release(TINY.on(dp.Sensitive(interrupted, l1=1)))
    by_release(s, 0)
    assert not s.failures
    assert signal.getsignal(signal.SIGINT) is before


def test_a_handler_that_an_engine_installs_meanwhile_is_kept():
    def handler(*_):
        raise KeyboardInterrupt

    before = signal.getsignal(signal.SIGINT)
    try:
        install = dp.Sensitive(lambda: signal.signal(signal.SIGINT, handler) and 1, l1=1)
        session().release(TINY.on(install))
        assert signal.getsignal(signal.SIGINT) is handler
    finally:
        signal.signal(signal.SIGINT, before)


@every_door
def test_an_interrupt_that_a_value_raises_itself_is_a_failure(door, monkeypatch):
    monkeypatch.setitem(globals(), "ERROR", KeyboardInterrupt)
    s = session()
    assert bisect(lambda threshold: door(s, threshold)) == 1
    assert len(s.failures) == 1


class Unprintable(Exception):
    @property
    def __notes__(self):
        raise SystemExit(INCOME)


class Mute(BaseException):
    def __str__(self):
        raise KeyboardInterrupt(INCOME)


ERRORS = {
    "memory": MemoryError,
    "interrupt": lambda: KeyboardInterrupt(INCOME),
    "recursion": RecursionError,
    "generator": GeneratorExit,
    "assertion": AssertionError,
    "exit code": lambda: SystemExit(INCOME),
    "exit text": lambda: SystemExit(str(INCOME)),
    "group": lambda: BaseExceptionGroup("two", [KeyboardInterrupt()]),
    "exits while printed": lambda: Unprintable(INCOME),
    "interrupts while printed": lambda: Mute(INCOME),
}


@pytest.mark.parametrize("make", ERRORS.values(), ids=list(ERRORS))
def test_every_other_exception_stops_and_shows_nothing(make):
    s = session()
    with pytest.raises(DataFailure) as caught:
        s.release(TINY.on(raising(make())))
    assert caught.value.__context__ is caught.value.__cause__ is None
    trace = caught.value.__traceback__.tb_next  # the first frame is the test's own
    while trace is not None:
        held = [v for v in trace.tb_frame.f_locals.values() if hasattr(v, "detail")]
        assert not held
        trace = trace.tb_next
    with pytest.raises(AskerStopped):
        by_release(s, 0)


def test_a_function_of_samples_that_exits_answers_with_the_middle():
    s = session()
    steps = sensitivity.sample_and_aggregate(
        [1, 2, 3], sys.exit, parts=1, low=0.0, high=1.0, epsilon=1e-3
    )
    assert 0 <= s.run(steps) <= 1
    assert not s.failures


def test_the_cause_does_not_say_that_nothing_was_spent():
    s = session()
    with pytest.raises(DataFailure):
        s.release(TINY.on(raising(dp.BadParameter("wrong"))))
    assert "wrong" in s.failures[0].detail
    assert "nothing was spent" not in s.failures[0].detail


def warning():
    warnings.warn(f"overflow at {INCOME}", RuntimeWarning, stacklevel=1)
    return 1


@pytest.mark.parametrize("filters", ["always", "error"])
def test_a_warning_reaches_the_curator_and_not_the_asker(filters, recwarn):
    warnings.simplefilter(filters)
    s = session()
    s.release(TINY.on(dp.Sensitive(warning, l1=1)))
    with pytest.raises(DataFailure):
        s.release(TINY.on(dp.Sensitive(lambda: warning() / 0, l1=1)))
    assert f"overflow at {INCOME}" in s.failures[0].detail
    assert not recwarn.list


def test_a_warning_is_not_caught_by_another_thread_either():
    inside, catching, done = (threading.Event() for _ in range(3))
    caught = []

    def catch():
        inside.wait(300)
        with warnings.catch_warnings(record=True) as recorded:
            warnings.simplefilter("always")
            warnings.warn("mine", stacklevel=1)
            catching.set()
            done.wait(300)
            caught.extend(str(each.message) for each in recorded)

    def compute():
        inside.set()
        catching.wait(300)
        return warning()

    thread = threading.Thread(target=catch)
    thread.start()
    session().release(TINY.on(dp.Sensitive(compute, l1=1)))
    done.set()
    thread.join()
    assert caught == ["mine"]


def test_computations_that_overlap_leave_warnings_as_they_were():
    before, show = list(warnings.filters), warnings.showwarning
    first, second = threading.Event(), threading.Event()

    def earlier():
        first.set()
        second.wait(300)
        return warning()

    def later():
        second.set()
        return warning()

    s = session()
    thread = threading.Thread(target=lambda: s.release(TINY.on(dp.Sensitive(earlier, l1=1))))
    thread.start()
    first.wait(300)
    with pytest.warns(UserWarning, match="outside"):
        warnings.warn("outside", stacklevel=1)
    session().release(TINY.on(dp.Sensitive(later, l1=1)))
    thread.join()
    assert (list(warnings.filters), warnings.showwarning) == (before, show)


def test_a_value_that_noise_cannot_be_added_to_stops_like_any_other_failure():
    s = session()
    with pytest.raises(DataFailure):
        s.release(TINY.on(dp.Sensitive(lambda: np.nan, l1=1)))
    with pytest.raises(AskerStopped):
        by_release(s, 0)


def test_another_session_and_another_thread_are_refused(tmp_path):
    first, second = (session(tmp_path / "a.db") for _ in range(2))
    with pytest.raises(DataFailure):
        by_release(first, INCOME)
    told = []

    def ask():
        try:
            by_release(second, 0)
        except AskerStopped as error:
            told.append(error.code)

    thread = threading.Thread(target=ask)
    thread.start()
    thread.join()
    assert told == ["DP602"]
    assert "Secret Person" in str(second.failures)
    second.resume()
    by_release(first, 0)


def _fail_there(path):
    with pytest.raises(DataFailure):
        by_release(session(path), INCOME)


def test_a_failure_in_another_process_stops_this_one(tmp_path):
    here = session(tmp_path / "a.db")
    by_release(here, 0)
    context = multiprocessing.get_context("spawn")
    child = context.Process(target=_fail_there, args=(tmp_path / "a.db",))
    child.start()
    child.join()
    assert child.exitcode == 0
    with pytest.raises(AskerStopped):
        by_release(here, 0)


def test_askers_are_stopped_one_by_one():
    s = session()
    ann, bob = s.for_("ann"), s.for_("bob")
    with pytest.raises(DataFailure):
        ann.release(TINY.on(probe(INCOME)))
    with pytest.raises(AskerStopped, match="ann is stopped"):
        ann.release(TINY.on(probe(0)))
    bob.release(TINY.on(probe(0)))
    by_release(s, 0)
    s.resume(asker="ann")
    ann.release(TINY.on(probe(0)))


def test_a_stored_answer_is_still_shown():
    s = session()
    first = s.release(TINY.on(probe(0)), question="q")
    with pytest.raises(DataFailure):
        by_release(s, INCOME)
    assert s.release(TINY.on(probe(0)), question="q").value == first.value
