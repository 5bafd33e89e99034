"""Which columns a question reads, and tables cut down to them before anything is fetched."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from deniable.query.algebra import Join, Relation, Scan, Union
from deniable.session.tables import Table


def needed(relation: Relation, tables: Mapping[str, Table]) -> list[Table]:
    """The tables a relation reads, each once, with no columns to fetch that it does not read."""
    reads: dict[str, list[str]] = {}
    for scan in _scans(relation):
        columns = [read.source for read in scan.reads]
        columns += [] if scan.id is None else [scan.id.source]
        reads.setdefault(scan.table, []).extend(columns)
    return [_only(tables[name], list(dict.fromkeys(read))) for name, read in reads.items()]


def table_names(relation: Relation) -> list[str]:
    """The tables a relation reads, each once."""
    return list(dict.fromkeys(scan.table for scan in _scans(relation)))


def _scans(relation: Relation) -> list[Scan]:
    if isinstance(relation, Scan):
        return [relation]
    if isinstance(relation, Join | Union):
        return [*_scans(relation.left), *_scans(relation.right)]
    return _scans(relation.source)  # type: ignore[attr-defined]


def _only(table: Table, columns: Sequence[str]) -> Table:
    """Rows are counted by some column, whichever; engines that read in place need no help."""
    source: Any = table.source
    match table.kind:
        case "ibis":
            return replace(table, source=source.only(columns or list(source.types)[:1]))
        case "parquet":
            return replace(table, header=tuple(columns))
        case "polars":
            return replace(
                table, source=source.select(columns or source.collect_schema().names()[:1])
            )
        case "pandas":
            return replace(table, source=source[columns or list(source.columns)[:1]])
        case "arrow":
            chosen = columns or source.schema.names[:1]
            scanned = hasattr(source, "scanner")
            cut = source.scanner(columns=chosen) if scanned else source.select(chosen)
            return replace(table, source=cut)
        case "duckdb_relation":
            import duckdb

            picked = map(duckdb.ColumnExpression, columns or source.columns[:1])
            return replace(table, source=source.select(*picked))
    return table
