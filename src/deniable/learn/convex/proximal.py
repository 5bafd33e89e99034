"""Draws from strongly log-concave laws with a certified distance: the proximal sampler.

The law is π ∝ exp(−U) on a convex set K, U(x) = b·Σφ(aᵢ·x − tᵢ) + m‖x − o‖²/2. Two draws alternate:

    y ~ N(x, ηI)        x ~ π(x | y) ∝ exp(−U(x) − ‖x − y‖²/2η) on K

The second is exact, by rejection. By convexity the sum lies above its tangent at *any* point p, so
with the tangent in its place the law is normal, restricted to K, and a draw from that is kept with
probability exp(−E(x)), E ≥ 0 being what the tangent misses. Rejections have no limit, and cost
little: `coins` decides them from a few rows.

Rejections p is about the mean of the proposals that are made with p. As restricting a normal law to
           a convex set narrows it [BL76], E[E(x)] ≤ b·Σ‖aᵢ‖²·max φ″/2(1/η + m), also at a boundary
           or in a corner, where the sum is over the rows that bend somewhere on K. η is chosen so
           that this is at most half of `_EAGER`: by Jensen the expected number of proposals is at
           most e^(_EAGER/2), for all rows and from every state, up to how well p was found and what
           is spared of m. (At their mode instead of their mean, proposals in a corner of many
           dimensions would all lie on one side of p, and none would be kept.) p is found by
           Newton's steps from the last one: most pairs of draws need one pass over the rows.

Distance   π has the logarithmic Sobolev constant m, also on K [BE85], and each pair of draws
           divides the Kullback–Leibler divergence from π by (1 + ηm)² [CCSW22]. The start is the
           center o. After the first y, the divergence from π∗N(0, ηI) is at most
           E‖x − o‖²/2η ≤ r²/2η, as divergences are convex; the first x does not increase it. So
           TV ≤ √(KL/2) [Pin60] is met after 1 + ⌈ln(r²/4ηTV²)/(2·ln(1 + ηm))⌉ pairs. It is this
           number that is run; nothing about the chain is looked at. η and T depend on the rows; the
           law does not leave the distance for any of their values. p depends on earlier draws, and
           may: given p, whatever it is, the second draw is exact.

Coins      Exact, in floats where those decide, see `coins`: they add nothing to the distance,
           provided that NumPy's exp and logaddexp are right to 2⁻⁴⁶ of max(1, result). That is
           assumed: NumPy documents 2⁻⁵⁰, and `sampling.floats` tests exp on this machine.

Lattice    Points lie on a lattice; `lattice` bounds what that adds to the distance. Its width, like
           η and T, depends on the rows. Whoever saw it would learn about them, so what is returned
           lies on another lattice, which is public.
"""

from __future__ import annotations

import math
import operator
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property

import numpy as np

from deniable.sampling import rounded_gaussian
from deniable.sampling.floats import check_floats

from .coins import Tangent
from .domains import Domain
from .lattice import Lattice
from .objectives import STEP, Array, Rows
from .restricted import Floats, Integers, whole

_SLOPE_BITS = 22
_CHUNK = 1 << 15  # rows whose products with slopes add up exactly: 15 + 16 + 22 bits
_FEW = 1 << 24  # rows whose products add up to less than 2⁶³: 24 + 16 + 22 bits
_NEAR = 60  # looks for p, at most
_NEWTON = 6  # of which so many by Newton's steps
_AGED = 16  # pairs of draws after which the curvature may be computed again


@dataclass(frozen=True, kw_only=True)
class Target:
    """The law: rows and their loss, the weight b of the sum, the ridge m, the set K."""

    rows: Rows
    domain: Domain
    weight: float
    ridge: float

    @property
    def size(self) -> tuple[int, int]:
        """Rows and coordinates."""
        return self.rows.points.shape

    @cached_property
    def center(self) -> Floats:
        """Where the ridge pulls."""
        return self.domain.center(self.size[1])

    @cached_property
    def mass(self) -> float:
        """Σ‖aᵢ‖² of the rows that have a curvature somewhere on K.

        A corner that a·x − t reaches nowhere on K bends nothing: the tangent is the loss there.
        """
        points = self.rows.points
        first, last = self.rows.link.bends
        if math.isfinite(first):
            least, most = (end * STEP - self.rows.targets for end in self.domain.ends(points))
            points = points[(most >= first) & (least <= last)]
        flat = points.ravel(order="K")
        return float(flat @ flat) * STEP**2 * (1 + 2.0**-20)


