"""The messages of a round, byte by byte; described in docs/reference/secure-sum-messages.md.

Whatever is not exactly as described is rejected, before anything is changed.
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Iterable, Mapping, Sequence
from enum import IntEnum

import numpy as np

from deniable.errors import MessageRejected

from .keys import KEY_BYTES, SIGNATURE_BYTES, TAG_BYTES
from .rounds import ID_BYTES, VERSION, Round
from .shamir import PRIME, SHARE_BYTES

MAGIC = b"dnsa"
_HEADER = struct.Struct(f">4sBB{ID_BYTES}sI")
_COUNT = struct.Struct(">I")
KEYS_BYTES = 2 * KEY_BYTES + SIGNATURE_BYTES
LETTER_BYTES = 2 * SHARE_BYTES + TAG_BYTES
REVEAL_BYTES = 1 + SHARE_BYTES


class Kind(IntEnum):
    """What a message is; the number is its sixth byte."""

    KEYS = 1
    """Party to coordinator: two public keys, and a signature or zeros."""
    ROSTER = 2
    """Coordinator to party: the public keys of its neighbours."""
    SHARES = 3
    """Party to coordinator: a commitment, and sealed shares for its neighbours."""
    DELIVERY = 4
    """Coordinator to party: the sealed shares from its neighbours."""
    MASKED = 5
    """Party to coordinator: its masked vector."""
    SURVIVORS = 6
    """Coordinator to party: who sent a masked vector, one bit per party."""
    CONFIRMED = 7
    """Party to coordinator: for each neighbour, a code that it was told the same."""
    CONFIRMATIONS = 8
    """Coordinator to party: the codes from its neighbours."""
    REVEALED = 9
    """Party to coordinator: one share for each neighbour."""
    FIRST = 10
    """Party to the first of two servers: its vector less a mask."""
    SECOND = 11
    """Party to the second of two servers: the seed of the mask."""
    HEARD = 12
    """One of two servers to the other: whose shares arrived, one bit per party."""
    SUM = 13
    """One of two servers to whoever combines: of whom, one bit per party, and the sum of shares."""


def written(kind: Kind, round_: Round, party: int, payload: bytes) -> bytes:
    """A message from a party, or to it."""
    return _HEADER.pack(MAGIC, VERSION, kind, round_.id, party) + payload


def read(message: object, round_: Round, *, kind: Kind | None = None) -> tuple[Kind, int, bytes]:
    """The kind, the party and the payload of a message of this round."""
    if not isinstance(message, bytes | bytearray | memoryview):
        several = isinstance(message, Sequence) and not isinstance(message, str)
        fix = "coordinator.receive(*messages)" if several else ""
        raise MessageRejected("a message is bytes", fix=fix)
    data = bytes(message)
    if len(data) < _HEADER.size:
        raise MessageRejected("the message is shorter than its header")
    magic, version, number, round_id, party = _HEADER.unpack_from(data)
    if magic != MAGIC or version != VERSION:
        raise MessageRejected(f"this is not a message of a secure sum, version {VERSION}")
    if number not in Kind.__members__.values() or (kind is not None and number != kind):
        raise MessageRejected("a message of another kind was expected")
    if round_id != round_.id:
        raise MessageRejected(
            "the message belongs to another round",
            why="the message was replayed, or its sender received a different announcement",
        )
    if party >= round_.parties:
        raise MessageRejected(f"there is no party {party}: they are numbered from 0")
    return Kind(number), party, data[_HEADER.size :]


def table(entries: Mapping[int, bytes]) -> bytes:
    """A count, and entries of equal size by party in rising order."""
    rows = (_COUNT.pack(party) + entries[party] for party in sorted(entries))
    return _COUNT.pack(len(entries)) + b"".join(rows)


def read_table(payload: bytes, *, size: int, known: Iterable[int]) -> dict[int, bytes]:
    """The entries of a table, all of known parties, each once and in rising order."""
    step = _COUNT.size + size
    if len(payload) < _COUNT.size or len(payload) != _COUNT.size + step * _first(payload):
        raise MessageRejected("the length of the message does not match its table")
    entries: dict[int, bytes] = {}
    allowed, last = set(known), -1
    for start in range(_COUNT.size, len(payload), step):
        party = _COUNT.unpack_from(payload, start)[0]
        if party <= last or party not in allowed:
            raise MessageRejected(
                "the table names an unknown party, or names a party twice or out of order"
            )
        entries[party] = payload[start + _COUNT.size : start + step]
        last = party
    return entries


def _first(payload: bytes) -> int:
    return int(_COUNT.unpack_from(payload)[0])


def exactly(payload: bytes, size: int) -> bytes:
    """The payload, if it has that many bytes."""
    if len(payload) != size:
        raise MessageRejected(f"the payload must be {size:,} bytes long, but is {len(payload):,}")
    return payload


def read_shares(payload: bytes, *, known: Iterable[int]) -> tuple[bytes, dict[int, bytes]]:
    """The commitment and the sealed shares."""
    letters = read_table(payload[KEY_BYTES:], size=LETTER_BYTES, known=known)
    return payload[:KEY_BYTES], letters


def bitmap(parties: Iterable[int], *, count: int) -> bytes:
    """One bit for each of `count` parties, from the highest bit of the first byte on."""
    bits = bytearray(-(-count // 8))
    for party in parties:
        bits[party // 8] |= 0x80 >> (party % 8)
    return bytes(bits)


def read_bitmap(payload: bytes, *, count: int) -> set[int]:
    """The parties whose bit is set; the bits after the last party must be 0."""
    exactly(payload, -(-count // 8))
    bits = np.unpackbits(np.frombuffer(payload, dtype=np.uint8))
    if bits[count:].any():
        raise MessageRejected("the list of parties names one that does not exist")
    return set(np.flatnonzero(bits).tolist())


def read_revealed(
    payload: bytes, *, known: Iterable[int], is_key: Callable[[int], bool]
) -> dict[int, bytes]:
    """The shares that a party reveals, each of the secret that was asked for."""
    entries = read_table(payload, size=REVEAL_BYTES, known=known)
    for party, entry in entries.items():
        if entry[0] != int(is_key(party)):
            raise MessageRejected("a share of the wrong secret was revealed")
        if int.from_bytes(entry[1:], "big") >= PRIME:
            raise MessageRejected("a share is not a number below the prime")
    return {party: entry[1:] for party, entry in entries.items()}
