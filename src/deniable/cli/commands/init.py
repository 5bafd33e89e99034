"""deniable init: write a schema for a table, from its column names and types alone."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from typer import Argument, Option

from deniable import parameters
from deniable.cli import amounts, options, places, talk
from deniable.errors import BadParameter, MissingUnit
from deniable.fixes import Fix

if TYPE_CHECKING:
    from deniable.schema import Column, Schema
    from deniable.units import Unit


def init(
    files: Annotated[list[Path], Argument(help="people.parquet, or several tables.")],
    *,
    unit: Annotated[
        str | None,
        Option(help="The privacy unit: a column that identifies people, or the word `row`."),
    ] = None,
    rows: Annotated[int | None, Option(help="Maximum rows per person.")] = None,
    groups: Annotated[int | None, Option(help="Maximum groups per person.")] = None,
    size: Annotated[int | None, Option(help="The approximate number of people, if public.")] = None,
    header: Annotated[
        bool, Option("--header", help="The first line of a CSV contains column names.")
    ] = False,
    schema: options.NewSchemaPath = None,
    ledger: options.LedgerPath = None,
    budget: options.Budget = None,
    force: Annotated[bool, Option("--force", help="Replace an existing schema.")] = False,
    json: options.Json = False,
) -> None:
    """Write a schema for a data file.

    Reads only the names and types of columns: no values, no statistics. The privacy unit has no
    default.
    """
    from deniable.schema import Schema

    limit = amounts.maybe("budget", budget)
    target = parameters.target(schema or files[0].with_suffix(".toml"))
    if target.exists() and not force:
        raise BadParameter(
            f"{target} already exists",
            why="it may contain facts that you added",
            fix=(
                Fix(f"--schema {target.stem}-2.toml", note="to write another, with its own budget"),
                Fix("--force", note="to replace it"),
            ),
        )
    found, unread = _tables(files, header=header)
    whom = _unit(unit, rows, groups, tables=found)
    tables = {name: Schema(columns=columns) for name, columns in found.items()}
    if len(tables) == 1:
        facts = Schema(columns=next(iter(found.values())), unit=whom, size=size)
    else:
        facts = Schema(tables=tables, unit=whom, size=size)
    _check(files, facts, whom)
    facts = _located(facts, target, files)
    text = facts.to_toml(target)
    place = places.find(target, data=files, ledger=ledger)
    if limit is not None:
        place.open(budget=limit).close()
    for column in unread:
        talk.say(f"left out: {column}, because its type is not supported")
    record = {"schema": str(target), "ledger": place.ledger if place.started else None}
    talk.answer(text.rstrip(), record | {"unread": unread, "facts": facts.to_dict()}, json=json)
    talk.say(f"wrote {target}; it protects {whom}")
    command = f"deniable check{place.options(ledger=True)}"
    talk.next_step(command, "lists the facts that are still missing")


def _tables(
    files: Sequence[Path], *, header: bool
) -> tuple[dict[str, dict[str, Column]], list[str]]:
    """The columns of each file by name and type, and those whose type is not supported."""
    from deniable.session import first_look

    found: dict[str, dict[str, Column]] = {}
    unread: list[str] = []
    for path in files:
        if path.stem in found:
            raise BadParameter(
                f"two tables would be named `{path.stem}`",
                why="a file's table is called by its name without the ending",
                fix=("name one file, if both hold the same rows", "rename one file"),
            )
        found[path.stem], more = first_look.columns(path, header=header)
        unread += [f"{path.stem}.{name}" for name in more]
    return found, unread


def _unit(
    unit: str | None, rows: int | None, groups: int | None, *, tables: dict[str, dict[str, Column]]
) -> Unit:
    """The privacy unit, from the options or the prompt; there is no default."""
    from deniable import units

    if unit is None:
        names = [name for columns in tables.values() for name in columns]
        if not _watched():
            raise MissingUnit.of(", ".join(tables), columns=names)
        talk.say(f"columns: {', '.join(names)}")
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
            fix=f"--unit {unit} --rows 10    a person with more rows counts as 10",
        )
    return units.person(unit, rows=rows, groups=groups)


def _located(facts: Schema, target: Path, files: Sequence[Path]) -> Schema:
    """The schema, with its files where other commands would not find them by its name alone."""
    try:
        found = places.Place(schema=target, ledger="").sources(facts)
    except BadParameter:
        found = {}
    wanted = {file.stem: file for file in files}
    if list(map(Path.resolve, found.values())) == list(map(Path.resolve, wanted.values())):
        return facts
    paths = {name: os.path.relpath(file, target.parent) for name, file in wanted.items()}
    if not facts.tables:
        return replace(facts, file=paths[files[0].stem])
    return replace(
        facts, tables={name: replace(each, file=paths[name]) for name, each in facts.tables.items()}
    )


def _watched() -> bool:
    """Is a person at the terminal?"""
    return sys.stdin.isatty()


def _check(files: Sequence[Path], facts: Schema, unit: Unit) -> None:
    """Check that a session would open, from names and types alone."""
    from deniable.session import sources

    sources.tables({path.stem: path for path in files}, schema=facts, unit=unit, name=None)
