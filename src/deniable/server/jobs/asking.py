"""Questions that cannot be paid for twice: each has an idempotency key of its asker's choosing.

    queued      waits for a worker; can be cancelled
    reserved    a worker has it: the ledger may have been charged
    stored      the answer is kept, and given again to whoever repeats the key
    lost        charged, and there is no answer: said, never drawn again
    refused     nothing was spent, and the key is free for another question

A result is stored together with `visible`, the public step of time at which it may be known. Until
then every door says that the question is running, and its asker's next question waits: so neither
looking nor queueing tells how long rows took to read. `attempt` tells two questions apart that were
put under one key one after the other.

Whether a reserved question was charged is read from the ledger: an asker has one question under way
in a group, and `head` is where the ledger ended before it. So its charges are the asker's lines
after `head`. A lease covers a worker's whole deadline; once it has run out, no process can still
charge for the question, and whoever comes next settles it:

- no charge: nothing was spent, and the key is free again;
- every charge has its answer in the ledger: the key is free again, and asking again is free;
- a charge without an answer: the process ended while rows were read, which may depend on them. That
  counts as a failure: the asker is stopped, the curator is told, and the question is lost.
"""

from __future__ import annotations

import hashlib
import json
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, Final

from deniable.errors import BadParameter, DeniableError, NotReady
from deniable.ledger.entry import dated
from deniable.ledger.halts import called
from deniable.server.accounts import Person, secret
from deniable.server.database import now
from deniable.server.house import House

from . import kinds
from .known import Known
from .outcomes import (
    Outcome,
    another,
    cancelled,
    frozen,
    lost_answer,
    nothing_spent,
    read,
    stored,
)
from .pace import Pace
from .turns import Turns
from .workers import Died, Worker

GRACE: Final = 10.0
PATIENCE: Final = 60.0
"""Seconds that a query waits in the queue; a kind that may take longer also waits longer."""
WAITING: Final = 20
"""Questions of one asker in the queue of a server process: each holds a thread of it."""
_POLL: Final = 0.05
_UNDER_WAY: Final = (
    "SELECT key, state, lease FROM asks WHERE asker = ? AND (state = 'reserved' OR visible > ?)"
)
_FIELDS: Final = ("sql", "spend", "within", "size", "purpose", "choose", "above", "ask")

CONFLICT: Final = "this idempotency key belongs to another question"
BUSY: Final = "this question is still being answered"
GONE: Final = "the server ended while it had this question"


class Conflict(BadParameter):
    """The key was used for another question, or its question is under way."""

    status = 409


@dataclass(frozen=True, kw_only=True)
class Ask:
    """A question of somebody's, with its key."""

    person: Person
    key: str
    people: str
    body: Mapping[str, object]
    attempt: str = field(default_factory=secret, compare=False)

    @property
    def asker(self) -> str:
        """As the database knows them."""
        return self.person.name

    @property
    def long(self) -> bool:
        """Whether it may take longer than a query: a public fact of its kind."""
        return kinds.patience(self.body) > 1

    @property
    def digest(self) -> str:
        """Of the question: the same key with another one is a conflict."""
        text = json.dumps({name: self.body.get(name) for name in _FIELDS}, sort_keys=True)
        return hashlib.blake2b(f"{self.people}\0{text}".encode(), digest_size=32).hexdigest()


