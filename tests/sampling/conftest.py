"""Sources that say what comes next, and mpmath as the oracle."""

import numpy as np
import pytest

from deniable.sampling.source import Source

# 0.0101…₂ = 1/3: a uniform whose further words are all this one is (value + 1/3)·2⁻ʷⁱᵈᵗʰ.
THIRD = 0x5555555555555555


class Scripted(Source):
    """Hands out the given words in order, then the word `then` for ever; counts what it gave."""

    def __init__(self, words=(), *, then=THIRD):
        self.script = [int(word) for word in words]
        self.then = then
        self.drawn = 0

    def words(self, count):
        start = self.drawn
        self.drawn += count
        known = self.script[start : start + count]
        words = np.array(known + [self.then] * (count - len(known)), dtype=np.uint64)
        words.flags.writeable = False
        return words


@pytest.fixture
def scripted():
    """The class of scripted sources."""
    return Scripted


@pytest.fixture
def bad_numbers():
    """What no scale, probability or count may be."""
    return [
        0,
        -1,
        -0.5,
        float("nan"),
        float("inf"),
        -float("inf"),
        True,
        "1",
        None,
        [1.0],
        1j,
        1e-300,
    ]
