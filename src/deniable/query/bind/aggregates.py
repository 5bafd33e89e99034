"""The noisy numbers that a question asks for, each once, of values with bounds and a rule."""

from __future__ import annotations

import datetime as dt
import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Final

from deniable import fixes
from deniable.errors import MissingBounds, MissingRule, UnsupportedQuery
from deniable.fixes import Fix
from deniable.query.aggregates import FAMILIES
from deniable.query.algebra import (
    TIMES,
    Aggregate,
    Expression,
    Function,
    Kind,
    Scalar,
    Span,
    call,
    columns_of,
    literal,
)
from deniable.query.algebra.meaning import EPOCH
from deniable.query.algebra.show import aggregate_text
from deniable.snippets import Snippet

from .bins import bucket, cells_between
from .scope import Names

_DAYS: Final = fixes.sql(
    "MIN, MAX and MEDIAN; or a number: DATE_DIFF('day', DATE '2020-12-31', ...)",
    'min, max and median; or a number: .delta(ibis.date("2020-12-31"), unit="day")',
)


@dataclass(frozen=True, kw_only=True)
class Asked:
    """An aggregate as a front end read it, in expressions about single rows.

    `argument` is read only where it is needed, because a person's id may have no stated type;
    `person` says that it is that id. `other` is the second argument of functions of pairs, `bins`
    the number of bins of a histogram, or their edges. `what` is the aggregate as it was written.
    """

    function: Function
    argument: Callable[[], Expression] | None = None
    other: Callable[[], Expression] | None = None
    person: bool = False
    where: Expression | None = None
    q: float | None = None
    bins: tuple[float, ...] = ()
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
        if asked.function is Function.HISTOGRAM:
            raise UnsupportedQuery(
                "HISTOGRAM makes several columns, so it cannot be part of an expression",
                fix="select it by itself",
                snippet=asked.snippet,
            )
        function, argument = self._argument(asked)
        wanted = Aggregate(
            name="",
            function=function,
            argument=argument,
            other=None if asked.other is None else self._number(asked.other(), asked),
            where=asked.where,
            q=asked.q,
            span=asked.span,
        )
        if argument is None or argument.kind not in TIMES or not _ordered(function):
            return self._once(wanted, wish).column
        dated = argument.kind is Kind.DATE
        number = days_since(argument) if dated else minutes_since(argument)
        column = self._once(replace(wanted, argument=number, moment=argument), wish).column
        back = "add_days" if dated else "add_minutes"
        return call(back, literal(EPOCH), call("to_int", column))

    def histogram(self, asked: Asked, *, name: str) -> list[tuple[str, Expression]]:
        """What to call the noisy number of each bin, in order, with how it is shown."""
        assert asked.argument is not None
        number, bins = self._number(asked.argument(), asked), asked.bins
        edges = cells_between(number, bins if len(bins) > 1 else next(iter(bins), None)).edges
        wanted = Aggregate(
            name="",
            function=asked.function,
            argument=bucket(number, edges),
            where=asked.where,
            edges=edges,
            moment=number,
            span=asked.span,
        )
        made: list[tuple[str, Expression]] = []
        for place, (low, high) in enumerate(pairwise(edges)):
            end = "]" if place == len(edges) - 2 else ")"
            label = f"{name} [{low:.15g}, {high:.15g}{end}"
            made.append((label, self._once(replace(wanted, bin=place), label).column))
        return made

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
        if argument.kind in TIMES and _ordered(function):
            names, snippet = self.origins, asked.snippet
            check_bounds(argument, what=asked.what, names=names, snippet=snippet)
            check_rule(argument, names=names, snippet=snippet)
            return function, argument
        return function, self._number(argument, asked)

    def _number(self, argument: Expression, asked: Asked) -> Expression:
        return summable(argument, what=asked.what, names=self.origins, snippet=asked.snippet)

    def _once(self, wanted: Aggregate, wish: str) -> Aggregate:
        for known in self.made:
            if replace(known, name="") == wanted:
                return known
        made = replace(wanted, name=self.names.fresh(wish or aggregate_text(wanted)))
        self.made.append(made)
        return made


def _ordered(function: Function) -> bool:
    return FAMILIES[function].takes == "ordered"


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


# ---- what can be summed


