"""Columns that travel: what arrives is of the column's type, or missing."""

import math

import pyarrow as pa
import pytest
from tests.query.ibis import ibis_engines as engines
from tests.query.ibis.ibis_tables import ibis

from deniable.session.sources import ibis_rows
from deniable.session.sources.ibis_rows import _real, _text, _whole, described, fetched
from deniable.session.sources.ibis_tables import IbisTable
from deniable.session.sources.ibis_tables import _table as sqlite_table

# Ibis 12 asks pandas 3 for an option, and DuckDB 2 for a call, that are going away.
pytestmark = pytest.mark.filterwarnings(
    "ignore:The 'future.infer_string' option", "ignore:fetch_arrow_table:DeprecationWarning"
)
TOP = 2.0**63
BELOW = math.nextafter(TOP, 0)
EXACT = 2**53
ROWS = pa.table({"a": [1, 2], "b": ["x", "y"]})


@pytest.mark.parametrize(
    ("value", "read"),
    [
        (7, 7), (0, 0), (-7.0, -7), (7.5, None), (math.nan, None), (math.inf, None),
        (BELOW, int(BELOW)), (TOP, None), (-TOP, -(2**63)), (math.nextafter(-TOP, -math.inf), None),
        (b"7", None), (None, None),
    ],
)  # fmt: skip
def test_whole_numbers_are_those_of_64_bits(value, read):
    assert _whole(value) == read
    assert type(_whole(value)) is type(read)


@pytest.mark.parametrize(
    ("value", "read"),
    [
        (7, 7.0), (0, 0.0), (0.5, 0.5), (EXACT, float(EXACT)), (-EXACT, -float(EXACT)),
        (EXACT + 1, None), (-EXACT - 1, None), (math.inf, math.inf), (b"7", None), (None, None),
    ],
)  # fmt: skip
def test_real_numbers_are_those_that_a_float_holds_without_doubt(value, read):
    assert _real(value) == read
    assert type(_real(value)) is type(read)


@pytest.mark.parametrize(
    ("value", "encoding", "read"),
    [
        ("é".encode("utf-16-le"), "UTF-16le", "é"), ("é".encode(), "UTF-8", "é"),
        (b"\xff", "UTF-8", None), (b"", "UTF-8", ""), (7, "UTF-8", "7"), (0.0, "UTF-8", "0.0"),
        (None, "UTF-8", None),
    ],
)  # fmt: skip
def test_texts_are_read_in_the_encoding_of_their_database(value, encoding, read):
    assert _text(value, encoding) == read


@pytest.fixture
def sqlite():
    connection = ibis.sqlite.connect()
    connection.con.execute("CREATE TABLE t (n INTEGER, x REAL, s TEXT, o)")
    yield connection
    connection.disconnect()


STORED = [
    (1, 0.5, "a", None),
    (None, None, None, None),
    ("one", "half", b"blob", 7),
    (2.5, 3, 8, 0.25),
    (2**62, EXACT + 1, "é", "text"),
]
ARRIVED = {
    "n": [1, None, None, None, 2**62],
    "x": [0.5, None, None, 3.0, float(2**53)],  # SQLite itself makes a float of it
    "s": ["a", None, None, "8", "é"],
    "o": [None, None, "7", "0.25", "text"],
}
TYPES = {"n": "int", "x": "float", "s": "text", "o": None}


def test_what_is_not_of_its_columns_type_is_missing_in_sqlite(sqlite, monkeypatch):
    monkeypatch.setattr(ibis_rows, "_ROWS", 2)  # several batches
    sqlite.con.executemany("INSERT INTO t VALUES (?, ?, ?, ?)", STORED)
    held = sqlite_table(sqlite, "t")
    sqlite.con.row_factory = lambda cursor, row: {"row": row}  # what a user may have set
    for names in (list(TYPES), ["s"], ["x", "n"]):
        types = {name: TYPES[name] for name in names}
        remote = IbisTable(held=held.select(*names), types=types)
        assert fetched(remote).to_pydict() == {name: ARRIVED[name] for name in names}


def test_a_table_in_memory_is_made_known_to_sqlite(sqlite):
    frame = ibis.memtable(pa.table({"n": [3, 4]}))
    held = sqlite_table(sqlite, "t").select("n").union(frame)
    assert fetched(IbisTable(held=held, types={"n": "int"})).to_pydict() == {"n": [3, 4]}


@pytest.mark.parametrize(
    "make", [engines.polars, engines.duckdb, engines.sqlite, engines.datafusion]
)
def test_columns_are_described_without_rows_in_the_types_that_they_arrive_in(make):
    remote = IbisTable(held=make({"t": ROWS}).table("t"), types={"a": "int", "b": "text"})
    rows, empty = fetched(remote), described(remote)
    whole = rows.read_all() if hasattr(rows, "read_all") else rows
    assert whole.to_pydict() == ROWS.to_pydict()
    assert empty.num_rows == 0
    assert empty.schema.types == whole.schema.types
    assert empty.column_names == ["a", "b"]
