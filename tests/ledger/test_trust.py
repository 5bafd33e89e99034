"""A line is what its hash, columns and place say; a state is the set of what was written."""

import hashlib
import json
from types import SimpleNamespace

import pytest

import deniable as dp
from deniable.errors import BudgetExceeded, LedgerFailure
from deniable.ledger import open_ledger, trust
from deniable.ledger.trust import State, check_link, in_place, intact, read, refuse_foreign

ROWS, TENTH = dp.rows(), dp.Laplace(scale=10.0)


@pytest.fixture
def ledger():
    with open_ledger(budget=dp.epsilon(9.0), unit=ROWS) as opened:
        opened.share("ann", amount=dp.epsilon(2.0))
        for asker in ("ann", None, "ann"):
            opened.charge(TENTH, unit=ROWS, asker=asker, question=opened.fingerprint("q"))
        yield opened


def rows_of(ledger):
    return ledger._store.read(lambda lines: lines.since(0, limit=99))


def test_every_column_that_is_looked_up_is_derived_again(ledger):
    row = rows_of(ledger)[2]
    assert intact(row, where="x").record == json.loads(row.line)
    changes = {
        "sequence": 3, "line": row.line.replace("ann", "bob"), "hash": "0" * 64, "kind": "note",
        "asker": "bob", "question": "other", "mechanisms": "gaussian",
    }  # fmt: skip
    assert set(changes) == set(row._fields)
    for name, value in changes.items():
        with pytest.raises(LedgerFailure, match="was changed after it was written"):
            read(row._replace(**{name: value}), where="x")
        if name not in ("sequence", "line", "hash", "kind"):
            with pytest.raises(LedgerFailure, match="was changed after it was written"):
                read(row._replace(**{name: None}), where="x")


def rewritten(row, text):
    """The line with another text, and a hash that fits it."""
    return row._replace(line=text, hash=trust.digest(text))


@pytest.mark.parametrize(
    "change",
    [
        {"time": "yesterday"}, {"time": 5}, {"price": []}, {"halts": []}, {"state": 7},
        {"total": "1"}, {"committed": None}, {"charge": True}, {"what": 3},
    ],
    ids=str,
)  # fmt: skip
def test_a_line_of_a_shape_that_nobody_writes_is_refused_each_time(ledger, change):
    row = rows_of(ledger)[2]
    record = json.loads(row.line)
    again = rewritten(row, trust.canonical(record))
    assert read(again, where="x") == record
    for _ in range(2):
        with pytest.raises(LedgerFailure, match="was changed"):
            read(rewritten(row, trust.canonical(record | change)), where="x")


def test_nothing_may_follow_a_record_in_its_line(ledger):
    row = rows_of(ledger)[2]
    with pytest.raises(LedgerFailure, match="was changed"):
        read(rewritten(row, row.line + " "), where="x")


def test_a_line_follows_the_one_before_it(ledger):
    first, second, third, *_ = rows_of(ledger)
    check_link(first, read(second, where="x"), where="x")
    with pytest.raises(LedgerFailure, match="line 1 of the ledger is missing"):
        check_link(first, read(third, where="x"), where="x")
    with pytest.raises(LedgerFailure, match="does not follow"):
        check_link(first._replace(hash="0" * 64), read(second, where="x"), where="x")


def test_a_line_that_is_looked_up_is_a_link_of_its_chain(ledger):
    rows = rows_of(ledger)
    newest = intact(rows[-1], where="x")

    def placed(row, found, newest=newest):
        lines = SimpleNamespace(since=lambda sequence, *, limit: found)
        return in_place(lines, row, newest=newest, where="x")

    assert placed(rows[2], rows[2:4]).sequence == 2
    assert placed(rows[-1], []) == newest
    for wrong in ([], rows[2:3], rows[1:3], rows[3:5]):
        with pytest.raises(LedgerFailure, match="is not a link of its chain"):
            placed(rows[2], wrong)
    with pytest.raises(LedgerFailure, match="is missing"):
        placed(rows[2], [rows[2], rows[4]])
    other = intact(rows[2], where="x")  # of the number of the newest line, and another hash
    with pytest.raises(LedgerFailure, match="is not a link"):
        placed(rows[-1], [rows[-1]], SimpleNamespace(sequence=newest.sequence, hash=other.hash))


def element(key, value):
    text = trust.canonical({"of": key, "is": value}).encode()
    return int.from_bytes(hashlib.sha256(text).digest(), "big")


def test_the_digest_is_the_sum_of_the_hashes_of_what_there_is(ledger):
    state, held = State(), {}
    for row in rows_of(ledger):
        record = json.loads(row.line)
        held["kind", record["kind"]] = None
        if row.mechanisms:
            held["mechanisms", row.mechanisms] = None
        if "standing" in record:
            held["share", record["asker"]] = record["standing"]
        total = sum(element(list(key), value) for key, value in held.items()) % 2**256
        assert state.digest_after(record) == f"{total:064x}"
        state.take(record)
        assert state.digest == f"{total:064x}"
        if row.sequence:
            assert record["state"] == state.digest
    assert state.standings == ledger.shares()
    looked = ledger._store.read(lambda lines: State.looked_up(lines, where="x"))
    assert looked.digest == state.digest


@pytest.mark.parametrize("record", [{"kind": "note"}, {"kind": "note", "asker": None}], ids=str)
def test_a_share_that_is_nobodys_is_none(record):
    state, plain = State(), State()
    state.take(record | {"standing": {"reserved": {"epsilon": 1.0}, "used": {}}})
    plain.take(record)
    assert state.standings == {}
    assert state.digest == plain.digest


@pytest.mark.parametrize(
    ("record", "what"),
    [
        ({"kind": "charge", "mechanisms": [{"mechanism": "laplace"}]}, None),
        ({"kind": "gift"}, "lines of the kind 'gift'"),
        ({"kind": "charge", "mechanisms": [{"mechanism": "unheard"}]}, "the mechanism 'unheard'"),
        ({"kind": "charge", "mechanisms": [{"mechanism": "laplace"}, {"mechanism": "unheard"}]},
         "the mechanism 'unheard'"),
    ],
    ids=str,
)  # fmt: skip
def test_what_this_version_does_not_know_is_strange_and_stops_all_charges(record, what):
    state = State()
    state.take({"kind": "note"})
    assert state.strange is None
    state.take(record)
    assert state.strange == what
    if what is None:
        state.refuse_unknown()
        state.refuse_to_hide(where="x")
        return
    with pytest.raises(BudgetExceeded, match=what):
        state.refuse_unknown()
    with pytest.raises(BudgetExceeded) as told:
        state.refuse_unknown(asker="ann")
    assert what not in str(told.value)  # others may have charged it
    with pytest.raises(LedgerFailure, match="could hide what it cost"):
        state.refuse_to_hide(where="x")


class Own(dp.Laplace):
    """A mechanism that other processes may not know."""

    def to_dict(self):
        return super().to_dict() | {"mechanism": "own"}


@pytest.mark.parametrize("mechanism", [TENTH, 2 * TENTH + dp.Gaussian(sigma=3.0)], ids=str)
def test_an_asker_charges_mechanisms_of_deniable(mechanism):
    refuse_foreign(mechanism, asker="ann")


@pytest.mark.parametrize("count", [1, 2])
def test_an_asker_charges_no_mechanism_that_others_may_not_know(count):
    with pytest.raises(dp.BadParameter, match="'own' is not a mechanism of deniable, so ann"):
        refuse_foreign(count * Own(scale=10.0), asker="ann")
