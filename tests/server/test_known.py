"""Nobody sees a question's charges, or how much time lies between them, before its answer."""

import json
from types import SimpleNamespace

import pytest

import deniable as dp
from deniable.server.app import Application
from deniable.server.jobs.asking import Ask
from deniable.server.jobs.door import Door
from deniable.server.jobs.known import Known
from deniable.session import Session

from .conftest import SCHEMA, fill

PRIVATE = SCHEMA.replace("rows = 2", "rows = 2\ngroups = 2").replace(
    'keys = ["Oslo", "Bergen"]', 'type = "text"'
)
BY_CITY = "SELECT city, COUNT(*) AS n FROM visits GROUP BY city"
COUNT = "SELECT COUNT(*) AS n FROM visits"
TREE = {"kind": "synthesize", "columns": ["age", "city"], "method": "tree"}
ADAPTIVE = TREE | {"method": "adaptive"}
SEVERAL = [(PRIVATE, {"sql": BY_CITY}), (SCHEMA, {"sql": None, "ask": TREE}),
           (SCHEMA, {"sql": None, "ask": ADAPTIVE}), (SCHEMA, {"sql": COUNT})]  # fmt: skip


@pytest.fixture
def app(house, tmp_path):
    def opened(schema, *, shares=True):
        folder = fill(tmp_path / "tables", schema=schema)
        stated = 'tables = ["visits"]\npublish = true\nbudget = {epsilon = 9, delta = 1e-6}\n'
        (folder / "server.toml").write_text(f"[people]\n{stated}")
        home = house(folder=folder, budget=None)
        for name in ("ann", "bob"):
            home.accounts.add(name)
            if shares:
                home.ledgers["people"].share(name, amount=dp.epsilon(3.0, delta=1e-7))
        return Application(home)

    return opened


def asked(app, body, name="ann"):
    person = app.house.accounts.find(name)
    spend = {"epsilon": 0.5} | ({} if body.get("ask") else {"delta": 1e-8})
    full = {"within": None, "size": None, "spend": spend} | body
    return Ask(person=person, key="key-00001", people="people", body=full)


def views(app, name):
    """All that somebody may look at while a question is under way."""
    person = app.house.accounts.find(name)
    price = {"sql": COUNT, "spend": {"epsilon": 0.1}}
    seen = [app.views.tables(person), app.views.table("visits", person), app.views.ledger(person),
            app.views.public(), Door(app.house, app.asking).explain(person, price)]  # fmt: skip
    return json.dumps(seen, sort_keys=True, default=str)


@pytest.mark.parametrize("shares", [True, False])
@pytest.mark.parametrize(("schema", "body"), SEVERAL)
def test_what_can_be_seen_changes_when_the_answer_may_be_known_and_not_at_each_charge(
    app, monkeypatch, schema, body, shares
):
    opened = app(schema, shares=shares)
    before, seen, pay = views(opened, "ann"), [], Session._pay

    def paid(session, *arguments, **options):
        entry = pay(session, *arguments, **options)
        seen.append(views(opened, "ann"))
        return entry

    monkeypatch.setattr(Session, "_pay", paid)
    outcome = opened.asking.ask(asked(opened, body))
    assert outcome.state == "stored", outcome.error
    monkeypatch.undo()
    assert len(seen) >= (1 if body.get("sql") == COUNT else 2)
    assert set(seen) == {before}
    person = opened.house.accounts.find("ann")
    (group,) = opened.views.ledger(person)["groups"]
    assert sum(line["kind"] == "charge" for line in group["lines"]) == len(seen)
    assert views(opened, "ann") != before


@pytest.mark.parametrize(("schema", "body"), SEVERAL)
def test_all_lines_of_a_question_and_its_answer_have_the_date_of_its_turn(app, schema, body):
    opened = app(schema)
    outcome = opened.asking.ask(asked(opened, body))
    lines = [e for e in opened.house.ledgers["people"].entries if e.kind in ("charge", "answer")]
    assert len({line.time for line in lines}) == 1
    assert outcome.release["provenance"]["time"] == lines[0].time.isoformat(timespec="seconds")


def test_how_long_a_question_took_to_fail_is_not_in_the_askers_ledger(app, monkeypatch):
    opened, pay = app(SCHEMA), Session._pay

    def died(session, *arguments, **options):
        pay(session, *arguments, **options)
        raise RuntimeError("the process ended")

    monkeypatch.setattr(Session, "_pay", died)
    assert opened.asking.ask(asked(opened, {"sql": COUNT})).state == "lost"
    lines = [e for e in opened.house.ledgers["people"].entries if e.kind in ("charge", "stop")]
    assert [line.kind for line in lines] == ["charge", "stop"]
    assert abs((lines[1].time - lines[0].time).total_seconds()) < 1e-3  # as floats are rounded


def test_a_question_of_somebody_else_holds_nobodys_account(app, monkeypatch):
    opened, seen, pay = app(SCHEMA), [], Session._pay
    opened.asking.ask(asked(opened, {"sql": COUNT}, name="bob"))
    before = views(opened, "bob")

    def paid(session, *arguments, **options):
        seen.append(views(opened, "bob"))
        return pay(session, *arguments, **options)

    monkeypatch.setattr(Session, "_pay", paid)
    opened.asking.ask(asked(opened, {"sql": COUNT + " WHERE age > 3"}))
    assert seen == [before]


def stubbed(begun, *, newest=5, shares=True):
    """What is known at a house whose database says where questions under way began."""
    asked = []

    def rows(sql, *given):
        asked.append((sql.count("?"), "asker = ?" in sql, given))
        return [(begun,)]

    head = SimpleNamespace(sequence=newest)
    ledger = SimpleNamespace(head=lambda: head, shares=lambda: {"ann": 1} if shares else {})
    database = SimpleNamespace(rows=rows)
    return Known(SimpleNamespace(database=database, ledgers={"people": ledger})), asked


@pytest.mark.parametrize(("begun", "line"), [(None, 5), (3, 3), (0, 0), (5, 5), (7, 5)])
def test_the_last_line_that_is_known_is_neither_after_the_newest_nor_of_a_question(begun, line):
    """What begins after the newest line was read may start at a later one."""
    known, _ = stubbed(begun)
    assert known.line("people") == known.line("people", "ann") == line


@pytest.mark.parametrize(
    ("asker", "shares", "own"), [("ann", True, True), ("ann", False, False), (None, True, False)]
)
def test_only_with_shares_is_what_an_asker_knows_about_their_own_questions(asker, shares, own):
    known, asked = stubbed(2, shares=shares)
    known.line("people", asker)
    ((marks, named, given),) = asked
    assert (marks, named, given[3:]) == (3 + own, own, ("ann",) * own)
    assert given[0] == "people"
