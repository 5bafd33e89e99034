"""A ledger that was meddled with is found out, and the line is named."""

import json
import math
import sqlite3

import pytest

import deniable as dp
from deniable.errors import LedgerFailure
from deniable.ledger import Head, chain, open_ledger
from deniable.ledger.chain import Walk
from deniable.ledger.entry import canonical, digest, row_of, sealed
from deniable.ledger.stores.store import Row
from deniable.losses import Renyi
from deniable.losses.rounding import add_up

ROWS = dp.rows()
TENTH = dp.Laplace(scale=10.0)


@pytest.fixture
def path(tmp_path):
    """A ledger with a share (1), charges (2, 4, 6, 8, 9), answers (3, 5, 7) and a repeat (8)."""
    path = tmp_path / "ledger.db"
    with open_ledger(path, budget=dp.epsilon(1.0), unit=ROWS) as ledger:
        ledger.share("ann", amount=dp.epsilon(0.3))
        for text in "abc":
            question = ledger.fingerprint(text)
            paid = ledger.charge(
                TENTH, unit=ROWS, asker="ann" if text == "b" else None, question=question
            )
            ledger.answer(paid, text)
        ledger.recall(ledger.fingerprint("a"), asker="ann")
        ledger.charge(TENTH, unit=ROWS)
        ledger.verify()
    return path


def lines_of(path):
    with sqlite3.connect(path) as raw:
        lines = [line for (line,) in raw.execute("SELECT line FROM entries ORDER BY sequence")]
    raw.close()
    return lines


def meddle(path, *statements):
    """Change the file as someone who owns it could."""
    with sqlite3.connect(path) as raw:
        for table in ("entries", "secret"):
            for verb in ("update", "delete"):
                raw.execute(f"DROP TRIGGER {table}_no_{verb}")
        for sql, values in statements:
            raw.execute(sql, values)
    raw.close()


def rewrite(path, lines):
    """Replace all lines by others, chained as they should be."""
    rows, previous = [], ""
    for line in lines:
        record = json.loads(line) | {"previous": previous}
        rows.append(row_of(canonical(record), record))
        previous = rows[-1].hash
    insert = ("INSERT INTO entries VALUES (?, ?, ?, ?, ?, ?, ?)",)
    meddle(path, ("DELETE FROM entries", ()), *[(*insert, row) for row in rows])


def assert_found(path, words, **options):
    """Opening checks the newest lines, verify() all of them; either may be the one to tell."""
    with pytest.raises(dp.LedgerFailure, match=words):
        open_ledger(path).verify(**options)


def test_a_changed_line_is_named(path):
    for number, line in enumerate(lines_of(path)[1:], start=1):
        changed = line.replace('"time":"2', '"time":"1')
        meddled = path.with_name(f"{number}.db")
        meddled.write_bytes(path.read_bytes())
        meddle(meddled, ("UPDATE entries SET line = ? WHERE sequence = ?", (changed, number)))
        assert_found(meddled, f"line {number} of the ledger was changed")


def test_a_changed_line_with_its_hash_made_to_fit_is_found_by_the_next(path):
    changed = lines_of(path)[4].replace("10.0", "99.0")
    update = "UPDATE entries SET line = ?, hash = ? WHERE sequence = 4"
    meddle(path, (update, (changed, digest(changed))))
    assert_found(path, "line 5 of the ledger does not follow")


@pytest.mark.parametrize("column", ["kind", "asker", "question", "mechanisms"])
def test_a_changed_index_is_found(path, column):
    meddle(path, (f"UPDATE entries SET {column} = 'bob' WHERE sequence = 4", ()))
    assert_found(path, "line 4 of the ledger was changed")


def test_a_line_removed_from_the_middle_is_named(path):
    meddle(path, ("DELETE FROM entries WHERE sequence = 4", ()))
    assert_found(path, "line 4 of the ledger is missing")


