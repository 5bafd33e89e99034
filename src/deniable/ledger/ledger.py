"""The one arbiter of spending: compare and append, in one step, before anything is computed.

Why the ceiling holds. `committed` is all that was charged outside shares, plus all shares in full.
A charge outside shares, or a new share, is admitted only if the filter admits `committed` after it;
a charge to a share only if what was used stays within the share in every coordinate of the price.
So what was truly spent is at most `committed`, coordinate by coordinate; a filter that admits a
total admits every smaller one; hence the ceiling holds, and every share can be used in full
whatever others do. All sums are rounded up. Both comparisons are made to the resolution 2⁻⁴⁰ of
ceilings, one after the other: where there are shares, the ceiling holds to 2⁻³⁹.

A stored answer that is shown again tells the world nothing new: it is free for the ceiling. To its
asker it may be new, so it is charged to their share.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress

from deniable.errors import BadParameter, BudgetExceeded, LedgerFailure
from deniable.losses import Loss
from deniable.losses.filters import Price
from deniable.mechanisms import Mechanism
from deniable.parameters import called
from deniable.release.numbers import amount as in_words
from deniable.units import Unit

from . import answers, chain, show
from .answers import Recalled
from .books import Books
from .entry import Entry, Standing, covered, fits, opened, sealed, stated
from .halts import (
    Failures,
    Halts,
    named,
    named_or_none,
    not_shown,
    not_stopped,
    refuse_alike,
    refused,
    storable,
)
from .header import units_differ
from .stores.store import CommitUnsure, Lookups, Row, Store, Writing, reached, refuse_seed
from .trust import State, broken, intact

Compose = Callable[[Writing, Entry, State], dict[str, object]]


class Ledger(Books):
    """What was released against one ceiling, for one unit: append-only, chained, durable.

    Opened with `open_ledger`; only a session appends to it.
    """

    def __init__(self, store: Store) -> None:
        self._unwritten: set[str | None] = set()
        """Askers whose stop could not be written: stopped in this process all the same."""
        super().__init__(store)
        self._prices = chain.prices(self.filter)

    # ---- spending

    def charge(
        self,
        mechanism: Mechanism,
        *,
        unit: Unit,
        delta: float | None = None,
        asker: str | None = None,
        question: str | None = None,
        what: str = "",
        once: bool = False,
    ) -> Entry:
        """Pay for one use of a mechanism, durably, or raise BudgetExceeded having written nothing.

        With `delta` a plan fixed in advance is paid as one block: its ε at this δ, and the δ itself
        out of the filter's reserve. With `once` nothing is paid, and Answered raised, if another
        process has stored an answer to the question by now, or is about to: see `answers.Once`.
        """
        if unit != self.unit:
            raise units_differ(self.unit, unit, where=self.where)
        refuse_seed(self._store)
        self.check_mechanism(mechanism, asker=asker)
        price = self.price(mechanism, delta=delta)
        record = {
            "kind": "charge",
            "asker": named_or_none(asker),
            "question": question,
            "what": what or None,
            "mechanisms": [mechanism.to_dict()],
            "delta": delta,
            "price": price.to_dict(),
        }
        turn = answers.Once(self._store, question, asker) if once and question else None

        def compose(lines: Writing, last: Entry, state: State) -> dict[str, object]:
            self._refuse_stopped(last, asker)
            if turn is not None:
                turn.check(lines, last)
            return record | stated(*self._paid(price, asker, last, state))

        return self._write(compose) if turn is None else turn.pay(lambda: self._write(compose))

    def price(self, mechanism: Mechanism, *, delta: float | None = None) -> Price:
        """What one use of a mechanism costs here, in native units. Asking is free."""
        if delta is None:
            return self._prices(mechanism)
        return chain.price_of(mechanism, self.filter, delta)

    def due(
        self, mechanism: Mechanism, *, question: str | None = None, asker: str | None = None
    ) -> Price:
        """What asking would charge now: nothing for a stored answer that this asker sees free."""
        if question is not None:
            found, shared = self._found(question, named_or_none(asker))
            if found is not None and (found.paid or not shared):
                return Price.zero
        return self.price(mechanism)

    def check(self, price: Price, *, asker: str | None = None) -> None:
        """Raise as a charge of this price would; nothing is written."""
        last, state = self._now()
        self._refuse_stopped(last, asker)
        self._paid(price, named_or_none(asker), last, state)

    @called('s.ledger.share("ann", amount=dp.epsilon(0.5))')
    def share(self, asker: str, *, amount: Loss) -> Entry:
        """Reserve part of the budget for one asker, permanently; calling again adds to it."""
        price = self.filter.price_of(amount)
        if price == Price.zero:
            raise BadParameter.of("amount", amount, must="above 0", fix="amount=dp.epsilon(0.1)")
        record = {"kind": "share", "asker": named(asker), "price": price.to_dict()}

        def compose(_: Writing, last: Entry, state: State) -> dict[str, object]:
            state.refuse_unknown()
            refuse_alike(asker, list(state.standings))
            total, committed = chain.totals(last)
            standing = state.standings.get(asker, Standing.none()).reserve(price)
            return record | stated(total, self._admitted(committed, price), standing)

        return self._write(compose)

    # ---- answers

    def fingerprint(self, question: object) -> str:
        """A keyed hash of a question (plain JSON): the same for the same question, here only."""
        return self._keyed({"question": question})

    def answer(self, charge: Entry, value: object) -> Entry:
        """Keep what was released for a charge, so that the same question can be answered again."""
        if charge.kind != "charge" or charge.question is None or charge.repeats is not None:
            raise BadParameter(
                "an answer can be stored only for a charge with a question",
                fix="ledger.charge(..., question=ledger.fingerprint(...))",
            )
        question = charge.question
        record = {
            "kind": "answer", "charge": charge.sequence, "question": question, "value": value,
        }  # fmt: skip

        def compose(lines: Writing, last: Entry, _: State) -> dict[str, object]:
            about = [intact(row, where=self.where) for row in lines.asked(question)]
            if all(entry.hash != charge.hash for entry in about):
                raise BadParameter("this charge is not in this ledger")
            if any(entry.charge == charge.sequence for entry in about):
                raise BadParameter(
                    "this charge already has an answer",
                    why="a second draw would be a second release, and a charge pays for one",
                )
            return record | stated(*chain.totals(last), None)

        entry = self._write(compose)
        answers.stored(charge)
        return entry

    def recall(self, question: str, *, asker: str | None = None) -> Entry | None:
        """The stored answer, or None: free for the ceiling, not for another asker's share."""
        found = self.recalled(question, asker=asker)
        return None if found is None else found.answer

    def recalled(
        self, question: str, *, asker: str | None = None, what: str = ""
    ) -> Recalled | None:
        """The stored answer, the charge by which this asker pays, and whether that is new."""
        found, shared = self._found(question, named_or_none(asker))
        if found is None or found.paid or not shared:
            return found
        return found._replace(paid=self._repeat(found, asker, what), new=True)

    def stored(self, question: str, *, asker: str | None = None) -> Recalled | None:
        """What `recalled` would show, for the session alone to look at: nothing is charged."""
        return self._found(question, named_or_none(asker))[0]

    def _found(self, question: str, asker: str | None) -> tuple[Recalled | None, bool]:
        """The stored answer, and whether this asker has a share."""

        def look(lines: Lookups) -> tuple[Recalled | None, bool]:
            last, state = self._catch_up(lines)
            found = answers.find(lines, question, asker, newest=last, where=self.where)
            return found, asker in state.standings

        return self._store.read(look)

    def _repeat(self, found: Recalled, asker: str | None, what: str) -> Entry:
        """Charge a stored answer to a share, and not to the ceiling."""
        price = found.price
        record = {
            "kind": "charge",
            "asker": asker,
            "question": found.charge.question,
            "what": what or None,
            "mechanisms": found.charge.mechanisms,
            "price": price.to_dict(),
            "repeats": found.answer.sequence,
        }

        def compose(_: Writing, last: Entry, state: State) -> dict[str, object]:
            self._refuse_stopped(last, asker)
            state.refuse_unknown(asker=asker)
            standing = state.standings[asker or ""]  # a share is never taken back
            return record | stated(*chain.totals(last), self._used(standing, price))

        return self._write(compose)

    def note(self, what: str) -> Entry:
        """Write down something for later readers; it costs nothing."""
        record = {"kind": "note", "what": what}
        return self._write(lambda _, last, __: record | stated(*chain.totals(last), None))

    # ---- failures

    def check_asker(self, asker: str | None) -> None:
        """Raise AskerStopped if a failure of this asker's question waits for the curator."""
        self._refuse_stopped(self._now()[0], asker)

    def stop(self, charge: Entry, *, cause: str) -> Entry:
        """Stop the asker of a charge, durably, because reading rows for it failed.

        Charges that were admitted before this line may finish; none is admitted after it. The
        cause is kept beside the lines until the curator resumes. If it cannot be kept, the line is
        written without it; if no line can be written, the asker is stopped in this process.
        """
        try:
            self.mark(charge)
            entry = self._stop_with(charge, cause)
        finally:
            del cause  # a traceback shows its frames' variables
        if isinstance(entry, LedgerFailure):
            entry = self._stop(charge, "")
        elif isinstance(entry, BaseException):
            raise entry
        self._unwritten.discard(charge.asker)
        return entry

    def mark(self, charge: Entry) -> None:
        """Stop the asker of a charge in this process, until `stop` has written its line."""
        self._unwritten.add(charge.asker)

    def _stop_with(self, charge: Entry, cause: str) -> Entry | BaseException:
        """The stop line; or what went wrong, without the frames and errors that hold the cause."""
        try:
            return self._stop(charge, cause)
        except BaseException as error:  # noqa: BLE001  (an interrupt has frames, too)
            error.__cause__ = error.__context__ = None
            return error.with_traceback(None)

    def _stop(self, charge: Entry, cause: str) -> Entry:
        asker = charge.asker
        record = {"kind": "stop", "asker": asker, "charge": charge.sequence}

        def compose(lines: Writing, last: Entry, now: State) -> dict[str, object]:
            if cause:
                lines.keep_cause(last.sequence + 1, storable(cause))
            state = stated(*chain.totals(last), now.standings.get(asker or ""))
            return record | state | Halts.of(last).stop(asker).to_record()

        return self._write(compose)

    def resume(self, asker: str | None = None, *, seen: Failures | None = None) -> Entry:
        """Let a stopped asker go on, and erase the causes: the curator's to call, after a look.

        It passes over the failures in `seen`, or else those that `failures()` has shown, and is
        refused if there are newer ones. The line counts in the asker's later certificates, and in
        the curator's.
        """
        return self.passed_over(asker, seen=seen)[0]

    def passed_over(
        self, asker: str | None = None, *, seen: Failures | None = None
    ) -> tuple[Entry, Failures]:
        """Resume as `resume` does: the new line, and the failures whose causes are erased."""
        record = {"kind": "resume", "asker": named_or_none(asker)}
        shown = self._shown.get(asker) if seen is None else {each.stop for each in seen}
        failures = Failures()

        def compose(lines: Writing, last: Entry, now: State) -> dict[str, object]:
            halts = Halts.of(last)
            if asker not in halts.stopped and asker not in self._unwritten:
                raise not_stopped(asker, halts)
            stops = self._waiting(lines, last, {asker: halts.stopped.get(asker, 0)})
            if shown is not None and not shown.issuperset(stop.sequence for stop in stops):
                raise not_shown(asker)
            failures[:] = [self._failure(lines, last, stop) for stop in stops]
            for stop in stops:
                lines.forget_cause(stop.sequence)
            state = stated(*chain.totals(last), now.standings.get(asker or ""))
            return record | state | halts.resume(asker).to_record()

        entry = self._write(compose)
        self._unwritten.discard(asker)
        self._shown.pop(asker, None)
        return entry, failures

    def _refuse_stopped(self, last: Entry, asker: str | None) -> None:
        if asker in Halts.of(last).stopped or asker in self._unwritten:
            raise refused(asker)

    # ---- the one place where a line is written

    def _write(self, compose: Compose) -> Entry:
        row: Row | None = None

        def act(lines: Writing) -> Row:
            nonlocal row
            last, state = self._catch_up(lines)
            reached("begun")
            record = Halts.of(last).to_record() | compose(lines, last, state)
            state.refuse_to_hide(where=self.where)
            row = sealed(record | {"state": state.digest_after(record)}, after=last)
            reached("checked")
            lines.append(row)
            if lines.last() != row:
                raise broken(row.sequence, "cannot be found where it was written", where=self.where)
            reached("appended")
            return row

        try:
            kept = self._store.write(act)
        except CommitUnsure as unsure:
            assert row is not None
            raise self._decided(unsure.failure, row) from unsure
        reached("committed")
        return opened(kept)

    def _decided(self, failure: LedgerFailure, row: Row) -> LedgerFailure:
        """Read whether a line whose commit failed was kept; if it was, it counts."""
        found: list[Row] | None = None

        def look(lines: Writing) -> None:  # our turn again: the failed transaction has ended
            nonlocal found
            found = lines.since(row.sequence, limit=1)

        with suppress(LedgerFailure, CommitUnsure):
            self._store.write(look)
        if found is None:
            failure.cost = "unknown until the ledger can be read again; no answer was released"
        elif found and found[0].hash == row.hash:
            failure.cost = "the line was kept and counts; no answer was released"
        return failure

    # ---- checks

    def _paid(
        self, price: Price, asker: str | None, last: Entry, state: State
    ) -> tuple[Price, Price, Standing | None]:
        """The state after a charge, if the ceiling and the asker's share, if any, admit it."""
        state.refuse_unknown(asker=asker)
        total, committed = chain.totals(last)
        standing = state.standings.get(asker or "")
        if standing is None:
            return total + price, self._admitted(committed, price), None
        after = self._used(standing, price)
        if not (covered(total + price, committed) and self.filter.admits(committed)):
            raise self._beyond(standing, price)  # never, by the proof above: checked again
        return total + price, committed, after

    def _admitted(self, committed: Price, price: Price) -> Price:
        after = committed + price
        if self.filter.admits(after):
            return after
        raise BudgetExceeded(
            f"this would exceed the budget of {in_words(self.budget)}",
            why=show.asked_and_left(self.filter.spent(price), self.filter.left(committed)),
            fix="ask for less: a ledger's budget cannot be raised",
        )

    def _used(self, standing: Standing, price: Price) -> Standing:
        after = standing.use(price)
        if fits(after.used, after.reserved):
            return after
        raise self._beyond(standing, price)

    def _beyond(self, standing: Standing, price: Price) -> BudgetExceeded:
        rest = self.filter.rest(standing.reserved, standing.used)
        return BudgetExceeded(
            "this would exceed your share",
            why=f"{show.asked_and_left(self.filter.spent(price), rest)} of your share",
            fix="ask for less, or ask the curator for a larger share",
        )
