"""Nothing that depends on a row leaves but noise: no error, log, traceback or debugger tells."""

import gc
import io
import logging
import pickle
import signal
import sys
import threading
import traceback
import warnings
from types import SimpleNamespace

import numpy as np
import pyarrow as pa
import pytest

import deniable as dp
from deniable.errors import DataFailure, HiddenValue
from deniable.mechanisms.numbers import Laplace
from deniable.session import open as open_session
from deniable.session.drawing import (
    Broken,
    _Quiet,
    answers,
    charged,
    finite,
    refuse_inside,
    refuse_replay,
    refuse_watched,
    watched,
)

SECRET = "Secret Person 8675309"
TENTH = Laplace(scale=10.0)


def session():
    return open_session(pa.table({"age": [1]}), unit=dp.rows(), budget=dp.epsilon(10.0))


def leaky():
    row = SECRET
    number = 8675309
    raise ValueError(f"could not convert {row!r} to a number {number}")


def everything_a_logger_could_print(error):
    """The traceback with all locals, the chain of causes, the error itself in every form."""
    below = error.__traceback__.tb_next  # the first frame is the test's own
    shown = traceback.TracebackException(type(error), error, below, capture_locals=True)
    text = "".join(shown.format(chain=True)) + str(error) + repr(error) + str(error.to_json())
    text += error._repr_html_() + str(pickle.dumps(error)) + "".join(error._render_traceback_())
    frame = below
    while frame is not None:
        text += repr(frame.tb_frame.f_locals)
        frame = frame.tb_next
    return text


@pytest.mark.parametrize("how", ["release", "run", "open"])
def test_a_failure_shows_no_value_in_any_form(how, caplog, capsys):
    s, sensitive = session(), dp.Sensitive(leaky, l1=1, linf=1)

    def algorithm():
        yield TENTH.on(sensitive)

    ways = {
        "release": lambda: s.release(TENTH.on(sensitive), question="how many"),
        "run": lambda: s.run(algorithm()),
        "open": lambda: s.release(s.open(2 * TENTH).on(sensitive)),
    }
    with caplog.at_level(logging.DEBUG), pytest.raises(DataFailure) as caught:
        ways[how]()
    shown = everything_a_logger_could_print(caught.value)
    assert "8675309" not in shown
    assert caught.value.__context__ is None
    assert caught.value.__cause__ is None
    out = capsys.readouterr()
    assert "8675309" not in caplog.text + out.out + out.err
    assert "8675309" not in repr(s) + s._repr_html_() + repr(s.failures)
    assert "8675309" in s.failures[0].detail  # the curator is told


def test_the_curator_is_told_what_was_warned_of_before_a_failure():
    def fails():
        warnings.warn("8675309 is large", stacklevel=1)
        raise ValueError("and then it failed")

    s = session()
    with pytest.raises(DataFailure) as caught:
        s.release(TENTH.on(dp.Sensitive(fails, l1=1)))
    assert "8675309" not in everything_a_logger_could_print(caught.value)
    assert "8675309 is large" in s.failures[0].detail
    assert "and then it failed" in s.failures[0].detail


def test_the_check_above_would_notice_a_leak():
    """The same look at a careless session that chains the cause."""

    def careless():
        try:
            leaky()
        except ValueError as error:
            raise DataFailure("something failed") from error

    with pytest.raises(DataFailure) as caught:
        careless()
    assert "8675309" in everything_a_logger_could_print(caught.value)


def test_no_frame_that_held_a_value_outlives_a_failure():
    class Row:
        pass

    def compute():
        row = Row()
        raise ValueError(row)

    s = session()
    with pytest.raises(DataFailure):
        s.release(TENTH.on(dp.Sensitive(compute, l1=1)))
    gc.collect()
    assert not [thing for thing in gc.get_objects() if isinstance(thing, Row)]


def test_a_value_that_fails_while_noise_is_added_shows_as_little():
    s = session()
    with pytest.raises(DataFailure) as caught:
        s.release(TENTH.on(dp.Sensitive(lambda: {"name": SECRET}, l1=1)))
    assert "8675309" not in everything_a_logger_could_print(caught.value)


def test_an_exception_that_cannot_be_printed_is_no_way_out():
    class Rude(Exception):
        def __str__(self):
            raise RuntimeError(SECRET)

    def compute():
        raise Rude

    s = session()
    with pytest.raises(DataFailure) as caught:
        s.release(TENTH.on(dp.Sensitive(compute, l1=1)))
    assert "8675309" not in everything_a_logger_could_print(caught.value)


def test_the_same_text_whatever_failed_and_wherever():
    texts = set()
    for compute in (leaky, lambda: float("nan"), lambda: np.array([np.inf]), lambda: "x"):
        with pytest.raises(DataFailure) as caught:
            session().release(TENTH.on(dp.Sensitive(compute, l1=1)))
        texts.add(str(caught.value))
    assert len(texts) == 1


def test_sensitive_values_hide_in_a_session_too():
    step = TENTH.on(dp.Sensitive(lambda: SECRET, l1=1))
    assert "8675309" not in repr(step) + str(step) + f"{step}"
    with pytest.raises(HiddenValue):
        pickle.dumps(step.value)


def test_broken_hides_its_detail():
    broken = answers([(lambda value: value, dp.Sensitive(leaky, l1=1))])
    assert isinstance(broken, Broken)
    assert "8675309" not in repr(broken)
    assert "8675309" in broken.detail


