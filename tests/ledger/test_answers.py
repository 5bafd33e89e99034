"""A stored answer is shown only with its own charge; a stream goes on only from its last note."""

import datetime as dt
from types import SimpleNamespace

import pytest

import deniable as dp
from deniable.errors import LedgerFailure
from deniable.ledger import answers, open_ledger
from deniable.ledger.answers import Once, asking, find, newest
from deniable.ledger.trust import intact
from deniable.sampling.source import this_process

ROWS, TENTH = dp.rows(), dp.Laplace(scale=10.0)


@pytest.fixture
def ledger():
    with open_ledger(budget=dp.epsilon(9.0), unit=ROWS) as opened:
        for asker in ("ann", "bob"):
            opened.share(asker, amount=dp.epsilon(2.0))
        yield opened


def paid(ledger, text, asker=None, value=None):
    charge = ledger.charge(TENTH, unit=ROWS, asker=asker, question=ledger.fingerprint(text))
    if value is not None:
        ledger.answer(charge, value)
    return charge


def found(ledger, text, asker):
    question = ledger.fingerprint(text)
    return ledger._store.read(
        lambda lines: find(
            lines, question, asker, newest=intact(lines.last(), where="x"), where="x"
        )
    )


def test_ones_own_answer_comes_before_an_older_one_and_that_before_none(ledger):
    assert found(ledger, "q", "ann") is None
    first = paid(ledger, "q", "bob", "of bob")
    paid(ledger, "other", "ann", "of another question")
    for asker, own in (("bob", first), ("ann", None), (None, None)):
        shown = found(ledger, "q", asker)
        assert (shown.answer.record["value"], shown.charge.hash) == ("of bob", first.hash)
        assert (shown.paid and shown.paid.hash) == (own and own.hash)
        assert shown.price == first.price
    second = paid(ledger, "q", "ann", "of ann")
    assert found(ledger, "q", "ann").paid.hash == second.hash
    assert found(ledger, "q", "ann").answer.record["value"] == "of ann"
    assert found(ledger, "q", "bob").answer.record["value"] == "of bob"
    assert found(ledger, "q", None).answer.record["value"] == "of bob"


def test_who_paid_for_a_repeated_answer_is_shown_it_by_that_charge(ledger):
    paid(ledger, "q", "bob", "of bob")
    again = ledger.recalled(ledger.fingerprint("q"), asker="ann")
    assert again.new
    shown = found(ledger, "q", "ann")
    assert shown.paid.hash == again.paid.hash
    assert shown.paid.repeats == shown.answer.sequence
    assert found(ledger, "q", "eve").paid is None
    assert not ledger.recalled(ledger.fingerprint("q"), asker="ann").new


def test_a_charge_without_an_answer_answers_nothing(ledger):
    paid(ledger, "q", "ann")
    assert found(ledger, "q", "ann") is None


@pytest.mark.parametrize(
    "change", [{"kind": "share"}, {"repeats": 2}, {"price": None}, {"sequence": 7}, {"sequence": 8}]
)
def test_an_answer_belongs_to_an_honest_charge_before_it(change):
    answer = SimpleNamespace(sequence=7)
    fine = {"kind": "charge", "repeats": None, "price": "price", "sequence": 6}
    charge = SimpleNamespace(**fine)
    assert answers._pair(answer, charge, paid=None, where="x").charge is charge
    with pytest.raises(LedgerFailure, match="line 7 of the ledger is an answer without its charge"):
        answers._pair(answer, SimpleNamespace(**fine | change), paid=None, where="x")


def once(ledger, patience=60.0):
    store = SimpleNamespace(patience=patience, where="x", read=ledger._store.read)
    return Once(store, ledger.fingerprint("q"), None)


def test_only_the_newest_charge_of_another_that_may_still_be_answered_is_waited_for(ledger):
    def pending(patience=60.0):
        return ledger._store.read(once(ledger, patience)._pending)

    assert pending() is None
    first, second = paid(ledger, "q"), paid(ledger, "q")
    paid(ledger, "other")
    assert pending().hash == second.hash
    assert pending(patience=0.0) is None
    ledger.answer(second, "late")
    assert pending().hash == first.hash
    assert ledger.recalled(ledger.fingerprint("q"), asker="ann").new  # a charge to a share alone
    assert pending().hash == first.hash
    ledger.stop(first, cause="it broke")
    assert pending() is None


