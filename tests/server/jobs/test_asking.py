"""Each step of a question alone: a house of stubs, and a clock that stands."""

import json
from contextlib import contextmanager, nullcontext
from dataclasses import replace
from types import SimpleNamespace

import pytest

import deniable as dp
from deniable.server.jobs import asking as module
from deniable.server.jobs.asking import GRACE, PATIENCE, Ask, Asking, Conflict
from deniable.server.jobs.kinds import KINDS
from deniable.server.jobs.outcomes import Outcome, nothing_spent
from deniable.server.jobs.workers import Died

NOW, DEADLINE = 100.0, 8.0
WAITED = nullcontext()
ANN = SimpleNamespace(name="ann", asker="ann@x", frozen=False)
FIT = {"kind": "fit", "estimator": "KMeans"}
KEPT = json.dumps({"release": {"n": 1}, "error": None})


def ask_of(**body):
    return Ask(person=ANN, key="k", people="people", body={"sql": "SELECT 1", **body})


class House:
    def __init__(self):
        limits = {"deadline": DEADLINE, "steps": (0.5,)}
        self.settings = SimpleNamespace(**limits)
        self.logged, self.anchored, self.closed = [], [], ()
        self.groups = {"people": SimpleNamespace(purposes=())}
        self.accounts = SimpleNamespace(find=lambda name: ANN if name == "ann" else None)

    def log(self, *facts, **more):
        self.logged.append((facts, more))

    def anchor(self, people):
        self.anchored.append(people)


class Stub(Asking):
    """What it found in the database is given; what it wrote is kept."""

    def __init__(self, *, rows=(), finishes=True, lost=False):
        self._house, self.finished, self.settled, self.asked = House(), [], [], []
        self._database = SimpleNamespace(rows=self._rows)
        self._found, self._finishes, self._is_lost = list(rows), finishes, lost

    def _rows(self, sql, *given):
        self.asked.append(given)
        return self._found

    def _finish(self, attempt, outcome, visible, *, was="reserved"):
        self.finished.append((attempt, outcome.state, visible, was))
        return self._finishes.pop(0) if isinstance(self._finishes, list) else self._finishes


@pytest.fixture(autouse=True)
def clock(monkeypatch):
    held = SimpleNamespace(now=NOW, slept=[])

    def sleep(seconds):
        held.slept.append(seconds)
        held.now += 1

    monkeypatch.setattr(module, "now", lambda: held.now)
    ticking = SimpleNamespace(monotonic=lambda: held.now, sleep=sleep)
    monkeypatch.setattr(module, "time", ticking)
    return held


@pytest.mark.parametrize(
    ("result", "visible", "lease", "found"),
    [
        (KEPT, NOW, 0, "stored"), (KEPT, NOW + 1, 0, "busy"), (None, 0, NOW + 1, "busy"),
        (None, 0, NOW, "settled"), (None, 0, NOW - 1, "settled"),
        (KEPT, NOW - 1, NOW + 9, "stored"),
    ],
)  # fmt: skip
def test_a_key_that_is_known_gives_what_it_came_to_or_is_settled(result, visible, lease, found):
    ask, stub = ask_of(), Stub()
    puts = iter([(ask.digest, "stored", lease, result, visible), None])
    stub._put = lambda ask: next(puts)
    stub.settle = lambda asker, key, *, cause: stub.settled.append((asker, key, cause))
    if found == "busy":
        with pytest.raises(Conflict, match="still being answered"):
            stub.enqueue(ask)
    elif found == "stored":
        assert stub.ask(ask).release == {"n": 1}  # and nothing is run
    else:
        assert stub.enqueue(ask) is None
    assert stub.settled == ([("ann", "k", module.GONE)] if found == "settled" else [])


def test_a_key_of_another_question_is_a_conflict_and_one_never_free_is_busy():
    stub = Stub()
    stub._put = lambda ask: ("another", "stored", 0, KEPT, 0)
    with pytest.raises(Conflict, match="belongs to another question"):
        stub.enqueue(ask_of())
    stub._put = lambda ask: (ask.digest, "queued", 0, None, 0)
    stub.settle = lambda *given, cause: stub.settled.append(given)
    with pytest.raises(Conflict, match="still being answered"):
        stub.enqueue(ask_of())
    assert len(stub.settled) == 3


