"""Find a stored answer, and prove that it answers this question before it is shown again."""

from __future__ import annotations

import datetime as dt
import os
import threading
import time
import weakref
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, NamedTuple

from deniable.errors import BadParameter, NotReady
from deniable.losses.filters import Price
from deniable.progress import Progress
from deniable.sampling.source import this_process

from .entry import Entry
from .stores.store import Lookups, Store, is_ours
from .trust import broken, in_place, intact

if TYPE_CHECKING:
    from .ledger import Ledger


class Answered(Exception):
    """The question was answered while this asker prepared to pay for it."""


class _Pending(Exception):
    """Another process paid for the question and may still store its answer."""

    def __init__(self, charge: Entry) -> None:
        super().__init__(charge.sequence)
        self.charge = charge


class _Turn:
    """One asker of a question at a time; alive as long as somebody asks or waits."""

    def __init__(self) -> None:
        self.lock = threading.RLock()


class _Turns:
    """The turns that somebody has or waits for, by question."""

    def __init__(self) -> None:
        self._open: weakref.WeakValueDictionary[str, _Turn] = weakref.WeakValueDictionary()
        self._lock = threading.RLock()  # a signal handler may ask, too

    def of(self, question: str) -> _Turn:
        """The turn that all threads wait for which ask this question."""
        with self._lock:
            return self._open.setdefault(question, _Turn())

    def any_ours(self) -> bool:
        """Whether this thread has a turn."""
        with self._lock:
            return any(is_ours(turn.lock) for turn in self._open.values())

    def forked(self) -> None:
        """Nobody has a turn in a new process: the threads that had one are the parent's."""
        self._lock = threading.RLock()  # another thread of the parent may hold it for good
        self._open.clear()


_NESTED = 10.0  # seconds
_turns = _Turns()
os.register_at_fork(after_in_child=_turns.forked)


@contextmanager
def asking(question: str | None) -> Iterator[None]:
    """Let one thread of this process at a time ask a question; the next finds its answer.

    A question is a hash under its ledger's secret, and so names its ledger too. Whoever waits does
    so for as long as the other computes; if that fails, the question is paid for again.
    """
    if question is None:  # not one to be found again
        yield
        return
    turn = _turns.of(question)  # held by its name: nothing else keeps it
    if is_ours(turn.lock) or not _turns.any_ours():
        with turn.lock:
            yield
        return
    try:  # one question in another: two threads could wait for each other's without end
        if not turn.lock.acquire(timeout=_NESTED):
            raise NotReady(
                "another thread is answering this question, and may be waiting for this one",
                why="a question was asked while another one was being answered",
                fix="ask the one before or after the other, not in present= or ready=",
            )
        yield
    finally:
        if is_ours(turn.lock):  # also if an interrupt came before the wait had ended
            turn.lock.release()


class Once:
    """Pays for a question, unless another process did and stores its answer in time.

    Whether the other process still lives cannot be known, so it is given the ledger's patience,
    counted from its charge. If by then there is neither an answer nor a line that stops its asker,
    this process pays and draws for itself: a question may be paid for twice, and one charge never
    pays for two draws. The time in a line may come from a clock that is wrong. So nobody waits
    longer than the patience by their own clock, and a charge whose time seems long past or far
    ahead is not waited for.
    """

    def __init__(self, store: Store, question: str, asker: str | None) -> None:
        self._store, self._question, self._asker = store, question, asker
        self._given_up: set[str] = set()

    def pay(self, write: Callable[[], Entry]) -> Entry:
        """The charge; Answered if there is an answer by now."""
        while True:
            try:
                paid = write()
            except _Pending as other:
                self._wait(other.charge)
            else:
                _ours.add((this_process(), paid.hash))
                return paid

    def check(self, lines: Lookups, newest: Entry) -> None:
        """Called by the one writer: raises if nothing is to be paid now."""
        where = self._store.where
        if find(lines, self._question, self._asker, newest=newest, where=where):
            raise Answered
        pending = self._pending(lines)
        if pending is not None:
            raise _Pending(pending)

    def _pending(self, lines: Lookups) -> Entry | None:
        """The newest charge for the question whose answer may still come from elsewhere."""
        where = self._store.where
        about = [intact(row, where=where) for row in lines.asked(self._question)]
        paid = [e for e in about if e.kind == "charge" and e.repeats is None and self._waits(e)]
        if paid:
            stops = [intact(row, where=where) for row in lines.stops()]
            ended = {entry.charge for entry in (*about, *stops)}
            paid = [entry for entry in paid if entry.sequence not in ended]
        return paid[-1] if paid else None

    def _waits(self, charge: Entry) -> bool:
        # One of ours was left by an interrupt: this thread has the turn.
        ours = (this_process(), charge.hash) in _ours
        age = (dt.datetime.now(dt.UTC) - charge.time).total_seconds()
        return not ours and charge.hash not in self._given_up and abs(age) < self._store.patience

    def _wait(self, charge: Entry) -> None:
        end = time.monotonic() + self._store.patience
        # An asker is not told what others ask.
        other = "waiting for another process that asks the same question"
        with Progress("computing" if self._asker else other):
            while (now := self._store.read(self._pending)) is not None and now.hash == charge.hash:
                if time.monotonic() > end:
                    self._given_up.add(charge.hash)
                time.sleep(_POLL)


