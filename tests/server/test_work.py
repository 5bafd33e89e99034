"""A worker's clock, its limits for one question, and what its answer means; without processes."""

import math
import time
from contextlib import ExitStack, contextmanager
from types import SimpleNamespace

import duckdb
import pytest
from hypothesis import given
from hypothesis import strategies as st

import deniable as dp
from deniable.release import Plan
from deniable.server.jobs import asking, outcomes, pace, work, workers

NOW = 1000.0


@pytest.mark.parametrize("deadline", [5.0, 60.0])
@pytest.mark.parametrize("left", [None, -1.0, 0.0, 1e-3, 7.0, 90.0])
def test_the_alarm_rings_at_the_deadline_or_the_end_of_the_lease_whichever_comes_first(
    deadline, left, monkeypatch
):
    alarms, begun = [], []
    monkeypatch.setattr(work, "now", lambda: NOW)
    monkeypatch.setattr(work.signal, "setitimer", lambda which, after: alarms.append(after))
    monkeypatch.setattr(work, "said", lambda room, task: begun.append(list(alarms)) or {"ok": 1})
    task = {"kind": "ask"} | ({} if left is None else {"until": NOW + left})
    found = work._within(None, task, deadline)
    if left is not None and left <= 0:
        assert not alarms
        assert not begun
        assert found["refused"]["cost"].startswith("nothing was")
    else:
        expected = pytest.approx(min(deadline, math.inf if left is None else left))
        assert alarms == [expected]
        assert begun == [[expected]], "the clock runs before the work begins"
        assert found == {"ok": 1}


COSTS = [
    (dp.epsilon(0.5), dp.epsilon(0.5), True),
    (dp.epsilon(math.nextafter(0.5, 1)), dp.epsilon(0.5), False),
    (dp.epsilon(0.1), dp.epsilon(0.5), True),
    (dp.epsilon(0.1, delta=1e-9), dp.rho(0.5), False),
    (dp.epsilon(0.1, delta=1e-9), dp.epsilon(0.5), False),
    (dp.epsilon(0.1, delta=1e-9), dp.epsilon(0.5, delta=1e-10), False),
    (dp.epsilon(0.1, delta=1e-9), dp.epsilon(0.5, delta=1e-9), True),
    (dp.epsilon(0.6, delta=1e-9), dp.epsilon(0.5, delta=1e-8), False),
    (dp.epsilon(0.1), dp.epsilon(0.5, delta=1e-9), True),
    (dp.rho(0.5), dp.rho(0.5), True),
    (dp.rho(0.6), dp.rho(0.5), False),
    (dp.rho(1e-9), dp.epsilon(5.0), False),
]


@pytest.mark.parametrize(("cost", "most", "fine"), COSTS, ids=repr)
def test_one_question_costs_no_more_than_the_curator_allows_in_each_figure(cost, most, fine):
    plan = SimpleNamespace(cost=cost)
    if fine:
        work._check_most(plan, most)
    else:
        with pytest.raises(dp.BudgetExceeded, match="one question may cost"):
            work._check_most(plan, most)


def test_what_was_charged_and_refused_is_lost_and_only_what_cost_nothing_may_be_asked_again():
    for cost, state in [
        ("nothing was spent", "refused"),
        ("nothing was charged", "refused"),
        ("the question was charged", "lost"),
        ("", "lost"),
    ]:
        said = {"refused": {"message": "no", "cost": cost}}
        assert outcomes.read(said) == outcomes.Outcome(state=state, error=said["refused"])
    assert outcomes.read({"refused": {}}).state == "lost"
    assert outcomes.read({"ok": {"value": 1}}).state == "stored"
    assert outcomes.nothing_spent().state == "refused"
    assert outcomes.lost_answer().state == "lost"
    assert outcomes.lost_answer().error["cost"] == "the question was charged"


