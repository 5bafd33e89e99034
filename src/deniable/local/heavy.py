"""Heavy hitters: the most frequent of 2⁶⁴ possible values, found prefix by prefix.

Every person reports a prefix of their value, of a length chosen at random, by local hashing. The
server keeps the most frequent prefixes of each length, extends them to the next, and looks at
nothing else [WLJ21]. Each length is reported by other people, so what it says is independent of how
its candidates were found.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from deniable import parameters
from deniable.errors import BadParameter
from deniable.mechanisms.local import SupportResponse, reach
from deniable.sampling import below

from .protocols import Hashing
from .reports import Reporter, Rows, Tally, as_bytes, as_numbers, impossible

Keys = NDArray[np.uint64]

_SEED = 24
_PAIRS = 1 << 22
_LOW = np.uint64((1 << 32) - 1)
_HALF = np.uint64(32)


@dataclass(frozen=True, kw_only=True)
class HeavyHitter:
    """A frequent value, how many have it, and the ±, which holds for all values that are listed."""

    value: int
    count: float
    error: float


@parameters.made("local.HeavyHitters(bits=32, epsilon=2.0)")
@dataclass(frozen=True, kw_only=True)
class HeavyHitters(Reporter[list[HeavyHitter]]):
    """HeavyHitters: the most frequent values of up to 64 bits.

    The first prefix has `start` bits, each next one `step` more; `keep` of each length survive.

    >>> p = HeavyHitters(bits=32, epsilon=4.0)
    >>> found = p.server().add(p.encode_all([123456789] * 20_000)).estimate()
    >>> found[0].value
    123456789
    """

    name: ClassVar[str] = "heavy_hitters"

    bits: int
    start: int = 8
    step: int = 4
    keep: int = 32

    def __post_init__(self) -> None:
        super().__post_init__()
        for field, least, most in (("bits", 2, 64), ("start", 1, 20), ("step", 1, 12)):
            number = parameters.whole(field, getattr(self, field), least=least)
            if number > most:
                raise BadParameter.of(field, number, must=f"at most {most}")
            object.__setattr__(self, field, number)
        object.__setattr__(self, "keep", parameters.whole("keep", self.keep))

    @cached_property
    def lengths(self) -> tuple[int, ...]:
        """The lengths of prefixes that are reported."""
        longer = range(min(self.start, self.bits), self.bits, self.step)
        return (*longer, self.bits)

    @cached_property
    def cells(self) -> int:
        """As many as local hashing has."""
        return Hashing(categories=2, epsilon=self.epsilon).cells

    @cached_property
    def randomizer(self) -> SupportResponse:
        """Randomized response over the cells."""
        return SupportResponse(epsilon=self.epsilon, reports=self.cells, support=1)

    @property
    def payload(self) -> int:
        """The number of the length, the hash function, the cell."""
        return 1 + _SEED + -(-(self.cells - 1).bit_length() // 8)

    def numbered(self, values: object) -> Keys:
        """Values as 64-bit numbers."""
        array = np.asarray(values)
        listed = values if array.dtype.kind == "f" and isinstance(values, list | tuple) else ()
        if listed and all(isinstance(each, int) and each >= 0 for each in listed):
            array = np.array(listed, dtype=np.uint64)  # some are above 2⁶³: NumPy made floats
        whole = array.dtype.kind == "u" or (array.dtype.kind == "i" and (array >= 0).all())
        small = not array.size or (whole and int(array.max()) >> self.bits == 0)
        if array.ndim != 1 or not small:
            raise BadParameter(
                f"values must be whole numbers from 0, of at most {self.bits} bits",
                fix='int.from_bytes(text.encode()[:8].ljust(8), "big")    (texts, with bits=64)',
            )
        return array.astype(np.uint64)

    def draw(self, values: NDArray[Any]) -> Rows:
        """A length at random, and the randomized cell of the prefix."""
        level = below(len(self.lengths), values.size)
        shift = (self.bits - np.array(self.lengths)).astype(np.uint64)[level]
        seeds = below(1 << 64, 3 * values.size).astype(np.uint64).reshape(-1, 3)
        hashed = _cells(seeds, values >> shift, self.cells).astype(np.int64)
        cells = (hashed + self.randomizer.places(values.size)) % self.cells
        octets = seeds.astype("<u8").view(np.uint8).reshape(-1, _SEED)
        parts = [as_bytes(level, 1), octets, as_bytes(cells, self.payload - 1 - _SEED)]
        return np.concatenate(parts, axis=1)

    def check_payloads(self, payloads: Rows) -> None:
        """A known length and a cell."""
        cells = as_numbers(payloads[:, 1 + _SEED :])
        if len(payloads) and (
            payloads[:, 0].max() >= len(self.lengths) or cells.max() >= self.cells
        ):
            raise impossible()

    def tally(self) -> Tally:
        """The reports themselves, as they are looked at length by length."""
        return (np.empty(0, dtype=object),)

    def count(self, tally: Tally, payloads: Rows) -> None:
        (kept,) = tally
        kept.resize(kept.size + 1, refcheck=False)
        kept[-1] = payloads.copy()

    def join(self, tally: Tally, other: Tally) -> None:
        """Keep the other server's reports, too."""
        for payloads in other[0]:
            self.count(tally, payloads)

    def estimated(self, tally: Tally, people: int, *, confidence: float) -> list[HeavyHitter]:
        """The values that survive, the most frequent first."""
        reports = np.concatenate([np.empty((0, self.payload), dtype=np.uint8), *tally[0]])
        candidates = np.arange(1 << self.lengths[0], dtype=np.uint64)
        counts, looked_at = np.zeros(0), 1
        for level, length in enumerate(self.lengths):
            if level:
                grown = np.uint64(length - self.lengths[level - 1])
                ends = np.arange(1 << int(grown), dtype=np.uint64)
                candidates = ((candidates[:, None] << grown) | ends).ravel()
            counts = self._counted(reports[reports[:, 0] == level, 1:], candidates, people)
            best = np.argsort(-counts, kind="stable")[: self.keep]
            looked_at, candidates, counts = candidates.size, candidates[best], counts[best]
        # For all that were looked at together: the largest of many is large by chance, too.
        z, terms = (
            reach.deviations(confidence, among=looked_at),
            reach.variance(self._chances, people),
        )
        off = reach.steps(self._chances, z)
        error = reach.widest(counts, people, z=z, off=off, terms=terms)
        listed = zip(candidates.tolist(), counts.tolist(), error.tolist(), strict=True)
        return [HeavyHitter(value=v, count=c, error=e) for v, c, e in listed if c > 0]

    @property
    def _chances(self) -> tuple[float, float]:
        d = len(self.lengths)
        return float(self.randomizer.chance) / d, 1 / self.cells / d

    def _counted(self, reports: Rows, candidates: Keys, people: int) -> NDArray[np.float64]:
        """Unbiased counts of the candidates among all people."""
        seeds = np.ascontiguousarray(reports[:, :_SEED]).view("<u8").astype(np.uint64)
        cells = as_numbers(reports[:, _SEED:]).astype(np.uint64)
        total = np.zeros(candidates.size, dtype=np.int64)
        each = max(1, _PAIRS // candidates.size)
        for i in range(0, len(seeds), each):
            hashed = _cells(seeds[i : i + each, None], candidates, self.cells)
            total += np.count_nonzero(hashed == cells[i : i + each, None], axis=0)
        p, q = self._chances
        return np.asarray((total - people * q) / (p - q))


@parameters.called("local.heavy_hitters(values, bits=32, epsilon=2.0)")
def heavy_hitters(
    values: ArrayLike, *, bits: int, epsilon: float, top: int = 20, confidence: float = 0.95
) -> list[HeavyHitter]:
    """The most frequent values, where everyone's client and the server run in this process.

    To plan a collection, or where the values are on one machine; a deployment uses `HeavyHitters`.
    The last of those that are listed may be noise: a value is there for sure (at the confidence
    given, all of them together) if its count is above its ±.

    >>> heavy_hitters([7] * 9000 + [3] * 6000, bits=16, epsilon=4.0, top=1)[0].value
    7
    """
    keep = max(32, 2 * parameters.whole("top", top))
    p = HeavyHitters(bits=bits, epsilon=epsilon, keep=keep)
    return p.server().add(p.encode_all(values)).estimate(confidence=confidence)[:top]


def _cells(seeds: Keys, keys: Keys, cells: int) -> Keys:
    """(a·low + b·high + c mod 2⁶⁴)/2³², which is pairwise independent [Die96], in g cells."""
    hashed = seeds[..., 0] * (keys & _LOW) + seeds[..., 1] * (keys >> _HALF) + seeds[..., 2]
    return np.asarray(((hashed >> _HALF) * np.uint64(cells)) >> _HALF)