_POLL = 0.05  # seconds
_ours: set[tuple[tuple[int, int], str]] = set()
"""Charges of this process (a fork is another) that have no answer yet."""


def forget(charge: Entry) -> None:
    """Forget a charge of this process that has its answer."""
    _ours.discard((this_process(), charge.hash))


class Recalled(NamedTuple):
    """A stored answer, the charge that paid for it, and how the asker who is shown it paid."""

    answer: Entry
    charge: Entry
    price: Price
    paid: Entry | None
    """The asker's own charge; None if only others paid."""
    new: bool = False
    """Whether the asker's share was charged for it just now."""

    @property
    def value(self) -> Mapping[str, Any]:
        """What was released, as a session stored it."""
        assert isinstance(self.answer.value, Mapping)
        return self.answer.value


def find(
    lines: Lookups, question: str, asker: str | None, *, newest: Entry, where: str
) -> Recalled | None:
    """A stored answer, preferably one that this asker has paid for, else the oldest.

    A damaged index can hide an answer, which is then paid for again; what it shows is proved.
    """
    rows = {row.sequence: row for row in lines.asked(question)}
    about = {place: intact(row, where=where) for place, row in rows.items()}

    def proved(entry: Entry) -> Entry:
        if entry.question != question:
            raise broken(entry.sequence, "is about another question", where=where)
        return in_place(lines, rows[entry.sequence], newest=newest, where=where)

    mine = {e.repeats: e for e in about.values() if asker is not None and e.asker == asker}
    best: Recalled | None = None
    for entry in about.values():
        charge = about.get(entry.charge or 0)
        if entry.kind != "answer" or charge is None:
            continue
        own = charge if charge.asker == asker else mine.get(entry.sequence)
        if best is None or own is not None:
            paid = None if own is None else proved(own)
            best = _pair(proved(entry), proved(charge), paid=paid, where=where)
        if own is not None:
            break
    return best


def _pair(answer: Entry, charge: Entry, *, paid: Entry | None, where: str) -> Recalled:
    price = charge.price
    honest = charge.kind == "charge" and charge.repeats is None
    if price is None or not honest or charge.sequence >= answer.sequence:
        raise broken(answer.sequence, "is an answer without its charge", where=where)
    return Recalled(answer, charge, price, paid)


def refuse_second(lines: Lookups, charge: Entry, *, where: str) -> None:
    """An error if a charge of this question has an answer already, or is not of this ledger."""
    about = [intact(row, where=where) for row in lines.asked(charge.question or "")]
    if all(entry.hash != charge.hash for entry in about):
        raise BadParameter("this charge is not in this ledger")
    if any(entry.charge == charge.sequence for entry in about):
        raise BadParameter(
            "this charge already has an answer",
            why="a second draw would be a second release, and a charge pays for one",
        )


# ---- how far a stream that was paid for has come: notes about its charge, one after the other


def refuse_overtaken(lines: Lookups, charge: Entry, *, known: int, where: str) -> None:
    """An error unless `known` notes were written about a stream so far."""
    about = [intact(row, where=where) for row in lines.asked(charge.question or "")]
    if sum(_is_note(each, charge) for each in about) != known:
        raise BadParameter(
            "another process has gone on with this stream",
            why="two of them would count the same rows, for one price",
            fix="s.follow(...).resume()    after the other has ended",
        )


def newest(ledger: Ledger, question: str, *, asker: str | None) -> tuple[Entry, list[Entry]] | None:
    """The newest charge for a stream, and the notes about it; None if it was not paid for.

    All lines are verified and read, not looked up: a note that an index does not show would let
    rows be counted twice.
    """
    ledger.verify()
    charge: Entry | None = None
    notes: list[Entry] = []
    for entry in ledger.entries:
        if entry.kind == "charge" and entry.question == question and entry.asker == asker:
            charge, notes = entry, []
        elif charge is not None and _is_note(entry, charge):
            notes.append(entry)
    return None if charge is None else (charge, notes)


def _is_note(entry: Entry, charge: Entry) -> bool:
    return entry.kind == "note" and entry.charge == charge.sequence
