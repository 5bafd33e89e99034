from dataclasses import dataclass
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from deniable.audit.leaves import LENGTH, Raised
from deniable.audit.outputs import tabulate, words


def leaf(outputs, *path):
    column = tabulate(outputs).column(tuple(path))
    return column.numbers.tolist(), [column.labels.get(i) for i in column.identity.tolist()]


def same(outputs, *path):
    return tabulate(outputs).column(tuple(path)).identity


@given(st.lists(st.floats(), min_size=1))
def test_floats_keep_every_bit(values):
    column = tabulate(values).column(())
    assert column.identity.tolist() == np.array(values).view(np.int64).tolist()


def test_plus_and_minus_zero_are_told_apart():
    first, second = same([0.0, -0.0])
    assert first != second


@given(st.lists(st.integers(-(2**61), 2**61), min_size=1))
def test_integers_keep_every_digit(values):
    assert same(values).tolist() == values


def test_integers_beyond_64_bits_are_still_told_apart():
    first, second, third = same([10**400, 10**400 + 1, -(10**400)])
    assert len({first, second, third}) == 3
    assert tabulate([10**400, -(10**400)]).column(()).numbers.tolist() == [np.inf, -np.inf]


def test_none_text_truth_and_errors_are_categories():
    numbers, labels = leaf([None, "yes", True, Raised("ValueError")])
    assert labels == ["None", "'yes'", "True", "a raised ValueError"]
    assert np.isnan(numbers[0])
    assert numbers[2] == 1


def test_a_key_that_some_answers_lack_is_missing_there():
    numbers, labels = leaf([{"a": 1.5, "b": 2.5}, {"a": 3.5}], ("key", "b"))
    assert numbers[0] == 2.5
    assert labels == [None, "missing"]


def test_lists_of_varying_length_tell_their_length():
    numbers, _ = leaf([[1, 2], [], [1, 2, 3]], LENGTH)
    assert numbers == [2, 0, 3]


def test_nested_answers_and_dataclasses_are_taken_apart():
    @dataclass
    class Answer:
        value: float
        inside: tuple[float, str]

    outputs = [Answer(1.0, (2.0, "x")), Answer(3.0, (4.0, "y"))]
    assert leaf(outputs, ("key", "value"))[0] == [1.0, 3.0]
    assert leaf(outputs, ("key", "inside"), ("entry", 1))[1] == ["'x'", "'y'"]


def test_vectors_of_one_length_take_the_fast_way_to_the_same_columns():
    rows = [(1.0, 2.0), (3.0, 4.0)]
    for outputs in (rows, np.array(rows), [np.array(row) for row in rows]):
        assert leaf(outputs, ("entry", 1))[0] == [2.0, 4.0]
    assert leaf(np.zeros((5, 2, 3)), ("entry", 1), ("entry", 2))[0] == [0.0] * 5


def test_sets_fractions_and_frames_are_answers_too():
    pandas = pytest.importorskip("pandas")
    assert leaf([{"a"}, {"b"}], ("key", "a"))[1] == ["True", "missing"]
    assert leaf([Fraction(1, 3), 2])[0] == [pytest.approx(1 / 3), 2.0]
    frames = [pandas.DataFrame({"n": [1, 2]}), pandas.DataFrame({"n": [3]})]
    assert leaf(frames, ("entry", 0), ("entry", 0))[0] == [1.0, 3.0]
    assert leaf(frames, LENGTH)[0] == [2.0, 1.0]


def test_a_leaf_no_answer_has_is_all_gaps():
    column = tabulate([1.0, 2.0]).column((("key", "nowhere"),))
    assert [column.labels[int(i)] for i in column.identity] == ["missing", "missing"]


def test_leaves_are_named_in_words():
    assert words((LENGTH,)) == "the length of the answer"
    assert words((("entry", 3), LENGTH)) == "the length of entry 3"
    assert words((("time", None),)) == "the time"


def test_an_exception_on_every_call_is_noticed():
    assert tabulate([Raised("KeyError")] * 3).all_raised() == "KeyError"
    assert tabulate([Raised("KeyError"), 1.0]).all_raised() is None
    assert tabulate([1.0, 1.0]).all_raised() is None
