"""Sums under a lattice scheme: BFV, by tenseal and Microsoft SEAL [FV12].

A ciphertext is a pair of polynomials with small noise that grows with every operation: a little
with a sum, a lot with a product. When it reaches the modulus, decryption returns garbage and
nobody is told. So the scheme is *levelled*: its parameters fix how many products in a row are
right. `depth` measures it. More depth takes larger polynomials; any depth takes bootstrapping.

The parameters are those of the homomorphic encryption standard for 128 bits [ACC18].
"""

from __future__ import annotations

from copy import copy
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from deniable import parameters
from deniable.errors import BadParameter, MissingExtra
from deniable.secure.vectors import beyond, clipped, entries

try:
    import tenseal
except ImportError:
    raise MissingExtra.of("tenseal", extra="homomorphic") from None

MODULUS = 1_073_692_673
"""Plaintexts are numbers modulo this prime, which is 1 modulo 2·8192: one number per slot."""
_SLOTS = 8192


class Lattice:
    """A key pair of BFV for vectors of up to 8,192 numbers per ciphertext.

    Parties are given `public`, which encrypts and cannot decrypt. Ciphertexts are tenseal's, which
    turns them into bytes and back (`serialize`, `tenseal.bfv_vector_from` with the `context`).

    >>> keys = Lattice(parties=2, limit=1000)
    >>> parties = keys.public
    >>> keys.decrypt(parties.encrypt([1, 2]) + parties.encrypt([30, -40]), length=2)
    array([ 31, -38])
    """

    def __init__(self, *, parties: int, limit: int) -> None:
        self.parties = parameters.whole("parties", parties)
        self.limit = parameters.whole("limit", limit)
        if 2 * self.parties * self.limit >= MODULUS:
            raise BadParameter.of("limit", limit, must="so small that sums stay below 2²⁹")
        self.context = tenseal.context(
            tenseal.SCHEME_TYPE.BFV, poly_modulus_degree=_SLOTS, plain_modulus=MODULUS
        )

    @property
    def public(self) -> Lattice:
        """The same without the secret key: what parties are given."""
        other = copy(self)
        other.context = self.context.copy()
        other.context.make_context_public()
        return other

    def encrypt(self, vector: ArrayLike) -> Any:
        """One ciphertext of tenseal; `+` adds two. Numbers beyond ±limit are clipped to it."""
        length = len(entries(vector))
        if not 0 < length <= _SLOTS:
            raise BadParameter(f"the vector must have 1 to {_SLOTS:,} whole numbers")
        values = clipped(vector, length=length, limit=self.limit).tolist()
        return tenseal.bfv_vector(self.context, values)

    def decrypt(self, total: Any, *, length: int) -> NDArray[np.int64]:
        """The numbers that were added; rejected where no honest parties can have sent them."""
        if not self.context.has_secret_key():
            raise BadParameter("only whoever holds the secret key can decrypt")
        if not isinstance(total, tenseal.BFVVector) or total.size() != length:
            raise BadParameter(f"the sum must be a ciphertext of {length} numbers")
        found = np.array(total.decrypt(self.context.secret_key()), dtype=np.int64)
        if np.abs(found).max() > self.parties * self.limit:
            raise beyond(self.parties * self.limit)
        return found


def depth(degree: int = 4096, *, most: int = 12) -> int:
    """How many products in a row a BFV scheme of this degree gets right; garbage after that.

    Each product is compared with the true one, which nobody who lacks the key can do.
    """
    modulus = {4096: 1_032_193, 8192: MODULUS}.get(degree)
    if modulus is None:
        raise BadParameter.of("degree", degree, must="4096 or 8192")
    context = tenseal.context(
        tenseal.SCHEME_TYPE.BFV, poly_modulus_degree=degree, plain_modulus=modulus
    )
    three, product, truth = tenseal.bfv_vector(context, [3]), None, 3
    for right in range(most):
        product = three * three if product is None else product * three
        truth *= 3
        centred = (truth + modulus // 2) % modulus - modulus // 2
        if product.decrypt() != [centred]:
            return right
    return most
