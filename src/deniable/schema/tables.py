"""The public facts of a table, or of several: columns, whom they protect, how many.

>>> schema = Schema(columns={"age": bounds(0, 125)}, size=30_000)
>>> schema["age"].bounds
(0.0, 125.0)
"""

from __future__ import annotations

import datetime as dt
import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from types import MappingProxyType
from typing import Any, TypeVar

from deniable import cards, parameters
from deniable.errors import BadParameter, DeniableError, UnknownName
from deniable.units import Unit

from . import toml
from .columns import DROP, Column, bounds, column, keys

T = TypeVar("T")

_MOST = 2**53  # whole numbers up to here are exact as floats
_LONGEST = 100

_ENDS = ("low", "high", "min", "max", "lower", "upper")
_FIELDS = {
    "schema": ("version", "file", "size", "public", "consent", "unit", "columns", "tables"),
    "column": ("type", "bounds", "keys", "missing"),
}


@parameters.made('dp.Schema(columns={"age": dp.bounds(0, 125)})')
@dataclass(frozen=True, kw_only=True)
class Schema:
    """What is public about one table (`columns`) or several (`tables`, each a Schema of columns).

    `unit` is whom the data protect; `size` is how many of them there are, where that is public
    knowledge: roughly where units are added or removed, exactly where they are replaced (then
    answers are computed with it); `public` marks a table that is about nobody, such as a list of
    post codes.
    `version` names the state of the data, such as "2024-06": answers say which one they are about.
    `consent` names a column of truth values: rows where it is not true are never counted.
    `file` is where the command line finds a table's rows, seen from the schema's own folder.
    """

    columns: Mapping[str, Column] = field(default_factory=dict)
    unit: Unit | None = None
    size: int | None = None
    public: bool = False
    tables: Mapping[str, Schema] = field(default_factory=dict)
    version: str | None = None
    consent: str | None = None
    file: str | None = None

    def __post_init__(self) -> None:
        columns = _named("columns", self.columns, Column, fix='{"age": dp.bounds(0, 125)}')
        tables = _named("tables", self.tables, Schema, fix='{"people": dp.Schema(columns=...)}')
        object.__setattr__(self, "columns", columns)
        object.__setattr__(self, "tables", tables)
        if self.unit is not None and not isinstance(self.unit, Unit):
            raise BadParameter.of("unit", self.unit, must='dp.rows() or dp.person("id", rows=...)')
        if self.size is not None:
            object.__setattr__(self, "size", _checked_size(self.size))
        if not isinstance(self.public, bool):
            raise BadParameter.of("public", self.public, must="True or False")
        _check_version(self.version)
        _check_file(self.file)
        _check_consent(self)
        _check_tables(self)

    def __getitem__(self, name: str) -> Column:
        """The facts of one column."""
        if name not in self.columns:
            raise UnknownName.of("column", name, known=self.columns)
        return self.columns[name]

    def __contains__(self, name: object) -> bool:
        return name in self.columns

    def __hash__(self) -> int:
        return hash(self.to_toml())

    def table(self, name: str) -> Schema:
        """The facts of one table; those of an only table fit whatever it is called."""
        if not self.tables:
            return self
        if name not in self.tables:
            raise UnknownName.of("table", name, known=self.tables)
        return self.tables[name]

    def _repr_html_(self) -> str:
        shown = {"": self} if not self.tables else self.tables
        rows = [
            [table, name, repr(facts)]
            for table, part in shown.items()
            for name, facts in part.columns.items()
        ]
        stated = {"protects": "" if self.unit is None else str(self.unit)}
        return cards.card(
            "schema", cards.table(["table", "column", "public facts"], rows), cards.facts(stated)
        )

    # ---- TOML

    def to_toml(self, path: str | os.PathLike[str] | None = None) -> str:
        """The schema as TOML text, also written to `path` if one is given."""
        text = toml.dumps(self.to_dict())
        if path is not None:
            target = parameters.target(path)
            draft = target.with_name(target.name + ".draft")
            draft.write_text(text, encoding="utf-8", newline="\n")
            draft.replace(target)
        return text

    @staticmethod
    def from_toml(path: str | os.PathLike[str]) -> Schema:
        """The schema that `to_toml` wrote, or that you wrote by hand."""
        import tomllib

        try:
            text = Path(path).read_text(encoding="utf-8")
            record = tomllib.loads(text)
        except FileNotFoundError:
            raise BadParameter(f"there is no schema at {os.fspath(path)}") from None
        except (tomllib.TOMLDecodeError, UnicodeDecodeError, OSError) as error:
            raise BadParameter(f"{os.fspath(path)} cannot be read as TOML: {error}") from None
        try:
            return Schema.from_dict(record)
        except DeniableError as error:
            error.what = f"{os.fspath(path)}{toml.place(text, error.within)}: {error.what}"
            raise

    def to_dict(self) -> dict[str, object]:
        """A nested record of what was stated; nothing else is written."""
        names = ("version", "file", "size", "public", "consent")
        facts: dict[str, object] = {name: getattr(self, name) for name in names}
        record = {name: fact for name, fact in facts.items() if fact not in (None, False)}
        if self.unit is not None:
            record["unit"] = self.unit.to_dict()
        if self.columns:
            record["columns"] = {name: _column_to_dict(c) for name, c in self.columns.items()}
        if self.tables:
            record["tables"] = {name: table.to_dict() for name, table in self.tables.items()}
        return record

    @staticmethod
    def from_dict(record: Mapping[str, Any]) -> Schema:
        """The schema that `to_dict` wrote."""
        _known_fields(record, "schema")
        unit = record.get("unit")
        return Schema(
            columns=_each("columns", record, _column_from_dict),
            unit=None if unit is None else Unit.from_dict(_mapping("unit", unit)),
            size=record.get("size"),
            public=record.get("public", False),
            tables=_each("tables", record, Schema.from_dict),
            version=record.get("version"),
            consent=record.get("consent"),
            file=record.get("file"),
        )


