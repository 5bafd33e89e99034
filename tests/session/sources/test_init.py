"""From what people have to tables: which kind it is, what each table is called, which are meant."""

import duckdb
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import deniable as dp
from deniable.errors import MissingUnit, UnknownName
from deniable.schema import Schema, bounds
from deniable.session import sources

TABLE = pa.table({"id": [1, 2], "age": [30, 40]})
AGES = Schema(columns={"age": bounds(0, 125, type="int")})
ROWS, PERSON = dp.rows(), dp.person("id", rows=2)


def tables(source, schema=None, unit=ROWS, name=None):
    return sources.tables(source, schema=schema, unit=unit, name=name)


@pytest.fixture
def engine():
    with duckdb.connect() as connection:
        for name in ("people", "visits"):
            connection.execute(f"CREATE TABLE {name} (id INTEGER, age INTEGER)")
        yield connection


@pytest.mark.parametrize("name", ["", 1, None, b"people"])
def test_tables_given_by_name_have_a_text_for_it(name):
    assert list(tables({"people": TABLE})) == ["people"]
    with pytest.raises(dp.BadParameter, match="name of a table"):
        tables({name: TABLE})


@pytest.mark.parametrize("part", [{"age": [1]}, [1, 2], (1, 2)])
def test_what_has_a_name_is_a_table(part):
    with pytest.raises(dp.BadParameter, match="not a table"):
        tables({"people": part})


def test_a_name_is_for_one_table_and_names_in_a_mapping_are_enough():
    assert list(tables(TABLE, name="people")) == ["people"]
    assert list(tables(TABLE)) == ["data"]
    assert list(tables({"a": TABLE, "b": TABLE})) == ["a", "b"]
    with pytest.raises(dp.BadParameter, match="name= is for a single table"):
        tables({"a": TABLE}, name="b")


def test_a_name_picks_a_table_of_a_connection(engine):
    assert list(tables(engine)) == ["people", "visits"]
    assert list(tables(engine, name="visits")) == ["visits"]
    assert list(tables({"people": engine, "visits": engine})) == ["people", "visits"]
    with pytest.raises(UnknownName, match="no table `both`"):
        tables({"both": engine})


def test_a_schema_of_one_table_is_not_for_several():
    assert tables({"a": TABLE}, AGES)["a"].columns["age"] == AGES.columns["age"]
    with pytest.raises(dp.BadParameter, match="describes one table"):
        tables({"a": TABLE, "b": TABLE}, AGES)
    assert len(tables({"a": TABLE, "b": TABLE}, Schema())) == 2


def test_tables_of_a_schema_are_there_and_others_are_kept_as_they_are_stored():
    stated = Schema(tables={"a": AGES})
    found = tables({"a": TABLE, "b": TABLE}, stated)
    assert found["a"].columns["age"] == AGES.columns["age"]
    assert found["b"].columns["age"].low is None
    with pytest.raises(UnknownName, match="`c`"):
        tables({"a": TABLE, "b": TABLE}, Schema(tables={"a": AGES, "c": AGES}))


@pytest.mark.parametrize(("count", "size"), [(1, 500), (2, None)])
def test_the_size_of_all_tables_together_is_that_of_none(count, size):
    found = tables({f"t{n}": TABLE for n in range(count)}, Schema(size=500))
    assert {table.size for table in found.values()} == {size}


def test_who_a_row_belongs_to_is_asked_of_private_tables_alone():
    plain = pa.table({"city": ["Oslo"]})
    public = Schema(tables={"cities": Schema(public=True)})
    assert len(tables({"people": TABLE, "cities": plain}, public, PERSON)) == 2
    with pytest.raises(MissingUnit):
        tables({"people": TABLE, "cities": plain}, None, PERSON)
    assert len(tables({"cities": plain}, None, ROWS)) == 1


def test_people_are_not_identified_by_what_may_compare_equal(engine):
    engine.execute("CREATE TABLE named (id VARCHAR COLLATE nocase)")
    assert list(tables(engine, name="named")) == ["named"]
    with pytest.raises(dp.BadParameter, match="id"):
        tables(engine, unit=PERSON, name="named")
    facts = Schema(tables={"named": Schema(public=True), "people": Schema()})
    assert "named" in tables(engine, facts, PERSON)


def test_files_are_known_by_their_ending_and_addresses_by_their_beginning(tmp_path, monkeypatch):
    path = tmp_path / "people.parquet"
    pq.write_table(TABLE, path)
    for given in (path, str(path)):
        assert list(tables(given)) == ["people"]
        assert list(tables(given, name="visitors")) == ["visitors"]
    looked = []
    monkeypatch.setattr(sources, "_look", lambda *given: looked.append(given) or [])
    for address in ("postgresql://host/db", "postgres://host/db"):
        tables(address, name="people")
    assert [(start, text, name) for start, text, name, _ in looked] == [
        ("postgresql://", "postgresql://host/db", "people"),
        ("postgres://", "postgres://host/db", "people"),
    ]


@pytest.mark.parametrize(
    ("source", "hint"), [([1], True), ((1,), True), (7, False), (None, False), (object(), False)]
)
def test_what_is_no_table_is_refused(source, hint):
    with pytest.raises(dp.BadParameter, match="cannot open") as refused:
        tables(source)
    assert ("pandas.DataFrame" in str(refused.value)) == hint
