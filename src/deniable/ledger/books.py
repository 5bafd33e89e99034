"""What a ledger says: how much was spent, by whom, for what, and whether it can be trusted."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import NoReturn, Self, overload

from deniable.errors import LedgerFailure
from deniable.losses import Loss
from deniable.losses.filters import Filter, Price
from deniable.mechanisms import Mechanism

from . import chain, show
from .chain import Head, Walk
from .entry import KINDS, Entry, Standing, opened
from .halts import Failure, Failures, Halts
from .header import Header
from .store import Reading, Row, Store

TAIL = 100  # lines checked whenever a ledger is opened
PAGE = 1000  # lines read at a time, so that nobody waits long for a reader


class Books:
    """The reading half of a ledger."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._strange_kinds: set[str] = set()
        self._mechanisms: set[str] = set()
        with store.reading() as lines:
            self.header = Header.read(lines.since(0, limit=1), where=store.where)
            self.name, self.unit = self.header.name, self.header.unit
            self.budget: Loss = self.header.budget
            self.filter: Filter = self.header.filter
            self._key = bytes.fromhex(lines.key())
            last = lines.last()
            assert last is not None
            start = lines.since(max(0, last.sequence - TAIL), limit=1)[0]
            self._walk = Walk(start, filter=self.filter, where=store.where, whole=False)
            self._learn(lines.kinds(), lines.mechanisms())
            self._catch_up(lines)

    @property
    def where(self) -> str:
        """The file or database that holds the ledger; no password."""
        return self._store.where

    # ---- how much

    @property
    def spent(self) -> Loss:
        """What was charged to the ceiling so far: an upper bound, rounded up."""
        return self.filter.spent(self._state()[0])

    @property
    def left(self) -> Loss:
        """What may still be charged outside every share: rounded down."""
        return self.filter.left(self._state()[1])

    def left_after(self, price: Price) -> Loss | None:
        """What could be charged after this price, outside every share; None if it does not fit."""
        after = self._state()[1] + price
        return self.filter.left(after) if self.filter.admits(after) else None

    @property
    def strange(self) -> str | None:
        """What this version does not know among the lines: it may have cost anything."""
        if self._strange_kinds:
            return f"lines of the kind {min(self._strange_kinds)!r}"
        unknown = self._mechanisms.difference(Mechanism.registry)
        return f"the mechanism {min(unknown)!r}" if unknown else None

    def standing(self, asker: str) -> Standing | None:
        """What was reserved for this asker and how much of it they used; None if nothing was."""
        with self._store.reading() as lines:
            return self._standing(lines, asker)

    def shares(self) -> dict[str, Standing]:
        """Every share, by asker."""
        with self._store.reading() as lines:
            found = {asker: self._standing(lines, asker) for asker in lines.sharers()}
        return {asker: standing for asker, standing in found.items() if standing is not None}

    # ---- who is stopped

    def halts(self) -> Halts:
        """Which askers are stopped after a failure, and how often askers were resumed."""
        with self._store.reading() as lines:
            return Halts.of(self._catch_up(lines))

    def failures(self) -> Failures:
        """The failures that the curator has not passed over yet, with their causes."""
        with self._store.reading() as lines:
            waiting = dict(Halts.of(self._catch_up(lines)).stopped)
            found = [_failure(lines, stop) for stop in self._waiting(lines, waiting)]
        return Failures(found)

    def _waiting(self, lines: Reading, waiting: dict[str | None, int]) -> list[Entry]:
        """The newest stop lines of each asker, as many as they have failures; oldest first."""
        newest: list[Entry] = []
        for row in reversed(lines.stops()):
            if waiting.get(row.asker, 0):
                waiting[row.asker] -= 1
                newest.append(opened(row))
        return newest[::-1]

    # ---- the record

    @property
    def entries(self) -> Entries:
        """Every line after the header, oldest first, read as needed."""
        return Entries(self._store)

    def head(self) -> Head:
        """Where the ledger ends now. Keep it outside: only against it does a tail cut off show."""
        with self._store.reading() as lines:
            last = self._catch_up(lines)
        return Head(sequence=last.sequence, hash=last.hash, total=chain.totals(last)[0])

    def verify(
        self,
        anchor: Head | None = None,
        *,
        progress: Callable[[int, int], object] | None = None,
    ) -> Head:
        """Recompute every hash, total, share and admission, and return the head.

        Raises LedgerFailure naming the first line that was changed, removed, moved or overspent.
        Without an `anchor` (an earlier `head()` kept elsewhere) a tail cut off cannot be noticed.
        `progress(done, lines)` is called now and then.
        """
        walk: Walk | None = None
        lines_now = len(self.entries)
        for row in rows(self._store):
            if walk is None:
                walk = Walk(row, filter=self.filter, where=self.where, whole=True)
            else:
                walk.step(row)
            if anchor is not None and row.sequence == anchor.sequence:
                chain.check_anchor(anchor, row, where=self.where)
            if progress is not None and row.sequence % PAGE == 0:
                progress(row.sequence, lines_now)
        assert walk is not None
        if anchor is not None and anchor.sequence > walk.at.sequence:
            chain.check_anchor(anchor, None, where=self.where)
        return Head(sequence=walk.at.sequence, hash=walk.at.hash, total=chain.totals(walk.at)[0])

    def to_jsonl(self, path: str | Path | None = None) -> str | None:
        """Every line as it is hashed; the SHA-256 of a line is `previous` in the next."""
        if path is None:
            return "".join(row.line + "\n" for row in rows(self._store))
        with Path(path).open("w", encoding="ascii", newline="\n") as file:
            file.writelines(row.line + "\n" for row in rows(self._store))
        return None

    # ---- how it looks, and its end

    def __repr__(self) -> str:
        return show.as_text(self)

    def _repr_html_(self) -> str:
        return show.as_html(self)

    def close(self) -> None:
        """Let go of the file or connection."""
        self._store.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __reduce__(self) -> NoReturn:
        raise LedgerFailure(
            "a ledger cannot be copied or sent to another process",
            why="two copies would each spend the whole ceiling on the same people",
            fix='open_ledger("ledger.db") in each process',
        )

    # ---- inside

    def _state(self) -> tuple[Price, Price]:
        """What was charged, what was charged or reserved; ∞ if a line is not understood."""
        with self._store.reading() as lines:
            last = self._catch_up(lines)
        if self.strange is None:
            return chain.totals(last)
        orders = len(self.filter.block(0.0).renyi)
        everything = Price(
            epsilon=math.inf, rho=math.inf, mu_squared=math.inf, renyi=(math.inf,) * orders
        )
        return everything, everything

    def _standing(self, lines: Reading, asker: str | None) -> Standing | None:
        row = None if asker is None else lines.latest_of(asker)
        return None if row is None else opened(row).standing

    def _catch_up(self, lines: Reading) -> Entry:
        """Check the lines that were written since the last look, and return the newest."""
        while True:
            seen = self._walk.at
            rows = lines.since(seen.sequence, limit=PAGE)
            if not rows or rows[0].hash != seen.hash:
                anchor = Head(sequence=seen.sequence, hash=seen.hash, total=Price.zero)
                chain.check_anchor(anchor, rows[0] if rows else None, where=self.where)
            for row in rows[1:]:
                self._walk.step(row)
                self._learn([row.kind], [row.mechanisms or ""])
            if len(rows) < PAGE:
                return self._walk.at

    def _learn(self, kinds: Iterable[str], together: Iterable[str]) -> None:
        self._strange_kinds.update(set(kinds).difference(KINDS))
        self._mechanisms.update(name for names in together for name in names.split(",") if name)


