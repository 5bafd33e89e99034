"""What a server serves: the tables of a folder, in groups of people who share one ceiling.

    people.parquet    the rows: held, never shown
    people.toml       what is public about them (the schema); rows without one are not served
    server.toml       who is in which group, the budget, purposes; optional

All tables about the same people belong to one group, because the budget protects people, not files.
Without a server.toml every table of the folder is in one group, called `people`.
"""

from __future__ import annotations

import glob
import re
import socket
import tomllib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from deniable.errors import BadParameter, MissingExtra, UnitMismatch
from deniable.losses import Loss
from deniable.losses import epsilon as epsilon_
from deniable.losses import mu as mu_
from deniable.losses import rho as rho_
from deniable.schema import Schema
from deniable.units import Unit

CONFIGURATION = "server.toml"
SPARK = "sc://"
ADDRESSES = ("postgresql://", "postgres://", SPARK)
_AT = re.compile(r"sc://(?P<host>\[[^\]]+\]|[^:/;@\[\]\s]+)(:(?P<port>[0-9]{1,5}))?(/.*)?")
_SUFFIXES = (".parquet", ".csv")
_DATABASES = (".duckdb", ".ddb")
_FIELDS = {"budget", "tables", "source", "purposes", "most", "publish", "contact"}
_AMOUNTS: Mapping[str, Callable[..., Loss]] = {"epsilon": epsilon_, "rho": rho_, "mu": mu_}


@dataclass(frozen=True, kw_only=True)
class Group:
    """Tables about the same people: one privacy unit, one ledger, one ceiling."""

    name: str
    sources: Mapping[str, Path]
    """The file of each table, if rows are in files."""
    schema: Schema
    files: Mapping[str, Path]
    """The schema file of each table."""
    source: str = ""
    """postgresql://…, sc://… (Spark Connect), or the absolute path of a DuckDB file."""
    budget: Loss | None = None
    most: Loss | None = None
    """The most that one question may cost."""
    purposes: tuple[str, ...] = ()
    """What questions may be asked for; none stated: a question need not name one."""
    publish: bool = False
    """Whether the public page shows what was spent, asked and released, with certificates."""
    contact: str = ""
    """Where people ask about their own rows; shown on the public page."""

    def __reduce__(self) -> tuple[object, ...]:
        """For worker processes: a schema travels as the record it was read from."""
        return _remade, ({**vars(self), "schema": self.schema.to_dict()},)

    @property
    def unit(self) -> Unit:
        """Whom the group's ledger protects."""
        assert self.schema.unit is not None
        return self.schema.unit


def _remade(parts: dict[str, Any]) -> Group:
    return Group(**parts | {"schema": Schema.from_dict(parts["schema"])})


def read(folder: Path, *, budget: Loss | None = None) -> dict[str, Group]:
    """The groups of a folder; `budget` is for those whose ceiling server.toml does not state."""
    schemas = {path.stem: path for path in sorted(folder.glob("*.toml"))}
    stated = _configuration(schemas.pop(Path(CONFIGURATION).stem, None))
    if not schemas and not rows_in(folder):
        raise BadParameter(
            f"there are no tables in {folder}",
            why="the server serves Parquet, CSV and DuckDB files with their schemas",
            fix="deniable serve FOLDER",
        )
    named = [name for facts in stated.values() for name in facts.get("tables", [])]
    rest = [name for name in schemas if name not in named]
    _check_named(named, schemas)
    if rest:
        stated = {"people": {}} | stated
        stated["people"] = {**stated["people"], "tables": [*_listed(stated["people"]), *rest]}
    return {
        name: _group(name, facts, {s: schemas[s] for s in facts["tables"]}, budget=budget)
        for name, facts in stated.items()
    }


def rows_in(folder: Path) -> list[Path]:
    """The files of a folder that hold rows, by name."""
    return [path for path in sorted(folder.iterdir()) if path.suffix in (*_SUFFIXES, *_DATABASES)]


def amount(record: object, *, what: str) -> Loss:
    """A loss as a table of figures: {epsilon = 1, delta = 1e-7}, {rho = 0.1}, {mu = 0.5}."""
    figures = dict(record) if isinstance(record, Mapping) else {}
    kind = next((name for name in _AMOUNTS if name in figures), None)
    extra = set(figures) - {kind, "delta"}
    if kind is None or extra or ("delta" in figures and kind != "epsilon"):
        raise BadParameter.of(
            what, record, must="a loss", fix=f"{what} = {{epsilon = 1, delta = 1e-7}}"
        )
    return _AMOUNTS[kind](figures.pop(kind), **figures)


def _configuration(path: Path | None) -> dict[str, dict[str, Any]]:
    if path is None:
        return {}
    try:
        record = tomllib.loads(path.read_text(encoding="utf-8"))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise BadParameter(f"{path.name} cannot be read as TOML: {error}") from None
    for name, facts in record.items():
        if not name.isidentifier() or not isinstance(facts, dict) or set(facts) - _FIELDS:
            raise BadParameter(
                f"{path.name} has tables of {', '.join(sorted(_FIELDS))}, one per group of people",
                fix='[people]\nbudget = {epsilon = 3, delta = 1e-7}\ntables = ["visits"]',
            )
    return record


def _listed(facts: Mapping[str, object]) -> list[str]:
    tables = facts.get("tables", [])
    return list(tables) if isinstance(tables, list) else []


def _check_named(named: list[str], schemas: Mapping[str, Path]) -> None:
    for name in named:
        if name not in schemas:
            raise BadParameter(f"{CONFIGURATION} names `{name}`, but there is no {name}.toml")
        if named.count(name) > 1:
            raise BadParameter(
                f"{CONFIGURATION} lists `{name}` twice",
                why="a second group would be a second budget for the same people",
            )


