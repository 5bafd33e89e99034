"""Parquet files: columns from the footers alone, read in place unless a value could stop it."""

import datetime as dt
from pathlib import Path

import duckdb
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import deniable as dp
from deniable.session.sources.parquet_files import ParquetFiles, _nested, look

DAY = dt.datetime(2024, 1, 1)  # noqa: DTZ001
TABLE = pa.table({
    "age": [1], "city": ["a"], "seen": pa.array([DAY], pa.timestamp("us")),
    "ms": pa.array([DAY], pa.timestamp("ms")), "time": pa.array([dt.time(1)], pa.time64("us")),
})  # fmt: skip


@pytest.fixture
def files(tmp_path):
    def made(*tables):
        paths = []
        for number, table in enumerate(tables):
            paths.append(str(tmp_path / f"part [{number}].parquet"))
            pq.write_table(table, paths[-1])
        return paths

    return made


@pytest.fixture
def engine():
    with duckdb.connect() as connection:
        yield connection


def test_types_are_those_of_the_footers_and_nested_columns_are_refused(files):
    paths = files(TABLE.append_column("list", [[[1, 2]]]))
    (found,) = look(paths, "visits", None)
    assert (found.name, found.source.held) == ("visits", tuple(paths))
    assert {n: found.types[n] for n in ("age", "city", "seen")} == {
        "age": "int", "city": "text", "seen": "timestamp",
    }  # fmt: skip
    assert list(found.refused) == ["list"]


@pytest.mark.parametrize(
    ("kind", "refused"),
    [
        ("INTEGER[]", True), ("INTEGER[3]", True), ("STRUCT(a INTEGER)", True), ("MAP(A, B)", True),
        ("VARIANT", True), ("INTEGER", False), ("STRUCTURED", False), ("DECIMAL(9,2)", False),
    ],
)  # fmt: skip
def test_lists_structs_and_maps_are_nested(kind, refused):
    assert _nested([("a", kind)]) == ({"a": kind} if refused else {})


def test_files_that_are_no_parquet_or_differ_are_refused(files, tmp_path):
    broken = tmp_path / "broken.parquet"
    (whole,) = files(TABLE)
    for held in (b"no parquet", b"", Path(whole).read_bytes()[:-9], b"PAR1PAR1"):
        broken.write_bytes(held)
        with pytest.raises(dp.BadParameter, match="cannot be read as Parquet") as caught:
            look([whole, str(broken)], "visits", None)
        assert caught.value.what.endswith(f": {broken}")
        assert "again" in caught.value.fix
    with pytest.raises(dp.BadParameter, match="do not have the same columns"):
        look(files(TABLE, TABLE.select(["age"])), "visits", None)
    assert look(files(TABLE, TABLE), "visits", None)
    twice = pa.table([pa.array([1]), pa.array([2])], names=["a", "A"])
    with pytest.raises(dp.BadParameter, match="two columns named"):
        look(files(twice), "visits", None)


@pytest.mark.parametrize(
    ("columns", "in_place"),
    [(["age"], True), (["age", "city", "seen"], True), (["age", "ms"], False), (["time"], False)],
)
def test_what_no_value_can_stop_is_read_in_place(files, engine, columns, in_place):
    source = ParquetFiles(held=tuple(files(TABLE))).only(columns)
    place = source.in_place(engine)
    assert (place is not None) == in_place
    if in_place:
        assert engine.execute(f"SELECT {', '.join(columns)} FROM {place}").fetchall()
    assert source.none().rows().num_rows == 0
    assert source.rows().read_all().column_names == columns


def test_a_file_that_lost_a_column_or_is_broken_is_told(files, engine):
    paths = files(TABLE, TABLE)
    source = ParquetFiles(held=tuple(paths)).only(["age", "city"])
    assert source.file_size == sum(len(Path(path).read_bytes()) for path in paths)
    assert source.difference(engine) is None
    pq.write_table(TABLE.select(["age", "seen"]), paths[1])
    assert source.difference(engine) == "`part [1].parquet` no longer has a column `city`"
    Path(paths[0]).write_bytes(b"broken")
    assert source.difference(engine) == "`part [0].parquet` is not a readable Parquet file any more"