def test_a_question_that_is_refused_in_the_queue_is_finished_there():
    stub, ask, refusal = Stub(), ask_of(), dp.NotReady("no worker")
    ends = []

    def taken(ask, end):
        ends.append(end)
        if len(ends) == 3:
            raise refusal

    stub._taken = taken
    with pytest.raises(dp.NotReady, match="no worker"):
        stub.run(ask)
    assert ends == [NOW + PATIENCE] * 3
    assert stub.finished == [(ask.attempt, "refused", NOW, "queued")]


@pytest.mark.parametrize(("body", "times"), [({}, 1), ({"ask": FIT}, KINDS["fit"].patience)])
def test_a_kind_that_takes_longer_waits_longer_and_has_a_later_deadline(body, times):
    stub, ask = Stub(), ask_of(**body)
    assert stub._deadline(ask) == DEADLINE * times
    assert module._patience(ask) == PATIENCE * times
    words = module._words(ask.body)
    assert stub._most(words) == DEADLINE * times
    lease = NOW + stub._deadline(ask) + GRACE
    assert stub._turn_of(lease, words) == pytest.approx(NOW)
    assert ask.long == (times > 1)


@pytest.mark.parametrize(("late", "left"), [(0.0, 7.0), (10.0, -3.0)])
@pytest.mark.parametrize("lease", [None, 55.0])
def test_a_turn_has_the_worker_for_what_is_left_and_waits_for_its_step(clock, late, left, lease):
    stub, seen = Stub(), []
    pace = SimpleNamespace(wait=lambda: seen.append("waited"))

    @contextmanager
    def turn(ask, end):
        clock.now += late
        yield pace

    @contextmanager
    def one(*, patience, long):
        seen.append((patience, long))
        yield "worker"

    stub._turn, stub._house.workers = turn, SimpleNamespace(one=one)
    stub._reserve = lambda ask: lease
    stub._worked = lambda *given: given[1:]
    found = stub._taken(ask_of(), NOW + 7)
    assert found == (None if lease is None else ("worker", pace, lease))
    assert seen == [(left, False)] + ["waited"] * (lease is not None)


@pytest.mark.parametrize(("busy", "end"), [(0, 0.0), (2, 2.0), (3, 2.0)])
def test_a_turn_waits_for_ones_own_questions_until_patience_ends(clock, busy, end):
    """After the second look it is exactly the end, which is still in time; after the third not."""
    stub, looks = Stub(), []
    stub._turns = module.Turns(most=3)
    stub._under_way = lambda asker: looks.append(asker) or len(looks) <= busy
    if busy > end:
        with (
            pytest.raises(dp.NotReady, match="still being answered"),
            stub._turn(ask_of(), NOW + 1.5),
        ):
            pytest.fail("her time is over")
        return
    patient = []
    stub._turns = SimpleNamespace(of=lambda name, *, patience: patient.append(patience) or WAITED)
    with stub._turn(ask_of(), NOW + 1) as pace:
        assert pace.steps == (0.5,)
    assert clock.slept == [module._POLL] * busy
    assert patient == [1.0]


@pytest.mark.parametrize(
    ("rows", "settled"),
    [
        ([], []), ([("k", "reserved", NOW)], []), ([("k", "reserved", NOW - 1)], ["k"]),
        ([("k", "stored", NOW - 1), ("j", "reserved", NOW + 1)], []),
    ],
)  # fmt: skip
def test_questions_under_way_at_servers_that_ended_are_settled(rows, settled):
    stub = Stub(rows=rows)
    stub.settle = lambda asker, key, *, cause: stub.settled.append(key)
    assert stub._under_way("ann") == bool(rows)
    assert stub.settled == settled


def test_who_may_ask_for_which_purpose_about_whom():
    stub = Stub()
    stub._admit(ask_of())
    stub._admit(ask_of(purpose="any"))
    stub._house.groups["people"].purposes = ("planning", "care")
    stub._admit(ask_of(purpose="care"))
    for body in ({}, {"purpose": None}, {"purpose": "other"}):
        with pytest.raises(dp.BadParameter, match="stated purposes"):
            stub._admit(ask_of(**body))
    gone = replace(ask_of(purpose="care"), person=SimpleNamespace(name="ann", frozen=True))
    with pytest.raises(dp.NotReady, match="frozen"):
        stub._admit(gone)
    stub._house.closed = ("people",)
    for way in (stub._admit, stub.enqueue):
        with pytest.raises(dp.NotReady, match="not the one that this server last wrote"):
            way(ask_of(purpose="care"))


