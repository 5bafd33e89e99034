"""Tables of Ibis: whose word on types is taken, and which texts SQLite compares exactly."""

from types import SimpleNamespace

import pandas as pd
import pyarrow as pa
import pytest

from deniable.errors import BadParameter
from deniable.session.sources import ibis_tables
from deniable.session.sources.ibis_tables import (
    _affinity,
    _as_given,
    _declared,
    _exact_in_sqlite,
    _is_ours,
    _own_name,
    _says_types,
    _types,
)

ibis = pytest.importorskip("ibis")
COLUMNS = "a TEXT, b TEXT COLLATE NOCASE, n INTEGER, x"


@pytest.fixture
def sqlite():
    connection = ibis.sqlite.connect()
    connection.con.execute(f"CREATE TABLE people ({COLUMNS})")
    connection.con.execute("CREATE TABLE typed (a TEXT, n INTEGER)")
    yield connection
    connection.disconnect()


def test_a_table_declares_the_types_of_its_columns_or_none(sqlite):
    assert _declared(sqlite, "people") == {"a": "text", "b": "text", "n": "int", "x": None}
    with pytest.raises(ibis_tables.UnknownName, match="`other`"):
        _declared(sqlite, "other")


@pytest.mark.parametrize(
    ("declared", "kind"),
    [
        ("UNSIGNED INT", "int"),
        ("NCHAR(9)", "text"),
        ("DOUBLE X", "float"),
        ("BLOB", None),
        ("", None),
    ],
)
def test_sqlite_reads_declared_types_by_their_letters(declared, kind):
    assert _affinity(declared) == kind


@pytest.mark.parametrize(("column", "exact"), [("a", True), ("b", False)])
def test_sqlite_compares_text_exactly_unless_its_column_has_a_collation(sqlite, column, exact):
    assert _exact_in_sqlite(sqlite, ibis_tables._table(sqlite, "people"), column) == exact


@pytest.mark.parametrize(
    ("program", "exact"),
    [
        ([], False), (["BINARY-8"], True), ([None], True), (["NOCASE"], False),
        (["BINARY-8", "NOCASE"], False), (["NOCASE", "BINARY-8"], False),
    ],
)  # fmt: skip
def test_every_comparison_of_a_program_is_exact(monkeypatch, program, exact):
    monkeypatch.setattr(ibis_tables, "made_known", lambda engine, expression: None)
    steps = [(0, "Init", 0, 0, 0, "NOCASE"), *((1, "Eq", 0, 0, 0, by) for by in program)]
    cursor = SimpleNamespace(execute=lambda sql: SimpleNamespace(fetchall=lambda: steps))
    engine = SimpleNamespace(con=SimpleNamespace(cursor=lambda: cursor), compile=str)
    assert _exact_in_sqlite(engine, "people", "a") == exact


class Leaves:
    """A node that finds these tables in memory, and these of a database."""

    def __init__(self, frames=(), leaves=()):
        self.frames = [SimpleNamespace(data=SimpleNamespace(obj=frame)) for frame in frames]
        self.leaves = leaves

    def find(self, kinds):
        return self.leaves if isinstance(kinds, tuple) else self.frames


PANDAS, ARROW = pd.DataFrame({"a": [1]}), pa.table({"a": [1]})


@pytest.mark.parametrize(
    ("frames", "known"),
    [([], True), ([ARROW], True), ([PANDAS], False), ([ARROW, PANDAS], False)],
    ids=["none", "arrow", "pandas", "both"],
)
def test_types_that_ibis_guessed_from_rows_are_nobodys(frames, known):
    expression = ibis.table({"a": "int64", "b": "string"}, name="t")
    found = _types(expression, Leaves(frames), SimpleNamespace(name="duckdb"))
    assert found == ({"a": "int", "b": "text"} if known else {"a": None, "b": None})


@pytest.mark.parametrize(
    ("names", "known"),
    [([], True), (["typed"], True), (["people"], False), (["typed", "people"], False)],
)
def test_in_sqlite_every_table_must_declare_its_types(sqlite, names, known):
    expression = ibis.table({"a": "string"}, name="t")
    place = SimpleNamespace(database=None)
    leaves = [SimpleNamespace(name=name, namespace=place) for name in names]
    assert _types(expression, Leaves(leaves=leaves), sqlite) == {"a": "text" if known else None}
    assert not _says_types(SimpleNamespace(), sqlite)  # a text of SQL


