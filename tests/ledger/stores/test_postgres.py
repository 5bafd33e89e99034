"""How a ledger in Postgres connects and begins; no server is needed for that."""

from types import SimpleNamespace

import psycopg
import pytest

from deniable.errors import BadParameter, LedgerFailure
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
    held._url, held.where, held._schema = "postgres://x", "the ledger", "deniable_x"
    held._driver, held.patience = psycopg, 60.0
    held._hidden = (psycopg.errors.InsufficientPrivilege, psycopg.errors.UndefinedTable)
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


@pytest.mark.parametrize("how", ["_reading", "_writing"])
def test_only_who_may_write_waits_for_the_lock_and_nobody_beyond_the_patience(store, how):
    store._deadline, made, store.patience = 0.0, Connection(), 7.0
    store._begun = lambda begin: made.execute(begin) and made
    assert store._begin(getattr(store, how)) is made
    assert store._deadline == 107.0
    begin, *locks = made.said
    assert begin.startswith("BEGIN ISOLATION LEVEL " + getattr(store, how))
    assert "search_path TO deniable_x, pg_temp" in begin
    assert "synchronous_commit TO on" in begin
    assert "lock_timeout TO '6300ms'" in begin
    assert ["advisory_xact_lock" in each for each in locks] == [True] * (how == "_writing")


def test_a_store_that_could_not_be_prepared_lets_go_of_its_connection(monkeypatch):
    seen = []

    def prepare(store, *, create):
        seen.append((create, store._deadline, store.patience, store._schema, store.where))
        raise LedgerFailure("no")

    monkeypatch.setattr(postgres, "time", SimpleNamespace(monotonic=lambda: 100.0))
    monkeypatch.setattr(postgres.PostgresStore, "_prepare", prepare)
    monkeypatch.setattr(postgres.PostgresStore, "close", lambda _: seen.append("closed"))
    for name, meant in (("", "ledger"), ("#Survey", "Survey")):
        with pytest.raises(LedgerFailure, match="no"):
            postgres.PostgresStore(f"postgresql://u:p@h:1/d{name}", create=True, patience=9.0)
        schema, where = f"deniable_{meant.lower()}", f"postgresql://h/d#{meant}"
        assert seen == [(True, 109.0, 9.0, schema, where), "closed"]
        seen.clear()


FAILURES = [
    (psycopg.errors.LockNotAvailable, "locked for too long"),
    (psycopg.errors.DiskFull, "disk is full"),
    (psycopg.errors.InsufficientPrivilege, "may not do that"),
    (psycopg.errors.UndefinedTable, "may not do that"),
    (psycopg.OperationalError, "connection was lost"),
    (psycopg.errors.SyntaxError, "the server refused"),
]


@pytest.mark.parametrize(("kind", "said"), FAILURES)
@pytest.mark.parametrize(("text", "why"), [("first\nsecond", "first"), ("", "")])
def test_every_failure_of_a_server_says_what_it_means(store, kind, said, text, why):
    failure = store._failure(kind(text))
    assert said in str(failure)
    assert failure.why == why
    assert ("GRANT USAGE" in failure.fix) == (said == "may not do that")


@pytest.mark.parametrize(("url", "to"), [("postgresql://a%20b@h/d", '"a b"'), ("dbname=d", "...")])
def test_rights_are_granted_to_the_role_of_the_address(store, url, to):
    store._url = url
    rights = store._rights()
    assert [right.partition(" TO ")[2].partition("    ")[0] for right in rights] == [to] * 3


@pytest.mark.parametrize("described", [True, False])
def test_lines_come_from_statements_that_return_some(store, described):
    said = []

    class Asked:
        def execute(self, sql, values):
            said.append((sql, values))
            return SimpleNamespace(description=described or None, fetchall=lambda: [(1,)])

    lines = store._lines(Asked())
    assert lines._run("SELECT ? + ?", [1, 2]) == ([(1,)] if described else [])
    assert said == [("SELECT %s + %s", (1, 2))]


@pytest.mark.parametrize("there", [True, False])
def test_a_ledger_is_where_its_table_is_and_is_laid_out_once(store, there):
    asked = SimpleNamespace(
        execute=lambda _, values: SimpleNamespace(fetchone=lambda: (1,) if there else None)
    )
    assert store._is_ledger(asked) is there
    made = Connection()
    store._lay_out(made)
    assert made.said == [
        "CREATE SCHEMA IF NOT EXISTS deniable_x", *postgres.TABLES, *postgres._GUARDS
    ]  # fmt: skip


class Waiting:
    """A connection whose wait hands a generator on, as psycopg's does."""

    def wait(self, gen):
        found = [next(gen), gen.send(0), gen.send(1)]
        try:
            gen.send(0)
        except StopIteration as end:
            return [*found, end.value]


def steps():
    got = [(yield "first")]
    got += [(yield "second"), (yield "third")]
    return got


@pytest.mark.parametrize("deadline", [99.9, 100.0])
def test_no_statement_waits_beyond_the_deadline(store, deadline):
    driver = SimpleNamespace(Connection=Waiting, OperationalError=Failed)
    bounded = postgres._bounded(driver, lambda: deadline)()
    if deadline >= 100.0:
        assert bounded.wait(steps()) == ["first", "second", "third", [0, 1, 0]]
        return
    with pytest.raises(Failed, match="in time"):
        bounded.wait(steps())


def test_what_is_ready_is_taken_even_after_the_deadline(store):
    driver = SimpleNamespace(Connection=Waiting, OperationalError=Failed)

    def one():
        return (yield "asked")

    class Ready(Waiting):
        def wait(self, gen):
            assert next(gen) == "asked"
            try:
                gen.send(1)
            except StopIteration as end:
                return end.value

    driver.Connection = Ready
    assert postgres._bounded(driver, lambda: 0.0)().wait(one()) == 1


@pytest.mark.parametrize("name", ["a", "Survey_2", "x" * 50, "_1"])
def test_names_of_letters_digits_and_underscores_are_lowered(name):
    assert postgres._simple(name) == name.lower()


@pytest.mark.parametrize("name", ["x" * 51, "a b", "a;b", "é", "_", "", "a-b"])
def test_other_names_are_refused_and_not_repeated(name):
    with pytest.raises(BadParameter) as refused:
        postgres._simple(name)
    assert len(name) < 3 or name not in str(refused.value)


@pytest.mark.parametrize(
    ("url", "shown"),
    [
        ("postgresql://u:p@h:5432/d", "postgresql://h/d"),
        ("postgresql:///d", "postgresql://localhost/d"),
        ("host=h dbname=d password=p", "postgresql://h/d"),
        ("postgresql://h1:1,h2:2/d", "postgresql://h1,h2/d"),
        ("postgresql://h", "postgresql://h/"),
    ],
)
def test_an_address_is_shown_without_its_password(url, shown):
    assert postgres._without_password(psycopg, url) == shown


@pytest.mark.parametrize(
    "url",
    [
        "postgresql://u:p@ss@h/d", "host=p@ss dbname=d", "host=h dbname=p@ss", "host=h dbname=a?b",
        "host=h#x dbname=d", "host=h port=pass dbname=d", "no address", "postgresql://u:p/s@h/d",
    ],
)  # fmt: skip
def test_an_address_that_may_show_a_password_is_refused(url):
    with pytest.raises(BadParameter, match="cannot be read"):
        postgres._without_password(psycopg, url)
