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

import csv
import os
import re
import shlex
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, ClassVar, Final

from deniable.errors import BadParameter
from deniable.fixes import Fix
from deniable.schema import Schema
from deniable.session.tables import TableOutline

from .files import Files, call, text
from .source import quoted

_LONGEST_LINE: Final = 1 << 20
_PIECE: Final = 1 << 20
_SCHEMA: Final = 'schema=dp.Schema(columns={"age": dp.bounds(0, 125), "city": dp.column("text")})'


@dataclass(frozen=True, kw_only=True)
class CsvFiles(Files):
    """CSV files; `header` is their first line, cut at the `delimiter`."""

    header: tuple[str, ...] = field(default=(), repr=False)
    delimiter: str = field(default=",", repr=False)

    kind: ClassVar = "csv"
    typed: ClassVar = False
    complete: ClassVar = False

    def declared(self, found: TableOutline, facts: Schema | None) -> TableOutline:
        """As the schema says; the first line only says where each column is.

        That line could be a row if the file has no header: so nothing of it is ever shown.
        """
        if facts is None or not facts.columns:
            raise BadParameter(
                f"`{found.name}` is a CSV: it needs a schema with types",
                why="types would have to be guessed from people's values",
                fix=(_SCHEMA, _started(self.held[0])),
            )
        headers = {_header(path, facts) for path in self.held}
        if len(headers) > 1:
            raise BadParameter(f"the files of `{found.name}` do not have the same first line")
        ((delimiter, header),) = headers
        missing = [column for column in facts.columns if column not in header]
        twice = [c for c in facts.columns if sum(h.lower() == c.lower() for h in header) > 1]
        if missing or twice:
            fault = f"no `{missing[0]}`" if missing else f"`{twice[0]}` more than once"
            raise BadParameter(
                f"the first line of `{found.name}` has {fault}",
                why="the first line of a CSV names its columns, "
                "and the schema must use the same names",
            )
        source = replace(self, header=header, delimiter=delimiter)
        return replace(found, source=source, types=dict.fromkeys(facts.columns))

    def difference(self, connection: Any) -> str | None:
        opened = [(self.delimiter, self.header)]
        return None if all(_cuts(p, self.delimiter) == opened for p in self.held) else ""

    def announce(self, connection: Any, view: str) -> None:
        columns = ", ".join(f"NULL::VARCHAR AS {quoted(name)}" for name in _different(self.header))
        connection.execute(f"CREATE TEMP VIEW {view} AS SELECT {columns} WHERE FALSE")

    def load(self, connection: Any, view: str, folder: Path) -> None:
        paths = [_with_one_end(path, folder) for path in self.held]
        reader = call("read_csv", paths, self.options())
        connection.execute(f"CREATE OR REPLACE TEMP VIEW {view} AS FROM {reader}")

    def options(self) -> dict[str, str]:
        """For DuckDB's reader: every column is text, in the order of the first line."""
        columns = ", ".join(f"{text(name)}: 'VARCHAR'" for name in _different(self.header))
        return {
            "auto_detect": "false",
            "header": "true",
            "delim": text(self.delimiter),
            "quote": text('"'),
            "escape": text('"'),
            "encoding": text("utf-8"),
            "ignore_errors": "true",
            "strict_mode": "true",
            "parallel": "false",
            "columns": f"{{{columns}}}",
        }


def look(paths: Sequence[str], name: str, _schema: Schema | None) -> list[TableOutline]:
    """Where the files are: the schema says the rest."""
    return [TableOutline(name=name, source=CsvFiles(held=tuple(paths)), types={})]


def _started(path: str | os.PathLike[str]) -> Fix:
    return Fix(
        f"deniable init {shlex.quote(os.fspath(path))} --header",
        note="writes a schema with the file's columns, to complete",
    )


def _header(path: str, facts: Schema) -> tuple[str, tuple[str, ...]]:
    """The first line, cut by whichever of the usual separators finds most of the schema's names."""
    return max(first_line(path), key=lambda cut: len(set(cut[1]) & set(facts.columns)))


def first_line(path: str | Path) -> list[tuple[str, tuple[str, ...]]]:
    """The first line of a file, cut at each of the usual separators; an error if it cannot be."""
    cuts = _cuts(path, ",;\t|")
    if not cuts:
        raise BadParameter(f"the first line of {Path(path).name} cannot be read as UTF-8 CSV")
    return cuts


def _cuts(path: str | Path, marks: str) -> list[tuple[str, tuple[str, ...]]]:
    """The first line, cut at each of these separators; nothing if it cannot be read."""
    try:
        with Path(path).open("rb") as file:  # as bytes: no row is decoded with it
            line = file.readline(_LONGEST_LINE).splitlines()[0].decode("utf-8-sig")
        return [(mark, tuple(next(csv.reader([line], delimiter=mark), ()))) for mark in marks]
    except (OSError, IndexError, UnicodeDecodeError, csv.Error):
        return []


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
