"""Why a part of SQL is refused and what to write instead: what, why, fix."""

from __future__ import annotations

from typing import Final

from sqlglot import exp

from deniable.errors import UnsupportedQuery
from deniable.fixes import Fixes, own_rows
from deniable.query.bind.members import OTHERS
from deniable.snippets import Snippet

Refusal = tuple[str, str, Fixes]


def refused(refusal: Refusal, snippet: Snippet | None = None) -> UnsupportedQuery:
    """The error that says what, why, and what to write."""
    what, why, fix = refusal
    return UnsupportedQuery(what, why=why, fix=fix, snippet=snippet)


_SCALAR: Refusal = (
    "a subquery inside an expression reads other people's rows",
    OTHERS,
    "release the inner query first, and write its noisy answer as a number",
)
SUMMARISED: Final = own_rows(
    "or summarise each person's rows first: (SELECT user_id, ... GROUP BY user_id)"
)
_WINDOW: Refusal = (
    "window functions look at other people's rows",
    OTHERS,
    (
        "leave out OVER and release: shares, ranks and running totals of the answer are then free",
        SUMMARISED,
    ),
)
_SETS: Refusal = (
    "INTERSECT and EXCEPT cannot be bounded",
    "one person's row would decide whether another's counts",
    (
        own_rows("compare each person's own rows: user_id IN (SELECT user_id FROM ...), or NOT IN"),
        "ask about each table by itself",
    ),
)
_READS: Refusal = (
    "table functions are not supported",
    "a session reads only the tables it was opened with",
    "name a table of the session after FROM",
)
_RANDOM: Refusal = (
    "the answer would change from one run to the next",
    "a query must compute the same result each time it runs",
    "write the date or the number you mean: DATE '2026-12-31'",
)
_PATTERN: Refusal = (
    "regular expressions differ between engines",
    "the result would depend on the engine",
    "LIKE, contains, starts_with or ends_with",
)
_TIME_TEXT: Refusal = (
    "dates cannot be formatted as text before counting",
    "date formats differ between engines",
    "DATE_TRUNC('month', d), YEAR(d), MONTH(d), DAY(d), dow(d); format the answer",
)
_WEEK: Refusal = (
    "week numbers differ between engines",
    "a query must have the same answer on every engine",
    "DATE_TRUNC('week', d): the Monday that a week starts with",
)
_TRUTH: Refusal = (
    "whether any row, or every row, meets a condition depends on one person",
    "one person could change the answer from false to true",
    "COUNT_IF(condition), or AVG(CAST(condition AS BIGINT)) for the share",
)
_MOMENTS: Refusal = (
    "this moment is not supported",
    "its noise would have to scale with a power of the bounds",
    "VARIANCE(x), STDDEV(x), and quantiles: QUANTILE(x, 0.05) AS low, QUANTILE(x, 0.95) AS high",
)
_TOP: Refusal = (
    "MODE is not supported; count the groups and take the largest",
    "",
    "SELECT x, COUNT(*) AS n FROM ... GROUP BY x ORDER BY n DESC LIMIT 1",
)
_ROWS: Refusal = (
    "this function would publish people's values; only statistics can be private",
    "a row is about one person",
    "COUNT, SUM, AVG, MEDIAN, ... with GROUP BY",
)

