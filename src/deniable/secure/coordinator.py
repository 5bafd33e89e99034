"""The coordinator of a secure sum: it carries messages, adds masked vectors, and lifts the masks.

It is trusted to carry messages and to follow the protocol, not to keep anything secret: all that it
sees, pooled with what up to `colluding` parties know, tells the sum and nothing else.
"""

from __future__ import annotations

from collections.abc import Callable, Container

import numpy as np
from numpy.typing import NDArray

from deniable.errors import MessageRejected

from . import wire
from .keys import CODE_BYTES, KEY_BYTES, KeyPair, Words, mask
from .party import commitment, take_keys
from .rounds import Round
from .shamir import rebuilt
from .turns import Turns, spending, step
from .wire import Kind


class Coordinator(Turns):
    """Runs one round: `receive` what parties send, and between their turns

    rosters()       → the keys of its neighbours, for each party that advertised
    deliveries()    → the sealed shares, for each party that shared its secrets
    survivors()     → whose vectors arrived, for each of those parties
    confirmations() → the codes from its neighbours, for each party that confirmed
    total()         → the sum of the vectors that arrived, noise included

    Each ends a step: what arrives for it later is rejected, and its sender has dropped out.
    """

    def __init__(self, round_: Round) -> None:
        super().__init__()
        self.round = round_
        self._step = Kind.KEYS
        self._keys: dict[int, bytes] = {}
        self._publics: set[bytes] = set()
        self._commitments: dict[int, bytes] = {}
        self._letters: dict[int, dict[int, bytes]] = {}
        self._sum = np.zeros(round_.length, dtype=f"<u{round_.bits // 8}")
        self._arrived: set[int] = set()
        self._codes: dict[int, dict[int, bytes]] = {}
        self._revealed: dict[int, dict[int, bytes]] = {}
        """By party whose secret it is, then by holder."""
        self._answered: set[int] = set()

    @step
    def receive(self, *messages: bytes) -> None:
        """Take messages of the current step, one after the other.

        If something is wrong with one, that is raised: it changes nothing, and those before it
        count.
        """
        with spending(may_be_revealed=self._step == Kind.REVEALED):
            for message in messages:
                self._take(message)

    def _take(self, message: bytes) -> None:
        kind, party, payload = wire.read(message, self.round)
        if kind != self._step:
            raise MessageRejected(
                f"the message is for another step than the current one ({self._step.name})",
                why="it came too late, too early, or is the coordinator's own",
            )
        match kind:
            case Kind.KEYS:
                self._advertised(party, payload)
            case Kind.SHARES:
                self._shared(party, payload)
            case Kind.MASKED:
                self._masked(party, payload)
            case Kind.CONFIRMED:
                self._confirmed(party, payload)
            case Kind.REVEALED:
                self._reveals(party, payload)

    # ---- 1

    def _advertised(self, party: int, payload: bytes) -> None:
        self._first(party, self._keys)
        announced = wire.exactly(payload, wire.KEYS_BYTES)
        take_keys(announced, self._publics)
        self._keys[party] = announced

    @step
    def rosters(self) -> dict[int, bytes]:
        """For each party that advertised: the public keys of its neighbours who did, too."""
        self._ends(Kind.KEYS, len(self._keys))
        self._step = Kind.SHARES
        return {
            party: self._to(
                Kind.ROSTER,
                party,
                wire.table({i: self._keys[i] for i in self._near(party) if i in self._keys}),
            )
            for party in self._keys
        }

    # ---- 2

    def _shared(self, party: int, payload: bytes) -> None:
        self._known(party, self._keys)
        self._first(party, self._commitments)
        near = [i for i in self._near(party) if i in self._keys]
        bound, letters = wire.read_shares(payload, known=near)
        if len(letters) != len(near):
            raise MessageRejected("the party did not share its secrets with all neighbours")
        self._commitments[party], self._letters[party] = bound, letters

    @step
    def deliveries(self) -> dict[int, bytes]:
        """For each party that shared its secrets: the letters from neighbours who did, too."""
        self._ends(Kind.SHARES, len(self._letters))
        self._step = Kind.MASKED
        return {
            party: self._to(
                Kind.DELIVERY,
                party,
                wire.table({i: self._letters[i][party] for i in self._taking_part(party)}),
            )
            for party in self._letters
        }

    # ---- 3

    def _masked(self, party: int, payload: bytes) -> None:
        self._known(party, self._letters)
        self._first(party, self._arrived)
        size = self.round.length * self.round.bits // 8
        words = np.frombuffer(wire.exactly(payload, size), dtype=self._sum.dtype)
        self._sum += words
        self._arrived.add(party)

    @step
    def survivors(self) -> dict[int, bytes]:
        """For each party whose vector arrived: whose vectors arrived."""
        self._ends(Kind.MASKED, len(self._arrived))
        self._step = Kind.CONFIRMED
        there = wire.bitmap(self._arrived, count=self.round.parties)
        return {party: self._to(Kind.SURVIVORS, party, there) for party in self._arrived}

    # ---- 4

    def _confirmed(self, party: int, payload: bytes) -> None:
        self._known(party, self._arrived)
        self._first(party, self._codes)
        near = [i for i in self._taking_part(party) if i in self._arrived]
        codes = wire.read_table(payload, size=CODE_BYTES, known=near)
        if len(codes) != len(near):
            raise MessageRejected("a code is missing for a neighbour that is still taking part")
        self._codes[party] = codes

    @step
    def confirmations(self) -> dict[int, bytes]:
        """For each party that confirmed: the codes from neighbours who did, too."""
        self._ends(Kind.CONFIRMED, len(self._codes))
        self._step = Kind.REVEALED
        return {
            party: self._to(
                Kind.CONFIRMATIONS,
                party,
                wire.table(
                    {i: self._codes[i][party] for i in self._near(party) if i in self._codes}
                ),
            )
            for party in self._codes
        }

    # ---- 5

    def _reveals(self, party: int, payload: bytes) -> None:
        self._known(party, self._codes)
        self._first(party, self._answered)
        shares = wire.read_revealed(
            payload, known=self._taking_part(party), is_key=lambda i: i not in self._arrived
        )
        for owner, share in shares.items():
            self._revealed.setdefault(owner, {})[party + 1] = share
        self._answered.add(party)

    @step
    def total(self) -> NDArray[np.int64]:
        """The sum of the vectors that arrived, as signed whole numbers, noise included.

        Raises, and can be called again after more messages, if too few shares were revealed or if
        too many do not belong to the secrets that were committed to. The round counts as spent
        even then: somebody else may have enough right shares to read the sum.
        """
        if self._step != Kind.REVEALED:
            raise MessageRejected(f"the round is not at its last step, but at {self._step.name}")
        words = self._sum.copy()
        with spending():
            for party in sorted(self._letters):
                if party in self._arrived:
                    words -= self._stream(self._seed(party))
                else:
                    self._lift(words, party)
        return self.round.summed(words)

    def _seed(self, party: int) -> bytes:
        bound = self._commitments[party]
        return self._rebuilt(party, lambda secret: commitment(self.round, secret) == bound)

    def _lift(self, words: Words, gone: int) -> None:
        """Lift what others masked with a party whose vector did not arrive."""
        public = self._masks_key(gone)
        pair = KeyPair(self._rebuilt(gone, lambda secret: KeyPair(secret).public == public))
        for other in self._taking_part(gone):
            if other in self._arrived:
                use = b"masks" + self.round.id
                key = pair.agreed(self._masks_key(other), use=use, ends=(gone, other))
                lift = np.subtract if other < gone else np.add
                lift(words, self._stream(key), out=words)

    def _rebuilt(self, party: int, fits: Callable[[bytes], bool]) -> bytes:
        shares, threshold = self._revealed.get(party, {}), self.round.shape.threshold
        secret = rebuilt(shares, threshold=threshold, fits=fits)
        if secret is None:
            raise MessageRejected(
                f"the shares of party {party}'s secret contradict what it committed to",
                why="it shared out another secret, or neighbours revealed wrong shares",
                fix="pay for another round, without that party or its neighbours",
            )
        return secret

    def _stream(self, key: bytes) -> Words:
        return mask(key, length=self.round.length, bits=self.round.bits)

    # ---- manners

    def _masks_key(self, party: int) -> bytes:
        return self._keys[party][KEY_BYTES : 2 * KEY_BYTES]

    def _near(self, party: int) -> tuple[int, ...]:
        return self.round.near(party)

    def _taking_part(self, party: int) -> list[int]:
        return [i for i in self._near(party) if i in self._letters]

    def _to(self, kind: Kind, party: int, payload: bytes) -> bytes:
        return wire.written(kind, self.round, party, payload)

    def _ends(self, step: Kind, count: int) -> None:
        if self._step != step:
            raise MessageRejected(
                f"the steps of a round are taken once, in order; this one is at {self._step.name}"
            )
        if count < self.round.least:
            raise MessageRejected(
                f"{count} parties are left, and {self.round.least} are needed",
                why="with fewer, the sum would carry less noise than was promised",
                fix="wait for more messages, or start another round",
            )

    def _first(self, party: int, seen: Container[int]) -> None:
        if party in seen:
            raise MessageRejected(f"party {party} has already sent this message")

    def _known(self, party: int, seen: Container[int]) -> None:
        if party not in seen:
            raise MessageRejected(f"party {party} dropped out in an earlier step")