def _group(
    name: str, facts: Mapping[str, object], schemas: Mapping[str, Path], *, budget: Loss | None
) -> Group:
    parts = {stem: Schema.from_toml(path) for stem, path in schemas.items()}
    if not parts:
        raise BadParameter(f"the group `{name}` has no tables", fix='tables = ["visits"]')
    ceiling = amount(facts["budget"], what="budget") if "budget" in facts else budget
    most = amount(facts["most"], what="most") if "most" in facts else None
    source = _database(facts.get("source"), next(iter(schemas.values())).parent)
    purposes = facts.get("purposes", [])
    if not isinstance(purposes, list) or not all(isinstance(p, str) and p for p in purposes):
        raise BadParameter.of("purposes", purposes, must='a list of texts, as ["research"]')
    return Group(
        name=name,
        sources={} if source else _sources(parts, schemas),
        files={t: schemas[stem] for stem, part in parts.items() for t in part.tables or [stem]},
        source=source,
        schema=_merged(name, parts),
        budget=ceiling,
        most=most,
        purposes=tuple(purposes),
        publish=facts.get("publish") is True,
        contact=_contact(facts.get("contact", "")),
    )


def _contact(contact: object) -> str:
    if not isinstance(contact, str) or len(contact) > 300:
        raise BadParameter.of("contact", contact, must='a short text, as "privacy@example.org"')
    return contact


def _database(source: object, folder: Path) -> str:
    """Where a group's rows are, if not in files: an address, or a DuckDB file of the folder."""
    match source:
        case None:
            return ""
        case str() if source.startswith(ADDRESSES):
            return source
        case str() if source.endswith(_DATABASES) and (folder / source).is_file():
            return str((folder / source).resolve())
    raise BadParameter(
        "source must be the address of a Postgres database or of Spark Connect, "
        "or a DuckDB file in the folder",
        fix=(
            'source = "postgresql://user@host/database"',
            'source = "sc://host:15002"',
            'source = "clinic.duckdb"',
        ),
    )


def _merged(group: str, parts: Mapping[str, Schema]) -> Schema:
    """One schema of all tables; the people in them are the same, and so is the unit."""
    units = {schema.unit for schema in parts.values() if schema.unit is not None}
    if len(units) != 1:
        raise UnitMismatch(
            f"the tables of the group `{group}` state {len(units) or 'no'} privacy units",
            why="a group's tables are about the same people and share one budget",
            fix="the same [unit] in each schema, or groups of their own in server.toml",
        )
    tables: dict[str, Schema] = {}
    for stem, schema in parts.items():
        for name, table in (schema.tables or {stem: replace(schema, unit=None)}).items():
            if name in tables:
                raise BadParameter(f"two schemas describe a table called `{name}`")
            tables[name] = replace(table, version=None)
    versions = [f"{stem} {s.version}" for stem, s in parts.items() if s.version is not None]
    return Schema(tables=tables, unit=units.pop(), version="; ".join(versions) or None)


def _sources(parts: Mapping[str, Schema], schemas: Mapping[str, Path]) -> dict[str, Path]:
    return {
        name: _beside(schemas[stem], name)
        for stem, schema in parts.items()
        for name in (schema.tables or [stem])
    }


def _beside(schema: Path, table: str) -> Path:
    files = [schema.parent / f"{table}{suffix}" for suffix in _SUFFIXES]
    found = [file.resolve() for file in files if file.exists()]
    if len(found) == 1:
        return found[0]
    wanted = " or ".join(file.name for file in files)
    raise BadParameter(f"there is {'more than one' if found else 'no'} {wanted} in {schema.parent}")


def spark_at(address: str) -> tuple[str, int]:
    """The host and port of Spark Connect; an error does not show the rest, which may be a token.

    >>> spark_at("sc://[::1]:15003/;token=abc"), spark_at("sc://Spark")
    (('::1', 15003), ('spark', 15002))
    """
    found = _AT.fullmatch(address)
    if found is None:
        raise BadParameter("an address of Spark Connect begins with sc://host:15002/")
    return found["host"].strip("[]").lower(), int(found["port"] or 15002)


def on_spark(address: str, table: str) -> Any:
    """A table of a Spark cluster's catalog, through Spark Connect: no driver runs here."""
    try:
        from pyspark.sql.connect.session import SparkSession
    except ImportError:
        raise MissingExtra.of("pyspark, which speaks to Spark,", extra="spark") from None
    with socket.create_connection(spark_at(address), timeout=10):
        pass  # else Spark's client would try for minutes
    # A session that exists already may be of another cluster.
    return SparkSession.builder.remote(address).create().table(table)


def attach(engine: Any, group: Group, table: str, *, texts: bool = False) -> None:
    """The rows of a file, or of a table of a DuckDB file, as a view `held`; a CSV also as texts."""
    if group.source:
        engine.execute(f"ATTACH {_literal(group.source)} AS source (READ_ONLY)")
        name = table.replace('"', '""')
        engine.execute(f'CREATE VIEW held AS FROM source."{name}"')
        return
    path = group.sources[table]
    place = _literal(glob.escape(str(path)))  # DuckDB would expand a pattern
    if path.suffix == ".csv":
        options = "header = true" + (", all_varchar = true, ignore_errors = true" if texts else "")
        engine.execute(f"CREATE VIEW held AS FROM read_csv([{place}], {options})")
    else:
        engine.execute(f"CREATE VIEW held AS FROM read_parquet([{place}])")


def _literal(text: str) -> str:
    return "'" + text.replace("'", "''") + "'"
