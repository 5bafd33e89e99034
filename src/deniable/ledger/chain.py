"""Does one line follow from the one before? The chain, the totals and the ceiling, checked again.

A hash chain tells that a line was changed, removed from the middle or moved. It cannot tell that
the newest lines were cut off: the shorter chain is a perfect chain. For that, keep `ledger.head()`
somewhere else and give it to `ledger.verify(anchor=…)`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass

from deniable import parameters
from deniable.errors import DeniableError, LedgerFailure
from deniable.losses.filters import Filter, Price
from deniable.mechanisms import Mechanism
from deniable.mechanisms.combine import Composed

from .entry import Entry, Standing, canonical, fits, names
from .halts import Halts
from .state import State
from .store import Row
from .trust import NOT_TRUSTED, UNREADABLE, broken, check_link, intact


@dataclass(frozen=True, kw_only=True)
class Head:
    """Where a ledger ends: what to keep outside it, so that a tail cut off later is found."""

    sequence: int
    hash: str
    total: Price

    def to_dict(self) -> dict[str, object]:
        """A flat record, for a log or a colleague."""
        return {"sequence": self.sequence, "hash": self.hash, "total": self.total.to_dict()}

    @staticmethod
    def from_dict(record: Mapping[str, object]) -> Head:
        """The head that `to_dict` wrote."""
        total = record["total"]
        assert isinstance(total, Mapping)
        return Head(
            sequence=int(str(record["sequence"])),
            hash=str(record["hash"]),
            total=Price.from_dict(total),
        )


class Walk:
    """A walk along the lines that recomputes what each line claims.

    Hashes, order, totals and the ceiling can be checked from any line on, and shares from the
    header on, or once the `state` is known. A `whole` walk starts at the header, and also prices
    each charge again and pairs it with its answer.
    """

    def __init__(
        self,
        start: Row,
        *,
        filter: Filter,  # noqa: A002
        where: str,
        whole: bool = False,
    ) -> None:
        self._filter, self._where, self._whole = filter, where, whole
        self._unanswered: dict[int, str | None] = {}
        self._prices: dict[str, Price] = {}
        self._strange = False
        self.state: State | None = State() if start.sequence == 0 else None
        self.at = intact(start, where=where)
        with self._readable(start):
            self._believe(self.at)
            if self.state is not None:
                self.state.take(self.at.record)

    def step(self, row: Row) -> Entry:
        """Go to the next line, or raise LedgerFailure naming what is wrong with it.

        After a failure the walk is of no further use.
        """
        before, entry = self.at, intact(row, where=self._where)
        check_link(before, entry, where=self._where)
        with self._readable(row):
            self._check(before, entry)
        self.at = entry
        return entry

    def _check(self, before: Entry, entry: Entry) -> None:
        self._strange = self._strange or entry.kind == "unknown"
        if "unknown" in (before.kind, entry.kind):
            self._believe(entry)
        else:
            self._check_totals(entry)
            self._check_halts(before, entry)
            if self.state is not None:
                self._check_standing(entry, self.state)
            if self._whole:
                self._check_price(entry)
                self._check_answer(entry)
        if self.state is not None:
            self.state.take(entry.record)
            stated = entry.record.get("state")
            if not self._strange and stated not in (None, self.state.digest()):
                raise self._broken(entry.sequence, "states other shares than those before it")

    @contextmanager
    def _readable(self, row: Row) -> Iterator[None]:
        """Whatever a line holds that no version writes is a failure of the ledger."""
        try:
            yield
        except LedgerFailure:
            raise
        except (*UNREADABLE, DeniableError):
            raise self._broken(row.sequence, "holds what cannot be read") from None

    def _believe(self, entry: Entry) -> None:
        """Take the totals as they are stated: before the first step, and after a strange line."""
        if entry.kind != "unknown":
            self._total, self._committed = totals(entry)
        self._stated = entry.record.get("total", {}), entry.record.get("committed", {})

    def _check_totals(self, entry: Entry) -> None:
        if entry.kind in ("charge", "share") and entry.repeats is None:
            price = _given(entry.price)
            if entry.kind == "charge":
                self._total = self._total + price
            if entry.kind == "share" or "standing" not in entry.record:
                self._committed = self._committed + price
            self._stated = self._total.to_dict(), self._committed.to_dict()
        if (entry.record.get("total"), entry.record.get("committed")) != self._stated:
            raise self._broken(entry.sequence, "states a total that is not the sum")
        if not (self._filter.admits(self._committed) and self._filter.admits(self._total)):
            raise self._broken(entry.sequence, "passes the ceiling")

    def _check_halts(self, before: Entry, entry: Entry) -> None:
        stated = {name: entry.record[name] for name in ("halts",) if name in entry.record}
        if stated != Halts.of(before).after(entry).to_record():
            raise self._broken(entry.sequence, "does not state who is stopped")

    def _check_price(self, entry: Entry) -> None:
        """Price it again: what a later proof made cheaper is fine, the reverse is told.

        Blocks are priced numerically; a later version may end a little higher, as sound as before.
        """
        if entry.kind != "charge" or names(entry.mechanisms).difference(Mechanism.registry):
            return
        delta = entry.record.get("delta")
        text = canonical({"of": entry.mechanisms, "at": delta})
        if text not in self._prices:
            self._prices[text] = self._priced(entry, delta)
        slack = 1e-9 if delta is None else 1e-2
        if not fits(self._prices[text], _given(entry.price), slack=slack):
            raise self._broken(entry.sequence, "was charged less than it costs")

    def _priced(self, entry: Entry, delta: object) -> Price:
        try:
            charged = [Mechanism.from_dict(record) for record in entry.mechanisms]
            return sum((price_of(m, self._filter, delta) for m in charged), Price.zero)
        except DeniableError:
            raise self._broken(entry.sequence, "charges what has no price") from None

    def _check_standing(self, entry: Entry, state: State) -> None:
        asker, price = entry.asker, entry.price
        old = state.standings.get(asker) if asker is not None else None
        new = old
        if entry.kind == "share":
            new = (old or Standing.none()).reserve(_given(price))
        elif entry.kind == "charge" and old is not None:
            new = old.use(_given(price))
        if asker is None or new is None:
            return
        if entry.standing != new or not fits(new.used, new.reserved):
            raise self._broken(entry.sequence, f"does not keep to the share of {asker}")

    def _check_answer(self, entry: Entry) -> None:
        if entry.kind == "charge" and entry.repeats is None:
            self._unanswered[entry.sequence] = entry.question
        if entry.kind == "answer":
            paid = self._unanswered.pop(entry.charge or 0, None)
            if paid is None or paid != entry.question:
                raise self._broken(entry.sequence, "is an answer without its charge")

    def _broken(self, sequence: int, how: str) -> LedgerFailure:
        return broken(sequence, how, where=self._where)


def price_of(mechanism: Mechanism, filter: Filter, delta: object) -> Price:  # noqa: A002
    """What one use costs: by itself, or with a δ as one block fixed in advance.

    Of a list with parts that have a δ of their own, each part enters by what is best for it, as if
    they were charged one after another: a block, or a divergence, of which a block has none.
    """
    if delta is None and isinstance(mechanism, Composed) and mechanism.approx()[1] > 0:
        return sum((n * filter.price(part) for part, n in mechanism.parts), Price.zero)
    if delta is None:
        return filter.price(mechanism)
    given = parameters.fraction_below_one("delta", delta)
    return filter.block(mechanism.epsilon_at(given), given)


def totals(entry: Entry) -> tuple[Price, Price]:
    """What a line says was charged in all, and committed in all; a header says nothing yet."""
    if entry.kind == "header" or (entry.kind == "unknown" and entry.total is None):
        return Price.zero, Price.zero
    return _given(entry.total), _given(entry.committed)


def check_anchor(anchor: Head, row: Row | None, *, where: str) -> None:
    """The ledger still holds the line that was its last when the anchor was taken."""
    if row is not None and row.hash == anchor.hash:
        return
    how = "was cut off" if row is None else "is another one"
    raise LedgerFailure(
        f"line {anchor.sequence} of the ledger {how}: the anchor does not match",
        why="the lines are a valid chain, but not the one this anchor was taken from; "
        "only an anchor kept outside shows a tail cut off",
        fix=f"restore {where} from a copy that contains the anchor",
        cost=NOT_TRUSTED,
    )


def _given(price: Price | None) -> Price:
    assert price is not None
    return price
