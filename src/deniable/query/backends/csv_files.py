"""CSV files, read so that nothing in one row can touch another.

Whoever writes a CSV must put quotes around separators, quotes and ends of lines, as RFC 4180 says.
Then a row is what its writer wrote, whatever its values are:

    one thread     a reader that starts in the middle of a file guesses whether it is inside quotes;
                   a text that spans the place could pass for rows of other people
    one line end   rows end as the first line does (in CR LF, LF or CR), whatever is in them: any
                   other line end inside a row is read as a space, in a copy of the file
    dropped alone  a row with too few or too many cells, bytes that are not UTF-8, or millions of
                   characters is left out, and the others stay

Not all writers quote another line end than their own: csv.writer of Python 3.12, and so pandas,
leaves a carriage return bare where lines end in a line feed. DuckDB refuses a whole file that mixes
them, so that one person's text would stop the answer about everybody.
"""

from __future__ import annotations

import os
import re
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, Final

from sqlglot import exp

from deniable.query.compile import nodes as sql
from deniable.session.tables import Table

_PIECE: Final = 1 << 20


def reading(table: Table, *, folder: Path) -> tuple[list[str], dict[str, Any]]:
    """The paths and options for DuckDB's reader; files that need changes are copied into `folder`.

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
    return [_with_one_end(path, folder) for path in table.source], options


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


def _with_one_end(path: str, folder: Path) -> str:
    """The path itself, or that of a copy in which every line end is the first one."""
    end = _first_end(path)
    if not any(_others(part, end) for part in _parts(path)):
        return path
    number, copy = tempfile.mkstemp(suffix=".csv", dir=folder)
    with os.fdopen(number, "wb") as file:
        for part in _parts(path):
            file.write(_settled(part, end))
    return copy


def _first_end(path: str) -> bytes:
    """How the line of column names ends: a public fact."""
    for part in _parts(path):
        found = re.search(rb"\r\n|\n|\r", part)
        if found is not None:
            return found[0]
    return b"\n"


def _others(part: bytes, end: bytes) -> bool:
    """Whether there is a line end of another kind."""
    if end != b"\r\n":
        return (b"\r" if end == b"\n" else b"\n") in part
    return not part.count(b"\r\n") == part.count(b"\r") == part.count(b"\n")


def _settled(part: bytes, end: bytes) -> bytes:
    r"""Other line ends as spaces; both characters together still end a row that either would end.

    >>> [_settled(b"a\rb\nc\r\n", end) for end in (b"\n", b"\r", b"\r\n")]
    [b'a b\nc\n', b'a\rb c\r', b'a b c\r\n']
    """
    if end == b"\r\n":
        return re.sub(rb"\r(?!\n)|(?<!\r)\n", b" ", part)
    return part.replace(b"\r\n", end).replace(b"\r" if end == b"\n" else b"\n", b" ")


def _parts(path: str) -> Iterator[bytes]:
    """A file in pieces that cut no CR LF in two."""
    with Path(path).open("rb") as file:
        while part := file.read(_PIECE):
            while part.endswith(b"\r") and (more := file.read(1)):
                part += more
            yield part