def test_a_line_removed_and_the_rest_renumbered_is_found(path):
    meddle(
        path,
        ("DELETE FROM entries WHERE sequence = 4", ()),
        ("UPDATE entries SET sequence = sequence - 1 WHERE sequence > 4", ()),
    )
    assert_found(path, "line 4 of the ledger was changed")


def test_two_lines_exchanged_are_found(path):
    meddle(
        path,
        ("UPDATE entries SET sequence = 99 WHERE sequence = 4", ()),
        ("UPDATE entries SET sequence = 4 WHERE sequence = 6", ()),
        ("UPDATE entries SET sequence = 6 WHERE sequence = 99", ()),
    )
    assert_found(path, "line 4 of the ledger was changed")


def test_a_changed_ceiling_is_found(path):
    changed = lines_of(path)[0].replace('"epsilon":1.0', '"epsilon":9.0')
    meddle(path, ("UPDATE entries SET line = ? WHERE sequence = 0", (changed,)))
    assert_found(path, "has no header, or it was changed")


def test_a_tail_cut_off_shows_only_against_an_anchor(path):
    with open_ledger(path) as ledger:
        anchor = ledger.head()
    cut = ("DELETE FROM entries WHERE sequence > 6", ())
    damaged = path.with_name("damaged.db")
    damaged.write_bytes(path.read_bytes())
    meddle(damaged, cut)
    assert_found(damaged, "line 7 of the ledger is missing")
    meddle(path, cut, ("PRAGMA user_version = 7", ()))  # the count as well
    with open_ledger(path) as ledger:
        assert ledger.verify().sequence == 6, "the shorter chain is a perfect chain"
    kept = Head.from_dict(json.loads(json.dumps(anchor.to_dict())))
    assert_found(path, "line 9 of the ledger was cut off", anchor=kept)


def test_a_ledger_that_grew_still_holds_its_anchor(path):
    with open_ledger(path) as ledger:
        anchor = ledger.head()
        ledger.note("later")
        assert ledger.verify(anchor).sequence == anchor.sequence + 1


def test_a_history_rewritten_from_scratch_shows_only_against_an_anchor(path):
    with open_ledger(path) as ledger:
        anchor = ledger.head()
    lines = lines_of(path)
    rewrite(path, [*lines[:-1], lines[-1].replace('"time":"2', '"time":"1')])
    with open_ledger(path) as ledger:
        ledger.verify()
    assert_found(path, "line 9 of the ledger is another one", anchor=anchor)


def test_an_open_ledger_notices_that_its_newest_lines_are_gone(path):
    with open_ledger(path) as ledger:
        meddle(path, ("DELETE FROM entries WHERE sequence > 6", ()))
        with pytest.raises(dp.LedgerFailure, match="line 9 of the ledger was cut off"):
            ledger.charge(TENTH, unit=ROWS)


# ---- chains that hold, of lines that lie


def changed(lines, number, **fields):
    record = json.loads(lines[number]) | fields
    return [*lines[:number], canonical(record), *lines[number + 1 :]]


def priced(lines, epsilon):
    """The last charge at another price, with totals that add up."""
    before = json.loads(lines[8])
    sums = {name: add_up(before[name]["epsilon"], epsilon) for name in ("total", "committed")}
    return {name: {"epsilon": figure} for name, figure in (sums | {"price": epsilon}).items()}


USED_ONCE = {"reserved": {"epsilon": 0.3}, "used": {"epsilon": 0.1}}
LIES = {
    "a total that is not the sum": (9, {"total": {"epsilon": 0.1}}, "total that is not the sum"),
    "a commitment that is not the sum": (9, {"committed": {"epsilon": 0.1}}, "not the sum"),
    "more than the ceiling": (9, 9.0, "passes the ceiling"),
    "too small a price": (9, 0.05, "charged less than it costs"),
    "a share used twice": (8, {"standing": USED_ONCE}, "share of ann"),
    "an answer to nothing": (7, {"charge": 9}, "an answer without its charge"),
    "a second answer": (7, {"charge": 4}, "an answer without its charge"),
}


