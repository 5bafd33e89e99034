"""A database of any earlier version is brought up to date; what was under way then is settled."""

import sqlite3

import pytest

from deniable.mechanisms import Laplace
from deniable.server.database import MIGRATIONS
from deniable.server.jobs.asking import Asking

from .conftest import fill, settings_of

EVERY = sorted(MIGRATIONS.glob("*.sql"))


def old(path, count):
    """A database as it was after the first so many migrations, with two questions under way."""
    path.parent.mkdir(parents=True)
    with sqlite3.connect(path) as connection:
        connection.execute("CREATE TABLE migrations (name TEXT PRIMARY KEY)")
        for each in EVERY[:count]:
            connection.executescript(each.read_text())
            connection.execute("INSERT INTO migrations VALUES (?)", (each.stem,))
        for name in ("ann", "bob"):
            connection.execute("INSERT INTO people VALUES (?, 'analyst', 0, 0)", (name,))
            connection.execute(
                "INSERT INTO asks (asker, key, body, state, people, head, lease, question, created)"
                " VALUES (?, 'key-0001', '', 'reserved', 'people', 0, 1, 'q', 1)",
                (name,),
            )
    connection.close()


@pytest.mark.parametrize("count", range(1, len(EVERY)))
def test_questions_under_way_in_an_older_database_are_settled_one_by_one(house, tmp_path, count):
    folder = fill(tmp_path / "tables")
    old(settings_of(folder, tmp_path / "anchors").state / "server.db", count)
    home = house(folder=folder)
    assert len(home.database.rows("SELECT name FROM migrations")) == len(EVERY)
    ledger = home.ledgers["people"]
    mechanism = Laplace.calibrate(epsilon=0.1, sensitivity=1)
    ledger.charge(mechanism, asker="bob", question="q", unit=ledger.unit)  # and no answer
    Asking(home).settle_all()
    states = dict(home.database.rows("SELECT asker, state FROM asks"))
    assert states == {"ann": "refused", "bob": "lost"}
    assert set(ledger.halts().stopped) == {"bob"}
