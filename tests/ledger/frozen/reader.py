"""A reader of format 1 that must never need to change: only the standard library.

It was written with the first ledger beside it, and stands for everyone who must read that ledger in
ten years without deniable. If a change to deniable breaks it, the change is wrong.
"""

import hashlib
import json
import sqlite3
from fractions import Fraction


def read_sqlite(path):
    """The lines of a ledger in a SQLite file."""
    connection = sqlite3.connect(f"file:{path}?mode=ro", uri=True)
    assert connection.execute("PRAGMA application_id").fetchone()[0] == int.from_bytes(
        b"DPLG", "big"
    )
    found = connection.execute("SELECT line, hash FROM entries ORDER BY sequence").fetchall()
    connection.close()
    for line, digest in found:
        assert hashlib.sha256(line.encode("ascii")).hexdigest() == digest
    return [line for line, _ in found]


def read_jsonl(path):
    """The lines of an exported ledger."""
    with open(path, encoding="ascii") as file:  # noqa: PTH123
        return file.read().splitlines()


def summary(lines):
    """Check the chain, and say what was promised, asked, answered and spent."""
    records = [json.loads(line) for line in lines]
    for number, record in enumerate(records):
        before = hashlib.sha256(lines[number - 1].encode("ascii")).hexdigest() if number else ""
        assert record["sequence"] == number
        assert record["previous"] == before
    header, entries = records[0], records[1:]
    assert header["kind"] == "header"
    assert header["format"] == 1
    charges = [e for e in entries if e["kind"] == "charge" and "repeats" not in e]
    return {
        "budget": header["budget"],
        "filter": header["filter"],
        "unit": header["unit"],
        "kinds": [e["kind"] for e in entries],
        "askers": sorted({e["asker"] for e in entries if "asker" in e}),
        "mechanisms": [m["mechanism"] for e in charges for m in e["mechanisms"]],
        "spent": {
            name: float(total(charges, name)) for name in ("epsilon", "delta", "rho", "mu_squared")
        },
        "stated": entries[-1]["total"],
        "answers": {e["charge"]: e["value"] for e in entries if e["kind"] == "answer"},
        "times": [e["time"] for e in entries],
    }


def total(charges, name):
    """The exact sum of one coordinate of all prices; a coordinate that is absent is 0."""
    figures = [e["price"].get(name, 0) for e in charges]
    return float("inf") if "inf" in figures else sum(map(Fraction, figures), Fraction(0))
