"""The risk and its interval."""

import numpy as np
import pytest

from deniable.attacks import Rate, Risk


def risk(members, controls, baseline=(0, 100), wanted=0):
    return Risk(
        criterion="linkability",
        attack="two halves",
        members=Rate(*members),
        controls=Rate(*controls),
        baseline=Rate(*baseline),
        wanted=wanted,
    )


@pytest.mark.parametrize(
    ("members", "controls", "value"),
    [((60, 100), (20, 100), 0.5), ((20, 100), (60, 100), 0.0), ((5, 5), (5, 5), 0.0),
     ((0, 0), (0, 0), 0.0), ((9, 10), (0, 10), 0.9)],
)  # fmt: skip
def test_the_risk_is_what_members_lose_beyond_a_control(members, controls, value):
    found = risk(members, controls)
    low, high = found.interval()
    assert found.value == pytest.approx(value)
    assert 0 <= low <= found.value <= high <= 1


def test_the_interval_covers_at_its_confidence():
    """Joint coverage ≥ 99 % by the union bound.

    2,000 trials with 50 misses or more, 20 being expected at most, have probability below 1e-8.
    """
    rng = np.random.default_rng(3)
    missed = 0
    truth = (0.3 - 0.1) / (1 - 0.1)
    for inside, outside in zip(
        rng.binomial(200, 0.3, 2000), rng.binomial(150, 0.1, 2000), strict=True
    ):
        low, high = risk((int(inside), 200), (int(outside), 150)).interval(0.99)
        missed += not low <= truth <= high
    assert missed < 50


def test_too_few_attempts_and_a_worthless_attack_are_noted():
    text = str(risk((3, 15), (3, 15), baseline=(30, 100), wanted=500))
    assert "only 15 of 500 attempts could be made" in text
    assert "no better than guessing" in text
    assert "(95 % confidence)" in text.splitlines()[0]
