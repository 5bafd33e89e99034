"""A collection, end to end: reports come in as bytes, are stored once, and are added up.

A submission is what a client sends, over any transport:

    2 bytes    "DC"
    1 byte     format, 1
    8 bytes    collection: the start of the SHA-256 of the protocol's identity and its name
    16 bytes   ticket: a number that is used once
    …          the report, with its own header

The ticket makes sending again harmless: the same submission is stored once, and a second report
with the same ticket is refused. Where tickets are issued, only those count: nobody counts twice.
"""

from __future__ import annotations

import hashlib
import sqlite3
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Generic, TypeVar

import numpy as np

from deniable import parameters
from deniable.errors import BadParameter, NotReady
from deniable.sampling import below

from . import files
from .reports import Reporter, is_a_name
from .server import Server

E = TypeVar("E")

MAGIC, FORMAT, TICKET = b"DC", 1, 16
_PREFIX = len(MAGIC) + 1 + 8
_APPLICATION = int.from_bytes(b"DPCO", "big")
_AT_ONCE = 1 << 16
_TABLES = (
    "CREATE TABLE collection (identity BLOB NOT NULL, open BOOLEAN NOT NULL, file BLOB NOT NULL)",
    "CREATE TABLE tickets (ticket BLOB PRIMARY KEY) WITHOUT ROWID",
    "CREATE TABLE reports (ticket BLOB PRIMARY KEY, report BLOB NOT NULL) WITHOUT ROWID",
    f"PRAGMA application_id = {_APPLICATION}",
)


@dataclass(frozen=True, kw_only=True)
class Receipt:
    """What became of a submission: "stored", or "duplicate" where the same was stored before."""

    status: str


def new_ticket() -> bytes:
    """A new ticket, for collections that do not issue them."""
    return below(1 << 64, 2).astype("<u8").tobytes()


def submission(protocol: Reporter[Any], name: str, report: bytes, *, ticket: bytes) -> bytes:
    """The bytes that a client sends to the collection of that name."""
    parts: tuple[tuple[str, object, int], ...] = (
        ("ticket", ticket, TICKET),
        ("report", report, protocol.length),
    )
    for what, given, length in parts:
        if not isinstance(given, bytes | bytearray) or len(given) != length:
            fix = "p.encode(value)" if what == "report" else ""
            raise BadParameter(f"a {what} of this collection is {length} bytes", fix=fix)
    return MAGIC + bytes([FORMAT]) + _identity(protocol, name) + ticket + report


def length_of(protocol: Reporter[Any]) -> int:
    """Bytes per submission."""
    return _PREFIX + TICKET + protocol.length


def opened(protocol: Reporter[Any], name: str, body: object) -> tuple[bytes, bytes]:
    """The hidden ticket and the report of a submission; BadParameter where it is not one."""
    length = length_of(protocol)
    if not isinstance(body, bytes | bytearray) or len(body) != length:
        raise BadParameter(f"a submission to this collection has {length} bytes")
    if bytes(body[:_PREFIX]) != MAGIC + bytes([FORMAT]) + _identity(protocol, name):
        raise BadParameter("the submission was made for another collection")
    report = bytes(body[_PREFIX + TICKET :])
    protocol.check_payloads(protocol.checked(np.frombuffer(report, dtype=np.uint8)[None]))
    return hidden(bytes(body[_PREFIX : _PREFIX + TICKET])), report


def used(known: bytes, report: bytes) -> Receipt:
    """For a ticket that has been seen: the same report again is harmless, another is refused."""
    if known == report:
        return Receipt(status="duplicate")
    raise BadParameter("the ticket was used before, with another report")


def not_issued() -> BadParameter:
    """For a ticket that nobody was given."""
    return BadParameter("the ticket was not issued by this collection")


def added_up(
    protocol: Reporter[E], after: Callable[[bytes], Sequence[tuple[bytes, bytes]]]
) -> Server[E]:
    """Stored reports, added up in parts: `after` returns the next tickets and reports, in order."""
    server, last = protocol.server(), b""
    while part := after(last):
        try:
            server.add([bytes(report) for _, report in part])
        except BadParameter:
            raise NotReady(
                "a stored report is damaged",
                why="each was checked before it was stored",
                fix="restore a back-up of the reports",
            ) from None
        last = bytes(part[-1][0])
    return server