@pytest.mark.parametrize(
    ("args", "name", "ours"),
    [
        ((None, None), "people", True), (("main", None), "people", False),
        ((None, "x"), "people", False), (("main", "x"), "people", False),
        ((None, None), "passing", False),
    ],
)  # fmt: skip
def test_another_cursor_finds_a_table_without_a_place_that_is_not_temporary(
    monkeypatch, args, name, ours
):
    monkeypatch.setattr(ibis_tables, "temporary", lambda connection: {"passing"})
    node = SimpleNamespace(namespace=SimpleNamespace(args=args), name=name)
    assert _is_ours(node, SimpleNamespace(con=None)) == ours


@pytest.mark.parametrize("frame", [PANDAS, ARROW], ids=["pandas", "arrow"])
@pytest.mark.parametrize(("columns", "same"), [(["a"], True), (["b"], False), (["a", "b"], False)])
def test_a_frame_is_as_given_if_no_column_was_renamed(frame, columns, same):
    node = SimpleNamespace(data=SimpleNamespace(obj=frame), schema=columns)
    assert _as_given(node) == same


def test_only_a_table_that_somebody_named_has_a_name(sqlite):
    people = ibis_tables._table(sqlite, "people")
    assert _own_name(people) == "people"
    assert _own_name(people.filter(people.n > 3)) == "data"
    sqlite.con.execute("CREATE TABLE ibis_made (a TEXT)")
    assert _own_name(ibis_tables._table(sqlite, "ibis_made")) == "data"


@pytest.mark.filterwarnings("ignore:fetch_arrow_table:DeprecationWarning")  # Ibis calls it
def test_text_of_duckdb_is_in_doubt_if_its_column_has_a_collation():
    connection = ibis.duckdb.connect()
    connection.con.execute("CREATE TABLE t (a VARCHAR, b VARCHAR COLLATE NOCASE, n INTEGER)")
    types = {"a": "text", "b": "text", "n": "int"}
    source = ibis_tables.IbisTable(held=connection.table("t"), types=types)
    assert {name: bool(source.doubt(name, kind)) for name, kind in types.items()} == {
        "a": False, "b": True, "n": False,
    }  # fmt: skip
    one = source.only(["b"])
    assert (list(one.types), one.held.columns) == (["b"], ("b",))
    assert list(source.only([]).types) == ["a"]
    connection.disconnect()


class Joined:
    """An expression of tables that are held by these clients."""

    def __init__(self, *clients):
        self.clients = clients

    def __eq__(self, other):
        return len(self.clients) == len(other.clients)

    __hash__ = object.__hash__

    def find(self, kind):
        return [SimpleNamespace(source=SimpleNamespace(con=client)) for client in self.clients]


def test_an_expression_is_the_one_opened_if_each_of_its_tables_is_held_by_the_same_client():
    one, other = object(), object()
    opened = SimpleNamespace(ibis=SimpleNamespace(op=lambda: Joined(one, other)))
    assert ibis_tables.is_opened(Joined(one, other), opened)
    for clients in ((one, one), (other, other), (other, one)):
        assert not ibis_tables.is_opened(Joined(*clients), opened)
    assert not ibis_tables.is_opened(Joined(one), opened)
    assert not ibis_tables.is_opened(Joined(one), SimpleNamespace(ibis=None))


def test_a_table_that_is_no_expression_is_told_by_its_source(sqlite):
    node = ibis_tables._table(sqlite, "people").op()
    asked = []
    source = SimpleNamespace(is_table=lambda node: asked.append(node) or True)
    assert ibis_tables.is_opened(node, SimpleNamespace(ibis=None, source=source))
    assert asked == [node]


@pytest.mark.parametrize("database", [None, "other"])
def test_a_table_of_an_attached_database_is_read_there(sqlite, database):
    from ibis.expr.operations import DatabaseTable, Namespace
    from ibis.expr.schema import Schema

    sqlite.con.execute("ATTACH ':memory:' AS other")
    sqlite.con.execute("CREATE TABLE other.typed (z REAL)")
    stated = Schema({"a": "string", "n": "int64"} if database is None else {"z": "float64"})
    node = DatabaseTable("typed", stated, sqlite, Namespace(database=database))
    place, inner = ibis_tables._place(node.to_expr())
    assert inner is None
    assert place.types == ({"a": "text", "n": "int"} if database is None else {"z": "float"})
    assert place.held.columns == tuple(place.types)


@pytest.mark.parametrize(("name", "called"), [("visits", "visits"), (None, "data")])
def test_a_frame_that_is_no_table_is_refused_by_the_name_it_was_given(name, called):
    frame = ibis.memtable(pa.table({"a": [1], "A": [2]}))
    with pytest.raises(BadParameter, match=f"`{called}` has two columns"):
        ibis_tables.look(frame, name, None)
