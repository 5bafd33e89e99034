"""What a Postgres connection is asked when it is looked at; no server is needed for that."""

from contextlib import nullcontext
from types import SimpleNamespace

import pytest

from deniable.session.sources import postgres_tables

pytest.importorskip("psycopg")


class Connection:
    """Lists two tables, and notes whether it was put back."""

    def __init__(self, *, status=0, autocommit=False):
        self.info = SimpleNamespace(transaction_status=status)
        self.autocommit, self.put_back = autocommit, 0

    def execute(self, statement):
        rows = [
            ("s", "visits", "age", "integer", True), ("s", "visits", "city", "text", False),
            ("s", "homes", "size", "bigint", True),
        ]  # fmt: skip
        return SimpleNamespace(fetchall=lambda: rows)

    def rollback(self):
        self.put_back += 1


def test_each_table_has_its_columns_with_their_types():
    found = postgres_tables.look(Connection(), None, None, held="postgres://x")
    assert {each.name: each.types for each in found} == {
        "visits": {"age": "int", "city": "text"}, "homes": {"size": "int"},
    }  # fmt: skip
    assert {(each.source.held, each.source.inner, each.source.within) for each in found} == {
        ("postgres://x", "visits", ("s",)),
        ("postgres://x", "homes", ("s",)),
    }


@pytest.mark.parametrize(
    ("status", "autocommit", "put_back"), [(0, False, 1), (0, True, 0), (2, False, 0)]
)
def test_a_connection_is_left_as_it_was_found(status, autocommit, put_back):
    connection = Connection(status=status, autocommit=autocommit)
    postgres_tables.look(connection, None, None, held="postgres://x")
    assert connection.put_back == put_back


class Client:
    """A connection that is in a schema, at a server."""

    def __init__(self, *, port=5432, password="", status=0, autocommit=False, schema="s"):
        self.info = SimpleNamespace(
            transaction_status=status, host="h", port=port, dbname="d", password=password,
            dsn=f"host=h port={port} dbname=d user=u",
        )  # fmt: skip
        self.autocommit, self.put_back, self.schema = autocommit, 0, schema

    def cursor(self, *, row_factory):
        row = SimpleNamespace(fetchone=lambda: (self.schema,))
        return SimpleNamespace(execute=lambda statement: row)

    def rollback(self):
        self.put_back += 1


@pytest.mark.parametrize(
    ("status", "autocommit", "put_back"), [(0, False, 1), (0, True, 0), (2, False, 0), (2, True, 0)]
)
def test_who_asks_for_the_schema_leaves_the_connection_as_it_was(status, autocommit, put_back):
    client = Client(status=status, autocommit=autocommit)
    assert postgres_tables.current_schema(client) == "s"
    assert client.put_back == put_back


def test_an_address_has_the_schema_and_the_password_if_there_is_one():
    plain = postgres_tables.address(Client(schema='odd "s'))
    assert "odd" in plain
    assert "password" not in plain
    assert "password=secret" in postgres_tables.address(Client(password="secret"))
    assert "other" in postgres_tables.address(Client(), schema="other")
    assert "search_path" in postgres_tables.address(Client())
    assert "other" not in postgres_tables.address(Client())


def test_an_address_is_connected_to_and_kept(monkeypatch):
    monkeypatch.setattr(postgres_tables, "_connected", lambda address: nullcontext(Connection()))
    found = postgres_tables.look("postgres://x", "homes", None)
    assert [(each.name, each.source.held) for each in found] == [("homes", "postgres://x")]


def test_a_connection_is_kept_by_its_address(monkeypatch):
    monkeypatch.setattr(postgres_tables, "address", lambda connection: "postgres://made")
    found = postgres_tables.look(Connection(), None, None)
    assert {each.source.held for each in found} == {"postgres://made"}
    assert found[0].spelled == {"age": True, "city": False}


def test_a_table_is_itself_by_server_database_schema_and_name(monkeypatch):
    import psycopg

    monkeypatch.setattr(psycopg, "connect", lambda address: nullcontext(Client()))
    source = postgres_tables.PostgresTable(held="postgres://x", inner="visits", within=("s",))

    def node(name="visits", backend="postgres", database=None, **client):
        return SimpleNamespace(
            source=SimpleNamespace(name=backend, con=Client(**client)), name=name,
            namespace=SimpleNamespace(database=database),
        )  # fmt: skip

    assert source.is_table(node())
    assert source.is_table(node(database="s", schema="other"))
    for other in (
        node(name="homes"), node(backend="duckdb"), node(database="other"), node(schema="other"),
        node(port=5433),
    ):  # fmt: skip
        assert not source.is_table(other)
