"""Classes are stated, and decide alone how labels are read."""

from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest

import deniable as dp
from deniable.learn.models.classes import coded, listed


@pytest.mark.parametrize(
    ("given", "wanted"),
    [([1, 0], [0, 1]), (["b", "a", "c"], ["a", "b", "c"]), ((2.5, 1), [1, 2.5]),
     (np.array([3, 1]), [1, 3]), ([True, False], [False, True])],
    ids=str,
)  # fmt: skip
def test_classes_are_sorted(given, wanted):
    assert listed(given, model="M").tolist() == wanted


@pytest.mark.parametrize(
    "given",
    [[], [1], [1, 1], ["a", "b", "a"], [0, "a"], [None, 1], [b"a", b"b"], 3, [[0, 1], [2, 3]]],
    ids=str,
)
def test_what_is_not_two_different_labels_of_one_kind_is_refused(given):
    with pytest.raises(dp.BadParameter, match="classes"):
        listed(given, model="M")


def test_classes_are_never_read_from_rows():
    with pytest.raises(dp.UnknownKeys, match="M needs the list of classes"):
        listed(None, model="M")


NUMBERS = [0, 1.0, True, Decimal(1), Fraction(0), np.float32(1), np.bool_(True), np.int64(0)]
ODD = [None, "0", "1", b"1", [1], {}, np.array([1]), object(), 2, float("nan"), 1j]


def test_labels_are_the_classes_that_they_equal():
    assert coded(NUMBERS, np.array([0, 1])).tolist() == [0, 1, 1, 1, 0, 1, 1, 0]
    assert coded(ODD, np.array([0, 1])).tolist() == [-1] * len(ODD)
    texts = np.array(["0", "a"])
    assert coded(["a", "0", "b", 0, None, [0], np.str_("a")], texts).tolist() == [
        1, 0, -1, -1, -1, -1, 1,
    ]  # fmt: skip
