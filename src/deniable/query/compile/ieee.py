"""IEEE 754 for an engine whose float arithmetic fails where a result overflows or vanishes.

A result that would overflow is infinite here, one that would vanish is 0, and so may be those that
come within a few hundred powers of two of it. Whether it would is seen from |x| and |y|, both moved
into [2⁻⁵⁰⁰, 2⁵⁰⁰], so that the test itself cannot fail:

    |x·y| ≤ 2⁻¹⁰⁷⁴   both are below 1; if one is below 2⁻⁵⁰⁰, the product of what was moved is, too;
                     if none is, x·y does not vanish
    |x·y| ≥ 2¹⁰²⁴    likewise, both are above 1 and one is above 2⁵⁰⁰
    |x/y| ≤ 2⁻¹⁰⁷⁴   |x| < 1 < |y|, and x is below 2⁻⁵⁰⁰ or y above 2⁵⁰⁰
    |x/y| ≥ 2¹⁰²⁴    |y| < 1, and y is below 2⁻⁵⁰⁰ or x above 2⁵⁰⁰; as |y| ≥ 2⁻¹⁰⁷⁴, |x| ≥ 2⁻⁵¹

Ranges tell which of these cannot be; mostly none can, or the other number is a constant.
"""

from __future__ import annotations

import math
import sys
from typing import TYPE_CHECKING, Final

from sqlglot import exp

from deniable.query.algebra import Domain, Kind
from deniable.query.algebra.ranges import ends

from . import nodes as sql
from .nodes import Node

if TYPE_CHECKING:
    from .reals import Real

_TINY: Final = 2.0**-1074
_SMALL: Final = 2.0**-500
_LARGE: Final = 2.0**500
# A quotient of moved numbers above this may be one that overflows.
_LARGE_QUOTIENT: Final = 2.0**440
# Two numbers up to here have a finite sum.
_HALF: Final = 2.0**1022
# The largest float, less some: so that a rounded test is on the safe side.
_MOST: Final = sys.float_info.max * (1 - 2.0**-40)


class Guarded:
    """x + y, x − y, x · y or x / y with the guards that ranges do not make idle."""

    def __init__(self, kind: type[exp.Binary], x: Real, y: Real, made: Domain) -> None:
        self.x, self.y, self.kind, self.made, self.real = x, y, kind, made, x.dialect.real
        least, most = (_least(x.facts), _least(y.facts)), (_most(x.facts), _most(y.facts))
        match kind:
            case exp.Mul:
                vanishes, overflows = least[0] * least[1] == 0, math.isinf(most[0] * most[1])
            case exp.Div:
                vanishes = least[0] / max(most[1], 1.0) == 0
                overflows = math.isinf(most[0] / least[1])
            case _:
                vanishes, overflows = False, math.isinf(most[0] + most[1])
        # A range with two ends is the hull of results at the ends of x and y: none overflows.
        self.vanishes, self.overflows = vanishes, overflows and not made.bounded
        self.node = self._node()

    @property
    def strays(self) -> bool:
        """Whether 0 for what vanishes, or ∞ for what overflows, may lie outside the range."""
        low, high = ends(self.made)
        if self.vanishes and not low <= 0 <= high:
            return True
        return self.overflows and (-math.inf < low < 0 or 0 < high < math.inf)

    def _node(self) -> Node:
        x, y = self.x, self.y
        if not (self.vanishes or self.overflows):
            return sql.binary(self.kind, x.node, y.node)
        if self.kind in (exp.Add, exp.Sub):
            return sql.binary(self.kind, self._term(x), self._term(y))
        if self.kind is exp.Mul and _fixed(x.facts):
            x, y = y, x
        if _fixed(y.facts):
            return sql.binary(self.kind, self._before_constant(x, _most(y.facts)), y.node)
        return sql.binary(self.kind, sql.times(self._factor(), x.node), y.node)

    def _term(self, x: Real) -> Node:
        if _most(x.facts) <= _HALF:
            return x.node
        size = sql.function("ABS", sql.copy(x.node))
        return sql.case((sql.gt(size, self.real(_HALF)), self._endless(x)), default=x.node)

    def _before_constant(self, x: Real, size: float) -> Node:
        """x, or what stands for it where c·x or x/c, |c| = `size`, would not be a float."""
        divided = self.kind is exp.Div
        magnitude = sql.function("ABS", sql.copy(x.node))
        pairs = []
        if self.vanishes:
            least = 2.0**-1000 * size if divided else 2.0**-1000 / size
            pairs.append((sql.lt(magnitude, self.real(least)), self.real(0.0)))
        if self.overflows:
            most = _MOST * size if divided else _MOST / size
            pairs.append((sql.gt(sql.copy(magnitude), self.real(most)), self._endless(x)))
        return sql.case(*pairs, default=x.node)

    def _endless(self, x: Real) -> Node:
        """±∞, with the sign of x."""
        return sql.times(sql.copy(x.node), self.real(math.inf))

    def _factor(self) -> Node:
        """1; or 0 or ∞ where the result would vanish or overflow."""
        test = sql.binary(self.kind, self._moved(self.x), self._moved(self.y))
        most = _LARGE if self.kind is exp.Mul else _LARGE_QUOTIENT
        pairs = []
        if self.vanishes:
            pairs.append((sql.lt(test, self.real(_SMALL)), self.real(0.0)))
        if self.overflows:
            pairs.append((sql.gt(sql.copy(test), self.real(most)), self.real(math.inf)))
        return sql.case(*pairs, default=self.real(1.0))

    def _moved(self, x: Real) -> Node:
        """|x|, moved into [2⁻⁵⁰⁰, 2⁵⁰⁰]."""
        size = sql.function("GREATEST", sql.function("ABS", sql.copy(x.node)), self.real(_SMALL))
        few = _most(x.facts) <= _LARGE
        return size if few else sql.function("LEAST", size, self.real(_LARGE))


def _fixed(facts: Domain) -> bool:
    return facts.bounded and facts.low == facts.high


def _least(facts: Domain) -> float:
    """The least size of a number that is not 0."""
    low, high = ends(facts)
    if low == high == 0:
        return 1.0
    whole = 1.0 if facts.kind is Kind.INT else _TINY
    return max(whole, float(low) if low > 0 else 0.0, float(-high) if high < 0 else 0.0)


def _most(facts: Domain) -> float:
    """The largest size of a number that is finite."""
    low, high = ends(facts)
    most = 2.0**63 if facts.kind is Kind.INT else sys.float_info.max
    return min(max(abs(float(low)), abs(float(high))), most)