# ---- checks


def _checked_size(size: object) -> int:
    whole = parameters.whole("size", size)
    if whole > _MOST:
        raise BadParameter.of("size", size, must="at most 2^53")
    return whole


def _named(what: str, given: object, kind: type, *, fix: str) -> Mapping[str, object]:
    if not isinstance(given, Mapping):
        raise BadParameter.of(what, given, must="a dictionary by name", fix=f"{what}={fix}")
    folded: dict[str, str] = {}
    for name, value in given.items():
        if not isinstance(name, str) or not name or not name.isprintable():
            raise BadParameter.of("the name of a column or table", name, must="printable text")
        if not isinstance(value, kind):
            raise BadParameter.of(
                f"{what}[{name!r}]", value, must=f"a {kind.__name__}", fix=f"{what}={fix}"
            )
        if folded.setdefault(name.lower(), name) != name:
            raise BadParameter(
                f"`{folded[name.lower()]}` and `{name}` are one name in SQL, which ignores case"
            )
    return MappingProxyType(dict(given))


def _check_file(file: object) -> None:
    if file is not None and (not isinstance(file, str) or not file):
        raise BadParameter.of("file", file, must="a path, as visits.csv")


def _check_version(version: object) -> None:
    named = isinstance(version, str) and version.strip() and version.isprintable()
    if version is not None and (not named or len(str(version)) > _LONGEST):
        raise BadParameter.of(
            "version", version, must="a short name of the data's state", fix='version="2024-06"'
        )


