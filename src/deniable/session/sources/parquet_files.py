"""Parquet files, read where they are."""

from __future__ import annotations

import glob
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, ClassVar, Final, Self

from deniable.errors import BadParameter
from deniable.schema import Schema
from deniable.session.tables import TableOutline, check_names

from .files import Files, call
from .source import Source, outline

# Folder names such as year=2020 would reveal which years someone is in: they are not columns here.
# Statistics leave NaN out; text that is not UTF-8 stops nobody.
_OPTIONS: Final = {
    "hive_partitioning": "false",
    "can_have_nan": "true",
    "utf8_validation": "'replace'",
}
# The types whose values DuckDB reads from Parquet whatever their bits are.
_TOTAL: Final = (
    r"BOOLEAN|U?(TINYINT|SMALLINT|INTEGER|BIGINT)|FLOAT|DOUBLE|DECIMAL\(.*\)|VARCHAR|BLOB|UUID|DATE|"
    r"INTERVAL|TIMESTAMP(_NS)?|TIMESTAMP WITH TIME ZONE|TIMESTAMPTZ_NS"
)
_NESTED: Final = re.compile(r".*\]|(STRUCT|MAP|UNION|VARIANT)\b.*", re.DOTALL)


@dataclass(frozen=True, kw_only=True)
class ParquetFiles(Files):
    """Parquet files; `columns` are those that a question reads."""

    columns: tuple[str, ...] = field(default=(), repr=False)

    kind: ClassVar = "parquet"
    replaced: ClassVar = "?"

    @property
    def file_size(self) -> int:
        return sum(Path(path).stat().st_size for path in self.held)

    def only(self, columns: Sequence[str]) -> Self:
        return replace(self, columns=tuple(columns))

    def difference(self, connection: Any) -> str | None:
        """Each file is looked at, since engines take the columns of all files from the first."""
        import duckdb

        for path in self.held:
            try:
                names = {name for name, *_ in _described(connection, [path])}
            except (duckdb.Error, OSError):
                return f"`{Path(path).name}` is not a readable Parquet file any more"
            gone = [column for column in self.columns if column not in names]
            if gone:
                return f"`{Path(path).name}` no longer has a column `{gone[0]}`"
        return None

    def in_place(self, connection: Any) -> str | None:
        """Unless DuckDB's own reader of Parquet could stop at a value of a column that is read.

        It does for times, for moments in milliseconds, which reach farther than microseconds, and
        for text and bytes that have to be of a form (JSON, geometry): so all but `_TOTAL` come by
        way of Arrow.
        """
        asked = (
            "SELECT 1 FROM parquet_schema(?) WHERE list_contains(?, name) AND "
            "(NOT regexp_full_match(duckdb_type, ?) OR converted_type = 'TIMESTAMP_MILLIS' OR "
            "logical_type LIKE 'TimestampType%(MILLIS=M%')"
        )
        paths = [glob.escape(path) for path in self.held]
        stops = connection.execute(asked, [paths, list(self.columns), _TOTAL]).fetchall()
        return None if stops else call("read_parquet", self.held, _OPTIONS)

    def none(self) -> Source:
        return self._scanned().none()

    def rows(self) -> Any:
        return self._scanned().rows()

    def _scanned(self) -> Source:
        import pyarrow.dataset

        from .arrow_tables import ArrowTable

        files = pyarrow.dataset.dataset(list(self.held), format="parquet")
        return ArrowTable(held=files.scanner(columns=list(self.columns)))


def look(paths: Sequence[str], name: str, _schema: Schema | None) -> list[TableOutline]:
    """Names and types from the files' footers; the statistics beside them are not read."""
    import duckdb

    footers = (
        "SELECT DISTINCT list((name, type, num_children)) FROM parquet_schema(?) GROUP BY file_name"
    )
    try:
        with duckdb.connect() as engine:
            shapes = engine.execute(footers, [[glob.escape(path) for path in paths]]).fetchall()
            columns = _described(engine, paths)
    except duckdb.Error:
        shapes, columns = [], []
    if not shapes:
        raise BadParameter(
            f"`{name}` cannot be read as Parquet: {_unreadable(paths)}",
            why="the file is cut short, damaged or of another kind",
            fix="copy or write the file again; rename it if it is of another kind",
        )
    if len(shapes) > 1:
        raise BadParameter(f"the files of `{name}` do not have the same columns and types")
    root, *fields = shapes[0][0]
    if root[2] == len(fields):  # flat: the engine would rename a column that is there twice
        check_names([each[0] for each in fields], table=name)
    spelled = [column[:2] for column in columns]
    return [outline(ParquetFiles(held=tuple(paths)), name, spelled, refused=_nested(spelled))]


def _unreadable(paths: Sequence[str]) -> str:
    """The first file whose columns and types cannot be read; all of them if each can."""
    import duckdb

    with duckdb.connect() as engine:
        for path in paths:
            try:
                _described(engine, [path])
            except duckdb.Error:
                return path
    return ", ".join(paths)


def _nested(spelled: Iterable[tuple[str, ...]]) -> dict[str, str]:
    """Columns of lists, structs and maps, which are refused.

    How long a list is, and whether it is there, is stored beside its values; a file in which the
    two disagree for one row (as DuckDB writes arrays of a fixed size with one missing) stops Arrow.
    """
    return {name: kind for name, kind in spelled if _NESTED.fullmatch(kind)}


def _described(connection: Any, paths: Sequence[str]) -> list[tuple[str, ...]]:
    asked = f"DESCRIBE FROM {call('read_parquet', paths, _OPTIONS)}"
    described: list[tuple[str, ...]] = connection.execute(asked).fetchall()
    return described