REASONS: Final[dict[type[exp.Expr], Refusal]] = {
    exp.All: _SCALAR,
    exp.ReadCSV: _READS,
    exp.ReadParquet: _READS,
    exp.Window: _WINDOW,
    **dict.fromkeys((exp.Intersect, exp.Except), _SETS),
    **dict.fromkeys((exp.Rand, exp.Uuid, exp.CurrentDate), _RANDOM),
    **dict.fromkeys((exp.CurrentTime, exp.CurrentTimestamp), _RANDOM),
    **dict.fromkeys((exp.TimeToStr, exp.ToChar, exp.Dayname, exp.Monthname), _TIME_TEXT),
    **dict.fromkeys((exp.Week, exp.WeekOfYear), _WEEK),
    **dict.fromkeys((exp.LogicalOr, exp.LogicalAnd), _TRUTH),
    **dict.fromkeys((exp.Kurtosis, exp.Skewness), _MOMENTS),
    **dict.fromkeys((exp.Mode, exp.ApproxTopK), _TOP),
    **dict.fromkeys((exp.RegexpLike, exp.SimilarTo), _PATTERN),
    **dict.fromkeys((exp.ArrayAgg, exp.GroupConcat, exp.AnyValue, exp.IgnoreNulls), _ROWS),
    **dict.fromkeys((exp.First, exp.Last, exp.ArgMax, exp.ArgMin), _ROWS),
    exp.Exists: (
        "EXISTS (SELECT ...) looks up another table for every row",
        OTHERS,
        (
            "x IN (SELECT column FROM a public table)",
            own_rows("or compare each person's own rows: user_id IN (SELECT user_id FROM ...)"),
        ),
    ),
    exp.Any: (
        "ANY takes a list, and lists are not supported",
        "",
        "x IN (1, 2, 3), or x IN (SELECT column FROM a public table)",
    ),
    exp.Trunc: (
        "TRUNC differs between engines",
        "a query must have the same answer on every engine",
        "FLOOR(x), ROUND(x, digits), or DATE_TRUNC('month', d)",
    ),
    exp.Log: (
        "the base of LOG differs between engines",
        "a query must have the same answer on every engine",
        "LN(x), or LN(x) / LN(10)",
    ),
    exp.Array: (
        "lists are not supported",
        "every answer column has one number per group",
        "QUANTILE(x, 0.1) AS a, QUANTILE(x, 0.9) AS b",
    ),
    exp.Placeholder: (
        "a query cannot have parameters",
        "the ledger records its full text",
        "write the value itself",
    ),
}

ON_ROWS: Final[dict[type[exp.Expr], Refusal]] = {
    **dict.fromkeys((exp.Subquery, exp.Select), _SCALAR),
    exp.Interval: ("an interval can only be added to a date", "", "DATE ... + INTERVAL 1 DAY"),
}
"""What is understood elsewhere, but not in an expression about single rows."""

NAMED_REASONS: Final[dict[str, Refusal]] = {
    **dict.fromkeys(("now", "getdate", "random", "gen_random_uuid"), _RANDOM),
    **dict.fromkeys(("date_format", "format_datetime"), _TIME_TEXT),
    **dict.fromkeys(("yearweek", "week_of_year"), _WEEK),
    **dict.fromkeys(("skew", "product", "entropy", "mad", "geomean"), _MOMENTS),
    "age": (
        "AGE depends on the day it runs",
        "a query must compute the same result each time it runs",
        "DATE_DIFF('day', d, DATE '2026-12-31') / 365.25",
    ),
}
"""Functions that the parser has no name for."""

CLAUSES: Final[dict[str, Refusal]] = {
    "recursive": ("a recursive query cannot be bounded", OTHERS, ""),
    "qualify": _WINDOW,
    "windows": _WINDOW,
    "sample": (
        "sampling is not supported",
        "a random sample drawn by the engine is neither private nor repeatable",
        "remove TABLESAMPLE",
    ),
    "method": ("only plain JOIN and LEFT JOIN can be bounded", OTHERS, "JOIN ... USING (column)"),
    "laterals": ("LATERAL cannot be bounded", OTHERS, ""),
    "pivots": ("PIVOT takes its columns from the rows", OTHERS, "COUNT(*) FILTER (WHERE ...)"),
    "limit_options": ("LIMIT takes a number of rows", "", "LIMIT 10"),
    "db": (
        "a table name cannot have a schema or catalog",
        "",
        "use the table's name in the session",
    ),
    "locks": ("nothing is locked", "", "leave out FOR UPDATE"),
    "on": ("DISTINCT ON picks rows", "which row is first depends on the engine", "GROUP BY"),
}
