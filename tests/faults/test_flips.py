"""No flipped bit, and no changed column, lets a ledger be overspent or answer wrongly."""

import json
import subprocess
import sys
from pathlib import Path

import psycopg
import pytest

import deniable as dp
from deniable.ledger import books, open_ledger

from .flipping import ATTEMPTS, fill

FLIPPING = Path(__file__).with_name("flipping.py")
ONE_IN = 97  # prime, so that each bit of a byte has its turn; `script/flips` flips them all


def test_no_flipped_bit_of_a_file_is_believed():
    command = [sys.executable, str(FLIPPING), str(ONE_IN)]
    done = subprocess.run(command, check=True, capture_output=True, text=True, timeout=600)
    report = json.loads(done.stdout)
    assert report["wrong"] == {}
    assert report["flipped"] > 1000
    assert report["not opened"] > 100, "the flips hit what matters"
    assert report["refused"] > 100, "also what is not looked at when a ledger is opened"


CHANGES = {
    "sequence": ["sequence + 100"],
    "line": ["''", "'{}'", "'not JSON'", "replace(line, '5', '4')", "replace(line, 'ann', 'bob')",
             "repeat('[', 100000)", "line || ' '"],
    "hash": ["''", "'abc'", "replace(hash, 'a', 'b')"],
    "kind": ["''", "'note'", "'loan'"],
    "asker": ["NULL", "'ann'", "'eve'", "'zoe'"],
    "question": ["NULL", *(f"(SELECT {f}(question) FROM SCHEMA.entries)" for f in ("min", "max"))],
    "mechanisms": ["NULL", "'quantum'", "'laplace'"],
}  # fmt: skip


@pytest.mark.parametrize("place", ["postgres"], indirect=True)
def test_no_changed_column_of_a_row_in_postgres_is_believed(fresh, place, server, monkeypatch):
    monkeypatch.setattr(books, "TAIL", 3)
    ledger = fresh()
    fill(ledger)
    lines, schema = ledger.head().sequence + 1, ledger._store._schema
    ledger.close()
    tried = 0
    with psycopg.connect(server, autocommit=True) as admin:
        for table in ("entries", "secret"):
            admin.execute(f"ALTER TABLE {schema}.{table} DISABLE TRIGGER USER")
        for table in TABLES:
            admin.execute(f"CREATE TABLE {schema}.kept_{table} AS TABLE {schema}.{table}")
        for sql in changes(lines):
            for table in TABLES:
                admin.execute(f"DELETE FROM {schema}.{table}")
                admin.execute(f"INSERT INTO {schema}.{table} SELECT * FROM {schema}.kept_{table}")
            if admin.execute(sql.replace("SCHEMA", schema)).rowcount:
                attack(place)
                tried += 1
    assert tried > 200


TABLES = ("entries", "secret", "causes")


def changes(lines):
    for number in range(lines):
        for column, values in CHANGES.items():
            for value in values:
                yield (
                    f"UPDATE SCHEMA.entries SET {column} = {value} "
                    f"WHERE sequence = {number} AND {column} IS DISTINCT FROM {value}"
                )
    for key in ("''", "'not hex'", "repeat('0', 64)", "repeat('0', 63)", "upper(key)"):
        yield f"UPDATE SCHEMA.secret SET key = {key}"
    yield "DELETE FROM SCHEMA.secret"
    yield "INSERT INTO SCHEMA.secret SELECT key FROM SCHEMA.secret"


def attack(place):
    try:
        ledger = open_ledger(place, patience=5)
    except dp.LedgerFailure:
        return
    with ledger:
        for attempt in ATTEMPTS:
            attempt(ledger)