class Asking:
    """Takes questions through their states."""

    def __init__(self, house: House) -> None:
        self._house, self._database = house, house.database
        self._turns = Turns(most=WAITING)
        self.known = Known(house)

    # ---- one question

    def ask(self, ask: Ask) -> Outcome:
        """The answer to a question, charged at most once for its key."""
        found = self.enqueue(ask)
        return self.run(ask) if found is None else found

    def enqueue(self, ask: Ask) -> Outcome | None:
        """Put a question in the queue; what it came to, if its key is known."""
        self._admit(ask)
        for _ in range(3):  # a key whose process ended is settled, and free again
            found = self._put(ask)
            if found is None:
                return None
            digest, state, lease, result, visible = found
            if digest != ask.digest:
                raise Conflict(CONFLICT, fix="a new key for each question")
            if visible > now() or (result is None and lease > now()):
                raise Conflict(BUSY, fix="ask again with the same key in a moment")
            if result is not None:
                return stored(state, result)
            self.settle(ask.asker, ask.key, cause=GONE)
        raise Conflict(BUSY, fix="ask again with the same key in a moment")

    def _put(self, ask: Ask) -> tuple[Any, ...] | None:
        with self._database.transaction() as run:
            run(
                "DELETE FROM asks WHERE asker = ? AND key = ? AND state = 'refused' "
                "AND visible <= ?",
                *(ask.asker, ask.key, now()),
            )
            rows = run(
                "SELECT body, state, lease, result, visible FROM asks WHERE asker = ? AND key = ?",
                *(ask.asker, ask.key),
            )
            if rows:
                return tuple(rows[0])
            run(
                "INSERT INTO asks (asker, key, attempt, body, state, people, lease, question, "
                "purpose, created) VALUES (?, ?, ?, ?, 'queued', ?, ?, ?, ?, ?)",
                *(ask.asker, ask.key, ask.attempt, ask.digest, ask.people),
                now() + _patience(ask) + GRACE,
                *(_words(ask.body), ask.body.get("purpose") or "", now()),
            )
        return None

    def run(self, ask: Ask) -> Outcome:
        """Take a queued question to its end, once this asker's earlier ones have ended."""
        end = time.monotonic() + _patience(ask)
        try:
            while (outcome := self._taken(ask, end)) is None:
                pass
        except DeniableError as error:
            refused = Outcome(state="refused", error=error.to_json())
            self._finish(ask.attempt, refused, now(), was="queued")
            raise
        return outcome

    def _taken(self, ask: Ask, end: float) -> Outcome | None:
        """What a question came to at its turn; None if another server was quicker to take one."""
        with self._turn(ask, end) as pace:
            left = end - time.monotonic()
            with self._house.workers.one(patience=left, long=ask.long) as worker:
                lease = self._reserve(ask)
                if lease is None:
                    return None
                outcome = self._worked(ask, worker, pace, lease)
            pace.wait()
            return outcome

    @contextmanager
    def _turn(self, ask: Ask, end: float) -> Iterator[Pace]:
        """Who asks much at once waits for themselves, and not with a worker in hand.

        A turn ends at the step of the question before it, and the clock of the next starts then.
        """
        with self._turns.of(ask.asker, patience=end - time.monotonic()):
            while self._under_way(ask.asker):  # at another server, or one that ended
                if time.monotonic() > end:
                    raise another()
                time.sleep(_POLL)
            yield Pace(steps=self._house.settings.steps)

    def _under_way(self, asker: str) -> bool:
        """Whether a question of theirs has not come to its end; those of dead servers do."""
        rows = self._database.rows(_UNDER_WAY, asker, now())
        for key, state, lease in rows:
            if state == "reserved" and lease < now():
                self.settle(asker, key, cause=GONE)
        return bool(rows)

    def _admit(self, ask: Ask) -> None:
        """Refuse who may not ask, and questions for no stated purpose: public facts only."""
        group = self._house.groups[ask.people]
        if ask.person.frozen:
            raise frozen()
        if ask.people in self._house.closed:
            raise NotReady(
                f"the ledger of `{ask.people}` is not the one that this server last wrote",
                why="an older copy, or another ledger, would give budget back",
                fix="the curator, who sees more, restores the newest copy of the ledger",
            )
        if group.purposes and ask.body.get("purpose") not in group.purposes:
            raise BadParameter(
                "a question about these people must name one of the stated purposes",
                fix=" or ".join(f'purpose="{each}"' for each in group.purposes),
            )

    def _reserve(self, ask: Ask) -> float | None:
        """Mark where the ledger ends; the end of the lease within which it may be charged.

        None if another question of this asker has begun at another server this very moment.
        """
        with self._database.transaction() as run:
            if run(_UNDER_WAY, ask.asker, now()):
                return None
            if run("SELECT 1 FROM people WHERE name = ? AND frozen <> 0", ask.asker):
                raise frozen()
            lease = now() + self._deadline(ask) + GRACE
            done = run(
                "UPDATE asks SET state = 'reserved', head = ?, lease = ? "
                "WHERE attempt = ? AND state = 'queued' RETURNING 1",
                self._house.ledgers[ask.people].head().sequence,
                lease,
                ask.attempt,
            )
        if not done:
            raise cancelled()
        return lease

    def _deadline(self, ask: Ask) -> float:
        """Seconds that a question of this kind may take."""
        return self._house.settings.deadline * kinds.patience(ask.body)

    def _worked(self, ask: Ask, worker: Worker, pace: Pace, lease: float) -> Outcome:
        task = {**ask.body, "kind": "ask", "people": ask.people, "asker": ask.person.asker}
        try:
            times = {"turn": pace.start, "until": lease, "deadline": self._deadline(ask)}
            said = worker.do(task | times)
        except Died as died:
            said = {"fault": died.cause}
        if "fault" in said:
            outcome = self.settle(ask.asker, ask.key, cause=said["fault"], pace=pace)
        else:
            outcome = read(said)
            if not self._finish(ask.attempt, outcome, pace.end):
                outcome = nothing_spent()  # settled elsewhere: the ledger knows what it came to
        self._house.anchor(ask.people)
        return outcome

    # ---- states

    def settle(self, asker: str, key: str, *, cause: str, pace: Pace | None = None) -> Outcome:
        """Find out from the ledger what a question came to whose process is gone."""
        rows = self._database.rows(
            "SELECT attempt, people, head, state, result, lease, question FROM asks "
            "WHERE asker = ? AND key = ?",
            *(asker, key),
        )
        if not rows:
            return nothing_spent()
        ((attempt, people, head, state, result, lease, question),) = rows
        if result is not None:
            return stored(state, result)
        outcome = nothing_spent()
        with dated(self._turn_of(lease, question)):
            if state == "reserved" and self._lost(people, head, asker, cause):
                outcome = lost_answer()
                self._house.log(asker, "lost", key=key, people=people)
        self._finish(attempt, outcome, now() if pace is None else pace.end, was=state)
        return outcome

    def settle_all(self) -> None:
        """Settle every question whose process is gone, so that the curator sees what it came to."""
        gone = self._database.rows(
            "SELECT asker, key FROM asks WHERE result IS NULL AND lease < ?", now()
        )
        for asker, key in gone:
            self.settle(asker, key, cause=GONE)

    def _lost(self, people: str, head: int, asker: str, cause: str) -> bool:
        """Stop the asker for each charge since `head` that has no answer; was there any?"""
        ledger = self._house.ledgers[people]
        person = self._house.accounts.find(asker)
        name = None if person is None else person.asker
        lines = list(ledger.entries[head:])
        ended = {line.charge for line in lines if line.kind in ("answer", "stop")}
        stopped = any(line.kind == "stop" and line.asker == name for line in lines)
        open_ = [
            line
            for line in lines
            if line.kind == "charge"
            and line.asker == name
            and line.repeats is None
            and line.sequence not in ended
        ]
        for charge in open_:
            ledger.stop(charge, cause=f"{cause} (asked by {called(name)})")
        return bool(open_) or stopped

    def _finish(
        self, attempt: str, outcome: Outcome, visible: float, *, was: str = "reserved"
    ) -> bool:
        """Store what an attempt came to and when that may be known, in one statement."""
        text = json.dumps({"release": outcome.release, "error": outcome.error})
        done = self._database.rows(
            "UPDATE asks SET state = ?, result = ?, visible = ?, entry = ? "
            "WHERE attempt = ? AND state = ? AND result IS NULL RETURNING 1",
            *(outcome.state, text, visible, outcome.entry, attempt, was),
        )
        return bool(done)

    # ---- looking

    def look(self, person: Person, key: str) -> Outcome | None:
        """How far a question is; None if there is none of this key."""
        rows = self._database.rows(
            "SELECT state, result, visible, lease FROM asks WHERE asker = ? AND key = ?",
            *(person.name, key),
        )
        if not rows:
            return None
        ((state, result, visible, lease),) = rows
        if visible > now():
            return Outcome(state="reserved")
        if result is None and lease < now():
            return self.settle(person.name, key, cause=GONE)
        return Outcome(state=state) if result is None else stored(state, result)

    def about(self, asker: str, key: str) -> dict[str, Any]:
        """What a question is, what it was asked for, and when its turn came, if it has."""
        rows = self._database.rows(
            "SELECT question, purpose, people, state = 'reserved' OR visible > ?, lease FROM asks "
            "WHERE asker = ? AND key = ?",
            *(now(), asker, key),
        )
        question, purpose, people, running, lease = rows[0] if rows else ("", "", "", False, 0.0)
        turn = self._turn_of(lease, question) if running else None
        return {"question": question, "purpose": purpose, "people": people,
                "most": self._most(question), "turn": turn}  # fmt: skip

    def _most(self, question: str) -> float:
        """Seconds that a question may take, from its words."""
        return self._house.settings.deadline * kinds.patience_of(question)

    def _turn_of(self, lease: float, question: str) -> float:
        """When the turn of a question came that has this lease."""
        return lease - self._most(question) - GRACE

    def cancel(self, person: Person, key: str | None = None) -> bool:
        """Take a question, or all of somebody's, out of the queue; False if none was queued."""
        queued = self._database.rows(
            "SELECT key, attempt FROM asks WHERE asker = ? AND state = 'queued'", person.name
        )
        refused = Outcome(state="refused", error=cancelled().to_json())
        ended = [
            self._finish(attempt, refused, now(), was="queued")
            for each, attempt in queued
            if key in (None, each)
        ]
        return any(ended)


def _words(body: Mapping[str, object]) -> str:
    """A question as pages show it; SQL may hold NUL, which no database can."""
    return kinds.question_of(body).replace("\0", "\N{REPLACEMENT CHARACTER}")


def _patience(ask: Ask) -> float:
    """Seconds that a question waits in the queue before it is refused."""
    return PATIENCE * kinds.patience(ask.body)
