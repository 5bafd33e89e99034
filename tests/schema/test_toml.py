"""TOML as people like to read it, and where in it a table begins."""

import tomllib

import pytest

from deniable.schema.toml import dumps, place


@pytest.mark.parametrize("spare", [0, 1])
def test_a_list_stands_in_one_line_of_88_letters_or_in_a_line_each(spare):
    items = ["a" * 40, "b" * (40 + spare)]
    line = f'["{items[0]}", "{items[1]}"]'
    assert len(line) == 88 + spare
    long = f'[\n    "{items[0]}",\n    "{items[1]}",\n]'
    written = dumps({"x": items})
    assert written == f"x = {long if spare else line}\n"
    assert tomllib.loads(written) == {"x": items}


def test_tables_follow_what_stands_outside_them_and_only_those_that_hold_something_have_a_header():
    record = {"a": {"b": {"c": 1}, "d": {}}, "size": 3, "e": {"f": 2, "g": {"h": True}}}
    assert dumps(record) == ("size = 3\n\n[a.b]\nc = 1\n\n[a.d]\n\n[e]\nf = 2\n\n[e.g]\nh = true\n")
    assert tomllib.loads(dumps(record)) == record
    assert dumps({"a": {"b": 1}}) == "[a]\nb = 1\n"


@pytest.mark.parametrize(
    ("character", "written"),
    [('"', '\\"'), ("\\", "\\\\"), ("\n", "\\n"), ("\x1f", "\\u001F"), ("\x7f", "\\u007F"),
     (" ", " "), ("~", "~"), ("\x80", "\x80"), ("é", "é")],
)  # fmt: skip
def test_only_what_toml_wants_escaped_is(character, written):
    assert dumps({"x": character}) == f'x = "{written}"\n'
    assert tomllib.loads(dumps({"x": character})) == {"x": character}


def test_what_toml_cannot_hold_is_an_error():
    with pytest.raises(TypeError, match="NoneType"):
        dumps({"x": None})


TEXT = """size = 3
[columns.age]   # in years
low = 3
[ columns . "a b" ]
[columns]
"""


@pytest.mark.parametrize(
    ("path", "line"),
    [(["columns", "age"], ", line 2"), (["columns", "a b"], ", line 4"), (["columns"], ", line 5"),
     (["columns", "x"], ""), (["age"], ""), ([], "")],
)  # fmt: skip
def test_a_table_is_found_by_its_header(path, line):
    assert place(TEXT, path) == line
