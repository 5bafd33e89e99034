"""What a session knows of a table: its name, its columns and where it is. Never its rows."""

from __future__ import annotations

import re
import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Final

from deniable import fixes
from deniable.errors import BadParameter, MissingUnit, UnknownName
from deniable.fixes import Fix
from deniable.schema import Column, Schema
from deniable.units import Unit

if TYPE_CHECKING:
    from ibis.expr import types as ir

    from .sources.source import Source

# One table for all engines: how each spells a type → what we call it. Lists, structs, durations and
# binary are not here: a column of such a type can be used once the schema says what to read it as.
_SPELLINGS: Final = (
    (r"u?(int\d*|tinyint|smallint|integer|bigint|hugeint)", "int"),
    (r"float\d*|double|halffloat|real|(decimal|numeric)\d*(\(.*\))?", "float"),
    (r"(large_)?string(_view)?(\[\w+\])?|utf8|varchar(\(\d+\))?|text|uuid|str|object", "text"),
    (r"categor(y|ical)(\(.*\))?|enum(\(.*\))?|dictionary<values=(large_)?string.*", "text"),
    (r"bool(ean)?", "bool"),
    (r"date(32|64)?(\[(day|ms)\])?", "date"),
    (r"(timestamp|datetime)[^<]*", "timestamp"),
)

_ZONED: Final = re.compile(
    r"tz=|time_zone='|timestamptz|with time zone|datetime64\[\w+, |timestamp\('", re.IGNORECASE
)
_ALIKE: Final = 0.8  # patient and patients, not patient and parent


@dataclass(frozen=True, kw_only=True)
class Table:
    """A table that is held, not read: what is public about it, and how to reach it.

    `columns` are those that can be used; `unread` those whose type nobody stated, and `likely` what
    a fix proposes to read them as, where that is not text; `refused` those of the unread that
    cannot be read at all, by their types. `source` holds its rows; `ibis` is the Ibis table it was
    opened as, by which expressions may speak of it; `size` the number of units that the schema
    states; `consent` the column that must be true for a row to count; `zoned` the columns that are
    stored with a time zone.
    """

    name: str
    columns: Mapping[str, Column]
    unread: tuple[str, ...] = ()
    likely: Mapping[str, str] = field(default_factory=dict, repr=False, compare=False)
    refused: Mapping[str, str] = field(default_factory=dict, repr=False, compare=False)
    public: bool = False
    source: Source = field(repr=False)
    ibis: ir.Table | None = field(default=None, repr=False, compare=False)
    size: int | None = None
    consent: str | None = None
    zoned: frozenset[str] = frozenset()

    def column(self, name: str) -> Column:
        """The public facts about one column; if it cannot be used, an error with a fix."""
        if name in self.columns:
            return self.columns[name]
        if name in self.refused:
            raise _nested(self.name, name, self.refused[name])
        if name in self.unread:
            kind = self.likely.get(name, "text")
            raise BadParameter(
                f"the type of `{name}` in `{self.name}` is unknown",
                why="its stored type does not determine it, and the rows are not inspected",
                fix=Fix(
                    fixes.schema({name: f'dp.column("{kind}")'}),
                    command=f"deniable set {shlex.quote(f'{self.name}.{name}')} --type {kind}",
                ),
            )
        raise UnknownName.of("column", name, known=self.columns)


@dataclass(frozen=True, kw_only=True)
class TableOutline:
    """What was found about a table before the schema is applied: column names and types alone."""

    name: str
    types: Mapping[str, str | None]
    likely: Mapping[str, str] = field(default_factory=dict)
    source: Source
    spelled: Mapping[str, str] = field(default_factory=dict)
    """How the types of columns are spelled, where that says whether they can identify people."""
    refused: Mapping[str, str] = field(default_factory=dict)
    """Columns that cannot be read at all, by the types that make it so."""
    ibis: ir.Table | None = field(default=None, repr=False)
    zoned: frozenset[str] = frozenset()
    """Columns whose moments are stored with a time zone that may not be UTC."""


def type_of(spelling: str) -> str | None:
    """The type an engine means by a word; None for one that we do not read unasked.

    >>> type_of("BIGINT"), type_of("timestamp[us, tz=UTC]"), type_of("INTEGER[]")
    ('int', 'timestamp', None)
    """
    word = spelling.lower().lstrip("!").removesuffix("[pyarrow]")
    if word.endswith("[]"):
        return None
    return next((kind for pattern, kind in _SPELLINGS if re.fullmatch(pattern, word)), None)


def is_zoned(spelling: str) -> bool:
    """Whether moments are stored with a time zone that may not be UTC, in which they are read.

    >>> is_zoned("datetime64[us, Europe/Oslo]"), is_zoned("timestamp[us, tz=UTC]")
    (True, False)
    """
    return _ZONED.search(spelling) is not None and "UTC" not in spelling


def _nested(table: str, column: str, kind: str) -> BadParameter:
    name = fixes.sql_name(column)
    copied = fixes.select([f"* REPLACE ({name}::VARCHAR AS {name})"], "'old.parquet'")
    return BadParameter(
        f"`{column}` of `{table}` is {kind}: lists and structs in Parquet cannot be read",
        why="one row that is stored wrongly would stop the reader, which reveals that it is there",
        fix=(
            f"COPY ({copied}) TO 'new.parquet'    in DuckDB; then open the new file",
            f"leave `{column}` out of the schema",
        ),
    )


