"""The noisy numbers that a question asks for, each once; shared by front ends."""

from __future__ import annotations

from collections.abc import Callable

from deniable.errors import Snippet
from deniable.query.algebra import Aggregate, Expression, Function, Kind, call, literal
from deniable.query.algebra.meaning import EPOCH
from deniable.query.algebra.show import aggregate_text

from .arguments import check_bounds, check_rule, summable
from .scope import Names

_ORDERED = (Function.MIN, Function.MAX, Function.QUANTILE)


class Aggregates:
    """The aggregates of a question; the same one asked twice is computed once."""

    def __init__(self, names: Names) -> None:
        self.names = names
        self.made: list[Aggregate] = []

    def column(self, wanted: Aggregate, *, wish: str) -> Expression:
        """What to call its noisy number; extremes of dates are found as numbers of days."""
        argument = wanted.argument
        dated = argument is not None and argument.kind is Kind.DATE and wanted.function in _ORDERED
        if dated and argument is not None:
            days = call("days_between", literal(EPOCH), argument)
            wanted = Aggregate(**vars(wanted) | {"argument": days})
        column = self._once(wanted, wish).column
        return call("add_days", literal(EPOCH), call("to_int", column)) if dated else column

    def _once(self, wanted: Aggregate, wish: str) -> Aggregate:
        for known in self.made:
            if Aggregate(**vars(known) | {"name": ""}) == wanted:
                return known
        name = self.names.fresh(wish or aggregate_text(wanted))
        made = Aggregate(**vars(wanted) | {"name": name})
        self.made.append(made)
        return made


def argument_of(
    function: Function,
    lower: Callable[[], Expression],
    *,
    person: bool,
    what: str,
    names: Names,
    snippet: Snippet | None,
) -> tuple[Function, Expression | None]:
    """What is really aggregated: persons are counted as such, numbers need bounds and a rule."""
    if person and function is Function.DISTINCT:
        return Function.PERSONS, None
    if person and function is Function.COUNT:
        return Function.COUNT, None
    argument = lower()
    if function is Function.COUNT:
        return Function.COUNT, argument if argument.domain.nullable else None
    if function is Function.DISTINCT:
        return Function.DISTINCT, argument
    if argument.kind is Kind.DATE and function in _ORDERED:
        check_bounds(argument, what=what, names=names, snippet=snippet)
        check_rule(argument, names=names, snippet=snippet)
        return function, argument
    return function, summable(argument, what=what, names=names, snippet=snippet)
