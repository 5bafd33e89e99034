"""Why an operation of Ibis is refused, and the nearest that is not."""

from __future__ import annotations

import re
from typing import Any, Final

from ibis.expr import operations as ops

from deniable.errors import UnsupportedQuery
from deniable.fixes import Fixes, own_rows
from deniable.query.bind.members import OTHERS

Refusal = tuple[str, str, Fixes]

_ROWS: Final = "which rows are kept depends on other people's rows"
_SUBQUERY: Refusal = (
    "a value of the whole table inside an expression reads other people's rows",
    OTHERS,
    "ask for it first, and write its (noisy) answer as a number",
)
_SET: Refusal = (
    "intersect and difference cannot be bounded",
    "one person's row would decide whether another's counts",
    (
        own_rows(
            "", 't.filter(t["user_id"].isin(other["user_id"])) compares each person\'s own rows'
        ),
        "ask about each table by itself",
    ),
)
_RANDOM: Refusal = (
    "the answer would change from one run to the next",
    "a query must compute the same result each time it runs",
    'write the date or the number you mean: ibis.date("2026-12-31")',
)
_PATTERN: Refusal = (
    "regular expressions differ between engines",
    "the result would depend on the engine",
    ".like, .contains, .startswith or .endswith",
)
_PUBLISHED: Refusal = (
    "this would publish somebody's value",
    "a row is about one person",
    ".median(), .quantile(0.9), .min() or .max()",
)
_RAW: Refusal = (
    "SQL inside an Ibis expression is not read",
    "only what is understood can be bounded",
    's.sql("SELECT ...")',
)
_LISTS: Refusal = (
    "an answer is one number for each group, not a list",
    "",
    ".agg(a=t.x.quantile(0.1), b=t.x.quantile(0.9))",
)
_LOG: Refusal = (
    "logarithms here are natural ones",
    "others are not the same on every engine",
    ".ln(), or .ln() / 2.302585092994046",
)
_STRIP: Refusal = ("spaces are taken from both ends", "", ".strip()")

_REASONS: Final[dict[Any, Refusal]] = {
    **dict.fromkeys((ops.ScalarSubquery, ops.ExistsSubquery), _SUBQUERY),
    **dict.fromkeys((ops.Intersection, ops.Difference), _SET),
    **dict.fromkeys((ops.RandomScalar, ops.RandomUUID, ops.TimestampNow, ops.DateNow), _RANDOM),
    **dict.fromkeys((ops.RegexSearch, ops.RegexExtract, ops.RegexReplace), _PATTERN),
    **dict.fromkeys((ops.First, ops.Last, ops.Arbitrary, ops.ArgMax, ops.ArgMin), _PUBLISHED),
    **dict.fromkeys((ops.Mode, ops.ArrayCollect, ops.GroupConcat), _PUBLISHED),
    **dict.fromkeys((ops.MultiQuantile, ops.ApproxMultiQuantile), _LISTS),
    **dict.fromkeys((ops.SQLQueryResult, ops.SQLStringView), _RAW),
    **dict.fromkeys((ops.Log, ops.Log2, ops.Log10), _LOG),
    ops.InSubquery: (
        "isin(column of a table) belongs in .filter(...)",
        OTHERS,
        '.filter(t.x.isin(other.x)), or list the values: .isin(["a", "b"])',
    ),
    ops.WindowFunction: (
        "window functions look at other people's rows",
        OTHERS,
        (
            "leave it out: ranks and running totals of the answer are free",
            own_rows("", 't.group_by("user_id").agg(...) summarises each person\'s own rows'),
        ),
    ),
    ops.CountDistinctStar: ("nunique counts the values of one column", "", "t.column.nunique()"),
    ops.Any: ("any reveals whether a single row is there", "", "t.count(where=...)"),
    ops.All: ("all reveals whether a single row is there", "", "t.count(where=...)"),
    ops.Sample: (
        "sampling is not supported",
        "a random sample drawn by the engine is neither private nor repeatable",
        "remove .sample()",
    ),
    ops.Limit: (
        "limit of rows cannot be bounded",
        _ROWS,
        "leave it out: the privacy unit limits the rows per person",
    ),
    ops.InMemoryTable: (
        "a table in memory is none of the session's",
        "a question names the session's tables",
        'ibis.table({"age": "int64"}, name="data"), or a table given to dp.open',
    ),
    ops.IsNan: ("NaN is a missing value here", "engines disagree about NaN", ".isnull()"),
    ops.DayOfWeekName: (
        "names of days depend on the engine's language",
        "",
        ".day_of_week.index()    (0 is Monday)",
    ),
    ops.Strftime: (
        "formats of dates are not the same on every engine",
        "",
        ".year(), .month(), .day(), or .truncate('M')",
    ),
    **{
        kind: (f"the difference of {what} is a number of days here", "", 'a.delta(b, unit="day")')
        for kind, what in ((ops.DateDiff, "dates"), (ops.TimestampDiff, "timestamps"))
    },
    ops.StrRight: ("letters are counted from the front", "", ".substr(0, 3), or .endswith(...)"),
    **dict.fromkeys((ops.LStrip, ops.RStrip), _STRIP),
}


