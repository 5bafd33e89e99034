"""Two schemes that multiply under encryption and are not enough: kept to be attacked, never to use.

Unpadded RSA and ElGamal without encoding are homomorphic for products, which is why lectures start
with them. Neither is semantically secure: a ciphertext tells something about the message to anyone
who has a guess (see `deniable.attacks.ciphertexts`). Padding that repairs RSA destroys the
homomorphism; squares alone repair ElGamal.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from deniable import parameters
from deniable.errors import BadParameter
from deniable.sampling import below

GROUP = int(
    "FFFFFFFFFFFFFFFFC90FDAA22168C234C4C6628B80DC1CD129024E088A67CC74020BBEA63B139B22"
    "514A08798E3404DDEF9519B3CD3A431B302B0A6DF25F14374FE1356D6D51C245E485B576625E7EC6"
    "F44C42E9A637ED6B0BFF5CB6F406B7EDEE386BFB5A899FA5AE9F24117C4B1FE649286651ECE45B3D"
    "C2007CB8A163BF0598DA48361C55D39A69163FA8FD24CF5F83655D23DCA3AD961C62F356208552BB"
    "9ED529077096966D670C354E4ABC9804F1746C08CA18217C32905E462E36CE3BE39E772C180E8603"
    "9B2783A2EC07A28FB5C55DF06F4C52C9DE2BCBF6955817183995497CEA956AE515D2261898FA0510"
    "15728E5A8AACAA68FFFFFFFFFFFFFFFF",
    16,
)
"""The 2048-bit safe prime of RFC 3526."""


@dataclass(frozen=True, kw_only=True)
class UnpaddedRsa:
    """c = mᵉ mod n: the product of ciphertexts is the ciphertext of the product.

    >>> rsa = UnpaddedRsa.generate()
    >>> rsa.decrypt(rsa.encrypt(6) * rsa.encrypt(7) % rsa.n)
    42
    """

    n: int
    e: int
    _d: int = field(repr=False)

    @classmethod
    def generate(cls, bits: int = 2048) -> UnpaddedRsa:
        """A new key, made by `cryptography`."""
        from cryptography.hazmat.primitives.asymmetric import rsa

        bits = parameters.whole("bits", bits, least=1024)
        numbers = rsa.generate_private_key(public_exponent=65537, key_size=bits).private_numbers()
        public = numbers.public_numbers
        return cls(n=public.n, e=public.e, _d=numbers.d)

    def encrypt(self, message: int) -> int:
        """The same ciphertext for the same message, each time: that is the fault."""
        return pow(_within(message, self.n), self.e, self.n)

    def decrypt(self, cipher: int) -> int:
        """The message of a ciphertext."""
        return pow(cipher, self._d, self.n)


@dataclass(frozen=True, kw_only=True)
class PlainElGamal:
    """(gʳ, m·hʳ) in all of ℤₚ*: products again; g is not a square, and that is the fault.

    >>> keys = PlainElGamal.generate()
    >>> a, b = keys.encrypt(6), keys.encrypt(7)
    >>> keys.decrypt((a[0] * b[0] % GROUP, a[1] * b[1] % GROUP))
    42
    """

    h: int
    _x: int = field(repr=False)

    @classmethod
    def generate(cls) -> PlainElGamal:
        """A new key in the group of RFC 3526."""
        x = 1 + int(below(GROUP - 2, 1)[0])
        return cls(h=pow(GENERATOR, x, GROUP), _x=x)

    def encrypt(self, message: int) -> tuple[int, int]:
        """A new ciphertext each time, and yet it tells whether the message is a square."""
        r = 1 + int(below(GROUP - 2, 1)[0])
        return pow(GENERATOR, r, GROUP), _within(message, GROUP) * pow(self.h, r, GROUP) % GROUP

    def decrypt(self, cipher: tuple[int, int]) -> int:
        """The message of a ciphertext."""
        return cipher[1] * pow(cipher[0], GROUP - 1 - self._x, GROUP) % GROUP


GENERATOR = GROUP - 2
"""A generator of all of ℤₚ*: 2 is a square and −1 is not, as p = 7 modulo 8 and (p − 1)/2 is prime.
"""


def _within(message: int, modulus: int) -> int:
    if not 0 < parameters.whole("message", message) < modulus:
        raise BadParameter.of("message", message, must="a whole number below the modulus")
    return message
