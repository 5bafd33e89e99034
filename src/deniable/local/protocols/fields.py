"""Finite fields and the projective spaces over them.

The elements of a field of pᵐ are numbers 0 … pᵐ − 1, whose digits in base p are the coefficients of
a polynomial modulo an irreducible one. A point is written with its first nonzero coordinate 1, and
points are numbered by how many free coordinates follow, then by those.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

Integers = NDArray[np.int64]

_LARGEST_VECTORS = 1 << 26  # the server's transform holds as many complex numbers
_NEAR = 1.01


def points(g: int, t: int) -> int:
    """The number of points of the projective space of vectors of t coordinates."""
    return (g**t - 1) // (g - 1) if t > 0 else 0


def geometry(categories: int, grown: float) -> tuple[int, int]:
    """(g, t) with at least as many points as categories: the fewest vectors near the best variance.

    `grown` is e^ε. The variance per report is q(1 − q)/(p − q)², as for every design.
    """
    found: list[tuple[float, int, int, int]] = []
    for g in _prime_powers():
        t = 2
        while points(g, t) < categories:
            t += 1
        b, s, both = (points(g, t - less) for less in range(3))
        inside = s * grown / (s * grown + b - s)
        q = inside * both / s + (1 - inside) * (s - both) / (b - s)
        if g**t <= _LARGEST_VECTORS or g == 2:
            found.append((q * (1 - q) / (inside - q) ** 2, g**t, g, t))
    best = min(found)[0]
    _, g, t = min(each[1:] for each in found if each[0] <= _NEAR * best)
    return g, t


@lru_cache(maxsize=1)
def _prime_powers() -> tuple[int, ...]:
    """Orders of fields up to 512: all primes, and powers up to 64."""
    return tuple(
        g for g in range(2, 512) if (split := _prime_power(g)) and (split[1] == 1 or g <= 64)
    )


def _prime_power(g: int) -> tuple[int, int] | None:
    p = next(d for d in range(2, g + 1) if g % d == 0)
    m = 0
    while g % p == 0:
        g, m = g // p, m + 1
    return (p, m) if g == 1 else None


@dataclass(frozen=True, eq=False)
class Field:
    """Arithmetic by tables."""

    order: int
    characteristic: int
    add: Integers
    multiply: Integers
    negative: Integers
    inverse: Integers

    @staticmethod
    @lru_cache(maxsize=16)
    def of(g: int) -> Field:
        """The field of g elements."""
        split = _prime_power(g)
        assert split is not None
        p, m = split
        a = np.arange(g)
        if m == 1:
            add, multiply = (a[:, None] + a) % p, (a[:, None] * a) % p
        else:
            add, multiply = _extended(p, m)
        negative = np.argmax(add == 0, axis=1)
        inverse = np.argmax(multiply == 1, axis=1)
        return Field(g, p, add, multiply, negative, inverse)

    def inner(self, x: Integers, v: Integers) -> Integers:
        """⟨x, v⟩, column by column."""
        g = self.order
        total = np.zeros(x.shape[1], dtype=np.int64)
        for a, b in zip(x, v, strict=True):
            total = self.add.ravel()[total * g + self.multiply.ravel()[a * g + b]]
        return total

    def minus(self, a: Integers, b: Integers) -> Integers:
        """The differences a − b."""
        return self.add[a, self.negative[b]]

    def normalised(self, v: Integers) -> Integers:
        """The multiples whose first nonzero coordinate is 1."""
        factor = self.inverse[v[leading(v), np.arange(v.shape[1])]]
        return np.stack([self.multiply.ravel()[factor * self.order + each] for each in v])

    def characters(self) -> NDArray[np.complex128]:
        """χ(a·b) for all a, b: a p-th root of unity, by the first coefficient of a·b."""
        turns = (self.multiply % self.characteristic) / self.characteristic
        return np.asarray(np.exp(2j * np.pi * turns), dtype=np.complex128)


def _extended(p: int, m: int) -> tuple[Integers, Integers]:
    """The tables of a field of pᵐ: the first monic polynomial without zero divisors will do."""
    g = p**m
    elements = digits(np.arange(g), p, m).T  # highest coefficient first
    add = from_digits(np.moveaxis((elements[:, None] + elements) % p, 2, 0), p)
    for low in range(1, g):
        modulus = elements[low]
        shifted = elements[None, :, :].repeat(g, axis=0)  # b·zⁱ for each a
        total = np.zeros((g, g, m), dtype=np.int64)
        for i in range(m):
            total = (total + elements[:, None, m - 1 - i, None] * shifted) % p
            carry = shifted[:, :, :1]
            shifted = np.concatenate([shifted[:, :, 1:], np.zeros_like(carry)], axis=2)
            shifted = (shifted - carry * modulus) % p
        multiply = from_digits(np.moveaxis(total, 2, 0), p)
        if np.count_nonzero(multiply == 0) == 2 * g - 1:
            return add, multiply
    raise AssertionError("there is an irreducible polynomial of every degree")


def from_digits(values: Integers, base: int) -> Integers:
    """The numbers with these digits, highest first along the first axis."""
    total: Integers = values[0].astype(np.int64)
    for each in values[1:]:
        total = total * base + each
    return total


def digits(numbers: Integers, base: int, count: int) -> Integers:
    """The digits of numbers, highest first, along the first axis."""
    found = np.empty((count, numbers.size), dtype=np.int64)
    rest = numbers.astype(np.uint64)
    for place in range(count - 1, -1, -1):
        whole = rest // np.uint64(base)  # much quicker than divmod
        found[place] = rest - whole * np.uint64(base)
        rest = whole
    return found


def leading(v: Integers) -> Integers:
    """Where each vector has its first nonzero coordinate."""
    lead = np.zeros(v.shape[1], dtype=np.int64)
    for place in range(len(v) - 1, -1, -1):
        lead[v[place] != 0] = place
    return lead


def vectors(numbers: Integers, g: int, t: int) -> Integers:
    """The points of these numbers, as columns of t coordinates."""
    firsts = np.array([points(g, free) for free in range(t + 1)])
    free = np.searchsorted(firsts, numbers, side="right") - 1
    return digits(numbers - firsts[free] + np.int64(g) ** free, g, t)


def numbers(v: Integers, g: int) -> Integers:
    """The numbers of points with leading 1: the inverse of `vectors`."""
    t = len(v)
    free = t - 1 - leading(v)
    firsts = np.array([points(g, each) for each in range(t)])
    return np.asarray(from_digits(v, g) - np.int64(g) ** free + firsts[free])


def character_sums(counts: Integers, g: int, t: int) -> Integers:
    """Σ_v Σ_{a≠0} χ(a·⟨x, v⟩)·counts[v] for every point x, by one transform per coordinate."""
    field = Field.of(g)
    canonical = vectors(np.arange(counts.size), g, t)
    spread = np.zeros(g**t)
    for a in range(1, g):
        spread[from_digits(field.multiply[a][canonical], g)] = counts
    matrix = field.characters()
    table: NDArray[Any] = spread
    used = matrix if field.characteristic > 2 else matrix.real
    for _ in range(t):  # each time the first coordinate is transformed and becomes the last
        table = (used @ table.reshape(g, -1)).T.reshape(-1)
    sums = table.real[from_digits(canonical, g)]
    return np.asarray(np.rint(sums), dtype=np.int64)
