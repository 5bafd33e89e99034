"""Execute: the one module that sends anything to an engine.

    plan → SQL of the engine that holds the tables → rows → whole numbers for every group

Groups with public keys all come back, in the order of their lists, with 0 where nothing was found:
what came from the engine can add no group and leave none out.
"""

from __future__ import annotations

from collections.abc import Generator, Mapping, Sequence
from contextlib import ExitStack
from functools import cached_property
from threading import RLock
from typing import TYPE_CHECKING, Any, Final, Self

import numpy as np
from numpy.typing import NDArray

from deniable.query.aggregates import Measure
from deniable.sampling.source import current
from deniable.sensitive import Sensitive
from deniable.session.tables import Table

from .algebra import Kind, Scalar
from .backends import Engine, engine_for
from .backends.engine import AnswerRows, Integers, Work, before_charge, needed, tables_of
from .compile import Statement, statements
from .compile.relations import PERSON
from .each_row import each_row
from .integers import Cells, Group, IntegerPlan

if TYPE_CHECKING:
    from .allocate.part import Part

_SECRET_BITS: Final = 128
_LIMIT: Final = 2**63 - 1


class Execution:
    """A plan sent to its engine once: made ready when entered, before the charge; then run.

    Entering connects, pins, describes, compiles and checks, and reads no row. `run` is for a
    session to call, after the charge, and for nobody else. The hash by which persons keep some of
    their groups is keyed anew every time.
    """

    def __init__(self, plan: IntegerPlan, *, tables: Mapping[str, Table]) -> None:
        self._plan, self._tables = plan, tables
        self._held = ExitStack()

    def __enter__(self) -> Self:
        engine = engine_for(tables_of(self._plan.question.relation, self._tables))
        before_charge(lambda: self._prepare(engine), engine=engine)
        return self

    def _prepare(self, kind: type[Engine]) -> None:
        with ExitStack() as held:
            self._engine = held.enter_context(
                kind(needed(self._plan.question.relation, self._tables))
            )
            self._asked = self._compiled(drawn_secret())
            self._engine.check([each.text for each in self._asked])
            self._held = held.pop_all()

    def _compiled(self, secret: str) -> tuple[Statement, ...]:
        return compiled_for(self._plan, self._engine, secret=secret)

    def run(self) -> Cells:
        """Read the rows: the whole numbers of every group."""
        found = self._engine.run([each.text for each in self._asked])
        return _cells(self._plan, list(zip(self._asked, found, strict=True)))

    def __exit__(self, *_: object) -> None:
        self._held.close()


class Reading:
    """A plan's whole numbers, read from the engine once, when they are first needed.

    Entering it makes the engine ready, before a charge; `found` is for values that a session
    computes, after it. Whoever asks several times enters it first, before the charge, and the
    engine stays ready. Of two threads the second waits while the first reads, and finds what it
    has read; no lock is held any longer, so that an interrupt at any line leaves none behind.
    """

    def __init__(self, plan: IntegerPlan, *, tables: Mapping[str, Table]) -> None:
        self.plan, self._tables = plan, tables
        self._alone = RLock()
        self._ready: Execution | None = None
        self._found: ExactCells | None = None
        self._entered = 0

    def _execution(self) -> Execution:
        return Execution(self.plan, tables=self._tables)

    @property
    def _known(self) -> bool:
        return self._found is not None

    def __enter__(self) -> Self:
        with self._alone:
            if not self._known and self._ready is None:
                self._ready = self._execution().__enter__()
            self._entered += 1
        return self

    def __exit__(self, *_: object) -> None:
        with self._alone:
            self._entered -= 1
            if self._ready is not None and not self._entered:
                left, self._ready = self._ready, None
                left.__exit__()

    def found(self) -> ExactCells:
        """The whole numbers of every group."""
        with self._alone:
            if self._found is None:
                assert self._ready is not None, "not entered"
                self._found = ExactCells(self._ready.run())
            return self._found

    def vector(
        self, part: Part, groups: Sequence[Group], keys: Sequence[object] | None = None
    ) -> Sensitive[NDArray[np.int64]]:
        """What gets noise, for these groups in this order; a group that was not found has 0."""
        return Sensitive(
            lambda: self.found().aligned(part, groups),
            l1=part.vector.l1,
            l2=part.vector.l2,
            linf=part.linf,
            whole=True,
            shape=(len(groups), *part.shape),
            keys=keys,
            unit=self.plan.unit,
            ready=[self],
        )


class ExactCells:
    """What one reading found; algorithms ask it for the same vectors again and again."""

    def __init__(self, cells: Cells) -> None:
        self.cells = cells
        self._numbers: list[tuple[Part, NDArray[np.int64]]] = []

    @cached_property
    def _places(self) -> dict[Group, int]:
        return {group: i for i, group in enumerate(self.cells.groups)}

    def aligned(self, part: Part, groups: Sequence[Group]) -> NDArray[np.int64]:
        """What gets noise, for these groups in this order; a group that was not found has 0."""
        found = next((numbers for held, numbers in self._numbers if held is part), None)
        if found is None:
            found = part.numbers(self.cells)
            self._numbers.append((part, found))
        if groups is self.cells.groups or tuple(groups) == self.cells.groups:  # public, as a rule
            return found.copy()
        padded = np.concatenate([found, np.zeros((1, *found.shape[1:]), dtype=np.int64)])
        taken: NDArray[np.int64] = padded[[self._places.get(group, -1) for group in groups]]
        return taken


