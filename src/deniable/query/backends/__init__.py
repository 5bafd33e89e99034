"""Backends: the engines that hold the data and do the heavy work.

engine      what each can do
duckdb      files, frames, DuckDB, and what Ibis fetches: embedded, the default
postgres    PostgreSQL
spark       Spark SQL
columns     which columns a question reads
frames      frames as Arrow
ibis        columns that travel
csv_files   CSV files, read so that no row can affect another
files       that changed after they were opened
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
    """The engine that can read all of these tables; told by public facts alone."""
    kinds = {table.kind for table in tables}
    for name in ("DuckDB", "Postgres", "Spark"):  # the next is imported if this one cannot
        engine: type[Engine] = getattr(import_module(f".{name.lower()}", __name__), name)
        if kinds <= engine.kinds:
            if len(engine.places(tables)) > 1:
                raise UnsupportedQuery("these tables are held in two places", fix=_ONE_PLACE)
            return engine
    listed = ", ".join(sorted(kinds))
    raise UnsupportedQuery(
        f"no engine reads tables of these kinds together: {listed}",
        fix=_ONE_PLACE,
    )
