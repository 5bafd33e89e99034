"""Hierarchies: what they say of a value, and what is refused."""

import datetime as dt

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import deniable as dp
from deniable.anonymity import dates, digits, doubling, ranges, single, steps, suggest, tree
from deniable.anonymity.hierarchies import ladder
from deniable.anonymity.tables import encoded
from deniable.errors import BadParameter


def column(values, kind=None):
    return encoded(pa.table({"x": pa.array(values, kind)}), "x")


@given(st.lists(st.floats(-1e6, 1e6) | st.integers(-100, 100), min_size=1, max_size=50))
def test_ranges_hold_their_numbers_and_nest(values):
    climb = ranges(0.1, 0.3, 3, origin=0.05)
    rungs = ladder(climb, column([float(v) for v in values]))
    assert rungs.height == 4
    for value in values:
        for label in climb(value):
            low, high = (float(part) for part in label[1:-1].split(", "))
            slack = 1e-9 * max(1, abs(value))  # a label has 15 digits
            assert low - slack <= value < high + slack


def test_digits_fill_up_to_a_length():
    assert digits(5)(501) == ["0050*", "005**", "00***", "0****", "*"]
    with pytest.raises(BadParameter, match="more steps than others"):
        ladder(digits(), column(["12", "123"]))


def test_dates_climb_by_calendar():
    rungs = ladder(dates(), column([dt.date(1955, 5, 12), dt.date(1956, 5, 12), None]))
    assert rungs.labels[1:] == (
        ("1955-05", "1956-05", None),
        ("1955", "1956", None),
        ("1950s", None),
        ("*",),
    )


def test_null_stays_null_until_the_last_step():
    rungs = ladder(single(), column(["a", None]))
    assert rungs.labels == (("a", None), ("*",))
    rungs = ladder(ranges(5), column([1, 7, None]))
    assert rungs.labels[1] == ("[0, 5)", "[5, 10)", None)


def test_a_tree_may_be_uneven():
    climb = tree({"north": {"sea": ["Ayr"], "land": ["Bonn"]}, "south": ["Cork"]})
    rungs = ladder(climb, column(["Ayr", "Bonn", "Cork"]))
    assert rungs.labels[1:] == (("sea", "land", "Cork"), ("north", "south"), ("*",))
    nested = {"north": {"sea": ["Ayr"], "land": ["Bonn"]}, "south": ["Cork"]}
    assert ladder(nested, column(["Ayr", "Bonn", "Cork"])).labels == rungs.labels


def test_a_mapping_of_groups_is_told_from_one_of_values():
    groups = ladder({"north": ["Ayr"], "south": ["Bonn", "Cork"]}, column(["Ayr", "Bonn", "Cork"]))
    written = {"Ayr": ["north"], "Bonn": ["south"], "Cork": ["south"]}
    assert groups.labels == ladder(written, column(["Ayr", "Bonn", "Cork"])).labels


def test_a_hierarchy_can_be_written_out_as_a_frame():
    written = pa.table({"value": ["a", "b"], "one": ["x", "x"]})
    assert steps(written) == steps({"a": ("x",), "b": ("x",)}) == {"a": ["x"], "b": ["x"]}


def test_a_step_that_splits_what_was_joined_is_refused():
    odd = {"a": ["x", "one"], "b": ["x", "two"]}
    with pytest.raises(BadParameter, match="step 2 of the hierarchy of `x` splits"):
        ladder(odd, column(["a", "b"]))


def test_a_value_without_a_place_is_refused_and_not_shown():
    with pytest.raises(BadParameter, match="has no place for some of its values") as caught:
        ladder({"a": ["x"]}, column(["a", "secret"]))
    assert "secret" not in str(caught.value)


@pytest.mark.parametrize("widths", [(), (5, 4), (5, 12), (0,), (-1,), ("5",)])
def test_widths_that_do_not_nest_are_refused(widths):
    with pytest.raises(BadParameter):
        ranges(*widths)


def test_what_is_no_hierarchy_is_refused():
    with pytest.raises(BadParameter):
        ladder(["a", "b"], column(["a", "b"]))
    with pytest.raises(BadParameter):
        tree({"north": "Ayr"})


def test_doubling_is_ranges():
    assert doubling(5, steps=3)(37) == ranges(5, 10, 20)(37)


def test_suggestions_fit_every_column_of_adult():
    table = dp.load_adult(identifiers=True).slice(0, 5_000)
    ladders = suggest(table)
    assert list(ladders) == table.column_names
    for name in table.column_names:
        rungs = ladder(ladders[name], encoded(table, name))
        assert rungs.labels[-1] == ("*",)
    assert ladders["zip"]("53706")[0] == "5370*"
    assert ladders["birth_date"](dt.date(1955, 5, 12))[1] == "1955"
    assert ladders["sex"]("Male") == ["*"]


def test_a_constant_column_has_a_suggestion():
    assert suggest(pa.table({"x": [3, 3]}))["x"](3) == ["*"]
    assert suggest(pa.table({"x": pa.array([None, None], pa.int64())}))["x"](3) == ["*"]
