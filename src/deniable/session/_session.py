"""The core door: data, unit, ceiling and ledger. Every release is charged, computed and drawn here.

Exactly one call in deniable charges (`Session._pay`), and it comes before any value is computed:
a crash loses budget, never privacy.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Mapping, Sequence
from dataclasses import replace
from types import MappingProxyType
from typing import Any, Final, NoReturn, Self, TypeVar

from deniable.errors import BadParameter, DataFailure, HiddenValue, UnitMismatch
from deniable.ledger import Entry, Ledger
from deniable.losses import Loss
from deniable.mechanisms import Mechanism, Step
from deniable.mechanisms.combine import Composed
from deniable.mechanisms.interactive import Handle
from deniable.parameters import called
from deniable.release import Noisy, Provenance, Release, answer_of, spread_of
from deniable.release.numbers import amount
from deniable.sampling.source import current
from deniable.schema import Schema
from deniable.sensitive import Sensitive
from deniable.units import Unit

from . import budgets, drawing, show
from .drawing import Broken, Failure
from .elsewhere import Commission, Work, recalled
from .handles import Handles
from .neighbours import check_proved
from .progress import Progress
from .tables import Table

T = TypeVar("T")

Columns = tuple[Mapping[str, tuple[object, ...]], Mapping[str, Noisy]]
"""The keys and the noisy columns of a release."""
Steps = Generator[Any, Any, T]
"""An adaptive algorithm: yields steps, lists of steps or mechanisms to open; returns a result."""


class Session:
    """One door to the data: everything that leaves is noisy, priced beforehand and written down."""

    def __init__(
        self, *, tables: Mapping[str, Table], schema: Schema | None, ledger: Ledger
    ) -> None:
        self.tables: Final = MappingProxyType(dict(tables))
        self.schema: Final = schema
        self.ledger: Final = ledger
        self.unit: Final[Unit] = ledger.unit
        self.budget: Final[Loss] = ledger.budget
        self.failures: Final[list[Failure]] = []
        """What went wrong while data were read, for the curator: may hold people's values."""
        self.version: Final[str] = (schema and schema.version) or ""
        self._handles: Final = Handles()

    @property
    def spent(self) -> Loss:
        """What was charged so far: an upper bound."""
        return self.ledger.spent

    @property
    def left(self) -> Loss:
        """What may still be charged: rounded down."""
        return self.ledger.left

    def spending(self, amount: object) -> Loss:
        """The amount, if this session counts in its currency; an error with its fix if not."""
        return budgets.spend(amount, budget=self.budget)

    # ---- releasing

    @called("s.release(dp.Laplace(scale=2.0).on(dp.Sensitive(lambda: 3, l1=1)))")
    def release(
        self,
        step: Step[Any] | Sequence[Step[Any]],
        *,
        question: str | None = None,
        table: str = "",
        asker: str | None = None,
        title: str = "",
        present: Callable[[list[Any]], Columns] | None = None,
    ) -> Release:
        """Charge, compute and draw one step, or several together.

        A `question` makes the answer findable: asked again with the same mechanism and table, the
        stored answer is returned, free; the ledger shows its `title`, if it has one. `present`
        turns the noisy values of several steps into the columns of one answer; it sees nothing
        else.
        """
        steps = self._checked(step)
        if steps[0].handle is not None:
            return self._asked(steps[0], question=question)
        mechanism, found = _together(steps), None
        if question is not None:
            found = self.fingerprint(mechanism, question=question, table=table)
            stored = self.ledger.recall(found, asker=asker)
            if stored is not None:
                return Release.from_dict(stored.value)  # type: ignore[arg-type]
        entry = self._pay(mechanism, asker=asker, fingerprint=found, what=title or question or "")
        parts = [(each.mechanism.draw, each.value) for each in steps]
        drawn = self._draw(parts, paid=mechanism, entry=entry, question=question or "")
        columns = (present or _columns(steps))(drawn)
        loss = budgets.alone(mechanism, budget=self.budget)
        release = self._released(
            steps, columns, loss, entry=entry, question=question or "", table=table
        )
        if found is not None:
            self._keep(entry, release)
        return release

    def fingerprint(self, mechanism: Mechanism, *, question: str, table: str) -> str:
        """By which the ledger finds the answer to a question again."""
        return self.ledger.fingerprint(self._key(mechanism, question, table))

    def _key(self, mechanism: Mechanism, question: str, table: str) -> dict[str, object]:
        about = {"data": self.version} if self.version else {}
        return {"question": question, "table": table, "mechanism": mechanism.to_dict(), **about}

    def commission(
        self,
        steps: Sequence[Step[Any]],
        *,
        work: Work,
        question: str,
        table: str = "",
        asker: str | None = None,
        title: str = "",
    ) -> Release:
        """Charge steps together that are computed, drawn and committed elsewhere: see `elsewhere`.

        The release has the columns of the answer, and no rows: those are where the work put them.
        """
        checked = self._checked(list(steps))
        drawing.refuse_watched()
        mechanism = _together(checked)
        asked = self._key(mechanism, question, table)
        found, stored = recalled(self.ledger, asked, asker=asker, work=work)
        if stored is not None:
            return Release.from_dict(stored)
        work.ready()
        entry = self._pay(mechanism, asker=asker, fingerprint=found, what=title or question)
        leave = Commission(mechanisms=tuple(s.mechanism for s in checked), entry=entry.hash)
        parts = [(lambda _: work.do(leave), Sensitive(lambda: None, l1=0))]
        (record,) = self._draw(parts, paid=mechanism, entry=entry, question=question)
        loss = budgets.alone(mechanism, budget=self.budget)
        release = self._released(
            checked, work.columns, loss, entry=entry, question=question, table=table
        )
        self.ledger.answer(entry, release.to_dict() | {"elsewhere": record})
        return release

    def _keep(self, entry: Entry, release: Release) -> None:
        """Store the answer, if JSON can hold it; one that is not stored is paid for again."""
        try:
            record = release.to_dict()
        except BadParameter:
            return
        self.ledger.answer(entry, record)

    @called("s.open(dp.SparseVector(epsilon=0.5, answers=3))")
    def open(
        self, mechanism: Mechanism, *, delta: float | None = None, asker: str | None = None
    ) -> Handle:
        """Charge an interactive mechanism, or a plan fixed in advance, in full; ask by its handle.

        With `delta` a plan is paid for as one block: its tightest ε at that δ, and the δ itself.
        """
        if not isinstance(mechanism, Mechanism):
            raise BadParameter.of("mechanism", type(mechanism), must="a mechanism to open")
        interaction = mechanism.begin()  # noise only, no data; refuses what cannot be opened
        entry = self._pay(mechanism, asker=asker, delta=delta, what="opened, to be asked by steps")
        return self._handles.add(mechanism, interaction, entry)

    @called("s.run(each for each in [dp.Laplace(scale=2.0).on(dp.Sensitive(lambda: 3, l1=1))])")
    def run(self, algorithm: Steps[T], *, name: str = "", asker: str | None = None) -> T:
        """Drive an adaptive algorithm: each thing it yields is charged before it is computed.

        It may yield a step (and is sent the plain noisy value), a list of steps (charged together,
        sent a list), or a mechanism to open (sent a handle). An error is raised at its `yield`, so
        that it may stop early with what it has.
        """
        if not isinstance(algorithm, Generator):
            raise BadParameter.of(
                "algorithm",
                algorithm,
                must="a generator that yields steps",
                fix="session.run(algorithm(...))    call the function, do not pass it",
            )
        title, count = name or getattr(algorithm, "__name__", "algorithm"), 0
        try:
            with Progress(title) as progress:
                wanted = next(algorithm)
                while True:
                    count += 1
                    progress.text = f"{title}, step {count}"
                    try:
                        answer = self._answer(wanted, what=f"{title}, step {count}", asker=asker)
                    except Exception as error:  # noqa: BLE001  (the algorithm may stop early)
                        wanted = algorithm.throw(error)
                    else:
                        wanted = algorithm.send(answer)
        except StopIteration as end:
            result: T = end.value
            return result
        finally:
            algorithm.close()

    def _answer(self, wanted: object, *, what: str, asker: str | None) -> object:
        """What one `yield` is sent: a noisy value, a list of them, or a handle."""
        if isinstance(wanted, Mechanism):
            return self.open(wanted, asker=asker)
        steps = self._checked(wanted)
        if steps[0].handle is not None:
            return self._ask(steps[0])[0]
        mechanism = _together(steps)
        entry = self._pay(mechanism, asker=asker, what=what)
        parts = [(each.mechanism.draw, each.value) for each in steps]
        drawn = self._draw(parts, paid=mechanism, entry=entry, question=what)
        if isinstance(wanted, Step):
            return drawn[0]
        return tuple(drawn) if isinstance(wanted, tuple) else drawn

    # ---- charge, compute, draw

    def _pay(
        self,
        mechanism: Mechanism,
        *,
        asker: str | None,
        what: str,
        fingerprint: str | None = None,
        delta: float | None = None,
    ) -> Entry:
        """Write the charge, durably, or raise with nothing written: the only call that charges."""
        drawing.refuse_inside("charged")
        drawing.refuse_rehearsal(self.ledger)
        check_proved(mechanism, self.unit)
        what += f" · data version {self.version}" if self.version else ""
        entry = self.ledger.charge(
            mechanism, unit=self.unit, delta=delta, asker=asker, question=fingerprint, what=what
        )
        return drawing.charged(entry)

    def _draw(
        self,
        parts: Sequence[tuple[Callable[[Any], object], Sensitive[Any]]],
        *,
        paid: Mechanism | None,
        entry: Entry,
        question: str,
    ) -> list[object]:
        """The noisy answers; `paid` is what this charge was for, None if it came before."""
        with Progress(question or "computing"):
            drawn = drawing.answers(parts)
        if not isinstance(drawn, Broken):
            return drawn
        if drawn.stopped_by is not None:
            raise drawn.stopped_by
        failure = Failure(
            time=entry.time.isoformat(),
            entry=entry.sequence,
            question=question,
            detail=drawn.detail,
        )
        self.failures.append(failure)
        spent = "nothing more" if paid is None else self._amount(paid)
        raise DataFailure(
            "something failed while the data were read",
            why="what failed may depend on people's values, so it is not told here",
            fix="the curator finds the details in session.failures",
            cost=f"{spent} was spent",
        )

    def _amount(self, mechanism: Mechanism) -> str:
        return amount(budgets.alone(mechanism, budget=self.budget), "up")

    def _ask(self, step: Step[Any]) -> tuple[object, Entry]:
        """One question to a mechanism that this session opened: free, since it was paid before."""
        drawing.refuse_inside("asked")
        drawing.refuse_rehearsal(self.ledger)
        with self._handles.asking(step) as opened:
            parts = [(opened.interaction.ask, step.value)]
            drawn = self._draw(parts, paid=None, entry=opened.entry, question="")
        return drawn[0], opened.entry

    def _asked(self, step: Step[Any], *, question: str | None) -> Release:
        drawn, entry = self._ask(step)
        keys, answer = answer_of(step.mechanism, drawn)
        release = self._released(
            [step], (keys, {"value": answer}), 0 * self.budget, entry=entry, question=question or ""
        )
        return replace(release, free="paid when the mechanism was opened")

    # ---- checks and records

    def _checked(self, wanted: object) -> list[Step[Any]]:
        """The steps that were asked for, if the session may release them; public facts decide."""
        parts = list(wanted) if isinstance(wanted, list | tuple) else [wanted]
        if not parts:
            raise BadParameter("there is nothing to release in an empty list of steps")
        steps: list[Step[Any]] = []
        for step in parts:
            if not isinstance(step, Step):
                raise BadParameter.of(
                    "what is released", step, must="a step", fix="mechanism.on(dp.Sensitive(...))"
                )
            if step.handle is not None and len(parts) > 1:
                raise BadParameter("an opened mechanism is asked one question at a time")
            if step.handle is None or not isinstance(step.value, Sensitive):
                step.mechanism.on(step.value)  # a step made by hand is checked like any other
            if step.value.unit is not None and step.value.unit != self.unit:
                raise UnitMismatch(
                    f"the value is bounded for {step.value.unit}; the session protects {self.unit}",
                    why="how far one unit moves a value holds for that unit and relation only",
                    fix=f"dp.Sensitive(..., unit={self.unit!r}) with bounds for that unit",
                )
            steps.append(step)
        return steps

    def _released(
        self,
        steps: Sequence[Step[Any]],
        columns: Columns,
        loss: Loss,
        *,
        entry: Entry,
        question: str,
        table: str = "",
    ) -> Release:
        provenance = Provenance(
            question=question,
            table=table or ", ".join(self.tables),
            time=entry.time.isoformat(timespec="seconds"),
            entry=entry.sequence,
            entry_hash=entry.hash,
            ledger=self.ledger.where,
            price=entry.record["price"],  # type: ignore[arg-type]
            budget=self.budget.to_dict(),
            bounds=show.stated(self.tables),
            data_version=self.version,
        )
        return Release(
            keys=columns[0],
            answers=columns[1],
            loss=loss,
            mechanisms=tuple(step.mechanism.to_dict() for step in steps),
            unit=self.unit,
            provenance=provenance,
            randomness=(type(current()).__doc__ or "").split("\n")[0],
        )

    # ---- manners

    def close(self) -> None:
        """Let go of the ledger."""
        self.ledger.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __repr__(self) -> str:
        return show.as_text(self)

    def _repr_html_(self) -> str:
        return show.as_html(self)

    def __reduce__(self) -> NoReturn:
        raise HiddenValue(
            "a session cannot be copied, stored or sent to another process",
            why="it holds people's data, and two copies would each spend the ceiling",
            fix='dp.open(..., ledger="ledger.db") in each process',
        )


def _together(steps: Sequence[Step[Any]]) -> Mechanism:
    if len(steps) == 1:
        return steps[0].mechanism
    return Composed.of(*((step.mechanism, 1) for step in steps))


def _columns(steps: Sequence[Step[Any]]) -> Callable[[list[Any]], Columns]:
    """The rows of one step's answer; for several steps one row, with a column for each."""

    def present(drawn: list[Any]) -> Columns:
        if len(steps) == 1:
            keys, answer = answer_of(steps[0].mechanism, drawn[0])
            return keys, {"value": answer}
        spreads = [spread_of(s.mechanism, [one]) for s, one in zip(steps, drawn, strict=True)]
        pairs = enumerate(zip(drawn, spreads, strict=True), 1)
        return {}, {f"value_{n}": Noisy(cells=(one,), spread=spread) for n, (one, spread) in pairs}

    return present
