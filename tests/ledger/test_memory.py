"""A ledger in memory and one in a file answer every lookup alike."""

import pytest

import deniable as dp
from deniable.ledger import open_ledger
from deniable.ledger.stores.memory import _Kept, _Lines

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
