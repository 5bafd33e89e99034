"""What one asker sees of a ledger: their own lines and their own share, and nothing of others.

A share is a guarantee to its asker only if what they see does not depend on what others asked: not
on others' lines, nor on how many there are, nor on totals. So an account numbers its own lines, and
leaves out of each what it says about the whole ledger. Nor does it show the hash of a line, which
covers others' lines and every total: instead there is a keyed hash, by which the curator finds it.

Without any share in a ledger, askers are names on one common budget; what is left of that is common
knowledge. As soon as one asker has a share, others need one, too: the rest is the curator's.

A question may be charged for in several lines with rows being read in between, so who looks at an
account meanwhile could see how long that takes. A server therefore holds accounts at the line
before the question until its answer may be known (`hold`).
"""

from __future__ import annotations

import shlex
from dataclasses import replace
from typing import Final, NoReturn, Self

from deniable import fixes
from deniable.errors import BadParameter, BudgetExceeded
from deniable.fixes import Fix
from deniable.losses import Loss
from deniable.losses.filters import Filter, Price
from deniable.losses.rounding import shown_down
from deniable.mechanisms import Mechanism
from deniable.units import Unit

from . import show
from .entry import Entry, Standing, fits
from .halts import Failures, Halts, named
from .ledger import Ledger

_OWN: Final = {
    *("kind", "asker", "question", "what", "mechanisms"),
    *("delta", "price", "standing", "time"),
}


