"""People's rows, read whole: for a curator's own eyes, before anything is published.

Nothing here has noise or a price. What such a command answers is as confidential as the file it
read, and says so.
"""

from __future__ import annotations

import glob
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from deniable import parameters
from deniable.errors import BadParameter, DataFailure, UnknownName

from . import talk

if TYPE_CHECKING:
    import pyarrow as pa

CONFIDENTIAL = (
    "This is confidential: it states exact facts about the people in the table. "
    "Keep it where the table is kept, and do not publish it."
)


def read(path: Path) -> pa.Table:
    """All rows of a Parquet or CSV file; the first line of a CSV names its columns."""
    _known(path, (".parquet", ".csv"))
    if not path.is_file():
        raise BadParameter(f"there is no file {path}")
    import duckdb

    from deniable.anonymity.tables import arrow
    from deniable.query.backends.private_files import own_duckdb

    try:
        with own_duckdb() as engine:
            if path.suffix.lower() == ".csv":
                return arrow(engine.read_csv(glob.escape(str(path)), header=True))
            return arrow(engine.read_parquet(glob.escape(str(path))))
    except duckdb.Error:
        raise DataFailure(
            f"{path.name} cannot be read as {path.suffix[1:].upper()}",
            why="what the reader says of it may hold people's values, so it is not shown",
        ) from None


def unit_of(path: Path, given: str | None, table: pa.Table) -> str | None:
    """The column that identifies people: as given, or as the schema beside the file says."""
    if given is not None:
        if given not in table.column_names:
            raise UnknownName.of("column", given, known=table.column_names)
        return given
    beside = path.with_suffix(".toml")
    if not beside.is_file():
        return None
    from deniable.schema import Schema

    facts = Schema.from_toml(beside)
    facts = (facts.tables or {}).get(path.stem, facts)
    column = None if facts.unit is None else facts.unit.column
    if column not in table.column_names:
        return None
    talk.say(f"counting people, identified by {column} ({beside.name})")
    return column


def fresh(path: Path, *, suffixes: Sequence[str], force: bool) -> Path:
    """A file to write: of a kind that can be written, and not there yet unless it may be replaced.

    Checked before anything is read.
    """
    _known(path, suffixes)
    if path.exists() and not force:
        raise BadParameter(f"{path} exists", fix="--force    to replace it")
    return parameters.target(path)


def write(table: pa.Table, path: Path) -> None:
    """A table as CSV or Parquet, by the ending of the file."""
    if path.suffix.lower() == ".csv":
        from pyarrow.csv import write_csv

        write_csv(table, path)
    else:
        from pyarrow.parquet import write_table

        write_table(table, path)


def names(text: str | None) -> list[str]:
    """Names of columns, as age,zip,sex.

    >>> names("age, zip"), names(None)
    (['age', 'zip'], [])
    """
    return [name.strip() for name in (text or "").split(",") if name.strip()]


def answer(text: object, record: Mapping[str, object], *, json: bool) -> None:
    """What was found, and that it is confidential."""
    talk.answer(f"{text}\n{CONFIDENTIAL}", {"confidential": CONFIDENTIAL, **record}, json=json)


def counted(person: str | None) -> None:
    """Say that rows stand for people, where no column identifies them."""
    if person is None:
        talk.say("each row counts as one person; if people have several rows, give --unit COLUMN")


def _known(path: Path, suffixes: Sequence[str]) -> None:
    if path.suffix.lower() not in suffixes:
        kinds = " or ".join(suffixes)
        raise BadParameter.of("the file", str(path), must=f"a name that ends in {kinds}")
