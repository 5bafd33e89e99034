"""When a worker's process is kept, and when another takes its place; no process is started."""

import queue
import threading
from types import SimpleNamespace

import pytest

import deniable as dp
from deniable.server.jobs import workers


class Pipe:
    """Answers with the task; raises once it is broken."""

    def __init__(self):
        self.sent, self.closed, self.broken = [], False, None

    def send(self, task):
        self.sent.append(task)

    def recv(self):
        if self.broken:
            raise self.broken
        return {"ok": self.sent[-1]}

    def close(self):
        self.closed = True


class Process:
    def __init__(self, *, target, args, daemon):
        assert (target, daemon) == (workers.work, True)
        self.args, self.alive, self.exitcode, self.said = args, False, None, []
        self.ends = None  # with this code, which is known once it was waited for
        self.pid = id(self)

    def start(self):
        self.alive = True

    def is_alive(self):
        return self.alive

    def join(self, *seconds):
        self.said.append("join")
        self.exitcode = self.ends

    def kill(self):
        self.alive = False
        self.said.append("kill")


@pytest.fixture
def begun(monkeypatch):
    """All processes and the pipes to them, in order."""
    made = []

    def process(**given):
        made[-1].process = Process(**given)
        return made[-1].process

    def pipe():
        made.append(SimpleNamespace(ours=Pipe(), theirs=Pipe()))
        return made[-1].ours, made[-1].theirs

    monkeypatch.setattr(workers, "_CONTEXT", SimpleNamespace(Process=process, Pipe=pipe))
    return made


def test_a_process_begins_with_the_first_task_and_is_kept(begun):
    worker = workers.Worker("groups", "ledgers", 1, 2.0)
    assert worker.pid is None
    assert not begun
    assert [worker.do({"n": n}) for n in range(3)] == [{"ok": {"n": n}} for n in range(3)]
    (only,) = begun
    assert only.process.args == (only.theirs, "groups", "ledgers", 1, 2.0)
    assert worker.pid == only.process.pid
    assert only.theirs.closed
    assert not only.ours.closed


def test_a_process_that_died_in_between_is_replaced(begun):
    worker = workers.Worker("g")
    worker.do({})
    begun[0].process.alive = False
    worker.do({})
    assert len(begun) == 2
    assert begun[0].ours.closed
    assert worker.pid == begun[1].process.pid


def test_a_process_that_could_not_be_started_is_started_with_the_next_task(begun, monkeypatch):
    """Only what was started can be waited for."""

    def failing(process):
        raise OSError("no more processes")

    def join(*seconds):
        raise AssertionError("can only join a started process")

    worker = workers.Worker("g")
    with monkeypatch.context() as patched:
        patched.setattr(Process, "start", failing)
        with pytest.raises(OSError, match="no more"):
            worker.do({})
    begun[0].process.join = join
    assert worker.do({"n": 1}) == {"ok": {"n": 1}}
    assert len(begun) == 2


def test_new_tables_are_answered_from_by_a_new_process_and_the_old_one_is_ended(begun):
    worker = workers.Worker("old")
    worker.do({})
    worker.renew("new")
    assert begun[0].process.alive  # a task under way is not disturbed
    for _ in range(2):
        worker.do({})
    assert [each.process.args[1:] for each in begun] == [("old",), ("new",)]
    assert not begun[0].process.alive
    assert begun[0].process.said == ["join", "kill", "join"]


@pytest.mark.parametrize("broken", [EOFError(), BrokenPipeError()])
def test_a_process_that_ends_over_a_task_is_told_by_its_code_and_replaced(begun, broken):
    worker = workers.Worker("g")
    worker.do({})
    begun[0].ours.broken, begun[0].process.ends = broken, -14
    with pytest.raises(workers.Died) as died:
        worker.do({})
    assert died.value.code == -14
    assert worker.pid is None
    assert begun[0].ours.closed
    worker.do({})
    assert len(begun) == 2


def test_a_worker_that_the_server_stops_over_a_task_has_no_code(begun):
    worker = workers.Worker("g")
    worker.do({})

    def recv():
        worker.stop()
        raise EOFError

    begun[0].ours.recv = recv
    with pytest.raises(workers.Died) as died:
        worker.do({})
    assert died.value.code is None


def test_all_are_renewed_with_the_same_limits_and_all_are_stopped(begun):
    limits = {"memory": 5, "deadline": 7.0}
    both = workers.Workers(2, groups={"a": 1}, ledgers={"a": "x"}, **limits)
    both._warmed()
    both.renew({"b": 2}, {"b": "y"})
    both._warmed()
    given = [each.process.args[1:] for each in begun]
    assert given == [({"a": 1}, {"a": "x"}, 5, 7.0)] * 2 + [({"b": 2}, {"b": "y"}, 5, 7.0)] * 2
    assert [each.ours.sent for each in begun] == [[{"kind": "ready"}]] * 4
    both.stop()
    assert not any(each.process.alive for each in begun)
    assert all(each.pid is None for each in both.all)


def test_processes_are_started_in_the_background(begun, monkeypatch):
    class Thread:
        def __init__(self, *, target, daemon):
            assert daemon, "who waits for them does not keep the server from ending"
            self.start = target

    changed = SimpleNamespace(**vars(threading) | {"Thread": Thread})
    monkeypatch.setattr(workers, "threading", changed)
    workers.Workers(3, groups={}, ledgers={}, memory=5, deadline=7.0).warm()
    assert [each.ours.sent for each in begun] == [[{"kind": "ready"}]] * 3


@pytest.mark.parametrize(("waited", "left"), [(0.0, 5.0), (3.0, 2.0), (5.0, 0.0), (9.0, 0.0)])
@pytest.mark.parametrize("long", [True, False])
def test_a_worker_is_waited_for_as_long_as_patience_is_left(waited, left, long, monkeypatch):
    times, asked = iter([100.0, 100.0 + waited]), []

    def get(*, timeout):
        asked.append(timeout)
        raise queue.Empty

    clock = SimpleNamespace(monotonic=lambda: next(times))  # not everybody's, only theirs
    monkeypatch.setattr(workers, "time", clock)
    pool = workers.Workers(2, groups={}, ledgers={}, memory=5, deadline=7.0)
    pool._idle = SimpleNamespace(get=get)
    pool._long = SimpleNamespace(acquire=lambda *, timeout: timeout == 5.0, release=list)
    with pytest.raises(dp.NotReady, match="busy"), pool.one(patience=5.0, long=long):
        pytest.fail("none is free")
    assert asked == [left]
