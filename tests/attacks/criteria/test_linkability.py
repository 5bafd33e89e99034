"""Two halves of a record; beside Anonymeter on the same tables."""

import json
from pathlib import Path

import numpy as np
import pytest
from tests.attacks.criteria.leaky import HALVES, KNOWN, SECRET, leaky

from deniable.attacks import attributes, linkability
from deniable.errors import BadParameter

PEER = json.loads(Path(__file__).with_name("anonymeter.json").read_text())


def overlap(found, other):
    low, high = found.interval()
    return low <= other[1] and other[0] <= high


def test_the_risk_agrees_with_anonymeter():
    members, controls, made = leaky()
    found = linkability(made, members=members, controls=controls, columns=HALVES, attacks=1500)
    assert overlap(found, PEER["linkability"]["interval"])
    assert found.interval()[0] > 0
    assert found.baseline.share < 0.01


def test_the_inference_risk_agrees_with_anonymeter():
    members, controls, made = leaky()
    found = attributes(
        made, secret=SECRET, known=KNOWN, members=members[:1500], controls=controls[:1500]
    ).risk
    assert overlap(found, PEER["inference"]["interval"])
    assert found.criterion == "inference"


def test_a_table_of_strangers_links_nobody():
    members, controls, made = leaky(copied=0.0)
    found = linkability(made, members=members, controls=controls, columns=HALVES, attacks=500)
    assert found.interval(1 - 1e-6)[0] == 0


def test_more_neighbours_link_more_and_guessing_finds_its_share():
    members, controls, made = leaky(size=300)
    few, many = (
        linkability(made, members=members, controls=controls, columns=HALVES, closest=n)
        for n in (1, 30)
    )
    assert many.members.hits >= few.members.hits
    assert many.baseline.share > 0.8  # 1 − (270 choose 30)/(300 choose 30) = 0.96
    assert few.baseline.share < 0.1


def test_missing_numbers_are_alike_and_far_from_others():
    """A missing number used to make a row farthest from every row, itself included."""
    table = {"age": np.array([np.nan, 20.0, 60.0]), "pay": np.array([np.nan, 1.0, 9.0])}
    found = linkability(table, members=table, controls=table, columns=(["age"], ["pay"]))
    assert found.members == (3, 3)


@pytest.mark.parametrize("columns", [([], ["b"]), (["a"], ["a"])])
def test_the_halves_are_apart(columns):
    with pytest.raises(BadParameter, match="no column in common"):
        linkability({"a": [1], "b": [2]}, members={}, controls={}, columns=columns)
