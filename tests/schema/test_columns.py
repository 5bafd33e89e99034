"""Columns: bounds, keys and rules for missing values."""

import datetime as dt
import math

import numpy as np
import pytest

from deniable.errors import BadParameter, MissingRule
from deniable.schema import Column, bounds, column, keys
from deniable.schema.columns import plain_type

DAY, LATER = dt.date(2020, 1, 1), dt.date(2021, 1, 1)
MIDNIGHT = dt.datetime.combine(DAY, dt.time())


def test_bounds_take_the_type_that_is_stated():
    assert bounds(0, 125) == Column(type="float", low=0.0, high=125.0, missing="drop")
    assert isinstance(bounds(0, 125).low, float)
    assert isinstance(bounds(0.0, 125.0, type="int").low, int)
    assert bounds(np.int64(0), np.float32(2)).bounds == (0.0, 2.0)
    assert bounds(DAY, LATER, type="date").bounds == (DAY, LATER)


def test_rows_with_a_missing_value_are_dropped_unless_stated_otherwise():
    stated = [bounds(0, 1), bounds(DAY, LATER, type="date"), keys(["a"]), keys([1, 2])]
    stated += [Column(type="text", keys=("a",)), Column(type="int", low=0, high=1)]
    assert {each.missing for each in stated} == {"drop"}
    assert column("text").missing is None
    assert keys(["a", "b"], missing="b").missing == "b"


def test_there_is_one_zero():
    assert math.copysign(1, bounds(-0.0, 1).low) == 1


def test_keys_take_their_type_from_the_list():
    assert keys(["a", "b"]).type == "text"
    assert keys(range(1, 17)).type == "int"
    assert keys(range(1, 17)).bounds == (1, 16)
    assert keys([True, False]).type == "bool"
    assert keys(np.array([True, False])).keys == (True, False)
    assert keys(np.array([1, 2])).keys == (1, 2)
    assert keys([DAY]).type == "date"


def test_a_long_list_is_checked_as_a_short_one_is():
    """All of one Python type are checked at once; anything else, one by one."""
    many = [*range(10_000)]
    assert keys(many).keys == keys(np.arange(10_000)).keys == tuple(many)
    assert all(type(key) is int for key in keys(np.arange(10, dtype=np.int16)).keys)
    words = [str(n) for n in many]
    assert keys(np.array(words)).keys == keys(words).keys == tuple(words)
    for bad in ([*many, 3], [*many, "3"], [*many, True], [*many, 2**63], [*many, -(2**63) - 1]):
        with pytest.raises(BadParameter):
            keys(bad)
    for bad in ([*words, "3"], [*words, 3], [*words, "\ud800"], [*words, "a\0"], [*words, None]):
        with pytest.raises(BadParameter):
            keys(bad)
    for bad in ((1, 2, 2), (1, True), (1, 2**63)):
        with pytest.raises(BadParameter):
            Column(type="int", keys=bad)


@pytest.mark.parametrize(
    ("said", "meant"), [("string", "text"), (str, "text"), ("double", "float")]
)
def test_a_type_by_another_name_is_told_its_own(said, meant):
    with pytest.raises(BadParameter) as caught:
        column(said)
    assert caught.value.fix == f'"{meant}"'


def test_what_is_missing_may_stand_for_a_key_or_a_number():
    assert keys(["a", "other"], missing="other").missing == "other"
    assert bounds(0, 10, missing=5).missing == 5.0
    assert column("text").missing is None


def test_a_rule_that_nobody_stated_is_an_error_with_its_fix():
    assert bounds(0, 1).missing == "drop"
    assert column("float").missing is None
    (fix,) = MissingRule.of("income", table="people", type="float").fixes
    assert fix.python == 'schema=dp.Schema(columns={"income": dp.column("float", missing="drop")})'
    assert fix.command == "deniable set people.income --missing drop"


