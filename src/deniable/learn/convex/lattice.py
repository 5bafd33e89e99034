"""The lattice on which the proximal sampler walks, and what it adds to the distance at most.

Points lie on a lattice of width g, and what is certified is the rounded point. From any
x in K, the ideal pair of draws, rounded, and the pair drawn from the rounded x differ in
total variation by at most the sum of the following, whatever the rows are; over a run
these sums add up (d coordinates, a = 1/η + m, D the diameter, i the inner radius of K):
· x and y are rounded: each moves a normal mean, or the exponent by a linear function, by
  g√d/2: ½·g√d/√(2πη) each (the second by [GLL22]);
· E is taken at the cell's middle. If |h| ≤ κ, densities p and ∝ p·eʰ differ by at most
  κ; ‖∇E‖ ≤ 2bn + mD, and rounding o adds mD: κ ≤ g√d·(bn + mD);
· so are the coins of `restricted.Blocks`, of slope a·tilt·R ≤ d/i + a·dist(c, K) with c
  where proposals aim, and a·dist(c, K) ≤ 3(bn + mD) + √(d/η) + ‖y − x‖/η, as
  ‖p − y‖ ≤ dist(y, K) + 2η(bn + mD) + √(dη) is enforced; E‖y − x‖ ≤ √(dη);
· a point near the boundary is judged by more digits, uniform in its cell instead of
  normal: g√d·(a + λ)·E‖x − c′‖ ≤ g√d·(√(ad)·(1 + λ/a) + d/i), λ/a ≤ η·(slope above)/i;
· on a simplex with the total s, c is moved along the plane's normal, to at most 2s + 2·dist(c, K)
  outside; the coin for the last coordinate has slope 2as√d, and distances within K are at most s:
  all of these are covered by twice the slope above and 16as√d.
`_harm` adds these up, with room to spare, and η is changed until T·harm·g is at most what is
allowed: raised, at the cost of rejections, or lowered, at the cost of more steps.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property

from .domains import Domain, Simplex
from .objectives import Link

_EAGER, _EAGER_AT_CORNERS = 6.0, 8.0  # few rows are at a corner: the bound is further from the rule
_TRIED = (1.0, 1.5, 2.0, 4.0, *(2.0**-k for k in range(1, 25)))  # multiples of η
_BITS = 61  # of a point; differences have one more


@dataclass(frozen=True, kw_only=True)
class Lattice:
    """How far proposals step, how many pairs are drawn, and on which lattice: see the module."""

    domain: Domain
    coordinates: int
    size: float
    mass: float
    weight: float
    ridge: float
    link: Link
    mixing: float
    arithmetic: float

    @cached_property
    def fine(self) -> bool:
        """Whether some η makes the lattice fine enough."""
        return self.missed(self.root) <= self.arithmetic

    def missed(self, root: float) -> float:
        """At most what the lattice adds to the distance, over a run."""
        return self.steps_for(root) * self._harm(root) * self.width_for(root) * (1 + 2.0**-20)

    @cached_property
    def root(self) -> float:
        """√η: the first that makes the lattice fine enough, or just one."""
        tried = [self._root(times) for times in _TRIED]
        return next((root for root in tried if self.missed(root) <= self.arithmetic), tried[0])

    @property
    def steps(self) -> int:
        """T."""
        return self.steps_for(self.root)

    @property
    def width(self) -> float:
        """g, a power of two: as fine as whole numbers of 61 bits allow."""
        return self.width_for(self.root)

    @property
    def bend(self) -> float:
        """At least the trace of the curvature of the sum: `mass` is Σ‖aᵢ‖², or at least that."""
        return self.weight * self.link.sharpest * self.mass

    @property
    def steepest(self) -> float:
        """At least ‖∇U‖ on the set, and ‖∇E‖."""
        pull = self.ridge * self.domain.diameter(self.coordinates)
        return (self.weight * self.size + pull) * (1 + 2.0**-30)

    def _root(self, times: float) -> float:
        """Bounded so that the lattice divides the steps in which `domains` measures sets."""
        eager = _EAGER_AT_CORNERS if self.link.blur else _EAGER
        norm = self.domain.norm(self.coordinates)
        sharp = max(self.bend / eager - self.ridge, 1 / norm**2)
        return min(math.sqrt(times / sharp), norm, math.sqrt(norm * 2.0**10 / self.steepest))

    def steps_for(self, root: float) -> int:
        """The first pair, and enough pairs after it."""
        far = self.domain.reach(self.coordinates) * (1 + 2.0**-30)
        start = max(far**2 / (2 * root**2), 1.0)
        rate = 2 * math.log1p(root**2 * self.ridge)
        return 1 + math.ceil(math.log(start / (2 * self.mixing**2)) * (1 + 2.0**-30) / rate)

    def width_for(self, root: float) -> float:
        """So that no point that occurs leaves 61 bits; noise of 40 σ does not occur."""
        noise = (40 + math.sqrt(self.coordinates)) * root
        far = self.domain.norm(self.coordinates) + noise + 4 * root**2 * self.steepest
        return 2.0 ** (math.ceil(math.log2(far)) - _BITS)

    def _harm(self, root: float) -> float:
        """What one pair adds to the distance, per unit of the lattice's width."""
        d, inner = self.coordinates, self.domain.inner(self.coordinates)
        sharp = 1 / root**2 + self.ridge
        slope = 3 * self.steepest + 2 * math.sqrt(d) / root + d / inner
        if isinstance(self.domain, Simplex):
            slope = 2 * slope + 16 * sharp * self.domain.total * math.sqrt(d)
        edge = math.sqrt(sharp * d) * (1 + slope / (sharp * inner)) + d / inner
        return math.sqrt(d) * (1 / root + self.steepest + slope + edge) * (1 + 2.0**-20)
