"""A client that remembers: permanent reports on disk, and a loss over a lifetime that is enforced.

What is remembered is the permanent report, never the value. It is drawn once per *period*, a public
name such as "2026" that does not depend on the person, and written to disk before anything is sent.
Within a period every report is made from it, whatever the value has become since: so the reports of
a period cost ε together, for any sequence of values, and a lifetime costs ε times the number of
periods. (A memory keyed by the value, as in RAPPOR, costs ε per value only if nobody learns from
*when* the value changed: two different permanent reports prove that it did.)
"""

from __future__ import annotations

import hashlib
import math
import sqlite3
import stat
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from deniable import parameters
from deniable.errors import BadParameter, BudgetExceeded, NotReady
from deniable.losses import Pure
from deniable.sampling import below

from . import files
from .collection import TICKET
from .protocols import Repeated
from .reports import FORMAT, Reporter, impossible, is_a_name

Row = tuple[bytes, str, float, bytes]

_APPLICATION = int.from_bytes(b"DPLC", "big")
_TABLES = (
    """CREATE TABLE memory (identity BLOB NOT NULL, lifetime REAL NOT NULL, drawn INTEGER NOT NULL,
       checksum BLOB NOT NULL)""",
    """CREATE TABLE permanent (protocol BLOB NOT NULL, period TEXT NOT NULL, epsilon REAL NOT NULL,
       payload BLOB NOT NULL, checksum BLOB NOT NULL, PRIMARY KEY (protocol, period))""",
    f"PRAGMA application_id = {_APPLICATION}",
)
_SLACK = 1 + 1e-12  # 0.1 three times is within 0.3


