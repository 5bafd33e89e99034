"""Predicates that isolate one person; beside Anonymeter on the same tables."""

import json
from pathlib import Path

import numpy as np
import pytest
from tests.attacks.criteria.leaky import leaky

from deniable.attacks import singling_out
from deniable.errors import BadParameter, UnknownName

PEER = json.loads(Path(__file__).with_name("anonymeter.json").read_text())


def test_the_multivariate_risk_agrees_with_anonymeter():
    """Both intervals hold with 95 %, and each attacker draws its own predicates."""
    members, controls, made = leaky()
    found = singling_out(made, members=members, controls=controls, known=3, attacks=500)
    low, high = found.interval()
    other = PEER["multivariate"]["interval"]
    assert low <= other[1]
    assert other[0] <= high
    assert low > 0
    assert found.telling


def test_univariate_predicates_are_counted_among_those_that_could_be_made():
    """Anonymeter divides by the 500 that were asked for, so its risk is (r − c)/500 here: 0.01."""
    members, controls, made = leaky()
    found = singling_out(made, members=members, controls=controls, known=1, attacks=500)
    assert found.members.trials < 50
    spread = (found.members.hits - found.controls.hits) / 500
    assert spread == pytest.approx(PEER["univariate"]["value"], abs=2e-3)
    assert "attempts could be made" in str(found)


def test_a_table_of_strangers_has_no_risk():
    members, controls, made = leaky(copied=0.0)
    found = singling_out(made, members=members, controls=controls, attacks=300)
    assert found.interval(1 - 1e-6)[0] == 0


def test_a_person_with_many_rows_is_singled_out_by_all_of_them():
    rng = np.random.default_rng(1)
    who = np.repeat(np.arange(200), 5)
    age = rng.permutation(np.arange(1000, 1200))[who]
    table = {"id": who, "age": age}
    other = {"id": who, "age": rng.permutation(np.arange(2000, 2200))[who]}
    common = {"members": table, "controls": other, "known": 1, "columns": ["age"], "attacks": 50}
    by_person = singling_out(table, unit="id", **common)
    assert by_person.members == (50, 50)
    assert by_person.controls.hits <= 1
    assert singling_out(table, **common).members.trials == 0


def test_missing_values_and_text_are_values():
    table = {"x": [np.nan, 1.0, 1.0, 1.0], "city": ["a", "b", "b", "b"]}
    other = {"x": [1.0] * 4, "city": ["b"] * 4}
    found = singling_out(table, members=table, controls=other, known=1, attacks=10)
    assert found.members == (2, 2)
    assert found.controls == (0, 2)


@pytest.mark.parametrize(
    ("options", "error"),
    [
        ({"known": 3}, BadParameter),
        ({"attacks": 0}, BadParameter),
        ({"unit": "nobody"}, UnknownName),
        ({"columns": ["y"]}, UnknownName),
    ],
)
def test_what_does_not_fit_is_refused(options, error):
    table = {"x": [1, 2], "city": ["a", "b"]}
    with pytest.raises(error):
        singling_out(table, members=table, controls=table, **({"known": 1} | options))
