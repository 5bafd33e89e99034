"""Noise that is drawn elsewhere, at the session's command: where an answer is too large to collect.

The session charges first, as always. Then it hands out a `Commission`: the very mechanisms that it
was charged for, which may travel to other processes where a session may not. Whoever has the values
asks it for noisy ones. Only what is committed once may be shown, and that is the work's to prove:
a process that is started again draws again, and of its draws one may survive.
"""

from __future__ import annotations

import itertools
from collections.abc import Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from typing import Any, Protocol

from deniable.ledger import Entry, Ledger
from deniable.mechanisms import Mechanism
from deniable.release import Noisy
from deniable.release.provenance import version


@dataclass(frozen=True, kw_only=True)
class Commission:
    """Leave to draw what one line of a ledger paid for; made by a session, and by nobody else."""

    mechanisms: tuple[Mechanism, ...]
    entry: str
    """The keyed hash of the line: what is committed may be seen by whoever asked."""
    version: str = field(default_factory=version)

    def check(self) -> None:
        """Raise in a process that has another deniable: its noise may be another's."""
        if version() != self.version:
            raise RuntimeError(f"deniable {version()} here, and {self.version} where it was paid")

    def perform(self, place: int, value: Any) -> Any:
        """What the mechanism at that place answers about a value; the noise is this process's."""
        return self.mechanisms[place].draw(value)


class Work(Protocol):
    """What is to be computed, drawn and committed elsewhere."""

    @property
    def columns(self) -> tuple[Mapping[str, tuple[object, ...]], Mapping[str, Noisy]]:
        """The keys and noisy columns of the answer, without rows."""

    def ready(self) -> AbstractContextManager[object]:
        """Entered before the charge: raises, by public facts alone, if it cannot be done."""

    def stands(self, record: Mapping[str, Any]) -> bool:
        """Whether the answer that a record describes is where it was committed, and complete."""

    def committed(self) -> tuple[str, dict[str, object]] | None:
        """Of what is committed there: the keyed hash of its charge, and a record."""

    def do(self, commission: Commission) -> dict[str, object]:
        """Compute, draw and commit; the record (plain JSON) by which the answer is found again."""


def standing(
    ledger: Ledger, asked: Mapping[str, object], *, asker: str | None, work: Work
) -> tuple[str, bool]:
    """The fingerprint of a question, and whether an answer is stored for it that still stands.

    An answer that was lost is paid for again and stored beside the first, under a next number.
    """
    for number in itertools.count():
        found = ledger.fingerprint({**asked, "number": number})
        stored = ledger.stored(found, asker=asker)
        if stored is None:
            return found, False
        if work.stands(stored.value["elsewhere"]):
            return found, True
    raise AssertionError("unreachable")


def unwritten(
    ledger: Ledger, question: str, *, work: Work
) -> tuple[Entry, dict[str, object]] | None:
    """The charge whose answer was committed, with its record, if no answer line mentions it.

    So it is when the session dies between the commit and the line: what was paid for is there.
    """
    there = work.committed()
    if there is None:
        return None
    charge = ledger.find(there[0])
    if charge is None or charge.question != question:
        return None
    return charge, there[1]
