"""Which columns a question reads, and tables cut down to them before anything is fetched."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from deniable.query.algebra import Relation, Scan, walk
from deniable.session.tables import Table


def needed(relation: Relation, tables: Mapping[str, Table]) -> list[Table]:
    """The tables a relation reads, each once, with no columns to fetch that it does not read."""
    reads: dict[str, list[str]] = {}
    for scan in _scans(relation):
        columns = [read.source for read in scan.reads]
        columns += [] if scan.id is None else [scan.id.source]
        reads.setdefault(scan.table, []).extend(columns)
    return [
        replace(table, source=table.source.only(list(dict.fromkeys(read))))
        for table, read in ((tables[name], read) for name, read in reads.items())
    ]


def table_names(relation: Relation) -> list[str]:
    """The tables a relation reads, each once."""
    return list(dict.fromkeys(scan.table for scan in _scans(relation)))


def _scans(relation: Relation) -> list[Scan]:
    return [each for each in walk(relation) if isinstance(each, Scan)]
