"""Operations of Ibis that have a name among ours: their arguments in our order."""

from __future__ import annotations

from typing import Any, Final

from ibis.expr import operations as ops

# Operations that Ibis calls as we do, and others; with two arguments, and with one.
_PAIRS: Final = {
    **{op: op.__name__.lower() for op in (ops.Add, ops.Subtract, ops.Multiply, ops.Divide)},
    ops.Modulus: "modulo",
    ops.FloorDivide: "floor_divide",
    ops.Power: "power",
    ops.Equals: "eq",
    ops.NotEquals: "ne",
    ops.Less: "lt",
    ops.LessEqual: "le",
    ops.Greater: "gt",
    ops.GreaterEqual: "ge",
    ops.IdenticalTo: "same",
    ops.Xor: "ne",
}
_SINGLE: Final = {
    **{op: op.__name__.lower() for op in (ops.Negate, ops.Abs, ops.Sign, ops.Floor, ops.Ceil)},
    **{op: op.__name__.lower() for op in (ops.Sqrt, ops.Ln, ops.Exp, ops.Not)},
    **{op: op.__name__.lower() for op in (ops.Coalesce, ops.Least, ops.Greatest)},
    ops.IsNull: "is_null",
    ops.NotNull: "present",
    ops.Lowercase: "lower",
    ops.Uppercase: "upper",
    ops.Strip: "trim",
    ops.StringLength: "length",
    ops.StringConcat: "concat",
    ops.ExtractYear: "year",
    ops.ExtractQuarter: "quarter",
    ops.ExtractMonth: "month",
    ops.ExtractDay: "day",
    ops.ExtractDayOfYear: "doy",
    ops.DayOfWeekIndex: "monday_0",
    ops.ExtractHour: "hour",
    ops.ExtractMinute: "minute",
    ops.Date: "to_date",
}
# Class of the operation: (our name for it, names of the operation's arguments).
FUNCTIONS: Final[dict[Any, tuple[str, tuple[str, ...]]]] = {
    **{node: (op, ("left", "right")) for node, op in _PAIRS.items()},
    **{node: (op, ("arg",)) for node, op in _SINGLE.items()},
    ops.Between: ("between", ("arg", "lower_bound", "upper_bound")),
    ops.NullIf: ("nullif", ("arg", "null_if_expr")),
    ops.StringContains: ("contains", ("haystack", "needle")),
    ops.StartsWith: ("starts_with", ("arg", "start")),
    ops.EndsWith: ("ends_with", ("arg", "end")),
    ops.IfElse: ("case", ("bool_expr", "true_expr", "false_null_expr")),
}
