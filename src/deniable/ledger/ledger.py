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

from deniable.errors import BadParameter, BudgetExceeded
from deniable.losses import Loss
from deniable.losses.filters import Price
from deniable.mechanisms import Mechanism
from deniable.parameters import called
from deniable.release.numbers import amount as in_words
from deniable.units import Unit

from . import answers, chain, show
from .answers import Answered, Recalled
from .entry import Entry, Standing, covered, fits, stated
from .halts import (
    named,
    named_or_none,
    refuse_alike,
)
from .header import units_differ
from .stops import Stops
from .stores.store import Lookups, Store, Writing, refuse_seed
from .trust import State


class Ledger(Stops):
    """What was released against one ceiling, for one unit: append-only, chained, durable.

    Opened with `open_ledger`; only a session appends to it.
    """

    def __init__(self, store: Store) -> None:
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
        refuse_seed(durable=self.durable)
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
        asked = self.filter.price_of(amount)
        if asked == Price.zero:
            raise BadParameter.of("amount", amount, must="above 0", fix="amount=dp.epsilon(0.1)")
        record = {"kind": "share", "asker": named(asker)}

        def compose(_: Writing, last: Entry, state: State) -> dict[str, object]:
            state.refuse_unknown()
            refuse_alike(asker, list(state.standings))
            total, committed = chain.totals(last)
            standing = state.standings.get(asker, Standing.none())
            price = self.filter.enlarging(standing.reserved, asked)
            admitted = self._admitted(committed, price, reserving=True)
            sums = stated(total, admitted, standing.reserve(price))
            return record | {"price": price.to_dict()} | sums

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
        about = {"charge": charge.sequence, "question": charge.question, "value": value}

        def compose(lines: Writing, last: Entry, _: State) -> dict[str, object]:
            answers.refuse_second(lines, charge, where=self.where)
            return {"kind": "answer"} | about | chain.unchanged(last)

        entry = self._write(compose)
        answers.forget(charge)
        return entry

    def go_on(self, charge: Entry, *, known: int, value: object) -> Entry:
        """Note how far a stream has come, durably, if `known` notes were written about it."""
        refuse_seed(durable=self.durable)
        about = {"charge": charge.sequence, "question": charge.question, "value": value}
        what = "a stream that was paid for goes on"

        def compose(lines: Writing, last: Entry, _: State) -> dict[str, object]:
            answers.refuse_overtaken(lines, charge, known=known, where=self.where)
            return {"kind": "note", "what": what} | about | chain.unchanged(last)

        return self._write(compose)

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
        try:
            return found._replace(paid=self._repeat(found, asker, what), new=True)
        except Answered:  # another process of this asker has just paid
            return self._found(question, named_or_none(asker))[0]

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
            "kind": "charge", "asker": asker, "question": found.charge.question,
            "what": what or None, "mechanisms": found.charge.mechanisms,
            "delta": found.charge.record.get("delta"), "price": price.to_dict(),
            "repeats": found.answer.sequence,
        }  # fmt: skip

        def compose(lines: Writing, last: Entry, state: State) -> dict[str, object]:
            self._refuse_stopped(last, asker)
            state.refuse_unknown(asker=asker)
            question = str(found.charge.question)
            now = answers.find(lines, question, asker, newest=last, where=self.where)
            if now is not None and now.paid:
                raise Answered
            standing = state.standings[asker or ""]  # a share is never taken back
            return record | chain.unchanged(last, self._used(standing, price))

        return self._write(compose)

    def note(self, what: str) -> Entry:
        """Write down something for later readers; it costs nothing."""
        record = {"kind": "note", "what": what}
        return self._write(lambda _, last, __: record | chain.unchanged(last))

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

    def _admitted(self, committed: Price, price: Price, *, reserving: bool = False) -> Price:
        after = committed + price
        if self.filter.admits(after):
            return after
        asked, left = self.filter.spent(price), self.filter.left(committed)
        raise BudgetExceeded(
            f"this would exceed the budget of {in_words(self.budget)}",
            why=show.asked_and_left(asked, left, reserving=reserving),
            fix=show.reservable(left) if reserving else show.instead(left),
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
