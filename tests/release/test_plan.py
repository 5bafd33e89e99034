"""A plan: what it says of the cost, of what is left, and of the ±."""

import pytest

import deniable as dp
from deniable.release import Plan


def plan(**changes):
    given = {"question": "how many", "cost": dp.epsilon(0.25), "errors": {"n": 12.0}}
    return Plan(**given | changes)


@pytest.mark.parametrize(
    ("cost", "left", "shown"),
    [
        (dp.epsilon(0.25), None, "ε 0.25"),
        (dp.epsilon(0.25), dp.epsilon(0.75), "ε 0.25 (leaves ε 0.75)"),
        (dp.epsilon(0.25), dp.epsilon(0.75, delta=1e-7), "ε 0.25 (leaves ε 0.75)"),
        (
            dp.epsilon(0.25, delta=1e-8), dp.epsilon(0.75, delta=1e-7),
            "ε 0.25, δ 1e-08 (leaves ε 0.75, plus δ 1e-07 for private group selection)",
        ),
    ],
)  # fmt: skip
def test_the_delta_that_is_left_is_told_to_who_spends_a_delta(cost, left, shown):
    assert plan(cost=cost, left=left)._facts()["cost"] == shown


def test_empty_notes_are_left_out():
    made = plan(notes=("", "clipped", ""))
    assert made.notes == ("clipped",)
    assert str(made).count("note") == 1


@pytest.mark.parametrize(
    ("errors", "shown"),
    [
        ({}, ""),
        ({"n": 11.98}, "n ± 12 (95 % confidence)"),
        ({"a": None, "n": 0.5}, "n ± 0.5, a ± unknown in advance (95 % confidence)"),
    ],
)
def test_known_errors_come_first(errors, shown):
    assert plan(errors=errors)._facts()["expect"] == shown


def test_the_version_of_the_data_is_told_if_it_has_one():
    assert plan()._facts()["data"] == ""
    assert plan(data_version="2026-11")._facts()["data"] == "version 2026-11"


def test_nobody_changes_the_errors_of_a_plan():
    errors = {"n": 1.0}
    made = plan(errors=errors)
    errors["n"] = 2.0
    assert made.errors["n"] == 1.0
    with pytest.raises(TypeError):
        made.errors["n"] = 3.0
