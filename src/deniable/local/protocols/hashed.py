"""Protocols that hash categories into a few cells: optimised local hashing, count-mean sketch."""

from __future__ import annotations

import hashlib
import math
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from deniable import parameters
from deniable.errors import BadParameter
from deniable.local.estimate import Estimate
from deniable.local.reports import Rows, Tally, as_bytes, as_numbers, impossible
from deniable.mechanisms.local import SupportResponse, UnaryResponse
from deniable.sampling import below

from ._protocol import Protocol, Values
from .bitmaps import CELLS, JOINTLY, simulated_supports

Seeds = NDArray[np.uint64]
SEED = 16  # bytes of a hash function
_PAIRS = 1 << 22  # hashes that are evaluated together


@parameters.made("local.Hashing(categories=1024, epsilon=1.0)")
@dataclass(frozen=True, kw_only=True)
class Hashing(Protocol):
    """Hashing: a hash function of one's own, and a randomized cell. For domains known late.

    g ≈ e^ε + 1 cells; p = e^ε/(e^ε + g − 1), q = 1/g                            [WBLJ17]
    The hash (a·x + b mod 2⁶⁴)/2³² is pairwise independent, so q is exact to 2⁻⁶⁰; a and b are
    drawn by each client and sent along. The server hashes every category for every report, O(n·k):
    `Projective` has the same precision without that.

    >>> Hashing(categories=1000, epsilon=1.0).cells
    4
    """

    name: ClassVar[str] = "hashing"

    @cached_property
    def cells(self) -> int:
        """g, the better of the whole numbers around e^ε + 1."""
        exact = math.exp(min(self.epsilon, 15.0)) + 1
        around = {math.floor(exact), math.ceil(exact)}  # 2 at least

        def variance(g: int) -> float:
            p = (exact - 1) / (exact - 1 + g - 1)
            return (g - 1) / (g * p - 1) ** 2

        return min(around, key=variance)

    @cached_property
    def randomizer(self) -> SupportResponse:
        """Randomized response over the cells."""
        return SupportResponse(epsilon=self.epsilon, reports=self.cells, support=1)

    @cached_property
    def chances(self) -> tuple[Fraction, Fraction]:
        """Another category is in any cell with the same probability."""
        return self.randomizer.chance, Fraction(1, self.cells)

    @property
    def payload(self) -> int:
        """The hash function and the cell."""
        return SEED + -(-(self.cells - 1).bit_length() // 8)

    def draw(self, values: Values) -> Rows:
        """A fresh hash function and the randomized cell of the value."""
        seeds = below(1 << 64, 2 * values.size).astype(np.uint64).reshape(-1, 2)
        hashed = own_cells(seeds, values, self.cells)
        cells = (hashed + self.randomizer.places(values.size)) % self.cells
        octets = seeds.astype("<u8").view(np.uint8).reshape(-1, SEED)
        return np.concatenate([octets, as_bytes(cells, self.payload - SEED)], axis=1)

    def check_payloads(self, payloads: Rows) -> None:
        """There are g cells."""
        if len(payloads) and as_numbers(payloads[:, SEED:]).max() >= self.cells:
            raise impossible()

    def tally(self) -> Tally:
        """How many reports support each category."""
        return (np.zeros(self.size, dtype=np.int64),)

    def count(self, tally: Tally, payloads: Rows) -> None:
        """Hash every category for every report."""
        tally[0][:] += supported(payloads, np.arange(self.size), self.cells)

    def simulate(self, true_counts: ArrayLike, *, confidence: float = 0.95) -> Estimate:
        """What a server would estimate if so many people of each category took part.

        Everyone's client code runs if people × categories is at most 2²⁸. Beyond that, each count
        has its exact law, two binomial numbers, and their joint law is that of independent hashes.
        """
        counts = self._made_up(true_counts)
        if self.size * int(counts.sum()) <= JOINTLY:
            return super().simulate(counts, confidence=confidence)
        supports = simulated_supports(counts, self.chances)
        return self.estimate(supports, int(counts.sum()), confidence=confidence)


@parameters.made("local.Sketch(categories=100_000, epsilon=1.0)")
@dataclass(frozen=True, kw_only=True)
class Sketch(Protocol):
    """Sketch: a count-mean sketch. Few public hash functions, and a table the server keeps.

    A client picks one of K public hash functions into m cells and sends its number with the unary
    encoding of the cell. The server keeps a table of K × m counts, for any number of categories;
    the mean over hash functions is corrected for collisions   [ADP17, Pan24]
    The hash functions are polynomials of degree 2 over a prime field, so three categories meet
    independently, and collisions add Σc²/(K·m) to the variance, which the ± includes.

    >>> Sketch(categories=100_000, epsilon=2.0).length
    135
    """

    name: ClassVar[str] = "sketch"

    hashes: int = 1024
    width: int = 1024
    family: int = 0
    """Which hash functions: estimates are unbiased over families, and the ± covers one of them."""

    def __post_init__(self) -> None:
        super().__post_init__()
        object.__setattr__(self, "family", parameters.whole("family", self.family, least=0))
        for field, most in (("hashes", 1 << 16), ("width", 1 << 16)):
            number = parameters.whole(field, getattr(self, field), least=2)
            if number > most:
                raise BadParameter.of(field, number, must=f"at most {most}")
            object.__setattr__(self, field, number)

    @cached_property
    def randomizer(self) -> UnaryResponse:
        """Independent bits over the cells of one hash function."""
        return UnaryResponse(epsilon=self.epsilon, categories=self.width)

    @cached_property
    def chances(self) -> tuple[Fraction, Fraction]:
        """Another category shares the cell with probability 1/m."""
        p, q = self.randomizer.true_bit, self.randomizer.other_bit
        return p, q + (p - q) / self.width

    @property
    def shared(self) -> float:
        """Collisions are shared by everyone who picked the same hash function."""
        return 1.0 / (self.hashes * (self.width - 1))

    @property
    def payload(self) -> int:
        """The number of the hash function, and one bit per cell."""
        return 2 + -(-self.width // 8)

    def draw(self, values: Values) -> Rows:
        """A hash function at random, and the randomized bits of the cell."""
        each = max(1, CELLS // self.width)
        parts = [self._draw(values[i : i + each]) for i in range(0, values.size, each)]
        return np.concatenate(parts)

    def _draw(self, values: Values) -> Rows:
        picked = below(self.hashes, values.size)
        cells = self._cells(picked, values)
        bits = self.randomizer.words(cells).astype("<u8").view(np.uint8)
        return np.concatenate([as_bytes(picked, 2), bits[:, : self.payload - 2]], axis=1)

    def check_payloads(self, payloads: Rows) -> None:
        """There are K hash functions and m cells."""
        unused = 8 * (self.payload - 2) - self.width
        beyond = unused and (payloads[:, -1] >> (8 - unused)).any()
        if len(payloads) and (beyond or as_numbers(payloads[:, :2]).max() >= self.hashes):
            raise impossible()

    def tally(self) -> Tally:
        """The table: how many reports of each hash function have each bit."""
        return (np.zeros((self.hashes, self.width), dtype=np.int64),)

    def count(self, tally: Tally, payloads: Rows) -> None:
        """Add the bits of each report to the row of its hash function."""
        picked = as_numbers(payloads[:, :2])
        each = max(1, CELLS // self.width)
        for i in range(0, len(payloads), each):
            part = payloads[i : i + each, 2:]
            bits = np.unpackbits(part, axis=1, bitorder="little", count=self.width)
            rows, columns = np.nonzero(bits)
            flat = picked[i : i + each][rows] * self.width + columns
            tally[0].reshape(-1)[:] += np.bincount(flat, minlength=tally[0].size)

    def supports(self, tally: Tally, _people: int) -> NDArray[np.int64]:
        """A report supports the categories in the cells whose bits it has."""
        every, total = np.arange(self.size), np.zeros(self.size, dtype=np.int64)
        each = max(1, _PAIRS // self.size)
        for first in range(0, self.hashes, each):
            rows = np.arange(first, min(first + each, self.hashes))[:, None]
            total += tally[0][rows, self._cells(rows, every)].sum(axis=0)
        return total

    def _cells(self, picked: NDArray[np.int64], values: Values) -> NDArray[np.int64]:
        """(a·x² + b·x + c mod 2³¹ − 1) mod m."""
        prime = np.uint64((1 << 31) - 1)
        a, b, c = self._coefficients[:, picked]
        x = values.astype(np.uint64)
        total = ((((a * x + b) % prime) * x) % prime + c) % prime
        return np.asarray(total % np.uint64(self.width), dtype=np.int64)

    @cached_property
    def _coefficients(self) -> Seeds:
        """Public: by SHAKE-128 of the sketch's shape, so that everyone has the same."""
        shape = f"deniable sketch {self.hashes} {self.width} {self.family}".encode()
        words = np.frombuffer(hashlib.shake_128(shape).digest(24 * self.hashes), dtype="<u8")
        reduced: Seeds = words.astype(np.uint64) % np.uint64((1 << 31) - 1)
        return reduced.reshape(3, self.hashes)


def own_cells(seeds: Seeds, values: Values, cells: int) -> NDArray[np.int64]:
    """The cell of each value under its own hash function: multiply-shift [DHKP97, Die96]."""
    hashed = (seeds[:, 0] * values.astype(np.uint64) + seeds[:, 1]) >> np.uint64(32)
    return np.asarray((hashed * np.uint64(cells)) >> np.uint64(32), dtype=np.int64)


def supported(payloads: Rows, candidates: Values, cells: int) -> NDArray[np.int64]:
    """How many reports support each candidate."""
    seeds = np.ascontiguousarray(payloads[:, :SEED]).view("<u8").astype(np.uint64)
    reported = as_numbers(payloads[:, SEED:]).astype(np.uint64)
    keys, total = candidates.astype(np.uint64), np.zeros(candidates.size, dtype=np.int64)
    each = max(1, _PAIRS // max(1, candidates.size))
    for i in range(0, len(seeds), each):
        hashed = seeds[i : i + each, :1] * keys + seeds[i : i + each, 1:]
        hashed >>= np.uint64(32)
        hashed *= np.uint64(cells)
        hashed >>= np.uint64(32)
        total += np.count_nonzero(hashed == reported[i : i + each, None], axis=0)
    return total