@pytest.mark.parametrize(
    ("age", "waits"), [(0.0, True), (50.0, True), (70.0, False), (-50.0, True), (-70.0, False)]
)
def test_a_charge_is_waited_for_by_the_patience_of_the_ledger(ledger, age, waits):
    then = dt.datetime.now(dt.UTC) - dt.timedelta(seconds=age)
    charge = SimpleNamespace(time=then, hash="abc")
    asked = once(ledger)
    assert asked._waits(charge) == waits
    asked._given_up.add("abc")
    assert not asked._waits(charge)


def test_ones_own_charge_is_not_waited_for_until_it_has_its_answer(ledger, monkeypatch):
    monkeypatch.setattr(answers, "_ours", set())
    asked = once(ledger)
    charge = asked.pay(lambda: paid(ledger, "q"))
    assert answers._ours == {(this_process(), charge.hash)}
    assert not asked._waits(charge)
    answers.forget(charge)
    assert answers._ours == set()
    assert asked._waits(charge)


def test_whoever_gives_up_waiting_pays(ledger, monkeypatch):
    clock = SimpleNamespace(now=0.0, slept=0)

    def sleep(_):
        clock.now += 25.0
        clock.slept += 1
        assert clock.slept < 99, "nobody waits without end"

    monkeypatch.setattr(answers, "time", SimpleNamespace(monotonic=lambda: clock.now, sleep=sleep))
    monkeypatch.setattr(answers, "_ours", set())
    other = paid(ledger, "q")
    asked, tries = once(ledger), []

    def write():
        tries.append(clock.now)
        if len(tries) == 1:
            raise answers._Pending(other)
        return other

    assert asked.pay(write) is other
    assert tries == [0.0, 100.0]  # at 75 the patience of 60 is over, which the next look sees
    assert asked._given_up == {other.hash}


def test_who_waits_for_a_charge_does_not_go_on_waiting_for_a_newer_one(ledger, monkeypatch):
    """Each has the whole patience by one's own clock, from when it is first seen."""
    looks = []
    monkeypatch.setattr(answers, "time", SimpleNamespace(monotonic=float, sleep=looks.append))
    first, asked = paid(ledger, "q"), once(ledger)
    newer = paid(ledger, "q")
    pending = iter([first, first, newer])
    monkeypatch.setattr(asked, "_pending", lambda _: next(pending))
    asked._wait(first)
    assert (len(looks), asked._given_up) == (2, set())
    assert next(pending, None) is None


def test_an_answer_that_has_come_is_not_paid_for(ledger):
    paid(ledger, "q", value=5)
    with pytest.raises(answers.Answered):
        ledger._store.read(lambda lines: once(ledger).check(lines, intact(lines.last(), where="x")))


def test_a_stream_goes_on_from_its_last_note_alone(ledger):
    question = ledger.fingerprint("q")
    assert newest(ledger, question, asker="ann") is None
    charge = paid(ledger, "q", "ann")
    paid(ledger, "q", "bob")
    paid(ledger, "other", "ann")
    notes = [ledger.go_on(charge, known=n, value=n) for n in range(3)]
    for known in (0, 2, 4):
        with pytest.raises(dp.BadParameter, match="another process has gone on"):
            ledger.go_on(charge, known=known, value="x")
    found, held = newest(ledger, question, asker="ann")
    assert found.hash == charge.hash
    assert [each.hash for each in held] == [each.hash for each in notes]
    again = paid(ledger, "q", "ann")
    assert newest(ledger, question, asker="ann")[0].hash == again.hash
    assert newest(ledger, question, asker="ann")[1] == []
    assert newest(ledger, question, asker="bob")[1] == []


def test_a_turn_is_kept_for_one_question_at_a_time():
    with asking(None), asking("q"), asking("r"):
        assert set(answers._turns._open) == {"q", "r"}
        answers._turns.forked()
        assert not answers._turns._open
