"""Numbers: float64, or 64-bit whole numbers where public ranges prove that all stays exact."""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Mapping
from typing import Final

from sqlglot import exp

from deniable.query.algebra import EXACT, Call, Domain, Kind, Literal

from . import nodes as sql
from .dialect import Dialect
from .nodes import Node


def floats(dialect: Dialect, call: Call, args: tuple[Node, ...]) -> list[Node]:
    """All arguments as float64."""
    return [
        dialect.to(Kind.FLOAT, node) if arg.kind is Kind.INT else node
        for arg, node in zip(call.args, args, strict=True)
    ]


def settled(dialect: Dialect, call: Call, node: Node) -> Node:
    """NaN made missing where an infinite argument could have made one."""
    sure = call.kind is Kind.INT or all(arg.domain.bounded for arg in call.args)
    return node if sure else dialect.without_nan(node)


def clipped(node: Node, low: Node, high: Node, *, nullable: bool) -> Node:
    """Moved into [low, high]; engines' LEAST and GREATEST would turn missing into a bound."""
    inside = sql.function("LEAST", sql.function("GREATEST", node, low), high)
    return sql.case((sql.present(sql.copy(node)), inside)) if nullable else inside


def without_sign_of_zero(node: Node, dialect: Dialect) -> Node:
    """A float with 0 for -0. They are equal, and of equal values in a group an engine shows any.

    Which one may depend on other people's rows, and must not show where it is written as text, as
    in the hash by which a person's groups are kept.
    """
    zero = dialect.real(0.0)
    return sql.case((sql.eq(node, zero), sql.copy(zero)), default=sql.copy(node))


def _sum(kind: type[exp.Binary]) -> Callable[..., Node]:
    def rule(dialect: Dialect, call: Call, *args: Node) -> Node:
        if call.kind is Kind.INT:
            return sql.binary(kind, *args)
        facts = [arg.domain for arg in call.args]
        left, right = map(dialect.calm_sum, floats(dialect, call, args), facts)
        return settled(dialect, call, sql.binary(kind, left, right))

    return rule


def _multiply(dialect: Dialect, call: Call, *args: Node) -> Node:
    if call.kind is Kind.INT:
        return sql.times(*args)
    return settled(dialect, call, sql.times(*_calm(dialect, call, args)))


def _divide(dialect: Dialect, call: Call, *args: Node) -> Node:
    x, y = _calm(dialect, call, args)
    nonzero = exp.Nullif(this=y, expression=dialect.real(0.0))
    return settled(dialect, call, sql.binary(exp.Div, x, nonzero))


def _calm(dialect: Dialect, call: Call, args: tuple[Node, ...]) -> list[Node]:
    """Factors; a constant of ordinary size needs no care."""
    return [
        node
        if isinstance(arg, Literal) and 2.0**-500 <= abs(arg.value or 0.0) <= 2.0**500  # type: ignore[arg-type]
        else dialect.calm(node, arg.domain)
        for arg, node in zip(call.args, floats(dialect, call, args), strict=True)
    ]


def _modulo(dialect: Dialect, _call: Call, x: Node, y: Node) -> Node:
    """The least number modulo -1 overflows on some engines: it is 0."""
    nothing = sql.either([sql.missing(sql.copy(x)), sql.eq(sql.copy(y), sql.plain(0))])
    by_one = sql.eq(sql.copy(y), sql.plain(-1))
    return sql.case(
        (nothing, dialect.constant(None, Kind.INT)),
        (by_one, dialect.whole(0)),
        default=sql.binary(exp.Mod, x, y),
    )


def _negate(dialect: Dialect, call: Call, x: Node) -> Node:
    return exp.Paren(this=exp.Neg(this=_in_kind(dialect, call, x)))


def _absolute(dialect: Dialect, call: Call, x: Node) -> Node:
    return sql.function("ABS", _in_kind(dialect, call, x))


def _in_kind(dialect: Dialect, call: Call, x: Node) -> Node:
    """The argument in the kind of the result, before anything could overflow."""
    same = call.kind is call.args[0].kind
    return x if same else dialect.to(call.kind, x)