@pytest.mark.parametrize("lie", LIES)
def test_a_lie_in_a_perfect_chain_is_found(path, lie):
    number, fields, words = LIES[lie]
    lines = lines_of(path)
    fields = fields if isinstance(fields, dict) else priced(lines, fields)
    rewrite(path, changed(lines, number, **fields))
    assert_found(path, f"line {number} of the ledger .*{words}")


def test_progress_is_told(path, monkeypatch):
    monkeypatch.setattr("deniable.ledger.books.PAGE", 3)
    seen = []
    with open_ledger(path) as ledger:
        ledger.verify(progress=lambda done, lines: seen.append((done, lines)))
    assert seen == [(2, 9), (5, 9), (8, 9), (9, 9)]


# ---- the future


def append(ledger, **record):
    """Write a line as a later version of deniable might."""
    ledger._store.write(
        lambda lines: lines.append(sealed(record, after=ledger._catch_up(lines)[0]))
    )


STATE = {"total": {"epsilon": 0.1}, "committed": {"epsilon": 0.1}}
FUTURE = {
    "kind": {"kind": "loan", "interest": 0.1, **STATE},
    "mechanism": {
        "kind": "charge",
        "mechanisms": [{"mechanism": "composed", "of": [{"mechanism": "quantum", "qubits": 3}]}],
        "price": {"epsilon": 0.1},
        **STATE,
    },
}


@pytest.mark.parametrize("what", FUTURE)
@pytest.mark.parametrize("again", [True, False])
def test_what_is_not_understood_is_kept_and_costs_everything(fresh, place, what, again):
    ledger = fresh(budget=dp.epsilon(1.0))
    append(ledger, **FUTURE[what])
    if again and place is not None:
        ledger = fresh(budget=dp.epsilon(1.0))
    with pytest.raises(dp.BudgetExceeded, match="does not know"):
        ledger.charge(dp.Laplace(scale=1e6), unit=ROWS)
    with pytest.raises(dp.BudgetExceeded, match="does not know"):
        ledger.share("ann", amount=dp.epsilon(1e-6))
    with pytest.raises(dp.LedgerFailure, match="does not know"):
        ledger.note("may not hide it")
    assert ledger.spent.epsilon_at() == float("inf")
    assert ledger.left.epsilon_at() == 0.0
    assert len(ledger.entries) == 1
    assert dict(ledger.entries[0].record) | FUTURE[what] == ledger.entries[0].record
    assert ledger.entries[0].kind == ("unknown" if what == "kind" else "charge")
    assert "closed by" in repr(ledger)
    ledger.verify()


def test_what_is_not_understood_costs_everything_at_every_order(path):
    budget = Renyi(orders=(2.0, 8.0, 32.0), values=(0.5, 2.0, 9.0))
    with open_ledger(path.with_name("other.db"), budget=budget, unit=ROWS) as ledger:
        append(ledger, **FUTURE["kind"])
        assert ledger.spent == Renyi(orders=budget.orders, values=(math.inf,) * 3)
        assert ledger.left == Renyi(orders=budget.orders, values=(0.0,) * 3)


def test_an_optional_field_of_the_future_is_no_obstacle(fresh):
    ledger = fresh(budget=dp.epsilon(1.0))
    append(ledger, kind="note", what="hello", colour="green", total={}, committed={})
    assert ledger.charge(TENTH, unit=ROWS).sequence == 2
    assert ledger.entries[0].record["colour"] == "green"
    ledger.verify()


def test_a_format_of_the_future_is_not_opened(path):
    lines = lines_of(path)
    rewrite(path, changed(lines, 0, format=2))
    assert_found(path, "later version of deniable")


