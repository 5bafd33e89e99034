"""Floats in a statement, each with the range that the public knows it to be in.

On every engine they are added, multiplied and divided as IEEE 754 says. An engine that fails where
a result overflows or vanishes gets a guard (`Dialect.arithmetic`), unless the ranges show that no
value can need one.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

from sqlglot import exp

from deniable.query.algebra import Domain, Expression, Kind
from deniable.query.algebra import ranges as known

from . import nodes as sql
from .dialect import Dialect
from .nodes import Node


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
        """A constant."""
        facts = Domain(kind=Kind.FLOAT, low=value, high=value, nullable=False)
        return cls(dialect=dialect, node=dialect.real(value), facts=facts)

    def within(self, low: float, high: float) -> Real:
        """The same where it is known to be in [low, high], as in a branch of CASE."""
        return self._as(self.node, self.facts.but(kind=Kind.FLOAT, low=low, high=high, values=None))

    def plus(self, other: Real) -> Real:
        """x + y."""
        return self._with(exp.Add, other, known.add)

    def minus(self, other: Real) -> Real:
        """x − y."""
        return self._with(exp.Sub, other, known.subtract)

    def times(self, other: Real) -> Real:
        """x · y."""
        return self._with(exp.Mul, other, known.multiply)

    def over(self, other: Real) -> Real:
        """x / y; missing where y is 0."""
        low, high = known.ends(other.facts)
        if low <= 0 <= high:
            node = exp.Nullif(this=other.node, expression=self.dialect.real(0.0))
            other = self._as(node, other.facts.but(nullable=True))
        return self._with(exp.Div, other, known.divide)

    def size(self) -> Real:
        """|x|."""
        return self._as(sql.function("ABS", self.node), known.absolute(self.facts))

    def floor(self) -> Real:
        """⌊x⌋."""
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