def test_answers_come_in_order():
    parts = [(lambda v: v + 1, dp.Sensitive(lambda n=n: n, l1=1)) for n in range(3)]
    assert answers(parts) == [1, 2, 3]


@pytest.mark.parametrize(
    "value",
    [
        0,
        1.5,
        "text",
        None,
        True,
        [1, 2.0],
        (1, "a"),
        np.arange(3),
        {"a": float("nan")},
        [[1], [2, 3]],
    ],
    ids=repr,
)
def test_finite_values_pass_unchanged(value):
    assert finite(value) is value


def test_a_noisy_answer_that_is_no_number_is_a_failure_as_well():
    assert isinstance(answers([(lambda _: float("inf"), dp.Sensitive(lambda: 1, l1=1))]), Broken)


def test_nothing_is_printed_while_computing_off_a_terminal(monkeypatch):
    stream = io.StringIO()
    monkeypatch.setattr(sys, "stderr", stream)
    session().release(TENTH.on(dp.Sensitive(lambda: 1, l1=1)))
    assert stream.getvalue() == ""


@pytest.mark.parametrize("inside", [True, False])
def test_after_a_fork_only_the_thread_that_forked_is_at_work(inside):
    """The other threads of the old process are not here, and nobody waits for them."""
    quiet, this, before = _Quiet(), threading.get_ident(), list(warnings.filters)
    with quiet():
        quiet._inside.add(this + 1)  # another thread, which does not live on
        if not inside:
            quiet._inside.discard(this)
        quiet.forked()
        assert quiet._inside == ({this} if inside else set())
        assert (quiet._before is not None) == inside
        assert (warnings.filters == before) == (not inside)
    assert quiet._before is None
    assert warnings.filters == before


class Watching:
    """Answers with what was computed, and a word."""

    def __init__(self):
        self.entries = []

    def charged(self, entry):
        self.entries.append(entry)

    def answer(self, draw, value, compute):
        return [draw(0), value.bound("l1"), compute()]


def test_a_watcher_answers_in_its_block_alone():
    watcher, parts = Watching(), [(lambda v: v + 1, dp.Sensitive(lambda: 7, l1=2))]
    with watched(watcher):
        assert answers(parts) == [[1, 2.0, 7]]
        assert charged("line") == "line"
    assert answers(parts) == [8]
    assert charged("another") == "another"
    assert watcher.entries == ["line"]


@pytest.mark.parametrize("durable", [True, False])
def test_a_replay_neither_writes_what_lasts_nor_works_elsewhere(durable):
    ledger = SimpleNamespace(durable=durable)
    refuse_replay(ledger)
    refuse_watched()
    with watched(Watching()):
        with pytest.raises(dp.BadParameter, match="in other processes"):
            refuse_watched()
        if durable:
            with pytest.raises(dp.BadParameter, match="keeps its ledger in memory"):
                refuse_replay(ledger)
        else:
            refuse_replay(ledger)


def interrupted():
    signal.raise_signal(signal.SIGINT)


def by_itself():
    raise KeyboardInterrupt


@pytest.mark.parametrize(
    ("compute", "calls", "found"),
    [
        (lambda: 1, 0, [1]),
        (leaky, 2, "8675309"),
        (by_itself, 2, "KeyboardInterrupt"),
        (interrupted, 0, Broken(interrupted=True)),
    ],
)
def test_a_failure_is_told_at_once_and_in_the_end_and_an_interrupt_from_outside_is_none(
    compute, calls, found
):
    told = []
    drawn = answers(
        [(lambda v: v, dp.Sensitive(compute, l1=1))], failed=lambda: told.append(refuse_told())
    )
    if isinstance(found, str):
        assert found in drawn.detail
        assert not drawn.interrupted
    else:
        assert drawn == found
    assert told == [True, False][:calls]  # the first is still inside


def refuse_told():
    """Whether a value is being computed, as whoever charges is told."""
    try:
        refuse_inside("charged")
    except dp.BadParameter:
        return True
    return False


def test_a_thread_that_is_started_inside_a_computation_is_inside_for_good():
    threads, told = {}, []

    def watch(name):
        threads[name] = threading.Thread(target=lambda: told.append((name, refuse_told())))
        return threads[name]

    outer = threading.Thread(target=lambda: watch("inside, by another").start())
    parts = [
        (lambda v: v, dp.Sensitive(lambda: (watch("inside").start(), outer.start()) and 1, l1=1))
    ]
    answers(parts)
    outer.join()
    watch("outside").start()
    for thread in threads.values():
        thread.join()
    assert dict(told) == {"inside": True, "inside, by another": True, "outside": False}


@pytest.mark.parametrize("number", [np.nan, np.inf, -np.inf])
@pytest.mark.parametrize(
    "made",
    [
        lambda n: n, lambda n: [n], lambda n: (1, n), lambda n: np.array([1, n]),
        lambda n: [[1], [2, n]], lambda n: np.array([1, n], dtype=object),
        lambda n: np.array([1, n * 1j]), lambda n: pa.array([1.0, n]),
    ],
)  # fmt: skip
def test_no_number_in_a_list_or_an_array_is_beyond_the_finite(made, number):
    with pytest.raises(ValueError, match="not a finite number"):
        finite(made(number))