@pytest.mark.parametrize(
    ("said", "finishes", "state"),
    [
        ({"ok": {"n": 1}}, True, "stored"), ({"ok": {"n": 1}}, False, "refused"),
        ({"fault": "broke"}, True, "settled broke"),
        (Died(-14), True, f"settled {Died(-14).cause}"),
    ],
)  # fmt: skip
def test_what_a_worker_says_is_kept_or_settled_and_the_ledger_anchored(said, finishes, state):
    stub, tasks, pace = Stub(finishes=finishes), [], SimpleNamespace(start=90.0, end=101.0)

    def do(task):
        tasks.append(task)
        if isinstance(said, Died):
            raise said
        return said

    def settle(asker, key, *, cause, pace):
        assert pace.end == 101.0
        return Outcome(state=f"settled {cause}")

    stub.settle, ask = settle, ask_of()
    found = stub._worked(ask, SimpleNamespace(do=do), pace, 130.0)
    assert found.state == state
    times = {"turn": 90.0, "until": 130.0, "deadline": DEADLINE}
    who = {"kind": "ask", "people": "people", "asker": "ann@x"}
    assert tasks == [{"sql": "SELECT 1"} | who | times]
    assert stub._house.anchored == ["people"]


@pytest.mark.parametrize("pace", [None, SimpleNamespace(end=107.0)])
@pytest.mark.parametrize(
    ("state", "lost", "came_to"),
    [("queued", True, "refused"), ("reserved", False, "refused"), ("reserved", True, "lost")],
)
def test_a_question_whose_process_is_gone_is_lost_only_if_it_was_charged(
    pace, state, lost, came_to
):
    row = ("attempt", "people", 3, state, None, 120.0, "SELECT 1")
    stub, looked = Stub(rows=[row]), []
    stub._lost = lambda *given: looked.append(given) or lost
    assert stub.settle("ann", "k", cause="gone", pace=pace).state == came_to
    assert stub.finished == [("attempt", came_to, NOW if pace is None else 107.0, state)]
    assert looked == [("people", 3, "ann", "gone")] * (state == "reserved")
    told = [(("ann", "lost"), {"key": "k", "people": "people"})] * (came_to == "lost")
    assert stub._house.logged == told


def test_nothing_is_settled_twice_or_without_a_question():
    assert Stub().settle("ann", "k", cause="gone") == nothing_spent()
    stub = Stub(rows=[("attempt", "people", 3, "stored", KEPT, 120.0, "SELECT 1")])
    assert stub.settle("ann", "k", cause="gone").release == {"n": 1}
    assert stub.finished == []


def test_all_whose_lease_is_over_are_settled():
    stub = Stub(rows=[("ann", "k"), ("bob", "j")])
    stub.settle = lambda asker, key, *, cause: stub.settled.append((asker, key, cause))
    stub.settle_all()
    assert stub.settled == [("ann", "k", module.GONE), ("bob", "j", module.GONE)]
    assert stub.asked == [(NOW,)]


def line(kind, sequence, *, asker="ann@x", charge=None, repeats=None):
    return SimpleNamespace(
        kind=kind, sequence=sequence, asker=asker, charge=charge, repeats=repeats
    )


OPEN, CLOSED = line("charge", 4), line("charge", 5)
ENDED = line("answer", 6, charge=5)


@pytest.mark.parametrize(
    ("lines", "stopped", "lost"),
    [
        ([], [], False), ([OPEN], [4], True), ([CLOSED, ENDED], [], False),
        ([OPEN, CLOSED, ENDED], [4], True), ([OPEN, line("charge", 7)], [4, 7], True),
        ([line("charge", 4, asker="bob@x")], [], False),
        ([line("charge", 4, repeats=2)], [], False),
        ([CLOSED, line("stop", 6, charge=5)], [], True), ([line("share", 4)], [], False),
        ([CLOSED, line("stop", 6, charge=5, asker="bob@x"), ENDED], [], False),
    ],
)  # fmt: skip
def test_a_charge_without_an_answer_stops_its_asker(lines, stopped, lost):
    stub, stops = Stub(), []
    before = [line("charge", number) for number in range(3)]  # those of earlier questions
    ledger = SimpleNamespace(
        entries=before + lines, stop=lambda charge, *, cause: stops.append((charge.sequence, cause))
    )
    stub._house.ledgers = {"people": ledger}
    assert stub._lost("people", 3, "ann", "it broke") == lost
    assert [number for number, _ in stops] == stopped
    assert all(cause.startswith("it broke (asked by") for _, cause in stops)
    assert not stub._lost("people", 3, "eve", "it broke")  # whose account is gone


