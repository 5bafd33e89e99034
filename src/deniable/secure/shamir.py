"""Shamir's secret sharing: any `threshold` shares tell a secret, and fewer tell nothing [Sha79].

The secret is the value at 0 of a polynomial of degree threshold − 1 with uniform coefficients,
modulo a prime above 2²⁵⁶, so that 32 bytes fit; a share is its value at another place.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from itertools import accumulate
from math import prod
from operator import mul

from deniable.errors import MessageRejected
from deniable.sampling import below

PRIME = 2**256 + 297
SHARE_BYTES = 33


def split(secret: bytes, *, places: Sequence[int], threshold: int) -> list[bytes]:
    """A share of 32 secret bytes for each place, a whole number above 0.

    >>> shares = split(bytes(range(32)), places=[1, 2, 5], threshold=2)
    >>> joined({1: shares[0], 5: shares[2]}, threshold=2) == bytes(range(32))
    True
    """
    coefficients = [int(each) for each in below(PRIME, threshold - 1)]
    start = int.from_bytes(secret, "big")
    shares = []
    for place in places:
        value = 0
        for coefficient in coefficients:  # places are small, so one reduction at the end is cheaper
            value = (value + coefficient) * place
        shares.append(((value + start) % PRIME).to_bytes(SHARE_BYTES, "big"))
    return shares


def joined(shares: Mapping[int, bytes], *, threshold: int) -> bytes | None:
    """The secret that at least `threshold` shares tell; None if they are not shares of 32 bytes.

    Whether it is the right one is for the caller to check, against a key or a commitment.
    """
    if len(shares) < threshold:
        raise MessageRejected(
            f"{len(shares)} shares cannot reconstruct the secret; {threshold} are needed",
            why="too many parties dropped out before they sent their shares",
            fix="wait for more shares, or pay for another round",
        )
    chosen = sorted(shares)[:threshold]
    bottoms = [
        prod((other - place for other in chosen if other != place), start=place) % PRIME
        for place in chosen
    ]
    values = (int.from_bytes(shares[place], "big") for place in chosen)
    total = prod(chosen) * sum(map(mul, values, _inverses(bottoms)))
    total %= PRIME
    return total.to_bytes(32, "big") if total < 1 << 256 else None


def _inverses(numbers: Sequence[int]) -> list[int]:
    """The inverse of each modulo the prime, from one inverse of their product."""
    before = list(accumulate(numbers, lambda product, each: product * each % PRIME, initial=1))
    left, found = pow(before[-1], -1, PRIME), []
    for number, product in zip(reversed(numbers), reversed(before[:-1]), strict=True):
        found.append(left * product % PRIME)
        left = left * number % PRIME
    return found[::-1]


def rebuilt(
    shares: Mapping[int, bytes], *, threshold: int, fits: Callable[[bytes], bool]
) -> bytes | None:
    """The secret that fits, from shares of which some may be wrong; None if none is found.

    Tried are as many shares as the threshold in a row, from each place on and around the end. So
    one wrong share does no harm if there is one to spare, and often several do none.
    """
    places = sorted(shares)
    for start in range(len(places) if len(places) > threshold else 1):
        row = (places + places)[start : start + threshold]
        secret = joined({place: shares[place] for place in row}, threshold=threshold)
        if secret is not None and fits(secret):
            return secret
    return None