@dataclass(frozen=True, kw_only=True)
class Chain:
    """One run of the sampler."""

    target: Target
    mixing: float
    arithmetic: float

    def draw(self) -> Floats:
        """A point whose law is within `mixing` + `arithmetic` of the target, publicly rounded."""
        check_floats()
        state, place = self._center, None
        for _ in range(self.lattice.steps):
            state, place = self._next(state, place)
        domain = self.target.domain
        return domain.project(domain.completed(self.lattice.released(state)))

    # ---- what is fixed before the first draw

    @cached_property
    def lattice(self) -> Lattice:
        """The lattice, η and T."""
        target = self.target
        return Lattice(
            domain=target.domain,
            coordinates=target.size[1],
            size=target.size[0],
            mass=target.mass,
            weight=target.weight,
            ridge=target.ridge,
            link=target.rows.link,
            mixing=self.mixing,
            arithmetic=self.arithmetic,
        )

    @cached_property
    def width(self) -> float:
        """The width of the lattice on which the chain walks."""
        return self.lattice.width

    @cached_property
    def _root(self) -> float:
        return self.lattice.root

    @cached_property
    def _center(self) -> Integers:
        return self._points(self.target.center)

    def _points(self, x: Floats) -> Integers:
        return whole(x / self.width, self.lattice.kind)

    @cached_property
    def _precise(self) -> tuple[float, Fraction, Fraction, Fraction]:
        """The spread of proposals; exactly: 1/η, their precision, how much of m is in hand."""
        per_step = 1 / Fraction(self._root) ** 2
        spared = self.target.ridge / (64 + 4 * self.target.size[1])
        spread = 1 / (math.sqrt(1 / self._root**2 + self.target.ridge - spared) * self.width)
        precision = 1 / (Fraction(spread) * Fraction(self.width)) ** 2
        hand = Fraction(self.target.ridge) - (precision - per_step)
        assert hand > 0
        return spread, per_step, precision, hand

    # ---- one pair of draws

    def _next(self, state: Integers, last: _Place | None = None) -> tuple[Integers, _Place]:
        noise = rounded_gaussian(self._root / self.width, 0.0, state.size)
        ahead = state + noise.astype(state.dtype)
        place = self._near(ahead, last)
        aim, tangent = self._tangent(ahead, place)
        while True:
            proposal = self.target.domain.normal(aim, self._precise[0], self.width)
            if tangent.kept(proposal):
                return proposal, place

    def _near(self, ahead: Integers, last: _Place | None) -> _Place:
        """About the p that is the mean of the proposals made with p: any point of K is right."""
        domain, eta = self.target.domain, self._root**2
        sharp = 1 / eta + self.target.ridge
        y: Floats = np.asarray(ahead * self.width, dtype=np.float64)
        nearest = domain.project(y)
        place = self._look(nearest) if last is None else last.aged()
        newton = self._newton(place, sharp) if place.newton is None else place.newton
        for turn in range(_NEAR):
            slope = place.slope + (place.x - y) / eta
            step = domain.mean(place.x - slope / sharp, 1 / math.sqrt(sharp)) - place.x
            if float(step @ step) <= 0.25 / sharp:  # a quarter of the proposals' own spread
                break
            if turn and place.age >= _AGED:
                newton, place = self._newton(place, sharp), replace(place, age=0)
            moved = newton @ step if turn < _NEWTON else step * sharp / (sharp + self.lattice.bend)
            place = self._look(domain.project(place.x + moved), age=place.age)
        spread = math.sqrt(y.size * eta)
        most = float(np.linalg.norm(nearest - y)) + 2 * eta * self.lattice.steepest + spread
        if float(np.linalg.norm(place.x - y)) > most:
            place = self._look(nearest, age=place.age)
        return replace(place, newton=newton)

    def _look(self, x: Floats, age: int = 0) -> _Place:
        """The gradient at about x, from slopes that are rounded so that their sums are exact."""
        target, rows = self.target, self.target.rows
        point = self._points(x)
        x = np.asarray(point * self.width, dtype=np.float64)
        z = rows.points @ (x * STEP) - rows.targets
        slopes = np.rint(rows.link.slope(z) * 2.0**_SLOPE_BITS)
        sums = _exact_sums(rows.points, slopes)
        slope = target.weight * STEP * 2.0**-_SLOPE_BITS * sums.astype(np.float64)
        steep = slope + target.ridge * (x - target.center)
        return _Place(point=point, x=x, z=z, slopes=slopes, sums=sums, slope=steep, age=age)

    def _newton(self, place: _Place, sharp: float) -> Floats:
        """What turns a step of the fixed point into Newton's: sharp·(∇²Σ + sharp)⁻¹."""
        points, bent = self.target.rows.points, self.target.rows.link.curvature(place.z)
        curved = self.target.weight * STEP**2 * ((points * bent[:, None]).T @ points)
        found = np.linalg.inv(curved / sharp + np.eye(len(curved)))
        return np.asarray(found, dtype=np.float64)

    def _tangent(self, ahead: Integers, place: _Place) -> tuple[Integers, Tangent]:
        """Where proposals aim, and what they miss."""
        target, rows, point = self.target, self.target.rows, place.point
        _, per_step, precision, hand = self._precise
        width = Fraction(self.width)
        parts = [
            (Fraction(target.weight) * Fraction(STEP) / 2**_SLOPE_BITS, place.sums),
            (Fraction(target.ridge) * width, point - self._center),
            (per_step * width, point - ahead),
        ]
        numbers, below = _combined(parts)
        slope = np.array([x / below for x in numbers])
        aim = point - whole(slope / float(precision * width), point.dtype)
        d, norm = target.size[1], target.domain.norm(target.size[1])
        wrong = 2.0**-48 * (d * norm + self._farthest)
        tangent = Tangent(
            rows=rows,
            weight=target.weight,
            width=self.width,
            norm=norm,
            point=point,
            slopes=place.slopes * 2.0**-_SLOPE_BITS,
            off=2.0 ** -(_SLOPE_BITS + 1) * (1 + 2.0**-18) + rows.link.sharpest * wrong,
            left=_combined([*parts, (-precision * width, point - aim)]),
            hand=hand,
        )
        return aim, tangent

    @cached_property
    def _farthest(self) -> float:
        return float(np.abs(self.target.rows.targets).max(initial=0.0)) + 1


