"""What can be summed: values with bounds, and a rule for those that are missing."""

from __future__ import annotations

from typing import Final

from deniable import fixes
from deniable.errors import MissingBounds, MissingRule, UnsupportedQuery
from deniable.fixes import Fix
from deniable.query.algebra import Expression, Kind, call, columns_of
from deniable.snippets import Snippet

from .scope import Names

_DAYS: Final = fixes.sql(
    "MIN, MAX and MEDIAN; or a number: DATE_DIFF('day', DATE '2020-12-31', ...)",
    'min, max and median; or a number: .delta(ibis.date("2020-12-31"), unit="day")',
)
_CASTS: Final = {
    Kind.DATE: _DAYS,
    Kind.TIMESTAMP: _DAYS,
}


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
    """The aggregate of numbers made of what are none."""
    if argument.kind is not Kind.TEXT:
        return _CASTS.get(argument.kind, "")
    function, _, rest = what.partition("(")
    inner = rest.removesuffix(")") if rest and "," not in rest else "..."
    number = f"CAST({inner} AS DOUBLE)"
    return fixes.sql(
        f"{function}({number})" if rest else number,
        '.cast("float64")',
        note="if the text contains numbers",
    )


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
        raise MissingBounds.of(
            what,
            column,
            table=table,
            type=known.kind.value,
            snippet=_noted(snippet, f"`{column}` has no bounds in the schema of `{table}`"),
        )
    half = argument.domain.low is not None
    raise MissingBounds(
        f"{what} needs bounds, and none can be derived for this expression",
        why="noise is sized to the most one person can change the answer",
        fix=fixes.sql(
            f"{'LEAST(..., HIGH)' if half else 'CLAMP(..., LOW, HIGH)'} around it",
            f"{'.clip(upper=HIGH)' if half else '.clip(LOW, HIGH)'} after it",
            "(what is plausible; do not look at the data)",
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
    return column.domain.numeric or column.kind in (Kind.DATE, Kind.TIMESTAMP)


def check_rule(argument: Expression, *, names: Names, snippet: Snippet | None) -> None:
    """MissingRule where a value may be missing and nobody said what that counts as."""
    if argument.domain.ruled or not argument.domain.nullable:
        return
    for column in columns_of(argument).values():
        if column.domain.nullable and not column.domain.ruled:
            table, name = names.origin.get(column.name, ("the table", column.name))
            error = MissingRule.of(name, table=table, type=column.kind.value)
            error.snippet = snippet
            raise error


def _noted(snippet: Snippet | None, note: str) -> Snippet | None:
    if snippet is None:
        return None
    return Snippet(text=snippet.text, start=snippet.start, end=snippet.end, note=note)
