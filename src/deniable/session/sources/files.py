"""Files of one kind on this machine, as they were when they were opened.

Whether they changed is found before the charge, and told with its own advice. Only public facts are
compared: that a file is there, and the names of its columns. Size, date and content depend on
people's rows, so a file with the same columns passes for the one that was opened; the curator says
by `version=` that it is another.
"""

from __future__ import annotations

import glob
import re
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any, TypeVar

from deniable.errors import BadParameter, DeniableError, NotReady
from deniable.session.tables import connecting, no_file

from .source import KINDS, Source

T = TypeVar("T")


class Files(Source):
    """One table in several files; `held` are their absolute paths."""

    def unchanged(self, table: str, connection: Any, describe: Callable[[], T]) -> T:
        import duckdb

        for path in self.held:
            reason = _unreadable(path)
            if reason is not None:
                raise NotReady(
                    f"{path}: {reason}",
                    why="the file was there when the session was opened; "
                    "it was moved, deleted or locked since",
                    fix=(
                        "put the file back, and ask again",
                        "open a session on the file's new path",
                    ),
                )
        try:
            found = describe()
            difference = self.difference(connection)
            if difference is None:
                return found
        except DeniableError:
            raise
        except (duckdb.Error, OSError, ValueError, KeyError):  # the last two are PyArrow's
            difference = self.difference(connection)
        raise NotReady(  # out here, so that the engine's own words do not travel with it
            difference
            or f"the files of `{table}` no longer have the columns that they had when opened",
            why="a file was replaced or changed since the session was opened",
            fix=(
                "put the file back, and ask again",
                'open a session on the new file, with another version="..." for the new data',
            ),
        )

    def difference(self, connection: Any) -> str | None:
        """None if public facts show no change; else what changed, or nothing to say about it."""
        raise AssertionError("each kind of file has its own")


def of_one_kind(text: str, name: str | None, endings: Iterable[str]) -> tuple[str, str, list[str]]:
    """The name of the table, the ending of its files, and where they are.

    A path that is there is that file, whatever its letters; any other is a pattern.
    """
    if "://" in text:
        raise BadParameter(
            "a path must be of this machine",
            fix="open it with DuckDB and give the connection",
        )
    path = Path(text).expanduser().absolute()
    paths = [path] if path.exists() else sorted(map(Path, glob.glob(str(path), recursive=True)))  # noqa: PTH207  (`Path.glob` finds hidden files, too)
    if not paths:
        raise no_file(path)
    found = {p.suffix.lower() for p in paths}
    if any(p.is_dir() for p in paths):
        raise BadParameter(f"{text} is a folder", fix=f"{text.rstrip('/')}/*.parquet")
    if len(found) > 1 or not found <= set(endings):
        raise BadParameter(f"{text} is neither .csv nor .parquet", fix=connecting(text) or KINDS)
    return name or _stem(path), found.pop(), [str(p) for p in paths]


def _stem(path: Path) -> str:
    """The file's stem; of a glob, what is left of it without the wild parts."""
    plain = re.sub(r"[*?]+|\[[^\]]*\]", "", path.stem).strip("-_. ")
    parents = (re.sub(r"[*?\[\]]+", "", parent.name) for parent in path.parents)
    return plain or next(filter(None, parents), "data")


def call(reader: str, paths: Iterable[str], options: Mapping[str, str]) -> str:
    """DuckDB's reader over paths, each of which is that of one file, whatever its letters."""
    listed = ", ".join(text(glob.escape(path)) for path in paths)
    return f"{reader}({', '.join([f'[{listed}]', *(f'{k} = {v}' for k, v in options.items())])})"


def text(value: str) -> str:
    """A text constant in SQL."""
    return "'" + value.replace("'", "''") + "'"


def _unreadable(path: str) -> str | None:
    try:
        with Path(path).open("rb"):
            return None
    except OSError as error:
        return error.strerror or "cannot be read"
