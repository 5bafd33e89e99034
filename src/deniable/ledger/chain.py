"""Does one line follow from the one before? The chain, the totals and the ceiling, checked again.

A hash chain tells that a line was changed, removed from the middle or moved. It cannot tell that
the newest lines were cut off: the shorter chain is a perfect chain. For that, keep `ledger.head()`
somewhere else and give it to `ledger.verify(anchor=…)`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial

from deniable import parameters
from deniable.errors import DeniableError, LedgerFailure
from deniable.losses.filters import Filter, Price
from deniable.mechanisms import Mechanism
from deniable.mechanisms._priced import Prices
from deniable.mechanisms.combine import Composed

from .entry import KINDS, MOST, Entry, Record, Standing, covered, fits, key_of, stated
from .halts import Halts
from .stores.store import Row
from .trust import NOT_TRUSTED, UNREADABLE, State, broken, check_link, intact, read


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
    header on, or once the `state` is known. `whole.WholeWalk` checks more.
    """

    def __init__(self, start: Row, *, filter: Filter, where: str) -> None:
        self._filter, self._where = filter, where
        self._paid: dict[bytes, Price] = {}
        self._strange = False
        self.state: State | None = State() if start.sequence == 0 else None
        self._row = start
        self._entry: Entry | None = None
        record = read(start, where=where)
        self._halts = record.get("halts")
        try:
            self._believe(self.at)
            if self.state is not None:
                self.state.take(record)
        except (*UNREADABLE, DeniableError) as error:
            raise self._unreadable(start, error) from None

    @property
    def at(self) -> Entry:
        """The line that was reached."""
        if self._entry is None or self._entry.hash != self._row.hash:
            self._entry = intact(self._row, where=self._where)
        return self._entry

    def step(self, row: Row) -> None:
        """Go to the next line, or raise LedgerFailure naming what is wrong with it.

        After a failure the walk is of no further use.
        """
        record = read(row, where=self._where)
        check_link(self._row, record, where=self._where)
        try:
            self._check(record, row)
        except (*UNREADABLE, DeniableError) as error:
            raise self._unreadable(row, error) from None
        self._row, self._entry = row, Entry(record, row.hash)

    def _check(self, record: Record, row: Row) -> None:
        kind = row.kind
        unknown = kind not in KINDS
        self._strange = self._strange or unknown
        if unknown or self._row.kind not in KINDS:
            self._believe(Entry(record, row.hash))
        else:
            self._check_totals(record, kind)
            if kind in ("stop", "resume") or record.get("halts") != self._halts:
                self._check_halts(Entry(record, row.hash))
            if row.asker is not None and self.state is not None:
                self._check_standing(Entry(record, row.hash), kind, self.state)
        self._halts = record.get("halts")
        if self.state is not None:
            self.state.follow(record, row.mechanisms)
            stated = record.get("state")
            if stated != self.state.digest and stated is not None and not self._strange:
                raise self._broken(row.sequence, "states other shares than those before it")

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

    def _check_totals(self, record: Record, kind: str) -> None:
        if kind in ("charge", "share") and "repeats" not in record:
            self._add(self._price(record), kind, shared="standing" in record)
            both = self._committed is self._total
            if not (
                self._filter.admits(self._committed)
                and (both or covered(self._total, self._committed))
            ):
                raise self._broken(record["sequence"], "passes the ceiling")
        if (record.get("total"), record.get("committed")) != self._stated:
            raise self._broken(record["sequence"], "states a total that is not the sum")

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

    def _price(self, record: Record) -> Price:
        """The price that a line states; most come again and again."""
        about = record["kind"], record.get("mechanisms"), record.get("delta"), record["price"]
        key = key_of(about)
        if key not in self._paid:
            if len(self._paid) >= MOST:
                self._paid.clear()
            self._paid[key] = self._checked_price(Entry(record, ""))
        return self._paid[key]

    def _checked_price(self, entry: Entry) -> Price:
        return given(entry.price)

    def _check_halts(self, entry: Entry) -> None:
        expected = Halts.of(self.at).after(entry).to_record().get("halts")
        if entry.record.get("halts") != expected:
            raise self._broken(entry.sequence, "does not state who is stopped")

    def _check_standing(self, entry: Entry, kind: str, state: State) -> None:
        asker = str(entry.asker)
        new = state.standings.get(asker)
        if new is None and kind != "share":
            return
        if kind == "share":
            new = (new or Standing.none()).reserve(given(entry.price))
        elif kind == "charge" and new is not None:
            new = new.use(given(entry.price))
        if new is None or entry.standing != new or not fits(new.used, new.reserved):
            raise self._broken(entry.sequence, f"does not keep to the share of {asker}")

    def _broken(self, sequence: object, how: str) -> LedgerFailure:
        return broken(sequence, how, where=self._where)


def price_of(mechanism: Mechanism, filter_: Filter, delta: object) -> Price:
    """What one use costs: by itself, or with a δ as one block fixed in advance.

    Of a list with parts that have a δ of their own, each part enters by what is best for it, as if
    they were charged one after another: a block, or a divergence, of which a block has none.
    """
    if delta is None and isinstance(mechanism, Composed) and mechanism.approx()[1] > 0:
        return sum((n * filter_.price(part) for part, n in mechanism.parts), Price.zero)
    if delta is None:
        return filter_.price(mechanism)
    given = parameters.fraction_below_one("delta", delta)
    return filter_.block(mechanism.epsilon_at(given), given)


def prices(filter_: Filter) -> Prices[Price]:
    """What each mechanism costs by itself, worked out once."""
    return Prices(partial(price_of, filter_=filter_, delta=None))


def totals(entry: Entry) -> tuple[Price, Price]:
    """What a line says was charged in all, and committed in all; a header says nothing yet."""
    if entry.kind == "header" or (entry.kind == "unknown" and entry.total is None):
        return Price.zero, Price.zero
    return given(entry.total), given(entry.committed)


def unchanged(last: Entry, standing: Standing | None = None) -> dict[str, object]:
    """What a line states that charges nothing to the ceiling."""
    return stated(*totals(last), standing)


def check_anchor(anchor: Head | Entry, row: Row | None, *, where: str) -> None:
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


def given(price: Price | None) -> Price:
    """A price that a line of this kind has to state."""
    assert price is not None
    return price
