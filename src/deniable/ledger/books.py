"""What a ledger says: how much was spent, by whom, for what, and whether it can be trusted."""

from __future__ import annotations

import hashlib
import hmac
import math
from collections.abc import Callable, Iterator, Sequence
from itertools import chain as joined
from pathlib import Path
from typing import NoReturn, Self, overload

from deniable.errors import LedgerFailure
from deniable.losses import Loss
from deniable.losses.filters import Filter, Price
from deniable.mechanisms import Mechanism
from deniable.progress import Progress

from . import chain, show
from .chain import Head, Walk
from .entry import Entry, Standing, canonical
from .export import exported
from .halts import Failure, Failures, Halts
from .header import Header
from .stores.store import Lookups, Row, Store, refuse_seed
from .trust import State, broken, in_place, intact, refuse_foreign
from .whole import WholeWalk

TAIL = 100  # lines checked whenever a ledger is opened
PAGE = 1000  # lines read at a time, so that nobody waits long for a reader


class Books:
    """The reading half of a ledger."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._walk: Walk | None = None
        """Where the chain was checked to; None if a check was interrupted, and must start anew."""
        self._seen: Entry | None = None
        """The newest line ever seen: it must still be there whenever a check starts anew."""
        self._shown: dict[str | None, set[int]] = {}
        self._looked = False
        """The stop lines, by asker, whose causes the curator has seen here."""
        self.header, kept = store.read(self._first_look)
        self.name, self.unit = self.header.name, self.header.unit
        self.budget: Loss = self.header.budget
        self.filter: Filter = self.header.filter
        self._key = self.header.key(kept, where=store.where)
        store.read(self._catch_up)

    def _first_look(self, lines: Lookups) -> tuple[Header, str]:
        return Header.read(lines.since(0, limit=2), where=self.where), lines.key()

    @property
    def where(self) -> str:
        """The file or database that holds the ledger; no password."""
        return self._store.where

    @property
    def durable(self) -> bool:
        """Do the lines outlive this process?"""
        return self._store.durable

    def check_mechanism(self, mechanism: Mechanism, *, asker: str | None) -> None:
        """Raise if this asker may not charge this mechanism here, whatever it costs."""
        if asker is not None and self.durable:
            refuse_seed(durable=self.durable)
            refuse_foreign(mechanism, asker=asker)

    # ---- how much

    @property
    def spent(self) -> Loss:
        """What was charged to the ceiling so far: an upper bound, rounded up."""
        return self.filter.spent(self._state()[0])

    @property
    def left(self) -> Loss:
        """What may still be charged outside every share: rounded down."""
        return self.filter.left(self._state()[1]).as_left()

    def left_after(self, price: Price) -> Loss | None:
        """What could be charged after this price, outside every share; None if it does not fit."""
        after = self._state()[1] + price
        return self.filter.left(after) if self.filter.admits(after) else None

    def totals_at(self, line: int | None) -> tuple[Price, Price]:
        """What was charged, and what was charged or reserved, when this line was the newest."""
        if line is None or self.strange is not None:
            return self._state()
        return chain.totals(self.entries[line - 1]) if line else (Price.zero, Price.zero)

    @property
    def strange(self) -> str | None:
        """What this version does not know among the lines: it may have cost anything."""
        return self._now()[1].strange

    def check_known(self, *, asker: str | None = None) -> None:
        """Raise as a charge would if this version does not know all of the lines."""
        self._now()[1].refuse_unknown(asker=asker)

    def standing(self, asker: str) -> Standing | None:
        """What was reserved for this asker and how much of it they used; None if nothing was."""
        return self._now()[1].standings.get(asker)

    def shares(self) -> dict[str, Standing]:
        """Every share, by asker."""
        return dict(sorted(self._now()[1].standings.items()))

    # ---- who is stopped

    def halts(self) -> Halts:
        """Which askers are stopped after a failure, and how often askers were resumed."""
        return Halts.of(self._now()[0])

    def failures(self) -> Failures:
        """The failures that the curator has not passed over yet, with their causes.

        What is shown here is what `resume` may pass over.
        """
        found = self.waiting()
        self._looked = True
        for each in found:
            self._shown.setdefault(each.asker, set()).add(each.stop)
        return found

    def waiting(self) -> Failures:
        """The failures that the curator has not resumed from; looking does not count as shown."""

        def look(lines: Lookups) -> Failures:
            last, _ = self._catch_up(lines)
            stops = self._waiting(lines, last, dict(Halts.of(last).stopped))
            return Failures(self._failure(lines, last, stop) for stop in stops)

        return self._store.read(look)

    def _waiting(self, lines: Lookups, last: Entry, waiting: dict[str | None, int]) -> list[Entry]:
        """The newest stop lines of each asker, as many as they have failures; oldest first."""
        newest: list[Entry] = []
        for row in reversed(lines.stops()):
            if waiting.get(row.asker, 0):
                waiting[row.asker] -= 1
                newest.append(in_place(lines, row, newest=last, where=self.where))
        return newest[::-1]

    def _failure(self, lines: Lookups, last: Entry, stop: Entry) -> Failure:
        rows = lines.since(stop.charge or 0, limit=1)
        if not rows or rows[0].kind != "charge":
            raise broken(stop.sequence, "stops an asker without a charge", where=self.where)
        paid = in_place(lines, rows[0], newest=last, where=self.where)
        return Failure(
            time=stop.time.isoformat(),
            entry=paid.sequence,
            stop=stop.sequence,
            asker=stop.asker,
            question=paid.what or "(not named)",
            detail=lines.cause(stop.sequence),
        )

    # ---- the record

    @property
    def entries(self) -> Entries:
        """Every line after the header, oldest first, read as needed."""
        return Entries(self._store)

    def alias(self, entry: Entry) -> str:
        """What an asker may call a line: a keyed hash, by which `find` finds it again.

        The hash of the line itself covers all earlier lines and their totals, so that whoever
        knew it could test guesses of what others asked and spent.
        """
        return self._keyed({"line": entry.hash})

    def find(self, name: str) -> Entry | None:
        """The line of this hash, or of this `entry_hash` in an asker's certificate."""
        return next((e for e in self.entries if name in (e.hash, self.alias(e))), None)

    def _keyed(self, what: dict[str, object]) -> str:
        return hmac.new(self._key, canonical(what).encode(), hashlib.sha256).hexdigest()

    def head(self) -> Head:
        """Where the ledger ends now. Keep it outside: only against it does a tail cut off show."""
        return _head(self._now()[0])

    def verify(
        self,
        anchor: Head | None = None,
        *,
        progress: Callable[[int, int], object] | None = None,
    ) -> Head:
        """Recompute every hash, total, share and admission, and return the head.

        Raises LedgerFailure naming the first line that was changed, removed, moved or overspent.
        Without an `anchor` (an earlier `head()` kept elsewhere) a tail cut off cannot be noticed.
        A terminal shows how far it is; `progress(done, lines)` is called now and then.
        """
        walk: WholeWalk | None = None
        lines_now = self._now()[0].sequence
        with Progress("verifying the ledger") as shown:
            for page in pages(self._store):
                for row in page:
                    if walk is None:
                        walk = WholeWalk(row, filter=self.filter, where=self.where)
                    else:
                        walk.step(row)
                if anchor is not None and page[0].sequence <= anchor.sequence <= row.sequence:
                    found = page[anchor.sequence - page[0].sequence]
                    chain.check_anchor(anchor, found, where=self.where)
                shown.text = f"verifying the ledger: {row.sequence:,} of {lines_now:,} lines"
                if progress is not None:
                    progress(row.sequence, lines_now)
        if walk is None:
            raise broken(0, "is missing", where=self.where)
        if anchor is not None and anchor.sequence > walk.at.sequence:
            chain.check_anchor(anchor, None, where=self.where)
        return _head(walk.at)

    def to_jsonl(self, path: str | Path | None = None) -> str | None:
        """Every line as it is hashed; the SHA-256 of a line is `previous` in the next.

        A file is replaced once all lines are written; one that is no earlier export is refused.
        """
        lines = (_line(row, self.where) for row in rows(self._store))
        if path is None:
            return "".join(lines)
        exported(Path(path), lines, own=self._store.file)
        return None

    # ---- how it looks, and its end

    def __repr__(self) -> str:
        return show.as_text(self, f"{show.spent(self)}, lines: {len(self.entries)}")

    def _repr_html_(self) -> str:
        return show.as_html(self, show.spent(self))

    def close(self) -> None:
        """Close the file or connection."""
        self._store.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __reduce__(self) -> NoReturn:
        raise LedgerFailure(
            "a ledger cannot be copied or sent to another process",
            why="each copy would spend the whole budget on the same people",
            fix='open_ledger("ledger.db") in each process',
        )

    # ---- inside

    def _now(self) -> tuple[Entry, State]:
        """The newest line, and what all lines add up to."""
        return self._store.read(self._catch_up)

    def _state(self) -> tuple[Price, Price]:
        """What was charged, what was charged or reserved; ∞ if a line is not understood."""
        last, state = self._now()
        if state.strange is None:
            return chain.totals(last)
        orders = len(self.filter.block(0.0).renyi)
        everything = Price(
            epsilon=math.inf, rho=math.inf, mu_squared=math.inf, renyi=(math.inf,) * orders
        )
        return everything, everything

    def _catch_up(self, lines: Lookups) -> tuple[Entry, State]:
        """Check the lines that were written since the last look; the newest, and the state.

        The walk is taken away while it moves: if that fails or is interrupted, the next look starts
        a new one.
        """
        walk, self._walk = self._walk, None
        if walk is None:
            walk = self._start(lines)
        self._follow(walk, lines)
        assert walk.state is not None
        self._walk, self._seen = walk, walk.at
        return walk.at, walk.state

    def _start(self, lines: Lookups) -> Walk:
        """A walk whose state is known: looked up and proved by the newest line, else walked."""
        if Header.read(lines.since(0, limit=2), where=self.where) != self.header:
            raise broken(0, "is another one than when it was opened", where=self.where)
        if self._seen is not None:
            chain.check_anchor(self._seen, _first(lines, self._seen.sequence), where=self.where)
        last = lines.last()
        newest = 0 if last is None else last.sequence
        walk = self._walk_from(lines, max(0, newest - TAIL))
        if walk.state is None:
            walk.state = State.looked_up(lines, where=self.where)
            if walk.at.record.get("state") != walk.state.digest:
                walk = self._walk_from(lines, 0)
        return walk

    def _walk_from(self, lines: Lookups, sequence: int) -> Walk:
        row = _first(lines, sequence)
        if row is None or row.sequence != sequence:
            raise broken(sequence, "is missing", where=self.where)
        walk = Walk(row, filter=self.filter, where=self.where)
        self._follow(walk, lines)
        return walk

    def _follow(self, walk: Walk, lines: Lookups) -> None:
        """Walk to the newest line."""
        more = True
        while more:
            rows = lines.since(walk.at.sequence, limit=PAGE)
            chain.check_anchor(walk.at, rows[0] if rows else None, where=self.where)
            for row in rows[1:]:
                walk.step(row)
            more = len(rows) == PAGE
        if walk.at.sequence + 1 < lines.written():
            raise broken(walk.at.sequence + 1, "is missing", where=self.where)