@given(
    st.floats(0, 1e4),
    st.lists(st.floats(0.01, 100), min_size=1, max_size=5, unique=True).map(sorted),
)
def test_an_outcome_is_known_at_a_public_step_that_is_not_before_it(taken, steps):
    found = pace.step_after(taken, steps)
    assert found >= taken
    if taken <= steps[-1]:
        assert found == min(step for step in steps if step >= taken)
    else:
        assert found / steps[-1] == pytest.approx(round(found / steps[-1]))
        assert found - steps[-1] <= taken * (1 + 1e-12)


def test_a_step_is_fixed_when_it_is_first_asked_for_and_waited_for(monkeypatch):
    clock = SimpleNamespace(now=NOW)
    monkeypatch.setattr(pace, "now", lambda: clock.now)
    monkeypatch.setattr(
        pace.time, "sleep", lambda left: setattr(clock, "now", clock.now + left / 2 + 1e-3)
    )
    turn = pace.Pace(steps=(1.0, 4.0), start=NOW)
    clock.now += 1.5
    assert turn.end == NOW + 4.0
    clock.now += 1.0
    turn.wait()
    assert turn.end == NOW + 4.0 <= clock.now < NOW + 4.1
    early = pace.Pace(steps=(1.0, 4.0), start=clock.now + 50)  # a clock that was set back
    assert early.end == clock.now + 51


def pool(count):
    limits = {"memory": 1 << 30, "deadline": 1.0}
    return workers.Workers(count, groups={}, ledgers={}, **limits)


def test_each_worker_is_with_one_at_a_time_and_comes_back_whatever_happens():
    both = pool(2)
    with both.one(patience=0) as first, both.one(patience=0) as second:
        assert {id(first), id(second)} == {id(each) for each in both.all}
        with pytest.raises(dp.NotReady, match="busy"), both.one(patience=0):
            pytest.fail("there are only two")
    with pytest.raises(KeyError), both.one(patience=0):
        raise KeyError
    with both.one(patience=0), both.one(patience=0):
        pass


@pytest.mark.parametrize(("code", "says"), [(-14, "deadline"), (-9, "code -9"), (None, "None")])
def test_the_curator_is_told_how_a_process_ended(code, says):
    assert says in workers.Died(code).cause
    assert ("deadline" in workers.Died(code).cause) == (code == -14)


@pytest.mark.parametrize("late", [-5.0, 0.0, 30.0])
def test_who_waited_past_their_patience_still_gets_a_worker_that_is_free(late):
    """Time may run out while one waits for one's own turn; what is left is never below 0."""
    free, begun = pool(1), []

    @contextmanager
    def turn(ask, end):
        yield SimpleNamespace(wait=lambda: None)

    asking_ = SimpleNamespace(
        _turn=turn, _house=SimpleNamespace(workers=free), _reserve=lambda ask: 1.0,
        _worked=lambda ask, worker, pace_, lease: begun.append(worker) or "done",
    )  # fmt: skip
    end = time.monotonic() - late
    assert asking.Asking._taken(asking_, SimpleNamespace(long=False), end) == "done"
    assert begun == free.all


@pytest.mark.parametrize("count", [1, 2, 3])
def test_long_tasks_leave_a_worker_for_short_ones(count):
    """All workers but one; if there is one alone, a long task may have it."""
    some, most = pool(count), max(1, count - 1)
    for _ in range(2):  # what was held comes back
        with ExitStack() as held:
            for _ in range(most):
                held.enter_context(some.one(patience=0, long=True))
            with pytest.raises(dp.NotReady, match="busy"), some.one(patience=0, long=True):
                pytest.fail("this is one too many")
            for _ in range(count - most):
                held.enter_context(some.one(patience=0))
            with pytest.raises(dp.NotReady, match="busy"), some.one(patience=0):
                pytest.fail("all have something to do")
    with ExitStack() as held:
        for _ in range(count):
            held.enter_context(some.one(patience=0))
        for _ in range(most + 1):  # no worker was free, so none of these is under way
            with pytest.raises(dp.NotReady, match="busy"), some.one(patience=0, long=True):
                pytest.fail("all have something to do")
    with some.one(patience=0, long=True):
        pass


