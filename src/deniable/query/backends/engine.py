"""What every engine can do for us: say how columns are stored, and run statements that only read.

Nothing an engine says in an error may reach who asked: all of this runs inside the session's
computation, where any exception becomes one opaque, charged failure.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from types import TracebackType
from typing import Any, ClassVar, Self

from deniable.query.compile import Dialect, Stored
from deniable.session.tables import Table

Found = list[tuple[Any, ...]]
"""The rows of an answer."""


class EngineError(RuntimeError):
    """An engine that does not do what our SQL relies on. For the curator: never shown to others."""


class Engine(ABC):
    """A connection with everything pinned that could change what our SQL means."""

    dialect: ClassVar[Dialect]
    kinds: ClassVar[frozenset[str]]
    """The kinds of table that it can read."""

    @abstractmethod
    def __init__(self, tables: Sequence[Table]) -> None:
        """Connect, pin the settings and assert them, and make the tables known."""

    @staticmethod
    @abstractmethod
    def places(tables: Sequence[Table]) -> set[object]:
        """What holds these tables: an engine reads those of one place together."""

    @abstractmethod
    def stored(self) -> Mapping[str, Stored]:
        """For each table by name what to put after FROM, and its columns' stored types."""

    @abstractmethod
    def run(self, statements: Sequence[str]) -> list[Found]:
        """The rows of each statement, all of one state of the data where the engine can."""

    @abstractmethod
    def close(self) -> None:
        """Leave nothing behind."""

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()


def check_settings(wanted: Mapping[str, str], found: Mapping[str, str]) -> None:
    """Raise if a setting did not take: better no answer than one that means something else."""
    for name, value in wanted.items():
        if found[name].lower() != value.lower():
            raise EngineError(f"{name} is {found[name]!r}, and must be {value!r}")
