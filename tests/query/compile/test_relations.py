"""Ids are read as they are stored; only text in which bytes were replaced is missing."""

import pytest

from deniable.query.algebra import Kind, Read
from deniable.query.compile import Relations
from deniable.query.compile import nodes as sql
from deniable.query.compile.duckdb import DuckDB
from deniable.query.compile.relations import Stored


@pytest.mark.parametrize(
    ("replaced", "stored", "kind", "doubted"),
    [
        ("\ufffd", "VARCHAR", None, True),
        ("\ufffd", "VARCHAR", Kind.TEXT, True),
        ("\ufffd", "VARCHAR", Kind.INT, False),
        ("\ufffd", "BIGINT", None, False),
        ("\ufffd", "BIGINT", Kind.INT, False),
        ("", "VARCHAR", None, False),
    ],
)
def test_ids_that_are_text_are_missing_where_bytes_were_replaced(replaced, stored, kind, doubted):
    table = Stored(source=sql.name("t"), types={"id": stored}, replaced=replaced)
    made = Relations(DuckDB(), {"t": table})
    written = DuckDB().write(made._read_id(Read(name="p", source="id", kind=kind), table))
    assert ("CONTAINS" in written) == doubted


def test_no_two_subqueries_have_one_name():
    made = Relations(DuckDB(), {})
    assert len({made.alias() for _ in range(5)}) == 5
