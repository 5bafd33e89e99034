"""The core door: data, unit, ceiling and ledger. Every release is charged, computed and drawn here.

Exactly one call in deniable charges for new answers (`Session._pay`), and it comes before any value
is computed: a crash never gives budget back. One other (`Session._recall`) charges an asker's
share for a stored answer. Neither is possible while a value is computed.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from types import MappingProxyType
from typing import Any, Final, NoReturn, Self, TypeVar

from deniable.errors import BadParameter, DeniableError, HiddenValue
from deniable.ledger import Account, Entry, Failures, Ledger
from deniable.ledger.answers import Answered, asking
from deniable.ledger.halts import failed, named
from deniable.losses import Loss
from deniable.mechanisms import Mechanism, Step
from deniable.mechanisms.interactive import Handle, opening
from deniable.parameters import called
from deniable.progress import Progress
from deniable.release import Release, answer_of
from deniable.release.certificate import OPENED
from deniable.schema import Schema
from deniable.sensitive import Sensitive
from deniable.units import Unit

from . import asked, budgets, drawing, offers, show
from .asked import Columns, check_proved, checked, columns_of, made_ready, released, together
from .drawing import Broken, Parts
from .elsewhere import Commission, Work, standing, unwritten
from .handles import Handles
from .tables import Table

T = TypeVar("T")

Steps = Generator[Any, Any, T]
"""An adaptive algorithm: yields steps, lists of steps or mechanisms to open; returns a result."""


class Session:
    """One door to the data: everything that leaves is noisy, priced beforehand and written down.

    A session is the curator's, who sees the whole ledger, or one asker's: then all that it charges
    is theirs, and they see their own lines and their own share.
    """

    def __init__(
        self,
        *,
        tables: Mapping[str, Table],
        schema: Schema | None,
        ledger: Ledger,
        asker: str | None = None,
    ) -> None:
        self.tables: Final = MappingProxyType(dict(tables))
        self.schema: Final = schema
        self.asker: Final = asker
        self.ledger: Final = ledger if asker is None else Account(ledger, asker)
        self._ledger: Final = ledger
        self.unit: Final[Unit] = ledger.unit
        self.budget: Final[Loss] = ledger.budget
        self._alone: Final = budgets.prices(self.budget)
        self.version: Final[str] = (schema and schema.version) or ""
        self._handles: Final = Handles()

    @property
    def spent(self) -> Loss:
        """What was charged so far: an upper bound; in an asker's session, to their share."""
        return self.ledger.spent

    @property
    def left(self) -> Loss:
        """What may still be charged: rounded down; in an asker's session, of their share."""
        return self.ledger.left

    @property
    def share(self) -> Loss | None:
        """The share reserved for this session's asker; None without shares."""
        return self.ledger.reserved if isinstance(self.ledger, Account) else None

    @called('s.for_("ann")')
    def for_(self, asker: str) -> Self:
        """A session for an asker on the same data; only a curator's session can call this."""
        self._refuse_askers("can open sessions for others")
        return type(self)(
            tables=self.tables, schema=self.schema, ledger=self._ledger, asker=named(asker)
        )

    def spending(self, amount: object) -> Loss:
        """Check that an amount is in the ledger's privacy definition, and return it."""
        return budgets.spend(amount, budget=self.budget, left=lambda: self.left)

    # ---- failures

    @property
    def failures(self) -> Failures:
        """What went wrong while data were read and stopped an asker; causes are the curator's."""
        return self.ledger.failures()

    @called('s.resume(asker="ann")')
    def resume(self, *, asker: str | None = None) -> Failures:
        """Let a stopped asker go on; for the curator, who has read `print(s.failures)`.

        The causes are erased, and returned a last time; refused if more failed since then.
        """
        self._refuse_askers("can resume a stopped asker")
        return self._ledger.passed_over(asker)[1]

    def _refuse_askers(self, what: str) -> None:
        if self.asker is not None:
            raise BadParameter(
                f"this session is {self.asker}'s; only the curator {what}",
                fix="dp.open(...) without asker=",
            )

    # ---- releasing

    @called("s.release(dp.Laplace(scale=2.0).on(dp.Sensitive(lambda: 3, l1=1)))")
    def release(
        self,
        step: Step[Any] | Sequence[Step[Any]],
        *,
        question: str | None = None,
        table: str = "",
        title: str = "",
        present: Callable[[list[Any]], Columns] | None = None,
    ) -> Release:
        """Charge, compute and draw one step, or several together.

        A `question` makes the answer findable: asked again with the same mechanism of the same
        table (by default, all of them), the stored answer is returned, free; the ledger shows its
        `title`, if any. `present` turns the noisy values into columns; it sees nothing else.
        """
        asked.check_texts(question="" if question is None else question, table=table, title=title)
        steps = checked(step, unit=self.unit)
        if steps[0].handle is not None:
            return self._asked(steps[0], question=question)
        mechanism, what, found = together(steps), title or question or "", None
        if question is not None:
            found = self.fingerprint(mechanism, question=question, table=table)
        with asking(found):
            if found is not None and (stored := self._recall(found, mechanism, what)) is not None:
                return stored
            offers.check_share(self, mechanism)
            parts = [(each.mechanism.draw, each.read) for each in steps]
            try:
                with made_ready(steps):
                    entry = self._pay(mechanism, fingerprint=found, what=what, once=True)
                    drawn = self._draw(parts, paid=mechanism, entry=entry, question=what)
            except Answered:  # by another process, just now
                assert found is not None
                stored = self._recall(found, mechanism, what)
                assert stored is not None
                return stored
            loss = self._alone(mechanism)
            with asked.after_charge(loss):
                columns = (present or columns_of(steps))(drawn)
                release = released(
                    self, steps, columns, loss, entry=entry, question=question or "", table=table
                )
                if found is not None:
                    with suppress(BadParameter):  # what JSON cannot hold is paid for again
                        self._ledger.answer(entry, release.to_dict())
            return release

    def fingerprint(self, mechanism: Mechanism, *, question: str, table: str = "") -> str:
        """The key under which the ledger stores the answer to a question."""
        return self._ledger.fingerprint(self._key(mechanism, question, table))

    def _key(self, mechanism: Mechanism, question: str, table: str) -> dict[str, object]:
        about = {"data": self.version} if self.version else {}
        of = table or ", ".join(sorted(self.tables))
        return {"question": question, "table": of, "mechanism": mechanism.to_dict(), **about}

    def commission(
        self, steps: Sequence[Step[Any]], *, work: Work, question: str, table: str = "", title: str
    ) -> Release:
        """Charge steps together that are computed, drawn and committed elsewhere: see `elsewhere`.

        The release has the columns of the answer, and no rows: those are where the work put them.
        """
        ordered = checked(list(steps), unit=self.unit)
        drawing.refuse_watched()
        mechanism = together(ordered)
        self._admit()
        key = self._key(mechanism, question, table)
        found, stands = standing(self._ledger, key, asker=self.asker, work=work)
        loss = self._alone(mechanism)

        def write_down(entry: Entry, record: object) -> Release:
            with asked.after_charge(loss):
                release = released(
                    self, ordered, work.columns, loss, entry=entry, question=question, table=table
                )
                self._ledger.answer(entry, release.to_dict() | {"elsewhere": record})
            return release

        if not stands and (lost := unwritten(self._ledger, found, work=work)) is not None:
            write_down(*lost)
            stands = True
        if stands and (stored := self._recall(found, mechanism, title or question)) is not None:
            return stored
        offers.check_share(self, mechanism)
        with work.ready():
            entry = self._pay(mechanism, fingerprint=found, what=title or question)
            name = self._ledger.alias(entry)
            leave = Commission(mechanisms=tuple(s.mechanism for s in ordered), entry=name)
            parts = [(lambda _: work.do(leave), Sensitive(lambda: None, l1=0))]
            (record,) = self._draw(parts, paid=mechanism, entry=entry, question=question)
        return write_down(entry, record)

    def _recall(self, found: str, mechanism: Mechanism, what: str) -> Release | None:
        """The stored answer, which an asker with a share pays for once, as if it were new.

        It is refused as a new one is: else a refusal would show whether somebody else has asked.
        """
        drawing.refuse_inside("charged")
        drawing.refuse_replay(self._ledger)
        self._admit()
        self._ledger.check_mechanism(mechanism, asker=self.asker)
        with offers.softening(self, mechanism):
            stored = self._ledger.recalled(found, asker=self.asker, what=self._versioned(what))
        return None if stored is None else asked.given_again(self, stored)

    def _admit(self) -> None:
        """An error where others have shares, and whoever this session is for has none."""
        if isinstance(self.ledger, Account):
            self.ledger.admit()

    @called("s.open(dp.SparseVector(epsilon=0.5, answers=3))")
    def open(self, mechanism: Mechanism, *, delta: float | None = None) -> Handle:
        """Charge an interactive mechanism, or a plan fixed in advance, in full; ask by its handle.

        With `delta` a plan is paid for as one block: its tightest ε at that δ, and the δ itself.
        """
        if not isinstance(mechanism, Mechanism):
            raise BadParameter.of("mechanism", type(mechanism), must="a mechanism to open")
        interaction = mechanism.begin()  # noise only, no data; refuses what cannot be opened
        entry = self._pay(mechanism, delta=delta, what="opened, and asked in steps")
        return self._handles.add(mechanism, interaction, entry)

    @called("s.run(each for each in [dp.Laplace(scale=2.0).on(dp.Sensitive(lambda: 3, l1=1))])")
    def run(self, algorithm: Steps[T], *, name: str = "", charges: list[Entry] | None = None) -> T:
        """Drive an adaptive algorithm: what it yields is charged before it is computed.

        It may yield a step (is sent the noisy value), a list of steps (charged together, sent a
        list), or a mechanism or `Block` to open (sent a handle). Charges are added to `charges`.
        """
        if not isinstance(algorithm, Generator):
            raise BadParameter.of(
                "algorithm",
                algorithm,
                must="a generator that yields steps",
                fix="session.run(algorithm(...))    call the function, do not pass it",
            )
        title, count = name or getattr(algorithm, "__name__", "algorithm"), 0
        paid = [] if charges is None else charges
        before = len(paid)
        try:
            with Progress(title) as progress:
                wanted = next(algorithm)
                while True:
                    count += 1
                    progress.text = f"{title}, step {count}"
                    try:
                        answer = self._answer(wanted, what=progress.text, paid=paid)
                    except Exception as error:  # noqa: BLE001  (the algorithm may stop early)
                        wanted = algorithm.throw(error)
                    else:
                        wanted = algorithm.send(answer)
        except StopIteration as end:
            result: T = end.value
            return result
        except DeniableError as error:
            asked.tell_earlier(error, paid[before:], ledger=self._ledger)
            raise
        finally:
            algorithm.close()

    def _answer(self, wanted: object, *, what: str, paid: list[Entry]) -> object:
        """What one `yield` is sent: a noisy value, a list of them, or a handle."""
        if (plan := opening(wanted, unit=self.unit)) is not None:
            handle = self.open(plan.mechanism, delta=plan.delta)
            paid.append(self._handles.paid(handle))
            return handle
        steps = checked(wanted, unit=self.unit)
        if steps[0].handle is not None:
            return self._ask(steps[0])[0]
        mechanism = together(steps)
        parts = [(each.mechanism.draw, each.read) for each in steps]
        with made_ready(steps):
            entry = self._pay(mechanism, what=what)
            paid.append(entry)
            drawn = self._draw(parts, paid=mechanism, entry=entry, question=what)
        return drawn[0] if isinstance(wanted, Step) else asked.like(wanted, drawn)

    # ---- charge, compute, draw

    def _pay(
        self,
        mechanism: Mechanism,
        *,
        what: str,
        fingerprint: str | None = None,
        delta: float | None = None,
        once: bool = False,
    ) -> Entry:
        """Write the charge, durably, or raise with nothing written: the only call that charges."""
        drawing.refuse_inside("charged")
        drawing.refuse_replay(self._ledger)
        check_proved(mechanism, self.unit)
        self._admit()
        with offers.softening(self, mechanism, delta=delta):
            entry = self._ledger.charge(
                mechanism,
                unit=self.unit,
                delta=delta,
                asker=self.asker,
                question=fingerprint,
                what=self._versioned(what),
                once=once,
            )
        return drawing.charged(entry)

    def _versioned(self, what: str) -> str:
        return what + (f" · data version {self.version}" if self.version else "")

    def _draw(
        self, parts: Parts, *, paid: Mechanism | None, entry: Entry, question: str
    ) -> list[object]:
        """The noisy answers; `paid` is what this charge was for, None if it came before."""
        return drawing.afresh(
            lambda: self._drawn(parts, paid, entry, question),
            settle=lambda: self._ledger.settle(entry),
        )

    def _drawn(
        self, parts: Parts, paid: Mechanism | None, entry: Entry, question: str
    ) -> list[object]:
        with Progress(question or "computing"):
            drawn = drawing.answers(parts, failed=lambda: self._ledger.mark(entry))
        if not isinstance(drawn, Broken):
            return drawn
        if drawn.interrupted:
            raise KeyboardInterrupt
        loss = None if paid is None else self._alone(paid)
        with asked.after_charge(loss):
            try:
                self._ledger.stop(entry, cause=drawn.detail)
            finally:
                del drawn  # a traceback shows its frames' variables
        raise failed(spent=asked.cost(loss), asker=self.asker)

    def _ask(self, step: Step[Any]) -> tuple[object, Entry, Mechanism | None]:
        """One question to a mechanism that this session opened: free, since it was paid before."""
        drawing.refuse_inside("asked")
        drawing.refuse_replay(self._ledger)
        held = self._handles.asking(step, admit=self._ledger.check_asker)
        with made_ready([step]), held as opened:
            answering = opened.interaction.answering()
            parts = [(opened.interaction.ask, opened.read(step.value))]
            drawn = self._draw(parts, paid=None, entry=opened.entry, question="")
        return drawn[0], opened.entry, answering

    def _asked(self, step: Step[Any], *, question: str | None) -> Release:
        drawn, entry, answering = self._ask(step)
        loss = self._alone(step.mechanism)
        keys, answer = answer_of(answering or step.mechanism, step.value.form, drawn)
        columns = keys, {"value": answer}
        release = released(self, [step], columns, loss, entry=entry, question=question or "")
        return replace(release, free=OPENED)

    def close(self) -> None:
        """Close the session's ledger."""
        self._ledger.close()

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
            why="it holds people's data, and each copy would spend the whole budget",
            fix='dp.open(..., ledger="ledger.db") in each process',
        )
