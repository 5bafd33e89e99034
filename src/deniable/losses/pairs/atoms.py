"""The atoms of a composed loss that matter at one tilt, with their masses.

Losses with atoms compose to losses with atoms, and δ(ε) has a kink at each. Far too many exist to
list, but few can matter: tilted by e^(cL)/M(c), their masses add up to at most 1, so fewer than n
have a share of 1/n. A product's share is the product of its factors' shares, and no factor is above
1: sorted by share, only pairs (i, j) with i · j ≤ n can make one of 1/n. Any other atom may be left
out; `left` says what share of the tilted law was.

Losses are counted down from the sum of the origins (`Pair.origin`), which is kept exactly: so the
distance of ε from the largest loss is known to its last bit however close they are.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from ._pair import ULP, Pair, Reals

MOST = 2**12


class Law(NamedTuple):
    """Atoms in falling order of their shares: deficits, ln of masses, ln of shares."""

    deficits: Reals
    logs: Reals
    shares: Reals


@dataclass(frozen=True)
class Atoms:
    """The heaviest atoms of a composed loss."""

    deficits: Reals
    masses: Reals
    left: float
    """At most this share of the tilted law is not among them."""
    slack: float
    """A bound on the relative errors of the masses."""
    blur: float
    """By how much a deficit may be wrong."""
    c: float
    log_d: float
    """The tilt, and an upper bound on ln E e^(−c · deficit) of the whole law."""

    def delta(self, gap: float) -> float:
        """Their part in δ(ε), where ε is `gap` below the origin; rounded up."""
        gaps = gap - self.deficits + 4 * ULP * np.abs(self.deficits)
        parts = self.masses * -np.expm1(-np.maximum(gaps, 0.0))
        return math.fsum(parts) * (1 + self.slack + 16 * ULP)

    def log_delta(self, gap: float) -> float:
        """ln δ(ε) at most: the atoms', and all that is left by Chernoff's bound."""
        exponent = self.log_d + self.c * gap - math.log1p(self.c) - self.c * math.log1p(1 / self.c)
        rest = self.left * math.exp(min(exponent + 1e-9, 700.0))
        delta = self.delta(gap) + rest
        return math.log(delta) + 8 * ULP if delta > 0 else -math.inf


def heaviest(pairs: Sequence[tuple[Pair, int]], c: float) -> Atoms | None:
    """The heaviest atoms of the list under the tilt c; None if some loss has none."""
    laws = [(pair.point_masses(), pair, times) for pair, times in pairs]
    total, slack, log_d = Law(np.zeros(1), np.zeros(1), np.zeros(1)), 2.0**-46, 0.0
    for points, pair, times in laws:
        if points is None:
            return None
        value, error = pair.log_mgf(np.array([complex(c)]))
        most = float(value[0].real + error[0])
        log_d += times * most
        there = points[1] > 0  # one too rare for a float is part of what is left
        deficits, logs = points[0][there], np.log(points[1][there])
        law = _merged(Law(deficits, logs, logs - c * deficits - most))
        law = _binomial(law, times) if len(law.logs) == 2 else _power(law, times)
        total = _product(total, law)
        slack += 32 * ULP * times * (3 + math.log(times)) + 8 * ULP * float(np.abs(law.logs).max())
    shares = np.exp(total.shares)
    wrong = 16 * ULP * float((shares * (c * np.abs(total.deficits) + np.abs(total.logs))).sum())
    left = max(0.0, 1 - math.fsum(shares)) + slack + wrong
    blur = len(laws) * 64 * _SAME * float(np.abs(total.deficits).max())
    return Atoms(
        total.deficits, np.exp(total.logs), left, slack, blur, c, log_d + 1e-12 * abs(log_d)
    )


_SAME = 2.0**-46
"""Deficits that differ by no more of the largest are those of one atom, but for rounding."""


def _binomial(law: Law, times: int) -> Law:
    """The law of two atoms, composed with itself."""
    from scipy.special import gammaln

    chance = 1 / (1 + math.exp(min(float(law.shares[0] - law.shares[1]), 700.0)))
    first = max(0, round(times * chance) - MOST // 2)
    j = np.arange(first, min(times, first + MOST) + 1, dtype=np.float64)
    ways = gammaln(times + 1) - gammaln(j + 1) - gammaln(times - j + 1)
    pairs = [(times - j) * part[0] + j * part[1] for part in law]
    return _kept(Law(pairs[0], pairs[1] + ways, pairs[2] + ways))


def _power(law: Law, times: int) -> Law:
    """Composed with itself by squaring."""
    result: Law | None = None
    for bit in range(times.bit_length()):
        law = _product(law, law) if bit else law
        if times >> bit & 1:
            result = law if result is None else _product(result, law)
    assert result is not None
    return result


def _product(left: Law, right: Law) -> Law:
    """All pairs of atoms, or of many those that can be heavy."""
    if len(left.logs) * len(right.logs) <= 8 * MOST:
        i, j = (part.ravel() for part in np.indices((len(left.logs), len(right.logs))))
    else:
        widths = np.minimum(MOST // np.arange(1, len(left.logs) + 1), len(right.logs))
        i = np.repeat(np.arange(len(widths)), widths)
        j = np.arange(len(i)) - np.repeat(np.cumsum(widths) - widths, widths)
    return _merged(Law(*(a[i] + b[j] for a, b in zip(left, right, strict=True))))


def _merged(law: Law) -> Law:
    """One atom for each loss: those at one place are added up, at the least deficit of them."""
    order = np.argsort(law.deficits, kind="stable")
    deficits, logs, shares = (part[order] for part in law)
    same = _SAME * float(np.abs(deficits).max())
    starts = np.flatnonzero(np.concatenate([[True], np.diff(deficits) > same]))
    if len(starts) < len(deficits):
        deficits = deficits[starts]
        logs, shares = (np.logaddexp.reduceat(part, starts) for part in (logs, shares))
    return _kept(Law(deficits, logs, shares))


def _kept(law: Law) -> Law:
    """The heaviest, in falling order."""
    order = np.argsort(-law.shares, kind="stable")[:MOST]
    return Law(*(part[order] for part in law))
