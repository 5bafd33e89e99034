"""Streams that outlive a process: paid once, gone on with for no more than that."""

from types import SimpleNamespace

import pyarrow as pa
import pytest

import deniable as dp
from deniable.session import streams
from deniable.session.drawing import answers, watched

TENTH, TWENTIETH = dp.Laplace(scale=10.0), dp.Laplace(scale=20.0)


@pytest.fixture
def session():
    return dp.open(pa.table({"a": [1]}), unit=dp.rows(), budget=dp.epsilon(9.0))


def charges(session):
    return [entry for entry in session.ledger.entries if entry.kind == "charge"]


def test_a_stream_is_charged_when_it_begins_and_found_again_with_its_notes(session):
    counter = 2 * TENTH
    assert streams.paid(session, question="q") is None
    course = streams.begun(session, counter, question="q", title="visits by day")
    (charge,) = charges(session)
    assert (course.entry.hash, course.notes) == (charge.hash, [])
    assert charge.price.epsilon == pytest.approx(0.2)
    streams.note(session, course, 5)
    streams.note(session, course, {"n": 6})
    assert course.notes == [5, {"n": 6}]
    found, notes = streams.paid(session, question="q")
    assert (found.hash, notes) == (charge.hash, [5, {"n": 6}])
    assert streams.paid(session, question="other") is None


def test_only_what_costs_no_more_goes_on_and_it_is_free(session):
    course = streams.begun(session, 2 * TENTH, question="q", title="t")
    entry, notes = streams.paid(session, question="q")
    again = streams.resumed(session, 4 * TWENTIETH, entry=entry, notes=notes)
    assert (again.entry.hash, again.notes) == (course.entry.hash, [])
    assert again.notes is not notes
    assert len(charges(session)) == 1
    with pytest.raises(dp.BadParameter, match="costs more than was paid"):
        streams.resumed(session, 3 * TENTH, entry=entry, notes=notes)
    with pytest.raises(dp.BadParameter, match="costs more than was paid"):
        streams.resumed(session, TWENTIETH, entry=SimpleNamespace(price=None), notes=[])


def test_of_two_that_go_on_only_one_may(session):
    course = streams.begun(session, 2 * TENTH, question="q", title="t")
    other = streams.resumed(session, 2 * TENTH, entry=course.entry, notes=[])
    streams.note(session, course, 1)
    with pytest.raises(dp.BadParameter, match="another process has gone on"):
        streams.note(session, other, 1)
    assert other.notes == []


@pytest.mark.parametrize("lasting", [True, False])
def test_a_replay_goes_on_with_no_stream_of_a_ledger_that_lasts(tmp_path, lasting):
    ledger = tmp_path / "ledger.db" if lasting else None
    given = {"unit": dp.rows(), "budget": dp.epsilon(9.0), "ledger": ledger}
    with dp.open(pa.table({"a": [1]}), **given) as session:
        course = streams.begun(session, 2 * TENTH, question="q", title="t")
        with watched(SimpleNamespace()):
            if lasting:
                with pytest.raises(dp.BadParameter, match="keeps its ledger in memory"):
                    streams.resumed(session, 2 * TENTH, entry=course.entry, notes=[])
            else:
                assert streams.resumed(session, 2 * TENTH, entry=course.entry, notes=[]).notes == []


def test_no_stream_goes_on_while_a_value_is_computed(session):
    course = streams.begun(session, 2 * TENTH, question="q", title="t")

    def going_on():
        streams.resumed(session, 2 * TENTH, entry=course.entry, notes=[])

    broken = answers([(lambda value: value, dp.Sensitive(going_on, l1=1))])
    assert "nothing can be asked while a value is computed" in broken.detail
