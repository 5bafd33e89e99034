"""What a question came to, and the words for each reason why there is no answer."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from deniable.errors import DataFailure, DeniableError, NotReady
from deniable.server import wire


@dataclass(frozen=True, kw_only=True)
class Outcome:
    """What an ask came to: an answer, or why there is none."""

    state: str
    release: Mapping[str, Any] | None = None
    error: Mapping[str, str] | None = None

    @property
    def entry(self) -> str:
        """The hash of the ledger line that an answer was charged in; empty if there is none."""
        return "" if self.release is None else str(self.release["provenance"]["entry_hash"])


def read(said: Mapping[str, Any]) -> Outcome:
    """What a worker's answer means."""
    if "ok" in said:
        return Outcome(state="stored", release=said["ok"])
    free = said["refused"].get("cost", "").startswith("nothing was")
    return Outcome(state="refused" if free else "lost", error=said["refused"])


def stored(state: str, result: str) -> Outcome:
    """An outcome as the database keeps it."""
    return Outcome(state=state, **json.loads(result))


def nothing_spent() -> Outcome:
    """For a question whose process ended before a charge, or after its answer was kept."""
    error = NotReady(
        "the question could not be answered now", fix="ask again: nothing is paid for twice"
    )
    return Outcome(state="refused", error=error.to_json())


def lost_answer() -> Outcome:
    """For a question whose process ended between its charge and its answer."""
    error = DataFailure(
        "the answer was lost while it was computed",
        why="the process that computed it ended, which can depend on the data",
        fix="the curator sees the cause and can let you go on; then ask with a new key",
        cost="the question was charged",
    )
    return Outcome(state="lost", error=error.to_json())


def another() -> NotReady:
    """For who waited long enough for their own earlier questions."""
    return NotReady("your previous question is still being answered", fix="ask again later")


class Crowded(NotReady):
    """Too many questions are waiting already."""

    status = 429


def crowded() -> NotReady:
    """For who has enough questions waiting already."""
    return Crowded("too many questions of yours are waiting", fix="ask again later")


def cancelled() -> NotReady:
    """For a question that was taken out of the queue."""
    return NotReady("the question was cancelled before it was charged")


class Frozen(NotReady):
    """Waiting does not help."""

    status = 403


def frozen() -> NotReady:
    """For who may not ask."""
    return Frozen("the curator has frozen your account", fix="ask the curator")


def shown(outcome: Outcome) -> DeniableError | None:
    """The error of an outcome, if it is one."""
    return None if outcome.error is None else wire.error_from_dict(outcome.error)


def is_own(error: Mapping[str, str]) -> bool:
    """Whether an error is one of those above: public facts, in words meant for whoever asks."""
    known = (another(), crowded(), cancelled(), frozen(), shown(nothing_spent()))
    return error.get("title") in {each.what for each in known if each is not None}