class RowByRow(Execution):
    """The same plan before it is added up: a line for each row."""

    def _compiled(self, secret: str) -> tuple[Statement, ...]:
        engine = self._engine
        engine.check_workers()
        tables = engine.stored()
        return (each_row(self._plan, dialect=engine.dialect, tables=tables, secret=secret),)

    def rows(self) -> Any:
        """Read the rows, as an Arrow table: keys, numbers, and for persons w and p."""
        return self._engine.table(*self._read)

    def batches(self, *, numbers: int) -> Generator[Any, None, None]:
        """The same rows in several tables of about so many numbers, one after the other."""
        statement, names = self._read
        return self._engine.batches(statement, names, rows=max(1, numbers // max(1, len(names))))

    def sums(self, work: Work) -> Integers | None:
        """What is made of the same rows, added up where they are."""
        return self._engine.sums(*self._read, work)

    @property
    def _read(self) -> tuple[str, list[str]]:
        (asked,) = self._asked
        numbers = [f"v{j}" for j in range(len(asked.tallies))]
        persons = ["w", PERSON] if self._plan.weight > 1 else []
        return asked.text, [*(f"k{i}" for i in asked.keys), *numbers, *persons]


def drawn_secret() -> str:
    """Keys the hash by which persons keep groups; drawn once, so that all statements agree."""
    return f"{current().integer(_SECRET_BITS):032x}"


def compiled_for(plan: IntegerPlan, engine: Engine, *, secret: str) -> tuple[Statement, ...]:
    """The statements for an engine that is connected."""
    return statements(plan, dialect=engine.dialect, tables=engine.stored(), secret=secret)


# ---- rows → cells


def _cells(plan: IntegerPlan, answers: Sequence[tuple[Statement, AnswerRows]]) -> Cells:
    """Rows of an answer that are one group to us are added up, as if the engine had done so.

    Nobody moves the sum of some of the engine's groups by more than those groups together.
    """
    read = [(asked, rows, _groups(plan, asked, rows)) for asked, rows in answers]
    if plan.private_keys:
        there = {group for _, _, found in read for group in found if group is not None}
        groups = tuple(sorted(there, key=_sortable))
    else:
        groups = tuple(plan.public_groups())
    place: dict[Group | None, int] = {group: i for i, group in enumerate(groups)}
    numbers: dict[str, Any] = {}
    histograms: dict[str, Any] = {}
    for asked, rows, found in read:
        places = [place.get(group, -1) for group in found]
        for tally, column in zip(asked.tallies, range(-len(asked.tallies), 0), strict=True):
            if tally.measure is Measure.HISTOGRAM:
                assert tally.bins is not None
                table = np.zeros((len(groups), tally.bins.count), dtype=np.int64)
                _fill_bins(table, places, rows, at=len(asked.keys))
                histograms[tally.name] = table
            else:
                cells = np.zeros(len(groups), dtype=object)
                for spot, row in zip(places, rows, strict=True):
                    if spot >= 0:
                        cells[spot] += int(row[column] or 0)
                numbers[tally.name] = cells
    return Cells(groups=groups, numbers=numbers, histograms=histograms)


def _fill_bins(
    table: np.ndarray[Any, np.dtype[np.int64]], places: Sequence[int], rows: AnswerRows, *, at: int
) -> None:
    """Each row's number into its group and bin; `at` is where the bin stands in a row."""
    known = [
        (spot, int(row[at]), min(int(row[-1] or 0), _LIMIT))
        for spot, row in zip(places, rows, strict=True)
        if spot >= 0 and row[at] is not None
    ]
    if known:
        spots, bins, counts = np.array(known, dtype=np.int64).T
        np.add.at(table, (spots, bins), counts)


def _groups(plan: IntegerPlan, asked: Statement, rows: AnswerRows) -> list[Group | None]:
    """The group each row is about; None for rows that are in no group. Each is made once."""
    count = len(asked.keys)
    flags = slice(count + asked.binned, count + asked.binned + count * asked.flagged)
    made: dict[tuple[Any, ...], Group | None] = {}
    found = []
    for row in rows:
        raw = (row[:count], row[flags])
        if raw not in made:
            made[raw] = _group(plan, asked, *raw)
        found.append(made[raw])
    return found


def _group(
    plan: IntegerPlan, asked: Statement, values: tuple[Any, ...], flags: tuple[Any, ...]
) -> Group | None:
    """Keys that the grouping set leaves out are None; another that is missing is in no group."""
    group: list[Scalar | None] = [None] * len(plan.question.keys)
    for place, i in enumerate(asked.keys):
        if flags and flags[place]:
            continue
        group[i] = canonical(values[place], plan.question.keys[i].expression.kind)
        if group[i] is None:
            return None
    return tuple(group)


def canonical(value: Any, kind: Kind) -> Scalar | None:
    """A key in the Python type of its kind, so that equal keys are equal whatever the engine."""
    if value is None:
        return None
    match kind:
        case Kind.FLOAT:
            return float(value) + 0.0
        case Kind.INT:
            return int(value)
        case Kind.BOOL:
            return bool(value)
    same: Scalar = value
    return same


def _sortable(group: Group) -> tuple[tuple[bool, Any], ...]:
    """Keys left out come last."""
    return tuple((value is None, 0 if value is None else value) for value in group)
