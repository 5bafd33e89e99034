"""One round of a secure sum: all that is public about it, and what follows from that alone."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from math import inf, nextafter
from typing import Any

import numpy as np
from numpy.typing import NDArray

from deniable import parameters
from deniable.errors import BadParameter, MessageRejected
from deniable.mechanisms import Mechanism, Skellam, SkellamL2, SkellamShares

from .graph import Shape, around, failing, ring, shape_of
from .keys import digest, seed
from .turns import SPENT
from .vectors import beyond

VERSION = 2
NONCE_BYTES = 16
ID_BYTES = 16
LEAST = {"parties": 2, "length": 1, "limit": 1, "dropouts": 0, "colluding": 0}
MOST = {"parties": 10**6, "length": 2**27}
MOST_EDGES = 2**27
"""An announcement comes from somebody else; more would exhaust the memory of whoever reads it."""
_NOISES = {(SkellamShares.name, each.name) for each in (Skellam, SkellamL2)}
"""To build any other mechanism that an announcement names could take for ever."""
LIKELIEST = 2**-20
"""How often a ring may fail at most: it is part of δ."""


@parameters.made("secure.Round(parties=5, length=3, limit=1000)")
@dataclass(frozen=True, kw_only=True)
class Round:
    """The public facts of one round. Every party has the same, and messages are bound to them.

    `parties` vectors of `length` whole numbers from −limit to limit are added in words of 32 or 64
    `bits`. Up to `dropouts` parties may vanish, and up to `colluding` may pool what they know with
    the coordinator. With `noise` every party adds its share before masking. A round is run once:
    its `nonce` is new.

    With more than 64 parties, `chance` allows a sparser ring that may fail to protect a party, with
    a probability of at most `failing`, provided that nobody chooses who colludes or drops out by
    the order of the ring, nor the `nonce`, which is that order: who announces a round and colludes
    could try 1/`failing` of them. Add `failing` to the δ of the sum.

    >>> Round(parties=5, length=3, limit=1000, dropouts=1, colluding=1).shape.threshold
    3
    """

    parties: int
    length: int
    limit: int = 2**31 - 1
    dropouts: int = 0
    colluding: int = 0
    noise: SkellamShares | None = None
    chance: float | None = None
    nonce: bytes = field(default_factory=lambda: seed()[:NONCE_BYTES])

    def __post_init__(self) -> None:
        for name, least in LEAST.items():
            given = parameters.whole(name, getattr(self, name), least=least)
            object.__setattr__(self, name, given)  # an int, also of NumPy's integers
        for name, most in MOST.items():
            if getattr(self, name) > most:
                raise BadParameter.of(name, getattr(self, name), must=f"at most {most:,}")
        nonce: object = self.nonce
        if not isinstance(nonce, bytes) or len(nonce) != NONCE_BYTES:
            raise BadParameter(f"a nonce has {NONCE_BYTES} bytes")
        self._check_noise()
        if self.chance is not None:
            object.__setattr__(self, "chance", parameters.positive("chance", self.chance))
            if self.chance > LIKELIEST:
                raise BadParameter.of("chance", self.chance, must="at most 2⁻²⁰")
        if self.reach >= 2**63:
            raise BadParameter.of(
                "limit", self.limit, must="so small that the sum of all parties fits in 64 bits"
            )
        if self.parties * self.shape.degree > MOST_EDGES:
            raise BadParameter(
                f"{self.parties:,} parties with {self.shape.degree:,} neighbours each are too many",
                fix="fewer parties, dropouts or colluding",
            )

    def _check_noise(self) -> None:
        if self.noise is None:
            return
        if not isinstance(self.noise, SkellamShares):
            must, fix = "shares of Skellam noise", f"SkellamShares(of=..., parties={self.parties})"
            raise BadParameter.of("noise", self.noise, must=must, fix=fix)
        if self.noise.of.sensitivity >= 2**63:
            raise BadParameter("the sensitivity of the noise must be below 2⁶³")
        promised = (self.noise.parties, self.noise.dropouts, self.noise.colluding)
        if promised != (self.parties, self.dropouts, self.colluding):
            raise BadParameter(
                "the noise shares are made for other numbers of parties, dropouts or colluding",
                why="the price counts on the shares of those who stay and do not collude",
                fix=f"SkellamShares(of=..., parties={self.parties}, dropouts={self.dropouts}, "
                f"colluding={self.colluding})",
            )

    @cached_property
    def shape(self) -> Shape:
        """How many neighbours each party has, and the threshold of its secrets."""
        return shape_of(
            parties=self.parties,
            dropouts=self.dropouts,
            colluding=self.colluding,
            chance=self.chance,
        )

    @cached_property
    def failing(self) -> float:
        """At most how often the order of the ring leaves a party exposed: 0 unless by `chance`."""
        counts = {"dropouts": self.dropouts, "colluding": self.colluding}
        if self.shape.degree in (self.parties - 1, ring(**counts).degree):
            return 0.0
        return nextafter(float(failing(self.shape, parties=self.parties, **counts)), inf)

    @cached_property
    def reach(self) -> int:
        """No sum is further from 0, but for noise rarer than 10⁻¹²: then it wraps around."""
        noise = 0.0 if self.noise is None else self.noise.error(1 - 1e-12, coordinates=self.length)
        return self.parties * self.limit + int(noise)

    @cached_property
    def bits(self) -> int:
        """Words of 32 bits where every sum fits, else of 64."""
        return 32 if self.reach < 2**31 else 64

    def summed(self, words: NDArray[Any]) -> NDArray[np.int64]:
        """The sum that words stand for; rejected where no honest parties can have sent it.

        Masks hide what each party sent. Their sum is all there is to check: if a number of it is
        further from 0 than `reach`, somebody sent numbers beyond the limit.
        """
        found = words.view(f"<i{self.bits // 8}").astype(np.int64)
        if ((found > self.reach) | (found < -self.reach)).any():
            raise beyond(self.reach, cost=SPENT)
        return found

    @property
    def least(self) -> int:
        """With fewer parties left, the noise would not suffice: nobody unmasks anything then."""
        return self.parties - self.dropouts

    @property
    def agreed(self) -> bool:
        """Whether parties find out a coordinator that tells them different things: see `party`."""
        everyone = self.shape.degree == self.parties - 1
        return everyone and self.parties > 2 * self.dropouts + self.colluding + 1

    @cached_property
    def id(self) -> bytes:
        """16 bytes that stand for all of this; part of every message."""
        return digest(b"deniable secure sum round", self.to_bytes())[:ID_BYTES]

    @cached_property
    def seats(self) -> tuple[list[int], dict[int, int]]:
        """The parties in the order of the ring, and the seat of each."""
        hashed = [digest(self.id, i.to_bytes(4, "big")) for i in range(self.parties)]
        order = sorted(range(self.parties), key=hashed.__getitem__)
        return order, {party: seat for seat, party in enumerate(order)}

    def near(self, party: int) -> tuple[int, ...]:
        """Those whom a party masks with; found for one at a time, as all may exceed the memory."""
        order, seats = self.seats
        return around(order, seats[party], self.shape.degree)

    def prepare(self) -> None:
        """Compute all that follows from the public facts, before anything is charged or read."""
        _ = self.id, self.bits, self.seats

    # ---- records

    def to_bytes(self) -> bytes:
        """The announcement of the round: canonical JSON, UTF-8."""
        record: dict[str, object] = {
            "version": VERSION,
            "parties": self.parties,
            "length": self.length,
            "limit": self.limit,
            "dropouts": self.dropouts,
            "colluding": self.colluding,
            "noise": None if self.noise is None else self.noise.to_dict(),
            "nonce": self.nonce.hex(),
        }
        if self.chance is not None:
            record["chance"] = self.chance
        return json.dumps(record, sort_keys=True, separators=(",", ":")).encode()

    @classmethod
    def from_bytes(cls, announcement: bytes) -> Round:
        """The round that `to_bytes` announced; refused unless it is written in the same way."""
        try:
            record = json.loads(announcement)
            made = cls._from_record(record)
        except (ValueError, TypeError, KeyError, AttributeError, RecursionError):
            raise MessageRejected("this is not the announcement of a round") from None
        if made.to_bytes() != announcement:
            raise MessageRejected("this announcement of a round is not in canonical form")
        return made

    @classmethod
    def _from_record(cls, record: Mapping[str, Any]) -> Round:
        if record["version"] != VERSION:
            raise MessageRejected(f"this deniable takes part in rounds of version {VERSION} only")
        noise = record["noise"]
        if noise is not None and (noise["mechanism"], noise["of"]["mechanism"]) not in _NOISES:
            raise MessageRejected("the noise of a round is made of Skellam shares")
        made = None if noise is None else Mechanism.from_dict(noise)
        names = ("parties", "length", "limit", "dropouts", "colluding")
        facts = {name: record[name] for name in names}
        facts |= {"chance": record.get("chance"), "noise": made}
        return cls(nonce=bytes.fromhex(str(record["nonce"])), **facts)
