"""The first ledger ever written is still readable: by its own reader, and by today's deniable."""

import hashlib
import importlib.util
import itertools
import json
import math
import shutil
from pathlib import Path

import pytest

import deniable as dp
from deniable.ledger import Head, open_ledger

FROZEN = Path(__file__).parent / "frozen"
KINDS = ["note", "share", "charge", "answer", "charge", "charge", "charge", "charge"]

_spec = importlib.util.spec_from_file_location("frozen_reader", FROZEN / "reader.py")
reader = importlib.util.module_from_spec(_spec)
_spec.loader.exec_module(reader)


@pytest.fixture
def copy(tmp_path):
    return shutil.copy(FROZEN / "format_1.db", tmp_path / "ledger.db")


@pytest.mark.parametrize("form", ["sqlite", "jsonl"])
def test_the_frozen_reader_reads_the_frozen_ledger(form):
    if form == "sqlite":
        lines = reader.read_sqlite(FROZEN / "format_1.db")
    else:
        lines = reader.read_jsonl(FROZEN / "format_1.jsonl")
    found = reader.summary(lines)
    assert found["kinds"] == KINDS
    assert found["askers"] == ["ann", "bob"]
    assert found["mechanisms"] == ["laplace", "gaussian", "composed", "composed"]
    assert found["answers"] == {3: {"columns": ["n"], "rows": [[10342.5]]}}
    assert found["budget"] == {"kind": "approx", "epsilon": 3.0, "delta": 1e-6}
    assert found["unit"] == {"column": "user_id", "rows": 10, "groups": 3, "relation": "add_remove"}
    assert found["spent"]["delta"] == found["stated"]["delta"] == 1e-9
    assert math.isinf(found["spent"]["epsilon"])


def test_the_frozen_reader_reads_what_is_written_today(tmp_path):
    path = tmp_path / "today.db"
    with open_ledger(path, budget=dp.epsilon(1.0), unit=dp.rows()) as ledger:
        for n in range(3):
            asked = ledger.fingerprint(n)
            ledger.answer(ledger.charge(dp.Laplace(scale=8.0), unit=dp.rows(), question=asked), n)
        ledger.to_jsonl(tmp_path / "today.jsonl")
    found = reader.summary(reader.read_sqlite(path))
    assert found == reader.summary(reader.read_jsonl(tmp_path / "today.jsonl"))
    assert found["answers"] == {1: 0, 3: 1, 5: 2}
    assert found["spent"]["epsilon"] == found["stated"]["epsilon"] == 0.375


def test_todays_deniable_opens_verifies_and_charges_the_frozen_ledger(copy):
    anchor = Head.from_dict(json.loads((FROZEN / "format_1_head.json").read_text()))
    unit = dp.person("user_id", rows=10, groups=3)
    with open_ledger(copy, budget=dp.epsilon(3.0, delta=1e-6), unit=unit) as ledger:
        assert ledger.verify(anchor) == anchor
        assert [entry.kind for entry in ledger.entries] == KINDS
        question = ledger.fingerprint({"sql": "SELECT COUNT(*) FROM visits"})
        assert ledger.recall(question, asker="ann").value["rows"] == [[10342.5]]
        assert ledger.charge(dp.Laplace(scale=100.0), unit=unit).sequence == 9
        ledger.verify(anchor)


def test_what_is_exported_can_be_checked_with_sha256_alone():
    lines = (FROZEN / "format_1.jsonl").read_text().splitlines()
    for line, after in itertools.pairwise(lines):
        assert json.loads(after)["previous"] == hashlib.sha256(line.encode()).hexdigest()


def test_the_frozen_reader_notices_a_change(copy):
    lines = reader.read_sqlite(copy)
    lines[3] = lines[3].replace("10.0", "99.0")
    with pytest.raises(AssertionError):
        reader.summary(lines)
