"""The moments of sampled losses, by quadrature with a proved error.

With r(m) = 1 − q + q e^m, a sampled loss is ln r(m) when removing and −ln r(m) when adding, where m
is the inner loss (or its negative) as a linear function of some x. Count it from an origin:
D = origin − L. Its moments E e^(−zD) are integrals over x of a density times e^(−zD(x)).

r is analytic and not 0 for |Im m| < π, and at height y = |Im m| ≤ 1, with s = q e^m/r = d ln r/dm:
|r|² = r² (1 − 2s(1 − s)(1 − cos y)), so r² (1 − min(s, ¼) y²) ≤ |r|² ≤ r², and tan arg r =
s sin y/(1 − s + s cos y), so |arg r| ≤ min(1, 1.86 s) y. Therefore Gauss–Legendre with n nodes on
a panel of half-width η errs by at most (64/15) η B ρ^(−2n)/(1 − ρ^(−2)), where B bounds the
integrand in the ellipse that reaches η(ρ + 1/ρ)/2 along and η(ρ − 1/ρ)/2 across
[Tre19, Thm 19.3].
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod

import numpy as np

from ._pair import ULP, Complexes, Reals
from .transform import log_sums, near_and_far

_NODES, _WEIGHTS = np.polynomial.legendre.leggauss(64)
_FEW_NODES, _FEW_WEIGHTS = np.polynomial.legendre.leggauss(16)
_RHO = 3.0
_ALONG = (_RHO + 1 / _RHO) / 2 - 1
_ACROSS = (_RHO - 1 / _RHO) / 2
_GAIN = 128 * math.log(_RHO) + math.log1p(-(_RHO**-2.0)) - math.log(64 / 15)
_PHASE = 40.0
"""Radians in half a panel: e^(1.86 · _ACROSS · _PHASE) is far below ρ^(2n)."""
WIDEST = 0.7
"""The widest half-width of a panel in m: `_ACROSS` of it stays below 1."""
_FAR = 100.0
"""Where the tilted weight is below e^(−100) of its largest, it is bounded and left out."""


def log_mixed(exponent: Reals, rate: float, rest: float | None = None) -> Reals:
    """ln(1 − q + q e^m), right within 16 ulp of itself; `rest` is 1 − q where that would cancel."""
    rest = 1 - rate if rest is None else rest
    held = np.minimum(exponent, 700.0)
    near = rate * np.expm1(held)
    with np.errstate(divide="ignore", under="ignore"):
        # Where 1 + q(e^m − 1) would cancel, both terms of (1 − q) + q e^m are positive.
        value = np.where(
            near > -0.5, np.log1p(np.maximum(near, -0.5)), np.log(rest + rate * np.exp(held))
        )
    return np.where(exponent < 700.0, value, exponent + math.log(rate))


def log_shrinks(slope: Reals, height: Reals) -> Reals:
    """A bound on ln r(Re m)/|r(m)| at |Im m| ≤ height."""
    return -np.log1p(-np.minimum(slope, 0.25) * height**2) / 2


def log_between(ends: float, low: float, high: float, bend: float = 1.0) -> float:
    """ln of a bound on ∫ e^f from low to high, where f″ ≥ −bend and f ≤ `ends` at both."""
    width = high - low
    if width <= 0:
        return -math.inf
    return ends + bend * width**2 / 8 + math.log(width) if width < 1e6 else math.inf


class SampledMoments(ABC):
    """E e^(−zD) as an integral over x, and atoms."""

    @abstractmethod
    def deficits(self, x: Reals) -> Reals:
        """D(x): monotone, and right within 16 ulp of `precision`."""

    @abstractmethod
    def slope(self, x: Reals) -> Reals:
        """|d ln r/dm| at x: monotone, from 0 to 1."""

    @abstractmethod
    def log_weights(self, x: Reals, c: float) -> Reals:
        """ln of the density times e^(−cD)."""

    @abstractmethod
    def log_most(self, low: Reals, high: Reals, across: Reals, c: float) -> Reals:
        """ln of a bound on it, phases apart, for Re x in [low, high] and |Im x| ≤ across."""

    @abstractmethod
    def steepness(self) -> float:
        """The constant |dm/dx|."""

    @abstractmethod
    def limits(self, c: float) -> tuple[float, float, float]:
        """Where to integrate, and the widest half-width of a panel."""

    @abstractmethod
    def log_beyond(self, low: float, high: float, c: float) -> float:
        """ln of a bound on the integral outside of [low, high]."""

    @abstractmethod
    def precision(self, x: Reals) -> Reals:
        """The size of the numbers from which deficits are computed."""

    def point_masses(self) -> tuple[Reals, Reals] | None:
        """Deficits and masses of the atoms."""
        return None

    def log_mgf(self, z: Complexes) -> tuple[Complexes, Reals]:
        """ln E e^(−zD) at points of one line Re z = c > 0, and a bound on its error."""
        return near_and_far(self._log_mgf, z)

    def rough_log_mgf(self, c: float) -> float:
        """About ln E e^(−cD), by fewer nodes; but it is multiplied by counts."""
        edges = self._panels(c, 0.0, points=250)
        middle, half = (edges[1:] + edges[:-1]) / 2, np.diff(edges) / 2
        x = (middle[:, None] + half[:, None] * _FEW_NODES).ravel()
        weights = self.log_weights(x, c) + (np.log(half)[:, None] + np.log(_FEW_WEIGHTS)).ravel()
        atoms = self.point_masses()
        if atoms is not None:
            with np.errstate(divide="ignore"):
                weights = np.append(weights, np.log(atoms[1]) - c * atoms[0])
        top = float(weights.max())
        return top + math.log(float(np.exp(weights - top).sum()))

    def _log_mgf(self, z: Complexes) -> tuple[Complexes, Reals]:
        c, t = float(z[0].real), float(np.abs(z.imag).max())
        edges = self._panels(c, t)
        middle, half = (edges[1:] + edges[:-1]) / 2, np.diff(edges) / 2
        x = (middle[:, None] + half[:, None] * _NODES).ravel()
        log_w = self.log_weights(x, c) + (np.log(half)[:, None] + np.log(_WEIGHTS)).ravel()
        atoms, deficits = self.point_masses(), self.deficits(x)
        if atoms is not None:
            x, deficits = np.append(x, self.limits(c)[:2]), np.append(deficits, atoms[0])
            with np.errstate(divide="ignore"):
                log_w = np.append(log_w, np.log(atoms[1]) - c * atoms[0])
        top = float(log_w.max())
        shares = np.exp(log_w - top)
        whole = float(shares.sum())
        missing = np.append(self._errors(edges, c, t), self.log_beyond(edges[0], edges[-1], c))
        relative = float(np.exp(np.minimum(missing - top, 700.0)).sum()) / whole
        relative += ULP * (64 + 16 * abs(top) + 8 * float((shares * (1 + x**2)).sum()) / whole)
        slips = 32 * ULP * (1 + np.abs(z)) * float((shares * self.precision(x)).sum()) / whole
        return log_sums(-deficits, log_w, z, relative=relative + slips)

    def _errors(self, edges: Reals, c: float, t: float) -> Reals:
        """ln of the bound on each panel's error."""
        half = np.diff(edges) / 2
        low, high = edges[:-1] - _ALONG * half, edges[1:] + _ALONG * half
        across = _ACROSS * half
        steep = np.maximum(self.slope(low), self.slope(high))
        phase = t * np.minimum(1.0, 1.86 * steep) * self.steepness() * across
        return self.log_most(low, high, across, c) + phase + np.log(half) - _GAIN

    def _panels(self, c: float, t: float, points: int = 2001) -> Reals:
        """Edges that bound the phase and the growth within each panel."""
        low, high, widest = self.limits(c)
        table = self.table(low, high, points)
        logs = self.log_weights(table, c)
        likely = np.flatnonzero(logs > logs.max() - _FAR)
        table = table[max(0, likely[0] - 1) : likely[-1] + 2]
        moved = np.abs(self.deficits(table) - self.deficits(table[:1]))
        place = 1.05 * (t + 8 * (1 + c)) / (2 * _PHASE) * moved + (table - table[0]) / (2 * widest)
        count = math.ceil(float(place[-1])) + 1
        return np.interp(np.linspace(0.0, float(place[-1]), count + 1), place, table)

    def table(self, low: float, high: float, points: int) -> Reals:
        """Points between which deficits are nearly linear."""
        return np.linspace(low, high, points)
