"""From what people have to tables: files, frames, connections, or several by name.

Only column names and types are looked at, never rows: not their number, not the statistics that a
file keeps of itself, not what pandas or a CSV reader would guess from values.

    source             what a session and the engines can ask of every source
    files              what all kinds of files have in common
    csv_files          CSV files, read so that no row can affect another
    parquet_files      Parquet files, read where they are
    pandas_frames      pandas frames
    polars_frames      Polars frames, lazy or not
    arrow_tables       PyArrow tables and data sets
    arrow_values       Arrow columns in which no value can stop the engine
    duckdb_tables      tables and views of a DuckDB connection
    duckdb_relations   DuckDB relations
    postgres_tables    tables and views of a Postgres server
    spark_frames       Spark frames
    ibis_tables        Ibis tables and connections
    ibis_rows          columns fetched through Ibis
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import replace
from importlib import import_module
from typing import Any, Final

from deniable import parameters
from deniable.errors import BadParameter, UnknownName
from deniable.schema import Schema
from deniable.session import identity
from deniable.session.tables import Table, TableOutline, check_unit, described
from deniable.units import Unit

from . import files
from .source import KINDS, Source

__all__ = ["Source", "TableOutline", "tables"]

# The module of each kind, by what identifies it: the start of an address, the ending of a file's
# name, or the package that a class comes from.
_HOMES: Final = {
    "postgresql://": "postgres_tables",
    "postgres://": "postgres_tables",
    ".csv": "csv_files",
    ".parquet": "parquet_files",
    "pandas": "pandas_frames",
    "polars": "polars_frames",
    "pyarrow": "arrow_tables",
    "duckdb": "duckdb_tables",
    "psycopg": "postgres_tables",
    "pyspark": "spark_frames",
    "ibis": "ibis_tables",
}


def tables(
    source: object, *, schema: Schema | None, unit: Unit, name: str | None
) -> dict[str, Table]:
    """Every table of a source by name, described from public facts."""
    if isinstance(source, Mapping):
        found = [each for key, part in source.items() for each in _of_mapping(key, part)]
        if name is not None:
            raise BadParameter(
                "name= is for a single table; the keys of this dictionary already name the tables"
            )
    else:
        found = _found(source, name, schema)
    wanted = _wanted(found, schema)
    if schema is not None and not schema.tables and len(wanted) > 1:
        schema = replace(schema, size=None)  # that of all tables together is that of none
    known = {each.name: _described(each, schema, unit) for each in wanted}
    check_unit(unit, known)
    return known


def _of_mapping(name: object, part: object) -> list[TableOutline]:
    if not isinstance(name, str) or not name:
        raise BadParameter.of("the name of a table", name, must="text")
    if isinstance(part, Mapping | list | tuple):
        raise BadParameter(
            f"`{name}` is a {type(part).__name__}, not a table",
            fix=f'{{"{name}": pandas.DataFrame(...)}}',
        )
    return _found(part, name, None)


def _wanted(found: list[TableOutline], schema: Schema | None) -> list[TableOutline]:
    """The tables, if the schema fits them; one that it does not mention is kept as it is stored."""
    if schema is None or not schema.tables:
        if schema is not None and schema.columns and len(found) > 1:
            raise BadParameter(
                "the schema describes one table, and the source has several",
                fix='dp.Schema(tables={"people": dp.Schema(columns=...), ...})',
            )
        return found
    by_name = {each.name: each for each in found}
    for name in schema.tables:
        if name not in by_name:
            raise UnknownName.of("table", name, known=by_name)
    return found


def _described(found: TableOutline, schema: Schema | None, unit: Unit) -> Table:
    facts = schema
    if facts is not None and facts.tables:
        facts = facts.tables.get(found.name)
    if unit.column is not None and (facts is None or not facts.public):
        identity.check(found, unit.column)
    return described(found.source.declared(found, facts), facts)


def _found(source: object, name: str | None, schema: Schema | None) -> list[TableOutline]:
    if not isinstance(source, str | os.PathLike):
        return look_by_class(source, name, schema)
    text = os.fspath(source)
    for start in _HOMES:
        if "://" in start and isinstance(source, str) and text.startswith(start):
            return _look(start, text, name, schema)
    called, ending, paths = files.of_one_kind(text, name, [k for k in _HOMES if k[0] == "."])
    return _look(ending, paths, called, schema)


def look_by_class(source: object, name: str | None, schema: Schema | None) -> list[TableOutline]:
    """The tables of a frame or a connection."""
    for kind in type(source).__mro__:
        package = kind.__module__.split(".")[0].lstrip("_")
        if package in _HOMES:
            return _look(package, source, name, schema)
    raise BadParameter(
        f"cannot open {parameters.a_kind(source)}",
        fix=KINDS,
        hint="pandas.DataFrame(...)" if isinstance(source, list | tuple) else "",
    )


def _look(kind: str, given: object, name: str | None, schema: Schema | None) -> list[TableOutline]:
    home: Any = import_module(f".{_HOMES[kind]}", __name__)
    found: list[TableOutline] = home.look(given, name, schema)
    return found
