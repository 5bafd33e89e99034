"""Schemas: what they accept, what they say to mistakes, and TOML both ways."""

import datetime as dt
import re
import tomllib
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from deniable.errors import BadParameter, UnknownName
from deniable.schema import Column, Schema, bounds, column, keys
from deniable.schema.toml import dumps
from deniable.units import person, rows

SAFE_TEXT = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), max_size=20)
NAMES = SAFE_TEXT.filter(lambda name: bool(name) and name.isprintable())
INTS = st.integers(-(2**63), 2**63 - 1)
FLOATS = st.floats(allow_nan=False, allow_infinity=False)
STAMPS = st.datetimes()


def pair(values):
    return st.tuples(values, values).filter(lambda p: p[0] < p[1])


COLUMNS = st.one_of(
    pair(st.floats(-1e300, 1e300)).map(lambda p: bounds(*p)),
    pair(INTS).map(lambda p: bounds(*p, type="int", missing=p[0])),
    pair(st.dates()).map(lambda p: bounds(*p, type="date")),
    pair(STAMPS).map(lambda p: bounds(*p, type="timestamp")),
    st.lists(SAFE_TEXT, min_size=1, unique=True).map(keys),
    st.lists(INTS, min_size=1, unique=True).map(lambda k: keys(k, missing=k[0])),
    st.lists(st.booleans(), min_size=1, unique=True).map(keys),
    st.lists(st.dates(), min_size=1, unique=True).map(keys),
    st.lists(STAMPS, min_size=1, unique=True).map(keys),
    st.sampled_from(["int", "float", "text", "bool", "date", "timestamp"]).map(column),
)
TABLES = st.builds(
    Schema,
    columns=st.dictionaries(NAMES, COLUMNS, max_size=4).filter(
        lambda d: len({n.lower() for n in d}) == len(d)
    ),
    size=st.none() | st.integers(1, 10**12),
)
UNITS = st.none() | st.builds(
    person, NAMES, rows=st.integers(1, 99), groups=st.none() | st.integers(1, 9)
)


@given(TABLES, UNITS)
def test_a_schema_survives_toml(table, unit):
    schema = Schema(columns=table.columns, unit=unit, size=table.size)
    assert Schema.from_dict(tomllib.loads(schema.to_toml())) == schema


@given(st.dictionaries(NAMES, TABLES, min_size=1, max_size=3), UNITS)
def test_several_tables_survive_toml(tables, unit):
    if len({name.lower() for name in tables}) < len(tables):
        return
    schema = Schema(tables=tables, unit=unit)
    again = Schema.from_dict(tomllib.loads(schema.to_toml()))
    assert again == schema
    assert hash(again) == hash(schema)


PLAIN = SAFE_TEXT | INTS | FLOATS | st.booleans() | st.dates() | STAMPS
NESTED = st.recursive(
    st.dictionaries(SAFE_TEXT, PLAIN | st.lists(PLAIN, max_size=5), max_size=4),
    lambda inner: st.dictionaries(SAFE_TEXT, inner | PLAIN, max_size=3),
    max_leaves=8,
)


@given(NESTED)
def test_the_writer_is_exact_type_for_type(record):
    read = tomllib.loads(dumps(record))
    assert read == record
    assert _types(read) == _types(record)


def _types(value):
    if isinstance(value, dict):
        return {k: _types(v) for k, v in value.items()}
    if isinstance(value, list):
        return [_types(v) for v in value]
    return type(value)


def test_a_file_is_written_whole_and_read_back(tmp_path):
    schema = Schema(columns={"age": bounds(0, 125)}, unit=person("id", rows=2), size=10)
    path = tmp_path / "people.toml"
    text = schema.to_toml(path)
    assert path.read_text() == text
    assert Schema.from_toml(path) == schema
    assert [p.name for p in tmp_path.iterdir()] == ["people.toml"]


def test_every_schema_in_the_reference_is_one():
    page = Path(__file__).parents[2] / "docs" / "reference" / "schema.md"
    blocks = re.findall(r"```toml\n(.*?)```", page.read_text(encoding="utf-8"), flags=re.DOTALL)
    schemas = [Schema.from_dict(tomllib.loads(block)) for block in blocks]
    assert schemas[0]["city"].missing == "elsewhere"
    assert schemas[1].table("postcodes").public


def test_a_schema_written_by_hand_may_leave_out_what_has_a_default(tmp_path):
    path = tmp_path / "visits.toml"
    path.write_text(
        "[columns.age]\nbounds = [0, 125]\n"
        '[columns.city]\nkeys = ["Oslo", "Bergen"]\n'
        '[columns.at]\ntype = "timestamp"\nbounds = [2020-01-01, 2021-01-01]\n'
    )
    schema = Schema.from_toml(path)
    assert schema["age"] == bounds(0, 125)
    assert schema["city"] == keys(["Oslo", "Bergen"])
    assert schema["at"].low == dt.datetime.combine(dt.date(2020, 1, 1), dt.time())


MISTAKES = {
    "no such file": (None, "there is no schema"),
    "not TOML": ("columns = [", "cannot be read as TOML"),
    "unknown field": ("colums = 1", "did you mean `columns`"),
    "unknown field of a column": ("[columns.a]\nbound = [0, 1]", "did you mean `bounds`"),
    "which column is at fault": ("[columns.income]\nbounds = [5, 1]", "in columns.income"),
    "bounds in the wrong order": ("[columns.a]\nbounds = [5, 1]", "fix:  bounds = [1, 5]"),
    "three bounds": ("[columns.a]\nbounds = [0, 1, 2]", "a pair"),
    "bounds and keys": ('[columns.a]\nbounds = [0, 1]\nkeys = ["a"]', "not both"),
    "type against keys": ('[columns.a]\ntype = "int"\nkeys = ["a"]', "of type text"),
    "nothing stated": ("[columns.a]", "needs a type"),
    "unknown type": ('[columns.a]\ntype = "varchar"', "one of 'int'"),
    "unit without rows": ('[unit]\ncolumn = "id"', "rows must be"),
    "columns are not a table": ("columns = 3", "must be a table"),
    "a column is not a table": ("[columns]\na = 3", "columns.a must be a table"),
    "size of nobody": ("size = 0", "size must be"),
}


