"""One party of a secure sum: it masks its vector so that only the sum over all can be read.

The protocol is that of Bonawitz et al. [BIK17] on the sparse graph of Bell et al. [BBGLR20]. A
party's vector carries a mask of its own (from a seed) and one for each neighbour (from an agreed
key, added by one of the two and subtracted by the other). Both secrets are shared out, and of each
party only one is ever rebuilt: the seed if its vector arrived, the key if it did not. So a vector
that arrives after its sender was given up is still covered by the seed.

Before anything is revealed, neighbours confirm to each other, under keys that the coordinator does
not know, whose vectors they were told have arrived. *What that achieves* if everyone is everyone's
neighbour, keys are signed by identities that all know, and n > 2d + c + 1: a coordinator that lies,
together with c parties, reads at most the noisy sum over one set B of n − d parties or more.
(1) All honest parties that reveal were told the same B. Each has n − 1 − d confirmations and its
own; of two different sets, those of honest parties are disjoint, so 2(n − d − c) ≤ n − c, which n >
2d + c excludes. So of B the seeds are revealed, of the others the keys, and no more. (2) No part of
B can be read by itself. The key of a pair's mask is derived from its X25519 secret, both numbers
and both public keys, so the masks of different pairs are independent streams, whatever keys the c
parties announced: nothing but its twin cancels a mask between two honest parties. Secrets take
n − 1 − d shares, so at least n − 1 − d − c honest parties reveal; each of them masked with all of
B. A part without them has members that masked with none of them, hence left out n − 1 − d − c > d
neighbours, and a party masks with all but d at least. ∎
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from numpy.typing import ArrayLike

from deniable import parameters
from deniable.errors import BadParameter, MessageRejected

from . import wire
from .keys import (
    CODE_BYTES,
    KEY_BYTES,
    SIGNATURE_BYTES,
    Identity,
    KeyPair,
    Words,
    code,
    digest,
    is_canonical,
    is_signed,
    mask,
    opened,
    same,
    sealed,
    seed,
)
from .rounds import Round
from .shamir import SHARE_BYTES, split
from .turns import Turns, spending, step
from .vectors import clipped
from .wire import Kind


@parameters.made("secure.Party(secure.Round.from_bytes(announcement), 0)")
class Party(Turns):
    """A party of one round, by its number. It speaks five times, each time once.

    advertise()                 → its public keys
    share(roster)               → its secrets, shared out among its neighbours
    mask(delivery, vector)      → its vector with its share of the noise, masked
    confirm(survivors)          → to its neighbours: whose vectors it was told have arrived
    reveal(confirmations)       → what it takes to unmask the sum, and nothing else

    With an `identity` it signs its public keys; with a `directory` of the parties' identities it
    takes part only with neighbours whose keys are signed. With `least` it refuses a round whose sum
    carries less noise than that variance: whoever announces a round chooses its noise.

    >>> from deniable.secure import Coordinator
    >>> round_ = Round(parties=3, length=2, limit=100)
    >>> parties, coordinator = [Party(round_, i) for i in range(3)], Coordinator(round_)
    >>> coordinator.receive(*(p.advertise() for p in parties))
    >>> rosters = coordinator.rosters()
    >>> coordinator.receive(*(p.share(rosters[i]) for i, p in enumerate(parties)))
    >>> letters = coordinator.deliveries()
    >>> coordinator.receive(*(p.mask(letters[i], [i, 10]) for i, p in enumerate(parties)))
    >>> survivors = coordinator.survivors()
    >>> coordinator.receive(*(p.confirm(survivors[i]) for i, p in enumerate(parties)))
    >>> codes = coordinator.confirmations()
    >>> coordinator.receive(*(p.reveal(codes[i]) for i, p in enumerate(parties)))
    >>> coordinator.total()
    array([ 3, 30])
    """

    def __init__(
        self,
        round_: Round,
        index: int,
        *,
        identity: Identity | None = None,
        directory: Mapping[int, bytes] | None = None,
        least: float | None = None,
    ) -> None:
        super().__init__()
        given: object = round_
        if not isinstance(given, Round):
            raise BadParameter(
                f"a party takes part in a Round; you gave {parameters.a_kind(given)}",
                fix="secure.Party(secure.Round.from_bytes(announcement), 0)",
            )
        if least is not None:
            _check_noise(round_, parameters.positive("least", least))
        self.round = round_
        self._identity, self._directory = identity, _checked_directory(directory)
        self.index = parameters.whole("index", index, least=0)
        if self.index >= round_.parties:
            raise BadParameter.of("index", index, must=f"below {round_.parties}")
        self._next: Kind | None = Kind.KEYS
        self._letters_key, self._masks_key, self._seed = KeyPair(), KeyPair(), seed()
        self._keys: dict[int, bytes] = {}
        """By neighbour: the two public keys."""
        self._sealing: dict[int, bytes] = {}
        """By neighbour: the key of the letters between us."""
        self._pairs: dict[int, bytes] = {}
        """By neighbour: the shares of its seed and of its key."""
        self._told = b""
        self._there: frozenset[int] = frozenset()
        """Whose vectors arrived, as this party was told."""

    def __repr__(self) -> str:
        return f"Party({self.index} of {self.round.parties}; secrets hidden)"

    # ---- 1

    @step
    def advertise(self) -> bytes:
        """Two public keys, new in every round: one for letters and one for masks."""
        self._turn(Kind.KEYS)
        self._next = Kind.SHARES
        said = signing(self.round, self.index, self._own_keys)
        signature = bytes(SIGNATURE_BYTES) if self._identity is None else self._identity.sign(said)
        return wire.written(Kind.KEYS, self.round, self.index, self._own_keys + signature)

    # ---- 2

    @step
    def share(self, roster: bytes) -> bytes:
        """Share both secrets out among the neighbours on the roster, each share sealed."""
        self._turn(Kind.SHARES)
        payload = self._addressed(roster, Kind.ROSTER)
        signed = wire.read_table(payload, size=wire.KEYS_BYTES, known=self._near)
        self._enough(len(signed))
        keys = {who: self._checked(who, entry) for who, entry in signed.items()}
        seen: set[bytes] = set()
        for pair in (self._own_keys, *keys.values()):
            take_keys(pair, seen)
        sealing = {
            who: self._letters_key.agreed(
                key[:KEY_BYTES], use=b"letters" + self.round.id, ends=(self.index, who)
            )
            for who, key in keys.items()
        }
        threshold, places = self.round.shape.threshold, [who + 1 for who in keys]
        seeds = split(self._seed, places=places, threshold=threshold)
        secrets = split(self._masks_key.private, places=places, threshold=threshold)
        letters = {
            who: sealed(
                sealing[who],
                one + other,
                sender=self.index,
                receiver=who,
                about=self.round.id + self._own_keys + keys[who],
            )
            for who, one, other in zip(keys, seeds, secrets, strict=True)
        }
        self._keys, self._sealing, self._next = keys, sealing, Kind.MASKED
        payload = commitment(self.round, self._seed) + wire.table(letters)
        return wire.written(Kind.SHARES, self.round, self.index, payload)

    def _checked(self, who: int, entry: bytes) -> bytes:
        """The two keys of a neighbour, signed by it if there is a directory."""
        keys, signature = entry[: 2 * KEY_BYTES], entry[2 * KEY_BYTES :]
        if self._directory is not None:
            said = signing(self.round, who, keys)
            if not is_signed(self._directory.get(who, b""), signature, said):
                raise MessageRejected(
                    f"the keys of party {who} are not signed by its identity",
                    why="somebody may pretend to be that party",
                )
        return keys

    # ---- 3

    @step
    def mask(self, delivery: bytes, vector: ArrayLike) -> bytes:
        """The vector with this party's share of the noise, covered by all of its masks.

        Numbers beyond the round's limit are clipped to it.
        """
        self._turn(Kind.MASKED)
        payload = self._addressed(delivery, Kind.DELIVERY)
        letters = wire.read_table(payload, size=wire.LETTER_BYTES, known=self._keys)
        self._enough(len(letters))
        pairs = {who: self._opened(who, letter) for who, letter in letters.items()}
        words = noisy_words(self.round, vector)
        words += mask(self._seed, length=self.round.length, bits=self.round.bits)
        for who in letters:
            key = self._masks_key.agreed(
                self._keys[who][KEY_BYTES:], use=b"masks" + self.round.id, ends=(self.index, who)
            )
            stream = mask(key, length=self.round.length, bits=self.round.bits)
            (np.add if self.index < who else np.subtract)(words, stream, out=words)
        self._pairs, self._next = pairs, Kind.CONFIRMED
        return wire.written(Kind.MASKED, self.round, self.index, words.tobytes())

    def _opened(self, who: int, letter: bytes) -> bytes:
        """The shares from a neighbour, if it sealed them for this party and saw the same keys."""
        about = self.round.id + self._keys[who] + self._own_keys
        pair = opened(self._sealing[who], letter, sender=who, receiver=self.index, about=about)
        if pair is None:
            raise MessageRejected(
                f"the letter from party {who} cannot be opened",
                why="it was changed on the way, or the two parties received different keys",
                fix="start another round",
            )
        return pair

    # ---- 4

    @step
    def confirm(self, survivors: bytes) -> bytes:
        """A code for each neighbour that is left: this party was told the same, or they find out.

        Refused if too few vectors arrived for the noise that was promised, or if this party's own
        is said to be missing. There is no second answer, whatever is asked.
        """
        self._turn(Kind.CONFIRMED)
        payload = self._addressed(survivors, Kind.SURVIVORS)
        there = wire.read_bitmap(payload, count=self.round.parties)
        if self.index not in there:
            raise MessageRejected(
                "the coordinator says that this party's vector is missing, but it was sent"
            )
        if len(there) < self.round.least:
            raise MessageRejected(
                f"{len(there)} vectors arrived, and {self.round.least} are needed",
                why="with fewer, the sum would carry less noise than was promised",
            )
        if any(who in there and who not in self._pairs for who in self._near):
            raise MessageRejected(
                "the coordinator lists a party that sent a vector but did not share its secrets"
            )
        codes = {
            who: self._code(payload, sender=self.index, receiver=who)
            for who in self._pairs
            if who in there
        }
        self._told, self._there, self._next = payload, frozenset(there), Kind.REVEALED
        return wire.written(Kind.CONFIRMED, self.round, self.index, wire.table(codes))

    def _code(self, told: bytes, *, sender: int, receiver: int) -> bytes:
        other = receiver if sender == self.index else sender
        ways = sender.to_bytes(4, "big") + receiver.to_bytes(4, "big")
        return code(self._sealing[other], b"survivors", self.round.id, ways, told)

    # ---- 5

    @step
    def reveal(self, confirmations: bytes) -> bytes:
        """For each neighbour one share: of its seed if its vector arrived, of its key if not.

        Refused unless enough neighbours confirm that they were told the same.
        """
        with spending():  # the others may have revealed theirs
            return self._revealed(confirmations)

    def _revealed(self, confirmations: bytes) -> bytes:
        self._turn(Kind.REVEALED)
        payload = self._addressed(confirmations, Kind.CONFIRMATIONS)
        known = [who for who in self._pairs if who in self._there]
        codes = wire.read_table(payload, size=CODE_BYTES, known=known)
        for who, given in codes.items():
            if not same(given, self._code(self._told, sender=who, receiver=self.index)):
                raise MessageRejected(
                    f"party {who} received a different list of survivors",
                    why="a coordinator that tells parties different things could unmask parts",
                )
        self._enough(len(codes))
        shares = {
            who: b"\0" + pair[:SHARE_BYTES] if who in self._there else b"\1" + pair[SHARE_BYTES:]
            for who, pair in self._pairs.items()
        }
        self._pairs, self._next = {}, None
        return wire.written(Kind.REVEALED, self.round, self.index, wire.table(shares))

    # ---- manners

    @property
    def _own_keys(self) -> bytes:
        return self._letters_key.public + self._masks_key.public

    @property
    def _near(self) -> tuple[int, ...]:
        return self.round.near(self.index)

    def _turn(self, kind: Kind) -> None:
        if self._next != kind:
            raise MessageRejected(
                f"party {self.index} cannot do that now: each step is taken once, in order",
                why="two answers to the same step could together reveal what each hides",
                fix=f"it sends {self._next.name} next" if self._next else "start another round",
            )

    def _addressed(self, message: bytes, kind: Kind) -> bytes:
        _, party, payload = wire.read(message, self.round, kind=kind)
        if party != self.index:
            raise MessageRejected(f"this message is for party {party}, not {self.index}")
        return payload

    def _enough(self, count: int) -> None:
        if count < self.round.shape.threshold:
            raise MessageRejected(
                f"only {count} neighbours hold shares; {self.round.shape.threshold} are needed",
                why="fewer masks could be lifted by parties who pool what they know",
            )


def _checked_directory(given: object) -> Mapping[int, bytes] | None:
    if given is None:
        return None
    if isinstance(given, Mapping) and all(isinstance(x, bytes) for x in given.values()):
        return given
    raise BadParameter(
        "directory must be a dict from party number to the public bytes of that party's identity",
        fix="directory={i: each.public for i, each in enumerate(identities)}",
    )


def _check_noise(round_: Round, least: float) -> None:
    if round_.noise is None or round_.noise.of.variance < least:
        raise MessageRejected(
            f"the round does not promise noise of variance {least:g} or more",
            why="the coordinator chooses the noise, and this party accepts no less than least=",
            fix="ask the coordinator for a round with more noise",
        )


def signing(round_: Round, index: int, keys: bytes) -> bytes:
    """What a party signs: these are its keys, for this round alone."""
    return b"deniable secure sum keys" + round_.id + index.to_bytes(4, "big") + keys


def take_keys(keys: bytes, seen: set[bytes]) -> None:
    """Add both public keys to those seen; reject one seen before, or not in canonical form."""
    new = {keys[:KEY_BYTES], keys[KEY_BYTES : 2 * KEY_BYTES]}
    if len(new) != 2 or new & seen or not all(map(is_canonical, new)):
        raise MessageRejected(
            "a public key was announced twice, or is not in its canonical form",
            why="a party that announces another's key as its own may try to cancel masks",
        )
    seen |= new


def commitment(round_: Round, secret: bytes) -> bytes:
    """What binds a party to its seed without telling it."""
    return digest(b"seed", round_.id, secret)


def noisy_words(round_: Round, vector: ArrayLike) -> Words:
    """The clipped vector with one party's share of the noise, in the words of the round."""
    values = clipped(vector, length=round_.length, limit=round_.limit)
    if round_.noise is not None:
        values = np.asarray(round_.noise.share.draw(values))
    size = round_.bits // 8
    return values.astype(f"<i{size}").view(f"<u{size}")
