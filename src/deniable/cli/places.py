"""Where things are: data, schema and ledger, three files side by side.

    people.parquet    the data: held, never shown
    people.toml       what is public about them; dp.open(..., schema="people.toml") reads it too
    people.ledger     the ceiling and all that was spent of it

A schema of several tables has a file for each of them beside it.
"""

from __future__ import annotations

import shlex
import tomllib
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from deniable.errors import BadParameter, UnknownName
from deniable.fixes import sql_name

from . import talk

if TYPE_CHECKING:
    from deniable.curator import Curator
    from deniable.losses import Loss
    from deniable.schema import Schema

_SUFFIXES = (".parquet", ".csv")
_FIELDS = {"version", "file", "size", "public", "consent", "unit", "columns", "tables"}


@dataclass(frozen=True, kw_only=True)
class Place:
    """A schema, and what belongs to it."""

    schema: Path
    data: tuple[Path, ...] = ()
    ledger: str

    @property
    def started(self) -> bool:
        """Is there a ledger? An address of a database is taken at its word."""
        return "://" in self.ledger or Path(self.ledger).exists()

    def facts(self) -> Schema:
        """What the schema says."""
        from deniable.schema import Schema

        return Schema.from_toml(self.schema)

    def names(self, facts: Schema) -> list[str]:
        """The tables by name: those that the schema names, else the one of its file."""
        return list(facts.tables) or [Path(facts.file or self.schema).stem]

    def sources(self, facts: Schema) -> dict[str, Path]:
        """The data file of each table."""
        names = self.names(facts)
        if not self.data:
            return {name: self._beside(name, facts) for name in names}
        if len(names) == len(self.data) == 1:
            return {names[0]: self.data[0]}
        given = {path.stem: path for path in self.data}
        for name in given:
            if name not in names:
                raise UnknownName.of("table", name, known=names)
        return {name: given.get(name) or self._beside(name, facts) for name in names}

    def _beside(self, table: str, facts: Schema) -> Path:
        stated = facts.table(table).file
        if stated is not None:
            return self.schema.parent / stated
        files = [self.schema.parent / f"{table}{suffix}" for suffix in _SUFFIXES]
        found = [file for file in files if file.exists()]
        if len(found) == 1:
            return found[0]
        here, names = self.schema.name, [file.name for file in found or files]
        raise BadParameter(
            f"both {' and '.join(names)} are beside {here}"
            if found
            else f"there is no {' or '.join(names)} beside {here}",
            fix=f"--data PATH    where the rows of `{table}` are",
        )

    def open(self, *, budget: Loss | None, asker: str | None = None) -> Curator:
        """A session on the data that spends from the ledger, which is started if it is new."""
        import deniable as dp

        if budget is None and not self.started:
            raise no_ceiling(self)
        if not self.started:
            self._say_others()
        facts = self.facts()
        return dp.open(
            self.sources(facts), schema=facts, budget=budget, ledger=self.ledger_name(), asker=asker
        )

    def _say_others(self) -> None:
        here = Path(self.ledger)
        if others := ", ".join(sorted(each.name for each in here.parent.glob("*.ledger"))):
            talk.say(
                f"{here.name} is a new budget beside {others}: losses of the same people add up"
            )

    def look(self, *, budget: Loss) -> Curator:
        """A session that is good for free questions only: its ledger is forgotten."""
        import deniable as dp

        facts = self.facts()
        return dp.open(self.sources(facts), schema=facts, budget=budget)

    def options(self, *, table: str | None = None, data: bool = False, ledger: bool = False) -> str:
        """What a command must be told to find the same place; nothing where it does by itself."""
        words = [] if _finds(self.schema, table) else ["--schema", str(self.schema)]
        if data:
            words += [word for path in self.data for word in ("--data", str(path))]
        if ledger and self.ledger != str(self.schema.with_suffix(".ledger")):
            # An address may hold a password, which is not repeated.
            kept = self.ledger if "://" not in self.ledger else "postgresql://..."
            words += ["--ledger", kept]
        return "".join(f" {shlex.quote(word)}" for word in words)

    def ledger_name(self) -> str | Path:
        """As `open_ledger` wants it."""
        return self.ledger if "://" in self.ledger else Path(self.ledger)


def find(
    schema: Path | None = None,
    *,
    data: Sequence[Path] | None = None,
    ledger: str | None = None,
    table: str | None = None,
) -> Place:
    """The place that is meant: the schema given, the one called like the table, or the only one."""
    path = schema or _only(table)
    if not path.is_file():
        raise BadParameter(f"there is no schema at {path}", fix="deniable init people.parquet")
    return Place(
        schema=path, data=tuple(data or ()), ledger=ledger or str(path.with_suffix(".ledger"))
    )


def schemas(folder: Path) -> list[Path]:
    """The schemas in a folder: TOML files that say what a schema says, and nothing else."""
    return [path for path in sorted(folder.glob("*.toml")) if _is_schema(path)]


def data_files(folder: Path) -> list[Path]:
    """The data files in a folder, Parquet before CSV."""
    return [path for suffix in _SUFFIXES for path in sorted(folder.glob(f"*{suffix}"))]


def split(target: str) -> tuple[str, str | None]:
    """people.income as table and column; people as a table."""
    table, dot, column = target.partition(".")
    if not table or (dot and not column):
        raise BadParameter.of("the target", target, must="a table or a column, as people.income")
    return table, column or None


def whose(column: str, facts: Schema, names: Sequence[str]) -> str:
    """The column with its table before it, where just one table has it; else nothing."""
    found = [name for name in names if column in facts.table(name)]
    return f"{found[0]}.{column}" if len(found) == 1 else ""


def example(table: str) -> str:
    """A first question to a table, as one types it in a shell.

    >>> print(example("people"), example("my-data"))
    "SELECT COUNT(*) AS n FROM people" 'SELECT COUNT(*) AS n FROM "my-data"'
    """
    asked = f"SELECT COUNT(*) AS n FROM {sql_name(table)}"  # noqa: S608  (shown, not run)
    return f'"{asked}"' if table.isidentifier() else shlex.quote(asked)


def no_ceiling(place: Place) -> BadParameter:
    """Nobody said how much may be learnt."""
    return BadParameter(
        f"no budget was given: there is no ledger at {place.ledger}",
        why="without a budget, enough queries would reveal every row",
        fix=(
            "--budget 1          the total ε of all releases",
            "--budget 3,1e-7     with a δ, for private group selection",
        ),
    )


def _finds(schema: Path, table: str | None) -> bool:
    """Would this schema be found without being named?"""
    try:
        return _only(table).resolve() == schema.resolve()
    except BadParameter:
        return False


def _only(table: str | None) -> Path:
    here = Path()
    if table is not None and _is_schema(here / f"{table}.toml"):
        return here / f"{table}.toml"
    found = schemas(here)
    if len(found) == 1:
        return found[0]
    if not found:
        data = data_files(here)
        file = shlex.quote(str(data[0])) if data else "people.parquet"
        raise BadParameter(
            "there is no schema in this folder",
            fix=("--schema PATH    if you have one elsewhere", f"deniable init {file}"),
        )
    raise BadParameter(
        f"there are several schemas in this folder: {', '.join(map(str, found))}",
        fix=f"--schema {found[0]}",
    )


def _is_schema(path: Path) -> bool:
    try:
        record = tomllib.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return False
    return set(record) <= _FIELDS and bool({"columns", "tables"} & set(record))