@pytest.mark.parametrize(("text", "says"), MISTAKES.values(), ids=list(MISTAKES))
def test_a_mistaken_file_is_refused_and_named(tmp_path, text, says):
    path = tmp_path / "people.toml"
    if text is not None:
        path.write_text(text)
    with pytest.raises((BadParameter, UnknownName)) as caught:
        Schema.from_toml(path)
    assert says in str(caught.value)
    assert "cost" not in str(caught.value)


@pytest.mark.parametrize(
    "make",
    [
        lambda: Schema(columns=["age"]),
        lambda: Schema(columns={"age": (0, 125)}),
        lambda: Schema(columns={"": bounds(0, 1)}),
        lambda: Schema(columns={1: bounds(0, 1)}),
        lambda: Schema(columns={"a\nb": bounds(0, 1)}),
        lambda: Schema(columns={"Age": bounds(0, 1), "age": bounds(0, 1)}),
        lambda: Schema(unit="user_id"),
        lambda: Schema(size=True),
        lambda: Schema(size=-1),
        lambda: Schema(public="yes"),
        lambda: Schema(public=True, unit=rows()),
        lambda: Schema(columns={"a": bounds(0, 1)}, tables={"t": Schema()}),
        lambda: Schema(tables={"t": Schema(tables={"u": Schema()})}),
        lambda: Schema(tables={"t": Schema(unit=rows())}),
        lambda: Schema(tables={"t": Schema(version="2024")}),
        lambda: Schema(tables={"t": Schema()}, public=True),
        lambda: Schema(tables={"t": Schema()}, file="t.csv"),
        lambda: Schema(size=2**53 + 1),
        *(lambda v=v: Schema(version=v) for v in ("", " ", 2024, "a\nb", "a" * 101)),
        *(lambda f=f: Schema(file=f) for f in ("", 3, Path("t.csv"))),
        lambda: Schema(consent="agreed"),
        lambda: Schema(columns={"agreed": column("int")}, consent="agreed"),
        lambda: Schema(columns={"agreed": column("bool")}, consent="agreed", public=True),
        lambda: Schema(columns={"agreed": column("bool", missing=True)}, consent="agreed"),
        lambda: Schema(columns={"agreed": keys([True, False], missing=True)}, consent="agreed"),
    ],
)
def test_an_impossible_schema_is_refused(make):
    with pytest.raises(BadParameter):
        make()


def test_an_unknown_column_comes_with_a_guess():
    with pytest.raises(UnknownName, match="did you mean `income`"):
        Schema(columns={"income": bounds(0, 1)})["incom"]


def test_tables_are_found_by_name_and_an_only_table_fits_any():
    people = Schema(columns={"age": bounds(0, 125)})
    several = Schema(tables={"people": people})
    assert several.table("people") is people
    assert people.table("whatever") is people
    with pytest.raises(UnknownName, match="did you mean `people`"):
        several.table("peopel")


def test_a_schema_cannot_be_changed_after_the_fact():
    given_columns = {"age": bounds(0, 125)}
    schema = Schema(columns=given_columns)
    given_columns["age"] = bounds(0, 1)
    assert schema["age"] == bounds(0, 125)
    with pytest.raises(TypeError):
        schema.columns["age"] = bounds(0, 1)
    assert isinstance(schema["age"], Column)


@pytest.mark.parametrize("missing", [None, "drop", False])
def test_what_is_stated_of_a_table_is_kept_and_written(missing):
    agreed = column("bool", missing=missing)
    stated = {"size": 2**53, "version": "a" * 100, "file": "t.csv", "consent": "agreed"}
    schema = Schema(columns={"agreed": agreed}, **stated)
    assert {name: getattr(schema, name) for name in stated} == stated
    assert schema.to_dict() == {
        **stated,
        "columns": {"agreed": {"type": "bool"} | ({} if missing is None else {"missing": missing})},
    }
    assert Schema.from_dict(schema.to_dict()) == schema
    assert "agreed" in schema
    assert "file" not in schema


def test_tables_cannot_be_changed_after_the_fact():
    people = Schema(columns={"age": bounds(0, 125)}, public=True)
    given_tables = {"people": people}
    schema = Schema(tables=given_tables, version="2024-06", size=7, unit=rows())
    given_tables["people"] = Schema()
    assert schema.table("people") is people
    with pytest.raises(TypeError):
        schema.tables["people"] = Schema()
    assert schema.to_dict()["tables"]["people"]["public"] is True


@pytest.mark.parametrize("name", ["low", "min", "upper"])
def test_an_end_of_a_column_is_told_how_bounds_are_written(name):
    with pytest.raises(UnknownName) as caught:
        Schema.from_dict({"columns": {"a": {name: 3}}})
    assert "bounds = [0, 100]" in caught.value.fix
    for record in ({"columns": {"a": {"colour": 3}}}, {name: 3}):
        with pytest.raises(UnknownName) as caught:
            Schema.from_dict(record)
        assert "bounds = [0, 100]" not in caught.value.fix