def _head(entry: Entry) -> Head:
    return Head(sequence=entry.sequence, hash=entry.hash, total=chain.totals(entry)[0])


def _first(lines: Lookups, sequence: int) -> Row | None:
    return next(iter(lines.since(sequence, limit=1)), None)


class Entries(Sequence[Entry]):
    """The lines of a ledger after its header, oldest first; each is what its hash says."""

    def __init__(self, store: Store) -> None:
        self._store = store

    def __len__(self) -> int:
        last = self._store.read(lambda lines: lines.last())
        return 0 if last is None else last.sequence

    def __iter__(self) -> Iterator[Entry]:
        return (self._opened(row) for row in rows(self._store, start=1))

    @overload
    def __getitem__(self, index: int) -> Entry: ...
    @overload
    def __getitem__(self, index: slice) -> list[Entry]: ...
    def __getitem__(self, index: int | slice) -> Entry | list[Entry]:
        places = range(len(self))[index]
        if isinstance(places, range):
            return [self[place] for place in places]
        row = self._store.read(lambda lines: _first(lines, places + 1))
        if row is None or row.sequence != places + 1:
            raise broken(places + 1, "is missing", where=self._store.where)
        return self._opened(row)

    def _opened(self, row: Row) -> Entry:
        return intact(row, where=self._store.where)


def rows(store: Store, *, start: int = 0) -> Iterator[Row]:
    """The lines from this one on."""
    return joined.from_iterable(pages(store, start=start))


def pages(store: Store, *, start: int = 0) -> Iterator[list[Row]]:
    """The lines from this one on, a page at a time."""

    def look(lines: Lookups) -> list[Row]:
        return lines.since(start, limit=PAGE)

    while page := store.read(look):
        yield page
        start += PAGE


def _line(row: Row, where: str) -> str:
    intact(row, where=where)
    return row.line + "\n"
