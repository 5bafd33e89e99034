"""Streams that outlive a process: paid for once, gone on with where the ledger says they are.

A counter's private state ends with its process. Going on opens a new counter, which costs no more
than what was paid for, and whose totals are added to the last one that was noted: an epoch of its
own. If one unit moves all epochs together by Δ₁, shares aₑ·Δ₁ with Σ aₑ ≤ 1, the epochs cost
together what one costs: Σ aₑ·ε ≤ ε, Σ (aₑ·μ)² ≤ μ², and a Rényi divergence of Laplace or Gaussian
noise, which is convex in how far it is moved and 0 at 0, adds up to no more either. When an epoch
begins may depend on answers, but not what all of them can be moved by.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from deniable.errors import BadParameter
from deniable.ledger import Entry, Ledger
from deniable.ledger import answers as lines
from deniable.ledger.entry import fits
from deniable.mechanisms import Mechanism
from deniable.mechanisms.interactive import Handle

from . import drawing
from .handles import Handles

if TYPE_CHECKING:
    from ._session import Session


@dataclass(kw_only=True)
class Course:
    """A stream that was paid for: its charge, its open counter, and what was noted about it."""

    entry: Entry
    handle: Handle
    notes: list[object]


def begun(session: Session, counter: Mechanism, *, question: object, title: str) -> Course:
    """Pay for a stream and open its counter."""
    ledger, handles = _insides(session)
    interaction, found = counter.begin(), ledger.fingerprint(question)
    entry = session._pay(counter, fingerprint=found, what=title)  # noqa: SLF001  as Session.open
    return Course(entry=entry, handle=handles.add(counter, interaction, entry), notes=[])


def paid(session: Session, *, question: object) -> tuple[Entry, list[object]] | None:
    """The newest charge of this session's asker for a stream, and what was noted about it."""
    ledger, _ = _insides(session)
    found = lines.newest(ledger, ledger.fingerprint(question), asker=session.asker)
    return None if found is None else (found[0], [note.value for note in found[1]])


def resumed(session: Session, counter: Mechanism, *, entry: Entry, notes: list[object]) -> Course:
    """Open a counter for the rest of a stream, if it costs no more than was paid; free."""
    drawing.refuse_inside("asked")
    ledger, handles = _insides(session)
    drawing.refuse_replay(ledger)
    price = ledger.price(counter)
    if entry.price is None or not fits(price, entry.price):
        raise BadParameter("this counter costs more than was paid for the stream")
    handle = handles.add(counter, counter.begin(), entry)
    return Course(entry=entry, handle=handle, notes=list(notes))


def note(session: Session, course: Course, value: object) -> None:
    """Write down how far the stream has come, durably; an error if another process went on."""
    ledger, _ = _insides(session)
    ledger.go_on(course.entry, known=len(course.notes), value=value)
    course.notes.append(value)


def _insides(session: Session) -> tuple[Ledger, Handles]:
    return session._ledger, session._handles  # noqa: SLF001  streams are a part of the session
