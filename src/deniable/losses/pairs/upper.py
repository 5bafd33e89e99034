"""Rare losses: the integral of `contour` without the part of the law that has no share in δ.

Where few of many samples matter, nearly all of the law lies far below ε and still has nearly all of
M(c), so that the terms of the integral cancel. Split the law of each loss at lᵢ, Σ kᵢ lᵢ ≤ ε: the
product of the lower parts has no loss above ε, and no share in δ(ε). Without it, the integrand is

    Π Mᵢᵏⁱ − Π (Mᵢ − Tᵢ)ᵏⁱ = D·w,   w = 1 − Π (1 − Tᵢ/Mᵢ)ᵏⁱ,

T being the moments of the upper parts. It is again the transform of a measure, so that all that
`contour` says holds for it. Factor by factor it is a sum of products of one T, some M and some
M − T; as |T(z)| ≤ T(c), its modulus is at most its value at c times the product, over all factors
but one, of (|M(z)| + T(c))/(M(c) − T(c)).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Protocol

import numpy as np

from ._pair import ULP, Complexes, Pair, Reals


class Decays(Protocol):
    """What is known about the far end of a line."""

    def decay(self, c: float, t: float) -> float:
        """A bound on |M(c + is)|/M(c) for every s ≥ t, or on what is in its place."""


def upper_parts(pairs: Sequence[tuple[Pair, int]], least: float) -> list[Pair]:
    """The upper parts of all losses, so that the lower ones are at most `least` in sum."""
    each = least * (1 - 1e-9) / sum(times for _, times in pairs)
    parts = [pair.above(each) for pair, _ in pairs] if least > 0 else []
    return [part for part in parts if part is not None] if all(parts) else []


@dataclass(frozen=True)
class Slower:
    """(|M(z)| + T(c))/(M(c) − T(c)) in place of |M(z)|/M(c): above 1 where T is most of M."""

    pair: Pair
    upper: Pair
    c: float

    def decay(self, c: float, t: float) -> float:
        """From that of the pair, and from the share of T."""
        return (self.pair.decay(c, t) + self._share) / max(1 - self._share, 1e-9)

    @cached_property
    def _share(self) -> float:
        z = np.array([complex(self.c)])
        (whole, slip), (part, other) = self.pair.log_mgf(z), self.upper.log_mgf(z)
        return math.exp(min(0.0, float(part[0].real - whole[0].real + slip[0] + other[0])))


class Share:
    """w = 1 − Π (1 − Tᵢ/Mᵢ)ᵏⁱ, built up factor by factor, with bounds on its errors."""

    def __init__(self, z: Complexes) -> None:
        self.z, self.value = z, np.zeros(z.shape, complex)
        self.most, self.error = np.ones(z.shape), np.zeros(z.shape)

    def add(self, upper: Pair, times: int, whole: Complexes, slip: Reals) -> None:
        """One more pair, `times` over."""
        log, error = upper.log_mgf(self.z)
        ratio = np.exp(log - whole)
        w = _lost(ratio, times)
        size = np.expm1(np.minimum(times * np.log1p(np.abs(ratio)), 600.0))
        slips = np.expm1(np.minimum(times * (error + slip) + 64 * ULP * (8 + times), 600.0))
        self.error = self.error * (1 + size) + size * self.most * (slips + 8 * ULP)
        self.most = self.most * (1 + size)
        self.error = self.error + 8 * ULP * (self.most - 1)
        self.value = self.value + w - self.value * w

    def of(self, log_d: Complexes, bound: Reals) -> tuple[Complexes, Reals]:
        """D·w in logarithms, with a bound on its relative error."""
        modulus = np.maximum(np.abs(self.value), 1e-290)
        relative = (self.error + 16 * ULP * self.most * np.abs(self.value)) / modulus
        log = np.log(modulus) + 1j * np.angle(self.value)
        return log_d + log, bound + np.log1p(relative) + 8 * ULP * (1 + np.abs(log))


def _lost(ratio: Complexes, times: int) -> Complexes:
    """1 − (1 − x)ᵏ, by its series where that would cancel."""
    near = times * np.abs(ratio) < 0.1
    x, term, total = np.where(near, ratio, 0.0), np.ones(ratio.shape, complex), 0.0 * ratio
    for j in range(1, 14):
        term = -term * x * (times - j + 1) / j
        total = total - term
    return np.where(near, total, 1 - (1 - np.where(near, 0.0, ratio)) ** times)