def _sign(dialect: Dialect, call: Call, x: Node) -> Node:
    zero = dialect.constant(0, call.args[0].kind)
    return sql.case(
        (sql.gt(x, zero), dialect.whole(1)),
        (sql.lt(sql.copy(x), sql.copy(zero)), dialect.whole(-1)),
        (sql.present(sql.copy(x)), dialect.whole(0)),
    )


def _step(called: str) -> Callable[..., Node]:
    def rule(dialect: Dialect, call: Call, x: Node) -> Node:
        if call.args[0].kind is Kind.INT:
            return _in_kind(dialect, call, x)
        whole = dialect.step(called, x)
        return dialect.to(Kind.INT, whole) if call.kind is Kind.INT else whole

    return rule


def _round(dialect: Dialect, call: Call, x: Node, *_digits: Node) -> Node:
    """sign(x)·⌊|x|·10ᵈ + ½⌋/10ᵈ."""
    given = call.args[1] if len(call.args) > 1 else None
    digits = int(given.value) if isinstance(given, Literal) else 0  # type: ignore[arg-type]
    facts = call.args[0].domain
    if facts.kind is Kind.INT and digits >= 0:
        return _in_kind(dialect, call, x)
    number = x if facts.kind is Kind.FLOAT else dialect.to(Kind.FLOAT, x)
    scale = dialect.real(10.0 ** abs(digits))
    forth, back = (exp.Mul, exp.Div) if digits >= 0 else (exp.Div, exp.Mul)
    size = dialect.calm(sql.function("ABS", number), facts)
    half = sql.add(sql.binary(forth, size, scale), dialect.real(0.5))
    up = sql.binary(back, dialect.step("FLOOR", half), sql.copy(scale))
    below = sql.lt(sql.copy(number), dialect.real(0.0))
    near = sql.case((below, exp.Paren(this=exp.Neg(this=up))), default=sql.copy(up))
    if not _scales(facts):
        large = sql.gt(sql.function("ABS", sql.copy(number)), dialect.real(2.0**900))
        near = sql.case((large, sql.copy(number)), default=near)
    return dialect.to(Kind.INT, near) if call.kind is Kind.INT else near


def _scales(facts: Domain) -> bool:
    """Whether |x|·10¹⁵ is a finite number for sure."""
    return facts.bounded and max(abs(facts.low), abs(facts.high)) < 2.0**900  # type: ignore[arg-type]


def _sqrt(dialect: Dialect, call: Call, *args: Node) -> Node:
    (x,) = floats(dialect, call, args)
    return sql.case((sql.binary(exp.GTE, x, dialect.real(0.0)), _of("SQRT", x)))


def _ln(dialect: Dialect, call: Call, *args: Node) -> Node:
    (x,) = floats(dialect, call, args)
    return sql.case((sql.gt(x, dialect.real(0.0)), _of("LN", x)))


def _of(called: str, x: Node) -> Node:
    return sql.function(called, sql.copy(x))


def _exp(dialect: Dialect, call: Call, *args: Node) -> Node:
    return dialect.exponential(floats(dialect, call, args)[0])


def _power(dialect: Dialect, call: Call, *args: Node) -> Node:
    """Missing for 0 to a negative power and for a negative number to a fraction."""
    x, y = floats(dialect, call, args)
    x, y = (dialect.calm(node, arg.domain) for node, arg in zip((x, y), call.args, strict=True))
    zero = dialect.real(0.0)
    poles = sql.both([sql.eq(x, zero), sql.lt(y, sql.copy(zero))])
    fraction = sql.binary(exp.NEQ, sql.copy(y), dialect.step("FLOOR", sql.copy(y)))
    endless = sql.eq(sql.function("ABS", sql.copy(y)), dialect.real(math.inf))
    roots = sql.both([sql.lt(sql.copy(x), sql.copy(zero)), sql.either([fraction, endless])])
    made = settled(dialect, call, dialect.power(sql.copy(x), sql.copy(y)))
    unknown = sql.either([sql.missing(sql.copy(x)), sql.missing(sql.copy(y))])
    nothing = dialect.constant(None, Kind.FLOAT)
    return sql.case(
        (unknown, nothing), (poles, sql.copy(nothing)), (roots, sql.copy(nothing)), default=made
    )


