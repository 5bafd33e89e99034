"""Relations of DuckDB: the columns of a question, and the settings of a connection unseen."""

import duckdb
import pytest

from deniable.session.sources.duckdb_relations import DuckDBRelation, look

TABLE = "CREATE TABLE t (a BIGINT, b VARCHAR, c VARCHAR COLLATE nocase)"


@pytest.fixture
def connection():
    with duckdb.connect() as connection:
        connection.execute(TABLE)
        connection.execute("INSERT INTO t VALUES (1, 'x', 'p'), (2, 'y', 'q')")
        yield connection


@pytest.mark.parametrize(
    ("columns", "read"),
    [(["b"], {"b": ["x", "y"]}), (["b", "a"], {"b": ["x", "y"], "a": [1, 2]}), ([], {"a": [1, 2]})],
)
def test_only_the_columns_of_a_question_are_read(connection, columns, read):
    source = DuckDBRelation(held=connection.table("t")).only(columns)
    assert source.rows().to_pydict() == read
    empty = source.none().rows()
    assert (empty.column_names, empty.num_rows) == (list(read), 0)


@pytest.mark.parametrize(("given", "called"), [("people", "people"), (None, "data")])
def test_names_and_types_are_those_of_the_relation(connection, given, called):
    (found,) = look(connection.table("t"), given, None)
    assert found.name == called
    assert found.types == {"a": "int", "b": "text", "c": "text"}


def test_settings_are_those_of_the_connection_even_where_it_has_no_rows(connection, tmp_path):
    connection.execute(f"SET temp_directory = '{tmp_path}/spilled'")
    for rows in (2, 0):
        relation = connection.table("t").limit(rows)
        assert DuckDBRelation(held=relation).spills() == {f"{tmp_path}/spilled"}


@pytest.mark.parametrize(
    ("default", "column", "kind", "doubted"),
    [
        ("", "b", "text", ""),
        ("", "c", "text", "VARCHAR with a collation"),
        ("", "c", "int", ""),
        ("nocase", "b", "text", "VARCHAR under the default collation nocase"),
        ("nocase", "a", "int", ""),
    ],
)
def test_only_text_that_has_a_collation_is_doubted(connection, default, column, kind, doubted):
    connection.execute(f"SET default_collation = '{default}'")
    assert DuckDBRelation(held=connection.table("t")).doubt(column, kind) == doubted
