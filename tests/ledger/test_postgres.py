"""What can go wrong with a server: lost connections, ambiguous commits, locks, settings."""

import psycopg
import pytest

import deniable as dp
from deniable.ledger import open_ledger
from deniable.ledger.stores.store import watching

ROWS = dp.rows()
TENTH = dp.Laplace(scale=10.0)

pytestmark = pytest.mark.parametrize("place", ["postgres"], indirect=True)


@pytest.fixture
def admin(server):
    with psycopg.connect(server, autocommit=True) as connection:
        yield connection


@pytest.fixture
def ledger(fresh):
    return fresh(budget=dp.epsilon(1.0))


def end_connections(admin):
    """End every connection of a ledger, as a restart or a broken network would."""
    admin.execute(
        "SELECT pg_terminate_backend(pid) FROM pg_stat_activity "
        "WHERE application_name LIKE 'deniable%'"
    )


@pytest.mark.parametrize("step", ["begun", "checked", "appended"])
def test_a_connection_lost_before_the_commit_costs_nothing(ledger, admin, step):
    def cut(reached):
        if reached == step:
            end_connections(admin)

    with watching(cut), pytest.raises(dp.LedgerFailure, match="connection was lost") as failed:
        ledger.charge(TENTH, unit=ROWS)
    assert failed.value.cost == "nothing was spent"
    assert len(ledger.entries) == 0
    assert ledger.charge(TENTH, unit=ROWS).sequence == 1


def test_a_connection_lost_while_idle_is_replaced(ledger, admin):
    ledger.charge(TENTH, unit=ROWS)
    end_connections(admin)
    assert ledger.charge(TENTH, unit=ROWS).sequence == 2


@pytest.mark.parametrize("landed", [True, False])
def test_an_ambiguous_commit_is_decided_by_reading(ledger, landed, monkeypatch):
    class Silent:
        """A connection that breaks on COMMIT, before or after the server heard it."""

        def __init__(self, real):
            self._real = real

        def execute(self, sql, *values):
            if sql != "COMMIT" or "INSERT" not in self.seen:
                self.seen += sql
                return self._real.execute(sql, *values)
            if landed:
                self._real.execute(sql)
            self._real.close()
            raise psycopg.OperationalError("the network is gone")

        def close(self):
            self._real.close()

        @property
        def info(self):
            return self._real.info

        seen = ""

    store = ledger._store
    store.close()
    connect, broken = store._connect, []

    def once():
        if broken:
            return connect()
        broken.append(Silent(connect()))
        return broken[0]

    monkeypatch.setattr(store._one, "_connect", once)
    with pytest.raises(dp.LedgerFailure) as failed:
        ledger.charge(TENTH, unit=ROWS)
    assert len(ledger.entries) == (1 if landed else 0)
    kept = "the line was kept and counts; no answer was released"
    assert failed.value.cost == (kept if landed else "nothing was spent")
    assert ledger.charge(TENTH, unit=ROWS).sequence == (2 if landed else 1)
    ledger.verify()


def test_a_connection_lost_at_the_end_of_a_reading_is_an_ordinary_failure(ledger, monkeypatch):
    real = ledger._store._one._open[0]

    def execute(sql, *values):
        if sql == "COMMIT":
            raise psycopg.OperationalError("the network is gone")
        return real.__class__.execute(real, sql, *values)

    monkeypatch.setattr(real, "execute", execute, raising=False)
    with pytest.raises(dp.LedgerFailure, match="connection was lost"):
        len(ledger.entries)
    assert len(ledger.entries) == 0


def test_a_refusal_keeps_the_connection(ledger):
    before = ledger._store._one.now
    with pytest.raises(dp.BudgetExceeded):
        ledger.charge(dp.Laplace(scale=0.1), unit=ROWS)
    assert ledger._store._one.now is before
    assert ledger.charge(TENTH, unit=ROWS).sequence == 1


def test_what_cannot_be_read_back_is_said_to_be_unknown(ledger, monkeypatch):
    store = ledger._store

    def gone():
        raise psycopg.OperationalError("the network is gone")

    def cut(reached):
        if reached == "appended":
            monkeypatch.setattr(store._one._open[0], "execute", lambda *_: gone(), raising=False)
            monkeypatch.setattr(store._one, "_connect", gone)

    with watching(cut), pytest.raises(dp.LedgerFailure) as failed:
        ledger.charge(TENTH, unit=ROWS)
    assert failed.value.cost.startswith("unknown until the ledger can be read again")


def test_a_lock_held_too_long_is_told_and_costs_nothing(fresh, admin, monkeypatch):
    ledger = fresh()
    with monkeypatch.context() as hurried, admin.transaction():
        hurried.setattr(ledger._store, "patience", 5.0)
        ledger._store._lock(admin)
        with pytest.raises(dp.LedgerFailure, match="locked for too long") as failed:
            ledger.charge(TENTH, unit=ROWS)
    assert failed.value.cost == "nothing was spent"
    assert ledger.charge(TENTH, unit=ROWS).sequence == 1


