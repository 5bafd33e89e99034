"""Parquet columns of every type that PyArrow and DuckDB write, each with rows of any bits.

A column is either refused by its type, when it is opened, or no row of it can stop a query: neither
one that is missing nor one whose bits its writer should not have written.
"""

import datetime as dt
import itertools
import json
import struct

import duckdb
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import deniable as dp

EXTREMES = {
    bits: [0, 1, -(2 ** (bits - 1)), 1 - 2 ** (bits - 1), 2 ** (bits - 1) - 1, 2 ** (bits - 2)]
    for bits in (8, 16, 32, 64)
}
BYTES = [b"", b"\xff\xfe\x00\x80", b"{bad", b"\x01\x02", b"1970-01-01", b"NaN", b"\x00" * 8]
UNITS = ("s", "ms", "us", "ns")


def raw(kind, bits=64):
    """Numbers of any bits, taken for values of a type."""
    return pa.array(EXTREMES[bits], getattr(pa, f"int{bits}")()).view(kind)


def decimals(kind, width):
    """Numbers of more digits than the type has."""
    numbers = [1, 10**kind.precision, -(2 ** (8 * width - 1)), 2 ** (8 * width - 1) - 1]
    held = b"".join(n.to_bytes(width, "little", signed=True) for n in numbers)
    return pa.Array.from_buffers(kind, len(numbers), [None, pa.py_buffer(held)])


def extension(kind, values):
    return pa.ExtensionArray.from_storage(kind, pa.array(values, kind.storage_type))


def texts(kind):
    """Bytes that are not UTF-8 in a column of text."""
    large = kind == pa.large_string()
    offsets = np.cumsum([0, *map(len, BYTES)]).astype(np.int64 if large else np.int32)
    held = [None, pa.py_buffer(offsets.tobytes()), pa.py_buffer(b"".join(BYTES))]
    return pa.Array.from_buffers(kind, len(BYTES), held)