def _check_consent(schema: Schema) -> None:
    if schema.consent is None:
        return
    column = schema.columns.get(schema.consent)
    if schema.public or column is None or column.type != "bool":
        raise BadParameter.of(
            "consent",
            schema.consent,
            must="a column of type bool in the schema of a private table",
            fix='dp.Schema(columns={"agreed": dp.column("bool")}, consent="agreed")',
        )
    if column.missing not in (None, "drop", False):
        raise BadParameter(
            f"`{schema.consent}` states consent, and its missing values would count as true",
            why="who has not answered has not agreed",
            fix=f'"{schema.consent}": dp.column("bool")',
        )


def _check_tables(schema: Schema) -> None:
    if schema.public and schema.unit is not None:
        raise BadParameter("a public table has no privacy unit")
    if not schema.tables:
        return
    if schema.columns or schema.public or schema.file:
        raise BadParameter("a schema describes one table (columns=) or several (tables=), not both")
    for name, table in schema.tables.items():
        if table.tables:
            raise BadParameter(f"`{name}` is one table: it cannot have tables of its own")
        if table.version is not None:
            raise BadParameter(
                f"the version belongs to the schema as a whole, not to `{name}` alone",
                fix='dp.Schema(tables=..., version="2024-06")',
            )
        if table.unit is not None:
            raise BadParameter(
                f"the unit belongs to the schema as a whole, not to `{name}` alone",
                why="one unit covers all tables, because a person may be in each",
                fix="dp.Schema(tables=..., unit=...)",
            )


# ---- records


def _column_to_dict(facts: Column) -> dict[str, object]:
    record: dict[str, object] = {"type": facts.type}
    if facts.low is not None:
        record["bounds"] = [facts.low, facts.high]
    if facts.keys is not None:
        record["keys"] = list(facts.keys)
    if facts.missing is not None:
        record["missing"] = facts.missing
    return record


def _column_from_dict(record: Mapping[str, Any]) -> Column:
    _known_fields(record, "column")
    missing = record.get("missing", DROP)
    kind = str(record.get("type", "float"))
    if "bounds" in record and "keys" in record:
        raise BadParameter("a column has bounds or keys, not both")
    if "keys" in record:
        made = keys(record["keys"], missing=missing)
        if record.get("type", made.type) != made.type:
            raise BadParameter(f"the keys are of type {made.type}, not {kind}")
        return made
    if "bounds" in record:
        pair = record["bounds"]
        if not isinstance(pair, list) or len(pair) != 2:
            raise BadParameter.of("bounds", pair, must="a pair [low, high]")
        low, high = map(_at_midnight, pair) if kind == "timestamp" else pair
        try:
            return bounds(low, high, type=kind, missing=missing)
        except BadParameter as error:
            if error.fix:
                error.fix = f"bounds = [{high}, {low}]"
            raise
    if "type" not in record:
        raise BadParameter("a column needs a type, bounds or keys", fix='type = "text"')
    return column(kind, missing=record.get("missing"))


def _at_midnight(value: object) -> object:
    """A bare date is fine as the bound of a timestamp."""
    if isinstance(value, dt.date) and not isinstance(value, dt.datetime):
        return dt.datetime.combine(value, dt.time())
    return value


def _mapping(what: str, value: object) -> Mapping[str, object]:
    if not isinstance(value, Mapping):
        raise BadParameter.of(what, value, must="a table")
    return value


def _each(
    what: str, record: Mapping[str, object], read: Callable[[Mapping[str, object]], T]
) -> dict[str, T]:
    """Read every entry, and name the one that is wrong."""
    made = {}
    for name, entry in _mapping(what, record.get(what, {})).items():
        try:
            made[name] = read(_mapping(f"{what}.{name}", entry))
        except DeniableError as error:
            error.what = f"in {what}.{name}: {error.what}"
            error.within = (what, name, *error.within)
            raise
    return made


def _known_fields(record: Mapping[str, object], kind: str) -> None:
    for name in record:
        if name not in _FIELDS[kind]:
            error = UnknownName.of(f"field of a {kind}", name, known=_FIELDS[kind])
            if kind == "column" and name in _ENDS:
                error.fix = "bounds = [0, 100]    (low and high)"
            raise error
