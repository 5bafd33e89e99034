"""The floating-point attack: noise made of 53 random bits cannot reach every number [Mir12].

The textbook sampler is x ± b·ln(2U) with U a multiple of 2⁻⁵³. From a given x only some doubles can
come out, from x + 1 others. Whoever knows the sampler checks, for each candidate, whether some U
gives the published number; often only one candidate passes, and the noise has hidden nothing.

Defended twin: mechanisms of deniable answer on a lattice that is the same for every candidate, with
exact probabilities, so every candidate passes. `defended.floating_point` measures it.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from deniable import parameters
from deniable.errors import BadParameter
from deniable.plots import Axes, bars

from .tables import Floats, Integers, Mask
from .telling import Facts, Told, percent

_BITS = 2.0**53
_AROUND = 12


@dataclass(frozen=True, kw_only=True, eq=False)
class Reachable(Told):
    """Which candidates could have produced each answer."""

    candidates: tuple[float, ...]
    possible: Mask
    """A row an answer, a column a candidate."""
    guesses: Integers
    """The candidate chosen for each answer: the only possible one, else the nearest."""
    truth: Floats | None = None
    """The true value behind each answer, where it is known."""

    @property
    def sure(self) -> Mask:
        """Which answers leave exactly one candidate, so that its guess is sure."""
        return np.asarray(self.possible.sum(axis=1) == 1)

    @property
    def decided(self) -> float:
        """The share of answers that leave exactly one candidate."""
        return float(np.mean(self.sure))

    @property
    def sure_and_right(self) -> float | None:
        """The share of the sure guesses that are right; None without a truth or a sure guess."""
        if self.truth is None or not self.sure.any():
            return None
        return float(np.mean(self._right(self.truth)[self.sure]))

    @property
    def recovered(self) -> float | None:
        """The one candidate that could have produced all the answers; None if it is not one."""
        always = np.flatnonzero(self.possible.all(axis=0))
        return self.candidates[int(always[0])] if always.size == 1 else None

    def accuracy(self, truth: ArrayLike) -> float:
        """The share of answers whose true value was guessed."""
        return float(np.mean(self._right(np.asarray(truth, dtype=np.float64))))

    def _right(self, truth: Floats) -> Mask:
        return np.asarray(np.asarray(self.candidates)[self.guesses] == truth)

    def _headline(self) -> str:
        count, total, right = int(self.sure.sum()), len(self.possible), self.sure_and_right
        sure = f"{count:,} of {total:,} guesses were sure: only one candidate was possible"
        if count and right is None:
            sure += " (whether they are right was not checked: no truth= was given)"
        elif right is not None:
            sure += f"; {percent(right)} of those {count:,} were right"
        if self.recovered is None:
            return f"{sure}. No single value explains all the answers."
        return f"{sure}. {self.recovered:g} alone explains them all."

    def _facts(self) -> Facts:
        shares = self.possible.mean(axis=0)
        return [
            (f"{value:g}", f"could have produced {percent(float(share))} of the answers")
            for value, share in zip(self.candidates, shares, strict=True)
        ]

    def plot(self, ax: Axes | None = None) -> Axes:
        """The share of answers that each candidate could have produced."""
        return bars(
            [f"{value:g}" for value in self.candidates],
            self.possible.mean(axis=0).tolist(),
            title="Values that could have produced the answers",
            axis_label="share of answers",
            ax=ax,
        )


def floating_point(
    answers: ArrayLike, *, candidates: Sequence[float], scale: float, truth: ArrayLike | None = None
) -> Reachable:
    """Test which true values could have produced answers of the textbook Laplace sampler.

    Give the `truth` behind each answer (or one for all) to learn how many sure guesses are right.

    The sampler is that of NumPy and of most textbooks: U uniform on multiples of 2⁻⁵³, and
    x + b·ln(2U) below one half, x − b·ln(2 − 2U) above.

    >>> floating_point([2.5], candidates=[0.0, 1.0], scale=1.0).possible.tolist()
    [[False, True]]
    """
    values = np.asarray(answers, dtype=np.float64).reshape(-1)
    width = parameters.positive("scale", scale)
    known = tuple(parameters.real("candidates", each) for each in candidates)
    if len(known) < 2 or not values.size or not np.all(np.isfinite(values)):
        raise BadParameter("the attack compares at least two candidates on at least one answer")
    possible = np.array([[_reaches(x, y, width) for x in known] for y in values.tolist()])
    apart = np.abs(values[:, None] - np.asarray(known)[None, :])
    ruled_out = np.where(possible.any(axis=1, keepdims=True) & ~possible, np.inf, 0.0)
    return Reachable(
        candidates=known,
        possible=possible,
        guesses=np.argmin(apart + ruled_out, axis=1),
        truth=None if truth is None else _behind(truth, values.size),
    )


def _behind(truth: ArrayLike, size: int) -> Floats:
    known = np.asarray(truth, dtype=np.float64).reshape(-1)
    if known.size not in (1, size):
        raise BadParameter(f"truth must be one value, or {size}: one for each answer")
    return np.array(np.broadcast_to(known, (size,)))


def _reaches(x: float, y: float, scale: float) -> bool:
    """Whether some 53-bit U turns x into y; U is known to a few units, and those are tried."""
    guess = math.exp(-abs(y - x) / scale) / 2  # the smaller of U and 1 − U
    centre = round(guess * _BITS)
    # Near the middle many U fall on one y and any of them will do; in the tail they are far apart.
    spacing = math.ulp(max(abs(y), abs(x))) / scale * guess * _BITS
    reach = _AROUND + min(2000, math.ceil(spacing))
    stride = max(1, reach // 200)
    for k in range(max(1, centre - reach), min(centre + reach, int(_BITS) // 2) + 1, stride):
        u, above = k / _BITS, 1.0 - k / _BITS
        if y in (x + scale * math.log(u + u), x - scale * math.log(2.0 - above - above)):
            return True
    return False
