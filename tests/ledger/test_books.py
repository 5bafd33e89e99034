"""What a ledger says: lines by their place, totals at any line, and how far it looks back."""

import itertools
import math
from types import SimpleNamespace

import pytest

import deniable as dp
from deniable.errors import LedgerFailure
from deniable.ledger import books, open_ledger
from deniable.ledger.books import Books, Entries, pages, rows
from deniable.ledger.stores.memory import MemoryStore
from deniable.losses.filters import Price

ROWS, TENTH = dp.rows(), dp.Laplace(scale=10.0)


def filled(count, budget=9.0):
    ledger = open_ledger(budget=dp.epsilon(budget), unit=ROWS)
    for _ in range(count):
        ledger.charge(TENTH, unit=ROWS)
    return ledger


@pytest.mark.parametrize("page", [9, 8, 7, 3, 2])
def test_lines_are_read_a_page_at_a_time_each_once(monkeypatch, page):
    monkeypatch.setattr(books, "PAGE", page)
    with filled(7) as ledger:
        for start in (0, 3):  # no more than twenty: a page that comes again would never end
            found = itertools.islice(rows(ledger._store, start=start), 20)
            assert [row.sequence for row in found] == list(range(start, 8))
        assert {len(each) for each in list(pages(ledger._store))[:-1]} <= {page}
        assert [each.sequence for each in ledger.entries] == list(range(1, 8))
        assert Books(ledger._store).head() == ledger.head() == ledger.verify()


@pytest.mark.parametrize("count", [0, 1, 2, 3, 4, 9])
def test_a_ledger_is_checked_from_its_last_lines_on_when_it_is_opened(monkeypatch, count):
    monkeypatch.setattr(books, "TAIL", 3)
    starts, walked = [], Books._walk_from

    def walk(self, lines, sequence):
        starts.append(sequence)
        return walked(self, lines, sequence)

    with filled(count) as ledger:
        monkeypatch.setattr(Books, "_walk_from", walk)
        again = Books(ledger._store)
        assert starts == [max(0, count - 3)]
        assert again.spent == ledger.spent
        assert again.head() == ledger.head()


def test_a_share_among_the_last_lines_sends_nobody_back_to_the_first(monkeypatch):
    monkeypatch.setattr(books, "TAIL", 3)
    with filled(6) as ledger:
        ledger.share("ann", amount=dp.epsilon(1.0))
        starts, walked = [], Books._walk_from

        def walk(self, lines, sequence):
            starts.append(sequence)
            return walked(self, lines, sequence)

        monkeypatch.setattr(Books, "_walk_from", walk)
        assert Books(ledger._store).shares() == ledger.shares()
        assert starts == [4]


def test_lines_are_found_by_their_place_as_in_any_list():
    with filled(4) as ledger:
        entries = list(ledger.entries)
        assert len(ledger.entries) == 4
        for at in (0, 3, -1, -4):
            assert ledger.entries[at].hash == entries[at].hash
        assert [e.hash for e in ledger.entries[1:3]] == [e.hash for e in entries[1:3]]
        assert ledger.entries[4:] == []
        for at in (4, -5):
            with pytest.raises(IndexError):
                _ = ledger.entries[at]


def test_a_store_without_even_a_header_has_no_lines():
    assert list(Entries(MemoryStore())) == []
    assert len(Entries(MemoryStore())) == 0


@pytest.mark.parametrize("found", [[], [4]], ids=["nothing", "a later line"])
def test_a_line_that_is_not_in_its_place_is_missing(found):
    with filled(4) as ledger:
        held = ledger._store._rows
        lines = SimpleNamespace(
            last=lambda: held[-1], since=lambda start, limit: [held[n] for n in found]
        )
        store = SimpleNamespace(read=lambda look: look(lines), where="here")
        with pytest.raises(LedgerFailure, match="line 2 of the ledger is missing"):
            _ = Entries(store)[1]


def test_a_line_is_found_by_its_hash_and_by_its_alias():
    with filled(3) as ledger:
        for entry in ledger.entries:
            assert ledger.find(entry.hash).sequence == entry.sequence
            assert ledger.find(ledger.alias(entry)).sequence == entry.sequence
            assert ledger.alias(entry) != entry.hash
        assert ledger.find("0" * 64) is None


