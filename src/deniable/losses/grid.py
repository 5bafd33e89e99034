"""The price of a fixed list of mechanisms by discrete Fourier transforms on a lattice of losses.

Each pair is moved onto the lattice {ih} by *connecting the dots*: the mass of a cell goes to its
two ends so that both P and Q keep theirs. That spreads e^(−L) about its mean, and δ is an average
of the convex (1 − e^ε·e^(−L))₊, so δ only grows, by O(h²) [DGKKM22]; a loss that already lies on
the lattice is kept as it is. Masses are tilted by e^(θl) before the transform, so that rounding is
small beside δ itself and not beside 1, and powers of transforms compose.

**Never below the truth.** Masses are rounded up and what rounding leaves unknown in a cell goes to
its upper end. The transform is cyclic: what wraps around is counted once more, by its largest
possible weight (`floor`). Rounding errors of the transforms are bounded in the 2-norm, log₂n · 8ulp
each [Hig02, Thm 24.2], times the counts, and enter by the Cauchy–Schwarz inequality.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from .contour import SMOOTHING, Tilt
from .pairs import Pair
from .pairs._pair import ULP, Complexes, Lattice, Reals

MOST_POINTS = 2**22


@dataclass(frozen=True)
class Grid:
    """The tilted law of the total loss on a lattice, whatever ε."""

    theta: float
    log_m: float
    """ln of what the tilted masses were divided by."""
    infinite: float
    """Mass counted as a loss of ∞."""
    losses: Reals
    masses: Reals
    error: float
    """A bound on the 2-norm of the masses' errors."""
    shift: float
    """By how much the total loss may be understated through rounding of the edges."""
    wraps: bool
    """May masses from beyond the window have come around?"""

    def log_delta(self, epsilon: float) -> float:
        """ln of a number that is never below δ(ε)."""
        epsilon -= self.shift
        start = int(np.searchsorted(self.losses, epsilon, side="right"))
        gap = self.losses[start:] - epsilon
        gap = gap[: int(np.searchsorted(gap, 800 / self.theta, side="right"))]
        weights = np.exp(-self.theta * gap) * -np.expm1(-gap)
        total = float(weights @ self.masses[start : start + len(gap)])
        # Beyond the window: the weight falls past its peak at ln(1 + 1/θ).
        beyond = max(float(self.losses[-1]) - epsilon, math.log1p(1 / self.theta))
        floor = math.exp(-self.theta * beyond) * (1 + 1e-9) if self.wraps else 0.0
        if self.wraps and epsilon < self.losses[0]:
            floor = 1.0 + 1e-9  # what lies between came around as well, and no weight is above 1
        slips = self.error * float(np.linalg.norm(weights)) + ULP * (len(gap) + 32) * abs(total)
        log = self.log_m - self.theta * epsilon + 16 * ULP * (1 + abs(self.log_m))
        log += 16 * ULP * self.theta * abs(epsilon)
        # Weights below e^(−690) may be lost to underflow; all masses together are at most 1.
        bound = total + slips + floor + 1e-299
        finite = log + math.log(bound)
        return float(np.logaddexp(finite, math.log(self.infinite))) if self.infinite else finite


def grid(
    pairs: Sequence[tuple[Pair, int]], tilt: Tilt, *, epsilon: float, log_delta: float
) -> Grid:
    """The composed law near `epsilon`, on a lattice so fine that ε moves by about 3e-7."""
    step, points = mesh(pairs, tilt, epsilon=epsilon)
    spare = math.exp(max(-735.0, log_delta - 30)) / sum(times for _, times in pairs)
    total = _Total(tilt.c, points)
    for pair, times in pairs:
        first, masses, lost = connect(pair, step, spare)
        total.compose(first, masses, step, times)
        total.infinite += lost * times
        low, high = pair.support(spare)
        total.shift += times * 16 * ULP * (1 + max(abs(low), abs(high)))
    first = math.floor(epsilon / step - points / 2)
    return total.law(step, 0.0, first=first, wraps=True)


def lattice(pairs: Sequence[tuple[Lattice, int]], tilt: Tilt, *, epsilon: float) -> Grid:
    """The composed law of losses that share one lattice: exact but for rounding."""
    step = pairs[0][0].step
    reach = sum((len(law.masses) - 1) * times for law, times in pairs)
    points = 2 ** math.ceil(math.log2(min(reach + 2, 4 + tilt.window / step * 1.5)))
    total = _Total(tilt.c, points)
    offset = 0.0
    for law, times in pairs:
        total.compose(0, law.masses, step, times)
        offset += law.offset * times
        total.shift += 4 * ULP * abs(law.offset * times)
    first = math.floor((epsilon - offset) / step - points / 2) if points <= reach else 0
    return total.law(step, offset, first=first, wraps=points <= reach)


