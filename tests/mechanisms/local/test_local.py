"""What local randomizers share: chances rounded towards privacy, and how many answers count."""

from fractions import Fraction

import numpy as np
import pytest
from mpmath import mp

import deniable as dp
from deniable.mechanisms.local._local import categories_of, grown_by, rounded_down, rounded_up

SHARES = [
    *[Fraction(1, 3), Fraction(2, 3), Fraction(1, 2), Fraction(1, 7), Fraction(10**9, 10**9 + 1)],
    *[Fraction(1, 3 * 2**80), 1 - Fraction(1, 5 * 2**80), Fraction(0.1), Fraction(3, 2**60)],
]


@pytest.mark.parametrize("share", SHARES, ids=str)
def test_a_chance_is_rounded_to_50_digits_of_the_rarer_side(share):
    rarer = min(share, 1 - share)
    for found, off in ((rounded_down(share), 1), (rounded_up(share), -1)):
        assert 0 <= off * (share - found) < rarer * Fraction(1, 2**48)
        assert found.denominator & (found.denominator - 1) == 0
        assert found.denominator <= 2**52 / rarer
    assert rounded_up(share) == 1 - rounded_down(1 - share)


def test_what_is_certain_stays_certain():
    assert (rounded_down(Fraction(0)), rounded_up(Fraction(0))) == (0, 0)
    assert (rounded_down(Fraction(1)), rounded_up(Fraction(1))) == (1, 1)
    assert rounded_down(Fraction(-1, 3)) == 0


@pytest.mark.parametrize("epsilon", [1e-9, 0.1, 1.0, 40.0, 64.0, 64.5, 1e6])
def test_growth_is_rounded_down_and_ends_at_64(epsilon):
    grown = grown_by(Fraction(epsilon))
    exact = mp.exp(mp.mpf(min(epsilon, 64.0)))
    assert 1 <= mp.mpf(grown.numerator) / grown.denominator <= exact
    assert mp.mpf(grown.numerator) / grown.denominator == pytest.approx(exact, rel=1e-30)


@pytest.mark.parametrize(
    ("declared", "answers"),
    [
        ({"linf": 1}, 1), ({"l1": 1, "shape": 4}, 1), ({"l1": 1.5, "shape": 4}, 1),
        ({"l1": 2, "shape": 4}, 2), ({"l1": 9, "shape": 4, "entries": 3}, 3),
        ({"linf": 1, "shape": 4}, None), ({"linf": 5, "entries": 2}, 2),
    ],
)  # fmt: skip
def test_a_unit_has_as_many_answers_as_are_declared_or_follow(declared, answers):
    value = dp.Sensitive(lambda: None, whole=True, **declared)
    for covered in (1, 2, 3):
        survey = dp.RandomizedResponse(epsilon=1.0, entries=covered)
        if answers is not None and answers <= covered:
            assert survey.on(value)
        else:
            with pytest.raises(dp.SensitivityMismatch):
                survey.on(value)


def test_categories_are_whole_numbers_from_zero_on():
    assert categories_of([], 3).tolist() == []
    assert categories_of(np.array([[0, 2]], dtype=np.uint8), 3).tolist() == [[0, 2]]
    for wrong in ([3], [-1], [0, 3], [0.0], [True], ["a"]):
        with pytest.raises(dp.BadParameter, match="from 0 to 2"):
            categories_of(wrong, 3)
