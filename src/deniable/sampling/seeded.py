"""Words that repeat: for tests, and for audits that record a run and replay it."""

from __future__ import annotations

import hashlib
import os

import numpy as np

from deniable.errors import SeedOutsideTests
from deniable.parameters import whole

from .source import Source, Words

TESTING = "DENIABLE_TESTING"


class SeededSource(Source):
    """A source whose words are a function of its seed, from SHAKE-128 in counter mode.

    Whoever knows the seed can subtract the noise. So it refuses to exist unless the environment
    says that nobody's data are at stake.
    """

    def __init__(self, seed: int) -> None:
        if os.environ.get(TESTING) != "1":
            raise SeedOutsideTests(
                "seeded noise was requested outside a test",
                why="whoever knows or guesses the seed can subtract the noise",
                fix=(
                    "leave the source out: the operating system's generator is used",
                    f"{TESTING}=1 in the environment, where only made-up data are read",
                ),
            )
        self._key = str(whole("seed", seed, least=0)).encode()
        self._block = 0
        self._rest: Words = np.empty(0, dtype=np.uint64)

    def words(self, count: int) -> Words:
        """The next words of the sequence."""
        parts, have = [self._rest], self._rest.size
        while have < count:
            digest = hashlib.shake_128(self._key + b"/%d" % self._block).digest(8 * 4096)
            self._block += 1
            parts.append(np.frombuffer(digest, dtype="<u8").astype(np.uint64, copy=False))
            have += 4096
        drawn = np.concatenate(parts) if len(parts) > 1 else self._rest
        self._rest = drawn[count:]
        return drawn[:count]
