"""Skellam noise that several parties add in shares, so that nobody knows all of it."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import chain
from typing import Any, ClassVar

import numpy as np

from deniable import parameters
from deniable.errors import BadParameter
from deniable.forms import Form, read_whole
from deniable.mechanisms._mechanism import Norm
from deniable.mechanisms._priced import PricedAs
from deniable.sampling.bessel import LARGEST_VARIANCE
from deniable.sensitive import Sensitive

from ._additive import Integers, needs_whole, ratio_up
from .skellam import Skellam, SkellamL2

_INT64 = np.iinfo(np.int64)


@parameters.made("SkellamShares(of=Skellam(variance=20.0), parties=5, dropouts=1, colluding=1)")
@dataclass(frozen=True, kw_only=True)
class SkellamShares(PricedAs):
    """Skellam shares: each party adds a share of the noise to its vector; the sum is released.

    Releases   Σ (fᵢ + Xᵢ) over the n parties (or those who did not drop out), Xᵢ of variance
               v/(n − dropouts − colluding) in each entry
    Privacy    that of Skellam noise of variance v: whoever drops out, and whoever knows their own
               share, at least n − dropouts − colluding unknown shares remain; they add up to a
               Skellam number of variance v or more, and what is more is independent noise [AKL21]
    Error      of the noise of all n shares, which is the most there can be
    Assumes    of the value, which has a row for each party: one unit moves its rows by Δ in sum;
               at least n − dropouts parties add their share as told, and at most `colluding` of
               those reveal it. Nobody sees a row or a partial sum: that is the protocol's part
    Numerics   drawn exactly; variances up to 2²²

    >>> shares = SkellamShares(of=Skellam(variance=12.0), parties=5, dropouts=1, colluding=1)
    >>> shares.share.variance, shares.epsilon_at(1e-6) == Skellam(variance=12.0).epsilon_at(1e-6)
    (4.0, True)
    """

    name: ClassVar[str] = "skellam_shares"
    norm: ClassVar[Norm] = "l1"
    of_samples: ClassVar[bool] = False
    model: ClassVar[str] = "Distributed"

    of: Skellam | SkellamL2
    parties: int
    dropouts: int = 0
    colluding: int = 0

    def __post_init__(self) -> None:
        if not isinstance(self.of, Skellam | SkellamL2):
            raise BadParameter.of("of", self.of, must="a Skellam mechanism")
        for name, least in (("parties", 1), ("dropouts", 0), ("colluding", 0)):
            given = parameters.whole(name, getattr(self, name), least=least)
            object.__setattr__(self, name, given)
        if self.honest < 1:
            raise BadParameter(
                f"dropouts={self.dropouts} with colluding={self.colluding} leaves none of "
                f"{self.parties} parties whose noise can be counted on",
                why="the price counts on the noise of those who stay and keep their share secret",
                fix="more parties: dropouts + colluding must be below parties",
            )
        if self.parties * self.share.variance * (1 + 2.0**-50) > LARGEST_VARIANCE:
            raise BadParameter(
                f"noise of variance {self.of.variance:g} in shares of {self.honest} among "
                f"{self.parties} parties adds up to more than 2²²",
                why="Skellam noise of a larger variance cannot be drawn",
                fix="fewer dropouts and colluding parties tolerated, or coarser units",
            )

    @property
    def honest(self) -> int:
        """How many shares the price counts on."""
        return self.parties - self.dropouts - self.colluding

    @property
    def priced_as(self) -> Skellam | SkellamL2:
        """The noise that is surely there."""
        return self.of

    @cached_property
    def share(self) -> Skellam | SkellamL2:
        """What one party adds to its own vector; by itself it protects far less than the sum."""
        return replace(self.of, variance=ratio_up(self.of.variance, self.honest))

    @cached_property
    def _noise_of_all(self) -> Skellam | SkellamL2:
        return replace(self.of, variance=self.parties * self.share.variance * (1 + 2.0**-50))

    def error(self, confidence: float = 0.95, *, coordinates: int = 1) -> float:
        """Half-width of the interval around one number, or around `coordinates` of them at once."""
        return self._noise_of_all.error(confidence, coordinates=coordinates)

    def _check_covers(self, value: Sensitive[Any]) -> None:
        self.of.check(value)  # in the norm of its noise

    def reading(self, form: Form) -> Callable[[Any], Any]:
        """Whole numbers, a row for each party."""
        if not form.shape or form.shape[0] != self.parties:
            raise BadParameter(
                f"the value must have {self.parties} rows, one for each party",
                fix=f"dp.Sensitive(..., shape=({self.parties}, length))",
            )
        return super().reading(needs_whole(self, form))

    def draw(self, value: object) -> int | Integers:
        """The sum of the rows, each with its share."""
        rows = np.asarray(value)
        if rows.shape[:1] != (self.parties,) or rows.dtype.kind not in "iu":
            raise BadParameter(f"the value must be whole numbers in {self.parties} rows")
        nothing = np.zeros(rows.shape[1:], dtype=np.int64)
        noise = (np.asarray(self.share.draw(nothing)) for _ in range(self.parties))
        total = _saturated_once(chain(read_whole(rows), noise), like=nothing)
        return total if total.ndim else int(total)


def _saturated_once(rows: Iterable[Integers], *, like: Integers) -> Integers:
    """The exact sum, held at the ends of int64.

    Holding each noisy row there instead would cut off half of the noise of a row that is at an end.
    """
    high, low = np.zeros_like(like), np.zeros_like(like)
    for row in rows:  # fewer than 2³¹ rows, so that neither half wraps around
        high += row >> 32
        low += row & 0xFFFFFFFF
    high += low >> 32
    inside = np.clip(high, -(2**31), 2**31 - 1)
    total = (inside << 32) | (low & 0xFFFFFFFF)
    ends = np.where(high < 0, _INT64.min, _INT64.max)
    return np.asarray(np.where(high == inside, total, ends), dtype=np.int64)
