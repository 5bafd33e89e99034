"""Serve another table: where its rows are, its privacy unit, and the group whose budget it shares.

What is registered is written as the files that a curator would write by hand: `TABLE.toml`, and
`server.toml` for groups with facts of their own. If anything is refused, both are as they were.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from deniable import units
from deniable.errors import BadParameter, DeniableError, MissingUnit
from deniable.schema import Column, Schema, toml
from deniable.server.accounts import secret
from deniable.server.database import now
from deniable.server.folder import ADDRESSES, CONFIGURATION, SPARK, amount, on_spark, read, rows_in
from deniable.server.house import House
from deniable.server.jobs.work import source_of
from deniable.session import first_look
from deniable.units import Unit

Fields = Mapping[str, str]
_NAME: Final = re.compile(r"[A-Za-z_][A-Za-z0-9_]{0,62}")
_DATABASES: Final = (".duckdb", ".ddb")


@dataclass(frozen=True, kw_only=True)
class Place:
    """Where the rows of a new table are."""

    table: str
    file: Path | None = None
    """A Parquet or CSV file of the folder."""
    source: str = ""
    """The address of Postgres or Spark Connect, or the name of a DuckDB file of the folder."""


def candidates(house: House) -> list[str]:
    """The files of the folder that hold rows and are not served."""
    served = {path for group in house.groups.values() for path in group.sources.values()}
    return [path.name for path in rows_in(house.settings.folder) if path.resolve() not in served]


def keep(house: House, address: str) -> str:
    """Keep an address between two pages, neither of which shows its password; its handle."""
    handle = secret()
    house.database.rows("INSERT INTO addresses VALUES (?, ?, ?)", handle, address, now())
    return handle


def expire(house: House) -> None:
    """Keep no address for longer than its curator may register a table."""
    house.database.rows("DELETE FROM addresses WHERE created < ?", now() - house.settings.fresh)


def kept(house: House, handle: str) -> str:
    """The address that was kept; empty if there is none any more."""
    rows = house.database.rows(
        "SELECT address FROM addresses WHERE handle = ? AND created >= ?",
        *(handle, now() - house.settings.fresh),
    )
    return str(rows[0][0]) if rows else ""


def forget(house: House, handle: str) -> None:
    """Keep an address no longer, under whichever handle: the table is registered."""
    house.database.rows(
        "DELETE FROM addresses WHERE address IN (SELECT address FROM addresses WHERE handle = ?)",
        handle,
    )


def place(house: House, fields: Fields) -> Place:
    """Where a form says that the rows are: a file that is listed, or an address."""
    file, address = fields.get("file", ""), fields.get("address", "").strip()
    address = address or kept(house, fields.get("handle", ""))
    if address and not address.startswith(ADDRESSES):
        must = "of Postgres (postgresql://user@host/database) or Spark Connect (sc://host:15002)"
        raise BadParameter(f"the address must be {must}")  # it may hold a password: not echoed
    if not address and file not in candidates(house):
        raise BadParameter("choose a file of the folder, or give the address of a database")
    path = house.settings.folder / file
    if not address and path.suffix not in _DATABASES:
        return Place(table=_named(path.stem), file=path)
    return Place(table=_named(fields.get("table", "").strip()), source=address or file)


def columns(house: House, where: Place, *, header: bool) -> dict[str, Column]:
    """The columns of the new table, by name and type; no row is read."""
    if where.file is not None:
        return first_look.columns(where.file, header=header)[0]
    if where.source.startswith(SPARK):
        return _on_spark(where)
    if "://" in where.source:
        return first_look.of_source(where.source, where.table)[0]
    import duckdb

    try:
        with duckdb.connect(house.settings.folder / where.source, read_only=True) as connection:
            return first_look.of_source(connection, where.table)[0]
    except duckdb.Error:
        raise BadParameter(f"{where.source} cannot be opened as a DuckDB database") from None


def _on_spark(where: Place) -> dict[str, Column]:
    """By the catalog of a cluster; whatever keeps it from answering, the address is not shown."""
    try:
        frames = {where.table: on_spark(where.source, where.table)}
        return first_look.of_source(frames, where.table)[0]
    except DeniableError:
        raise
    except Exception:  # noqa: BLE001  (of pyspark, of grpc: their texts may hold a token)
        raise BadParameter(f"Spark does not answer, or has no table `{where.table}`") from None


def register(house: House, where: Place, found: Mapping[str, Column], fields: Fields) -> str:
    """Write the schema and the group of a new table, and serve it; the group's name."""
    group = fields.get("group") or _named(fields.get("new_group", "").strip())
    schema = Schema(columns=found, unit=_unit(house, group, found, fields))
    folder = house.settings.folder
    facts, configuration = folder / f"{where.table}.toml", folder / CONFIGURATION
    if facts.exists():
        raise BadParameter(f"there is already a table called `{where.table}`")
    before = configuration.read_text(encoding="utf-8") if configuration.exists() else None
    stated = _configured(house, before, group, where, fields)

    def write() -> None:
        schema.to_toml(facts)
        if stated is not None:
            _written(configuration, toml.dumps(stated))
        planned = read(folder, budget=house.budget)[group]
        house.check_new(where.table, planned)
        _check_rows(planned)

    try:
        house.change(write)
    except BaseException:
        facts.unlink(missing_ok=True)
        if before is not None:
            _written(configuration, before)
        elif stated is not None:
            configuration.unlink(missing_ok=True)
        house.reload()
        raise
    return group


