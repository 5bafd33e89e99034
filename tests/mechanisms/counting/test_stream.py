"""What a counter reads, what it refuses, and how far one unit may move all of its values."""

from fractions import Fraction

import numpy as np
import pytest

import deniable as dp
from deniable.forms import Form
from deniable.mechanisms import BinaryTreeCounter, Laplace, OpenEndedTreeCounter
from deniable.mechanisms.counting._stream import check_covered, moved_together

COUNTER = BinaryTreeCounter(steps=4, noise=Laplace(scale=1e-6, sensitivity=3.0))


def value(l1, stream=None, **declared):
    return dp.Sensitive(lambda: 1, l1=l1, stream=stream, **declared)


@pytest.mark.parametrize("shape", [1, 4])
def test_a_stream_of_a_public_length_is_read_in_whole_numbers(shape):
    read = COUNTER.reading(Form(shape=(shape,), whole=True))
    assert read([np.int8(7)] * shape).tolist() == [7] * shape


@pytest.mark.parametrize("form", [Form(shape=(5,)), Form(shape=()), Form(shape=(2, 2))], ids=str)
def test_a_stream_of_another_shape_or_more_than_the_steps_is_refused(form):
    with pytest.raises(dp.BadParameter):
        COUNTER.reading(form)


@pytest.mark.parametrize("steps", [0, -1, 1.5, True])
def test_there_is_at_least_one_step(steps):
    with pytest.raises(dp.BadParameter, match="steps"):
        BinaryTreeCounter(steps=steps, noise=Laplace(scale=1.0))


@pytest.mark.parametrize("stream", [[], [1] * 5, [0.5], [[1]], 1], ids=str)
def test_a_stream_is_a_list_of_at_least_one_and_at_most_so_many_whole_numbers(stream):
    with pytest.raises(dp.BadParameter, match="1 to 4 whole numbers"):
        COUNTER.draw(stream)


def test_totals_are_the_running_sums_of_all_numbers():
    assert COUNTER.draw([5]).tolist() == [5.0]
    assert COUNTER.draw([5, -2, 0, 9]).tolist() == [5.0, 3.0, 3.0, 12.0]


@pytest.mark.parametrize("wrong", [0.5, [1], np.array([1, 2])], ids=str)
def test_a_number_that_is_refused_uses_up_no_step(wrong):
    running = COUNTER.begin()
    with pytest.raises(dp.BadParameter, match="one whole number"):
        running.ask(wrong)
    assert [running.ask(np.int64(2)) for _ in range(4)] == [2.0, 4.0, 6.0, 8.0]
    assert running.answering() is None
    with pytest.raises(dp.BadParameter, match="an array"):
        COUNTER.begin().reading(Form(shape=(1,)))
    assert COUNTER.begin().reading(Form(whole=True))(np.int16(3)) == 3


BOUNDS = [
    ([], 0),
    ([(2, None)], 2),
    ([(2, None), (0.5, None)], 2.5),
    ([(2, "a"), (1, "a")], 2),
    ([(1, "a"), (2, "a")], 2),
    ([(1, "a"), (2, "b"), (0.25, None), (2, "a")], 4.25),
]


@pytest.mark.parametrize(("bounds", "moved"), BOUNDS, ids=str)
def test_bounds_add_up_but_for_those_of_one_stream(bounds, moved):
    values = [value(l1, stream) for l1, stream in bounds]
    assert moved_together(values) == Fraction(moved)


@pytest.mark.parametrize(("bounds", "moved"), BOUNDS, ids=str)
@pytest.mark.parametrize("sensitivity", [2.0, 2.5, 4.25])
def test_values_are_admitted_up_to_the_sensitivity_of_the_counter(bounds, moved, sensitivity):
    noise = Laplace(scale=1.0, sensitivity=sensitivity)
    running = BinaryTreeCounter(steps=9, noise=noise).begin()

    def admitted():
        for l1, stream in bounds:
            running.admit(value(l1, stream))

    if moved <= sensitivity:
        admitted()
    else:
        with pytest.raises(dp.SensitivityMismatch, match="together"):
            admitted()


def test_a_refused_value_counts_for_nothing():
    running = COUNTER.begin()
    for refused in (value(3.5), value(4.0, "a")):
        with pytest.raises(dp.SensitivityMismatch):
            running.admit(refused)
    running.admit(value(2.0, "a"))
    with pytest.raises(dp.SensitivityMismatch):
        running.admit(value(1.5))
    running.admit(value(1.0))


def test_the_fix_names_a_counter_that_covers_every_step_where_there_is_a_last_one():
    with pytest.raises(dp.SensitivityMismatch) as caught:
        check_covered(COUNTER, Fraction(7, 2), Fraction(3, 2))
    assert caught.value.fix.endswith("or a counter of sensitivity=6")
    assert "l1=1.5" in caught.value.fix
    with pytest.raises(dp.SensitivityMismatch) as caught:
        check_covered(OpenEndedTreeCounter(scale=1.0), Fraction(2), Fraction(1))
    assert "or a counter" not in caught.value.fix
    check_covered(COUNTER, Fraction(3), Fraction(3))


def test_a_value_without_a_bound_adds_nothing_and_is_refused_when_it_is_asked():
    unbounded = dp.Sensitive(lambda: 1, linf=1)
    assert moved_together([unbounded, value(2)]) == 2
    with pytest.raises(dp.SensitivityMismatch):
        COUNTER.begin().admit(unbounded)
