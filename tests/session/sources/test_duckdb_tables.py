"""Tables and views of DuckDB: where they are, how they are read, and what may compare equal."""

from types import SimpleNamespace

import duckdb
import pytest

import deniable as dp
from deniable.session.sources import duckdb_tables
from deniable.session.sources.duckdb_tables import DuckDBTable, collated, look, temporary


@pytest.fixture
def engine():
    with duckdb.connect() as connection:
        connection.execute("CREATE TABLE visits (age INTEGER, x DOUBLE, name VARCHAR)")
        connection.execute("CREATE VIEW seen AS SELECT x, age, 1.5::FLOAT AS y FROM visits")
        connection.execute(
            "CREATE TABLE named (a VARCHAR, b VARCHAR COLLATE NOCASE, c VARCHAR, "
            "d VARCHAR COLLATE NOCASE, n INTEGER)"
        )
        yield connection


def outlines(engine):
    return {each.name: each for each in look(engine, None, None)}


def test_all_tables_of_the_schema_are_listed_with_their_types_in_order(engine):
    engine.execute("CREATE SCHEMA other; CREATE TABLE other.hidden (z INTEGER)")
    engine.execute("CREATE TEMP TABLE passing (z INTEGER)")
    found = outlines(engine)
    assert set(found) == {"visits", "seen", "named"}
    assert list(found["visits"].types.items()) == [("age", "int"), ("x", "float"), ("name", "text")]
    assert found["visits"].source.within == ("memory", "main")
    assert [each.name for each in look(engine, "seen", None)] == ["seen"]
    assert temporary(engine) == {"passing"}


def test_a_connection_that_is_closed_is_refused_in_our_words():
    connection = duckdb.connect()
    connection.close()
    with pytest.raises(dp.BadParameter, match="busy or closed"):
        look(connection, None, None)


def test_floats_of_a_view_are_read_as_no_statistics_know_them(engine):
    found = outlines(engine)
    assert found["visits"].source.in_place(engine) == '"memory"."main"."visits"'
    read = found["seen"].source.in_place(engine)
    for column in ("x", "y"):
        assert f'NEXTAFTER("{column}", "{column}") AS "{column}"' in read
    assert 'NEXTAFTER("age"' not in read
    engine.execute("INSERT INTO visits VALUES (3, 0.1, 'a')")
    assert engine.execute(f"FROM {read}").fetchall() == [(0.1, 3, 1.5)]


@pytest.mark.parametrize("columns", ["", "a", "b", "n", "ab", "abcd", "acd", "abcdn"])
def test_each_column_with_a_collation_of_its_own_is_found(engine, columns):
    source = outlines(engine)["named"].source
    types = {name: "INTEGER" if name == "n" else "VARCHAR" for name in columns}
    wanted = {name: "VARCHAR COLLATE other" for name in columns if name in "bd"}
    assert source.stored(engine, types) == types | wanted


def test_a_column_of_text_is_in_doubt_if_it_or_the_connection_has_a_collation(engine):
    source = outlines(engine)["named"].source
    assert source.doubt("b", "int") == source.doubt("a", "text") == ""
    assert source.doubt("b", "text") == "VARCHAR with a collation"
    relation = engine.sql("FROM named")
    for exact in ("", "BINARY", "c", "POSIX"):
        assert (
            collated(relation, "a", default=exact) == collated(relation, "n", default=exact) == ""
        )
    assert collated(relation, "a", default="nocase").endswith("default collation nocase")
    engine.execute("SET default_collation = 'NOCASE'")
    assert source.doubt("a", "text").endswith("default collation NOCASE")


def test_rows_that_do_not_fit_in_memory_go_where_the_connection_says(engine, tmp_path):
    engine.execute(f"SET temp_directory = '{tmp_path}'")
    assert outlines(engine)["visits"].source.spills() == {str(tmp_path)}


def test_a_table_is_itself_by_connection_name_and_place(engine):
    source = DuckDBTable(held=engine, inner="visits", within=("memory", "main"))

    def node(name="visits", con=engine, backend="duckdb", catalog=None, database=None):
        space = SimpleNamespace(catalog=catalog, database=database)
        return SimpleNamespace(
            source=SimpleNamespace(name=backend, con=con), name=name, namespace=space
        )

    assert source.is_table(node())
    assert source.is_table(node(catalog="memory", database="main"))
    for other in (
        node(name="seen"), node(con=object()), node(backend="sqlite"),
        node(catalog="x"), node(database="x"),
    ):  # fmt: skip
        assert not source.is_table(other)
    engine.execute("CREATE TEMP TABLE visits (z INTEGER)")
    assert not source.is_table(node())


def test_a_relation_is_looked_at_as_such(engine):
    (found,) = duckdb_tables.look(engine.sql("SELECT age FROM visits"), "ages", None)
    assert (found.name, found.types) == ("ages", {"age": "int"})
