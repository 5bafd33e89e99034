"""The columns of a file that has no schema yet: names and types alone, never values."""

from __future__ import annotations

from pathlib import Path

from deniable import units
from deniable.errors import BadParameter
from deniable.fixes import Fix
from deniable.schema import Column, column

from . import sources
from .sources import csv_files
from .tables import check_names


def columns(path: Path, *, header: bool) -> tuple[dict[str, Column], list[str]]:
    """The columns of a file, and the names of those whose type is not supported.

    Those of a CSV have no types; `header` says that its first line contains their names.
    """
    if path.suffix.lower() == ".csv":
        return {name: column("text") for name in _names(path, header=header)}, []
    return of_source(path, path.stem)


def of_source(source: object, table: str) -> tuple[dict[str, Column], list[str]]:
    """The columns of one table of whatever a session can open, and those not supported."""
    looked = sources.tables(source, schema=None, unit=units.rows(), name=None)
    if table not in looked:
        raise BadParameter(f"there is no table `{table}`", fix=", ".join(list(looked)[:20]))
    found = looked[table]
    return dict(found.columns), list(found.unread)


def _names(path: Path, *, header: bool) -> list[str]:
    """The first line of a CSV, if the caller says that it contains column names."""
    if not path.is_file():
        raise BadParameter(f"there is no file {path}")
    if not header:
        raise BadParameter(
            f"the first line of {path.name} could be column names or somebody's data",
            why="column names are public, but people's values are not",
            fix=Fix("--header", fields={"header": "yes"}, command="--header",
                    note="if the first line contains column names"),
        )  # fmt: skip
    names = max((names for _, names in csv_files.first_line(path)), key=len)
    return check_names(names, table=path.stem)
