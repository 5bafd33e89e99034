"""The public facts about a table as a form: what is typed, what it changes, and saving it.

Saving writes the schema file with its next revision ("2024-06, schema 2"), which is part of every
later answer, and a note in the ledger. What answers were charged for cannot change afterwards:

- the privacy unit is part of the ledger, and an edit of it is refused;
- consent that was asked for once is asked for ever;
- new bounds, keys, types and rules change what later answers describe, which is said.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Final

from deniable.errors import BadParameter, DeniableError
from deniable.schema import Column, Schema
from deniable.schema.columns import TYPES
from deniable.schema.lint import Finding, lint
from deniable.schema.typed import stated
from deniable.server.folder import Group
from deniable.server.house import House
from deniable.server.jobs.work import source_of
from deniable.session import sources

Fields = Mapping[str, str]
_REVISION: Final = re.compile(r"(?:(?P<data>.+), )?schema (?P<number>[0-9]+)")
_AGAIN: Final = "questions asked before are new questions afterwards, and cost again"


class Changed(BadParameter):
    """Somebody else saved the schema meanwhile."""

    status = 409


@dataclass(frozen=True, kw_only=True)
class Editing:
    """A table whose facts are being edited: what the file says, and what was typed."""

    table: str
    group: Group
    text: str
    file: Schema

    @property
    def path(self) -> Path:
        """Where the schema file lies."""
        return self.group.files[self.table]

    @property
    def facts(self) -> Schema:
        """What the file says about the table."""
        return self.file.table(self.table)

    @property
    def base(self) -> str:
        """What the file said when editing began: it must say the same when saving."""
        return digest(self.text)

    def findings(self, facts: Schema) -> list[Finding]:
        """What these facts lack, and what is dangerous in them."""
        typed = self.group.source != "" or self.group.sources[self.table].suffix != ".csv"
        return lint(facts, unit=self.group.unit, typed=typed)


def begin(house: House, table: str) -> Editing:
    """The facts about a table, as its file states them now."""
    group = house.group_of(table)
    text = group.files[table].read_text(encoding="utf-8")
    return Editing(table=table, group=group, text=text, file=Schema.from_toml(group.files[table]))


def typed_in(facts: Schema) -> dict[str, str]:
    """The fields of a form that states these facts; columns by their place."""
    fields = {"size": "" if facts.size is None else str(facts.size), "consent": facts.consent or ""}
    for place, column in enumerate(facts.columns.values()):
        fields |= {
            f"type-{place}": column.type,
            f"low-{place}": "" if column.low is None else _typed(column.low),
            f"high-{place}": "" if column.high is None else _typed(column.high),
            f"keys-{place}": "\n".join(map(_typed, column.keys or ())),
            f"missing-{place}": "" if column.missing is None else _typed(column.missing),
        }
    return fields


def read(facts: Schema, fields: Fields) -> Schema:
    """The facts that a form states; what it leaves out stays."""
    before = typed_in(facts)
    now = before | {name: text.strip() for name, text in fields.items() if name in before}
    columns = {name: _column(name, i, now) for i, name in enumerate(facts.columns)}
    size = now["size"].replace(",", "")
    if size and not size.isdecimal():
        raise BadParameter.of("the size", size, must="a whole number")
    return replace(
        facts, columns=columns, size=int(size) if size else None, consent=now["consent"] or None
    )


def _column(name: str, place: int, fields: Fields) -> Column:
    of = {part: fields[f"{part}-{place}"] for part in ("type", "low", "high", "keys", "missing")}
    if of["type"] not in TYPES:
        raise BadParameter.of(
            f"the type of `{name}`", of["type"], must="one of " + ", ".join(TYPES)
        )
    listed = [line.strip() for line in of["keys"].splitlines() if line.strip()]
    try:
        return stated(
            of["type"], low=of["low"], high=of["high"], listed=listed, missing=of["missing"]
        )
    except DeniableError as error:
        error.what = f"`{name}`: {error.what}"
        raise


def changes(old: Schema, new: Schema) -> list[str]:
    """What an edit changes, in words, with its consequences; refused if it would undo a promise."""
    if old.consent is not None and new.consent != old.consent:
        raise BadParameter(
            f"the consent column `{old.consent}` cannot be taken back",
            why="people whose rows were promised never to be read would be counted",
        )
    said = [
        f"{name}: {_words(old.columns[name])} → {_words(column)}"
        for name, column in new.columns.items()
        if old.columns[name] != column
    ]
    if new.consent != old.consent:
        said.append(f"rows whose {new.consent} is not true are no longer counted")
    if new.size != old.size:
        said.append(f"size: {old.size or 'not stated'} → {new.size or 'not stated'}")
    return [*said, f"Earlier answers keep their meaning; {_AGAIN}."] if said else []


def save(house: House, editing: Editing, new: Schema, *, base: str, who: str) -> str:
    """Write the edited facts with the next revision of the schema; the revision."""
    said = changes(editing.facts, new)
    if not said:
        raise BadParameter("nothing was changed")
    whole = _within(editing, new)
    _check_rows(editing, whole)

    def write() -> None:
        if digest(editing.path.read_text(encoding="utf-8")) != base:
            raise Changed("somebody else saved this schema meanwhile", fix="load the page again")
        whole.to_toml(editing.path)

    house.change(write)
    house.ledgers[editing.group.name].note(
        f"schema of {editing.table}, {whole.version}: {'; '.join(said[:-1])}"
    )
    house.anchor(editing.group.name)
    house.log(who, "schema", table=editing.table, version=whole.version)
    return str(whole.version)


def _within(editing: Editing, new: Schema) -> Schema:
    """The whole file with one table's new facts, and its next revision."""
    file, version = editing.file, next_revision(editing.file.version)
    if not file.tables:
        return replace(new, version=version)
    return replace(file, tables={**file.tables, editing.table: new}, version=version)


def _check_rows(editing: Editing, whole: Schema) -> None:
    """Refuse facts that do not fit the stored columns: by names and types, reading no rows."""
    facts = replace(whole.table(editing.table), unit=None, version=None)
    tables = {**editing.group.schema.tables, editing.table: facts}
    schema = replace(editing.group.schema, tables=tables)
    sources.tables(source_of(editing.group), schema=schema, unit=editing.group.unit, name=None)


def next_revision(version: str | None) -> str:
    """The revision that follows.

    >>> next_revision(None), next_revision("2024-06"), next_revision("2024-06, schema 9")
    ('schema 2', '2024-06, schema 2', '2024-06, schema 10')
    """
    found = _REVISION.fullmatch(version or "")
    data = version if found is None else found["data"]
    number = 2 if found is None else int(found["number"]) + 1
    return f"{data}, schema {number}" if data else f"schema {number}"


def digest(text: str) -> str:
    """A short name for what a file says."""
    return hashlib.blake2b(text.encode(), digest_size=16).hexdigest()


def _typed(value: Any) -> str:
    """A value as it is typed in a form."""
    if isinstance(value, bool):
        return str(value).lower()
    return value.isoformat() if hasattr(value, "isoformat") else str(value)


def _words(column: Column) -> str:
    if column.low is not None:
        facts = f"{_typed(column.low)} to {_typed(column.high)}"
    elif column.keys is not None:
        shown = ", ".join(map(_typed, column.keys[:6]))
        facts = shown + (f" and {len(column.keys) - 6} more" if len(column.keys) > 6 else "")
    else:
        facts = column.type
    return facts if column.missing in (None, "drop") else f"{facts}, missing as {column.missing}"
