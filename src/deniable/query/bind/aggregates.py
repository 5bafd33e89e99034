"""The noisy numbers that a question asks for, each once; shared by front ends."""

from __future__ import annotations

import datetime as dt
import math
from collections.abc import Callable

from deniable.query.aggregates import FAMILIES
from deniable.query.algebra import (
    TIMES,
    Aggregate,
    Expression,
    Function,
    Kind,
    Scalar,
    call,
    literal,
)
from deniable.query.algebra.meaning import EPOCH
from deniable.query.algebra.show import aggregate_text
from deniable.snippets import Snippet

from .arguments import check_bounds, check_rule, summable
from .scope import Names


class Aggregates:
    """The aggregates of a question; the same one asked twice is computed once."""

    def __init__(self, names: Names) -> None:
        self.names = names
        self.made: list[Aggregate] = []

    def column(self, wanted: Aggregate, *, wish: str) -> Expression:
        """What to call its noisy number; quantiles of moments are those of days or minutes."""
        argument = wanted.argument
        if (
            argument is None
            or argument.kind not in TIMES
            or FAMILIES[wanted.function].takes != "ordered"
        ):
            return self._once(wanted, wish).column
        dated = argument.kind is Kind.DATE
        number = days_since(argument) if dated else minutes_since(argument)
        ranked = Aggregate(**vars(wanted) | {"argument": number, "moment": argument})
        column = self._once(ranked, wish).column
        back = "add_days" if dated else "add_minutes"
        return call(back, literal(EPOCH), call("to_int", column))

    def _once(self, wanted: Aggregate, wish: str) -> Aggregate:
        for known in self.made:
            if Aggregate(**vars(known) | {"name": ""}) == wanted:
                return known
        name = self.names.fresh(wish or aggregate_text(wanted))
        made = Aggregate(**vars(wanted) | {"name": name})
        self.made.append(made)
        return made


def days_since(argument: Expression) -> Expression:
    """The days since 1970."""
    return call("days_between", literal(EPOCH), argument)


def minutes_since(argument: Expression) -> Expression:
    """The whole minutes since 1970, between those of the bounds."""
    days = call("multiply", days_since(argument), literal(24 * 60))
    hours = call("multiply", call("hour", argument), literal(60))
    total = call("add", days, call("add", hours, call("minute", argument)))
    low, high = (_minutes(end) for end in (argument.domain.low, argument.domain.high))
    return call("clip", total, literal(low), literal(high))


def _minutes(moment: Scalar | None) -> int:
    assert isinstance(moment, dt.datetime)
    return math.floor((moment - dt.datetime.combine(EPOCH, dt.time())) / dt.timedelta(minutes=1))


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
    if argument.kind in TIMES and FAMILIES[function].takes == "ordered":
        check_bounds(argument, what=what, names=names, snippet=snippet)
        check_rule(argument, names=names, snippet=snippet)
        return function, argument
    return function, summable(argument, what=what, names=names, snippet=snippet)