@pytest.mark.parametrize(("most", "fine"), [(None, True), (0.6, True), (0.5, False)])
@pytest.mark.parametrize("way", ["_explain", "_ask"])
def test_neither_a_price_nor_an_answer_passes_what_one_question_may_cost(
    monkeypatch, most, fine, way
):
    plan = Plan(question="q", cost=dp.epsilon(0.6), errors={}, notes=("s.left says", "clipped"))
    monkeypatch.setattr(work, "_explained", lambda session, task: plan)
    monkeypatch.setattr(work, "_released", lambda session, task: "answer")
    monkeypatch.setattr(work, "_told", lambda answer, *, ledger: (answer, ledger))
    monkeypatch.setattr(work.wire, "plan_to_dict", lambda plan: plan.notes)
    room = object.__new__(work.Room)
    limit = None if most is None else dp.epsilon(most)
    room._groups = {"people": SimpleNamespace(most=limit, name="people")}
    room._session = lambda people, asker: SimpleNamespace(ledger=None)
    task = {"people": "people", "asker": "ann", "shown": 3}
    if not fine:
        with pytest.raises(dp.BudgetExceeded, match="one question may cost"):
            getattr(room, way)(task)
    elif way == "_explain":  # without what a local session alone has
        assert room._explain(task) == ("clipped",)
    else:
        assert room._ask(task) == ("answer", "people")


# ---- the loop of a worker, and its sessions


def test_a_worker_sets_its_limits_then_answers_each_task_and_stops_the_clock(monkeypatch):
    happened = []
    tasks = iter([{"kind": "ask", "deadline": 3.0}, {"kind": "explain"}])

    class Pipe:
        def recv(self):
            try:
                return next(tasks)
            except StopIteration:
                raise EOFError from None

        def send(self, answer):
            happened.append(("sent", answer))

    def recorded(name):
        return lambda *given: happened.append((name, *given))

    monkeypatch.setattr(work.signal, "signal", recorded("signal"))
    monkeypatch.setattr(work.signal, "setitimer", recorded("timer"))
    monkeypatch.setattr(work.resource, "setrlimit", recorded("limit"))
    monkeypatch.setattr(work, "_within", lambda room, task, deadline: (task["kind"], deadline))
    work.work(Pipe(), {}, {}, memory=1 << 30, deadline=60.0)
    assert set(happened[:4]) == {
        ("signal", work.signal.SIGINT, work.signal.SIG_IGN),
        ("signal", work.signal.SIGALRM, work.signal.SIG_DFL),
        ("limit", work.resource.RLIMIT_DATA, (1 << 30, 1 << 30)),
        ("limit", work.resource.RLIMIT_CORE, (0, 0)),
    }
    stopped = ("timer", work.signal.ITIMER_REAL, 0)
    assert happened[4:] == [
        stopped, ("sent", ("ask", 3.0)), stopped, ("sent", ("explain", 60.0))
    ]  # fmt: skip


def room_of(**groups):
    made = {
        name: SimpleNamespace(schema=SimpleNamespace(tables=tables), name=name)
        for name, tables in groups.items()
    }
    return work.Room(made, {name: f"{name}.ledger" for name in made})


@pytest.mark.parametrize(
    ("sql", "whose"),
    [
        ("SELECT COUNT(*) FROM visits", "patients"),
        ("SELECT COUNT(*) FROM Lessons", "pupils"),
        ("SELECT COUNT(*) FROM marks JOIN lessons USING (id)", "pupils"),
        ("SELECT COUNT(*) FROM elsewhere", "patients"),
        ("SELECT 1", "patients"),
        ("SELECT ((", "patients"),
    ],
)
def test_a_question_is_about_the_people_whose_tables_it_names(sql, whose):
    room = room_of(patients=("visits", "wards"), pupils=("LESSONS", "marks"))
    assert room.do({"kind": "whose", "sql": sql}) == whose


