"""Spark SQL: any cluster, classic or Connect, in a session of our own beside the user's.

Settings and views belong to a session: so ours change nothing that the user runs meanwhile, nor
theirs what our SQL means. A frame comes over as Spark has understood it already, by a view that
all sessions see and that is dropped at once.
"""

from __future__ import annotations

import uuid
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import wait
from typing import Any, ClassVar, Final

import numpy as np

from deniable.query.compile import Dialect, Stored
from deniable.query.compile import nodes as sql
from deniable.query.compile.spark import Spark as SparkDialect
from deniable.release.provenance import version
from deniable.session.sources.spark_frames import is_remote
from deniable.session.tables import Table

from .engine import AT_ONCE, AnswerRows, Engine, EngineError, Integers, Work, added, check_settings

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
    advice: ClassVar = "the cluster is running and the tables are still there"
    dialect: ClassVar[Dialect] = SparkDialect()
    apart: ClassVar = True

    def __init__(self, tables: Sequence[Table]) -> None:
        self._frames: dict[str, Any] = {table.name: table.source.held for table in tables}
        theirs = next(iter(self._frames.values())).sparkSession
        self._spark = theirs.newSession()
        self._views: dict[str, str] = {}
        self._kept: dict[str, Any] = {}
        """Frames that are read several times, in the executors' memory until the engine closes."""
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
        """Each statement is analysed, and an executor runs a job that reads no table."""
        for text in statements:
            _ = self.frame(text).schema  # Connect looks when it is asked for columns
        self._spark.range(1).collect()

    def run(self, statements: Sequence[str]) -> list[AnswerRows]:
        """Each statement is a job of its own, which reads its rows once.

        A task that Spark runs again reads them again: files must not be replaced meanwhile.
        """
        return [[tuple(row) for row in self.frame(text).collect()] for text in statements]

    def check_workers(self) -> None:
        """Each worker must have this deniable: found out before anything is charged."""
        if versions_of(self._spark, workers=1) != {version()}:
            raise EngineError("the executors have another version of deniable")

    def sums(self, statement: str, names: Sequence[str], work: Work) -> Integers | None:
        """Added up in the executors: of each partition only its sums come back."""
        from pyspark import StorageLevel

        if statement not in self._kept:
            frame = self.frame(statement).toDF(*names)
            self._kept[statement] = frame.persist(StorageLevel.MEMORY_ONLY)
        parts = self._kept[statement].mapInArrow(_Partition(work).over, "sums array<bigint>")
        return added(np.array(row[0], dtype=np.int64) for row in parts.collect())

    def frame(self, statement: str) -> Any:
        """A statement as a Spark DataFrame: nothing runs yet."""
        return self._spark.sql(statement)

    def close(self) -> None:
        """Our views go, and on Connect our session; the cluster is the user's."""
        for frame in self._kept.values():
            frame.unpersist()
        for view in self._views.values():
            self._spark.catalog.dropTempView(view)
        if is_remote(self._spark):
            client = self._spark.client
            wait(getattr(client, "_release_futures", ()))  # or the server logs errors for them
            client.release_session()
            client.close()


class _Partition:
    """The sums of one partition of the rows, made in an executor; travels there by pickle."""

    def __init__(self, work: Work) -> None:
        self._work = work

    def over(self, batches: Iterator[Any]) -> Iterator[Any]:
        """One row: the sums of all batches."""
        import pyarrow as pa

        total = added(self._work(table) for table in _larger(batches))
        if total is not None:
            yield pa.record_batch([pa.array([total], pa.list_(pa.int64()))], names=["sums"])


def _larger(batches: Iterator[Any]) -> Iterator[Any]:
    """Several batches as one table: Spark's own are too small to be worth a call each."""
    import pyarrow as pa

    held: list[Any] = []
    for batch in batches:
        held.append(batch)
        if sum(each.num_rows for each in held) * batch.num_columns >= AT_ONCE:
            yield pa.Table.from_batches(held)
            held = []
    if held:
        yield pa.Table.from_batches(held)


def versions_of(spark: Any, *, workers: int) -> set[str]:
    """Which deniable some of the workers have: a small job about nobody."""
    asked = spark.range(0, workers, 1, workers).mapInArrow(versions, "version string")
    return {row[0] for row in asked.collect()}


def versions(batches: Iterator[Any]) -> Iterator[Any]:
    """Which deniable a worker has: a public fact, asked before anything is charged."""
    import pyarrow as pa

    for _ in batches:
        yield pa.record_batch([pa.array([version()])], names=["version"])
