"""A failure stops its asker, durably, until the curator resumes: in every kind of store."""

import itertools
import json
import shutil
import sqlite3
import subprocess
import sys
import threading
from pathlib import Path

import pytest

import deniable as dp
from deniable.errors import AskerStopped, BadParameter, LedgerFailure
from deniable.ledger import Halts, open_ledger
from deniable.ledger.entry import canonical, digest
from deniable.ledger.stores.store import watching

ROWS = dp.rows()
TENTH = dp.Laplace(scale=10.0)
CAUSE = "ValueError: cannot parse 'Secret Person'"
ASKERS = [None, "ann"]


def failed(ledger, asker=None, cause=CAUSE):
    charge = ledger.charge(TENTH, unit=ROWS, asker=asker, what="SELECT SUM(x)")
    ledger.stop(charge, cause=cause)
    return charge


@pytest.mark.parametrize("asker", ASKERS)
def test_a_stopped_asker_is_refused_and_pays_nothing(fresh, asker):
    ledger = fresh()
    failed(ledger, asker)
    before = ledger.head()
    for refused in (
        lambda: ledger.charge(TENTH, unit=ROWS, asker=asker),
        lambda: ledger.check(ledger.price(TENTH), asker=asker),
        lambda: ledger.check_asker(asker),
    ):
        with pytest.raises(AskerStopped) as caught:
            refused()
        assert caught.value.cost == "nothing was spent"
        assert "Secret" not in str(caught.value)
    assert ledger.head() == before


def test_other_askers_go_on(fresh):
    ledger = fresh()
    failed(ledger, "ann")
    assert ledger.charge(TENTH, unit=ROWS).kind == "charge"
    assert ledger.charge(TENTH, unit=ROWS, asker="bob").kind == "charge"
    failed(ledger)
    with pytest.raises(AskerStopped):
        ledger.charge(TENTH, unit=ROWS)
    assert ledger.halts().stopped == {"ann": 1, None: 1}


@pytest.mark.parametrize("asker", ASKERS)
def test_a_resumption_is_a_line_that_every_later_line_counts(fresh, asker):
    ledger = fresh()
    failed(ledger, asker)
    assert ledger.resume(asker).kind == "resume"
    later = ledger.charge(TENTH, unit=ROWS, asker=asker)
    assert Halts.of(later) == ledger.halts() == Halts(resumptions=1, failures=1)
    failed(ledger, asker)
    ledger.resume(asker)
    assert ledger.halts().resumptions == 2
    assert "resumed 2 times after 2 failures" in repr(ledger)
    assert "resumed 2 times" in ledger._repr_html_()
    ledger.verify()


def test_only_who_is_stopped_is_resumed(fresh):
    ledger = fresh()
    failed(ledger, "ann")
    with pytest.raises(BadParameter, match="the curator is not stopped") as caught:
        ledger.resume()
    assert "asker='ann'" in caught.value.fix
    assert len(ledger.entries) == 2


def test_the_curator_reads_cause_and_question_until_the_asker_is_resumed(fresh):
    ledger = fresh()
    charge = failed(ledger, "ann")
    failed(ledger, "bob", cause="another \x00 \ud800")
    first, second = ledger.failures()
    assert (first.asker, first.question, first.detail) == ("ann", "SELECT SUM(x)", CAUSE)
    assert first.entry == charge.sequence
    assert second.detail == "another \\x00 \\ud800"
    assert CAUSE in str(ledger.failures())
    assert "SELECT SUM(x)" in str(ledger.failures())
    assert "Secret" not in repr(ledger.failures())
    ledger.resume("ann")
    assert [each.asker for each in ledger.failures()] == ["bob"]


LOOKS = {
    "shown": lambda ledger: ledger.failures() and None,
    "passed": lambda ledger: ledger.failures(),
    "passed by another process": lambda ledger: ledger.waiting(),
}


@pytest.mark.parametrize("asker", ASKERS)
@pytest.mark.parametrize("look", LOOKS)
def test_a_cause_that_was_not_shown_is_not_erased(fresh, asker, look):
    """A second question fails while the curator reads the cause of the first."""
    ledger = fresh()
    late = ledger.charge(TENTH, unit=ROWS, asker=asker)
    failed(ledger, asker)
    seen = LOOKS[look](ledger)
    ledger.stop(late, cause="the second cause")
    with pytest.raises(BadParameter, match="failed after the causes were shown"):
        ledger.resume(asker, seen=seen)
    assert [each.detail for each in ledger.failures()] == [CAUSE, "the second cause"]
    _, passed = ledger.passed_over(asker)
    assert [each.detail for each in passed] == [CAUSE, "the second cause"]
    assert not ledger.failures()
    ledger.verify()