FLOATS = [0.0, -0.0, np.nan, np.inf, -np.inf, 1e300, 5e-324]
NESTED = {
    "list": pa.array([[1], [], [None, 2**60]], pa.list_(pa.int64())),
    "large list": pa.array([[1], []], pa.large_list(pa.int64())),
    "fixed list": pa.array([[1, 2], [3, 4]], pa.list_(pa.int32(), 2)),
    "list of moments": pa.array([[0], []], pa.list_(pa.int64())).cast(pa.list_(pa.timestamp("us"))),
    "struct": pa.array([{"a": 1, "b": "x"}, {"a": None, "b": None}]),
    "map": pa.array([[("a", 1)], []], pa.map_(pa.string(), pa.int64())),
}
BY_ARROW = {
    "bool": pa.array([True, False]),
    **{f"int{b}": pa.array(EXTREMES[b], getattr(pa, f"int{b}")()) for b in EXTREMES},
    **{f"uint{b}": pa.array([0, 2**b - 1], getattr(pa, f"uint{b}")()) for b in EXTREMES},
    "half": pa.array(np.array(FLOATS[:5], dtype=np.float16)),
    "float": pa.array(np.array(FLOATS[:5], dtype=np.float32)),
    "double": pa.array(np.array(FLOATS)),
    "text": texts(pa.string()),
    "large text": texts(pa.large_string()),
    "text view": pa.array(["a", "é"], pa.string_view()),
    "binary": pa.array(BYTES),
    "large binary": pa.array(BYTES, pa.large_binary()),
    "fixed binary": pa.array([b"\xff\x00\x80", b"abc"], pa.binary(3)),
    "date32": raw(pa.date32(), 32),
    "date64": pa.array([0, 86400000, 2**55 // 86400000 * 86400000]).view(pa.date64()),
    **{f"timestamp {u}": raw(pa.timestamp(u)) for u in UNITS[1:]},  # of seconds come as of ms
    **{f"timestamp {u} with zone": raw(pa.timestamp(u, "UTC")) for u in UNITS[1:]},
    **{f"duration {u}": raw(pa.duration(u)) for u in UNITS},
    **{f"time {u}": raw(pa.time32(u), 32) for u in UNITS[:2]},
    **{f"time {u}": raw(pa.time64(u)) for u in UNITS[2:]},
    **{
        f"decimal {p},{s}": decimals(pa.decimal128(p, s), 16)
        for p, s in [(5, 2), (18, 18), (19, 3), (38, 0), (38, 10), (38, 38)]
    },
    "decimal32": decimals(pa.decimal32(5, 2), 4),
    "decimal64": decimals(pa.decimal64(15, 2), 8),
    "decimal256": decimals(pa.decimal256(60, 5), 32),
    "dictionary of text": pa.array(["a", "b", "a"]).dictionary_encode(),
    "dictionary of moments": pa.array([0, 5, 0]).view(pa.timestamp("us")).dictionary_encode(),
    "json": extension(pa.json_(), ['{"a": 1}', "{bad", ""]),
    "uuid": extension(pa.uuid(), [b"\xff" * 16, b"\x00" * 16]),
    "bool8": extension(pa.bool8(), [0, 1, -128]),
    "nothing": pa.nulls(2),
    **NESTED,
}
GEOMETRIES = [struct.pack("<BIdd", 1, 1, 1.0, 2.0), struct.pack("<BIdd", 1, 99, 1.0, 2.0), *BYTES]
READ_AS = {
    "text": (dp.column("text", missing="drop"), "COUNT(DISTINCT {c})"),
    "int": (dp.bounds(-5, 20, type="int", missing=0), "SUM({c})"),
    "float": (dp.bounds(-1e3, 1e3, missing=0.0), "VAR_POP({c})"),
    "bool": (dp.column("bool", missing=False), "COUNT_IF({c})"),
    "date": (
        dp.bounds(dt.date(1, 1, 1), dt.date(9999, 12, 31), type="date", missing="drop"),
        "COUNT_IF({c} + 30 > DATE '2001-01-01' OR YEAR({c}) = 3)",
    ),
    "timestamp": (
        dp.column("timestamp", missing="drop"),
        "COUNT_IF({c} + INTERVAL 3 DAY > TIMESTAMP '2001-01-01 00:00:00')",
    ),
}


def repeated(column):
    """A table that has the column once for each type that it may be declared as, and ids."""
    column = pa.concat_arrays([column, pa.nulls(1, column.type)]) if len(column) else column
    return pa.table({f"c_{name}": column for name in READ_AS} | {"id": list(range(len(column)))})


def as_written(path, column, *, metadata=None, **options):
    pq.write_table(repeated(column).replace_schema_metadata(metadata), path, **options)
    return str(path)


def outcome(source):
    """Whether the columns are refused when opened, or questions about them are answered."""
    facts = {f"c_{kind}": fact for kind, (fact, _) in READ_AS.items()}
    asked = [
        f"{answer.format(c=f'c_{kind}')} AS in_{kind}" for kind, (_, answer) in READ_AS.items()
    ]
    questions = {
        dp.rows(): f"SELECT {', '.join(asked)} FROM data",
        dp.person("id", rows=1, groups=1): "SELECT c_text, COUNT(*) AS n FROM data GROUP BY 1",
    }
    for unit, question in questions.items():
        options = {"unit": unit, "budget": dp.epsilon(99, delta=1e-4), "name": "data"}
        try:
            s = dp.open(source, schema=dp.Schema(columns=facts), **options)
        except dp.DeniableError as refusal:
            return "refused" if refusal.fix else "refused without advice"
        try:
            s.sql(question).release(spend=dp.epsilon(1, delta=1e-9))
        except dp.DataFailure:
            return str(s.failures)
    return "answered"


@pytest.mark.parametrize("name", BY_ARROW)
def test_no_row_of_a_type_that_pyarrow_writes_can_stop_a_query(name, tmp_path):
    found = outcome(as_written(tmp_path / "a.parquet", BY_ARROW[name]))
    assert found == ("refused" if name in NESTED else "answered")


@pytest.mark.parametrize("name", NESTED)
def test_whether_a_column_is_refused_does_not_depend_on_rows(name, tmp_path):
    assert outcome(as_written(tmp_path / "a.parquet", BY_ARROW[name][:0])) == "refused"


@pytest.mark.parametrize("unit", ["ms", "us", "ns"])
def test_nor_can_moments_of_96_bits(unit, tmp_path):
    path = tmp_path / "a.parquet"
    column = raw(pa.timestamp(unit))
    assert outcome(as_written(path, column, use_deprecated_int96_timestamps=True)) == "answered"


def test_nor_can_a_value_that_is_no_geometry(tmp_path):
    """The format is in the file's metadata, and no type of the column."""
    listed = {f"c_{kind}": {"encoding": "WKB", "geometry_types": []} for kind in READ_AS}
    geo = {"version": "1.1.0", "primary_column": "c_text", "columns": listed}
    metadata = {b"geo": json.dumps(geo).encode()}
    path = as_written(tmp_path / "a.parquet", pa.array(GEOMETRIES), metadata=metadata)
    assert duckdb.execute(f"DESCRIBE FROM '{path}'").fetchall()[0][1].startswith("GEOMETRY")
    assert outcome(path) == "answered"


def _by_duckdb():
    """DuckDB's own list of types: of each its least value, its greatest, and a missing one."""
    with duckdb.connect() as engine:
        columns = engine.execute("DESCRIBE FROM test_all_types()").fetchall()
    return {name: kind for name, kind, *_ in columns if name != "empty_struct"}  # not written


BY_DUCKDB = _by_duckdb()


@pytest.mark.parametrize("name", [*BY_DUCKDB, "json", "variant"])
def test_no_row_of_a_type_that_duckdb_writes_can_stop_a_query(name, tmp_path):
    path = tmp_path / "a.parquet"
    made = f'"{name}"' if name in BY_DUCKDB else f"""'{{"a": [1]}}'::{name}"""
    columns = ", ".join(f"{made} AS c_{kind}" for kind in READ_AS)
    with duckdb.connect() as engine:
        engine.execute(
            f"COPY (SELECT {columns}, row_number() OVER () AS id FROM test_all_types()) "
            f"TO '{path}' (FORMAT parquet)"
        )
        spelled = engine.execute(f"DESCRIBE FROM '{path}'").fetchall()[0][1]
    nested = spelled.endswith("]") or spelled.startswith(("STRUCT", "MAP", "VARIANT"))
    assert outcome(str(path)) == ("refused" if nested else "answered")


OF_ANY_BITS = [name for name in BY_ARROW if name.startswith(("decimal ", "time ", "date32"))]
OF_ANY_BITS += ["timestamp us", "timestamp ns", "duration us"]


@pytest.mark.parametrize("name", OF_ANY_BITS)
def test_nor_can_rows_of_any_bits_in_frames_and_tables_of_duckdb(name):
    """Neither checks what it is given."""
    rows = repeated(BY_ARROW[name])
    assert outcome(rows) == "answered"
    with duckdb.connect() as engine:
        engine.register("rows_from_elsewhere", rows)
        engine.execute("CREATE TABLE data AS FROM rows_from_elsewhere")
        engine.unregister("rows_from_elsewhere")
        assert outcome(engine) == "answered"


def test_a_nested_column_does_not_stand_in_the_way_of_others(tmp_path):
    path = tmp_path / "a.parquet"
    table = pa.table({"c": [[1], None], "x": [1.0, 2.0], "element": ["a", "b"]})
    pq.write_table(table, path)
    facts = {"x": dp.bounds(0, 9, missing=0.0)}
    s = dp.open(str(path), unit=dp.rows(), budget=dp.epsilon(9), schema=dp.Schema(columns=facts))
    for query in itertools.product(["COUNT(*)", "SUM(x)"], ["", " WHERE element = 'a'"]):
        s.sql(f"SELECT {query[0]} AS n FROM a{query[1]}").release(spend=dp.epsilon(1))
    with pytest.raises(dp.BadParameter, match="lists and structs in Parquet") as refused:
        s.sql("SELECT COUNT(*) AS n FROM a WHERE c = 'a'")
    flat = tmp_path / "new.parquet"
    advised = refused.value.fix[0] if isinstance(refused.value.fix, tuple) else refused.value.fix
    statement = advised.split("    ")[0].replace("'old.parquet'", f"'{path}'")
    duckdb.execute(statement.replace("'new.parquet'", f"'{flat}'"))
    facts["c"] = dp.column("text", missing="drop")
    s = dp.open(str(flat), unit=dp.rows(), budget=dp.epsilon(9), schema=dp.Schema(columns=facts))
    s.sql("SELECT COUNT(*) AS n FROM new WHERE c = '[1]'").release(spend=dp.epsilon(1))
