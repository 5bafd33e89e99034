"""The noisy numbers that a question asks for, each once; shared by front ends."""

from __future__ import annotations

import datetime as dt
import math
from collections.abc import Callable
from dataclasses import dataclass

from deniable.query.algebra import (
    TIMES,
    Aggregate,
    Expression,
    Function,
    Kind,
    Scalar,
    Span,
    call,
    literal,
)
from deniable.query.algebra.meaning import EPOCH
from deniable.query.algebra.show import aggregate_text
from deniable.snippets import Snippet

from .arguments import check_bounds, check_rule, summable
from .scope import Names

_ORDERED = (Function.MIN, Function.MAX, Function.QUANTILE)


@dataclass(frozen=True, kw_only=True)
class Asked:
    """An aggregate as a front end read it, in expressions about single rows.

    `argument` is read only where it is needed, because a person's id may have no stated type;
    `person` says that it is that id. `what` is the aggregate as it was written.
    """

    function: Function
    argument: Callable[[], Expression] | None = None
    person: bool = False
    where: Expression | None = None
    q: float | None = None
    what: str = ""
    span: Span | None = None
    snippet: Snippet | None = None


class Aggregates:
    """The aggregates of a question; the same one asked twice is computed once.

    `names` are those of the answer, `origins` those of the rows.
    """

    def __init__(self, names: Names, *, origins: Names) -> None:
        self.names = names
        self.origins = origins
        self.made: list[Aggregate] = []

    def column(self, asked: Asked, *, wish: str = "") -> Expression:
        """What to call its noisy number; quantiles of moments are those of days or minutes."""
        function, argument = self._argument(asked)
        wanted = Aggregate(
            name="",
            function=function,
            argument=argument,
            where=asked.where,
            q=asked.q,
            span=asked.span,
        )
        if argument is None or argument.kind not in TIMES or function not in _ORDERED:
            return self._once(wanted, wish).column
        dated = argument.kind is Kind.DATE
        number = days_since(argument) if dated else minutes_since(argument)
        ranked = Aggregate(**vars(wanted) | {"argument": number, "moment": argument})
        column = self._once(ranked, wish).column
        back = "add_days" if dated else "add_minutes"
        return call(back, literal(EPOCH), call("to_int", column))

    def _argument(self, asked: Asked) -> tuple[Function, Expression | None]:
        """What is really aggregated: persons are counted as such; numbers need bounds, a rule."""
        function = asked.function
        if asked.argument is None:
            return function, None
        if asked.person and function is Function.DISTINCT:
            return Function.PERSONS, None
        if asked.person and function is Function.COUNT:
            return Function.COUNT, None
        argument = asked.argument()
        if function is Function.COUNT:
            return Function.COUNT, argument if argument.domain.nullable else None
        if function is Function.DISTINCT:
            return Function.DISTINCT, argument
        names, snippet = self.origins, asked.snippet
        if argument.kind in TIMES and function in _ORDERED:
            check_bounds(argument, what=asked.what, names=names, snippet=snippet)
            check_rule(argument, names=names, snippet=snippet)
            return function, argument
        return function, summable(argument, what=asked.what, names=names, snippet=snippet)

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
