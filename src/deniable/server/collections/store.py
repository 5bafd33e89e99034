"""Collections and their reports, in SQLite or Postgres: each report is stored once, durably.

An estimate is published for all reports at once, when at least `batch` of them are new (and, to
keep the work small, at least a twentieth of what was counted before). So two published estimates
never differ by a single report. After a collection closes, fewer than `batch` reports may remain
that are never counted.
"""

from __future__ import annotations

import json
import threading
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Final

from deniable import local, parameters
from deniable.errors import BadParameter, DeniableError, NotReady
from deniable.local.collection import (
    added_up,
    hidden,
    length_of,
    new_ticket,
    not_issued,
    opened,
    used,
)
from deniable.local.reports import Reporter
from deniable.server.database import Database, Rows, now

from .shown import shown

LEAST_BATCH: Final = 10
LONGEST: Final = 32_768
"""Bytes per report, so that a submission fits into a request."""
_MOST: Final = {
    "categories": 1 << 20,
    "cells": 1 << 12,
    "dimension": 1 << 16,
    "hashes": 1 << 12,
    "keep": 1 << 10,
    "width": 1 << 12,
}
"""What a server can count in seconds and in little memory."""
_AT_ONCE: Final = 1 << 14
_PATIENCE: Final = 10.0
"""Seconds for which a reader waits while another counts the first batch."""
_LIST: Final = (
    "SELECT name, title, purpose, protocol, tickets, public, batch, closed FROM collections "
    "ORDER BY created DESC"
)
_REPORT: Final = "SELECT report FROM collection_reports WHERE collection = ? AND ticket = ?"
_ISSUED: Final = "SELECT 1 FROM collection_tickets WHERE collection = ? AND ticket = ?"
_AFTER: Final = (
    "SELECT ticket, report FROM collection_reports WHERE collection = ? AND ticket > ? "
    "ORDER BY ticket LIMIT ?"
)
_FIND: Final = (
    "SELECT name, title, purpose, protocol, tickets, public, batch, closed FROM collections "
    "WHERE name = ?"
)


@dataclass(frozen=True, kw_only=True)
class Facts:
    """What is public about a collection."""

    name: str
    title: str
    purpose: str
    protocol: Reporter[Any]
    tickets: str = "open"
    """"open": whoever likes sends a report; "issued": those with a ticket of the curator's."""
    public: bool = True
    """Whether everyone sees the estimate, or the curator alone."""
    batch: int = 100
    closed: bool = False

    def record(self) -> dict[str, Any]:
        """In plain JSON types: all that a client needs."""
        return vars(self) | {
            "protocol": self.protocol.to_dict(),
            "epsilon": self.protocol.epsilon,
            "bytes": length_of(self.protocol),
        }


