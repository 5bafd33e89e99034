"""One connection, also across a fork; transactions that end as they must; lines by an index."""

import gc
import os
import sqlite3
import threading

import pytest

from deniable.errors import BadParameter, LedgerFailure
from deniable.ledger.stores import sql
from deniable.ledger.stores.sql import TABLES, OneConnection, SqlLines, SqlStore
from deniable.ledger.stores.store import CommitUnsure, Row


class Connection:
    def __init__(self):
        self.closed = False

    def close(self):
        self.closed = True


def taken_elsewhere(one):
    """Whether another thread can take the lock."""
    found = []

    def take():
        found.append(one.lock.acquire(blocking=False))
        if found[0]:
            one.lock.release()

    thread = threading.Thread(target=take)
    thread.start()
    thread.join()
    return found[0]


def test_every_connection_is_held_from_before_a_fork_until_after_it():
    connections = [OneConnection(Connection) for _ in range(3)]
    assert all(map(taken_elsewhere, connections))
    sql._before()
    try:
        assert not any(map(taken_elsewhere, connections))
    finally:
        sql._in_parent()
    assert all(map(taken_elsewhere, connections))


def test_a_fork_waits_for_who_uses_a_connection_and_the_child_opens_its_own():
    one = OneConnection(Connection)
    first = one.get()
    assert one.get() is first is one.now
    child = os.fork()
    if child == 0:
        code = 1
        try:
            fresh = one.now is None and one.get() is not first and not first.closed
            code = 0 if fresh and taken_elsewhere(one) else 2
        finally:
            os._exit(code)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    assert one.now is first
    one.close()
    assert first.closed
    assert one.now is None


@pytest.mark.parametrize("forking", [False, True])
def test_what_nobody_uses_any_more_is_closed_after_a_fork_under_way_at_the_latest(forking):
    one = OneConnection(Connection)
    held = one.get()
    if forking:
        ready, go = threading.Event(), threading.Event()

        def fork():
            sql._before()
            ready.set()
            go.wait()
            sql._in_parent()

        thread = threading.Thread(target=fork)
        thread.start()
        ready.wait()
        sql._held.remove(one)
        del one
        gc.collect()
        assert not held.closed
        go.set()
        thread.join()
    else:
        del one
        gc.collect()
    assert held.closed


# ---- transactions


class Failed(Exception):
    """What a driver raises."""


class Spoken(Connection):
    """Notes what it is told; fails at what it is told to fail at."""

    def __init__(self, said, fails=()):
        super().__init__()
        self.said, self.fails = said, fails

    def execute(self, statement):
        self.said.append(statement)
        if statement in self.fails:
            raise Failed(statement)

    def rollback(self):
        self.execute("ROLLBACK")

    def close(self):
        super().close()
        self.said.append("CLOSE")
        if "CLOSE" in self.fails:
            raise Failed("CLOSE")


class Shelf(SqlStore):
    """A store whose connections only take notes."""

    where, _errors, _reading, _writing = "shelf", (Failed,), "READ", "WRITE"

    def __init__(self, *, there=True, fails=()):
        self.said, self.there, self.fails = [], there, fails
        super().__init__(patience=1.0)

    def _connect(self):
        return Spoken(self.said, self.fails)

    def _begin(self, how):
        connection = self._one.get()
        connection.execute(how)
        return connection

    def _lines(self, connection):
        return connection

    def _is_ledger(self, connection):
        connection.execute("LOOK")
        return self.there

    def _lay_out(self, connection):
        connection.execute("LAY OUT")

    def _missing(self):
        return LedgerFailure("nothing there")

    def _failure(self, error):
        return LedgerFailure(f"could not {error}")


def test_a_ledger_that_is_there_is_not_laid_out_again():
    for create in (True, False):
        shelf = Shelf()
        shelf._prepare(create=create)
        assert shelf.said == ["READ", "LOOK", "COMMIT"]


def test_a_ledger_that_is_not_there_is_laid_out_only_where_it_may_be_created():
    shelf = Shelf(there=False)
    with pytest.raises(LedgerFailure, match="nothing there"):
        shelf._prepare(create=False)
    assert shelf.said == ["READ", "LOOK", "COMMIT"]
    shelf._prepare(create=True)
    assert shelf.said[3:] == ["READ", "LOOK", "COMMIT", "WRITE", "LOOK", "LAY OUT", "COMMIT"]


def test_what_another_process_laid_out_meanwhile_is_kept():
    shelf, looked = Shelf(), iter([False, True])
    shelf._is_ledger = lambda _: next(looked)
    shelf._prepare(create=True)
    assert shelf.said == ["READ", "COMMIT", "WRITE", "COMMIT"]


def works(error=None):
    def work(connection):
        connection.execute("WORK")
        if error is not None:
            raise error
        return 7

    return work


