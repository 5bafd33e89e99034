"""The collector's half of a protocol: add up reports, estimate counts."""

from __future__ import annotations

import hashlib
import struct
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, Generic, TypeVar

import numpy as np
from numpy.typing import NDArray

from deniable import parameters
from deniable.errors import BadParameter

if TYPE_CHECKING:
    from .reports import Reporter

SAME = "build both from the same parameters, and list categories in the same order"

E = TypeVar("E")
Reports = bytes | Iterable[bytes] | NDArray[np.uint8]
_HEAD = struct.Struct("<32sQ")  # the protocol's identity, and how many reports there were
_DIGEST = 32  # bytes of a SHA-256: what was damaged on its way is not counted
AT_ONCE = 1 << 18  # reports that are drawn or read together: memory stays flat however many come


class Server(Generic[E]):
    """Adds reports up and forgets them; its memory depends on the protocol alone.

    >>> from deniable import local
    >>> p = local.Direct(categories=4, epsilon=3.0)
    >>> p.server().add(p.encode_all([0, 1, 1, 3] * 500)).add(p.encode(2)).people
    2001
    """

    def __init__(self, protocol: Reporter[E]) -> None:
        self.protocol = protocol
        self.people = 0
        self._tally = protocol.tally()

    def add(self, reports: Reports) -> Server[E]:
        """Add one report, a list of them, or what `encode_all` returned: all of them, or none.

        Reports of another protocol, another ε or another domain are refused, and so is what no
        client of this protocol can have sent.
        """
        rows = rows_of(reports, self.protocol.length)
        payloads = self.protocol.checked(rows)
        for start in range(0, len(payloads), AT_ONCE):
            self.protocol.check_payloads(payloads[start : start + AT_ONCE])
        for start in range(0, len(payloads), AT_ONCE):
            self.protocol.count(self._tally, payloads[start : start + AT_ONCE])
        self.people += len(payloads)
        return self

    def merge(self, other: Server[E]) -> Server[E]:
        """Add what another server of the same protocol counted, on another machine or core."""
        if other is self:
            raise BadParameter("a server merged with itself would count each report twice")
        if other.protocol != self.protocol:
            raise BadParameter("the other server collects reports of another protocol", fix=SAME)
        self.protocol.join(self._tally, other._tally)
        self.people += other.people
        return self

    def estimate(self, *, confidence: float = 0.95) -> E:
        """What the reports say together, with its ±: of a frequency protocol, an `Estimate`."""
        parameters.confidence("confidence", confidence)
        return self.protocol.estimated(self._tally, self.people, confidence=confidence)

    def to_bytes(self) -> bytes:
        """What was counted so far, to be merged elsewhere: its size depends on the protocol alone.

        >>> from deniable import local
        >>> p = local.Direct(categories=4, epsilon=3.0)
        >>> there = p.server().add(p.encode_all([0, 1, 1, 3]))
        >>> p.server().merge(local.Server.from_bytes(p, there.to_bytes())).people
        4
        """
        counted = _HEAD.pack(self.protocol.identity, self.people)
        counted += b"".join(part.astype(kind).tobytes() for part, kind in self._parts())
        return counted + hashlib.sha256(counted).digest()

    @staticmethod
    def from_bytes(protocol: Reporter[E], data: bytes) -> Server[E]:
        """The server that `to_bytes` wrote; BadParameter if that was of another protocol."""
        made = Server(protocol)
        parts, counted = made._parts(), data[:-_DIGEST]
        place = _HEAD.size
        whole = len(counted) == place + sum(part.nbytes for part, _ in parts)
        if not whole or hashlib.sha256(counted).digest() != data[-_DIGEST:]:
            raise BadParameter("these are not the counts of a server of this protocol")
        identity, made.people = _HEAD.unpack_from(counted)
        if identity != protocol.identity:
            raise BadParameter("these are the counts of a server of another protocol")
        for part, kind in parts:
            part[...] = np.frombuffer(counted, kind, part.size, place).reshape(part.shape)
            place += part.nbytes
        return made

    def _parts(self) -> list[tuple[NDArray[Any], np.dtype[Any]]]:
        """What was counted, with the type in which it is sent: the lowest byte first."""
        if any(part.dtype == object for part in self._tally):
            raise BadParameter(
                f"{self.protocol.name} keeps the reports themselves, so there is no sum of them"
            )
        return [(part, part.dtype.newbyteorder("<")) for part in self._tally]


def rows_of(reports: Reports, length: int) -> NDArray[np.uint8]:
    """Reports as one row of bytes each."""
    if isinstance(reports, np.ndarray):
        if reports.dtype != np.uint8 or reports.ndim != 2 or reports.shape[1] != length:
            raise _malformed(length)
        return reports
    listed = [reports] if isinstance(reports, bytes | bytearray) else list(reports)
    if any(not isinstance(each, bytes | bytearray) or len(each) != length for each in listed):
        raise _malformed(length)
    return np.frombuffer(b"".join(listed), dtype=np.uint8).reshape(-1, length)


def _malformed(length: int) -> BadParameter:
    return BadParameter(
        f"reports of this protocol are {length} bytes long each, and one of these is not",
        why="a report that this protocol cannot have made says nothing about its categories",
        fix="p.server().add(p.encode_all(values))",
    )