def test_totals_are_those_of_the_line():
    with filled(3) as ledger:
        assert ledger.totals_at(0) == (Price.zero, Price.zero)
        for line in (1, 2, 3):
            total, committed = ledger.totals_at(line)
            assert total.epsilon == committed.epsilon == pytest.approx(line / 10)


def test_what_is_left_after_a_price_is_nothing_if_it_does_not_fit():
    with filled(4, budget=1.0) as ledger:
        assert ledger.left.epsilon == pytest.approx(0.6)
        assert ledger.left_after(Price(epsilon=0.25)).epsilon == pytest.approx(0.35)
        assert ledger.left_after(Price(epsilon=0.7)) is None
        ledger.share("ann", amount=dp.epsilon(0.5))
        assert ledger.left.epsilon == pytest.approx(0.1)
        assert ledger.spent.epsilon == pytest.approx(0.4)
        assert ledger.left_after(Price(epsilon=0.25)) is None


@pytest.mark.parametrize("budget", [dp.epsilon(3.0), dp.epsilon(3.0, delta=1e-6), dp.rho(1.0)])
def test_what_is_not_understood_may_have_cost_everything(monkeypatch, budget):
    with open_ledger(budget=budget, unit=ROWS) as ledger:
        ledger.charge(dp.Gaussian(sigma=50.0) if budget == dp.rho(1.0) else TENTH, unit=ROWS)
        sound = ledger.totals_at(1)
        monkeypatch.setattr(books.State, "strange", "something new")
        spent, committed = ledger._state()
        assert (spent, committed) == ledger.totals_at(1) != sound
        assert {spent.epsilon, spent.rho, spent.mu_squared, *spent.renyi} == {math.inf}
        assert len(spent.renyi) == len(ledger.filter.block(0.0).renyi)


def test_the_causes_of_failures_are_those_nobody_has_passed_over():
    with filled(0) as ledger:
        for name in ("ann", "bob"):
            ledger.share(name, amount=dp.epsilon(1.0))
        charges = {}
        for name in ("ann", "bob"):
            charges[name] = ledger.charge(TENTH, unit=ROWS, asker=name, what=f"of {name}")
        ledger.stop(charges["ann"], cause="first")
        ledger.stop(charges["bob"], cause="second")
        waiting = ledger.failures()
        assert [(each.asker, each.question, each.detail) for each in waiting] == [
            ("ann", "of ann", "first"),
            ("bob", "of bob", "second"),
        ]
        ledger.resume("ann")
        again = ledger.charge(TENTH, unit=ROWS, asker="ann", what="again")
        ledger.stop(again, cause="third")
        assert [each.detail for each in ledger.failures()] == ["second", "third"]


def test_an_anchor_is_found_on_its_page(monkeypatch):
    monkeypatch.setattr(books, "PAGE", 3)
    with filled(2) as ledger:
        heads = [ledger.head()]
        for _ in range(6):
            ledger.charge(TENTH, unit=ROWS)
            heads.append(ledger.head())
        seen = []
        for head in heads:
            assert (
                ledger.verify(head, progress=lambda done, of: seen.append((done, of))).sequence == 8
            )
        assert seen[:3] == [(2, 8), (5, 8), (8, 8)]
        with filled(8) as other:
            for line in (2, 5, 8):
                head = books._head(other.entries[line - 1])
                with pytest.raises(
                    LedgerFailure, match=f"line {line} of the ledger is another one"
                ):
                    ledger.verify(head)
            other.charge(TENTH, unit=ROWS)
            with pytest.raises(LedgerFailure, match="line 9 of the ledger was cut off"):
                ledger.verify(other.head())


@pytest.mark.parametrize("kept", [1, 2, 3])
def test_lines_that_are_cut_off_while_a_ledger_is_open_are_missed(kept):
    with filled(3) as ledger:
        store = ledger._store
        assert ledger.head().sequence == 3
        store._kept = store._kept._replace(lines=kept)
        for _ in range(2):  # a look that starts anew knows what was there before
            with pytest.raises(LedgerFailure, match="line 3 of the ledger was cut off"):
                ledger.head()


def test_lines_that_are_replaced_while_a_ledger_is_open_are_missed():
    with filled(3) as ledger, filled(5) as other:
        assert ledger.head().sequence == 3
        ledger._store._rows[3:] = other._store._rows[3:]
        ledger._store._kept = other._store._kept
        for _ in range(2):
            with pytest.raises(LedgerFailure, match="line 3 of the ledger is another one"):
                ledger.head()
