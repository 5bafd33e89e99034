"""Expressions: columns, constants and calls of total operators, each with its public facts.

>>> age = Column(name="age", domain=Domain(kind=Kind.INT, low=0, high=125))
>>> call("divide", call("add", age, literal(1)), literal(2))
(age + 1) / 2
>>> call("add", age, literal(1)).domain
int 1..126 or missing
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final, TypeVar

from deniable import fixes
from deniable.errors import UnsupportedQuery
from deniable.fixes import Fix, Fixes

from .constants import check_constants, check_value
from .domain import NUMBERS, TIMES, Domain, Kind, Scalar, domain_of_value
from .operators import OPERATORS, Operator

if TYPE_CHECKING:
    from .relations import Relation

Tree = TypeVar("Tree", "Expression", "Relation")

# Expressions are inlined through subqueries; this is where a nest of doublings is stopped.
LARGEST: Final = 20_000


@dataclass(frozen=True, kw_only=True)
class Span:
    """From where to where in the text of the question."""

    start: int
    end: int


@dataclass(frozen=True, kw_only=True, repr=False)
class Expression:
    """A value for every row, with what the public may know of it."""

    domain: Domain
    span: Span | None = field(default=None, compare=False)
    size: int = field(default=1, compare=False)
    """How many nodes the tree has."""
    label: str = field(default="", compare=False)
    """What people call it, where it is made of parts that nobody asked for."""

    @property
    def kind(self) -> Kind:
        """The kind of value the expression has."""
        return self.domain.kind

    @property
    def children(self) -> tuple[Expression, ...]:
        """The arguments of a call; nothing for a leaf."""
        return ()

    def at(self, span: Span | None) -> Expression:
        """The same, written elsewhere in the text."""
        return self if span is None else dataclasses.replace(self, span=span)

    def __repr__(self) -> str:
        from .show import expression_text

        return expression_text(self)


@dataclass(frozen=True, kw_only=True, repr=False)
class Column(Expression):
    """A column of the relation an expression is about; names are unique there."""

    name: str


@dataclass(frozen=True, kw_only=True, repr=False)
class Literal(Expression):
    """A constant; None is a missing value of the domain's kind."""

    value: Scalar | None


@dataclass(frozen=True, kw_only=True, repr=False)
class Call(Expression):
    """An operator applied to arguments; made by `call`, which checks and types it."""

    op: str
    args: tuple[Expression, ...]

    @property
    def children(self) -> tuple[Expression, ...]:
        return self.args

    @property
    def operator(self) -> Operator:
        """The operator's line in the table."""
        return OPERATORS[self.op]


def literal(value: Scalar | None, *, kind: Kind | None = None, span: Span | None = None) -> Literal:
    """A constant, or a missing value of a kind; numbers are those of 64 bits, and finite."""
    check_value(value)
    if value is None:
        known = Domain(kind=kind or Kind.BOOL, values=(), nullable=True)
    else:
        known = domain_of_value(value)
    return Literal(value=value, domain=known, span=span)


def call(op: str, *args: Expression, span: Span | None = None) -> Call:
    """An operator applied: number, kinds and constants of its arguments checked, the result typed.

    Text constants beside dates become dates, missing constants take the kind of their neighbours,
    and INT beside FLOAT is left to the engine, which compares and returns floats.
    """
    operator = OPERATORS[op]
    most = operator.most
    if len(args) < operator.least or (most is not None and len(args) > most):
        wanted = f"{operator.least}" if most == operator.least else f"{operator.least} or more"
        raise UnsupportedQuery(f"{op} takes {wanted} values; {len(args)} were given")
    if op == "case":
        args = _cases_alike(args)
    elif operator.alike:
        args = alike(args)
    for position, arg in enumerate(args):
        _check(operator, position, arg, count=len(args))
    check_constants(op, [arg.value if isinstance(arg, Literal) else arg.kind for arg in args])
    size = 1 + sum(arg.size for arg in args)
    if size > LARGEST:
        raise UnsupportedQuery("this expression grows too large when its parts are written out")
    known = operator.result(*(arg.domain for arg in args))
    return Call(op=op, args=args, domain=known, size=size, span=span)


def alike(args: tuple[Expression, ...]) -> tuple[Expression, ...]:
    """Arguments of one kind: all numbers, all text, all truth values, or all moments."""
    kinds = {arg.kind for arg in args if not _is_missing(arg)}
    moment = next((k for k in (Kind.TIMESTAMP, Kind.DATE) if k in kinds), None)
    if moment is not None and kinds <= TIMES | {Kind.TEXT}:
        args = tuple(_as_moment(arg, moment) for arg in args)
        kinds = {arg.kind for arg in args if not _is_missing(arg)}
    if len(kinds) > 1 and not kinds <= NUMBERS:
        names = " and ".join(sorted(kind.value for kind in kinds))
        raise UnsupportedQuery(
            f"{names} values cannot be combined in one expression",
            why="each engine would convert them in its own way, or fail on a row",
            fix=_conversion(args, kinds),
        )
    kind = Kind.FLOAT if len(kinds) > 1 else next(iter(kinds), Kind.BOOL)
    return tuple(literal(None, kind=kind, span=a.span) if _is_missing(a) else a for a in args)


