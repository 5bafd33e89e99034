"""What a question came to: kept and read back, and whose words its error has."""

import json

import pytest

import deniable as dp
from deniable.server.jobs import outcomes
from deniable.server.jobs.outcomes import Outcome

OWN = [outcomes.another(), outcomes.crowded(), outcomes.cancelled(), outcomes.frozen()]
ANSWER = {"provenance": {"entry_hash": "ab"}, "answers": {}}


def test_an_answer_names_the_line_it_was_charged_in_and_nothing_else_does():
    assert Outcome(state="stored", release=ANSWER).entry == "ab"
    assert Outcome(state="lost").entry == ""


@pytest.mark.parametrize(
    ("release", "error"), [(ANSWER, None), (None, OWN[0].to_json())], ids=["answer", "error"]
)
def test_what_is_kept_is_read_back(release, error):
    text = json.dumps({"release": release, "error": error})
    assert outcomes.stored("stored", text) == Outcome(state="stored", release=release, error=error)


def test_only_an_outcome_with_an_error_shows_one():
    assert outcomes.shown(Outcome(state="stored", release=ANSWER)) is None
    found = outcomes.shown(outcomes.lost_answer())
    assert "was lost while it was computed" in str(found)


@pytest.mark.parametrize("error", OWN, ids=lambda error: type(error).__name__)
def test_the_words_for_askers_are_known_as_such(error):
    assert outcomes.is_own(error.to_json())


def test_other_words_are_not():
    assert outcomes.is_own(outcomes.nothing_spent().error)
    assert not outcomes.is_own(dp.NotReady("/secret is missing").to_json())
    assert not outcomes.is_own({})


def test_a_status_says_whether_waiting_helps():
    assert (outcomes.crowded().status, outcomes.frozen().status) == (429, 403)
