"""The engine that reads a question's tables, and what each can do: run statements that only read.

Before the charge an engine is connected, its settings are pinned and asserted, the columns are
described and the statements compiled and checked, all without reading a row: what fails there is
the environment's fault, is refused by `before_charge`, and costs nothing. Rows are read by `run`
alone, inside the session's computation, where any exception is one opaque, charged failure.
Before and after the charge, nothing an engine says in an error may reach whoever asked.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Generator, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from importlib import import_module
from typing import Any, ClassVar, Final, Self, TypeVar

import numpy as np
from numpy.typing import NDArray

from deniable.errors import DeniableError, NotReady, UnsupportedQuery
from deniable.query.algebra import Relation, Scan, walk
from deniable.query.compile import Dialect, Stored
from deniable.session.tables import Table

T = TypeVar("T")

AnswerRows = list[tuple[Any, ...]]
"""The rows of an answer."""
Integers = NDArray[np.int64]
Work = Callable[[Any], Integers]
"""What is done to some of the rows, in an Arrow table: sums, which parts of the rows add to."""
AT_ONCE: Final = 2**22
"""How many numbers a batch of rows holds, where every batch has a fixed cost."""
_ONE_PLACE: Final = "ask about tables that are held in one place"


class EngineError(RuntimeError):
    """An engine that does not do what our SQL relies on; its text holds public facts only."""


class Engine(ABC):
    """A connection with everything pinned that could change what our SQL means."""

    name: ClassVar[str]
    advice: ClassVar[str]
    """What people check if it is not ready for a question: "check that …"."""
    dialect: ClassVar[Dialect]
    apart: ClassVar[bool] = False
    """Whether rows are spread over other processes, and better added up where they are."""

    @abstractmethod
    def __init__(self, tables: Sequence[Table]) -> None:
        """Connect, pin the settings and assert them, and make the tables known; no row is read."""

    @abstractmethod
    def stored(self) -> Mapping[str, Stored]:
        """For each table by name what to put after FROM, and its columns' stored types."""

    @abstractmethod
    def check(self, statements: Sequence[str]) -> None:
        """Raise if the engine does not understand a statement; no row is read."""

    @abstractmethod
    def run(self, statements: Sequence[str]) -> list[AnswerRows]:
        """The rows of each statement, all of one state of the data where the engine can.

        To be called after the charge: here, and nowhere before, are rows read.
        """

    def table(self, statement: str, names: Sequence[str]) -> Any:
        """One statement's rows as an Arrow table with these columns; as `run`, after the charge."""
        import pyarrow as pa

        (rows,) = self.run([statement])
        columns = list(zip(*rows, strict=True)) if rows else [()] * len(names)
        return pa.table([pa.array(column) for column in columns], names=list(names))

    def batches(
        self, statement: str, names: Sequence[str], *, rows: int
    ) -> Generator[Any, None, None]:
        """The same rows in one or more Arrow tables of about so many, where an engine can."""
        del rows  # most cannot
        yield self.table(statement, names)

    def check_workers(self) -> None:
        """Raise if other processes that `sums` needs are not fit for it; no row is read."""
        assert not self.apart, "an engine with workers has its own check of them"

    def sums(self, statement: str, names: Sequence[str], work: Work) -> Integers | None:
        """What `work` makes of the rows part by part, added up; None if there is no part.

        As `run`, after the charge. `work` takes an Arrow table with these columns.
        """
        rows = max(1, AT_ONCE // max(1, len(names)))
        return added(work(part) for part in self.batches(statement, names, rows=rows))

    @abstractmethod
    def close(self) -> None:
        """Leave nothing behind."""

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        with suppress(Exception):  # of the environment; the answer, or its failure, stands
            self.close()


def engine_for(tables: Sequence[Table]) -> type[Engine]:
    """The engine that can read all of these tables; chosen by public facts alone."""
    engines = {table.source.engine for table in tables}
    if len(engines) > 1:
        listed = ", ".join(sorted({table.source.kind for table in tables}))
        raise UnsupportedQuery(
            f"no engine reads tables of these kinds together: {listed}", fix=_ONE_PLACE
        )
    if len({table.source.place for table in tables} - {None}) > 1:
        raise UnsupportedQuery("these tables are held in two places", fix=_ONE_PLACE)
    (name,) = engines
    engine: type[Engine] = getattr(import_module(f".{name.lower()}", __package__), name)
    return engine


def needed(relation: Relation, tables: Mapping[str, Table]) -> list[Table]:
    """The tables a relation reads, each once, with no columns to fetch that it does not read."""
    reads: dict[str, list[str]] = {}
    for scan in _scans(relation):
        columns = [read.source for read in (*scan.reads, scan.id) if read is not None]
        reads.setdefault(scan.table, []).extend(columns)
    return [
        replace(tables[name], source=tables[name].source.only(list(dict.fromkeys(read))))
        for name, read in reads.items()
    ]


def tables_of(relation: Relation, tables: Mapping[str, Table]) -> list[Table]:
    """The tables a relation reads, each once."""
    return [tables[name] for name in dict.fromkeys(scan.table for scan in _scans(relation))]


def _scans(relation: Relation) -> list[Scan]:
    return [each for each in walk(relation) if isinstance(each, Scan)]


def added(sums: Iterable[Integers]) -> Integers | None:
    """Σ of vectors, or None of none; beyond 2⁶³ an error, not another number."""
    total: Integers | None = None
    for each in sums:
        if total is None:
            total = each
            continue
        both = total + each
        if (((total ^ both) & (each ^ both)) < 0).any():  # the sign is neither's
            raise OverflowError("a sum leaves 64 bits")
        total = both
    return total


def before_charge(prepare: Callable[[], T], *, engine: type[Engine]) -> T:
    """What `prepare` returns; if it fails, that is refused in words that hold public facts only."""
    try:
        return prepare()
    except DeniableError:
        raise
    except Exception as error:  # noqa: BLE001  (whatever an engine or a driver raises)
        reason = _reason(error)
    raise NotReady(  # out here, so that the engine's own words do not travel with it
        f"{engine.name} is not ready for this question: {reason}",
        why="it was found before any row was read",
        fix=f"check that {engine.advice}; then ask again",
    )


def _reason(error: Exception) -> str:
    if isinstance(error, EngineError):
        return str(error)
    if isinstance(error, OSError) and error.strerror:
        return f"{error.filename}: {error.strerror}" if error.filename else error.strerror
    return type(error).__name__


def check_settings(wanted: Mapping[str, str], found: Mapping[str, str]) -> None:
    """Raise if a setting did not take: better no answer than one that means something else."""
    for name, value in wanted.items():
        if found[name].lower() != value.lower():
            raise EngineError(f"{name} is {found[name]!r}, and must be {value!r}")
