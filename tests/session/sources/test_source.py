"""What every kind of source has in common: names, types, which tables are meant, one reading."""

from types import SimpleNamespace

import pyarrow as pa
import pytest

import deniable as dp
from deniable.errors import UnknownName
from deniable.session.sources.source import Source, chosen, outline, quoted


class Rows(Source):
    kind = "test"

    def rows(self):
        return self.held


class Connection:
    def __init__(self):
        self.said = []

    def register(self, view, rows):
        self.said.append(("register", view, rows))

    def execute(self, statement):
        self.said.append(statement)

    def unregister(self, view):
        self.said.append(("unregister", view))


def test_a_table_is_registered_and_a_stream_is_kept_because_it_is_read_once(tmp_path):
    table = pa.table({"a": [1]})
    for rows in (table, table.to_reader()):
        connection = Connection()
        Rows(held=rows).load(connection, "v", tmp_path)
        if rows is table:
            assert connection.said == [("register", "v", table)]
        else:
            assert connection.said == [
                ("register", "v_stream", rows),
                "CREATE TEMP TABLE v AS FROM v_stream",
                ("unregister", "v_stream"),
            ]


def test_columns_have_the_types_that_are_spelled():
    made = outline(Rows(held=None), None, [("age", "BIGINT"), ("x", "BLOB")], likely={"x": "text"})
    assert (made.name, made.types) == ("data", {"age": "int", "x": None})
    assert made.spelled == {"age": "BIGINT", "x": "BLOB"}
    assert outline(Rows(held=None), "t", [("a", "x")], spelled={}).spelled == {}
    assert made.likely == {"x": "text"}


def test_names_in_sql_are_quoted():
    assert quoted("a", 'b"c') == '"a"."b""c"'


TABLES = ["visits", "homes"]
ONE = dp.Schema(tables={"homes": dp.Schema()})


@pytest.mark.parametrize(
    ("name", "schema", "meant"),
    [
        (None, None, TABLES), ("homes", None, ["homes"]), (None, ONE, ["homes"]),
        ("visits", ONE, ["visits"]), (None, dp.Schema(), TABLES),
    ],
)  # fmt: skip
def test_the_tables_meant_are_the_one_named_those_of_the_schema_or_all(name, schema, meant):
    assert list(chosen(TABLES, name, schema)) == meant


def test_tables_that_are_not_there_are_refused():
    with pytest.raises(dp.BadParameter, match="has no tables"):
        chosen([], None, None)
    with pytest.raises(UnknownName, match="`other`"):
        chosen(TABLES, "other", None)
    with pytest.raises(UnknownName, match="`other`"):
        chosen(TABLES, None, SimpleNamespace(tables={"homes": 1, "other": 2}))