# Methods and functions that are not called like the class of their operation; Ibis itself adds
# those without a name.
_METHODS: Final = {
    "ApproxCountDistinct": "approx_nunique",
    "ApproxMultiQuantile": "approx_quantile",
    "ArgMax": "argmax",
    "ArgMin": "argmin",
    "ArrayCollect": "collect",
    "Correlation": "corr",
    "CountDistinct": "nunique",
    "CountDistinctStar": "nunique",
    "CountStar": "count",
    "Covariance": "cov",
    "DateDiff": "delta",
    "DateNow": "today",
    "DayOfWeekName": "day_of_week.full_name",
    "ExistsSubquery": "",
    "InMemoryTable": "memtable",
    "InSubquery": "isin",
    "Intersection": "intersect",
    "IsNan": "isnan",
    "MultiQuantile": "quantile",
    "RandomScalar": "random",
    "RandomUUID": "uuid",
    "RegexExtract": "re_extract",
    "RegexReplace": "re_replace",
    "RegexSearch": "re_search",
    "SQLQueryResult": "sql",
    "SQLStringView": "sql",
    "ScalarParameter": "param",
    "ScalarSubquery": "",
    "StandardDev": "std",
    "StrRight": "right",
    "TimestampDiff": "delta",
    "TimestampNow": "now",
    "Variance": "var",
    "WindowFunction": "over",
}


def method(kind: type) -> str:
    """What one writes for an operation."""
    name = kind.__name__
    return _METHODS.get(name, re.sub(r"(?<=[a-z])(?=[A-Z])", "_", name).lower())


def refused(node: Any) -> UnsupportedQuery:
    """The error for an operation that is not on our list."""
    written = method(type(node))
    for kind in type(node).__mro__:
        if kind in _REASONS:
            what, why, fix = _REASONS[kind]
            return UnsupportedQuery(": ".join(filter(None, (written, what))), why=why, fix=fix)
    return UnsupportedQuery(
        f"{written[:40]} is not among the operations of Ibis that can be asked",
        why="only operations that mean the same on every engine and cannot fail are run",
        fix="the guide “Ask with DataFrames” lists what can be asked",
    )


def shown(node: Any) -> str:
    """An aggregate as one would write it; names of Ibis grow without end where parts are shared."""
    args = [getattr(node, name, None) for name in ("arg", "left", "right")]
    first, *more = (_named(arg) for arg in args if arg is not None)
    return f"{first}.{method(type(node))}({', '.join(more)})"


def _named(arg: Any) -> str:
    return str(arg.name) if type(arg) is ops.Field else "(...)"
