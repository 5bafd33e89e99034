"""All values an expression can have, where that is public: the groups it makes.

A list may hold values that no row has (they come back as empty groups), never the reverse: a value
off the list would be a group that only data can tell of.
"""

from __future__ import annotations

import datetime as dt
import itertools
import math
from collections.abc import Iterable
from typing import Any, Final

from .domain import Domain, Kind, Scalar
from .expressions import Call, Expression, Literal, columns_of, evaluate, walk
from .moments import truncate
from .ranges import in_kind

LARGEST_LIST: Final = 1_000_000
_MOST_COMBINATIONS: Final = 10_000
_MOST_STEPS: Final = 40_000  # operators, over all rows that are tried
_EXACT_UNITS: Final = {"hour": dt.timedelta(hours=1), "minute": dt.timedelta(minutes=1)}


def possible_values(expression: Expression) -> tuple[Scalar, ...] | None:
    """Every value the expression can have except missing, in order; None if that is not public.

    Where all columns have short lists it is evaluated on every combination; otherwise its
    shape decides: branches of CASE, ranges of whole numbers and dates, bins, images of such lists.
    """
    tried = _by_trial(expression)
    return _by_shape(expression) if tried is None else tried


def count_of(domain: Domain) -> int | None:
    """How many values a domain has; None if they cannot be listed."""
    if domain.values is not None:
        return len(domain.values)
    if domain.kind is Kind.BOOL:
        return 2
    low, high = domain.low, domain.high
    if domain.kind is Kind.INT and isinstance(low, int) and isinstance(high, int):
        return high - low + 1
    if domain.kind is Kind.DATE and isinstance(low, dt.date) and isinstance(high, dt.date):
        return (high - low).days + 1
    return None


def _listed(domain: Domain) -> tuple[Scalar, ...] | None:
    count = count_of(domain)
    if count is None or count > LARGEST_LIST:
        return None
    if domain.values is not None:
        return domain.values
    if domain.kind is Kind.BOOL:
        return (False, True)
    low: Any = domain.low
    if domain.kind is Kind.INT:
        return tuple(range(low, low + count))
    return tuple(dt.date.fromordinal(low.toordinal() + i) for i in range(count))


def _by_trial(expression: Expression) -> tuple[Scalar, ...] | None:
    calls = [node for node in walk(expression) if isinstance(node, Call)]
    if any(not node.operator.exact for node in calls):
        return None
    columns = columns_of(expression)
    counts = [count_of(column.domain) for column in columns.values()]
    trials = math.prod(count + 1 for count in counts if count is not None)
    if None in counts or trials * expression.size > _MOST_STEPS:
        return None
    lists: list[tuple[Scalar | None, ...]] = [
        (*(_listed(c.domain) or ()), *([None] if c.domain.nullable else []))
        for c in columns.values()
    ]
    rows = (dict(zip(columns, row, strict=True)) for row in itertools.product(*lists))
    return _distinct(evaluate(expression, row) for row in rows)


def _by_shape(expression: Expression) -> tuple[Scalar, ...] | None:
    if isinstance(expression, Literal):
        return () if expression.value is None else (expression.value,)
    if isinstance(expression, Call):
        found = _of_call(expression)
        if found is not None:
            return found
    return _listed(expression.domain)


def _of_call(expression: Call) -> tuple[Scalar, ...] | None:
    args = expression.args
    match expression.op:
        case "case":
            return _union((*args[1:-1:2], args[-1]), expression.domain)
        case "coalesce":
            return _union(args, expression.domain)
        case "nullif":
            return possible_values(args[0])
        case "bin":
            return _bins(args[0].domain, expression.domain, args[1])
        case "date_trunc":
            return _starts(expression.domain, args[0])
    if not expression.operator.exact:
        return None
    lists = [found for arg in args if (found := _with_missing(arg)) is not None]
    if len(lists) < len(args) or math.prod(map(len, lists)) > _MOST_COMBINATIONS:
        return None
    return _distinct(itertools.starmap(expression.operator.run, itertools.product(*lists)))


def _with_missing(arg: Expression) -> tuple[Scalar | None, ...] | None:
    """Missing is a value like others for IS NULL, AND and OR."""
    found = possible_values(arg)
    return (*found, None) if found is not None and arg.domain.nullable else found


def _union(args: tuple[Expression, ...], domain: Domain) -> tuple[Scalar, ...] | None:
    lists = [found for arg in args if (found := possible_values(arg)) is not None]
    if len(lists) < len(args):
        return None
    every = itertools.chain.from_iterable(lists)
    return _distinct(in_kind(v, domain.kind) for v in every)


def _bins(inner: Domain, domain: Domain, width: Expression) -> tuple[Scalar, ...] | None:
    """k·width for each k from that of the least value to that of the largest."""
    if not inner.bounded:
        return None
    (low, high), step = inner.bounds, width.domain.ends[0]
    if domain.kind is Kind.INT and isinstance(step, int):
        return _stepped(int(low) // step, int(high) // step, step)
    first, last = float(low) / float(step), float(high) / float(step)
    if not (math.isfinite(first) and math.isfinite(last)):
        return None
    return _stepped(math.floor(first), math.floor(last), float(step))


def _stepped(first: int, last: int, step: float) -> tuple[Scalar, ...] | None:
    if last - first + 1 > LARGEST_LIST:
        return None
    return tuple(k * step + 0 for k in range(first, last + 1))


def _starts(domain: Domain, unit: Expression) -> tuple[Scalar, ...] | None:
    """Starts of months and so on, from that of the first moment to that of the last."""
    assert isinstance(unit, Literal)
    assert isinstance(unit.value, str)
    low, high = domain.low, domain.high
    if not (isinstance(low, dt.date) and isinstance(high, dt.date)):
        return None
    step = _EXACT_UNITS.get(unit.value)
    if step is not None and isinstance(low, dt.datetime) and isinstance(high, dt.datetime):
        count = (high - low) // step + 1
        return tuple(low + i * step for i in range(count)) if count <= LARGEST_LIST else None
    first, last = low.toordinal(), high.toordinal()
    days = (dt.date.fromordinal(i) for i in range(first, last + 1))
    starts = (truncate(unit.value, day) for day in days)
    if domain.kind is Kind.DATE:
        return _distinct(starts)
    return _distinct(dt.datetime.combine(s, dt.time()) for s in starts if isinstance(s, dt.date))


def _distinct(values: Iterable[Scalar | None]) -> tuple[Scalar, ...]:
    return tuple(dict.fromkeys(value for value in values if value is not None))
