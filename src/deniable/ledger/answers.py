"""Find a stored answer, and prove that it answers this question before it is shown again."""

from __future__ import annotations

import threading
import weakref
from collections.abc import Iterator
from contextlib import contextmanager
from typing import NamedTuple

from deniable.losses.filters import Price

from .entry import Entry
from .stores.store import Reading
from .trust import broken, in_place, intact


class Answered(Exception):
    """The question was answered while this asker prepared to pay for it."""


class _Turn:
    """One asker of a question at a time; alive as long as somebody asks or waits."""

    def __init__(self) -> None:
        self.lock = threading.RLock()


_turns: weakref.WeakValueDictionary[str, _Turn] = weakref.WeakValueDictionary()
_lock = threading.Lock()


@contextmanager
def asking(question: str | None) -> Iterator[None]:
    """Let one thread of this process at a time ask a question; the next finds its answer.

    A question is a hash under its ledger's secret, and so names its ledger too. Whoever waits does
    so for as long as the other computes; if that fails, the question is paid for again.
    """
    if question is None:  # not one to be found again
        yield
        return
    with _lock:
        turn = _turns.setdefault(question, _Turn())
    with turn.lock:
        yield


class Recalled(NamedTuple):
    """A stored answer, the charge that paid for it, and how the asker who is shown it paid."""

    answer: Entry
    charge: Entry
    price: Price
    paid: Entry | None
    """The asker's own charge; None if only others paid."""
    new: bool = False
    """Whether the asker's share was charged for it just now."""


def find(
    lines: Reading, question: str, asker: str | None, *, newest: Entry, where: str
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
