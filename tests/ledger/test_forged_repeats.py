"""A repeated answer is charged to a share at its price, which a rewritten chain cannot lower."""

import hashlib
import json
import sqlite3

import pyarrow as pa
import pytest

import deniable as dp
from deniable.ledger import open_ledger
from deniable.ledger.entry import row_of

HALF = dp.Laplace(scale=2.0)


def asked(session, question):
    return session.release(HALF.on(dp.Sensitive(lambda: 3, l1=1)), question=question)


@pytest.mark.parametrize("failed", [False, True])
def test_a_repeat_that_was_charged_less_than_it_costs_is_found(tmp_path, failed):
    path = tmp_path / "ledger.db"
    with dp.open(
        pa.table({"x": [1]}), unit=dp.rows(), budget=dp.epsilon(5), ledger=path
    ) as session:
        session.ledger.share("ann", amount=dp.epsilon(1))
        if failed:
            with pytest.raises(dp.DeniableError):
                session.release(HALF.on(dp.Sensitive(lambda: 1 / 0, l1=1)))
            session.resume()
        for question in "ab":
            asked(session, question)
            asked(session.for_("ann"), question)
        session.ledger.verify()
    forge(path)
    with open_ledger(path) as ledger, pytest.raises(dp.LedgerFailure, match="less than it costs"):
        ledger.verify()


def forge(path):
    """Rewrite the chain: what is repeated costs next to nothing, and every hash fits."""
    with sqlite3.connect(path) as raw:
        for (name,) in raw.execute(
            "SELECT name FROM sqlite_master WHERE type='trigger'"
        ).fetchall():
            raw.execute(f"DROP TRIGGER {name}")
        lines = raw.execute("SELECT line FROM entries ORDER BY sequence").fetchall()
        raw.execute("DELETE FROM entries")
        used, previous = 0.0, ""
        for record in (json.loads(line) for (line,) in lines):
            record.pop("state", None)
            record["previous"] = previous
            if "repeats" in record:
                used += 1e-9
                record["price"] = {"epsilon": 1e-9}
                record["standing"] = {"reserved": {"epsilon": 1.0}, "used": {"epsilon": used}}
            line = json.dumps(record, sort_keys=True, separators=(",", ":"))
            previous = hashlib.sha256(line.encode()).hexdigest()
            raw.execute("INSERT INTO entries VALUES (?,?,?,?,?,?,?)", tuple(row_of(line, record)))
    raw.close()
