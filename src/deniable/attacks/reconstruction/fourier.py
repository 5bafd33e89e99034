"""The Fourier attack: n fixed questions, and one fast transform, for a million people [DY08].

Question k counts the people i for whom the parity of the bits of i & k is even: the +1 entries of a
row of the Hadamard matrix H. With N = a₀ people of the kind in all, H x = 2a − N, and x = H(2a −
N)/n: noise of size E in the answers becomes 2E/√n in the bits.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from deniable.attacks.tables import Floats
from deniable.errors import BadParameter


def hadamard_counts(bits: ArrayLike) -> Floats:
    """The exact answers to the n questions; the number of bits is a power of two.

    >>> hadamard_counts([1, 0, 1, 1])
    array([3., 2., 1., 2.])
    """
    values = _whole_power("bits", bits)
    return np.asarray((walsh_hadamard(values) + values.sum()) / 2)


def decode_hadamard(answers: ArrayLike) -> Floats:
    """The bits before rounding, from noisy answers to the n questions.

    >>> decode_hadamard(hadamard_counts([1, 0, 1, 1]))
    array([1., 0., 1., 1.])
    """
    counts = _whole_power("answers", answers)
    return walsh_hadamard(2 * counts - counts[0]) / counts.size


def walsh_hadamard(values: Floats) -> Floats:
    """H x by products with small Hadamard matrices, 32 rows at a time: n log n steps."""
    from scipy.linalg import hadamard

    result = values
    left, size = values.size.bit_length() - 1, values.size
    while left > 0:
        take = min(5, left)
        small = hadamard(1 << take).astype(np.float64)
        # The axis that is done goes last: after all of them the order is the first again.
        result = (small @ result.reshape(1 << take, -1)).T.reshape(size)
        left -= take
    return result


def _whole_power(name: str, values: ArrayLike) -> Floats:
    array = np.asarray(values, dtype=np.float64).reshape(-1)
    if array.size < 2 or array.size & (array.size - 1):
        raise BadParameter(
            f"the Fourier attack takes a power of two of {name}; fill up with people who are 0"
        )
    return array
