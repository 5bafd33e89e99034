"""Paillier's cryptosystem, packed: the product of ciphertexts encrypts the sum of vectors [Pai99].

Encryption of m is (1 + n)^m·r^n mod n² with r uniform and coprime to n: without the factors of n it
is as hard to tell from a random number as n-th residues are. A plaintext has as many bits as n, so
it holds dozens of counters side by side, each wide enough for the sum over all parties.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property, reduce
from math import gcd
from operator import add

import numpy as np
from numpy.typing import ArrayLike, NDArray

from deniable import parameters
from deniable.errors import BadParameter, MissingExtra
from deniable.sampling import below, current
from deniable.secure.vectors import beyond, clipped

try:
    import gmpy2
except ImportError:
    raise MissingExtra.of("gmpy2", extra="homomorphic") from None

LEAST_BITS = 3072
"""About as hard to break as AES-128."""


@dataclass(frozen=True, kw_only=True)
class PublicKey:
    """Encrypts vectors of `length` numbers from −limit to limit, of which `parties` are added."""

    n: int
    parties: int
    length: int
    limit: int

    def __post_init__(self) -> None:
        for name in ("parties", "length", "limit"):
            object.__setattr__(self, name, parameters.whole(name, getattr(self, name)))
        if self.parties * self.limit >= 2**63:
            raise BadParameter.of("limit", self.limit, must="so small that a sum fits in 64 bits")
        if parameters.whole("n", self.n).bit_length() < LEAST_BITS:
            raise BadParameter.of("n", self.n.bit_length(), must=f"of at least {LEAST_BITS} bits")

    @property
    def slot(self) -> int:
        """Bits for one counter, 64 at most: the sum of all parties, each moved up by `limit`."""
        return (2 * self.limit * self.parties).bit_length()

    @property
    def packed(self) -> int:
        """Counters in one ciphertext."""
        return (self.n.bit_length() - 1) // self.slot

    def encrypt(self, vector: ArrayLike) -> Encrypted:
        """The vector under encryption; numbers beyond ±limit are clipped to it."""
        values = clipped(vector, length=self.length, limit=self.limit)
        moved = [value + self.limit for value in values.tolist()]
        square = self.n * self.n
        ciphers = []
        for start in range(0, self.length, self.packed):
            plain = 0
            for value in reversed(moved[start : start + self.packed]):
                plain = plain << self.slot | int(value)
            blind = gmpy2.powmod(self.coprime(), self.n, square)
            ciphers.append(int((1 + self.n * plain) * blind % square))
        return Encrypted(key=self, ciphers=tuple(ciphers), added=1)

    def coprime(self) -> int:
        """A random number that has an inverse modulo n."""
        while True:
            r = int(below(self.n, 1)[0])
            if gcd(r, self.n) == 1:
                return r


@dataclass(frozen=True, kw_only=True)
class Encrypted:
    """A vector under encryption, or the sum of several; `+` adds without any key."""

    key: PublicKey
    ciphers: tuple[int, ...]
    added: int

    def __post_init__(self) -> None:
        square, wanted = self.key.n**2, -(-self.key.length // self.key.packed)
        given: tuple[object, ...] = self.ciphers
        good = all(isinstance(c, int) and 0 < c < square and gcd(c, self.key.n) == 1 for c in given)
        if len(self.ciphers) != wanted or not good or not 0 < self.added <= self.key.parties:
            raise BadParameter("these are not ciphertexts of this key, or too many were added")

    def __add__(self, other: Encrypted) -> Encrypted:
        if other.key != self.key:
            raise BadParameter("only vectors under the same key can be added")
        square = self.key.n**2
        pairs = zip(self.ciphers, other.ciphers, strict=True)
        product = tuple(int(gmpy2.mpz(a) * b % square) for a, b in pairs)
        return Encrypted(key=self.key, ciphers=product, added=self.added + other.added)

    @classmethod
    def sum(cls, parts: Sequence[Encrypted]) -> Encrypted:
        """All of them added, with fresh randomness: it shows nothing of how they were made."""
        if not parts:
            raise BadParameter("a sum needs at least one vector")
        total = reduce(add, parts)
        square = total.key.n**2
        fresh = tuple(
            int(c * gmpy2.powmod(total.key.coprime(), total.key.n, square) % square)
            for c in total.ciphers
        )
        return cls(key=total.key, ciphers=fresh, added=total.added)


@dataclass(frozen=True, kw_only=True)
class PrivateKey:
    """The two primes; whoever has them reads everything under the public key."""

    p: int = field(repr=False)
    q: int = field(repr=False)
    public: PublicKey

    @classmethod
    def generate(
        cls, *, parties: int, length: int, limit: int, bits: int = LEAST_BITS
    ) -> PrivateKey:
        """A new key of so many bits, for sums of vectors as described."""
        bits = parameters.whole("bits", bits, least=LEAST_BITS)
        while True:
            p, q = _prime(bits // 2), _prime(bits - bits // 2)
            if p != q and (p * q).bit_length() == bits and gcd(p * q, (p - 1) * (q - 1)) == 1:
                break
        public = PublicKey(n=p * q, parties=parties, length=length, limit=limit)
        return cls(p=p, q=q, public=public)

    def decrypt(self, total: Encrypted) -> NDArray[np.int64]:
        """The numbers that were added; rejected where no honest parties can have sent them."""
        if total.key != self.public:
            raise BadParameter("these vectors were encrypted for another key")
        slot, packed, moved = self.public.slot, self.public.packed, total.added * self.public.limit
        values, rest = [], 0
        for plain in map(self._plain, total.ciphers):
            values += [plain >> slot * i & (1 << slot) - 1 for i in range(packed)]
            rest |= plain >> slot * packed
        found, unused = values[: self.public.length], values[self.public.length :]
        if rest or any(unused) or max(found) > 2 * moved:
            raise beyond(moved)
        return np.array([value - moved for value in found], dtype=np.int64)

    def _plain(self, cipher: int) -> int:
        """L(c^(p−1) mod p²)·h mod p for both primes, joined by the Chinese remainder theorem."""
        parts = [
            (int(gmpy2.powmod(cipher, prime - 1, prime * prime)) - 1) // prime * helper % prime
            for prime, helper in zip((self.p, self.q), self._helpers, strict=True)
        ]
        lift = (parts[1] - parts[0]) * pow(self.p, -1, self.q) % self.q
        return parts[0] + self.p * lift

    @cached_property
    def _helpers(self) -> tuple[int, int]:
        n = self.public.n

        def helper(prime: int) -> int:
            return pow((int(gmpy2.powmod(1 + n, prime - 1, prime * prime)) - 1) // prime, -1, prime)

        return helper(self.p), helper(self.q)


def _prime(bits: int) -> int:
    """A uniform prime of so many bits whose two highest bits are set."""
    source = current()
    while True:
        candidate = source.integer(bits) | 3 << (bits - 2) | 1
        if gmpy2.is_prime(candidate, 40):
            return candidate
