"""Numbers: float64, or 64-bit whole numbers where public ranges prove that all stays exact."""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Mapping
from typing import Final

from sqlglot import exp

from deniable.query.algebra import EXACT, Call, Kind
from deniable.query.algebra.meaning import LARGEST_ROUNDED

from . import nodes as sql
from .dialect import Dialect
from .nodes import Node, clipped
from .reals import Real


def reals(dialect: Dialect, call: Call, args: tuple[Node, ...]) -> list[Real]:
    """All arguments, whole numbers among them as float64."""
    return [Real.of(arg, node, dialect=dialect) for arg, node in zip(call.args, args, strict=True)]


def floats(dialect: Dialect, call: Call, args: tuple[Node, ...]) -> list[Node]:
    """All arguments as float64, without what is known of them."""
    return [each.node for each in reals(dialect, call, args)]


def as_result(dialect: Dialect, call: Call, args: tuple[Node, ...]) -> list[Node]:
    """All arguments in the kind of the result: as float64, if it is one."""
    return floats(dialect, call, args) if call.kind is Kind.FLOAT else list(args)


def without_sign_of_zero(node: Node, dialect: Dialect) -> Node:
    """A float with 0 for -0. They are equal, and of equal values in a group an engine shows any.

    Which one may depend on other people's rows, and must not show where it is written as text, as
    in the hash by which a person's groups are kept.
    """
    zero = dialect.real(0.0)
    return sql.case((sql.eq(node, zero), sql.copy(zero)), default=sql.copy(node))


def _arithmetic(kind: type[exp.Binary], made: Callable[[Real, Real], Real]) -> Callable[..., Node]:
    """Whole numbers where all stays exact, else floats."""

    def rule(dialect: Dialect, call: Call, *args: Node) -> Node:
        if call.kind is Kind.INT:
            return sql.binary(kind, *args)
        return made(*reals(dialect, call, args)).node

    return rule


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
    return sql.minus(_in_kind(dialect, call, x))


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


def _round(dialect: Dialect, call: Call, x: Node, *given: Node) -> Node:
    """sign(x)·⌊|x|·10ᵈ + ½⌋/10ᵈ; what is beyond 2⁹⁰⁰ stays as it is."""
    digits = int(call.args[1].domain.ends[0]) if given else 0
    facts = call.args[0].domain
    if facts.kind is Kind.INT and digits >= 0:
        return _in_kind(dialect, call, x)
    number = Real.of(call.args[0], x, dialect=dialect)
    size = number.copy().size()
    most = size.facts.ends[1]
    scale = Real.constant(10.0 ** abs(digits), dialect=dialect)
    small = size.within(0.0, min(float(most), LARGEST_ROUNDED))
    scaled = small.times(scale) if digits >= 0 else small.over(scale)
    up = scaled.plus(Real.constant(0.5, dialect=dialect)).floor()
    back = (up.over(scale.copy()) if digits >= 0 else up.times(scale.copy())).node
    below = sql.lt(sql.copy(number.node), dialect.real(0.0))
    near = sql.case((below, sql.minus(back)), default=sql.copy(back))
    if most > LARGEST_ROUNDED:
        large = sql.gt(sql.copy(size.node), dialect.real(LARGEST_ROUNDED))
        near = sql.case((large, sql.copy(number.node)), default=near)
    return dialect.to(Kind.INT, near) if call.kind is Kind.INT else near


def _sqrt(dialect: Dialect, call: Call, *args: Node) -> Node:
    (x,) = floats(dialect, call, args)
    return sql.case((sql.ge(x, dialect.real(0.0)), _of("SQRT", x)))


def _ln(dialect: Dialect, call: Call, *args: Node) -> Node:
    (x,) = floats(dialect, call, args)
    return sql.case((sql.gt(x, dialect.real(0.0)), _of("LN", x)))


def _of(called: str, x: Node) -> Node:
    return sql.function(called, sql.copy(x))


def _exp(dialect: Dialect, call: Call, *args: Node) -> Node:
    return dialect.exponential(reals(dialect, call, args)[0], call.domain)


def _power(dialect: Dialect, call: Call, *args: Node) -> Node:
    """Missing for 0 to a negative power and for a negative number to a fraction."""
    x, y = reals(dialect, call, args)
    zero, nothing = dialect.real(0.0), dialect.constant(None, Kind.FLOAT)
    poles = sql.both([sql.eq(x.node, zero), sql.lt(y.node, sql.copy(zero))])
    fraction = sql.binary(exp.NEQ, y.copy().node, dialect.step("FLOOR", y.copy().node))
    endless = sql.eq(y.copy().size().node, dialect.real(math.inf))
    roots = sql.both([sql.lt(x.copy().node, sql.copy(zero)), sql.either([fraction, endless])])
    made = dialect.settled(dialect.power(x.copy(), y.copy(), call.domain), x, y)
    unknown = sql.either([sql.missing(x.copy().node), sql.missing(y.copy().node)])
    return sql.case(
        (unknown, nothing), (poles, sql.copy(nothing)), (roots, sql.copy(nothing)), default=made
    )


def _extreme(called: str) -> Callable[..., Node]:
    """Engines skip missing values there; ours does not."""

    def rule(dialect: Dialect, call: Call, *args: Node) -> Node:
        parts = as_result(dialect, call, args)
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
    """Of whole numbers, where all three are."""
    x, low, high = as_result(dialect, call, args)
    return clipped(x, low, high, nullable=call.args[0].domain.nullable)


def _bin(dialect: Dialect, call: Call, *args: Node) -> Node:
    """⌊x/w⌋·w; of whole numbers by remainders, so that it is exact."""
    if all(arg.kind is Kind.INT for arg in call.args):
        return dialect.to(call.kind, _whole_bin(dialect, call, *args))
    x, width = reals(dialect, call, args)
    return x.over(width).floor().times(width.copy()).node


def _whole_bin(dialect: Dialect, call: Call, x: Node, width: Node) -> Node:
    """x less its remainder, and less w below 0. Only that can leave 64 bits: if x is beyond 2⁵³."""
    low, high = call.args[0].domain.ends
    if low < -EXACT or high > EXACT:
        x, width = dialect.widened(x), dialect.widened(width)
    rest = sql.binary(exp.Mod, sql.copy(x), width)
    start = sql.subtract(x, rest)
    if low >= 0:
        return start
    below = sql.lt(sql.copy(rest), sql.plain(0))
    return sql.case((below, sql.subtract(start, sql.copy(width))), default=sql.copy(start))


def _width_bucket(dialect: Dialect, call: Call, *args: Node) -> Node:
    x, low, high, count = reals(dialect, call, args)
    first, last = (float(arg.domain.ends[0]) for arg in call.args[1:3])
    above = x.copy().within(first, last).minus(low.copy())
    share = above.over(Real.constant(last - first, dialect=dialect)).times(count)
    place = share.floor().plus(Real.constant(1.0, dialect=dialect))
    inside = sql.function("LEAST", place.node, sql.copy(count.node))
    return sql.case(
        (sql.lt(x.node, low.node), dialect.whole(0)),
        (sql.ge(x.copy().node, high.node), dialect.whole(int(call.args[3].domain.ends[0]) + 1)),
        (sql.present(x.copy().node), dialect.to(Kind.INT, inside)),
    )


RULES: Final[Mapping[str, Callable[..., Node]]] = {
    "add": _arithmetic(exp.Add, Real.plus),
    "subtract": _arithmetic(exp.Sub, Real.minus),
    "multiply": _arithmetic(exp.Mul, Real.times),
    "divide": _arithmetic(exp.Div, Real.over),
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
