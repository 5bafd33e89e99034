"""Operations of Ibis that have a name among ours: their arguments in our order."""

from __future__ import annotations

from typing import Any, Final

from ibis.expr import operations as ops

# Class of the operation: (our name for it, names of the operation's arguments).
FUNCTIONS: Final[dict[Any, tuple[str, tuple[str, ...]]]] = {
    **{
        node: (op, ("left", "right"))
        for node, op in {
            ops.Add: "add",
            ops.Subtract: "subtract",
            ops.Multiply: "multiply",
            ops.Divide: "divide",
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
        }.items()
    },
    **{
        node: (op, ("arg",))
        for node, op in {
            ops.Negate: "negate",
            ops.Abs: "abs",
            ops.Sign: "sign",
            ops.Floor: "floor",
            ops.Ceil: "ceil",
            ops.Sqrt: "sqrt",
            ops.Ln: "ln",
            ops.Exp: "exp",
            ops.Not: "not",
            ops.IsNull: "is_null",
            ops.NotNull: "present",
            ops.Coalesce: "coalesce",
            ops.Least: "least",
            ops.Greatest: "greatest",
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
        }.items()
    },
    ops.Between: ("between", ("arg", "lower_bound", "upper_bound")),
    ops.NullIf: ("nullif", ("arg", "null_if_expr")),
    ops.StringContains: ("contains", ("haystack", "needle")),
    ops.StartsWith: ("starts_with", ("arg", "start")),
    ops.EndsWith: ("ends_with", ("arg", "end")),
    ops.IfElse: ("case", ("bool_expr", "true_expr", "false_null_expr")),
}