@pytest.mark.parametrize(
    "make",
    [
        lambda: bounds(1, 0),
        lambda: bounds(1, 1),
        lambda: bounds(0, math.inf),
        lambda: bounds(math.nan, 1),
        lambda: bounds("0", 1),
        lambda: bounds(False, 1),
        lambda: bounds(-1.7e308, 1.7e308),
        lambda: bounds(0, 1.5, type="int"),
        lambda: bounds(0, 2**63, type="int"),
        lambda: bounds(0, math.inf, type="int"),
        lambda: bounds(0, 1, type="text"),
        lambda: bounds(0, 1, type="number"),
        lambda: bounds(0, 1, missing="mean"),
        lambda: bounds(0, 1, missing=2),
        lambda: bounds(0, 1, missing=math.nan),
        lambda: bounds(0, 1, missing=None),
        lambda: bounds(DAY, LATER),
        lambda: bounds(dt.datetime(2020, 1, 1, tzinfo=dt.UTC), 1, type="timestamp"),
        lambda: keys([]),
        lambda: keys("abc"),
        lambda: keys(3),
        lambda: keys(["a", "a"]),
        lambda: keys(["a", None]),
        lambda: keys(["a", 1]),
        lambda: keys([1, True]),
        lambda: keys([0.5]),
        lambda: keys([math.nan]),
        lambda: keys([None]),
        lambda: keys(["\ud800"]),
        lambda: keys(["a"], missing="b"),
        lambda: column("varchar"),
        lambda: column("int", missing="zero"),
        lambda: Column(type="float", low=0.0),
        lambda: Column(type="float", high=1.0),
        lambda: Column(type="int", low=0, high=3, keys=(1, 2)),
        lambda: Column(type="text", low="a", high="b"),
        lambda: Column(type="bool", low=False, high=True),
        lambda: bounds(False, 3, type="int"),
        lambda: bounds(0, True, type="int"),
        lambda: bounds(MIDNIGHT, MIDNIGHT.replace(year=2021), type="date"),
        lambda: keys([DAY, MIDNIGHT]),
        lambda: Column(type="date", keys=(MIDNIGHT,)),
        lambda: Column(type="text", keys=()),
    ],
)
def test_an_impossible_column_is_refused(make):
    with pytest.raises(BadParameter):
        make()


def test_swapped_bounds_come_with_the_fix():
    with pytest.raises(BadParameter) as caught:
        bounds(100, 0)
    assert caught.value.fix == "dp.bounds(0.0, 100.0)"


def test_a_column_prints_as_it_was_made():
    for text in (
        "bounds(0.0, 1.0)",
        "bounds(0, 1, type='int', missing=1)",
        "keys(['a', 'b'])",
        "column('date', missing='drop')",
        "bounds('2020-01-01', '2024-12-31', type='date')",
        "bounds('2020-01-01', '2024-12-31T12:30:00', type='timestamp')",
    ):
        assert repr(eval(text)) == text
    assert repr(keys(range(9))) == "keys([0, 1, 2, … 6 more])"


@pytest.mark.parametrize("zone", [dt.UTC, dt.timezone(dt.timedelta(hours=5))])
def test_a_moment_with_a_time_zone_is_no_bound_and_no_key(zone):
    """Columns hold moments without one: what they are compared with must be the same."""
    first = dt.datetime(2020, 1, 1, tzinfo=zone)
    with pytest.raises(BadParameter):
        bounds(first, first + dt.timedelta(days=1), type="timestamp")
    with pytest.raises(BadParameter):
        Column(type="timestamp", keys=(first,))


@pytest.mark.parametrize(
    ("kind", "low", "high"),
    [("date", "2024-01-31", "2024-12-31"), ("timestamp", "2024-01-31T08:30", "2024-12-31")],
)
def test_bounds_of_dates_may_be_written_as_text(kind, low, high):
    of = {"date": dt.date, "timestamp": dt.datetime}[kind]
    made = bounds(low, high, type=kind)
    assert made == bounds(of.fromisoformat(low), of.fromisoformat(high), type=kind)
    with pytest.raises(BadParameter, match="such as"):
        bounds("31.1.2024", high, type=kind)


@pytest.mark.parametrize("wrong", ["number", "TEXTS", "", None, 5, ["int"], "datetime64"])
def test_a_type_that_is_none_of_them_is_refused(wrong):
    for make in (lambda: column(wrong), lambda: bounds(0, 9, type=wrong)):
        with pytest.raises(BadParameter, match="type"):
            make()
    for kind in ("text", "bool"):
        with pytest.raises(BadParameter, match="type"):
            bounds(0, 9, type=kind)


@pytest.mark.parametrize(
    ("word", "meant"),
    [("INT64", "int"), ("Boolean", "bool"), ("DateTime", "timestamp"), ("Text", "text"),
     ("Colour", "Colour"), ("", "")],
)  # fmt: skip
def test_words_from_elsewhere_mean_a_type_or_stay_as_they_are(word, meant):
    assert plain_type(word) == meant


def test_a_word_that_is_no_type_is_not_proposed_as_one():
    for make in (lambda: column("colour"), lambda: Column(type="colour")):
        with pytest.raises(BadParameter, match="one of 'int'") as caught:
            make()
        assert "colour" not in str(caught.value.fix)
