"""The door alone: a house of stubs, so that each way in and out is seen."""

import asyncio
from contextlib import contextmanager
from types import SimpleNamespace

import pytest

import deniable as dp
from deniable.errors import DeniableError
from deniable.server.jobs import door as doors
from deniable.server.jobs.outcomes import Outcome, cancelled
from deniable.server.jobs.workers import Died

ANN = SimpleNamespace(name="ann", asker="ann@x", role="analyst")
CURATOR = SimpleNamespace(name="cleo", asker=None, role="curator")
PATHS = dp.NotReady("/secret/file is missing").to_json()
SQL = {"sql": "SELECT 1", "spend": None}


class House:
    """Groups, planners that say one thing, and what was counted and logged."""

    def __init__(self, groups=("people",), said=None):
        self.groups = dict.fromkeys(groups)
        self.database, self.planners = "database", self
        self.settings = SimpleNamespace(prices=7, asks=5, steps=(0.5, 2.0))
        self.said, self.logged, self.waited, self.tasks = said, [], [], []

    def log(self, name, what, **facts):
        self.logged.append((name, what, facts))

    def group_of(self, table):
        return SimpleNamespace(name=f"those of {table}")

    @contextmanager
    def one(self, *, patience, long):
        self.waited.append((patience, long))
        yield self

    def do(self, task):
        self.tasks.append(task)
        if isinstance(self.said, Exception):
            raise self.said
        return self.said


@pytest.fixture
def counted(monkeypatch):
    calls = []
    monkeypatch.setattr(doors.limits, "count", lambda *given, **most: calls.append((given, most)))
    return calls


def door(house, **asking):
    known = SimpleNamespace(line=lambda people, asker: (people, asker))
    return doors.Door(house, SimpleNamespace(known=known, **asking))


@pytest.mark.parametrize(("method", "kind"), [("explain", "explain"), ("rehearse", "try")])
def test_a_price_is_counted_and_asked_of_a_planner(counted, method, kind):
    house = House(said={"ok": {"cost": 1}})
    assert getattr(door(house), method)(ANN, SQL) == {"cost": 1}
    assert counted == [(("database", "ann", "price"), {"most": 7})]
    facts = {"people": "people", "asker": "ann@x", "shown": ("people", "ann@x")}
    assert house.tasks == [{**SQL, "kind": kind, **facts}]
    assert house.waited == [(20.0, kind == "try")]  # made-up rows may take longer than a price


def test_a_fault_of_a_planner_is_logged_and_hidden(counted):
    house = House(said={"fault": "Traceback: /secret"})
    with pytest.raises(dp.NotReady, match="cannot answer this now"):
        door(house).explain(ANN, SQL)
    assert house.logged == [("ann", "fault", {"cause": "Traceback: /secret"})]


def test_a_planner_that_ends_says_that_the_question_takes_too_long(counted):
    with pytest.raises(dp.BadParameter, match="too long to price"):
        door(House(said=Died(-14))).explain(ANN, SQL)


@pytest.mark.parametrize(
    ("person", "shown"), [(ANN, "cannot answer this now"), (CURATOR, "/secret/file")]
)
def test_what_the_server_lacks_is_the_curators_to_see(counted, person, shown):
    house = House(said={"refused": PATHS})
    with pytest.raises(dp.NotReady, match=shown):
        door(house).explain(person, SQL)
    assert house.logged == [(person.name, "not ready", {"cause": PATHS["title"]})]


def test_a_refusal_about_the_question_is_told_and_not_logged(counted):
    house = House(said={"refused": dp.BadParameter("no such column").to_json()})
    with pytest.raises(dp.BadParameter, match="no such column"):
        door(house).explain(ANN, SQL)
    assert house.logged == []


TWO = ("people", "firms")


