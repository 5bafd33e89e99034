"""Facts as people type them become columns; what is empty is not stated."""

import datetime as dt

import pytest

from deniable.errors import BadParameter
from deniable.schema import bounds, column, keys
from deniable.schema.typed import stated, value

DAY, NOON = dt.date(2024, 12, 31), dt.datetime.fromisoformat("2024-12-31T12:00")


@pytest.mark.parametrize(
    ("text", "kind", "meant"),
    [
        ("7", "int", 7), ("-7", "int", -7), ("+7", "int", 7), ("1e6", "int", 10**6),
        ("7.0", "int", 7), ("9007199254740993", "int", 2**53 + 1), ("-0.0", "int", 0),
        ("7", "float", 7.0), ("-1.5e3", "float", -1500.0), ("true", "bool", True),
        ("FALSE", "bool", False), ("2024-12-31", "date", DAY), ("7", "text", "7"),
        ("2024-12-31T12:00", "timestamp", NOON), ("drop", "text", "drop"), ("", "text", ""),
    ],
)  # fmt: skip
def test_text_is_read_as_the_type_says(text, kind, meant):
    found = value(text, kind)
    assert (found, type(found)) == (meant, type(meant))


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("7.5", "int"), ("x", "int"), ("", "int"), ("+-", "int"), ("1e999", "int"), ("nan", "int"),
        ("x", "float"), ("1", "bool"), ("", "bool"), ("31.12.2024", "date"), ("x", "timestamp"),
        ("drop", "int"),
    ],
)  # fmt: skip
def test_text_of_another_type_is_refused(text, kind):
    with pytest.raises(BadParameter, match=r"a value must be|is not a (date|timestamp); write"):
        value(text, kind)


def test_a_free_word_is_taken_as_it_is():
    assert value("drop", "int", free="drop") == "drop"
    with pytest.raises(BadParameter):
        value("other", "int", free="drop")


@pytest.mark.parametrize(
    ("kind", "facts", "made"),
    [
        ("int", {}, column("int")),
        ("int", {"missing": "drop"}, column("int", missing="drop")),
        ("int", {"missing": "3"}, column("int", missing=3)),
        ("int", {"low": "0", "high": "9"}, bounds(0, 9, type="int")),
        ("int", {"low": "0", "high": "9", "missing": "drop"}, bounds(0, 9, type="int")),
        ("int", {"low": "0", "high": "9", "missing": "3"}, bounds(0, 9, type="int", missing=3)),
        ("float", {"low": "0", "high": "9", "missing": "0"}, bounds(0, 9, missing=0.0)),
        ("date", {"low": "2024-01-01", "high": "2024-12-31"},
         bounds(dt.date(2024, 1, 1), DAY, type="date")),
        ("text", {"listed": ["a", "b"]}, keys(["a", "b"])),
        ("text", {"listed": ["a", "b"], "missing": "drop"}, keys(["a", "b"])),
        ("text", {"listed": ["a", "b"], "missing": "b"}, keys(["a", "b"], missing="b")),
        ("int", {"listed": ["1", "2"], "missing": "2"}, keys([1, 2], missing=2)),
        ("bool", {"listed": ["true", "false"], "missing": "false"},
         keys([True, False], missing=False)),
    ],
)  # fmt: skip
def test_facts_make_a_column(kind, facts, made):
    assert stated(kind, **facts) == made


@pytest.mark.parametrize(
    ("facts", "says"),
    [
        ({"listed": ["1"], "low": "0", "high": "9"}, "bounds or keys"),
        ({"listed": ["1"], "low": "0"}, "bounds or keys"),
        ({"listed": ["1"], "high": "9"}, "bounds or keys"),
        ({"low": "0"}, "both bounds"),
        ({"high": "9"}, "both bounds"),
        ({"low": "0", "high": "9", "missing": "10"}, "outside the bounds"),
        ({"low": "9", "high": "0"}, "below high"),
    ],
)
def test_facts_that_contradict_one_another_are_refused(facts, says):
    with pytest.raises(BadParameter, match=says):
        stated("int", **facts)