@pytest.mark.parametrize("table", ["entries", "secret"])
@pytest.mark.parametrize("change", ["DELETE FROM {}", "TRUNCATE {}"])
def test_lines_cannot_be_changed_by_a_slip(ledger, admin, table, change):
    with pytest.raises(psycopg.errors.RaiseException, match="append-only"):
        admin.execute(change.format(f"{ledger._store._schema}.{table}"))


def test_a_session_that_turned_durability_off_does_not_count(ledger, admin):
    name = admin.info.dbname
    admin.execute(f'ALTER DATABASE "{name}" SET synchronous_commit TO off')
    try:
        ledger.close()
        seen = []
        with watching(lambda _: seen.append(_setting(ledger, "synchronous_commit"))):
            ledger.charge(TENTH, unit=ROWS)
    finally:
        admin.execute(f'ALTER DATABASE "{name}" RESET synchronous_commit')
    assert seen[:3] == ["on", "on", "on"], "inside the transaction"
    assert seen[3] == "off", "outside it, where it does not matter"


def _setting(ledger, name):
    return ledger._store._one._open[0].execute(f"SHOW {name}").fetchone()[0]


def test_a_server_without_fsync_is_refused(fresh, admin):
    admin.execute("ALTER SYSTEM SET fsync TO off")
    admin.execute("SELECT pg_reload_conf()")
    try:
        _wait_for(admin, "off")
        with pytest.raises(dp.LedgerFailure, match="fsync = off"):
            fresh()
    finally:
        admin.execute("ALTER SYSTEM RESET fsync")
        admin.execute("SELECT pg_reload_conf()")
        _wait_for(admin, "on")


def _wait_for(admin, value):
    for _ in range(20_000):  # a guard against hanging, and not a measurement
        if admin.execute("SHOW fsync").fetchone()[0] == value:
            return
        admin.execute("SELECT pg_sleep(0.01)")
    raise AssertionError("the server did not take the setting")


def test_a_role_needs_only_to_read_and_insert(ledger, admin, place):
    schema, role = ledger._store._schema, place.partition("#")[2]
    admin.execute(f"CREATE ROLE {role} LOGIN")
    admin.execute(f"GRANT USAGE ON SCHEMA {schema} TO {role}")
    admin.execute(f"GRANT SELECT, INSERT ON ALL TABLES IN SCHEMA {schema} TO {role}")
    address = place.replace("://postgres:", f"://{role}:")
    with open_ledger(address) as humble:
        assert humble.charge(TENTH, unit=ROWS).sequence == 1
    admin.execute(f"REVOKE INSERT ON ALL TABLES IN SCHEMA {schema} FROM {role}")
    with (
        open_ledger(address) as reader,
        pytest.raises(dp.LedgerFailure, match="may not do that"),
    ):
        reader.charge(TENTH, unit=ROWS)


def test_the_rights_that_an_error_proposes_are_enough(ledger, admin, place):
    ledger.stop(ledger.charge(TENTH, unit=ROWS), cause="7")
    role = place.partition("#")[2]
    admin.execute(f"CREATE ROLE {role} LOGIN")
    address = place.replace("://postgres:", f"://{role}:")

    def resume():
        with open_ledger(address) as humble:
            humble.resume()
            humble.charge(TENTH, unit=ROWS)

    proposed = []
    while True:  # one right at a time, the first that is not there yet
        try:
            resume()
        except dp.LedgerFailure as refused:
            rights = refused.fix.splitlines()
            proposed.append(next(right for right in rights if right not in proposed))
            admin.execute(proposed[-1])
        else:
            break
    assert len(proposed) == 3


@pytest.mark.parametrize("table", ["entries", "secret", "causes"])
def test_a_temporary_table_does_not_hide_the_ledgers(ledger, table):
    """As a pooled connection may have one from whoever had it before."""
    ledger.charge(TENTH, unit=ROWS)
    like = f"{ledger._store._schema}.{table}"
    ledger._store._one.now.execute(f"CREATE TEMP TABLE {table} (LIKE {like})")
    stopped = ledger.charge(TENTH, unit=ROWS)
    ledger.stop(stopped, cause="7")
    assert ledger.failures()[0].detail == "7"
    ledger.verify()
    assert len(ledger.entries) == 3


def test_two_ledgers_in_one_database_do_not_mix(ledger, place):
    other = open_ledger(place + "_b", budget=dp.epsilon(2.0), unit=ROWS)
    other.charge(TENTH, unit=ROWS)
    assert (len(ledger.entries), len(other.entries)) == (0, 1)
    other.close()