def check_names(names: Sequence[object], *, table: str) -> list[str]:
    """The names of a table's columns: each text, each different even when case is ignored."""
    if not names:
        raise BadParameter(f"`{table}` has no columns")
    checked: dict[str, str] = {}
    for name in names:
        if not isinstance(name, str) or not name:
            raise BadParameter(
                f"the columns of `{table}` need names that are text",
                fix="frame.columns = [str(name) for name in frame.columns]",
            )
        if name.lower() in checked:
            raise BadParameter(
                f"`{table}` has two columns named `{checked[name.lower()]}` and `{name}`",
                why="SQL ignores case, so a query could mean either",
                fix="rename one of them",
            )
        checked[name.lower()] = name
    return list(checked.values())


def described(found: TableOutline, schema: Schema | None) -> Table:
    """The table with what the schema says of it; the schema's word on types is final."""
    facts = Schema() if schema is None else schema
    names = check_names(list(found.types), table=found.name)
    for name in facts.columns:
        if name not in found.types:
            raise UnknownName.of("column", name, known=names, table=found.name)
        if name in found.refused:
            raise _nested(found.name, name, found.refused[name])
    _check_consent(found, facts.consent)
    typed = {name: Column(type=kind) for name, kind in found.types.items() if kind is not None}
    columns = {name: facts.columns.get(name) or typed.get(name) for name in names}
    return Table(
        name=found.name,
        columns=MappingProxyType({n: c for n, c in columns.items() if c is not None}),
        unread=tuple(name for name, known in columns.items() if known is None),
        likely=found.likely,
        refused=found.refused,
        public=facts.public,
        source=found.source,
        ibis=found.ibis,
        size=facts.size,
        consent=facts.consent,
        zoned=found.zoned,
    )


def _check_consent(found: TableOutline, column: str | None) -> None:
    """Refuse stored codes: engines read 2 (no) and 9 (not asked) as true, as they do 1."""
    kind = None if column is None else found.types.get(column)
    if kind not in (None, "bool", "text"):
        raise BadParameter(
            f"`{column}` of `{found.name}` states consent and is stored as {kind}",
            why="every number but 0 would be read as consent, also a code for no or unknown",
            fix=f"store `{column}` as a truth value: for instance, true where it is 1",
        )


def check_unit(unit: Unit, tables: Mapping[str, Table]) -> None:
    """An error unless every private table says whose its rows are.

    Another column is proposed only as another spelling of the same name that every private table
    has: one that is merely there may identify something else, and people would go unprotected.
    """
    private = [{*t.columns, *t.unread} for t in tables.values() if not t.public]
    for table in tables.values():
        names = {*table.columns, *table.unread}
        if table.public or unit.column is None or unit.column in names:
            continue
        if not table.source.complete:
            raise _unlisted(table.name, unit.column)
        folded = {name.lower(): name for name in set.intersection(*private)}
        found = fixes.nearest(unit.column.lower(), folded, alike=_ALIKE)
        advice = _without_people(table.name, list(tables))
        if found:  # that column is meant, and of one table no other need be looked for
            advice = advice[1:] if len(tables) == 1 else advice
            advice = [fixes.person(folded[found], unit.rows), *advice]
        raise MissingUnit(
            f"`{table.name}` has no column `{unit.column}`, so rows cannot be assigned to people",
            why="every private table needs that column: it identifies the people to protect",
            fix=advice,
            hint=f"columns of `{table.name}`: {', '.join(sorted(names))}",
        )


def _unlisted(table: str, column: str) -> MissingUnit:
    """A file without types has the columns that its schema lists, and no others."""
    return MissingUnit(
        f"the schema of `{table}` does not list `{column}`, which identifies people",
        why="a CSV has no types: the schema says which columns are read, and as what",
        fix=fixes.python(f'dp.Schema(columns={{"{column}": dp.column("text"), ...}})'),
    )


def _without_people(table: str, tables: Sequence[str]) -> list[Fix]:
    """How to open a table that is about nobody, or do without it."""
    if len(tables) == 1:
        return [
            fixes.person("...", note="the column that identifies people"),
            Fix(
                "dp.Schema(..., public=True)",
                command="public = true in its schema",
                note="only if the table contains no personal data",
            ),
        ]
    facts = [f'"{each}": dp.Schema({"public=True" * (each == table)})' for each in tables]
    return [
        Fix(f"schema={{{', '.join(facts)}}}", note=f"only if `{table}` contains no personal data"),
        Fix(f"leave `{table}` out of the source"),
    ]


def no_file(path: Path) -> BadParameter:
    """Where a file was looked for, and the name that is nearest to it there."""
    if not path.parent.is_dir():
        return BadParameter(f"there is no file {path.name}: there is no folder {path.parent}")
    near = fixes.nearest(path.name, [each.name for each in path.parent.iterdir()])
    guess = f"; did you mean `{near}`?" if near else ""
    return BadParameter(
        f"there is no file {path.name} in {path.parent}{guess}",
        fix=str(path.with_name(near)) if near else connecting(path.name),
    )


def connecting(path: str) -> str:
    """How to open the file of a database: by its connection; nothing for other files."""
    if not path.lower().endswith((".duckdb", ".ddb", ".db")):
        return ""
    return f'dp.open(duckdb.connect("{path}", read_only=True), ...)'