def test_a_look_at_others_failures_shows_nothing_of_this_askers(fresh):
    ledger = fresh()
    failed(ledger, "ann")
    seen = ledger.failures()
    failed(ledger, "bob")
    with pytest.raises(BadParameter, match="failed after the causes were shown"):
        ledger.resume("bob", seen=seen)
    ledger.resume("ann", seen=seen)
    failed(ledger, "ann")
    with pytest.raises(BadParameter, match="failed after the causes were shown"):
        ledger.resume("ann", seen=seen)


def test_no_cause_is_in_the_lines_that_may_be_exported(fresh):
    ledger = fresh()
    failed(ledger)
    assert "Secret" not in ledger.to_jsonl()
    assert "Secret" not in repr(list(ledger.entries)) + repr(ledger) + ledger._repr_html_()


def test_a_cause_that_was_seen_is_erased_from_the_file(tmp_path):
    with open_ledger(tmp_path / "a.db", budget=dp.epsilon(1.0), unit=ROWS) as ledger:
        failed(ledger)
        assert b"Secret Person" in (tmp_path / "a.db").read_bytes()
        ledger.resume()
    assert b"Secret Person" not in (tmp_path / "a.db").read_bytes()


def test_charges_under_way_may_finish_and_each_failure_is_counted(fresh):
    ledger = fresh()
    first, second = (ledger.charge(TENTH, unit=ROWS) for _ in range(2))
    ledger.stop(first, cause="one")
    ledger.stop(second, cause="two")
    assert ledger.halts().stopped == {None: 2}
    assert [each.detail for each in ledger.failures()] == ["one", "two"]
    ledger.resume()
    assert ledger.halts() == Halts(resumptions=1, failures=2)
    assert ledger.charge(TENTH, unit=ROWS).kind == "charge"


def test_an_answer_admitted_before_the_stop_is_kept(fresh):
    ledger = fresh()
    asked = ledger.fingerprint("q")
    charge = ledger.charge(TENTH, unit=ROWS, question=asked)
    failed(ledger)
    ledger.answer(charge, 5)
    assert ledger.recall(asked).value == 5


def test_what_is_stored_is_shown_to_a_stopped_asker_but_nothing_is_charged_to_their_share(fresh):
    ledger = fresh()
    ledger.share("ann", amount=dp.epsilon(0.5))
    asked = ledger.fingerprint("q")
    ledger.answer(ledger.charge(TENTH, unit=ROWS, question=asked, asker="ann"), 5)
    other = ledger.fingerprint("r")
    ledger.answer(ledger.charge(TENTH, unit=ROWS, question=other, asker="bob"), 6)
    failed(ledger, "ann")
    assert ledger.recall(asked, asker="ann").value == 5
    used = ledger.standing("ann")
    with pytest.raises(AskerStopped):
        ledger.recall(other, asker="ann")
    assert ledger.standing("ann") == used
    ledger.resume("ann")
    assert ledger.recall(other, asker="ann").value == 6
    ledger.verify()


def test_nobody_charges_after_the_stop_whatever_the_race(fresh):
    """Every charge by the asker stands before the first stop in the chain."""
    ledger = fresh(budget=dp.epsilon(50.0))
    barrier = threading.Barrier(4)

    def ask(fails):
        barrier.wait()
        for turn in itertools.count():
            try:
                charge = ledger.charge(TENTH, unit=ROWS)
            except AskerStopped:
                return
            if fails and turn == 3:
                ledger.stop(charge, cause=CAUSE)

    threads = [threading.Thread(target=ask, args=(n == 0,)) for n in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    kinds = [entry.kind for entry in ledger.entries]
    assert kinds.index("stop") == len(kinds) - 1


def test_another_process_is_refused_too(tmp_path):
    where = tmp_path / "a.db"
    with open_ledger(where, budget=dp.epsilon(1.0), unit=ROWS) as ledger:
        failed(ledger)
    program = f"""
import deniable as dp
from deniable.ledger import open_ledger
ledger = open_ledger({str(where)!r})
try:
    ledger.charge(dp.Laplace(scale=10.0), unit=dp.rows())
except dp.AskerStopped:
    print(ledger.failures()[0].detail)
    ledger.resume()
"""
    ran = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )
    assert ran.stdout.strip() == CAUSE
    with open_ledger(where) as ledger:
        assert ledger.charge(TENTH, unit=ROWS).kind == "charge"


