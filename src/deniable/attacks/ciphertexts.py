"""Attacks on encryption that is homomorphic and not semantically secure.

A scheme is semantically secure if nobody can tell encryptions of two messages of their own choice
apart [GM84]. The textbook schemes that multiply under encryption are not:

    unpadded RSA     encrypting twice gives the same: encrypt every candidate, and compare
    plain ElGamal    whether gʳ, h and m·hʳ are squares tells whether m is one: two of the three
                     facts are public, so is the third; that halves the candidates

Both also let anyone change a ciphertext in a known way, which is what homomorphic means.

Defended twin: Paillier (`secure.homomorphic.paillier`) draws fresh randomness for every ciphertext,
and telling its messages apart is as hard as telling n-th residues.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from deniable.errors import BadParameter

from .telling import Facts, Told


@dataclass(frozen=True, kw_only=True, eq=False)
class Candidates(Told):
    """Which messages a ciphertext can be of."""

    scheme: str
    before: tuple[int, ...]
    after: tuple[int, ...]

    @property
    def message(self) -> int | None:
        """The message, if only one is left."""
        return self.after[0] if len(self.after) == 1 else None

    def _headline(self) -> str:
        left, all_of_them = len(self.after), len(self.before)
        found = f"; the message is {self.message}" if self.message is not None else ""
        return f"A ciphertext of {self.scheme} leaves {left} of {all_of_them} candidates{found}."

    def _facts(self) -> Facts:
        shown = ", ".join(map(str, self.after[:8])) + (" …" if len(self.after) > 8 else "")
        return [("still possible", shown or "none"), ("secure would be", "all of them")]


def rsa(cipher: int, *, n: int, e: int, candidates: Iterable[int]) -> Candidates:
    """Read an unpadded RSA ciphertext by encrypting every candidate with the public key.

    >>> n = 3233 * 104729
    >>> rsa(pow(1234, 65537, n), n=n, e=65537, candidates=range(2000)).message
    1234
    """
    known = _candidates(candidates)
    matching = tuple(m for m in known if pow(m, e, n) == cipher)
    return Candidates(scheme="unpadded RSA", before=known, after=matching)


def elgamal(
    cipher: tuple[int, int], *, p: int, g: int, h: int, candidates: Iterable[int]
) -> Candidates:
    """Rule out the candidates that are squares where the message is not, or the other way round.

    g must generate all of ℤₚ*. hʳ = gˣʳ is a square unless both x and r are odd, and x is odd if h
    is not a square, r if gʳ is not.
    """
    if _square(g, p):
        raise BadParameter.of("g", g, must="a generator of the whole group, so not a square")
    known = _candidates(candidates)
    blind = _square(h, p) or _square(cipher[0], p)
    message = _square(cipher[1], p) == blind
    matching = tuple(m for m in known if _square(m, p) == message)
    return Candidates(scheme="plain ElGamal", before=known, after=matching)


def _square(number: int, p: int) -> bool:
    """Whether it is a square modulo an odd prime: Jacobi's symbol, by reciprocity."""
    a, n, sign = number % p, p, 1
    while a:
        twos = (a & -a).bit_length() - 1
        a >>= twos
        if twos % 2 and n % 8 in (3, 5):
            sign = -sign
        if a % 4 == n % 4 == 3:
            sign = -sign
        a, n = n % a, a
    return sign == 1


def _candidates(candidates: Iterable[int]) -> tuple[int, ...]:
    known = tuple(candidates)
    if not known or not all(isinstance(m, int) for m in known):
        raise BadParameter("candidates must be whole numbers, at least one")
    return known
