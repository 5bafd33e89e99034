"""Public steps of time, on a clock that stands until it is moved."""

from types import SimpleNamespace

import pytest

from deniable.server.jobs import pace

START = 1000.0


@pytest.fixture
def clock(monkeypatch):
    """The time, and what was slept; a sleep moves the clock as far as `wakes` says."""
    held = SimpleNamespace(now=START, slept=[], wakes=lambda left: left)
    monkeypatch.setattr(pace, "now", lambda: held.now)

    def sleep(left):
        held.slept.append(left)
        held.now += held.wakes(left)
        assert len(held.slept) < 50, "it never ends"

    monkeypatch.setattr(pace, "time", SimpleNamespace(sleep=sleep))
    return held


@pytest.mark.parametrize(
    ("taken", "step"),
    [
        (0.0, 0.5), (0.49, 0.5), (0.5, 0.5), (0.51, 2.0), (2.0, 2.0), (2.25, 4.0), (3.9, 4.0),
        (5.0, 6.0), (7.0, 8.0),
    ],
)  # fmt: skip
def test_beyond_the_last_step_there_are_multiples_of_it(taken, step):
    assert pace.step_after(taken, (0.5, 2.0)) == step


@pytest.mark.parametrize(("taken", "step"), [(-3.0, 1.0), (0.0, 1.0), (1.5, 4.0), (4.5, 8.0)])
def test_the_end_is_the_step_after_the_work_and_a_clock_set_back_counts_as_none(clock, taken, step):
    turn = pace.Pace(steps=(1.0, 4.0), start=START)
    clock.now = START + taken
    assert turn.end == START + step
    clock.now += 100
    assert turn.end == START + step


def test_one_waits_exactly_until_the_step(clock):
    turn = pace.Pace(steps=(1.0, 4.0), start=START)
    clock.now += 1.5
    assert turn.end == START + 4
    turn.wait()
    assert clock.slept == [2.5]
    turn.wait()  # it has come
    assert clock.slept == [2.5]


def test_where_the_clock_lags_one_sleeps_again_but_never_longer_than_the_step_in_all(clock):
    turn = pace.Pace(steps=(4.0,), start=START)
    clock.now += 1.5
    clock.wakes = lambda left: left / 2
    turn.wait()
    assert clock.slept == [2.5, 1.25, 0.25]


def test_a_clock_that_is_set_back_meanwhile_makes_nobody_wait_longer_than_the_step(clock):
    turn = pace.Pace(steps=(4.0,), start=START)
    assert turn.end == START + 4
    clock.wakes = lambda left: -1000.0
    turn.wait()
    assert clock.slept == [4.0]