def line_after(row, record, **changes):
    """The next line, with a hash that fits: what a later version might have written."""
    made = record | {"sequence": row.sequence + 1, "previous": row.hash} | changes
    text = canonical(made)
    kind, asker = made["kind"], made.get("asker")
    return Row(made["sequence"], text, digest(text), kind, asker, None, None)


def test_after_a_line_of_an_unknown_kind_its_digests_are_not_judged():
    with open_ledger(budget=dp.epsilon(9.0), unit=dp.rows()) as ledger:
        ledger.charge(dp.Laplace(scale=10.0), unit=dp.rows())
        header, charge = ledger._store.read(lambda lines: lines.since(0, limit=2))
    record = json.loads(charge.line)
    same = {n: record[n] for n in ("time", "total", "committed")}

    def walk(kind):
        made = Walk(header, filter=ledger.filter, where="x")
        made.step(charge)
        second = line_after(charge, same, kind=kind, state="0" * 64)
        made.step(second)
        third = line_after(second, same, kind="note", state="1" * 64)
        made.step(third)
        made.step(line_after(third, same, kind="note", state="2" * 64))
        return made.at.sequence

    assert walk("gift") == 4
    with pytest.raises(LedgerFailure, match="line 2 of the ledger states other shares"):
        walk("note")


def test_few_prices_are_remembered_and_the_sums_are_right(monkeypatch):
    monkeypatch.setattr(chain, "MOST", 2)
    with open_ledger(budget=dp.epsilon(9.0), unit=ROWS) as ledger:
        for scale in (10.0, 20.0, 40.0, 10.0, 80.0):
            ledger.charge(dp.Laplace(scale=scale), unit=ROWS)
        first, *others = ledger._store.read(lambda lines: lines.since(0, limit=9))
    walk = Walk(first, filter=ledger.filter, where="x")
    for row in others:
        walk.step(row)
        assert 1 <= len(walk._paid) <= 2
    assert walk.at.sequence == 5


def test_a_charge_to_a_share_that_nobody_reserved_is_found():
    with open_ledger(budget=dp.epsilon(9.0), unit=ROWS) as ledger:
        ledger.charge(TENTH, unit=ROWS)
        header, charge = ledger._store.read(lambda lines: lines.since(0, limit=2))
    record = json.loads(charge.line)

    def walk(**changes):
        made = Walk(header, filter=ledger.filter, where="x")
        stated = record | changes
        made.step(row_of(canonical(stated), stated))
        return made.at.sequence

    assert walk() == 1
    with pytest.raises(LedgerFailure, match="line 1 of the ledger passes the ceiling"):
        walk(standing={"reserved": record["price"], "used": record["price"]})


@pytest.mark.parametrize(("strange", "fine"), [(True, True), (False, False)])
def test_totals_after_a_line_that_is_not_understood_are_taken_as_they_are_stated(strange, fine):
    """A later version may have charged by it, and nothing more is charged here."""
    with open_ledger(budget=dp.epsilon(9.0), unit=ROWS) as ledger:
        ledger.charge(TENTH, unit=ROWS)
        for _ in range(3):
            ledger.note("later")
        rows = ledger._store.read(lambda lines: lines.since(0, limit=9))
    more = {"epsilon": 5.0}
    changes = {3: {"total": more, "committed": more}, 4: {"total": more, "committed": more}}
    if strange:
        changes[2] = {"kind": "gift", "total": None, "committed": None}
    walk = Walk(rows[0], filter=ledger.filter, where="here")

    def follow():
        for row in rows[1:]:
            record = json.loads(row.line) | changes.get(row.sequence, {})
            record |= {"previous": walk.at.hash}
            record = {k: v for k, v in record.items() if v is not None and k != "state"}
            walk.step(row_of(canonical(record), record))

    if fine:
        follow()
    else:
        with pytest.raises(LedgerFailure, match="line 3 of the ledger states a total that is not"):
            follow()
    assert (walk.at.sequence == 4) == fine
