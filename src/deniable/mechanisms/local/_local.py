"""What local randomizers share: who may be replaced, how values are read, how chances are rounded.

A chance that protects is rounded towards more privacy and then drawn exactly, so the ε that is
realised is at most the ε that is charged.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from deniable.errors import BadParameter, SensitivityMismatch
from deniable.forms import Form
from deniable.mechanisms._mechanism import Mechanism, Norm
from deniable.mechanisms.numbers._additive import needs_whole
from deniable.sampling.exact import exp_bounds
from deniable.sensitive import Sensitive
from deniable.units import Relation

_DIGITS = 50
_LARGEST = Fraction(64)  # beyond this ε a lie is rarer than 2⁻⁹⁰: it is drawn as if ε were 64


class LocalMechanism(Mechanism):
    """A mechanism that each unit runs on its own answers, whose number is public."""

    norm: ClassVar[Norm] = "linf"
    of_samples: ClassVar[bool] = False
    relation: ClassVar[Relation | None] = Relation.REPLACE
    entries: int = 1

    def _check_covers(self, value: Sensitive[Any]) -> None:
        """How many answers one unit has is declared, or follows from L1: a change moves by 1."""
        stated, moved = value.entries, value.bound("l1")
        if stated is None and not value.form.shape:
            stated = 1
        if stated is None and moved is not None:
            stated = math.floor(moved)
        if stated is None or stated > self.entries:
            has = f"has {stated}" if stated is not None else "does not say how many it has"
            name = type(self).__name__
            raise SensitivityMismatch(
                f"{name} covers {self.entries} answers per unit, and the value {has}",
                why="each answer is randomized by itself, so the loss of a unit adds up over them",
                fix=f"dp.Sensitive(..., entries={self.entries})"
                if stated is None
                else f"dp.RandomizedResponse(..., entries={stated})",
            )

    def reading(self, form: Form) -> Callable[[Any], Any]:
        """Numbers of categories, as many as declared."""
        return super().reading(needs_whole(self, form))


def grown_by(epsilon: Fraction) -> Fraction:
    """e^ε, rounded down to 128 binary places; that of 64 where ε is larger."""
    low, _ = exp_bounds(min(epsilon, _LARGEST), 128)
    return Fraction(low, 1 << 128)


def rounded_down(share: Fraction) -> Fraction:
    """A probability rounded down to 50 binary digits of the rarer of it and its complement."""
    if share <= 0:
        return Fraction(0)
    step = _step(share)
    return step * math.floor(share / step)


def rounded_up(share: Fraction) -> Fraction:
    """A probability rounded up to 50 binary digits of the rarer of it and its complement."""
    return 1 - rounded_down(1 - share)


def _step(share: Fraction) -> Fraction:
    rarer = min(share, 1 - share)
    places = rarer.numerator.bit_length() - rarer.denominator.bit_length() - _DIGITS
    return Fraction(2) ** places


def categories_of(value: object, categories: int) -> NDArray[np.int64]:
    """Numbers of categories as an array; anything else is refused without being repeated."""
    array = np.asarray(value)
    inside = array.dtype.kind in "iu" and ((array >= 0) & (array < categories)).all()
    if not inside and array.size:
        raise BadParameter(f"categories must be whole numbers from 0 to {categories - 1}")
    return array.astype(np.int64)
