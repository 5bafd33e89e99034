"""Spark SQL: any cluster, classic or Connect, in a session of our own beside the user's.

Settings and views belong to a session: so ours change nothing that the user runs meanwhile, nor
theirs what our SQL means. A frame comes over as Spark has understood it already, by a view that
all sessions see and that is dropped at once.
"""

from __future__ import annotations

import uuid
from collections.abc import Mapping, Sequence
from concurrent.futures import wait
from typing import Any, ClassVar, Final

from deniable.query.compile import Dialect, Stored
from deniable.query.compile import nodes as sql
from deniable.query.compile.spark import Spark as SparkDialect
from deniable.session.sources.spark_frames import is_remote
from deniable.session.tables import Table

from .engine import Engine, Found, check_settings

# Without ANSI mode a cast that fails gives NULL. \ in text is as SQL reads it, which is what
# sqlglot writes; ${...} in text is text; a name in backquotes is a name, not a pattern.
SETTINGS: Final = {
    "spark.sql.ansi.enabled": "false",
    "spark.sql.session.timeZone": "UTC",
    "spark.sql.caseSensitive": "false",
    "spark.sql.crossJoin.enabled": "true",
    "spark.sql.decimalOperations.allowPrecisionLoss": "true",
    "spark.sql.parser.escapedStringLiterals": "false",
    "spark.sql.parser.quotedRegexColumnNames": "false",
    "spark.sql.variable.substitute": "false",
    "spark.sql.legacy.ctePrecedencePolicy": "CORRECTED",
    "spark.sql.legacy.decimal.retainFractionDigitsOnTruncate": "false",
    "spark.sql.legacy.timeParserPolicy": "CORRECTED",
}


class Spark(Engine):
    """A new session on the user's cluster, with the user's settings but for those that we pin."""

    name: ClassVar = "Spark"
    dialect: ClassVar[Dialect] = SparkDialect()

    def __init__(self, tables: Sequence[Table]) -> None:
        self._frames: dict[str, Any] = {table.name: table.source.held for table in tables}
        theirs = next(iter(self._frames.values())).sparkSession
        self._spark = theirs.newSession()
        self._views: dict[str, str] = {}
        try:
            self._pin(theirs)
            for name, frame in self._frames.items():
                self._views[name] = self._handed_over(frame)
        except BaseException:
            self.close()
            raise

    def _pin(self, theirs: Any) -> None:
        """What the user has set since the start (partitions, keys of a store) holds here too."""
        conf, fresh = self._spark.conf, self._spark.conf.getAll
        for name, value in theirs.conf.getAll.items():
            if fresh.get(name) != value and name not in SETTINGS:
                conf.set(name, value)
        for name, value in SETTINGS.items():
            if conf.get(name) != value:  # some warn whenever they are set
                conf.set(name, value)
        check_settings(SETTINGS, {name: conf.get(name) for name in SETTINGS})

    def _handed_over(self, frame: Any) -> str:
        """The name of the frame in our session."""
        view = f"deniable_{uuid.uuid4().hex}"
        shared = f"`{self._spark.conf.get('spark.sql.globalTempDatabase')}`.`{view}`"
        frame.createGlobalTempView(view)
        try:
            self._spark.table(shared).createTempView(view)
        finally:
            frame.sparkSession.catalog.dropGlobalTempView(view)
        return view

    def stored(self) -> Mapping[str, Stored]:
        """From the frames' schemas."""
        return {
            name: Stored(source=sql.table(view), types=dict(self._frames[name].dtypes))
            for name, view in self._views.items()
        }

    def check(self, statements: Sequence[str]) -> None:
        """Each statement is analysed, and an executor does something about nobody."""
        for text in statements:
            self.frame(text).schema  # noqa: B018  (Connect looks when it is asked for columns)
        self._spark.range(1).collect()

    def run(self, statements: Sequence[str]) -> list[Found]:
        """Each statement is a job of its own, which reads its rows once.

        A task that Spark runs again reads them again: files must not be replaced meanwhile.
        """
        return [[tuple(row) for row in self.frame(text).collect()] for text in statements]

    def frame(self, statement: str) -> Any:
        """A statement as a Spark DataFrame: nothing runs yet."""
        return self._spark.sql(statement)

    def close(self) -> None:
        """Our views go, and on Connect our session; the cluster is the user's."""
        for view in self._views.values():
            self._spark.catalog.dropTempView(view)
        if is_remote(self._spark):
            client = self._spark.client
            wait(getattr(client, "_release_futures", ()))  # or the server logs errors for them
            client.release_session()
            client.close()
