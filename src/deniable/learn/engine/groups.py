"""Counts, sums and sums of squares of features, by group: of classes, of clusters, or of all rows.

A row adds (1, x, √d·x² − 1/(2√d)) to its group, where ‖x‖ ≤ 1 and every |x| ≤ 1/√d. Squares are
centred, so they are at most 1/(2√d) each and ½ together: a row is at most √(1 + 1 + ¼) = 1.5 long,
and √2 without squares.
"""

from __future__ import annotations

import math
from collections.abc import Generator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from deniable.mechanisms import Step

from .budget import Paid, Part
from .examples import Examples, Held
from .moments import noises
from .spaces import DENSE, Dense, Floats, Integers, chunks, up


@dataclass(frozen=True, kw_only=True)
class Groups:
    """Public: how many groups and features there are, and whether squares are wanted.

    Every feature is within ±1/√d, and clipped to it: rows scaled by bounds alone.
    """

    space: Dense
    groups: int
    squares: bool

    @staticmethod
    def of(held: Held, *, groups: int, squares: bool) -> Groups:
        """Of real features: what is in cells has no sums."""
        assert isinstance(held.space, Dense)
        return Groups(space=held.space, groups=groups, squares=squares)

    @property
    def shape(self) -> tuple[int, int]:
        """A row per group: its count, its sums, its sums of squares."""
        return self.groups, 1 + self.space.dimension * (1 + self.squares)

    @property
    def l2(self) -> float:
        """No row adds more, in whole numbers.

        Floats may make each of d squares larger by 3.5 · 2⁻⁵³ of 2¹³/√d before it is truncated: a
        row by less than 2⁻⁵¹ of its length, and `up` adds 2⁻⁵⁰. The other numbers are exact.
        """
        return up(math.ldexp(1.5 if self.squares else math.sqrt(2), DENSE))

    def sums(self, rows: Examples, groups: NDArray[np.integer]) -> Integers:
        """The sums by group; a row of group −1 is in none."""
        found = np.zeros(self.shape, dtype=np.int64)
        for part in chunks(len(rows.x)):
            some = rows.some(part)
            terms = some.taken(self._terms(some.x.astype(np.float64)))
            chosen = groups[part][:, None] == np.arange(self.groups)
            found += (chosen.T.astype(np.float64) @ terms).astype(np.int64)
        return found

    def _terms(self, x: Floats) -> Floats:
        """What each row adds: whole numbers, each made of one feature by IEEE operations."""
        root = math.sqrt(self.space.dimension)
        end = math.floor(self.space.unit / root)
        x = np.clip(x, -end, end)  # bounds a few floats apart have no middle: x may be beyond
        columns = [np.full((len(x), 1), float(self.space.unit)), x]
        if self.squares:
            columns.append(np.trunc(np.ldexp(x * x, -DENSE) * root - self.space.unit / (2 * root)))
        return np.hstack(columns)

    def parts(self, held: Held, *, times: int = 1) -> list[Part]:
        """What is paid for: the sums, so many times."""
        numbers = math.prod(self.shape)
        return [Part(share=1.0, l2=up(held.rows * self.l2), numbers=numbers, times=times)]

    def measured(
        self, bought: Paid, held: Held
    ) -> Generator[Step[Any], Any, tuple[Floats, Floats, Floats, float]]:
        """Counts, means and variances by group of the targets, by one question; and its noise.

        Means are within the bounds; a variance may be below 0, where noise made it so.
        """
        noisy = yield bought.handle.on(
            held.sum(lambda rows: self.sums(rows, rows.y), l2=self.l2, shape=self.shape)
        )
        count, total, square = self.read(noisy)
        noise = noises(bought.handle)[0].sigma / self.space.unit
        end = 1 / math.sqrt(self.space.dimension)
        centre = np.clip(means(count, total, noise=noise), -end, end)
        return count, centre, means(count, square, noise=noise) - centre**2, noise

    def read(self, noisy: object) -> tuple[Floats, Floats, Floats]:
        """Counts, sums of x and sums of x² by group, in the units of features."""
        numbers = np.asarray(noisy, dtype=np.float64) / self.space.unit
        d = self.space.dimension
        count, total = numbers[:, 0], numbers[:, 1 : 1 + d]
        if not self.squares:
            return count, total, np.zeros_like(total)
        root = math.sqrt(d)
        return count, total, (numbers[:, 1 + d :] + count[:, None] / (2 * root)) / root


def means(count: Floats, total: Floats, *, noise: float) -> Floats:
    """Sums over counts; where noise drowns the count, its noise stands in, which pulls to 0."""
    return total / np.maximum(count, max(noise, 1.0))[:, None]
