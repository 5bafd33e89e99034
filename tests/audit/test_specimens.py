"""Every specimen is found out and no right twin is accused.

Each black-box audit runs at confidence 1 − 1e-9: all twins together are accused wrongly with
probability below 1e-7. Replay and arithmetic accuse nobody by chance.
"""

import re
from pathlib import Path

import pytest

from deniable.audit.specimens import SPECIMENS, Computed, Replayed, Sampled, Timed
from deniable.audit.specimens._specimen import SURE

ROOT = Path(__file__).parents[2]
EACH = pytest.mark.parametrize("specimen", SPECIMENS, ids=lambda specimen: specimen.name)


@EACH
def test_every_specimen_is_found_out(specimen):
    found = specimen.judge_wrong()
    assert found.refuted, found


@EACH
def test_no_right_twin_is_accused(specimen):
    found = specimen.judge_right()
    assert not found.refuted, found


def test_there_are_many_and_of_every_kind():
    names = [specimen.name for specimen in SPECIMENS]
    assert len(set(names)) == len(names) >= 45
    kinds = [sum(isinstance(each, kind) for each in SPECIMENS) for kind in (Sampled, Replayed)]
    assert min(kinds) >= 15
    assert any(isinstance(each, Timed) for each in SPECIMENS)
    assert sum(isinstance(each, Computed) for each in SPECIMENS) >= 8


def test_all_audits_together_may_err_once_in_ten_million():
    asked = sum(isinstance(each, Sampled | Timed) for each in SPECIMENS)
    assert asked * (1 - SURE) < 1e-7


@EACH
def test_each_says_what_is_wrong_and_what_holds(specimen):
    assert specimen.wrong_because
    assert specimen.holds
    assert not re.search(r"\.$", specimen.wrong_because)
    assert specimen.auditor in {"black box", "black box with a clock", "replay", "arithmetic"}


@pytest.mark.parametrize(
    ("name", "witness"),
    [
        ("Laplace noise in floating point", "last binary digit"),
        ("Gaussian noise in floating point", "binary digit"),
        ("histogram of the values seen", "'c'"),
        ("one noise for two answers", "entries that tie"),
        ("a search that stops when it has found", "the call takes"),
        ("candidates from the data", "the answer is"),
    ],
)
def test_the_witness_is_the_mistake_itself(name, witness):
    (specimen,) = [each for each in SPECIMENS if each.name == name]
    assert witness in specimen.judge_wrong().witness.witness


def test_the_page_of_mistakes_names_only_specimens_that_exist():
    page = (ROOT / "docs/explain/mistakes.md").read_text()
    named = set(re.findall(r"«(.+?)»", page))
    assert named
    assert named <= {specimen.name for specimen in SPECIMENS}
