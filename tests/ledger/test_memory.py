"""A ledger in memory and one in a file answer every lookup alike."""

import pytest

import deniable as dp
from deniable.errors import LedgerFailure
from deniable.ledger import open_ledger
from deniable.ledger.stores import memory
from deniable.ledger.stores.memory import MemoryStore, _Kept, _Lines
from deniable.ledger.stores.store import Row

ROWS, TENTH = dp.rows(), dp.Laplace(scale=10.0)


def filled(where):
    ledger = open_ledger(where, budget=dp.epsilon(9.0), unit=ROWS)
    ledger.share("bob", amount=dp.epsilon(1.0))
    ledger.share("ann", amount=dp.epsilon(1.0))
    for text, asker in (("a", "ann"), ("b", None), ("a", "bob"), ("c", "ann")):
        paid = ledger.charge(TENTH, unit=ROWS, asker=asker, question=ledger.fingerprint(text))
        ledger.answer(paid, text)
    ledger.charge(dp.Laplace(scale=5.0), unit=ROWS, asker="bob")
    return ledger


@pytest.fixture
def both(tmp_path):
    ledgers = filled(None), filled(tmp_path / "ledger.db")
    yield ledgers
    for each in ledgers:
        each.close()


def shape(row):
    return None if row is None else (row.sequence, row.kind, row.asker, row.mechanisms)


LOOKUPS = {
    "last": lambda lines, _: shape(lines.last()),
    "written": lambda lines, _: lines.written(),
    "latest of ann": lambda lines, _: shape(lines.latest_of("ann")),
    "latest of bob": lambda lines, _: shape(lines.latest_of("bob")),
    "latest of nobody": lambda lines, _: shape(lines.latest_of("eve")),
    "asked": lambda lines, l: [shape(row) for row in lines.asked(l.fingerprint("a"))],
    "never asked": lambda lines, l: lines.asked(l.fingerprint("z")),
    "sharers": lambda lines, _: lines.sharers(),
    "kinds": lambda lines, _: sorted(lines.kinds()),
    "mechanisms": lambda lines, _: sorted(lines.mechanisms()),
    "stops": lambda lines, _: lines.stops(),
    "since 3": lambda lines, _: [shape(row) for row in lines.since(3, limit=2)],
    "since 0": lambda lines, _: [shape(row) for row in lines.since(0, limit=100)],
    "since 99": lambda lines, _: lines.since(99, limit=2),
}


@pytest.mark.parametrize("name", LOOKUPS)
def test_lookups_agree(both, name):
    found = [ledger._store.read(lambda lines, l=ledger: LOOKUPS[name](lines, l)) for ledger in both]
    assert found[0] == found[1]


def test_the_latest_line_of_an_asker_is_the_last_that_names_them(both):
    for ledger in both:
        rows = ledger._store.read(lambda lines: lines.since(0, limit=100))
        for asker in ("ann", "bob"):
            wanted = [row for row in rows if row.asker == asker][-1]
            assert ledger._store.read(lambda lines, a=asker: lines.latest_of(a)) == wanted


def test_both_are_spent_and_verified_alike(both):
    assert both[0].spent == both[1].spent
    for ledger in both:
        ledger.verify()
        assert [entry.kind for entry in ledger.entries] == [e.kind for e in both[0].entries]


@pytest.mark.parametrize("limit", [0, 1, 2, 3, 9])
@pytest.mark.parametrize("start", range(5))
def test_a_transaction_sees_the_lines_there_were_when_it_began(start, limit):
    lines = _Lines(list("abcde"), {}, _Kept(lines=3, causes={}, key=""))
    assert lines.since(start, limit=limit) == list("abc")[start : start + limit]
    assert (lines.last(), lines.written()) == ("c", 3)


def row(sequence, kind="charge", asker=None, question=None):
    return Row(sequence, "{}", str(sequence), kind, asker, question, None)


def written(store, *rows, causes=()):
    def act(lines):
        for each in rows:
            lines.append(each)
            assert lines.last() == each
        for sequence, cause in causes:
            lines.keep_cause(sequence, cause)
        return len(rows)

    return store.write(act)


def test_what_an_interrupted_writer_left_is_never_seen_and_is_overwritten():
    store = MemoryStore()
    assert written(store, row(0, "header"), row(1, "share", "ann")) == 2
    store._rows += [row(2, "stop", "eve", "q"), row(3, "share", "eve")]  # indexed, not taken over
    for column, value in (("kind", "stop"), ("asker", "eve"), ("question", "q"), ("kind", "odd")):
        store._of[column, value].add(2)

    def look(lines):
        assert (lines.last(), lines.written()) == (row(1, "share", "ann"), 2)
        assert (lines.stops(), lines.latest_of("eve"), lines.asked("q")) == ([], None, [])
        assert (lines.kinds(), lines.sharers()) == (["header", "share"], ["ann"])

    store.read(look)
    written(store, row(2, "charge", "ann"))
    assert len(store._rows) == 3
    assert store.read(lambda lines: lines.stops()) == []
    assert store.read(lambda lines: lines.latest_of("eve")) is None
    assert store.read(lambda lines: lines.kinds()) == ["charge", "header", "share"]


def test_nothing_is_kept_of_a_writer_that_fails():
    store = MemoryStore()
    written(store, row(0, "header"), causes=[(0, "why")])

    def act(lines):
        lines.append(row(1))
        lines.keep("key")
        lines.forget_cause(0)
        raise KeyError

    with pytest.raises(KeyError):
        store.write(act)
    assert store.read(lambda lines: (lines.written(), lines.key())) == (1, "")
    assert store.read(lambda lines: (lines.cause(0), lines.cause(1))) == ("why", "")


def test_causes_and_the_secret_are_kept_until_they_are_forgotten():
    store = MemoryStore()
    store.write(lambda lines: lines.keep("key"))
    written(store, row(0, "header"), causes=[(0, "why"), (1, "also")])
    store.write(lambda lines: (lines.forget_cause(1), lines.forget_cause(7)))
    assert store.read(lambda lines: (lines.key(), lines.cause(0), lines.cause(1))) == (
        "key", "why", "",
    )  # fmt: skip


def test_another_process_reads_and_does_not_write(monkeypatch):
    store = MemoryStore()
    written(store, row(0, "header"))
    lock = store._lock
    memory._forked()
    assert store._lock is not lock  # who held the old one may be the parent's
    monkeypatch.setattr(store, "_process", -1)
    assert store.read(lambda lines: lines.written()) == 1
    with pytest.raises(LedgerFailure, match="cannot be shared with another process"):
        written(store, row(1))
