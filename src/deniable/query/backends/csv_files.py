"""CSV files, read so that nothing in one row can touch another.

Whoever writes a CSV must put quotes around separators, quotes and ends of lines, as RFC 4180 says.
Then a row is what its writer wrote, whatever its values are:

    one thread     a reader that starts in the middle of a file guesses whether it is inside quotes;
                   a text that spans the place could pass for rows of other people
    strict         where rows end is not guessed: a file that mixes ends of lines is not read
    dropped alone  a row with too few or too many cells, bytes that are not UTF-8, or millions of
                   characters is left out, and the others stay

A lone carriage return is not quoted by all writers (csv.writer of Python 3.12 with lines that end
in a line feed, and so pandas): where lines end in a line feed it is read as a space.
"""

from __future__ import annotations

import contextlib
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from sqlglot import exp

from deniable.query.compile import nodes as sql
from deniable.session.tables import Table


def reading(table: Table, *, held: contextlib.ExitStack) -> tuple[list[str], dict[str, Any]]:
    """The paths and options for DuckDB's reader; `held` forgets what had to be copied.

    Every column is text, in the order of the first line: nothing is guessed.
    """
    assert isinstance(table.source, tuple)
    fields = [
        exp.PropertyEQ(this=sql.text(name), expression=sql.text("VARCHAR"))
        for name in _different(table.header)
    ]
    options = {
        "auto_detect": exp.false(),
        "header": exp.true(),
        "delim": sql.text(table.delimiter),
        "quote": sql.text('"'),
        "escape": sql.text('"'),
        "encoding": sql.text("utf-8"),
        "ignore_errors": exp.true(),
        "strict_mode": exp.true(),
        "parallel": exp.false(),
        "columns": exp.Struct(expressions=fields),
    }
    return [_without_returns(path, held) for path in table.source], options


def described(table: Table) -> Any:
    """An Arrow table without rows, in the columns that the reader brings."""
    import pyarrow as pa

    return pa.schema([(name, pa.string()) for name in _different(table.header)]).empty_table()


def _different(header: Sequence[str]) -> list[str]:
    """Columns that the schema does not name may share a name or have none: they get others."""
    seen: set[str] = set()
    made = []
    for place, name in enumerate(header):
        fresh = name if name and name.lower() not in seen else f"column {place} of the file"
        seen.add(fresh.lower())
        made.append(fresh)
    return made


def _without_returns(path: str, held: contextlib.ExitStack) -> str:
    """The path itself, or that of a copy without carriage returns if lines end in a line feed."""
    with Path(path).open("rb") as file:
        if b"\r" in file.readline() or not _anywhere(b"\r", file):
            return path
        file.seek(0)
        made = tempfile.NamedTemporaryFile(prefix="deniable-", suffix=".csv")  # noqa: SIM115
        copy = held.enter_context(made)
        for line in file:
            copy.write(line.replace(b"\r\n", b"\n").replace(b"\r", b" "))
        copy.flush()
    return copy.name


def _anywhere(mark: bytes, file: Any) -> bool:
    return any(mark in part for part in iter(lambda: file.read(1 << 20), b""))