@pytest.mark.parametrize(
    ("row", "state"),
    [
        (None, None), (("stored", KEPT, NOW + 1, 0), "reserved"),
        (("stored", KEPT, NOW, 0), "stored"),
        (("queued", None, 0, NOW - 1), "settled"), (("queued", None, 0, NOW), "queued"),
        (("reserved", None, 0, NOW + 1), "reserved"), (("stored", KEPT, 0, NOW - 1), "stored"),
    ],
)  # fmt: skip
def test_looking_tells_no_more_than_may_be_known(row, state):
    stub = Stub(rows=[] if row is None else [row])
    stub.settle = lambda asker, key, *, cause: Outcome(state="settled")
    found = stub.look(ANN, "k")
    assert (found and found.state) == state
    if row is not None and state == "reserved":
        assert found.release is None


@pytest.mark.parametrize("running", [True, False])
def test_what_a_question_is_and_when_its_turn_came(running):
    stub = Stub(rows=[("SELECT 1", "care", "people", running, NOW + DEADLINE + GRACE)])
    facts = {"question": "SELECT 1", "purpose": "care", "people": "people", "most": DEADLINE}
    assert stub.about("ann", "k") == facts | {"turn": NOW if running else None}
    nothing = {"question": "", "purpose": "", "people": "", "most": DEADLINE, "turn": None}
    assert Stub().about("ann", "k") == nothing


@pytest.mark.parametrize(
    ("key", "finishes", "ended", "some"),
    [
        (None, [True, False], ["a", "b"], True), (None, [False, False], ["a", "b"], False),
        ("j", [True], ["b"], True), ("x", [], [], False),
    ],
)  # fmt: skip
def test_what_is_queued_can_be_cancelled_all_or_one(key, finishes, ended, some):
    stub = Stub(rows=[("k", "a"), ("j", "b")], finishes=finishes)
    assert stub.cancel(ANN, key) is some
    assert stub.finished == [(attempt, "refused", NOW, "queued") for attempt in ended]


def test_words_hold_no_nul():
    assert module._words({"sql": "a\0b"}) == "a\N{REPLACEMENT CHARACTER}b"


class Transaction:
    """Statements with what was given for them; each begins with one of the words in `says`."""

    def __init__(self, says):
        self.says, self.seen = says, []

    @contextmanager
    def transaction(self):
        yield self.run

    def run(self, sql, *given):
        self.seen.append((sql.split()[0], given))
        return self.says.get(sql.split()[0] if "people" not in sql.split() else "people", [])


@pytest.mark.parametrize(("body", "times"), [({}, 1), ({"ask": FIT}, KINDS["fit"].patience)])
@pytest.mark.parametrize("purpose", [None, "care"])
def test_a_queued_question_is_leased_for_as_long_as_it_may_wait(body, times, purpose):
    stub, ask = Stub(), ask_of(purpose=purpose, **body)
    stub._database = Transaction({})
    assert stub._put(ask) is None
    (freed, _, inserted) = stub._database.seen
    assert freed == ("DELETE", ("ann", "k", NOW))
    lease = NOW + PATIENCE * times + GRACE
    row = ("ann", "k", ask.attempt, ask.digest, "people", lease, module._words(ask.body))
    assert inserted == ("INSERT", (*row, purpose or "", NOW))
    stub._database = Transaction({"SELECT": [["digest", "stored"]]})
    assert stub._put(ask) == ("digest", "stored")
    assert [word for word, _ in stub._database.seen] == ["DELETE", "SELECT"]


def test_a_reservation_ends_after_the_deadline_and_says_where_the_ledger_was():
    stub, ask = Stub(), ask_of(ask=FIT)
    head = SimpleNamespace(sequence=12)
    stub._house.ledgers = {"people": SimpleNamespace(head=lambda: head)}
    lease = NOW + DEADLINE * KINDS["fit"].patience + GRACE
    stub._database = Transaction({"UPDATE": [(1,)]})
    assert stub._reserve(ask) == lease
    assert stub._database.seen[-1] == ("UPDATE", (12, lease, ask.attempt))
    stub._database = Transaction({"SELECT": [("j", "reserved", 0)], "UPDATE": [(1,)]})
    assert stub._reserve(ask) is None
    for says, match in ({"UPDATE": []}, "cancelled"), ({"people": [1], "UPDATE": [(1,)]}, "frozen"):
        stub._database = Transaction(says)
        with pytest.raises(dp.NotReady, match=match):
            stub._reserve(ask)