@parameters.made('local.Client(p, memory="client.db")')
class Client:
    """One person's client of a protocol, with a memory in a file.

    `lifetime` limits the sum of ε over all protocols and periods of this memory. It is fixed when
    the file is created; by default it is the ε of the first protocol, which allows one period.
    Several processes can share the file. Deleting it starts a new lifetime, and an older copy has
    forgotten what was reported since, so keep it with the person's data. Everything in it has a
    checksum, and a file that fails one is not used.

    `default` is a public value that is reported in place of one that the protocol does not take.
    Without it such a value is an error where a period begins, so that person stays silent, and
    silence is an answer. Later in the period values are not looked at.

    Reports of one client can be linked to each other: those of a plain protocol are all the same,
    and with many categories two equal reports of `Repeated` usually come from one person. ε bounds
    what all of them say about the value; it does not make them anonymous.

    >>> import tempfile
    >>> from deniable import local
    >>> p = local.Repeated(categories=16, epsilon=2.0, first=1.0)
    >>> folder = tempfile.mkdtemp()
    >>> client = local.Client(p, memory=f"{folder}/client.db")
    >>> reports = [client.encode(3) for _ in range(5)]
    >>> client.spent == client.lifetime == Pure(2.0)
    True
    """

    def __init__(
        self,
        protocol: Reporter[Any],
        *,
        memory: str | Path,
        lifetime: float | None = None,
        default: object = None,
    ) -> None:
        self.protocol = protocol
        self._default = None if default is None else protocol.numbered_one(default)
        self._path = Path(memory).absolute()
        self._drawn: dict[str, bytes] = {}
        asked = None if lifetime is None else parameters.positive("lifetime", lifetime)
        if asked is not None and asked * _SLACK < protocol.epsilon:
            raise BudgetExceeded(
                f"a lifetime of ε {asked:g} does not cover one permanent report at "
                f"ε {protocol.epsilon:g}",
                fix=f"lifetime={protocol.epsilon}",
            )
        self._identity, self._lifetime = self._open(asked)

    @property
    def lifetime(self) -> Pure:
        """The most that everything this memory is used for may cost the person."""
        return Pure(self._lifetime)

    @property
    def spent(self) -> Pure:
        """What the permanent reports that were drawn cost together."""
        with self._transaction("BEGIN") as (_, rows):
            return Pure(_spent(rows))

    def __repr__(self) -> str:
        return f"Client({self.protocol!r}, memory={self._path.name!r})"

    def ticket(self, name: str, *, period: str = "") -> bytes:
        """This person's ticket for a collection: the same each time, and unlike any other.

        Whoever has it learns nothing about the memory, or about tickets for other collections.
        """
        said = repr((self._identity, self.protocol.identity, name, period))
        return hashlib.sha256(b"deniable client ticket" + said.encode()).digest()[:TICKET]

    def encode(self, value: object, *, period: str = "") -> bytes:
        """A report about the value, or about the one that this period's permanent report is of."""
        if not is_a_name(period):
            raise BadParameter.of("period", period, must='a public name, such as "2026"')
        payload = self._permanent(value, period)
        if isinstance(self.protocol, Repeated):
            rows = np.frombuffer(payload, dtype=np.uint8)[None]
            payload = self.protocol.again(rows).tobytes()
        return bytes([FORMAT]) + self.protocol.fingerprint + payload

    def _permanent(self, value: object, period: str) -> bytes:
        """The permanent report of a period: the one on disk, or a new one that is written first."""
        if period in self._drawn:
            return self._drawn[period]
        key = (self.protocol.identity, period)
        with self._transaction("BEGIN IMMEDIATE") as (file, rows):
            payload = {row[:2]: row[3] for row in rows}.get(key)
            if payload is None:
                self._charge(rows)
                payload = self._drawn_once(self._numbered(value))
                row = (*key, self.protocol.epsilon, payload)
                checked = (*row, _checksum(self._identity, *row))
                file.execute("INSERT INTO permanent VALUES (?, ?, ?, ?, ?)", checked)
                head = (self._identity, self._lifetime, len(rows) + 1)
                file.execute(
                    "UPDATE memory SET drawn = ?, checksum = ?", (head[2], _checksum(*head))
                )
        self._check_payload(payload)
        self._drawn[period] = payload  # only now is it on disk
        return payload

    def _numbered(self, value: object) -> NDArray[Any]:
        try:
            return self.protocol.numbered_one(value)
        except BadParameter:
            if self._default is None:
                raise
            return self._default

    def _check_payload(self, payload: bytes) -> None:
        rows = np.frombuffer(payload, dtype=np.uint8)[None]
        try:
            if len(payload) != self.protocol.payload:
                raise impossible()
            self._source.check_payloads(rows)
        except BadParameter:
            raise _not_ready(self._path, "it is damaged") from None

    @property
    def _source(self) -> Reporter[Any]:
        """The protocol of the permanent report."""
        given = self.protocol
        return given.permanent if isinstance(given, Repeated) else given

    def _drawn_once(self, true: NDArray[Any]) -> bytes:
        return bytes(self._source.draw(true)[0])

    def _charge(self, rows: list[Row]) -> None:
        """Whether there is enough left depends on protocols and periods alone, never on values."""
        total = _spent(rows) + self.protocol.epsilon
        if total > self._lifetime * _SLACK:
            raise BudgetExceeded(
                f"a new permanent report at ε {self.protocol.epsilon:g} would exceed the lifetime "
                f"of this memory, ε {self._lifetime:g}",
                why="each period has a permanent report of its own, and their losses add up",
                fix="report in a period that has one; it costs nothing more",
            )

    def _open(self, asked: float | None) -> tuple[bytes, float]:
        """The file's own name and lifetime; a new file is made for its owner alone."""
        files.create(self._path, _not_ready)
        found = self._path.stat()
        if not stat.S_ISREG(found.st_mode) or stat.S_IMODE(found.st_mode) & 0o077:
            raise NotReady(
                f"{self._path.name} must be a file that only its owner can read",
                why="anyone who can read the permanent report can link this client's reports",
                fix=f"chmod 600 {self._path.name}",
            )
        with self._connected("BEGIN IMMEDIATE") as file:
            if file.execute("SELECT 1 FROM sqlite_master").fetchone() is None:
                for statement in _TABLES:
                    file.execute(statement)
                identity = below(1 << 64, 2).astype(np.uint64).tobytes()
                head = (identity, asked or self.protocol.epsilon, 0)
                written = (*head, _checksum(*head))
                file.execute("INSERT INTO memory VALUES (?, ?, ?, ?)", written)
            elif file.execute("PRAGMA application_id").fetchone() != (_APPLICATION,):
                raise _not_ready(self._path, "it is not the memory of a client")
            identity, lifetime, _ = self._read(file)
        if asked is not None and asked != lifetime:
            raise NotReady(
                f"the client's memory {self._path.name} has another lifetime",
                why=f"it was fixed at ε {lifetime:g} when the file was made",
                fix=f"lifetime={lifetime:g}, or no lifetime=",
            )
        return identity, lifetime

    @contextmanager
    def _transaction(self, how: str) -> Iterator[tuple[sqlite3.Connection, list[Row]]]:
        """A transaction on the same file that was opened, with its permanent reports."""
        with self._connected(how) as file:
            if file.execute("SELECT 1 FROM sqlite_master").fetchone() is None:
                raise _not_ready(self._path, "it was replaced since the client was made")
            identity, lifetime, rows = self._read(file)
            if (identity, lifetime) != (self._identity, self._lifetime):
                raise _not_ready(self._path, "it was replaced since the client was made")
            yield file, rows

    def _read(self, file: sqlite3.Connection) -> tuple[bytes, float, list[Row]]:
        """The file's own name, its lifetime and its permanent reports: all checked, each time."""
        heads = file.execute("SELECT * FROM memory").fetchall()
        rows = file.execute("SELECT * FROM permanent").fetchall()
        identity, lifetime, drawn, _ = heads[0] if len(heads) == 1 else (b"", 0.0, -1, b"")
        fine = drawn == len(rows) and all(_checksum(*head[:-1]) == head[-1] for head in heads)
        fine = fine and all(_checksum(identity, *row[:-1]) == row[-1] for row in rows)
        amounts = [lifetime, *(row[2] for row in rows)]
        if not fine or not all(isinstance(x, float) and 0 < x < math.inf for x in amounts):
            raise _not_ready(self._path, "it is damaged")
        return identity, lifetime, [row[:-1] for row in rows]

    def _connected(self, how: str) -> AbstractContextManager[sqlite3.Connection]:
        erased = ("secure_delete = ON",)
        return files.transaction(self._path, how, _not_ready, settings=erased)


def _spent(rows: list[Row]) -> float:
    return math.fsum(epsilon for _, _, epsilon, _ in rows)


def _checksum(*values: object) -> bytes:
    """Of values with their types, so that no two lists of values have the same text."""
    return hashlib.sha256(repr(values).encode()).digest()[:16]


def _not_ready(path: Path, why: str) -> NotReady:
    if "locked" in why:
        why, fix = "another process is using it", "try again"
    else:
        fix = "give this person's own memory, or its latest copy; a new one starts a new lifetime"
    return NotReady(f"the client's memory {path.name} cannot be used", why=why, fix=fix)
