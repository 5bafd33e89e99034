"""What Parquet files say of their columns: names and types, which are public."""

from __future__ import annotations

import glob
import re
from collections.abc import Mapping
from typing import Final

from deniable.errors import BadParameter

from .tables import check_names

_NESTED: Final = re.compile(r".*\]|(STRUCT|MAP|UNION|VARIANT)\b.*", re.DOTALL)


def columns(name: str, paths: list[str]) -> dict[str, str]:
    """Names and types from the files' footers; the statistics beside them are not read."""
    import duckdb

    footers = (
        "SELECT DISTINCT list((name, type, num_children)) FROM parquet_schema(?) GROUP BY file_name"
    )
    # Folder names such as year=2020 tell which years somebody is in: they are no columns here.
    columns_of = "DESCRIBE FROM read_parquet(?, hive_partitioning = false)"
    try:
        with duckdb.connect() as engine:
            literal = [glob.escape(path) for path in paths]
            shapes = engine.execute(footers, [literal]).fetchall()
            found = engine.execute(columns_of, [literal]).fetchall()
    except duckdb.Error:
        shapes, found = [], []
    if not shapes:
        raise BadParameter(f"`{name}` cannot be read as Parquet")
    if len(shapes) > 1:
        raise BadParameter(f"the files of `{name}` do not have the same columns and types")
    root, *fields = shapes[0][0]
    if root[2] == len(fields):  # flat: the engine would rename a column that is there twice
        check_names([field[0] for field in fields], table=name)
    return {column: kind for column, kind, *_ in found}


def nested(spelled: Mapping[str, str]) -> dict[str, str]:
    """Columns of lists, structs and maps, which are refused.

    How long a list is, and whether it is there, is stored beside its values; a file in which the
    two disagree for one row (as DuckDB writes arrays of a fixed size with one missing) stops Arrow.
    """
    return {name: kind for name, kind in spelled.items() if _NESTED.fullmatch(kind)}
