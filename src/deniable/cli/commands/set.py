"""deniable set: say what is public about a column."""

from __future__ import annotations

import csv
import datetime as dt
from dataclasses import replace
from typing import TYPE_CHECKING, Annotated

import typer

from deniable.cli import options, places, talk
from deniable.errors import BadParameter, UnknownName

if TYPE_CHECKING:
    from deniable.schema import Column, Schema
    from deniable.schema.columns import Scalar

_NUMBERS = ("int", "float")


def set_facts(
    target: options.Target,
    *,
    bounds: Annotated[
        tuple[str, str] | None,
        typer.Option(metavar="LOW HIGH", help="What is plausible; do not look at the data."),
    ] = None,
    keys: Annotated[
        list[str] | None,
        typer.Option(help="The values there can be, with commas between; may be repeated."),
    ] = None,
    missing: Annotated[
        str | None, typer.Option(help="What NULL and NaN count as: drop, or a value.")
    ] = None,
    type_: Annotated[
        str | None, typer.Option("--type", help="int, float, text, bool, date or timestamp.")
    ] = None,
    size: Annotated[
        int | None, typer.Option(help="About how many people, if public; of a table.")
    ] = None,
    schema: options.SchemaPath = None,
    data: options.DataPath = None,
    json: options.Json = False,
) -> None:
    """Say what is public about a column.

    people.income --bounds 0 200000, people.city --keys Oslo,Bergen, --missing drop.
    """
    table, column = places.split(target)
    place = places.find(schema, data=data, table=table)
    facts = place.facts()
    if table not in place.names(facts):
        error = UnknownName.of("table", table, known=place.names(facts))
        error.fix = places.whose(target, facts, place.names(facts)) or error.fix
        raise error
    if column is None:
        changed = _sized(facts, size, [bounds, keys, missing, type_])
        shown = {"size": size}
    else:
        if size is not None:
            raise BadParameter("a size is said of a table", fix=f"deniable set {table} --size 1000")
        known = facts.table(table)
        old = known[column] if column in known else _of_data(place, facts, table, column)
        new = _column(old, bounds=bounds, keys=keys, missing=missing, kind=type_)
        changed = _with(facts, table, column, new)
        shown = changed.table(table).to_dict()["columns"][column]  # type: ignore[index]
    changed.to_toml(place.schema)
    said = shown if column is None else changed.table(table)[column]
    talk.answer(f"{target}: {said}", {"target": target, "facts": shown}, json=json)


def _of_data(place: places.Place, facts: Schema, table: str, name: str) -> Column:
    """A column that only the data have: `init` leaves out those of a type that is not read."""
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


def _sized(facts: Schema, size: int | None, others: list[object]) -> Schema:
    if size is None or any(other is not None for other in others):
        raise BadParameter(
            "bounds, keys and missing values are said of a column",
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
    """The column with what was said; what was not said stays, unless it no longer fits."""
    from deniable import schema

    if bounds is not None and keys is not None:
        raise BadParameter("a column has bounds or keys, not both")
    if all(said is None for said in (bounds, keys, missing, kind)):
        raise BadParameter("nothing was said", fix="--bounds 0 125, --keys a,b or --missing drop")
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
    """Bounds of a column of text, as all of a CSV are at first, say what it is."""
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


def _whole(number: float) -> int:
    """1e6 is a whole number, too."""
    if not number.is_integer():
        raise ValueError(number)
    return int(number)


def value(text: str, type_: str, *, free: str | None = None) -> Scalar:
    """A value as it is typed, in a column's own type."""
    if text == free:
        return text
    try:
        match type_:
            case "int":
                return int(text) if text.lstrip("+-").isdecimal() else _whole(float(text))
            case "float":
                return float(text)
            case "bool":
                return {"true": True, "false": False}[text.lower()]
            case "date":
                return dt.date.fromisoformat(text)
            case "timestamp":
                return dt.datetime.fromisoformat(text)
    except (ValueError, KeyError):
        must = {"int": "a whole number", "float": "a number", "bool": "true or false"}
        raise BadParameter.of("a value", text, must=must.get(type_, f"a {type_}")) from None
    return text