@pytest.mark.parametrize(
    ("groups", "task", "found"),
    [
        (("people",), {"sql": None, "table": "other"}, "people"),
        (TWO, {"sql": "SELECT 1", "table": "shops"}, "those of shops"),
        (TWO, {"sql": None, "ask": {"table": "visits", "sql": "SELECT 2"}}, "those of visits"),
        (TWO, {"sql": "SELECT 1"}, "SELECT 1"),
        (TWO, {"sql": "SELECT 1", "ask": None}, "SELECT 1"),
        (TWO, {"sql": None, "ask": {"sql": "SELECT 2"}}, "SELECT 2"),
    ],
)
def test_whom_a_question_is_about_follows_from_its_table_or_its_sql(groups, task, found):
    house = House(groups)
    house.do = lambda asked: {"ok": asked["sql"]} if asked["kind"] == "whose" else None
    assert door(house).people(ANN, task) == found


def test_a_question_that_names_no_table_is_about_nobody():
    with pytest.raises(dp.BadParameter, match="no table is served yet"):
        door(House(())).people(ANN, SQL)
    for task in ({"sql": None}, {"sql": None, "ask": {"kind": "fit"}}):
        with pytest.raises(dp.BadParameter, match="name a table"):
            door(House(TWO)).people(ANN, task)


def test_a_question_is_counted_before_it_gets_its_key(counted):
    ask = door(House()).prepared(ANN, "key-1", SQL)
    assert (ask.person, ask.key, ask.people, ask.body) == (ANN, "key-1", "people", SQL)
    assert counted == [(("database", "ann", "ask"), {"most": 5})]


@pytest.fixture
def slept(monkeypatch):
    """Seconds slept; the clock stands 0.75 s after the start."""
    times, seen = iter([100.25, 101.0]), []

    async def sleep(seconds):
        seen.append(seconds)

    clock = SimpleNamespace(monotonic=lambda: next(times))
    monkeypatch.setattr(doors, "time", clock)
    monkeypatch.setattr(doors, "asyncio", SimpleNamespace(sleep=sleep, to_thread=asyncio.to_thread))
    return seen


def asked(house, *, found=None, error=None):
    def enqueue(ask):
        if error is not None:
            raise error
        return found

    def run(ask):
        return Outcome(state="stored", release={"n": ask.key})

    made = door(house, enqueue=enqueue, run=run)
    return asyncio.run(made.ask(ANN, "key-1", SQL))


def test_a_new_question_is_run_and_keeps_the_pace_of_its_turn(counted, slept):
    house = House()
    assert asked(house).release == {"n": "key-1"}
    assert slept == []
    assert house.logged == [("ann", "ask", {"state": "stored"})]


def test_a_known_answer_leaves_at_a_step(counted, slept):
    house = House()
    assert asked(house, found=Outcome(state="stored", release={"n": 1})).release == {"n": 1}
    assert slept == [2.0 - 0.75]
    assert house.logged == [("ann", "ask", {"state": "stored"})]


def test_a_refusal_leaves_at_a_step(counted, slept):
    with pytest.raises(dp.BadParameter, match="why"):
        asked(House(), error=dp.BadParameter("why"))
    assert slept == [2.0 - 0.75]


def test_an_outcome_is_told_with_its_cause_logged_for_the_curator():
    house = House()
    told = door(house).told(ANN, Outcome(state="refused", error=PATHS))
    assert "secret" not in str(told.error)
    assert [what for _, what, _ in house.logged] == ["ask", "not ready"]


@pytest.mark.parametrize("person", [ANN, CURATOR], ids=["analyst", "curator"])
@pytest.mark.parametrize(
    ("error", "hidden"),
    [
        (None, False),
        (dp.BadParameter("no such column").to_json(), False),
        (cancelled().to_json(), False),
        (PATHS, True),
        (PATHS | {"cost": "the question was charged"}, True),
    ],
)
def test_only_what_is_about_the_server_itself_is_hidden_and_never_its_cost(person, error, hidden):
    outcome = Outcome(state="lost", error=error)
    found = doors.seen(person, outcome)
    if hidden and person is ANN:
        assert found.state == "lost"
        assert "secret" not in str(found.error)
        assert found.error["cost"] == error["cost"]
    else:
        assert found is outcome


def test_an_outcome_with_an_error_is_raised():
    answer = Outcome(state="stored", release={})
    assert doors.raised(answer) is answer
    with pytest.raises(DeniableError, match="cancelled"):
        doors.raised(Outcome(state="refused", error=cancelled().to_json()))
