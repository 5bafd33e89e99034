"""Exact summaries of one person's own rows, for questions inside a question; shared by front ends.

What is computed is never shown: it is a value of one person, made of their rows alone, and is
bounded like any other when it is aggregated outside. Sums are of whole numbers, so that the order
in which an engine adds, which depends on other people's rows, cannot matter.
"""

from __future__ import annotations

import math
from dataclasses import replace

from deniable.errors import UnsupportedQuery
from deniable.query.algebra import (
    Column,
    Expression,
    Function,
    Kind,
    Summary,
    Summed,
    call,
    literal,
)
from deniable.query.algebra.show import plain

from .aggregates import Asked, check_bounds
from .scope import Names

SUMMARIES = {
    Function.COUNT: Summary.COUNT,
    Function.DISTINCT: Summary.COUNT_DISTINCT,
    Function.MIN: Summary.MIN,
    Function.MAX: Summary.MAX,
}
_BITS = 40


class Summaries:
    """The summaries of one person's rows that a relation needs, each computed once."""

    def __init__(self, names: Names) -> None:
        self.names = names
        self.made: list[Summed] = []

    def of(self, asked: Asked, *, wish: str = "") -> Expression:
        """What an aggregate is of one person's rows."""
        function, wish = asked.function, wish or asked.function.value
        if asked.argument is None:
            return self.once(Summary.COUNT, None, asked.where, wish=wish)
        argument = asked.argument()
        if function in SUMMARIES:
            return self.once(SUMMARIES[function], argument, asked.where, wish=wish)
        if function not in (Function.SUM, Function.AVG):
            raise UnsupportedQuery(
                f"{asked.what} cannot be computed per person",
                fix="a count, a sum, a mean, a minimum, a maximum, or a count of distinct values",
            )
        if argument.kind is Kind.BOOL:
            argument = call("to_int", argument)
        if not argument.domain.numeric:
            raise UnsupportedQuery(f"sums and means need numbers, not {argument.kind.value}")
        check_bounds(argument, what=asked.what, names=self.names, snippet=asked.snippet)
        made = self._total(argument, asked.where, mean=function is Function.AVG, wish=wish)
        where = "" if asked.where is None else f" where {plain(asked.where)}"
        return replace(made, label=f"{function.value}({plain(argument)}{where})")

    def once(
        self,
        summary: Summary,
        argument: Expression | None,
        where: Expression | None,
        *,
        wish: str,
    ) -> Column:
        """The column of a summary; the same one asked twice is computed once."""
        for known in self.made:
            if (known.summary, known.argument, known.where) == (summary, argument, where):
                return known.column
        made = Summed(name=self.names.fresh(wish), summary=summary, argument=argument, where=where)
        self.made.append(made)
        return made.column

    def _total(
        self, argument: Expression, where: Expression | None, *, mean: bool, wish: str
    ) -> Expression:
        """The sum or mean of bounded numbers; fractions go on a grid of 2⁻⁴⁰ of their bounds."""
        step, whole = 1.0, argument
        if argument.kind is Kind.FLOAT:
            step = _step(argument)
            whole = call("to_int", call("multiply", argument, literal(1 / step)))
        added = self.once(Summary.SUM, whole, where, wish=wish)
        total = added if step == 1.0 else call("multiply", added, literal(step))
        if not mean:
            return total
        count = self.once(Summary.COUNT, whole, where, wish="count")
        return call("clip", call("divide", total, count), *map(literal, argument.domain.bounds))


def _step(argument: Expression) -> float:
    """A power of two, about 2⁻⁴⁰ of the farther bound."""
    most = max(map(abs, argument.domain.bounds))
    return math.ldexp(1.0, max(math.frexp(most)[1] - _BITS, -900))
