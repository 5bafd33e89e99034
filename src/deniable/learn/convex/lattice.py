"""The lattice on which the proximal sampler walks, and what it adds to the distance at most.

Points lie on a lattice of width g. That depends on the rows, so it must not be seen: the last point
is spread over its cell again, and only then rounded, to a grid that is public (Release, below).

Let t be the most by which, from any x in K and for any rows, the ideal pair of draws, rounded, and
the pair drawn from the rounded x differ in total variation. Replacing ideal pairs by drawn ones,
one after the other, changes the law by at most t each: by T·t over a run. t is the sum of the
following, where d are the coordinates, a = 1/η + m, D is the diameter of K and i its inner radius.
Rounding moves a point by at most r = g√d/2, or g·d/2 on a simplex, where one coordinate is what the
others leave. Densities p and ∝ p·eʰ on K differ by at most κ/2 if |h| ≤ κ.

Means     x and y are rounded: each moves a normal mean, or the exponent by a linear function, by
          r: r/√(2πη) each (the second by [GLL22]). Rounding o changes the exponent by rmD at most.
Aim       Proposals of precision a aim at c = p − (gradient at p)/a, and p is in K with ‖p − y‖ ≤
          dist(y, K) + 2η(bn + mD) + √(dη), which is enforced. So a·dist(c, K) ≤ 3(bn + mD) + √(d/η)
          + dist(y, K)/η, and E dist(y, K) ≤ E‖y − x‖ ≤ √(dη): with d/i added, S on average.
Draws     A cell is drawn with the mass of the proposals in it, kept with the share of it that lies
          in K, as further digits are uniform, and then by coins for its middle. That is a real
          draw, rounded, whose density on K is the ideal one but for eʰ: the density of proposals is
          averaged over a cell, and coins are those of a point up to r away. |h| ≤ 2rL + rL′, with
          the slopes L of the logarithm of proposals and L′ of all coins. `restricted.Blocks`
          proposes with the precision a + λ around a point of K, λi ≤ d/i + a·dist(c, K): L ≤ aD +
          2S. Its coins have slopes up to S, and that of E is at most 2bn + mD.
Simplex   With the total s, c is moved along the plane's normal, to at most 2s + 2·dist(c, K) from
          [0, s] in each coordinate, and the coin for the last one, j, has the slope 2as: L ≤ 5(as +
          S), and coins add 4as + 3S to 2bn + mD. Whether xⱼ is above 0 is judged by fresh digits,
          which matters in cells within g·d of that side, on either side of it. Contracting the
          set towards the opposite corner shows that these hold at most 2gd·(d/s + √2·L″), where
          L″ ≤ bn + mD + aD + S is the slope of the exponent.
Digits    `restricted` stops after 40 of them: 2⁻⁴⁰ of the same kind of term, within the spare room.
Release   The last state is R(X) for an X whose law has the slope L″, given the last y. Add to it an
          X′ that is uniform in a cell, that of coordinates 1, 2, … on a simplex: instead of f, the
          density of R(X) + X′ is a mean of f over points up to 2r away, which changes the law by
          2rL″ at most, but for cells that K cuts. Those lie within 2r of a side of a ball or box,
          and within 2g, or 2gd in two of the coordinates, of a side of a simplex. By contraction,
          as above (for a box along each side by itself), they hold at most 2r(d/i + 2L″), and on a
          simplex 12r(d/s + √2·L″). In all that is less than four times what a pair adds. So the
          real point is as near to π as is certified, and rounding it to multiples of G, which is
          public, is a map that is the same for all rows. One more binary digit of X′ than the
          difference of the two widths decides it.

All of this is at most r·(1/√η + 8(bn + mD) + 16(aD + S)) for every set: `_harm`. g is so small a
power of two that T + 4 times this is at most what is allowed. As far as 61 bits suffice for points
they are machine words, and beyond that whole numbers of Python: no digits are lost, and no point is
too far out.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from deniable.sampling import below

from .domains import Domain, Simplex
from .objectives import Link
from .restricted import Floats, Integers

_EAGER, _EAGER_AT_CORNERS = 6.0, 8.0  # few rows are at a corner: the bound is further from the rule
_BITS = 61  # of a machine word that holds a point; differences have one more
_SHOWN = 48  # binary digits of the largest point, as it is released: floats hold them
_RELEASE = 4  # pairs that add as much to the distance as the release does


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
    def root(self) -> float:
        """√η, bounded so that the lattice divides the steps in which `domains` measures sets."""
        eager = _EAGER_AT_CORNERS if self.link.blur else _EAGER
        norm = self.domain.norm(self.coordinates)
        sharp = max(self.bend / eager - self.ridge, 1 / norm**2)
        return math.sqrt(min(1 / sharp, norm * 2.0**10 / self.steepest))

    @cached_property
    def steps(self) -> int:
        """T: the first pair, and enough pairs after it."""
        far = self.domain.reach(self.coordinates)
        start = max(far**2 / (2 * self.root**2), 1.0)
        rate = 2 * math.log1p(self.root**2 * self.ridge)
        return 1 + math.ceil(math.log(start / (2 * self.mixing**2)) * (1 + 2.0**-30) / rate)

    @cached_property
    def width(self) -> float:
        """g, a power of two: fine enough, and at least as fine as 61 bits allow."""
        pairs = self.steps + _RELEASE
        enough = math.floor(math.log2(self.arithmetic / (pairs * self._harm)))
        return 2.0 ** min(self._span - _BITS, enough - 1)

    @property
    def kind(self) -> np.dtype[np.int64] | np.dtype[np.object_]:
        """Of the numbers that hold a point: machine words, or Python's."""
        return np.dtype(np.int64) if self.width == 2.0 ** (self._span - _BITS) else np.dtype(object)

    @property
    def missed(self) -> float:
        """At most what the lattice adds to the distance, over a run."""
        return (self.steps + _RELEASE) * self._harm * self.width

    @property
    def grain(self) -> float:
        """G, a power of two from public facts alone: what is released are multiples of it."""
        return 2.0 ** (math.frexp(self.domain.norm(self.coordinates))[1] - _SHOWN)

    def released(self, state: Integers) -> Floats:
        """The real point that a state stands for, in whole multiples of G: the nearest."""
        coarser = math.frexp(self.grain)[1] - math.frexp(self.width)[1]
        bits = max(1, 1 - coarser)
        digits, shift = below(1 << bits, state.size).tolist(), coarser + bits
        middle = (1 << (shift - 1)) - (1 << (bits - 1))
        found = [
            ((x << bits) + u + middle) >> shift for x, u in zip(state.tolist(), digits, strict=True)
        ]
        return np.array(found, dtype=np.float64) * self.grain

    @property
    def bend(self) -> float:
        """At least the trace of the curvature of the sum: `mass` is Σ‖aᵢ‖², or at least that."""
        return self.weight * self.link.sharpest * self.mass

    @property
    def steepest(self) -> float:
        """bn + mD: at least ‖∇U‖ on the set; half of ‖∇E‖ is at most that."""
        pull = self.ridge * self.domain.diameter(self.coordinates)
        return (self.weight * self.size + pull) * (1 + 2.0**-30)

    @property
    def _span(self) -> int:
        """log₂ of how far out a point may be; noise of 40 σ does not occur."""
        noise = (40 + math.sqrt(self.coordinates)) * self.root
        far = self.domain.norm(self.coordinates) + noise + 4 * self.root**2 * self.steepest
        return math.ceil(math.log2(far))

    @property
    def _harm(self) -> float:
        """What one pair adds to the distance, per unit of the lattice's width."""
        d, far = self.coordinates, self.domain.diameter(self.coordinates)
        moved = (d if isinstance(self.domain, Simplex) else math.sqrt(d)) / 2
        sharp = 1 / self.root**2 + self.ridge
        aimed = 3 * self.steepest + 2 * math.sqrt(d) / self.root
        aimed += d / self.domain.inner(self.coordinates)
        slopes = 8 * self.steepest + 16 * (sharp * far + aimed)
        return moved * (1 / self.root + slopes) * (1 + 2.0**-20)