@pytest.mark.parametrize(
    ("fails", "error", "raised", "said"),
    [
        ((), None, None, ["WORK", "COMMIT"]),
        (("WRITE",), None, "could not WRITE", ["CLOSE"]),
        (("WORK",), None, "could not WORK", ["WORK", "CLOSE"]),
        (("WORK", "CLOSE"), None, "could not WORK", ["WORK", "CLOSE"]),
        ((), BadParameter("no"), "no", ["WORK", "ROLLBACK"]),
        (("ROLLBACK",), BadParameter("no"), "no", ["WORK", "ROLLBACK", "CLOSE"]),
        ((), KeyboardInterrupt("^C"), r"\^C", ["WORK", "CLOSE"]),
        (("COMMIT",), None, "could not COMMIT", ["WORK", "COMMIT", "CLOSE"]),
    ],
)
def test_a_transaction_is_committed_undone_or_its_connection_forgotten(fails, error, raised, said):
    shelf = Shelf(fails=fails)
    if raised is None:
        assert shelf.write(works(error)) == 7
    else:
        kinds = (LedgerFailure, BadParameter, KeyboardInterrupt, CommitUnsure)
        with pytest.raises(kinds, match=raised) as caught:
            shelf.write(works(error))
        assert (caught.type is CommitUnsure) == ("COMMIT" in fails)
    assert shelf.said == ["WRITE", *said]
    assert (shelf._one.now is None) == ("CLOSE" in said)


def test_a_reading_whose_commit_failed_is_a_failure_like_any_other():
    shelf = Shelf(fails=("COMMIT",))
    with pytest.raises(LedgerFailure, match="could not COMMIT"):
        shelf.read(works())
    assert shelf.said == ["READ", "WORK", "COMMIT", "CLOSE"]


def test_a_refusal_before_there_is_a_connection_undoes_nothing():
    shelf = Shelf()

    def begin(_):
        raise BadParameter("no")

    shelf._begin = begin
    with pytest.raises(BadParameter, match="no"):
        shelf.write(works())
    assert shelf.said == []


# ---- lines

ROWS = [
    Row(0, "{}", "a", "header", None, None, None),
    Row(1, "{}", "b", "share", "bob", None, None),
    Row(2, "{}", "c", "share", "ann", None, None),
    Row(3, "{}", "d", "charge", "ann", "q", "laplace"),
    Row(4, "{}", "e", "stop", "ann", None, None),
    Row(5, "{}", "f", "charge", None, "q", "gaussian,laplace"),
    Row(6, "{}", "g", "share", "ann", None, None),
]


@pytest.fixture
def lines_of():
    """Makes a ledger of these lines, and closes it afterwards."""
    made = []

    def make(rows, *, causes=True):
        connection = sqlite3.connect(":memory:")
        made.append(connection)
        for statement in TABLES[: None if causes else -1]:
            connection.execute(statement)
        lines = SqlLines(
            lambda statement, values: connection.execute(statement, tuple(values)).fetchall(),
            tables="SELECT name FROM sqlite_master",
            where="here",
        )
        for row in rows:
            lines.append(row)
        return lines

    yield make
    for connection in made:
        connection.close()


def test_lines_are_found_by_their_columns(lines_of):
    lines = lines_of(ROWS)
    assert lines.last() == ROWS[6]
    assert lines.since(2, limit=3) == ROWS[2:5]
    assert lines.since(5, limit=9) == ROWS[5:]
    assert lines.latest_of("bob") == ROWS[1]
    assert lines.latest_of("ann") == ROWS[6]
    assert lines.latest_of("eve") is None
    assert lines.asked("q") == [ROWS[3], ROWS[5]]
    assert lines.sharers() == ["ann", "bob"]
    assert lines.kinds() == ["charge", "header", "share", "stop"]
    assert lines.mechanisms() == ["gaussian,laplace", "laplace"]
    assert lines.stops() == [ROWS[4]]
    assert lines.written() == 0
    assert lines_of([]).last() is None


def test_a_number_of_a_line_that_is_no_number_is_damage(lines_of):
    lines = lines_of(ROWS)
    lines._run = lambda *_: [("6", *ROWS[6][1:])]
    with pytest.raises(LedgerFailure, match="was changed after it was written"):
        lines.last()


@pytest.mark.parametrize("causes", [True, False])
def test_causes_are_kept_until_they_are_forgotten_also_in_the_first_layout(lines_of, causes):
    lines = lines_of(ROWS, causes=causes)
    lines.forget_cause(4)
    assert lines.cause(4) == ""
    lines.keep_cause(4, "why")
    lines.keep_cause(5, "also")
    assert (lines.cause(4), lines.cause(5), lines.cause(6)) == ("why", "also", "")
    lines.forget_cause(4)
    assert (lines.cause(4), lines.cause(5)) == ("", "also")


def test_a_secret_is_one(lines_of):
    lines = lines_of([])
    assert lines.key() == ""
    lines.keep("k")
    assert lines.key() == "k"
    lines.keep("l")
    assert lines.key() == ""
