"""deniable set: state a public fact about a column."""

from __future__ import annotations

import csv
from dataclasses import replace
from typing import TYPE_CHECKING, Annotated

from typer import Option

from deniable.cli import options, places, talk
from deniable.errors import BadParameter, UnknownName

if TYPE_CHECKING:
    from deniable.schema import Column, Schema


def set_facts(
    target: options.Target,
    *,
    bounds: Annotated[
        tuple[str, str] | None,
        Option(metavar="LOW HIGH", help="Plausible bounds; do not look at the data."),
    ] = None,
    keys: Annotated[
        list[str] | None, Option(help="The possible values, separated by commas; may be repeated.")
    ] = None,
    missing: Annotated[
        str | None, Option(help="How to count NULL and NaN: drop, or a value.")
    ] = None,
    type_: Annotated[
        str | None, Option("--type", help="int, float, text, bool, date or timestamp.")
    ] = None,
    size: Annotated[
        int | None, Option(help="The approximate number of people in a table, if public.")
    ] = None,
    schema: options.SchemaPath = None,
    data: options.DataPath = None,
    json: options.Json = False,
) -> None:
    """Declare a column's bounds, keys, type or missing values.

    Examples: deniable set people.income --bounds 0 200000, deniable set people.city --keys
    Oslo,Bergen, deniable set people.income --missing drop.
    """
    table, column = places.split(target)
    place = places.find(schema, data=data, table=table)
    facts, before = place.facts(), ""
    if table not in place.names(facts):
        error = UnknownName.of("table", table, known=place.names(facts))
        error.fix = places.whose(target, facts, place.names(facts)) or error.fix
        raise error
    if column is None:
        changed = _sized(facts, size, [bounds, keys, missing, type_])
        shown = {"size": size}
    else:
        if size is not None:
            raise BadParameter(
                "--size applies to a table, not to a column",
                fix=f"deniable set {table} --size 1000",
            )
        known = facts.table(table)
        old = known[column] if column in known else _of_data(place, facts, table, column)
        try:
            new = _column(old, bounds=bounds, keys=keys, missing=missing, kind=type_)
        except BadParameter as error:
            if keys is not None and type_ is None and old.type != "text":
                error.fix = "--type text    if the values are text"
            raise
        guessed = type_ is None and new.type != old.type == "text"
        if guessed and _is_text(place, facts, table, column):
            raise BadParameter(
                f"{target} is text in its file, and text has no bounds",
                fix=("--keys a,b    its possible values, in place of --bounds",
                     f"--type {new.type}    if its text can be read so"),
            )  # fmt: skip
        changed = _with(facts, table, column, new)
        if old != new and (old.keys is not None or old.low is not None):
            before = f" (replaces {old})"
        shown = changed.table(table).to_dict()["columns"][column]  # type: ignore[index]
    changed.to_toml(place.schema)
    said = shown if column is None else changed.table(table)[column]
    talk.answer(f"{target}: {said}{before}", {"target": target, "facts": shown}, json=json)


def _of_data(place: places.Place, facts: Schema, table: str, name: str) -> Column:
    """A column of the data that is not in the schema, because `init` did not support its type."""
    from deniable import units
    from deniable.schema import Column
    from deniable.session import sources

    try:
        looked = sources.tables(
            place.sources(facts), schema=facts, unit=facts.unit or units.rows(), name=None
        )
    except BadParameter:  # nothing can be looked up: the schema's names are all there are
        return facts.table(table)[name]
    found = looked[table]
    return Column(type="text") if name in found.unread else found.column(name)


def _is_text(place: places.Place, facts: Schema, table: str, column: str) -> bool:
    """Does the data file say that the column is text? In a CSV no column has a type."""
    from deniable.session import first_look

    try:
        file = place.sources(facts)[table]
        found = {} if file.suffix.lower() == ".csv" else first_look.columns(file, header=False)[0]
    except BadParameter:  # nothing can be looked up
        return False
    return column in found and found[column].type == "text"


def _sized(facts: Schema, size: int | None, others: list[object]) -> Schema:
    if size is None or any(other is not None for other in others):
        raise BadParameter(
            "--bounds, --keys, --missing and --type apply to a column",
            fix="deniable set people.income --bounds 0 200000",
        )
    return replace(facts, size=size)


def _with(facts: Schema, table: str, name: str, column: Column) -> Schema:
    if not facts.tables:
        return replace(facts, columns={**facts.columns, name: column})
    inner = replace(facts.tables[table], columns={**facts.tables[table].columns, name: column})
    return replace(facts, tables={**facts.tables, table: inner})


def _column(
    old: Column,
    *,
    bounds: tuple[str, str] | None,
    keys: list[str] | None,
    missing: str | None,
    kind: str | None,
) -> Column:
    """The column with the new facts; earlier facts stay, unless they no longer fit."""
    from deniable import schema
    from deniable.schema.columns import plain_type
    from deniable.schema.typed import value

    if bounds is not None and keys is not None:
        raise BadParameter("a column has bounds or keys, not both")
    if all(said is None for said in (bounds, keys, missing, kind)):
        raise BadParameter("no fact was given", fix="--bounds 0 125, --keys a,b or --missing drop")
    kind = None if kind is None else plain_type(kind)
    type_ = kind or _likely(old.type, bounds)
    rule = old.missing if type_ == old.type else None
    if missing is not None:
        rule = value(missing, type_, free="drop")
    stated = "drop" if rule is None else rule
    if keys is not None:
        listed = [value(word.strip(), type_) for line in keys for word in next(csv.reader([line]))]
        return schema.keys(listed, missing=stated)
    if bounds is not None:
        low, high = (value(end, type_) for end in bounds)
        return schema.bounds(low, high, type=type_, missing=stated)
    if kind is not None and kind != old.type:
        return schema.column(kind, missing=rule)
    return replace(old, missing=rule)


def _likely(type_: str, bounds: tuple[str, str] | None) -> str:
    """The type that the bounds suggest for a text column (at first, all columns of a CSV)."""
    from deniable.schema.typed import value

    if bounds is None or type_ != "text":
        return type_
    for kind in ("float", "date", "timestamp"):
        try:
            value(bounds[0], kind)
            value(bounds[1], kind)
        except BadParameter:
            continue
        return kind
    return type_