def summable(
    argument: Expression, *, what: str, names: Names, snippet: Snippet | None
) -> Expression:
    """The argument as a number whose range is public; `what` is the aggregate as written."""
    if argument.kind is Kind.BOOL:
        argument = call("to_int", argument, span=argument.span)
    if not argument.domain.numeric:
        raise UnsupportedQuery(
            f"{what} needs numbers, not {argument.kind.value}",
            fix=_counted(argument) if snippet is None else _cast(argument, what),
            snippet=snippet,
        )
    check_bounds(argument, what=what, names=names, snippet=snippet)
    check_rule(argument, names=names, snippet=snippet)
    return argument


def _cast(argument: Expression, what: str) -> Fix | str:
    """The aggregate of numbers made of text, or of dates."""
    if argument.kind in TIMES:
        return _DAYS
    return fixes.sql(
        _around(what, "CAST(", " AS DOUBLE)"),
        '.cast("float64")',
        note="if the text contains numbers",
    )


def _around(what: str, start: str, end: str) -> str:
    """The aggregate with a call around its argument: AVG(total) becomes AVG(LEAST(total, HIGH))."""
    function, _, rest = what.partition("(")
    inner = rest.removesuffix(")") if rest and "," not in rest else "..."
    return f"{function}({start}{inner}{end})" if rest else f"{start}{inner}{end}"


def _counted(argument: Expression) -> str:
    """What can be asked of a column of the one-line statistics that holds no numbers."""
    names = list(columns_of(argument))
    return f's.count(by="{names[0]}", spend=dp.epsilon(0.1))' if len(names) == 1 else ""


def check_bounds(argument: Expression, *, what: str, names: Names, snippet: Snippet | None) -> None:
    """MissingBounds where the range of an argument does not follow from the schema."""
    if argument.domain.bounded:
        return
    loose = [c for c in columns_of(argument).values() if not c.domain.bounded and _has_range(c)]
    known = next((c for c in loose if c.name in names.origin), None)
    if known is not None:
        table, column = names.origin[known.name]
        if known.name in names.persons:
            raise _identifies(what, column, table=table, snippet=snippet)
        error = MissingBounds.of(
            what,
            column,
            table=table,
            type=known.kind.value,
            several=names.several,
            snippet=_noted(snippet, f"`{column}` has no bounds in the schema of `{table}`"),
        )
        if names.asker:
            error.fix = fixes.for_asker(error.fixes, "state bounds: ")
        raise error
    half = argument.domain.low is not None
    raise MissingBounds(
        f"{what} needs bounds, and none can be derived for this expression",
        why="noise is sized to the most one person can change the answer",
        fix=fixes.sql(
            _around(what, "LEAST(", ", HIGH)") if half else _around(what, "CLAMP(", ", LOW, HIGH)"),
            f"{'.clip(upper=HIGH)' if half else '.clip(LOW, HIGH)'} after it",
            "(choose plausible numbers without looking at the data)",
        ),
        snippet=_noted(snippet, "its range cannot be derived from the schema"),
    )


def _identifies(what: str, column: str, *, table: str, snippet: Snippet | None) -> MissingBounds:
    """A column that identifies people has no plausible bounds; whoever sums it may want a count."""
    note = f"`{column}` identifies people"
    return MissingBounds(
        f"{what} is not a statistic: `{column}` identifies people",
        why="an identifier is a name, even if it is spelled as a number",
        fix=fixes.people(column, table=table),
        snippet=_noted(snippet, note),
    )


def _has_range(column: Expression) -> bool:
    return column.domain.numeric or column.kind in TIMES


def check_rule(argument: Expression, *, names: Names, snippet: Snippet | None) -> None:
    """MissingRule where a value may be missing and the schema does not say what it counts as."""
    if argument.domain.ruled:
        return
    for column in columns_of(argument).values():
        if column.domain.nullable and not column.domain.ruled:
            table, name = names.origin.get(column.name, ("the table", column.name))
            kind, several = column.kind.value, names.several
            error = MissingRule.of(name, table=table, type=kind, several=several)
            error.snippet = snippet
            raise error


def _noted(snippet: Snippet | None, note: str) -> Snippet | None:
    return None if snippet is None else replace(snippet, note=note)
