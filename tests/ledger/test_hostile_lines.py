"""What is handed to a ledger in the wrong type, of another ledger, or under a name of SQLite's."""

import os
import threading

import pyarrow as pa
import pytest

import deniable as dp
from deniable.ledger import Entry, answers, open_ledger
from deniable.losses import Renyi
from deniable.session.asked import columns_of

ROWS = dp.rows()
SMALL = dp.Laplace(scale=100.0)


class Named(dict):
    """A dict that pretends to be a title."""

    def __add__(self, _):
        return self


@pytest.fixture(params=["memory", "sqlite"])
def ledger(request, tmp_path):
    where = None if request.param == "memory" else tmp_path / "ledger.db"
    with open_ledger(where, budget=dp.epsilon(1.0), unit=ROWS) as opened:
        yield opened


def asked(session, question="q", value=3, **more):
    step = SMALL.on(dp.Sensitive(lambda: value, l1=1))
    return session.release(step, question=question, **more)


def session_on(ledger):
    return dp.open(pa.table({"x": [1]}), unit=ROWS, ledger=ledger)


NOT_TEXT = [5, True, 1.5, ["x"], {"a": 1}, Named(a=1)]


@pytest.mark.parametrize("text", NOT_TEXT, ids=repr)
@pytest.mark.parametrize("where", ["note", "what", "question"])
def test_no_line_is_written_that_no_reader_accepts(ledger, text, where):
    write = {
        "note": lambda: ledger.note(text),
        "what": lambda: ledger.charge(SMALL, unit=ROWS, what=text),
        "question": lambda: ledger.charge(SMALL, unit=ROWS, question=text),
    }
    with pytest.raises(dp.BadParameter, match="as text"):
        write[where]()
    assert len(ledger.entries) == 0
    ledger.note("text")
    ledger.verify()


@pytest.mark.parametrize("text", [*NOT_TEXT, 0, [], {}, False], ids=repr)
@pytest.mark.parametrize("where", ["question", "title", "table"])
def test_a_question_its_title_and_its_table_are_text(ledger, text, where):
    session = session_on(ledger)
    with pytest.raises(dp.BadParameter, match="must be text"):
        asked(session, **{where: text})
    assert session.spent.epsilon == 0
    assert asked(session).loss.epsilon == pytest.approx(0.01)


def test_only_a_charge_of_this_ledger_stops_its_asker(ledger):
    ledger.share("ann", amount=dp.epsilon(0.5))
    session = session_on(ledger)
    ann = session.for_("ann")
    asked(session)
    asked(ann, "of ann")
    other = open_ledger(budget=dp.epsilon(1.0), unit=ROWS)
    for _ in range(9):
        foreign = other.charge(SMALL, unit=ROWS, asker="ann")
    as_ann_sees_it = [each for each in ann.ledger.entries if each.kind == "charge"][-1]
    share = next(each for each in ledger.entries if each.kind == "share")
    for wrong in (as_ann_sees_it, foreign, share, Entry(record={"sequence": 99}, hash="")):
        with pytest.raises(dp.BadParameter, match="not a charge of this ledger"):
            ledger.stop(wrong, cause="it died")
    paid = next(each for each in ledger.entries if each.kind == "charge" and each.asker == "ann")
    with pytest.raises(dp.BadParameter, match="must be text"):
        ledger.stop(paid, cause=5)
    assert not session.failures
    assert asked(ann, "another").loss
    ledger.stop(paid, cause="it died")
    with pytest.raises(dp.AskerStopped):
        asked(ann, "a third")
    assert [each.asker for each in session.failures] == ["ann"]
    session.resume(asker="ann")
    assert asked(ann, "a third").loss
    assert len(ann.ledger.entries) > 3


def test_an_asker_cannot_have_a_guessed_line_hashed_under_the_ledgers_key(ledger):
    ledger.share("ann", amount=dp.epsilon(0.5))
    with pytest.raises(AttributeError, match="curator's ledger"):
        session_on(ledger).for_("ann").ledger.alias(Entry(record={}, hash="0" * 64))


@pytest.mark.parametrize("ending", ["-journal", "-wal", "-shm"])
def test_a_ledger_is_not_called_as_a_file_that_sqlite_removes(tmp_path, ending):
    (tmp_path / "link.db").symlink_to(tmp_path / f"x.db{ending}")
    for name in (f"x.db{ending}", "link.db"):
        with pytest.raises(dp.LedgerFailure, match="SQLite removes files"):
            open_ledger(tmp_path / name, budget=dp.epsilon(1.0), unit=ROWS)
    assert os.listdir(tmp_path) == ["link.db"]  # noqa: PTH208


def test_a_budget_of_several_figures_is_no_budget_of_a_session():
    curve = open_ledger(budget=Renyi(orders=(2.0, 8.0), values=(1.0, 3.0)), unit=ROWS)
    with pytest.raises(dp.BadParameter, match="one figure"):
        session_on(curve)


def test_two_threads_that_ask_each_others_question_do_not_wait_for_ever(ledger, monkeypatch):
    monkeypatch.setattr("deniable.ledger.answers._NESTED", 0.2)
    session, both, refused = session_on(ledger), threading.Barrier(2), []

    def ask(own, others):
        def present(drawn):
            both.wait(100)
            try:
                asked(session, others)
            except dp.NotReady as error:
                refused.append(error.what)
            return columns_of([SMALL.on(dp.Sensitive(lambda: 3, l1=1))])(drawn)

        asked(session, own, present=present)

    threads = [threading.Thread(target=ask, args=pair) for pair in (("a", "b"), ("b", "a"))]
    for each in threads:
        each.start()
    for each in threads:
        each.join(100)
        assert not each.is_alive()
    assert refused
    assert "another thread is answering" in refused[0]


@pytest.mark.parametrize("nested", [False, True])
def test_a_turn_is_given_back_whatever_ends_the_question(nested):
    def interrupted(question):
        with pytest.raises(KeyboardInterrupt), answers.asking(question):
            raise KeyboardInterrupt

    if nested:
        with answers.asking("outer"):
            interrupted("inner")
            with answers.asking("outer"):
                interrupted("outer")
            assert answers._turns.any_ours()
    else:
        interrupted("inner")
    assert not answers._turns.any_ours()
    free = []
    for question in ("inner", "outer"):
        lock = answers._turns.of(question).lock
        thread = threading.Thread(target=lambda lock=lock: free.append(lock.acquire(timeout=100)))
        thread.start()
        thread.join()
    assert free == [True, True]