def test_a_session_is_opened_once_and_is_the_askers_own_if_there_is_one(monkeypatch):
    opened = []

    def open_(source, *, schema, ledger):
        opened.append((source, schema, ledger))
        return SimpleNamespace(version=f"of {source}", for_=lambda asker: f"{asker} of {source}")

    monkeypatch.setattr(work, "open_", open_)
    monkeypatch.setattr(work, "open_ledger", lambda path: f"opened {path}")
    monkeypatch.setattr(work, "source_of", lambda group: group.name)
    room = room_of(patients=("visits",), pupils=("marks",))
    assert room._session("pupils", "ann") == "ann of pupils"
    assert room._session("pupils", None).version == "of pupils"
    assert opened == [("pupils", room._groups["pupils"].schema, "opened pupils.ledger")]
    assert room.do({"kind": "ready"}) == ["of patients", "of pupils"]
    assert len(opened) == 2


@pytest.mark.parametrize("shared", [True, False])
def test_a_price_is_that_of_the_account_as_it_may_be_known(shared, monkeypatch):
    held, seen = [], []

    class Account:
        def hold(self, line):
            held.append(line)

    plan = Plan(question="q", cost=dp.epsilon(0.6), errors={})
    monkeypatch.setattr(work, "Account", Account)
    monkeypatch.setattr(work, "_explained", lambda session, task: seen.append([*held]) or plan)
    monkeypatch.setattr(work.wire, "plan_to_dict", lambda plan: plan.question)
    room = work.Room({"people": SimpleNamespace(most=None)}, {})
    ledger = Account() if shared else object()
    room._session = lambda people, asker: SimpleNamespace(ledger=ledger)
    task = {"kind": "explain", "people": "people", "asker": "ann", "shown": 3}
    assert room.do(task) == "q"
    assert seen == [[3] if shared else []], "held before the price is computed"


def test_what_a_session_opens_is_told_by_the_address(monkeypatch, tmp_path):
    monkeypatch.setattr(work, "on_spark", lambda address, table: (address, table))

    def source(address, sources=()):
        schema = SimpleNamespace(tables=("a", "b"))
        return work.source_of(SimpleNamespace(source=address, sources=sources, schema=schema))

    assert source("", {"a": "a.csv"}) == {"a": "a.csv"}
    assert source("sc://far") == {"a": ("sc://far", "a"), "b": ("sc://far", "b")}
    assert source("postgresql://far/db") == "postgresql://far/db"
    file = str(tmp_path / "held.duckdb")
    with duckdb.connect(file) as made:
        made.execute("CREATE TABLE a AS SELECT 7 AS x")
    with source(file) as held:
        assert held.execute("FROM a").fetchall() == [(7,)]
        with pytest.raises(duckdb.InvalidInputException, match="read-only"):
            held.execute("DROP TABLE a")


@pytest.mark.parametrize("within", [None, 0.5])
@pytest.mark.parametrize("spend", [None, {"epsilon": 0.25}])
@pytest.mark.parametrize("named", [True, False])
def test_a_question_by_name_says_what_to_spend_and_a_query_may_say_how_near(
    spend, within, named, monkeypatch
):
    def told(way):
        return lambda *given, **options: (way, *given, options)

    query = SimpleNamespace(explain=told("query"), release=told("query"))
    kind = SimpleNamespace(explain=told("kind"), release=told("kind"))
    monkeypatch.setattr(work.kinds, "named", lambda task: kind if named else None)
    monkeypatch.setattr(work.kinds, "Answer", lambda release: release)
    session = SimpleNamespace(sql=lambda text: query)
    task = {"sql": "SELECT 1", "spend": spend, "within": within, "size": 9}
    loss = None if spend is None else dp.epsilon(0.25)
    for act in (work._explained, work._released):
        if not named:
            assert act(session, task) == ("query", {"spend": loss, "within": within, "size": 9})
        elif spend is None or within is not None:
            with pytest.raises(dp.BadParameter, match="says what to spend"):
                act(session, task)
        else:
            assert act(session, task) == ("kind", session, loss, {})


def test_who_asks_for_too_much_is_offered_the_most_for_one_question():
    with pytest.raises(dp.BudgetExceeded) as refused:
        work._check_most(SimpleNamespace(cost=dp.epsilon(0.6)), dp.epsilon(0.5))
    assert "the most for one question" in str(refused.value)
