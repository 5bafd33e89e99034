"""Backends: the engines that hold the data and do the heavy work.

engine      which reads a question's tables, and what each can do
duckdb      files, frames, DuckDB, and what Ibis fetches: embedded, the default
postgres    PostgreSQL
spark       Spark SQL
private_files   where rows are written for a while: private, and removed
"""

from __future__ import annotations

from .engine import Engine, engine_for

__all__ = ["Engine", "engine_for"]
