"""How a ledger in Postgres connects and begins; no server is needed for that."""

from types import SimpleNamespace

import pytest

from deniable.errors import LedgerFailure
from deniable.ledger.stores import postgres


class Failed(Exception):
    """What the driver raises for a connection that died."""


class Connection:
    def __init__(self, *, status=0, dead=False, fsync="on"):
        self.info, self.dead = SimpleNamespace(transaction_status=status), dead
        self.said, self.closed, self.fsync = [], False, fsync

    def execute(self, statement, *_):
        if self.dead:
            raise Failed
        self.said.append(statement)
        return SimpleNamespace(fetchone=lambda: (self.fsync,))

    def close(self):
        self.closed = True


@pytest.fixture
def store(monkeypatch):
    """A store that is connected to nothing, at second 100."""
    held = object.__new__(postgres.PostgresStore)
    monkeypatch.setattr(postgres, "time", SimpleNamespace(monotonic=lambda: 100.0))
    held._url, held.where = "postgres://x", "the ledger"
    return held


@pytest.mark.parametrize(
    ("left", "seconds"), [(-5.0, 2), (0.5, 2), (2.0, 2), (2.1, 3), (7.0, 7), (7.5, 8)]
)
def test_a_connection_may_take_the_whole_seconds_that_are_left_and_two_at_least(
    store, left, seconds
):
    given, made = [], Connection()
    store._deadline = 100.0 + left

    def connect(url, **options):
        given.append((url, options))
        return made

    store._bounded = SimpleNamespace(connect=connect)
    assert store._connect() is made
    ((url, options),) = given
    assert (url, options["autocommit"]) == ("postgres://x", True)
    assert options["connect_timeout"] == seconds
    assert type(options["connect_timeout"]) is int


def test_a_server_that_may_forget_is_refused_and_let_go(store):
    made = Connection(fsync="off")
    store._deadline, store._bounded = 110.0, SimpleNamespace(connect=lambda *a, **k: made)
    with pytest.raises(LedgerFailure, match="not durable"):
        store._connect()
    assert made.closed


@pytest.mark.parametrize("first", [Connection(), Connection(dead=True), Connection(status=3)])
def test_a_connection_that_died_while_idle_is_replaced_once(store, first):
    idle = SimpleNamespace(TransactionStatus=SimpleNamespace(IDLE=0))
    store._driver = SimpleNamespace(pq=idle, OperationalError=Failed)
    connections, forgotten = iter([first, Connection()]), []
    store._one = SimpleNamespace(get=lambda: next(connections))
    store._forget = lambda: forgotten.append(first)
    found = store._begun("BEGIN")
    fine = not first.dead and first.info.transaction_status == 0
    assert (found is first) == fine
    assert forgotten == ([] if fine else [first])
    assert found.said == ["BEGIN"]
