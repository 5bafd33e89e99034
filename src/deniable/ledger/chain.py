"""Does one line follow from the one before? The chain, the totals and the ceiling, checked again.

A hash chain tells that a line was changed, removed from the middle or moved. It cannot tell that
the newest lines were cut off: the shorter chain is a perfect chain. For that, keep `ledger.head()`
somewhere else and give it to `ledger.verify(anchor=…)`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from deniable import parameters
from deniable.errors import DeniableError, LedgerFailure
from deniable.losses.filters import Filter, Price
from deniable.mechanisms import Mechanism
from deniable.mechanisms.combine import Composed

from .entry import KINDS, Entry, Standing, fits, names
from .halts import Halts
from .state import State
from .stores.store import Row
from .trust import NOT_TRUSTED, UNREADABLE, broken, check_link, intact

_MOST = 10_000  # prices remembered: a bound on memory


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
        self._unanswered: dict[int, object] = {}
        self._paid: dict[str, tuple[Price, bool]] = {}
        self._strange = False
        self.state: State | None = State() if start.sequence == 0 else None
        self.at = intact(start, where=where)
        try:
            self._believe(self.at)
            if self.state is not None:
                self.state.take(self.at.record)
        except (*UNREADABLE, DeniableError) as error:
            raise self._unreadable(start, error) from None

    def step(self, row: Row) -> Entry:
        """Go to the next line, or raise LedgerFailure naming what is wrong with it.

        After a failure the walk is of no further use.
        """
        before, entry = self.at, intact(row, where=self._where)
        check_link(before, entry, where=self._where)
        try:
            self._check(before, entry, row)
        except (*UNREADABLE, DeniableError) as error:
            raise self._unreadable(row, error) from None
        self.at = entry
        return entry

    def _check(self, before: Entry, entry: Entry, row: Row) -> None:
        kind = row.kind
        unknown = kind not in KINDS
        self._strange = self._strange or unknown
        if unknown or before.kind == "unknown":
            self._believe(entry)
        else:
            self._check_totals(entry, kind)
            self._check_halts(before, entry, kind)
            if self.state is not None and entry.record.get("asker") is not None:
                self._check_standing(entry, kind, self.state)
            if self._whole:
                self._check_answer(entry, kind)
        if self.state is not None:
            self.state.follow(entry.record, row.mechanisms)
            stated = entry.record.get("state")
            if stated != self.state.digest and stated is not None and not self._strange:
                raise self._broken(entry.sequence, "states other shares than those before it")

    def _unreadable(self, row: Row, error: Exception) -> LedgerFailure:
        """Whatever a line holds that no version writes is a failure of the ledger."""
        if isinstance(error, LedgerFailure):
            return error
        return self._broken(row.sequence, "holds what cannot be read")

    def _believe(self, entry: Entry) -> None:
        """Take the totals as they are stated: before the first step, and after a strange line."""
        if entry.kind != "unknown":
            self._total, self._committed = totals(entry)
        self._stated = entry.record.get("total", {}), entry.record.get("committed", {})

    def _check_totals(self, entry: Entry, kind: str) -> None:
        record = entry.record
        if kind in ("charge", "share") and "repeats" not in record:
            price, enough = self._price(entry, kind)
            if not enough:
                raise self._broken(entry.sequence, "was charged less than it costs")
            self._add(price, kind, shared="standing" in record)
            both = self._committed is self._total
            if not (
                self._filter.admits(self._committed) and (both or self._filter.admits(self._total))
            ):
                raise self._broken(entry.sequence, "passes the ceiling")
        if (record.get("total"), record.get("committed")) != self._stated:
            raise self._broken(entry.sequence, "states a total that is not the sum")

    def _add(self, price: Price, kind: str, *, shared: bool) -> None:
        """Add a price to the sums it belongs to; both at once where they are the same so far."""
        if self._committed is self._total and kind == "charge" and not shared:
            self._total = self._committed = self._total + price
            stated = self._total.to_dict()
            self._stated = stated, stated
            return
        if kind == "charge":
            self._total = self._total + price
        if kind == "share" or not shared:
            self._committed = self._committed + price
        self._stated = self._total.to_dict(), self._committed.to_dict()

    def _price(self, entry: Entry, kind: str) -> tuple[Price, bool]:
        """The price that a line states, and whether it is enough; most come again and again."""
        record = entry.record
        text = repr((record.get("mechanisms"), record.get("delta"), record["price"]))
        if text not in self._paid:
            if len(self._paid) >= _MOST:
                self._paid.clear()
            price = _given(entry.price)
            self._paid[text] = price, kind == "share" or self._is_enough(entry, price)
        return self._paid[text]

    def _check_halts(self, before: Entry, entry: Entry, kind: str) -> None:
        halts, stated = before.record.get("halts"), entry.record.get("halts")
        if kind in ("stop", "resume") or halts is not None:
            halts = Halts.of(before).after(entry).to_record().get("halts")
        if stated != halts:
            raise self._broken(entry.sequence, "does not state who is stopped")

    def _is_enough(self, entry: Entry, price: Price) -> bool:
        """Price it again: what a later proof made cheaper is fine, the reverse is told.

        Blocks are priced numerically; a later version may end a little higher, as sound as before.
        What is not known here has no price, and nothing more can be charged after it.
        """
        if not self._whole or None in map(Mechanism.named, names(entry.mechanisms)):
            return True
        delta = entry.record.get("delta")
        slack = 1e-9 if delta is None else 1e-2
        return fits(self._priced(entry, delta), price, slack=slack)

    def _priced(self, entry: Entry, delta: object) -> Price:
        try:
            charged = [Mechanism.from_dict(record) for record in entry.mechanisms]
            return sum((price_of(m, self._filter, delta) for m in charged), Price.zero)
        except DeniableError:
            raise self._broken(entry.sequence, "charges what has no price") from None

    def _check_standing(self, entry: Entry, kind: str, state: State) -> None:
        asker = str(entry.asker)
        new = state.standings.get(asker)
        if new is None and kind != "share":
            return
        if kind == "share":
            new = (new or Standing.none()).reserve(_given(entry.price))
        elif kind == "charge" and new is not None:
            new = new.use(_given(entry.price))
        if new is None or entry.standing != new or not fits(new.used, new.reserved):
            raise self._broken(entry.sequence, f"does not keep to the share of {asker}")

    def _check_answer(self, entry: Entry, kind: str) -> None:
        if kind == "charge" and "repeats" not in entry.record:
            self._unanswered[entry.sequence] = entry.record.get("question")
        elif kind == "answer":
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
