"""Opening: whom to protect, how much may be learnt, of what."""

import pytest
from tests.session.opened import DATA, EIGHTH, secret, session

import deniable as dp
from deniable.errors import (
    BadParameter,
    LedgerFailure,
    MissingUnit,
    UnitMismatch,
)
from deniable.schema import Schema, bounds
from deniable.session import open as open_session
from deniable.session import opening

# ---- opening


def test_the_unit_may_be_said_here_or_in_the_schema():
    schema = Schema(columns={"age": bounds(0, 125)}, unit=dp.person("id", rows=2))
    assert open_session(DATA, schema=schema, budget=dp.epsilon(1)).unit == schema.unit
    assert session(schema=schema, unit=dp.person("id", rows=2)).unit == schema.unit
    with pytest.raises(UnitMismatch, match="the schema says"):
        session(schema=schema, unit=dp.rows())


def test_somebody_must_say_whom_to_protect():
    with pytest.raises(MissingUnit) as caught:
        open_session(DATA, budget=dp.epsilon(1))
    assert "unit=dp.rows()" in caught.value.fix
    with pytest.raises(BadParameter, match="a privacy unit"):
        open_session(DATA, unit="id", budget=dp.epsilon(1))


def test_a_budget_is_needed_unless_the_ledger_brings_one(tmp_path):
    with pytest.raises(BadParameter, match="needs a budget"):
        open_session(DATA, unit=dp.rows())
    path = tmp_path / "ledger.db"
    session(dp.epsilon(1.0), ledger=path).close()
    assert open_session(DATA, unit=dp.rows(), ledger=path).budget == dp.epsilon(1.0)
    with pytest.raises(LedgerFailure, match="has a budget of"):
        session(dp.epsilon(2.0), ledger=path)


def test_a_schema_may_be_a_file_or_several_by_name(tmp_path):
    Schema(columns={"age": bounds(0, 125)}, unit=dp.rows()).to_toml(tmp_path / "data.toml")
    opened = open_session(DATA, schema=tmp_path / "data.toml", budget=dp.epsilon(1))
    assert opened.tables["data"].columns["age"] == bounds(0, 125)
    several = open_session(
        {"a": DATA, "b": DATA},
        schema={"a": Schema(columns={"age": bounds(0, 1)}), "b": Schema()},
        unit=dp.rows(),
        budget=dp.epsilon(1),
    )
    assert list(several.tables) == ["a", "b"]
    with pytest.raises(BadParameter, match="schema"):
        session(schema=3)


# ---- how it looks


def test_a_session_shows_what_is_public():
    s = session(schema=Schema(columns={"age": bounds(0, 125)}))
    s.release(EIGHTH.on(secret(1.0)))
    text = repr(s)
    assert "data (age, id)" in text
    assert "one row, added or removed" in text
    assert "ε 0.125 of ε 10" in text
    assert "ε 9.87" in text
    assert "1 line" in text
    page = s._repr_html_()
    assert "<script" not in page
    assert "bounds(0.0, 125.0)" in page


def test_a_session_closes_its_ledger(tmp_path):
    with session(ledger=tmp_path / "ledger.db") as s:
        s.release(EIGHTH.on(secret(1.0)))


def test_columns_are_no_schema_of_tables_not_even_some_of_them():
    for columns in ({"age": bounds(0, 125)}, {"age": bounds(0, 125), "b": Schema()}):
        with pytest.raises(BadParameter, match=r"a dp\.Schema of columns"):
            session(schema=columns)


@pytest.mark.parametrize(
    ("whole", "parts", "size"),
    [(None, {}, None), (50, {}, 50), (50, {"a": 90}, 50), (None, {"a": 90, "b": 20}, 90),
     (None, {"a": 20, "b": 90}, 90), (None, {"a": None, "b": 7}, 7), (None, {"a": None}, None)],
)  # fmt: skip
def test_the_number_of_people_is_that_of_the_schema_else_of_its_largest_table(whole, parts, size):
    tables = {name: Schema(size=each) for name, each in parts.items()}
    assert opening._size(Schema(size=whole, tables=tables)) == size
    assert opening._size(None) is None


@pytest.mark.parametrize(
    ("stated", "here", "found"),
    [
        (None, None, None),
        ("1", None, "1"),
        (None, "2", "2"),
        ("2", "2", "2"),
        ("1", "2", "refused"),
    ],
)
def test_a_version_is_stated_here_or_in_the_schema_or_alike_in_both(stated, here, found):
    schema = Schema(version=stated)
    if found == "refused":
        with pytest.raises(BadParameter, match="you opened version 2 of the data"):
            opening._versioned(schema, here)
    else:
        assert opening._versioned(schema, here).version == found
    assert opening._versioned(None, None) is None
    assert opening._versioned(None, "3").version == "3"
