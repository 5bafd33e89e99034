"""Backends: the engines that hold the data and do the heavy work.

engine      what each can do
duckdb      files, frames, DuckDB, and what Ibis fetches: embedded, the default
postgres    PostgreSQL
spark       Spark SQL
columns     which columns a question reads
private_files   where rows are written for a while: private, and removed
"""

from __future__ import annotations

from collections.abc import Sequence
from importlib import import_module

from deniable.errors import UnsupportedQuery
from deniable.session.tables import Table

from .engine import Engine

__all__ = ["Engine", "engine_for"]

_ONE_PLACE = "ask about tables that are held in one place"


def engine_for(tables: Sequence[Table]) -> type[Engine]:
    """The engine that can read all of these tables; chosen by public facts alone."""
    engines = {table.source.engine for table in tables}
    if len(engines) > 1:
        listed = ", ".join(sorted({table.source.kind for table in tables}))
        raise UnsupportedQuery(
            f"no engine reads tables of these kinds together: {listed}",
            fix=_ONE_PLACE,
        )
    if len({table.source.place for table in tables} - {None}) > 1:
        raise UnsupportedQuery("these tables are held in two places", fix=_ONE_PLACE)
    (name,) = engines
    engine: type[Engine] = getattr(import_module(f".{name.lower()}", __name__), name)
    return engine