def _check_rows(group: Any) -> None:
    from deniable.session import sources

    sources.tables(source_of(group), schema=group.schema, unit=group.unit, name=None)


def _unit(house: House, group: str, found: Mapping[str, Column], fields: Fields) -> Unit:
    """The privacy unit: that of the group, or what the form says; there is no default."""
    if group in house.groups:
        return house.groups[group].unit
    column, rows, most = (fields.get(n, "").strip() for n in ("unit", "rows", "groups"))
    if column == "row":
        return units.rows()
    if column.removeprefix("column:") not in found or not column.startswith("column:"):
        raise MissingUnit(
            "no privacy unit was chosen",
            why="the data do not show which rows belong to the same person",
            fix="choose the column that identifies a person",
        )
    if not rows.isdecimal() or (most and not most.isdecimal()):
        raise BadParameter("the limits on rows and groups per person must be whole numbers")
    person = column.removeprefix("column:")
    return units.person(person, rows=int(rows), groups=int(most) if most else None)


def _configured(
    house: House, before: str | None, group: str, where: Place, fields: Fields
) -> dict[str, Any] | None:
    """What server.toml says with the new table in it; None if it need not say anything."""
    record: dict[str, Any] = {} if before is None else tomllib.loads(before)
    known = house.groups.get(group)
    source = _source(house, where)
    if known is not None and known.source != source:
        raise BadParameter(
            f"the rows of the group `{group}` are elsewhere",
            why="a group has one source: files of the folder, or one database",
            fix="copy the rows to that place, so that both tables share one budget",
        )
    if known is not None and "tables" not in record.get(group, {}):
        return None  # it has every table that no other group lists
    if known is not None:
        record[group]["tables"].append(where.table)
        return record
    record[group] = {"tables": [where.table], "budget": _budget(fields)}
    if where.source:
        record[group]["source"] = where.source
    purposes = [each.strip() for each in fields.get("purposes", "").split(",") if each.strip()]
    if purposes:
        record[group]["purposes"] = purposes
    return record


def _source(house: House, where: Place) -> str:
    if not where.source or "://" in where.source:
        return where.source
    return str((house.settings.folder / where.source).resolve())


def _budget(fields: Fields) -> dict[str, float]:
    figures = {"epsilon": fields.get("epsilon", ""), "delta": fields.get("delta", "")}
    if not figures["epsilon"]:
        raise BadParameter(
            "no total budget was given",
            why="without a budget, enough questions would reveal every row",
            fix="fill in ε, such as 3, and δ, such as 1e-7",
        )
    try:
        record = {name: float(text.replace(",", ".")) for name, text in figures.items() if text}
    except ValueError:
        raise BadParameter("the budget must be numbers, such as 3 and 1e-7") from None
    amount(record, what="budget")  # refuses what is not a loss
    return record


def _named(name: str) -> str:
    """A name for a table or a group that can be a file name and an SQL name."""
    if not _NAME.fullmatch(name) or name == Path(CONFIGURATION).stem:
        raise BadParameter.of("the name", name, must="a word of letters, digits and _")
    return name


def _written(path: Path, text: str) -> None:
    """For the owner alone: an address may hold a password."""
    draft = path.with_name(path.name + ".draft")
    draft.touch(mode=0o600)
    draft.write_text(text, encoding="utf-8")
    draft.replace(path)