class Collections:
    """The collections of one database."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._counting: dict[str, threading.Lock] = {}

    # ---- for the curator

    def create(self, facts: Facts) -> None:
        """Begin a collection; what is stated about it cannot be changed afterwards."""
        parameters.one_of("tickets", facts.tickets, ("open", "issued"))
        if facts.batch < LEAST_BATCH:
            raise BadParameter.of("batch", facts.batch, must=f"at least {LEAST_BATCH}")
        if facts.protocol.length > LONGEST:
            raise BadParameter(
                f"a report of this protocol has {facts.protocol.length:,} bytes, "
                f"and {LONGEST:,} can be sent",
                fix="Projective or Hadamard, whose reports are short",
            )
        values = (*(getattr(facts, n) for n in ("name", "title", "purpose")), _text(facts.protocol))
        with self._database.transaction() as run:
            if run("SELECT 1 FROM collections WHERE name = ?", facts.name):
                raise BadParameter(f"there is already a collection called {facts.name}")
            run(
                "INSERT INTO collections (name, title, purpose, protocol, tickets, public, batch, "
                "closed, created) VALUES (?, ?, ?, ?, ?, ?, ?, 0, ?)",
                *(*values, facts.tickets, int(facts.public), facts.batch, now()),
            )

    def issue(self, name: str, count: int) -> list[str]:
        """New tickets, one per invited person, shown once; each counts once."""
        if self._known(name).tickets == "open":
            raise BadParameter("this collection takes any ticket", fix='"tickets": "issued"')
        made = [new_ticket() for _ in range(count)]
        with self._database.transaction() as run:
            for each in made:
                run("INSERT INTO collection_tickets VALUES (?, ?)", name, hidden(each))
        return [each.hex() for each in made]

    def close(self, name: str) -> None:
        """Take no more reports."""
        self._known(name)
        self._database.rows("UPDATE collections SET closed = 1 WHERE name = ?", name)

    # ---- for everyone

    def all(self) -> list[Facts]:
        """Every collection, the newest first."""
        return [_facts(row) for row in self._database.rows(_LIST)]

    def find(self, name: str) -> Facts | None:
        """The collection of that name."""
        rows = self._database.rows(_FIND, name)
        return _facts(rows[0]) if rows else None

    def _known(self, name: str) -> Facts:
        found = self.find(name)
        if found is None:
            raise BadParameter(f"there is no collection called {name}")
        return found

    def accept(self, facts: Facts, body: bytes) -> dict[str, int]:
        """Store one submission, or several after each other: all of them, or none."""
        length = length_of(facts.protocol)
        if not body or len(body) % length:
            raise BadParameter(f"submissions to this collection have {length} bytes each")
        parts = [body[i : i + length] for i in range(0, len(body), length)]
        read = [opened(facts.protocol, facts.name, part) for part in parts]
        with self._database.transaction() as run:
            if run("SELECT 1 FROM collections WHERE name = ? AND closed <> 0", facts.name):
                raise NotReady("this collection is closed", cost="nothing was sent on")
            statuses = [self._stored(run, facts, key, report) for key, report in read]
            stored = statuses.count("stored")
            run("UPDATE collections SET people = people + ? WHERE name = ?", stored, facts.name)
        return {"stored": stored, "duplicates": len(statuses) - stored}

    def _stored(self, run: Any, facts: Facts, key: bytes, report: bytes) -> str:
        place = (facts.name, key)
        if found := run(_REPORT, *place):
            return used(bytes(found[0][0]), report).status
        if facts.tickets == "issued" and not run(_ISSUED, *place):
            raise not_issued()
        run("INSERT INTO collection_reports VALUES (?, ?, ?)", *place, report)
        return "stored"

    # ---- what the reports say

    def estimate(self, facts: Facts) -> dict[str, Any] | None:
        """What was last published; None before the first batch."""
        lock = self._counting.setdefault(facts.name, threading.Lock())
        people, counted, text = self._standing(facts.name)
        wait = 0 if counted else _PATIENCE  # what was published before will do meanwhile
        if not _due(facts, people, counted) or not lock.acquire(timeout=wait):
            return _read(text)
        try:
            people, counted, text = self._standing(facts.name)  # whoever had the lock has counted
            if _due(facts, people, counted):
                self._publish(facts, counted)
                _, _, text = self._standing(facts.name)
        finally:
            lock.release()
        return _read(text)

    def _standing(self, name: str) -> tuple[int, int, str | None]:
        rows = self._database.rows(
            "SELECT people, counted, published FROM collections WHERE name = ?", name
        )
        ((people, counted, text),) = rows
        return people, counted, text

    def _publish(self, facts: Facts, counted: int) -> None:
        """Count every report, in parts; the first to finish publishes."""

        def after(last: bytes) -> Rows:
            return self._database.rows(_AFTER, facts.name, last, _AT_ONCE)

        server = added_up(facts.protocol, after)
        text = json.dumps(shown(server.estimate(), people=server.people))
        self._database.rows(
            "UPDATE collections SET published = ?, counted = ? WHERE name = ? AND counted = ?",
            *(text, server.people, facts.name, counted),
        )


def _due(facts: Facts, people: int, counted: int) -> bool:
    """Whether enough reports are new."""
    return people - counted >= (facts.batch if facts.closed else max(facts.batch, counted // 20))


def _read(text: str | None) -> dict[str, Any] | None:
    return None if text is None else dict(json.loads(text))


def protocol_of(record: Mapping[str, Any]) -> Reporter[Any]:
    """A protocol from its record, with limits on what a server can count."""
    for name, most in _MOST.items():
        if _size(record.get(name)) > most:
            raise BadParameter(f"{name} of a collection must be at most {most:,}")
    try:
        return local.from_dict(record)
    except DeniableError:
        raise
    except (TypeError, ValueError, OverflowError, MemoryError):
        raise BadParameter(
            "protocol must be a record of public parameters",
            fix='{"protocol": "direct", "categories": ["tea", "coffee"], "epsilon": 1.0}',
        ) from None


def _size(given: object) -> int:
    if isinstance(given, Mapping):
        return sum(map(_size, given.values()))
    if isinstance(given, list):
        return len(given)
    return given if isinstance(given, int) else 0


def _text(protocol: Reporter[Any]) -> str:
    return json.dumps(protocol.to_dict())


@lru_cache(maxsize=64)
def _protocol(text: str) -> Reporter[Any]:
    return local.from_dict(json.loads(text))


def _facts(row: tuple[Any, ...]) -> Facts:
    name, title, purpose, protocol, tickets, public, batch, closed = row
    return Facts(
        name=name,
        title=title,
        purpose=purpose,
        protocol=_protocol(protocol),
        tickets=tickets,
        public=bool(public),
        batch=batch,
        closed=bool(closed),
    )