def _failure(lines: Reading, stop: Entry) -> Failure:
    assert stop.charge is not None
    paid = opened(lines.since(stop.charge, limit=1)[0])
    return Failure(
        time=stop.time.isoformat(),
        entry=paid.sequence,
        asker=stop.asker,
        question=paid.what or "(not named)",
        detail=lines.cause(stop.sequence),
    )


class Entries(Sequence[Entry]):
    """The lines of a ledger after its header, oldest first."""

    def __init__(self, store: Store) -> None:
        self._store = store

    def __len__(self) -> int:
        with self._store.reading() as lines:
            last = lines.last()
        return 0 if last is None else last.sequence

    def __iter__(self) -> Iterator[Entry]:
        return (opened(row) for row in rows(self._store, start=1))

    @overload
    def __getitem__(self, index: int) -> Entry: ...
    @overload
    def __getitem__(self, index: slice) -> list[Entry]: ...
    def __getitem__(self, index: int | slice) -> Entry | list[Entry]:
        places = range(len(self))[index]
        if isinstance(places, range):
            return [self[place] for place in places]
        with self._store.reading() as lines:
            return opened(lines.since(places + 1, limit=1)[0])


def rows(store: Store, *, start: int = 0) -> Iterator[Row]:
    """The lines from this one on, a page at a time."""
    while True:
        with store.reading() as lines:
            page = lines.since(start, limit=PAGE)
        yield from page
        if len(page) < PAGE:
            return
        start = page[-1].sequence + 1
