"""Opening a ledger: again, as something else, or where there is none."""

import sqlite3

import pytest

import deniable as dp
from deniable.ledger import books, open_ledger, opening
from deniable.ledger.stores.memory import MemoryStore

ROWS = dp.rows()
DURABLE = pytest.mark.parametrize("place", ["sqlite", "postgres"], indirect=True)


@DURABLE
def test_a_ledger_opens_again_with_all_it_held(fresh, place):
    first = fresh(budget=dp.epsilon(2.0))
    question = first.fingerprint("q")
    first.answer(first.charge(dp.Laplace(scale=1.0), unit=ROWS, question=question), 42)
    first.close()
    again = open_ledger(place)
    assert again.budget == dp.epsilon(2.0)
    assert again.unit == ROWS
    assert again.recall(again.fingerprint("q")).value == 42
    again.close()


@DURABLE
def test_another_budget_is_refused_naming_both(fresh):
    fresh(budget=dp.epsilon(2.0))
    with pytest.raises(dp.LedgerFailure) as refused:
        fresh(budget=dp.epsilon(3.0))
    assert "has a budget of ε 2; you gave ε 3" in str(refused.value)
    assert "fix:  budget=dp.epsilon(2.0) " in str(refused.value)
    with pytest.raises(dp.LedgerFailure) as refused:
        fresh(budget=dp.epsilon(2.000001))
    assert "of Pure(epsilon=2.0); you gave Pure(epsilon=2.000001)" in str(refused.value)


@DURABLE
def test_another_unit_or_relation_is_refused_naming_both(fresh):
    fresh(unit=dp.person("id", rows=2))
    for other in (ROWS, dp.person("id", rows=2, relation="replace"), dp.person("name", rows=2)):
        with pytest.raises(dp.UnitMismatch) as refused:
            fresh(unit=other)
        assert "person('id', rows=2)" in str(refused.value)
        assert repr(other) in str(refused.value)


@DURABLE
def test_without_a_budget_nothing_is_started(place):
    with pytest.raises(dp.LedgerFailure, match="there is no ledger at"):
        open_ledger(place)
    assert isinstance(place, str) or not place.exists()


def test_a_ledger_needs_a_unit():
    with pytest.raises(dp.MissingUnit):
        open_ledger(budget=dp.epsilon(1.0))


@pytest.mark.parametrize("where", ["", 7, b"bytes"])
def test_a_place_is_a_path_or_an_address(where):
    with pytest.raises(dp.BadParameter):
        open_ledger(where, budget=dp.epsilon(1.0), unit=ROWS)


def test_a_file_that_is_no_database_is_refused_and_left_untouched(tmp_path):
    path = tmp_path / "thesis.txt"
    path.write_text("a thousand words " * 1000)
    for budget in (dp.epsilon(1.0), None):
        with pytest.raises(dp.LedgerFailure, match="not a ledger"):
            open_ledger(path, budget=budget, unit=ROWS)
    assert path.read_text() == "a thousand words " * 1000


@pytest.mark.parametrize("mode", ["delete", "wal"])
def test_another_database_is_refused_and_left_untouched(tmp_path, mode):
    path = tmp_path / "payroll.db"
    with sqlite3.connect(path) as other:
        other.execute(f"PRAGMA journal_mode = {mode}")
        other.execute("CREATE TABLE entries (sequence INTEGER PRIMARY KEY)")
    other.close()
    before = path.read_bytes()
    with pytest.raises(dp.LedgerFailure, match="not a ledger"):
        open_ledger(path, budget=dp.epsilon(1.0), unit=ROWS)
    assert path.read_bytes() == before


def test_an_empty_file_becomes_a_ledger_only_with_a_budget(tmp_path):
    path = tmp_path / "empty.db"
    path.touch()
    with pytest.raises(dp.LedgerFailure, match="not a ledger"):
        open_ledger(path)
    with open_ledger(path, budget=dp.epsilon(1.0), unit=ROWS) as ledger:
        assert len(ledger.entries) == 0


def test_a_name_in_postgres_cannot_escape_its_schema(server):
    with pytest.raises(dp.BadParameter, match="name"):
        open_ledger(f'{server}#x"; DROP TABLE entries; --', budget=dp.epsilon(1.0), unit=ROWS)


def test_an_address_never_shows_its_password():
    address = "postgresql://ann:hunter2@127.0.0.1:9/none"
    with pytest.raises(dp.LedgerFailure) as refused:
        open_ledger(address, budget=dp.epsilon(1.0), unit=ROWS, patience=2)
    assert "hunter2" not in str(refused.value)


def test_opening_a_long_ledger_checks_its_last_lines_and_no_others(tmp_path, monkeypatch):
    """However many lines there are; `verify` checks all of them."""
    monkeypatch.setattr(books, "TAIL", 5)
    path = tmp_path / "ledger.db"
    with open_ledger(path, budget=dp.epsilon(9), unit=dp.rows()) as ledger:
        for _ in range(20):
            ledger.charge(dp.Laplace(scale=100.0), unit=dp.rows())
    started = []
    walked = books.Books._walk_from
    monkeypatch.setattr(
        books.Books,
        "_walk_from",
        lambda self, lines, at: started.append(at) or walked(self, lines, at),
    )
    with open_ledger(path) as ledger:
        assert len(ledger.entries) == 20
    assert started[0] == 20 - 5


@pytest.mark.parametrize(
    "wrong", [{"unit": dp.rows(relation="replace")}, {"budget": dp.epsilon(2)}]
)
def test_a_ledger_that_is_not_opened_after_all_is_let_go(monkeypatch, wrong):
    store, closed = MemoryStore(), []
    store.close = lambda: closed.append(True)
    monkeypatch.setattr(opening, "_store", lambda where, **how: store)
    given = {"unit": dp.rows(), "budget": dp.epsilon(1.0)}
    open_ledger(**given)
    assert not closed
    with pytest.raises(dp.DeniableError):
        open_ledger(**given | wrong)
    assert closed == [True]