@parameters.made('local.Collection(p, path="reports.db", name="survey 2026")')
class Collection(Generic[E]):
    """A durable store of reports in one SQLite file, for one protocol and one name.

    `accept` takes a submission as bytes and returns a receipt; `aggregate` adds up all reports.
    Neither knows about a transport: a web server passes the body of a request on.

    >>> import tempfile
    >>> from deniable import local
    >>> p = local.Direct(categories=["tea", "coffee"], epsilon=1.0)
    >>> drinks = Collection(p, path=f"{tempfile.mkdtemp()}/drinks.db", name="drinks 2026")
    >>> sent = drinks.submission(p.encode("tea"))
    >>> drinks.accept(sent).status, drinks.accept(sent).status
    ('stored', 'duplicate')
    >>> drinks.aggregate().people
    1
    """

    def __init__(
        self, protocol: Reporter[E], *, path: str | Path, name: str, tickets: str = "open"
    ) -> None:
        self.protocol, self.name = protocol, name
        self._open = parameters.one_of("tickets", tickets, ("open", "issued")) == "open"
        self._path = Path(path).absolute()
        self._identity = _identity(protocol, name)
        self._file = self._prepare()

    # ---- for clients

    @parameters.called("collection.submission(p.encode(value), ticket=ticket)")
    def submission(self, report: bytes, *, ticket: bytes | None = None) -> bytes:
        """What a client sends; it keeps these bytes, and sends the same again on failure.

        The ticket is one that this collection issued; without `tickets="issued"`, a new one.
        """
        if ticket is None and not self._open:
            raise BadParameter(
                "this collection counts only the tickets that it issued",
                fix="collection.submission(report, ticket=collection.issue(1)[0])",
            )
        return submission(self.protocol, self.name, report, ticket=ticket or new_ticket())

    def issue(self, count: int) -> list[bytes]:
        """New tickets, one per invited person: each counts once."""
        if self._open:
            raise BadParameter('this collection takes any ticket; make it with tickets="issued"')
        made = [new_ticket() for _ in range(parameters.whole("count", count))]
        with self._transaction() as file:
            file.executemany("INSERT INTO tickets VALUES (?)", [(hidden(each),) for each in made])
        return made

    # ---- for the server

    @property
    def length(self) -> int:
        """Bytes per submission: a web server can refuse anything longer unread."""
        return length_of(self.protocol)

    def accept(self, body: object) -> Receipt:
        """Store one submission; BadParameter where it is malformed, foreign or a replay."""
        key, report = opened(self.protocol, self.name, body)
        with self._transaction() as file:
            found = file.execute("SELECT report FROM reports WHERE ticket = ?", (key,)).fetchone()
            if found is not None:
                return used(found[0], report)
            known = "SELECT 1 FROM tickets WHERE ticket = ?"
            if not self._open and file.execute(known, (key,)).fetchone() is None:
                raise not_issued()
            file.execute("INSERT INTO reports VALUES (?, ?)", (key, report))
        return Receipt(status="stored")

    def aggregate(self, *, confidence: float = 0.95) -> E:
        """What all stored reports say together, with its ±.

        Reports are read in parts, between which others can be stored. One that is stored meanwhile
        may or may not be counted.
        """
        return added_up(self.protocol, self._part).estimate(confidence=confidence)

    def _part(self, after: bytes) -> list[tuple[bytes, bytes]]:
        chosen = "SELECT ticket, report FROM reports WHERE ticket > ? ORDER BY ticket LIMIT ?"
        with self._transaction("BEGIN") as file:
            return file.execute(chosen, (after, _AT_ONCE)).fetchall()

    def __repr__(self) -> str:
        tickets = "open" if self._open else "issued"
        return f"Collection({self.name!r}, {self.protocol!r}, tickets={tickets!r})"

    def __len__(self) -> int:
        with self._transaction("BEGIN") as file:
            ((count,),) = file.execute("SELECT COUNT(*) FROM reports")
        return int(count)

    def _prepare(self) -> bytes:
        """Create the file where there is none; its own random name, which no other file has."""
        files.create(self._path, _not_ready)
        with self._connected("BEGIN IMMEDIATE") as file:
            if file.execute("SELECT 1 FROM sqlite_master").fetchone() is None:
                for statement in _TABLES:
                    file.execute(statement)
                made = (self._identity, self._open, new_ticket())
                file.execute("INSERT INTO collection VALUES (?, ?, ?)", made)
            elif file.execute("PRAGMA application_id").fetchone() != (_APPLICATION,):
                raise _not_ready(self._path, "it is not a collection")
            identity, is_open, name = file.execute("SELECT * FROM collection").fetchone()
        if identity != self._identity:
            raise _not_ready(self._path, "it was made for another protocol or another name")
        if is_open != self._open:
            tickets = "open" if is_open else "issued"
            raise _not_ready(self._path, f'it was made with tickets="{tickets}"')
        return bytes(name)

    @contextmanager
    def _transaction(self, how: str = "BEGIN IMMEDIATE") -> Iterator[sqlite3.Connection]:
        """A transaction on the same file that was opened."""
        with self._connected(how) as file:
            empty = file.execute("SELECT 1 FROM sqlite_master").fetchone() is None
            found = None if empty else file.execute("SELECT * FROM collection").fetchone()
            if found != (self._identity, self._open, self._file):
                raise _not_ready(self._path, "it was replaced since it was opened")
            yield file

    def _connected(self, how: str) -> AbstractContextManager[sqlite3.Connection]:
        return files.transaction(self._path, how, _not_ready)


def _identity(protocol: Reporter[Any], name: str) -> bytes:
    if not is_a_name(name):
        raise BadParameter.of("name", name, must="a text")
    return hashlib.sha256(protocol.identity + name.encode()).digest()[:8]


def hidden(given: bytes) -> bytes:
    """What is stored of a ticket: it cannot be sent again by who reads the file, nor traced."""
    return hashlib.sha256(b"deniable ticket" + given).digest()[:16]


def _not_ready(path: Path, why: str) -> NotReady:
    fix = "try again" if "locked" in why else "open it as it was made, or give another path"
    return NotReady(f"the collection {path.name} cannot be used", why=why, fix=fix)