@dataclass(frozen=True, kw_only=True)
class _Place:
    """A point p at which all rows were looked at, and what turns steps there into Newton's."""

    point: Integers
    x: Floats
    z: Floats
    slopes: Floats
    sums: Integers
    slope: Floats
    age: int
    newton: Floats | None = None

    def aged(self) -> _Place:
        """One pair of draws later."""
        return replace(self, age=self.age + 1)


def _exact_sums(points: Array, slopes: Floats) -> Integers:
    """Σ slopeᵢ·aᵢ in whole numbers: every partial sum of a chunk is below 2⁵³."""
    kind = np.dtype(np.int64 if len(points) <= _FEW else object)
    total = np.zeros(points.shape[1], dtype=kind)
    for start in range(0, len(points), _CHUNK):
        part = slice(start, start + _CHUNK)
        total += whole(slopes[part] @ points[part], kind)
    return total


def _combined(parts: list[tuple[Fraction, Integers]]) -> tuple[list[int], int]:
    """Σ factor·vector, exactly: whole numbers, and what they are divided by."""
    scale = math.lcm(*(factor.denominator for factor, _ in parts))
    factors = [int(factor * scale) for factor, _ in parts]
    rows = zip(*(vector.tolist() for _, vector in parts), strict=True)
    return [sum(map(operator.mul, factors, row)) for row in rows], scale