def _extreme(called: str) -> Callable[..., Node]:
    """Engines skip missing values there; ours does not."""

    def rule(dialect: Dialect, call: Call, *args: Node) -> Node:
        parts = floats(dialect, call, args) if call.kind is Kind.FLOAT else list(args)
        if call.kind is Kind.TEXT:
            parts = [dialect.ordered(part) for part in parts]
        known = [
            sql.present(sql.copy(part))
            for part, arg in zip(parts, call.args, strict=True)
            if arg.domain.nullable
        ]
        # Two at a time: DuckDB cannot copy a plan in which one column stands three times in a call.
        found = functools.reduce(lambda x, y: sql.function(called, x, y), parts)
        return sql.case((sql.both(known), found)) if known else found

    return rule


def _clip(dialect: Dialect, call: Call, *args: Node) -> Node:
    facts = call.args[0].domain
    parts = list(args)
    if call.kind is Kind.FLOAT or any(arg.kind is Kind.FLOAT for arg in call.args):
        parts = floats(dialect, call, args)
    made = clipped(parts[0], parts[1], parts[2], nullable=facts.nullable)
    whole = call.kind is Kind.INT and any(arg.kind is Kind.FLOAT for arg in call.args)
    return dialect.to(Kind.INT, made) if whole else made


def _bin(dialect: Dialect, call: Call, *args: Node) -> Node:
    """⌊x/w⌋·w; of whole numbers by remainders, so that it is exact."""
    if all(arg.kind is Kind.INT for arg in call.args):
        x, width = args
        if not _narrow(call.args[0].domain):
            x = dialect.widened(x)
        rest = sql.binary(exp.Mod, sql.copy(x), width)
        rest = sql.binary(exp.Mod, sql.add(rest, sql.copy(width)), sql.copy(width))
        return dialect.to(call.kind, sql.subtract(x, rest))
    x, width = _calm(dialect, call, args)
    below = dialect.step("FLOOR", sql.binary(exp.Div, x, width))
    return sql.times(dialect.calm(below, call.domain), sql.copy(width))


def _narrow(facts: Domain) -> bool:
    return facts.bounded and max(abs(facts.low), abs(facts.high)) <= EXACT  # type: ignore[arg-type]


def _width_bucket(dialect: Dialect, call: Call, *args: Node) -> Node:
    x, low, high, _ = floats(dialect, call, args)
    buckets = call.args[3]
    assert isinstance(buckets, Literal)
    assert isinstance(buckets.value, int)
    width = sql.subtract(sql.copy(high), sql.copy(low))
    over = dialect.calm(sql.subtract(sql.copy(x), sql.copy(low)), Domain(kind=Kind.FLOAT))
    share = sql.times(sql.binary(exp.Div, over, width), dialect.real(float(buckets.value)))
    place = sql.add(dialect.step("FLOOR", share), dialect.real(1.0))
    inside = sql.function("LEAST", place, dialect.real(float(buckets.value)))
    return sql.case(
        (sql.lt(x, low), dialect.whole(0)),
        (sql.binary(exp.GTE, sql.copy(x), high), dialect.whole(buckets.value + 1)),
        (sql.present(sql.copy(x)), dialect.to(Kind.INT, inside)),
    )


RULES: Final[Mapping[str, Callable[..., Node]]] = {
    "add": _sum(exp.Add),
    "subtract": _sum(exp.Sub),
    "multiply": _multiply,
    "divide": _divide,
    "modulo": _modulo,
    "negate": _negate,
    "abs": _absolute,
    "sign": _sign,
    "floor": _step("FLOOR"),
    "ceil": _step("CEIL"),
    "round": _round,
    "sqrt": _sqrt,
    "ln": _ln,
    "exp": _exp,
    "power": _power,
    "least": _extreme("LEAST"),
    "greatest": _extreme("GREATEST"),
    "clip": _clip,
    "bin": _bin,
    "width_bucket": _width_bucket,
}
