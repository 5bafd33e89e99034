"""What a Postgres connection is asked when it is looked at; no server is needed for that."""

from types import SimpleNamespace

import pytest

from deniable.session.sources import postgres_tables


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
