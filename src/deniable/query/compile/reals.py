"""Floats in a statement, each with the range that the public knows it to be in.

On every engine they are added, multiplied and divided as IEEE 754 says. One engine fails where a
result overflows or vanishes: there `Guarded` puts a guard, unless the ranges show that no value can
need one. A result that would overflow is infinite, and one that would vanish is 0; so are some
others that are as extreme. Before x·y is formed, |x| and |y| are moved into windows so narrow that
the product of what was moved, P, is an ordinary float:

    vanishing    let |x| ≤ X and |y| ≤ Y, or X, Y = 2 if nothing less is known, and let the windows
                 begin at X/2ᵗ and Y/2ᵗ with XY/4ᵗ = 2⁻¹⁰⁶⁰. If |x| < X/2ᵗ, then |y| > 2 and xy does
                 not vanish, or P ≤ XY/2ᵗ; likewise for y. If neither is, |xy| ≥ 2⁻¹⁰⁶⁰. So xy is 0
                 where P ≤ XY/2ᵗ: next to the largest there can be, that is nothing.
    overflow     windows end at 2⁵⁰⁰. Where |xy| ≥ 2¹⁰²⁴, both are above 1 and one is above 2⁵⁰⁰:
                 P > 2⁵⁰⁰.

x/y is x·(1/y); as 1/|y| may be 2¹⁰⁷⁴, |x| may be as small as 2⁻⁵¹ where it overflows.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from sqlglot import exp

from deniable.query.algebra import Domain, Expression, Kind
from deniable.query.algebra import ranges as known

from . import nodes as sql
from .nodes import Node

if TYPE_CHECKING:
    from .dialect import Dialect

# The least float above 0; and one that no rounding on the way makes 0.
_TINY: Final = 2.0**-1074
_LEAST: Final = 2.0**-1070
# Both numbers between these have an ordinary product and quotient.
_SMALL: Final = 2.0**-500
_LARGE: Final = 2.0**500
# A quotient of moved numbers above this may be one that overflows.
_LARGE_QUOTIENT: Final = 2.0**440
# Two numbers up to here have a finite sum.
_HALF: Final = 2.0**1022
# The largest float, less some: so that a rounded test is on the safe side.
_MOST: Final = sys.float_info.max * (1 - 2.0**-40)


@dataclass(frozen=True, kw_only=True)
class Real:
    """A float64 of a statement; `facts` may also say that it is a whole number."""

    dialect: Dialect
    node: Node
    facts: Domain

    @classmethod
    def of(cls, value: Expression, node: Node, *, dialect: Dialect) -> Real:
        """A number of the algebra, as a float."""
        whole = value.kind is Kind.INT
        made = dialect.to(Kind.FLOAT, node) if whole else node
        return cls(dialect=dialect, node=made, facts=value.domain)

    @classmethod
    def constant(cls, value: float, *, dialect: Dialect) -> Real:
        """A constant, which is its own range."""
        facts = Domain(kind=Kind.FLOAT, low=value, high=value, nullable=False)
        return cls(dialect=dialect, node=dialect.real(value), facts=facts)

    def within(self, low: float, high: float) -> Real:
        """The same where it is known to be in [low, high], as in a branch of CASE."""
        return self._as(self.node, self.facts.but(kind=Kind.FLOAT, low=low, high=high, values=None))

    def plus(self, other: Real) -> Real:
        """x + y, within the range that follows."""
        return self._with(exp.Add, other, known.add)

    def minus(self, other: Real) -> Real:
        """x − y, within the range that follows."""
        return self._with(exp.Sub, other, known.subtract)

    def times(self, other: Real) -> Real:
        """x · y, within the range that follows."""
        return self._with(exp.Mul, other, known.multiply)

    def over(self, other: Real) -> Real:
        """x / y; missing where y is 0."""
        low, high = other.facts.ends
        if low <= 0 <= high:
            node = exp.Nullif(this=other.node, expression=self.dialect.real(0.0))
            other = self._as(node, other.facts.but(nullable=True))
        return self._with(exp.Div, other, known.divide)

    def size(self) -> Real:
        """The absolute value |x|."""
        return self._as(sql.function("ABS", self.node), known.absolute(self.facts))

    def floor(self) -> Real:
        """The whole number ⌊x⌋ below."""
        made = known.monotone(math.floor)(self.facts)
        return self._as(self.dialect.step("FLOOR", self.node), made)

    def copy(self) -> Real:
        """The same for another place in the statement."""
        return self._as(sql.copy(self.node), self.facts)

    def _as(self, node: Node, facts: Domain) -> Real:
        return Real(dialect=self.dialect, node=node, facts=facts)

    def _with(
        self, kind: type[exp.Binary], other: Real, rule: Callable[[Domain, Domain], Domain]
    ) -> Real:
        facts = rule(self.facts, other.facts)
        return self._as(self.dialect.arithmetic(kind, self, other, facts), facts)


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
        low, high = self.made.ends
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
            least = _LEAST * size if divided else _LEAST / size
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
        divided = self.kind is exp.Div
        up = math.frexp(min(_most(self.x.facts), 1.0))[1]
        down = math.frexp(min(1 / _least(self.y.facts) if divided else _most(self.y.facts), 1.0))[1]
        steps = (up + down + 1060) // 2
        if steps < 1:  # all of them vanish
            return self.real(0.0)
        x = self._moved(self.x, 2.0 ** (up - steps), _LARGE)
        if divided:
            y = self._moved(self.y, _SMALL, 2.0 ** min(steps - down, 1023))
        else:
            y = self._moved(self.y, 2.0 ** (down - steps), _LARGE)
        test = sql.binary(self.kind, x, y)
        most = self.real(_LARGE_QUOTIENT if divided else _LARGE)
        # Where both tests are needed, almost all rows are spared them.
        pairs = [(self._ordinary(), self.real(1.0))] if self.vanishes and self.overflows else []
        if self.vanishes:
            pairs.append((sql.le(test, self.real(2.0 ** (up + down - steps))), self.real(0.0)))
        if self.overflows:
            pairs.append((sql.gt(sql.copy(test), most), self.real(math.inf)))
        return sql.case(*pairs, default=self.real(1.0))

    def _ordinary(self) -> Node:
        """Both sizes are between 2⁻⁵⁰⁰ and 2⁵⁰⁰."""
        parts = []
        for each in (self.x, self.y):
            size = sql.function("ABS", sql.copy(each.node))
            parts.append(sql.ge(size, self.real(_SMALL)))
            if _most(each.facts) > _LARGE:
                parts.append(sql.le(sql.copy(size), self.real(_LARGE)))
        return sql.both(parts)

    def _moved(self, x: Real, low: float, high: float) -> Node:
        """|x|, moved into a window."""
        size = sql.function("GREATEST", sql.function("ABS", sql.copy(x.node)), self.real(low))
        return sql.function("LEAST", size, self.real(high)) if _most(x.facts) > high else size


def _fixed(facts: Domain) -> bool:
    return facts.bounded and facts.low == facts.high


def _least(facts: Domain) -> float:
    """The least size of a number that is not 0."""
    low, high = facts.ends
    if low == high == 0:
        return 1.0
    whole = 1.0 if facts.kind is Kind.INT else _TINY
    return max(whole, float(low) if low > 0 else 0.0, float(-high) if high < 0 else 0.0)


def _most(facts: Domain) -> float:
    """The largest size of a number that is finite."""
    low, high = facts.ends
    most = 2.0**63 if facts.kind is Kind.INT else sys.float_info.max
    return min(max(abs(float(low)), abs(float(high))), most)
