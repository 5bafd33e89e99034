"""How SQL spells our operators: each function of the parser, its arguments in our order.

Spellings of DuckDB, Postgres and Spark that mean the same are one line here; those that differ in
meaning between engines are refused, or are defined by our own operator.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from sqlglot import exp

from deniable.query.aggregates import spelled


@dataclass(frozen=True)
class Shape:
    """An operator and which arguments of the parser's node it takes, in order."""

    op: str
    args: tuple[str, ...] = ("this",)


_BINARY: Final = ("this", "expression")
# Operators of one value that the parser calls as we do.
_SAME: Final = (
    *(exp.Abs, exp.Sign, exp.Floor, exp.Ceil, exp.Sqrt, exp.Ln, exp.Exp),
    *(exp.Lower, exp.Upper, exp.Trim, exp.Length),
    *(exp.Year, exp.Quarter, exp.Month, exp.Day, exp.Hour, exp.Minute),
)

FUNCTIONS: Final[dict[type[exp.Expr], Shape]] = {
    **{kind: Shape(kind.__name__.lower()) for kind in _SAME},
    exp.DayOfMonth: Shape("day"),
    exp.DayOfWeek: Shape("dow"),
    exp.DayOfWeekIso: Shape("monday_1"),
    exp.DayOfYear: Shape("doy"),
    exp.Date: Shape("to_date"),
    exp.Neg: Shape("negate"),
    exp.Add: Shape("add", _BINARY),
    exp.Sub: Shape("subtract", _BINARY),
    exp.Mul: Shape("multiply", _BINARY),
    exp.Div: Shape("divide", _BINARY),
    exp.IntDiv: Shape("floor_divide", _BINARY),
    exp.Mod: Shape("modulo", _BINARY),
    exp.Pow: Shape("power", _BINARY),
    exp.EQ: Shape("eq", _BINARY),
    exp.NEQ: Shape("ne", _BINARY),
    exp.LT: Shape("lt", _BINARY),
    exp.LTE: Shape("le", _BINARY),
    exp.GT: Shape("gt", _BINARY),
    exp.GTE: Shape("ge", _BINARY),
    exp.NullSafeEQ: Shape("same", _BINARY),
    exp.Nullif: Shape("nullif", _BINARY),
    exp.Left: Shape("left", _BINARY),
    exp.DPipe: Shape("concat", _BINARY),
    exp.StartsWith: Shape("starts_with", _BINARY),
    exp.EndsWith: Shape("ends_with", _BINARY),
    exp.Contains: Shape("contains", _BINARY),
    exp.Extract: Shape("extract", _BINARY),
    exp.Concat: Shape("concat", ("expressions",)),
    exp.Coalesce: Shape("coalesce", ("this", "expressions")),
    exp.Least: Shape("least", ("this", "expressions")),
    exp.Greatest: Shape("greatest", ("this", "expressions")),
    exp.Between: Shape("between", ("this", "low", "high")),
    exp.Round: Shape("round", ("this", "decimals")),
    exp.Substring: Shape("substr", ("this", "start", "length")),
    exp.WidthBucket: Shape("width_bucket", ("this", "min_value", "max_value", "num_buckets")),
    exp.TimestampTrunc: Shape("date_trunc", ("unit", "this")),
    exp.DateTrunc: Shape("date_trunc", ("unit", "this")),
    exp.DateDiff: Shape("date_diff", ("unit", "expression", "this")),
}

# Functions the parser has no name for.
NAMED: Final[dict[str, str]] = {
    **{name: name for name in ("bin", "clip", "dow", "doy", "power")},
    **dict.fromkeys(("prefix", "startswith"), "starts_with"),
    **dict.fromkeys(("suffix", "endswith"), "ends_with"),
    **dict.fromkeys(("date_part", "datepart"), "extract"),
    "clamp": "clip",
    "iff": "if",
}

# Words of EXTRACT and DATE_PART that are operators of ours.
_OTHERWISE: Final = {"dayofweek": "dow", "weekday": "dow", "dayofyear": "doy"}
_WORDS: Final = "year quarter month day dow dayofweek weekday doy dayofyear hour minute"
PARTS: Final[dict[str, str]] = {word: _OTHERWISE.get(word, word) for word in _WORDS.split()}

_SPELLED: Final = spelled("sql")
# Aggregates: the function that each is, and the arguments that it may have.
AGGREGATES: Final[dict[type[exp.Expr], Shape]] = {
    kind: Shape(
        function, tuple(n for n in ("this", "quantile", "expression") if n in kind.arg_types)
    )
    for name, function in _SPELLED.items()
    if name[0].isupper() and (kind := getattr(exp, name))
}
# Aggregates the parser has no name for.
NAMED_AGGREGATES: Final = {n: function for n, function in _SPELLED.items() if n[0].islower()}

CASTS: Final[dict[str, str]] = {
    **dict.fromkeys(("TINYINT", "SMALLINT", "MEDIUMINT", "INT", "BIGINT"), "to_int"),
    **dict.fromkeys(("FLOAT", "DOUBLE"), "to_float"),
    **dict.fromkeys(("TEXT", "VARCHAR", "CHAR", "NVARCHAR", "NCHAR"), "to_text"),
    "BOOLEAN": "to_bool",
    "DATE": "to_date",
    **dict.fromkeys(("TIMESTAMP", "TIMESTAMPNTZ", "DATETIME"), "to_timestamp"),
}
