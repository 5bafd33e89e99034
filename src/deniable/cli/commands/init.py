"""deniable init: write a schema for a table, from its column names and types alone."""

from __future__ import annotations

import csv
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from deniable.cli import amounts, options, places, talk
from deniable.errors import BadParameter, MissingUnit

if TYPE_CHECKING:
    from deniable.schema import Column, Schema
    from deniable.units import Unit

_WHO = "--unit user_id --rows 10    user_id identifies a person, who counts for 10 rows at most"
_EACH = "--unit row                  only if every person has exactly one row"


def init(
    files: Annotated[list[Path], typer.Argument(help="people.parquet, or several tables.")],
    *,
    unit: Annotated[
        str | None, typer.Option(help="The privacy unit: a column that identifies people, or row.")
    ] = None,
    rows: Annotated[int | None, typer.Option(help="The most rows one person counts for.")] = None,
    groups: Annotated[
        int | None, typer.Option(help="The most groups one person counts in.")
    ] = None,
    size: Annotated[
        int | None, typer.Option(help="The approximate number of people, if public.")
    ] = None,
    header: Annotated[
        bool, typer.Option("--header", help="The first line of a CSV contains column names.")
    ] = False,
    schema: options.SchemaPath = None,
    ledger: options.LedgerPath = None,
    budget: options.Budget = None,
    force: Annotated[bool, typer.Option("--force", help="Replace an existing schema.")] = False,
    json: options.Json = False,
) -> None:
    """Write a schema for a data file.

    Reads only the names and types of columns: no values, no statistics. The privacy unit has no
    default.
    """
    from deniable.schema import Schema

    limit = amounts.maybe("budget", budget)
    target = schema or files[0].with_suffix(".toml")
    if target.exists() and not force:
        raise BadParameter(
            f"{target} already exists", why="it may contain facts that you added", fix="--force"
        )
    found, unread = _tables(files, header=header)
    whom = _unit(unit, rows, groups, tables=found)
    tables = {name: Schema(columns=columns) for name, columns in found.items()}
    if len(tables) == 1:
        facts = Schema(columns=next(iter(found.values())), unit=whom, size=size)
    else:
        facts = Schema(tables=tables, unit=whom, size=size)
    _check(files, facts, whom)
    text = facts.to_toml(target)
    place = places.find(target, data=files, ledger=ledger)
    if limit is not None:
        place.open(budget=limit).close()
    for column in unread:
        talk.say(f"left out: {column}, because its type is not supported")
    record = {"schema": str(target), "ledger": place.ledger if place.started else None}
    talk.answer(text.rstrip(), record | {"unread": unread, "facts": facts.to_dict()}, json=json)
    talk.say(f"wrote {target}; it protects {whom}")
    beside = _beside(target, facts)
    if not beside:
        talk.say(f"the data are in another folder: add --data {files[0]} to every command")
    command = f"deniable check{place.options(data=not beside, ledger=True)}"
    talk.next_step(command, "lists the facts that are still missing")


def _tables(
    files: Sequence[Path], *, header: bool
) -> tuple[dict[str, dict[str, Column]], list[str]]:
    """The columns of each file by name and type, and those whose type is not supported."""
    from deniable import units
    from deniable.schema import column
    from deniable.session import sources

    found: dict[str, dict[str, Column]] = {}
    unread: list[str] = []
    for path in files:
        if path.stem in found:
            raise BadParameter(f"two tables would be named `{path.stem}`", fix="rename a file")
        if path.suffix.lower() == ".csv":
            found[path.stem] = {name: column("text") for name in _names(path, header=header)}
            continue
        looked = sources.tables(path, schema=None, unit=units.rows(), name=path.stem)
        table = looked[path.stem]
        found[path.stem] = dict(table.columns)
        unread += [f"{path.stem}.{name}" for name in table.unread]
    return found, unread


def _names(path: Path, *, header: bool) -> list[str]:
    """The first line of a CSV, if the caller says that it contains column names."""
    from deniable.session.tables import check_names

    if not path.is_file():
        raise BadParameter(f"there is no file {path}")
    if not header:
        raise BadParameter(
            f"the first line of {path.name} may be column names or a person",
            why="column names are public, but people's values are not",
            fix="--header    if the first line contains column names",
        )
    try:
        with path.open(encoding="utf-8-sig", newline="") as file:
            line = file.readline(1 << 20)
        names = max((next(csv.reader([line], delimiter=m), []) for m in ",;\t|"), key=len)
    except (OSError, UnicodeDecodeError, csv.Error):
        raise BadParameter(f"the first line of {path.name} cannot be read as UTF-8 CSV") from None
    return check_names(names, table=path.stem)


def _unit(
    unit: str | None,
    rows: int | None,
    groups: int | None,
    *,
    tables: dict[str, dict[str, Column]],
) -> Unit:
    """The privacy unit, from the options or the prompt; there is no default."""
    from deniable import units

    if unit is None:
        if not _watched():
            raise MissingUnit(
                f"no privacy unit was given for `{', '.join(tables)}`",
                why="privacy protects someone, and the data do not say which rows are theirs",
                fix=(_WHO, _EACH),
                hint=f"columns: {', '.join(n for columns in tables.values() for n in columns)}",
            )
        talk.say(f"columns: {', '.join(name for columns in tables.values() for name in columns)}")
        talk.say("What is the privacy unit? Name the column that identifies people, or type `row`")
        talk.say("if every person has exactly one row.")
        unit = str(typer.prompt("unit", err=True))
        if unit != "row" and rows is None:
            rows = int(typer.prompt("the most rows one person counts for", type=int, err=True))
    if rows is None and unit in ("row", "rows"):
        return units.rows()
    if rows is None:
        raise MissingUnit(
            f"no limit was given for the rows of one {unit}",
            why="noise must cover all rows of one person; without a limit it would be infinite",
            fix=f"--unit {unit} --rows 10    a person with more rows counts for 10",
        )
    return units.person(unit, rows=rows, groups=groups)


def _beside(target: Path, facts: Schema) -> bool:
    """Can other commands find the data without --data?"""
    try:
        places.find(target).sources(facts)
    except BadParameter:
        return False
    return True


def _watched() -> bool:
    """Is a person at the terminal?"""
    return sys.stdin.isatty()


def _check(files: Sequence[Path], facts: Schema, unit: Unit) -> None:
    """Check that a session would open, from names and types alone."""
    from deniable.session import sources

    sources.tables({path.stem: path for path in files}, schema=facts, unit=unit, name=None)
