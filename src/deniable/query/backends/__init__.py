"""Backends: the engines that hold the data and do the heavy work.

engine      what each can do
duckdb      files, frames, DuckDB, and what Ibis fetches: embedded, the default
postgres    PostgreSQL
spark       Spark SQL
columns     which columns a question reads
frames      frames as Arrow
ibis        columns that travel
"""

from __future__ import annotations

from collections.abc import Sequence

from deniable.errors import UnsupportedQuery
from deniable.session.tables import Table

from .engine import Engine

__all__ = ["Engine", "engine_for"]


def engine_for(tables: Sequence[Table]) -> type[Engine]:
    """The engine that can read all of these tables; told by their kinds alone."""
    from .duckdb import DuckDB
    from .postgres import Postgres
    from .spark import Spark

    kinds = {table.kind for table in tables}
    for engine in (DuckDB, Postgres, Spark):
        if kinds <= engine.kinds:
            return engine
    listed = ", ".join(sorted(kinds))
    raise UnsupportedQuery(
        f"no engine reads tables of these kinds together: {listed}",
        fix="ask about tables that are held in one place",
    )
