"""How SQL spells our operators: each function of the parser, its arguments in our order.

Spellings of DuckDB, Postgres and Spark that mean the same are one line here; those that differ in
meaning between engines are refused, or are defined by our own operator.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from sqlglot import exp

from deniable.query.aggregates import spelled
from deniable.query.algebra import Function


@dataclass(frozen=True, kw_only=True)
class Shape:
    """An operator and which arguments of the parser's node it takes, in order."""

    op: str
    args: tuple[str, ...]


def _shape(op: str, *args: str) -> Shape:
    return Shape(op=op, args=args or ("this",))


FUNCTIONS: Final[dict[type[exp.Expr], Shape]] = {
    exp.Add: _shape("add", "this", "expression"),
    exp.Sub: _shape("subtract", "this", "expression"),
    exp.Mul: _shape("multiply", "this", "expression"),
    exp.Div: _shape("divide", "this", "expression"),
    exp.IntDiv: _shape("floor_divide", "this", "expression"),
    exp.Mod: _shape("modulo", "this", "expression"),
    exp.Pow: _shape("power", "this", "expression"),
    exp.Abs: _shape("abs"),
    exp.Sign: _shape("sign"),
    exp.Floor: _shape("floor"),
    exp.Ceil: _shape("ceil"),
    exp.Round: _shape("round", "this", "decimals"),
    exp.Sqrt: _shape("sqrt"),
    exp.Ln: _shape("ln"),
    exp.Exp: _shape("exp"),
    exp.Least: _shape("least", "this", "expressions"),
    exp.Greatest: _shape("greatest", "this", "expressions"),
    exp.WidthBucket: _shape("width_bucket", "this", "min_value", "max_value", "num_buckets"),
    exp.EQ: _shape("eq", "this", "expression"),
    exp.NEQ: _shape("ne", "this", "expression"),
    exp.LT: _shape("lt", "this", "expression"),
    exp.LTE: _shape("le", "this", "expression"),
    exp.GT: _shape("gt", "this", "expression"),
    exp.GTE: _shape("ge", "this", "expression"),
    exp.Coalesce: _shape("coalesce", "this", "expressions"),
    exp.Nullif: _shape("nullif", "this", "expression"),
    exp.Lower: _shape("lower"),
    exp.Upper: _shape("upper"),
    exp.Trim: _shape("trim"),
    exp.Length: _shape("length"),
    exp.Substring: _shape("substr", "this", "start", "length"),
    exp.Left: _shape("left", "this", "expression"),
    exp.DPipe: _shape("concat", "this", "expression"),
    exp.Concat: _shape("concat", "expressions"),
    exp.StartsWith: _shape("starts_with", "this", "expression"),
    exp.EndsWith: _shape("ends_with", "this", "expression"),
    exp.Contains: _shape("contains", "this", "expression"),
    exp.Extract: _shape("extract", "this", "expression"),
    exp.Year: _shape("year"),
    exp.Quarter: _shape("quarter"),
    exp.Month: _shape("month"),
    exp.Day: _shape("day"),
    exp.DayOfMonth: _shape("day"),
    exp.DayOfWeek: _shape("dow"),
    exp.DayOfWeekIso: _shape("monday_1"),
    exp.DayOfYear: _shape("doy"),
    exp.Hour: _shape("hour"),
    exp.Minute: _shape("minute"),
    exp.TimestampTrunc: _shape("date_trunc", "unit", "this"),
    exp.DateTrunc: _shape("date_trunc", "unit", "this"),
    exp.DateDiff: _shape("date_diff", "unit", "expression", "this"),
    exp.Date: _shape("to_date"),
}

# Functions the parser has no name for.
NAMED: Final[dict[str, str]] = {
    "bin": "bin",
    "clamp": "clip",
    "clip": "clip",
    "iff": "if",
    "prefix": "starts_with",
    "startswith": "starts_with",
    "suffix": "ends_with",
    "endswith": "ends_with",
    "dow": "dow",
    "doy": "doy",
    "power": "power",
    "date_part": "extract",
    "datepart": "extract",
}

# Words of EXTRACT and DATE_PART that are operators of ours.
PARTS: Final[dict[str, str]] = {
    "year": "year",
    "quarter": "quarter",
    "month": "month",
    "day": "day",
    "dow": "dow",
    "dayofweek": "dow",
    "weekday": "dow",
    "doy": "doy",
    "dayofyear": "doy",
    "hour": "hour",
    "minute": "minute",
}

_SPELLED: Final = spelled("sql")


def _aggregate(kind: type[exp.Expr], function: Function) -> Shape:
    read = (name for name in ("this", "quantile", "expression") if name in kind.arg_types)
    return _shape(function, *read)


# Aggregates: the function that each is, and the arguments that it may have.
AGGREGATES: Final[dict[type[exp.Expr], Shape]] = {
    kind: _aggregate(kind, function)
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