def mesh(pairs: Sequence[tuple[Pair, int]], tilt: Tilt, *, epsilon: float) -> tuple[float, int]:
    """The step of the lattice and the number of its points.

    Connecting the dots adds at most h²/4 to the variance of each loss, h²/6 on the average, which
    moves ε by (1 + c)/2 of it.
    """
    times = sum(count for _, count in pairs)
    tolerance = SMOOTHING * max(1.0, epsilon / 100)
    step = math.sqrt(12 * tolerance / (1 + tilt.saddle) / times)
    step = 2.0 ** math.floor(math.log2(step))
    points = 2 ** math.ceil(math.log2(1.5 * tilt.window / step))
    while points > MOST_POINTS:
        points //= 2
        step *= 2
    return step, points


class _Total:
    """The transform of the composed law while mechanisms are multiplied in."""

    def __init__(self, theta: float, points: int) -> None:
        self.theta = theta
        self.points = points
        self.transform: Complexes = np.ones(points // 2 + 1, complex)
        self.log_m = 0.0
        self.error = 0.0
        self.infinite = 0.0
        self.shift = 0.0

    def compose(self, first: int, masses: Reals, step: float, times: int) -> None:
        """Convolve with a law `times` over."""
        index = first + np.arange(len(masses))
        exponents = self.theta * step * index
        top = float(exponents[masses > 0].max())
        with np.errstate(under="ignore"):
            tilted = masses * np.exp(exponents - top)
        scale = float(tilted.sum())
        wrapped = np.bincount(index % self.points, tilted / scale, self.points)
        relative = ULP * (32 + 4 * float(np.abs(exponents).max()) + 8 * math.log2(self.points))
        relative += ULP * len(masses) / self.points * 4
        self.transform *= _power(np.fft.rfft(wrapped), times)
        self.error += times * (relative + 16 * ULP) * float(np.linalg.norm(wrapped))
        self.log_m += times * (top + math.log(scale) + 8 * ULP * (1 + abs(top)))

    def law(self, step: float, offset: float, *, first: int, wraps: bool) -> Grid:
        """Back to masses, in the window that begins at index `first`."""
        masses = np.fft.irfft(self.transform, self.points)
        index = first + np.arange(self.points)
        losses: Reals = offset + step * index.astype(np.float64)
        error = self.error + 8 * ULP * math.log2(self.points) * float(np.linalg.norm(masses))
        # Losses were tilted without the offset: it is a constant factor.
        log_m = self.log_m + self.theta * offset
        return Grid(
            self.theta,
            log_m,
            self.infinite,
            losses,
            masses[index % self.points],
            error * (1 + 1e-6),
            self.shift + 8 * ULP * (abs(offset) + step * abs(first) + step * self.points),
            wraps,
        )


def connect(pair: Pair, step: float, spare: float) -> tuple[int, Reals, float]:
    """First index, masses on the lattice, and the mass above it."""
    low, high = pair.support(spare)
    first, last = math.floor(low / step) - 1, math.ceil(high / step) + 1
    edges: Reals = step * np.arange(first, last + 1, dtype=np.float64)
    cells = pair.masses(edges)
    p = cells.p + cells.p_error
    q = np.maximum(cells.q - cells.q_error, 0.0)
    with np.errstate(divide="ignore", over="ignore", invalid="ignore"):
        back = np.nan_to_num(np.exp(np.log(q) + edges[:-1]), nan=0.0)
    back *= 1 - 16 * ULP * (1 + np.abs(edges).max())
    right = np.clip((p - back) / -math.expm1(-step), 0.0, p)
    masses = np.append(p - right, 0.0) + np.append(0.0, right)
    masses[0] += spare  # what lies below is moved up to the first point
    return first, masses, spare


def _power(values: Complexes, times: int) -> Complexes:
    """values**times by squaring: right within 3 ulp a factor."""
    result = np.ones_like(values)
    while times:
        if times & 1:
            result *= values
        times >>= 1
        if times:
            values = values * values
    return result


def picture(pairs: Sequence[tuple[Pair, int]], *, points: int) -> tuple[Reals, Reals]:
    """Losses and their probabilities within about eight standard deviations: for plots."""
    spare = 1e-9
    mean = variance = 0.0
    for pair, times in pairs:
        low, high = pair.support(spare)
        first, masses, _ = connect(pair, max(high - low, 1e-12) / 2048, spare)
        losses = (first + np.arange(len(masses))) * max(high - low, 1e-12) / 2048
        centre = float(masses @ losses)
        mean += times * centre
        variance += times * float(masses @ (losses - centre) ** 2)
    reach = 8 * math.sqrt(variance) + 1e-9
    fine = 16  # connecting the dots widens each loss by a step: too much for a step of the picture
    step = 2 * reach / (fine * points)
    total = _Total(0.0, 2 * fine * points)
    for pair, times in pairs:
        first, masses, _ = connect(pair, step, spare)
        total.compose(first, masses, step, times)
    law = total.law(step, 0.0, first=math.floor((mean - reach) / step), wraps=True)
    losses = law.losses[: fine * points].reshape(points, fine).mean(axis=1)
    return losses, np.maximum(law.masses[: fine * points].reshape(points, fine).sum(axis=1), 0.0)