class Account:
    """The part of a ledger that is one asker's: what they may spend, spent, and asked."""

    def __init__(self, ledger: Ledger, asker: str) -> None:
        self.__ledger: Final = ledger
        self.__read: tuple[int, dict[int, Entry]] = (0, {})
        self.__line: int | None = None
        self.asker: Final = named(asker)
        self.name: Final[str] = ledger.name
        self.unit: Final[Unit] = ledger.unit
        self.budget: Final[Loss] = ledger.budget
        self.filter: Final[Filter] = ledger.filter
        self.where: Final[str] = ledger.where
        self.admit()

    def hold(self, line: int) -> Self:
        """Show what stood when this line of the ledger was the newest; what is charged is not held.

        It must not be earlier than the asker's first share.
        """
        self.__line = line
        return self

    def admit(self) -> Standing | None:
        """The asker's share; None where nobody has one, and an error where only others do."""
        standing = self._standing()
        if standing is None and self.__ledger.shares():
            kind, part = self.budget.figure, self.budget.share(0.1)
            amount = fixes.amount("amount", kind, shown_down(getattr(part, kind)))
            name = shlex.quote(self.asker)
            raise BudgetExceeded(
                f"{self.asker} has no share in this ledger",
                why="its budget is divided into shares, and every asker needs one",
                fix=Fix(
                    f"s.ledger.share({fixes.quoted(self.asker)}, {amount.python})",
                    command=f"deniable ledger share {name} {amount.said('shell')}",
                    lead="the curator can reserve one, in their own session: ",
                ),
            )
        return standing

    # ---- how much

    @property
    def reserved(self) -> Loss | None:
        """All that was ever reserved for this asker; None where nobody has a share."""
        standing = self.admit()
        return None if standing is None else self.filter.spent(standing.reserved)

    def share(self, asker: str, *, amount: Loss) -> NoReturn:
        """Only the curator reserves shares; an asker's own is `session.share`."""
        raise BadParameter(
            f"this session is {self.asker}'s; only the curator can reserve shares",
            fix=(
                Fix("s.share", command="", note="your own share"),
                Fix(
                    f"s.ledger.share({fixes.quoted(asker)}, amount=dp.{amount!r})",
                    command="",
                    lead="the curator can reserve one, in their own session: ",
                ),
            ),
        )

    @property
    def spent(self) -> Loss:
        """What this asker used of their share; without shares, what all spent together."""
        standing = self.admit()
        used = self._totals()[0] if standing is None else standing.used
        return self.filter.spent(used)

    @property
    def left(self) -> Loss:
        """What this asker may still spend: rounded down."""
        standing = self.admit()
        if standing is None:
            return self.filter.left(self._totals()[1]).as_left()
        return self.filter.rest(standing.reserved, standing.used).as_left()

    def left_after(self, price: Price) -> Loss | None:
        """What this asker could spend after this price; None if it does not fit."""
        standing = self.admit()
        if standing is None:
            total = self._totals()[1] + price
            return self.filter.left(total) if self.filter.admits(total) else None
        after = standing.use(price)
        fitting = fits(after.used, after.reserved)
        return self.filter.rest(after.reserved, after.used) if fitting else None

    def price(self, mechanism: Mechanism, *, delta: float | None = None) -> Price:
        """What one use of a mechanism costs here, in native units. Asking is free."""
        return self.__ledger.price(mechanism, delta=delta)

    def due(self, mechanism: Mechanism, *, question: str | None = None) -> Price:
        """What asking would charge this asker now."""
        self.admit()
        return self.__ledger.due(mechanism, question=question, asker=self.asker)

    def check(self, price: Price) -> None:
        """Raise as a charge of this price would; nothing is written."""
        self.admit()
        self.__ledger.check(price, asker=self.asker)

    def check_known(self) -> None:
        """Raise as a charge would if this version does not know all of the ledger's lines."""
        self.__ledger.check_known(asker=self.asker)

    # ---- what for

    @property
    def entries(self) -> tuple[Entry, ...]:
        """This asker's lines, oldest first, numbered from 1; what was answered is not listed.

        Whether an answer was drawn for this charge or stored before would tell what others asked.
        """
        return tuple(self._own().values())

    def halts(self) -> Halts:
        """Whether this asker is stopped after a failure, and how often they were resumed."""
        halts = Halts()
        if self.__ledger.halts() != halts:  # else nobody ever was, and no line need be read
            for entry in self._own().values():
                halts = halts.after(entry)
        return halts

    def failures(self) -> Failures:
        """This asker's failures that wait for the curator, who alone sees their causes."""
        lines = self._own()
        waiting = (each for each in self.__ledger.waiting() if each.asker == self.asker)
        own = [each for each in waiting if {each.entry, each.stop} <= lines.keys()]
        return Failures(
            replace(
                each,
                entry=lines[each.entry].sequence,
                stop=lines[each.stop].sequence,
                detail="the curator sees it",
            )
            for each in own
        )

    def _standing(self) -> Standing | None:
        if self.__line is None:
            return self.__ledger.standing(self.asker)
        return next((e.standing for e in reversed(self._own().values()) if e.standing), None)

    def _totals(self) -> tuple[Price, Price]:
        return self.__ledger.totals_at(self.__line)

    def _own(self) -> dict[int, Entry]:
        """This asker's lines as they see them, by their numbers in the ledger."""
        own, line = self._all(), self.__line
        return own if line is None else {n: e for n, e in own.items() if n <= line}

    def _all(self) -> dict[int, Entry]:
        seen, known = self.__read
        own, entries = dict(known), self.__ledger.entries
        for entry in entries[seen:] if seen else entries:
            seen += 1
            if entry.asker == self.asker:
                own[entry.sequence] = self._seen(entry, len(own) + 1, own)
        self.__read = (seen, own)
        return own

    def _seen(self, entry: Entry, number: int, own: dict[int, Entry]) -> Entry:
        """A line with its number among the asker's own, and nothing of the whole ledger."""
        record = {name: value for name, value in entry.record.items() if name in _OWN}
        if entry.charge is not None:
            record["charge"] = own[entry.charge].sequence
        return Entry(record=record | {"sequence": number}, hash=self.__ledger.alias(entry))

    # ---- how it looks

    def __getattr__(self, name: str) -> NoReturn:
        """An error that says which names only the curator's ledger has."""
        if hasattr(Ledger, name):
            raise AttributeError(
                f"`{name}` belongs to the curator's ledger; {self.asker} sees only their own lines "
                "and share: entries, spent, left, share, halts(), failures()"
            )
        raise AttributeError(f"an asker's ledger has no `{name}`")

    def __repr__(self) -> str:
        return show.as_text(self, show.spent_by(self))

    def _repr_html_(self) -> str:
        return show.as_html(self, show.spent_by(self))
