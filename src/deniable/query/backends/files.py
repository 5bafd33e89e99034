"""Files that changed after they were opened: found before the charge, each with its own advice.

Only public facts are compared: that a file is there, and the names of its columns. Size, date and
content depend on people's rows, so a file with the same columns passes for the one that was opened;
the curator says by `version=` that it is another.
"""

from __future__ import annotations

import csv
from collections.abc import Callable, Collection
from pathlib import Path
from typing import Final, TypeVar

from deniable.errors import DeniableError, NotReady
from deniable.session.tables import Table

T = TypeVar("T")

_LONGEST_LINE: Final = 1 << 20


def described(
    table: Table,
    describe: Callable[[Table], tuple[T, dict[str, str]]],
    *,
    columns: Callable[[str], Collection[str]],
) -> tuple[T, dict[str, str]]:
    """What `describe` finds of a table: anything, and its columns; files are checked before.

    `columns` gives those of one Parquet file.
    """
    if table.kind not in ("csv", "parquet"):
        return describe(table)
    import duckdb

    _check_there(table)
    try:
        found = describe(table)
        if table.kind == "csv" or not _difference(table, columns):
            return found
    except DeniableError:
        raise
    except (duckdb.Error, OSError, ValueError, KeyError):  # the last two are PyArrow's
        pass
    raise _replaced(
        table, _difference(table, columns)
    )  # out here, so that the engine's own words do not travel with it


def _check_there(table: Table) -> None:
    """Each file is still there and can be read, and a CSV has the same first line."""
    for path in table.source:  # type: ignore[attr-defined]
        reason = _unreadable(path)
        if reason is not None:
            raise _refused(path, reason)
        if table.kind == "csv" and _first_line(path, table.delimiter) != table.header:
            raise _replaced(table)


def _unreadable(path: str) -> str | None:
    try:
        with Path(path).open("rb"):
            return None
    except OSError as error:
        return error.strerror or "cannot be read"


def _first_line(path: str, delimiter: str) -> tuple[str, ...]:
    """The names of the columns, as they were read when the file was opened."""
    try:
        with Path(path).open("rb") as file:
            line = file.readline(_LONGEST_LINE).splitlines()[0].decode("utf-8-sig")
        return tuple(next(csv.reader([line], delimiter=delimiter), ()))
    except (OSError, IndexError, UnicodeDecodeError, csv.Error):
        return ()


def _refused(path: str, reason: str) -> NotReady:
    return NotReady(
        f"{path}: {reason}",
        why="the file was there when the session was opened; it was moved, deleted or locked since",
        fix=("put the file back, and ask again", "open a session on the file's new place"),
    )


def _difference(table: Table, columns: Callable[[str], Collection[str]]) -> str:
    """What the public can know of how files changed: no Parquet any more, or a column is gone.

    Each file is looked at, since engines take the columns of all files from the first.
    """
    import duckdb

    for path in table.source if table.kind == "parquet" else ():  # type: ignore[attr-defined]
        try:
            names = columns(path)
        except (duckdb.Error, OSError):
            return f"`{Path(path).name}` is not a readable Parquet file any more"
        gone = [column for column in table.header if column not in names]
        if gone:
            return f"`{Path(path).name}` no longer has a column `{gone[0]}`"
    return ""


def _replaced(table: Table, difference: str = "") -> NotReady:
    return NotReady(
        difference
        or f"the files of `{table.name}` no longer have the columns that they had when opened",
        why="a file was replaced or changed since the session was opened",
        fix=(
            "put the file back, and ask again",
            'open a session on the new file, with another version="..." for the new data',
        ),
    )
