"""An engine in Python for pieces of SQL trees: it fails where the float8 of Postgres does."""

import math

from sqlglot import exp

IEEE = {
    exp.Add: lambda x, y: x + y, exp.Sub: lambda x, y: x - y, exp.Mul: lambda x, y: x * y,
    exp.Div: lambda x, y: x / y,
}  # fmt: skip
COMPARED = {
    exp.LT: float.__lt__, exp.GT: float.__gt__, exp.LTE: float.__le__, exp.GTE: float.__ge__,
    exp.EQ: float.__eq__,
}  # fmt: skip


class OutOfRange(ArithmeticError):
    """As Postgres says."""


def arithmetic(kind, x, y):
    """float8 of Postgres: it fails where a finite result overflows, or another vanishes."""
    if x is None or y is None:
        return None
    if kind is exp.Div and y == 0:
        raise OutOfRange("division by zero")
    made = IEEE[kind](x, y)
    if math.isinf(made) and not (math.isinf(x) or math.isinf(y)):
        raise OutOfRange("overflow")
    vanished = made == 0 and x != 0 and not (math.isinf(y) if kind is exp.Div else y == 0)
    if vanished and kind in (exp.Mul, exp.Div):
        raise OutOfRange("underflow")
    return made


def worked_out(node, row):
    match node:
        case exp.Paren() | exp.Cast():
            return worked_out(node.this, row)
        case exp.Literal():
            return float(node.this)
        case exp.Neg():
            return -worked_out(node.this, row)
        case exp.Column():
            return row[node.name]
        case exp.Case():
            for each in node.args["ifs"]:
                if worked_out(each.this, row):
                    return worked_out(each.args["true"], row)
            return worked_out(node.args["default"], row)
        case exp.Anonymous():
            return called(node.this, [worked_out(each, row) for each in node.expressions])
        case exp.And():
            return worked_out(node.left, row) and worked_out(node.right, row)
        case exp.Or():
            return worked_out(node.left, row) or worked_out(node.right, row)
        case exp.Not():
            return not worked_out(node.this, row)
        case exp.Is():
            return worked_out(node.this, row) is None
        case exp.Nullif():
            value = worked_out(node.this, row)
            return None if math.isnan(value) else value
    left, right = (worked_out(each, row) for each in (node.left, node.right))
    return (
        COMPARED[type(node)](left, right)
        if type(node) in COMPARED
        else arithmetic(type(node), left, right)
    )


def called(name, args):
    """A function of Postgres; None is missing."""
    if None in args:
        return None
    match name, *args:
        case "EXP", x:
            return finite(lambda: math.exp(x), x)
        case "LN", x:
            if x <= 0:
                raise OutOfRange("logarithm of zero or less")
            return math.log(x)
        case "POWER", x, y:
            if (x == 0 and y < 0) or (x < 0 and not y.is_integer()):
                raise OutOfRange("power")
            return finite(lambda: math.pow(x, y), x, y)
    return {"ABS": abs, "GREATEST": max, "LEAST": min, "FLOOR": floor}[name](*args)


def floor(x):
    return x if math.isinf(x) else float(math.floor(x))


def finite(made, *given):
    """What finite numbers make must be finite, and 0 only of 0."""
    try:
        found = made()
    except OverflowError:
        raise OutOfRange("overflow") from None
    if any(map(math.isinf, given)):
        return found
    if math.isinf(found) or (found == 0 and given[0] != 0) or (found == 0 and len(given) == 1):
        raise OutOfRange("overflow or underflow")
    return found