def _conversion(args: tuple[Expression, ...], kinds: set[Kind]) -> Fixes:
    """What makes values of these kinds comparable."""
    texts = [a.value for a in args if isinstance(a, Literal) and isinstance(a.value, str)]
    if texts and kinds - {Kind.TEXT} <= NUMBERS:
        if number := next(filter(_is_number, texts), ""):
            return Fix(number, note="without quotes")
        kind = {Kind.INT: "an int", Kind.FLOAT: "a float"}
        numbers = [a for a in args if isinstance(a, Column) and a.kind in kind]
        return [f"`{a.name}` is {kind[a.kind]}: compare it with a number" for a in numbers]
    if Kind.FLOAT in kinds:  # floats are not written as text alike by all engines
        return fixes.sql(
            "convert the other: CAST(x AS DOUBLE)", 'convert the other: .cast("float64")'
        )
    return fixes.sql("convert one of them: CAST(x AS TEXT)", 'convert one of them: .cast("string")')


def _is_number(text: str) -> bool:
    try:
        return math.isfinite(float(text))
    except ValueError:
        return False


def in_floats(left: Expression, right: Expression) -> tuple[Expression, Expression]:
    """Both as they are, or as floats where one is a float and the other a whole number."""
    if {left.kind, right.kind} == {Kind.INT, Kind.FLOAT}:
        return call("to_float", left), call("to_float", right)
    return left, right


def walk(tree: Tree) -> Iterator[Tree]:
    """Every node of an expression or a relation: parents first, then left to right."""
    yield tree
    for child in tree.children:
        yield from walk(child)


def conjuncts(condition: Expression) -> tuple[Expression, ...]:
    """The conditions that all must be true."""
    joined = isinstance(condition, Call) and condition.op == "and"
    return condition.children if joined else (condition,)


def both(first: Expression | None, second: Expression) -> Expression:
    """The condition that both are true, as one conjunction."""
    return second if first is None else call("and", *conjuncts(first), *conjuncts(second))


def columns_of(expression: Expression) -> dict[str, Column]:
    """The columns an expression reads, in the order of reading."""
    return {node.name: node for node in walk(expression) if isinstance(node, Column)}


def substitute(expression: Expression, by_name: Mapping[str, Expression]) -> Expression:
    """Columns replaced by what they stand for; typed anew."""
    match expression:
        case Column():
            return by_name.get(expression.name, expression)
        case Call():
            args = tuple(substitute(arg, by_name) for arg in expression.args)
            made = call(expression.op, *args, span=expression.span)
            return dataclasses.replace(made, label=expression.label)
    return expression


def evaluate(expression: Expression, row: Mapping[str, Scalar | None]) -> Scalar | None:
    """The value for a row given by column names, as every engine must find it.

    >>> half = call("divide", literal(1), Column(name="x", domain=Domain(kind=Kind.INT)))
    >>> evaluate(half, {"x": 2}), evaluate(half, {"x": 0})
    (0.5, None)
    """
    match expression:
        case Column():
            return row[expression.name]
        case Literal():
            return expression.value
        case Call():
            found = expression.operator.run(*(evaluate(arg, row) for arg in expression.args))
            if isinstance(found, int) and expression.kind is Kind.FLOAT:
                return float(found)
            return found
    raise AssertionError(type(expression))


# ---- checks


def _check(operator: Operator, position: int, arg: Expression, *, count: int) -> None:
    accepted = operator.kinds_of(position)
    if operator.name == "case":
        is_condition = position % 2 == 0 and position < count - 1
        accepted = operator.accepts[0] if is_condition else operator.accepts[1]
    if arg.kind not in accepted:
        wanted = " or ".join(sorted(kind.value for kind in accepted))
        raise UnsupportedQuery(f"`{operator.name}` needs {wanted} here, not {arg.kind.value}")
    if position in operator.constants and not (isinstance(arg, Literal) and arg.value is not None):
        raise UnsupportedQuery(f"`{operator.name}` needs a constant here")


# ---- one kind


def _cases_alike(args: tuple[Expression, ...]) -> tuple[Expression, ...]:
    if len(args) % 2 == 0:
        raise UnsupportedQuery("CASE takes pairs of WHEN and THEN, and an ELSE")
    branches = alike((*args[1:-1:2], args[-1]))
    pairs = zip(args[:-1:2], branches[:-1], strict=True)
    return (*(part for pair in pairs for part in pair), branches[-1])


def _is_missing(arg: Expression) -> bool:
    return isinstance(arg, Literal) and arg.value is None


def _as_moment(arg: Expression, kind: Kind) -> Expression:
    if arg.kind is kind or _is_missing(arg):
        return arg
    made = call(f"to_{kind.value}", arg, span=arg.span)
    if not isinstance(arg, Literal):
        if arg.kind is Kind.TEXT:
            raise UnsupportedQuery(
                "text and dates cannot be combined in one expression",
                fix=fixes.sql(f"CAST(... AS {kind})", f".cast({kind})"),
            )
        return made
    value = evaluate(made, {})
    if value is None:
        raise UnsupportedQuery(
            f"{arg.value!r} is not a {kind.value}",
            fix=fixes.sql("DATE '2020-12-31'", 'ibis.date("2020-12-31")'),
        )
    return literal(value, span=arg.span)
