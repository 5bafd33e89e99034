"""Two servers that do not collude: each is sent one additive share, and their sums make the sum.

A party's vector x is sent as x − r to one server and r to the other, r uniform modulo 2⁶⁴: either
share by itself is uniform, whatever x is. One message per server and no answers, so nobody can drop
out half-way; but should the servers ever pool their shares, every vector is theirs. The share for
the second server is a 32-byte seed that it expands.

Noise can be added by the parties (`Round.noise`), as in the protocol with masks. Each server checks
that its messages are well-formed, one per party. Then the servers tell each other whom they heard,
and each adds up the shares of those whom both did: a party that reaches only one is left out.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from deniable import parameters
from deniable.errors import BadParameter, MessageRejected

from . import wire
from .keys import KEY_BYTES, Words, mask, seed
from .party import noisy_words
from .rounds import Round
from .turns import SPENT, Turns, step
from .wire import Kind


def shares(round_: Round, index: int, vector: ArrayLike) -> tuple[bytes, bytes]:
    """What a party sends to the first and to the second server.

    >>> round_ = Round(parties=2, length=2, limit=10)
    >>> first, second = Server(round_, first=True), Server(round_, first=False)
    >>> for i, vector in enumerate([[1, 2], [3, -4]]):
    ...     own, other = shares(round_, i, vector)
    ...     first.receive(own)
    ...     second.receive(other)
    >>> one, two = first.heard(), second.heard()
    >>> combined(round_, first.total(two), second.total(one))
    array([ 4, -2])
    """
    index = parameters.whole("index", index, least=0)
    if index >= round_.parties:
        raise BadParameter.of("index", index, must=f"below {round_.parties}")
    words, key = noisy_words(round_, vector), seed()
    words -= mask(key, length=round_.length, bits=round_.bits)
    return (
        wire.written(Kind.FIRST, round_, index, words.tobytes()),
        wire.written(Kind.SECOND, round_, index, key),
    )


class Server(Turns):
    """One of the two servers: it adds up the shares that it is sent, for one set of parties.

    receive(share)      a party's share
    heard()             → to the other server: whose shares arrived; no more are taken
    total(heard)        → the sum of its shares of those whom both servers heard

    The sums over two sets would tell the other server the shares in which the sets differ. So a
    server answers for one set only.
    """

    def __init__(self, round_: Round, *, first: bool) -> None:
        super().__init__()
        self.round = round_
        self.kind = Kind.FIRST if first else Kind.SECOND
        self._number = 0 if first else 1
        self._shares: dict[int, bytes] = {}
        self._closed = False
        self._summed: frozenset[int] | None = None

    @step
    def receive(self, message: bytes) -> None:
        """Take one party's share; what is malformed, repeated or of another round is rejected."""
        _, party, payload = wire.read(message, self.round, kind=self.kind)
        if self._closed:
            raise MessageRejected(
                "the share came too late: this server has already announced whose shares arrived"
            )
        if party in self._shares:
            raise MessageRejected(f"party {party} has already sent its share")
        size = self.round.length * self.round.bits // 8
        self._shares[party] = wire.exactly(payload, size if self.kind is Kind.FIRST else KEY_BYTES)

    @step
    def heard(self) -> bytes:
        """Whose shares arrived, for the other server: public."""
        self._closed = True
        who = wire.bitmap(self._shares, count=self.round.parties)
        return wire.written(Kind.HEARD, self.round, self._number, who)

    @step
    def total(self, heard: bytes) -> bytes:
        """The sum of the shares of those whom both servers heard: uniform by itself."""
        _, sender, payload = wire.read(heard, self.round, kind=Kind.HEARD)
        if not self._closed or sender != 1 - self._number:
            raise MessageRejected(
                "each server must first tell the other whose shares arrived (heard())"
            )
        chosen = frozenset(wire.read_bitmap(payload, count=self.round.parties) & set(self._shares))
        if self._summed not in (None, chosen):
            raise MessageRejected(
                "this server has already released its sum over a different set of parties",
                why="the difference of two sums reveals the shares of parties that are in only "
                "one of them",
                fix="start another round",
                cost=SPENT,
            )
        _check_enough(self.round, len(chosen))
        self._summed = chosen
        words = np.zeros(self.round.length, dtype=f"<u{self.round.bits // 8}")
        for party in chosen:
            words += self._words(self._shares[party])
        who = wire.bitmap(chosen, count=self.round.parties)
        return wire.written(Kind.SUM, self.round, self._number, who + words.tobytes())

    def _words(self, share: bytes) -> Words:
        if self.kind is Kind.FIRST:
            return np.frombuffer(share, f"<u{self.round.bits // 8}")
        return mask(share, length=self.round.length, bits=self.round.bits)


def combined(round_: Round, *sums: bytes) -> NDArray[np.int64]:
    """The sum over the parties that both servers heard, noise included, from their two sums."""
    sent = [wire.read(message, round_, kind=Kind.SUM) for message in sums]
    if sorted(number for _, number, _ in sent) != [0, 1]:
        raise MessageRejected("combine the sums of the first and of the second server")
    size, words = -(-round_.parties // 8), round_.length * round_.bits // 8
    (who, one), (other, two) = (
        (payload[:size], wire.exactly(payload[size:], words)) for _, _, payload in sent
    )
    if who != other:
        raise MessageRejected("the servers added up the shares of different parties", cost=SPENT)
    _check_enough(round_, len(wire.read_bitmap(who, count=round_.parties)))
    first, second = (np.frombuffer(part, f"<u{round_.bits // 8}") for part in (one, two))
    return round_.summed(first + second)


def _check_enough(round_: Round, count: int) -> None:
    if count < round_.least:
        raise MessageRejected(
            f"{count} parties are not enough: {round_.least} are needed",
            why="with fewer, the sum would carry less noise than was promised",
        )