@pytest.mark.parametrize("step", ["begun", "checked", "appended"])
def test_if_the_cause_cannot_be_kept_the_stop_is_written_without_it(fresh, step):
    ledger = fresh()
    charge = ledger.charge(TENTH, unit=ROWS)
    turns = itertools.count()

    def fail_once(reached):
        if reached == step and next(turns) == 0:
            raise LedgerFailure("no room")

    with watching(fail_once):
        ledger.stop(charge, cause=CAUSE)
    assert ledger.halts().stopped == {None: 1}
    assert "could not be kept" in str(ledger.failures())


def test_if_no_stop_can_be_written_the_process_stops_its_asker(fresh):
    ledger = fresh()
    charge = ledger.charge(TENTH, unit=ROWS)

    def fail(_):
        raise LedgerFailure("no room")

    with watching(fail), pytest.raises(LedgerFailure):
        ledger.stop(charge, cause=CAUSE)
    with pytest.raises(AskerStopped):
        ledger.charge(TENTH, unit=ROWS)
    ledger.resume()
    assert ledger.charge(TENTH, unit=ROWS).kind == "charge"


def test_a_ledger_of_the_first_layout_is_stopped_and_resumed(tmp_path):
    frozen = Path(__file__).parent / "frozen" / "format_1.db"
    unit = dp.person("user_id", rows=10, groups=3)
    with open_ledger(shutil.copy(frozen, tmp_path / "old.db")) as ledger:
        assert not ledger.failures()
        charge = ledger.charge(dp.Laplace(scale=100.0), unit=unit, asker="ann")
        ledger.stop(charge, cause=CAUSE)
        assert ledger.failures()[0].detail == CAUSE
        ledger.verify()
        ledger.resume("ann")
        ledger.verify()


@pytest.mark.parametrize("change", ["stopped", "resumptions", "dropped"])
def test_a_line_that_forgets_a_stop_is_found(tmp_path, change):
    """Hashes are recomputed, as somebody would who wants to go on: the chain of states tells."""
    where = tmp_path / "a.db"
    with open_ledger(where, budget=dp.epsilon(1.0), unit=ROWS) as ledger:
        failed(ledger, "ann")
        ledger.note("later")
    with sqlite3.connect(where) as file:
        file.execute("DROP TRIGGER entries_no_update")
        (line,) = file.execute("SELECT line FROM entries WHERE sequence = 3").fetchone()
        record = json.loads(line)
        if change == "dropped":
            del record["halts"]
        else:
            record["halts"][change] = [] if change == "stopped" else 7
        text = canonical(record)
        file.execute(
            "UPDATE entries SET line = ?, hash = ? WHERE sequence = 3", (text, digest(text))
        )
    with pytest.raises(LedgerFailure, match="who is stopped"):
        open_ledger(where)


@pytest.mark.parametrize("order", [["zoe", None, "ann"], [None, "ann", "zoe"]], ids=str)
def test_lines_list_the_stopped_in_one_order_whoever_came_first(order):
    halts = Halts()
    for asker in [*order, "ann"]:
        halts = halts.stop(asker)
    stated = halts.to_record()["halts"]
    assert stated["stopped"] == [[None, 1], ["ann", 2], ["zoe", 1]]
    after = halts.resume("ann")
    assert after.to_record()["halts"] == {
        "stopped": [[None, 1], ["zoe", 1]], "resumptions": 1, "failures": 2
    }  # fmt: skip
    assert Halts().to_record() == {}
    assert Halts(resumptions=1).to_record() != {} != Halts(failures=1).to_record()


def test_a_look_that_showed_no_failure_is_a_look(fresh):
    ledger = fresh()
    assert not ledger.failures()
    failed(ledger, "ann")
    with pytest.raises(BadParameter, match="failed after the causes were shown"):
        ledger.resume("ann")
    assert ledger.failures()
    ledger.resume("ann")
