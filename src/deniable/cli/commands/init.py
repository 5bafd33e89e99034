"""deniable init: write down what is public about a table, from its column names and types alone."""

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

_WHO = "--unit user_id --rows 10    a column tells people apart; at most 10 rows of each count"
_EACH = "--unit row                  only if every person has exactly one row"


def init(
    files: Annotated[list[Path], typer.Argument(help="people.parquet, or several tables.")],
    *,
    unit: Annotated[
        str | None, typer.Option(help="Whom to protect: a column that tells people apart, or row.")
    ] = None,
    rows: Annotated[
        int | None, typer.Option(help="The most rows of one person that count.")
    ] = None,
    groups: Annotated[int | None, typer.Option(help="The most groups one person is in.")] = None,
    size: Annotated[int | None, typer.Option(help="About how many people, if public.")] = None,
    header: Annotated[
        bool, typer.Option("--header", help="The first line of a CSV names its columns.")
    ] = False,
    schema: options.SchemaPath = None,
    ledger: options.LedgerPath = None,
    budget: options.Budget = None,
    force: Annotated[bool, typer.Option("--force", help="Replace an existing schema.")] = False,
    json: options.Json = False,
) -> None:
    """Write down what is public about a data file.

    Only the names and types of columns are read: no value, no statistics. Whom to protect has no
    default.
    """
    from deniable.schema import Schema

    limit = amounts.maybe("budget", budget)
    target = schema or files[0].with_suffix(".toml")
    if target.exists() and not force:
        raise BadParameter(
            f"{target} exists", why="it may hold what you know of the data", fix="--force"
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
        talk.say(f"left out: {column}, whose type is not one that can be asked about")
    record = {"schema": str(target), "ledger": place.ledger if place.started else None}
    talk.answer(text.rstrip(), record | {"unread": unread, "facts": facts.to_dict()}, json=json)
    talk.say(f"wrote {target}; it protects {whom}")
    beside = _beside(target, facts)
    if not beside:
        talk.say(f"the data are not beside it: say --data {files[0]} with every command")
    command = f"deniable check{place.options(data=not beside, ledger=True)}"
    talk.next_step(command, "what is still to be said, and how")


def _tables(
    files: Sequence[Path], *, header: bool
) -> tuple[dict[str, dict[str, Column]], list[str]]:
    """The columns of each file by name and type, and those of a type that is not read."""
    from deniable import units
    from deniable.schema import column
    from deniable.session import sources

    found: dict[str, dict[str, Column]] = {}
    unread: list[str] = []
    for path in files:
        if path.stem in found:
            raise BadParameter(f"two tables would be called `{path.stem}`", fix="rename a file")
        if path.suffix.lower() == ".csv":
            found[path.stem] = {name: column("text") for name in _names(path, header=header)}
            continue
        looked = sources.tables(path, schema=None, unit=units.rows(), name=path.stem)
        table = looked[path.stem]
        found[path.stem] = dict(table.columns)
        unread += [f"{path.stem}.{name}" for name in table.unread]
    return found, unread


def _names(path: Path, *, header: bool) -> list[str]:
    """The first line of a CSV, if we are told that it is no person."""
    from deniable.session.tables import check_names

    if not path.is_file():
        raise BadParameter(f"there is no file {path}")
    if not header:
        raise BadParameter(
            f"{path.name} does not say whether its first line is names or a person",
            why="the names of columns are public, and people are not",
            fix="--header    if the first line is names",
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
    """Whom to protect: as said, or as asked; there is no default."""
    from deniable import units

    if unit is None:
        if not _watched():
            raise MissingUnit(
                f"nobody said whom to protect in `{', '.join(tables)}`",
                why="privacy is promised to someone; which rows are theirs is not in the data",
                fix=(_WHO, _EACH),
                hint=f"columns: {', '.join(n for columns in tables.values() for n in columns)}",
            )
        talk.say(f"columns: {', '.join(name for columns in tables.values() for name in columns)}")
        talk.say("Whom do you protect? Name the column that tells people apart, or say `row`")
        talk.say("if every person has exactly one row.")
        unit = str(typer.prompt("whom", err=True))
        if unit != "row" and rows is None:
            rows = int(typer.prompt("the most rows of one person that count", type=int, err=True))
    if rows is None and unit in ("row", "rows"):
        return units.rows()
    if rows is None:
        raise MissingUnit(
            f"nobody said how many rows of one {unit} count",
            why="noise is sized to all rows of one person; without a limit it would drown all",
            fix=f"--unit {unit} --rows 10    rows beyond count less",
        )
    return units.person(unit, rows=rows, groups=groups)


def _beside(target: Path, facts: Schema) -> bool:
    """Will other commands find the data by themselves?"""
    try:
        places.find(target).sources(facts)
    except BadParameter:
        return False
    return True


def _watched() -> bool:
    """Is there somebody to ask?"""
    return sys.stdin.isatty()


def _check(files: Sequence[Path], facts: Schema, unit: Unit) -> None:
    """Would a session open? Only names and types are looked at."""
    from deniable.session import sources

    sources.tables({path.stem: path for path in files}, schema=facts, unit=unit, name=None)
