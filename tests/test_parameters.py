"""One check and one message for every parameter."""

from decimal import Decimal
from fractions import Fraction
from typing import ClassVar

import numpy as np
import pytest

from deniable import parameters
from deniable.errors import BadCall, BadParameter
from deniable.parameters import called

NOT_NUMBERS = [
    True,
    False,
    np.True_,
    "1",
    b"1",
    None,
    [1.0],
    np.array([1.0]),
    1j,
    ...,
    Decimal(1),
]
NOT_FINITE = [float("nan"), float("inf"), -float("inf"), np.float64("nan"), 10**400]


@pytest.mark.parametrize("value", NOT_NUMBERS + NOT_FINITE, ids=repr)
@pytest.mark.parametrize(
    "check", ["real", "positive", "non_negative", "rational", "probability", "confidence"]
)
def test_what_is_not_a_finite_number_is_refused_by_name(check: str, value: object):
    with pytest.raises(BadParameter, match="sigma must be"):
        getattr(parameters, check)("sigma", value)


@pytest.mark.parametrize("value", [0, -1, 0.0, -0.0, 1e-300, 1e300, Fraction(-1, 2)])
def test_positive_is_above_zero_and_of_a_sane_size(value: object):
    with pytest.raises(BadParameter, match="scale must be"):
        parameters.positive("scale", value)


@pytest.mark.parametrize("value", [1, 2.5, Fraction(1, 3), np.float32(0.5), np.int64(7)])
def test_numbers_of_every_kind_are_accepted_and_kept_exactly(value: object):
    assert parameters.rational("scale", value) == value
    assert parameters.positive("scale", value) == float(value)


@pytest.mark.parametrize("value", [0, -3, 1.0, True, "3", None])
def test_whole_numbers_are_whole(value: object):
    with pytest.raises(BadParameter, match="a whole number of at least 1"):
        parameters.whole("rows", value)


@pytest.mark.parametrize("value", [-0.1, 1.1])
def test_a_probability_is_between_zero_and_one(value: float):
    with pytest.raises(BadParameter, match="from 0 to 1"):
        parameters.probability("rate", value)


def test_a_delta_is_below_one():
    assert parameters.fraction_below_one("delta", 0) == 0
    with pytest.raises(BadParameter):
        parameters.fraction_below_one("delta", 1)


def test_text_is_named_as_text():
    with pytest.raises(
        BadParameter, match=r"epsilon must be a number above 0; you gave '1' \(text\)"
    ):
        parameters.positive("epsilon", "1")


def test_one_of_lists_the_choices():
    with pytest.raises(BadParameter, match="one of 'a', 'b'; you gave 'c'"):
        parameters.one_of("method", "c", ["a", "b"])


def test_a_filter_beside_columns_that_are_none_is_answered_like_any_other():
    class Statistics:
        tables: ClassVar = {"visits": None}

        @called("s.count(spend=dp.epsilon(0.1))")
        def count(self, *, by=None, spend):
            """Never reached here."""

    with pytest.raises(BadCall, match="no parameter `where`"):
        Statistics().count(by=3, where="x > 1", spend=1)


@pytest.mark.parametrize(
    ("name", "value", "fix"),
    [
        ("confidence", 95, "confidence=0.95"),
        ("confidence", 99.9, "confidence=0.999"),
        *[("confidence", value, "confidence=0.95") for value in (1.5, 2, 49, 1, 0, -3, 100, 500)],
        ("q", 50, "q=0.5"),
        ("q", 2.5, "q=0.025"),
        *[("q", value, "") for value in (1.5, 0, 1, 100, -3)],
        *[("delta", value, "") for value in (1.5, 5, 95)],
    ],
)
def test_a_share_in_percent_is_answered_with_the_number_that_is_meant(name, value, fix):
    with pytest.raises(BadParameter) as caught:
        parameters.confidence(name, value)
    assert caught.value.fix == fix
