"""Why a part of SQL is refused and what to write instead: what, why, fix."""

from __future__ import annotations

from typing import Final

from sqlglot import exp

Refusal = tuple[str, str, str]

_OTHERS: Final = "one person's row would count for others: nobody could say how much it changes"
_SCALAR: Refusal = (
    "a subquery inside an expression reads other people's rows",
    _OTHERS,
    "ask the inner question first, and write its (noisy) answer as a number",
)
_WINDOW: Refusal = (
    "window functions look at other people's rows",
    _OTHERS,
    "(SELECT user_id, ... GROUP BY user_id) sums up each person's own rows",
)
_UNION: Refusal = (
    "UNION, INTERSECT and EXCEPT cannot be bounded",
    "a person could be counted on both sides",
    "ask each side as a question of its own",
)
_RANDOM: Refusal = (
    "the answer would change from one run to the next",
    "a question must mean the same whenever it is asked",
    "write the date or the number you mean: DATE '2026-12-31'",
)
_PATTERN: Refusal = (
    "regular expressions are not the same on every engine",
    "what a row counts for would depend on the engine",
    "LIKE, contains, starts_with or ends_with",
)
_ROWS: Refusal = (
    "this would publish rows; only aggregates can be private",
    "a row is about one person",
    "COUNT, SUM, AVG, MEDIAN, ... with GROUP BY",
)

REASONS: Final[dict[type[exp.Expr], Refusal]] = {
    exp.Exists: _SCALAR,
    exp.All: _SCALAR,
    exp.Any: _SCALAR,
    exp.Window: _WINDOW,
    exp.Union: _UNION,
    exp.Intersect: _UNION,
    exp.Except: _UNION,
    exp.Rand: _RANDOM,
    exp.CurrentDate: _RANDOM,
    exp.CurrentTime: _RANDOM,
    exp.CurrentTimestamp: _RANDOM,
    exp.Uuid: _RANDOM,
    exp.RegexpLike: _PATTERN,
    exp.SimilarTo: _PATTERN,
    exp.ArrayAgg: _ROWS,
    exp.GroupConcat: _ROWS,
    exp.AnyValue: _ROWS,
    exp.First: _ROWS,
    exp.Last: _ROWS,
    exp.ArgMax: _ROWS,
    exp.ArgMin: _ROWS,
    exp.IgnoreNulls: _ROWS,
    exp.Log: (
        "LOG means another base on another engine",
        "the same question must have the same answer everywhere",
        "LN(x), or LN(x) / LN(10)",
    ),
    exp.Array: (
        "lists are not among what can be asked",
        "every column of an answer is one number for each group",
        "QUANTILE(x, 0.1) AS a, QUANTILE(x, 0.9) AS b",
    ),
    exp.Placeholder: (
        "a question has no parameters",
        "its text is what is priced and written in the ledger",
        "write the value itself",
    ),
}

CLAUSES: Final[dict[str, Refusal]] = {
    "query": (
        "IN (SELECT ...) reads other people's rows",
        _OTHERS,
        "JOIN on the person, or list the values: IN ('a', 'b')",
    ),
    "recursive": ("a recursive question cannot be bounded", _OTHERS, ""),
    "qualify": _WINDOW,
    "windows": _WINDOW,
    "sample": (
        "sampling is left to deniable",
        "a random sample drawn by the engine would be neither private nor repeatable",
        "leave it out: bounding keeps what can be kept",
    ),
    "method": ("only plain JOIN and LEFT JOIN can be bounded", _OTHERS, "JOIN ... USING (user_id)"),
    "laterals": ("LATERAL cannot be bounded", _OTHERS, ""),
    "pivots": ("PIVOT takes its columns from the rows", _OTHERS, "COUNT(*) FILTER (WHERE ...)"),
    "limit_options": ("LIMIT takes a number of rows", "", "LIMIT 10"),
    "db": ("tables have plain names here", "", "write the name that the session gives the table"),
    "locks": ("nothing is locked", "", "leave out FOR UPDATE"),
    "on": ("DISTINCT ON picks rows", "which row is first depends on the engine", "GROUP BY"),
}
