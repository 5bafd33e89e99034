"""Spark SQL, on a session of the user's; any cluster."""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar, Final

from deniable.query.compile import Dialect, Stored
from deniable.query.compile import nodes as sql
from deniable.query.compile.spark import Spark as SparkDialect
from deniable.session.tables import Table

from .engine import Engine, EngineError, Found, check_settings

# Without ANSI mode a cast that fails gives NULL. Text compares by bytes; \ in text is as SQL reads
# it, which is what sqlglot writes.
SETTINGS: Final = {
    "spark.sql.ansi.enabled": "false",
    "spark.sql.session.timeZone": "UTC",
    "spark.sql.parser.escapedStringLiterals": "false",
    "spark.sql.decimalOperations.allowPrecisionLoss": "true",
    "spark.sql.legacy.timeParserPolicy": "CORRECTED",
}
_numbers = itertools.count()


class Spark(Engine):
    """The user's own session, its settings put back afterwards."""

    dialect: ClassVar[Dialect] = SparkDialect()
    kinds: ClassVar = frozenset({"spark"})

    def __init__(self, tables: Sequence[Table]) -> None:
        frames: dict[str, Any] = {table.name: table.source for table in tables}
        sessions = {id(f.sparkSession): f.sparkSession for f in frames.values()}
        if len(sessions) != 1:
            raise EngineError("tables of two Spark sessions cannot be joined")
        self._spark = next(iter(sessions.values()))
        self._before = {name: self._spark.conf.get(name, None) for name in SETTINGS}
        for name, value in SETTINGS.items():
            self._spark.conf.set(name, value)
        check_settings(SETTINGS, {name: self._spark.conf.get(name) for name in SETTINGS})
        self._views = {name: f"deniable_{next(_numbers)}" for name in frames}
        for name, view in self._views.items():
            frames[name].createOrReplaceTempView(view)
        self._frames = frames

    def stored(self) -> Mapping[str, Stored]:
        """From the frames' schemas."""
        return {
            name: Stored(source=sql.table(view), types=dict(self._frames[name].dtypes))
            for name, view in self._views.items()
        }

    def run(self, statements: Sequence[str]) -> list[Found]:
        """Each statement is a job of its own; files must not change while they run."""
        return [[tuple(row) for row in self.frame(text).collect()] for text in statements]

    def frame(self, statement: str) -> Any:
        """A statement as a Spark DataFrame: nothing runs yet."""
        return self._spark.sql(statement)

    def close(self) -> None:
        """Put everything back as it was."""
        for view in self._views.values():
            self._spark.catalog.dropTempView(view)
        for name, value in self._before.items():
            if value is None:
                self._spark.conf.unset(name)
            else:
                self._spark.conf.set(name, value)
