"""Keys that two parties agree on, and what is derived from them: masks and sealed letters.

X25519 agrees on a secret, HKDF-SHA-256 derives a key from it that is bound to the round and to its
use, AES-256 in counter mode expands a key to a mask, and AES-256-GCM seals the shares that one
party sends to another through the coordinator.
"""

from __future__ import annotations

import hmac
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from deniable.errors import MessageRejected, MissingExtra

try:
    from cryptography.exceptions import InvalidSignature, InvalidTag
    from cryptography.hazmat.primitives import constant_time, hashes
    from cryptography.hazmat.primitives.asymmetric.ed25519 import (
        Ed25519PrivateKey,
        Ed25519PublicKey,
    )
    from cryptography.hazmat.primitives.asymmetric.x25519 import X25519PrivateKey, X25519PublicKey
    from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes
    from cryptography.hazmat.primitives.ciphers.aead import AESGCM
    from cryptography.hazmat.primitives.kdf.hkdf import HKDF
except ImportError:
    raise MissingExtra.of("cryptography", extra="secure") from None

Words = NDArray[Any]

KEY_BYTES = 32
TAG_BYTES = 16
SIGNATURE_BYTES = 64
CODE_BYTES = 32


class KeyPair:
    """An X25519 key pair for one round."""

    def __init__(self, private: bytes | None = None) -> None:
        made = X25519PrivateKey.generate() if private is None else None
        self._private = made or X25519PrivateKey.from_private_bytes(private or b"")
        self.public = self._private.public_key().public_bytes_raw()

    @property
    def private(self) -> bytes:
        """The private key, to be shared out among neighbours."""
        return self._private.private_bytes_raw()

    def agreed(self, public: bytes, *, use: bytes, ends: tuple[int, int]) -> bytes:
        """The key that only this party and the owner of the public key can derive.

        `ends` are the number of this party and that of the other. Both numbers and both public keys
        enter the derivation, so the keys of two pairs are independent even if a party announces
        another's public key as its own and the X25519 secrets of the two pairs are equal.
        """
        own, other = (number.to_bytes(4, "big") for number in ends)
        both = b"".join(sorted([own + self.public, other + public]))
        try:
            secret = self._private.exchange(X25519PublicKey.from_public_bytes(public))
        except ValueError:  # a point of small order, which would make every secret the same
            raise MessageRejected(
                "a public key is not a point that keys can be agreed on"
            ) from None
        return HKDF(hashes.SHA256(), KEY_BYTES, salt=None, info=use + both).derive(secret)

    def __repr__(self) -> str:
        return "KeyPair(hidden)"


def is_canonical(public: bytes) -> bool:
    """Whether this is the only encoding of its point: X25519 ignores the top bit and reduces mod p.

    Without this check one point would have several encodings, and equal keys could look different.
    """
    return int.from_bytes(public, "little") < 2**255 - 19


class Identity:
    """A lasting Ed25519 key with which a party signs its keys of every round.

    Whoever knows its `public` bytes from elsewhere can tell that keys are this party's own.
    """

    def __init__(self, private: bytes | None = None) -> None:
        made = Ed25519PrivateKey.generate() if private is None else None
        self._private = made or Ed25519PrivateKey.from_private_bytes(private or b"")
        self.public = self._private.public_key().public_bytes_raw()

    @property
    def private(self) -> bytes:
        """To be kept, and kept secret."""
        return self._private.private_bytes_raw()

    def sign(self, data: bytes) -> bytes:
        """64 bytes that nobody else can make for this data."""
        return self._private.sign(data)

    def __repr__(self) -> str:
        return f"Identity({self.public.hex()[:8]}…; private key hidden)"


def is_signed(public: bytes, signature: bytes, data: bytes) -> bool:
    """Whether the owner of the identity signed the data."""
    try:
        Ed25519PublicKey.from_public_bytes(public).verify(signature, data)
    except (InvalidSignature, ValueError):
        return False
    return True


def code(key: bytes, *parts: bytes) -> bytes:
    """HMAC-SHA-256: what only the holders of a key can say about the parts."""
    return hmac.digest(key, b"".join(parts), "sha256")


def same(one: bytes, other: bytes) -> bool:
    """Whether two codes are equal, in a time that does not tell where they differ."""
    return constant_time.bytes_eq(one, other)


def seed() -> bytes:
    """32 fresh secret bytes, from OpenSSL's generator."""
    return AESGCM.generate_key(256)


def digest(*parts: bytes) -> bytes:
    """SHA-256 of the parts, one after the other."""
    state = hashes.Hash(hashes.SHA256())
    for part in parts:
        state.update(part)
    return state.finalize()


def mask(key: bytes, *, length: int, bits: int) -> Words:
    """The words that a key expands to: AES-256-CTR from counter 0, little-endian.

    Every key is used for one mask only, so the counter may start at 0.
    """
    size = length * bits // 8
    stream = Cipher(algorithms.AES(key), _FROM_ZERO).encryptor()
    return np.frombuffer(stream.update(_zeros(size)), dtype=f"<u{bits // 8}")


_FROM_ZERO = modes.CTR(bytes(16))


@lru_cache(maxsize=4)
def _zeros(size: int) -> bytes:
    return bytes(size)


def sealed(key: bytes, letter: bytes, *, sender: int, receiver: int, about: bytes) -> bytes:
    """The letter, readable and changeable by nobody but the two parties who share the key."""
    return AESGCM(key).encrypt(_nonce(sender, receiver), letter, about)


def opened(key: bytes, letter: bytes, *, sender: int, receiver: int, about: bytes) -> bytes | None:
    """What was sealed; None if it was not sealed so, by this sender, for this receiver."""
    try:
        return AESGCM(key).decrypt(_nonce(sender, receiver), letter, about)
    except InvalidTag:
        return None


def _nonce(sender: int, receiver: int) -> bytes:
    """The two directions are the only two letters under a key, which is new in every round."""
    return sender.to_bytes(6, "big") + receiver.to_bytes(6, "big")
