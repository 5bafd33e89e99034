"""Questions in words: a program that reads from the table down to the answer.

Long lists are shortened: `fingerprint` tells questions apart, the text tells them to people.
"""

from __future__ import annotations

import datetime as dt
import hashlib
from collections.abc import Callable, Iterator
from typing import Final

from .domain import Kind, Scalar
from .expressions import Call, Column, Expression, Literal, walk
from .questions import Aggregate, Function, Key, Question
from .relations import Filter, Join, PerPerson, Project, Relation, Scan, Summed, Union

Said = Callable[[Expression], str]
"""How expressions are written: exactly, or as people would say them."""

_INDENT: Final = "  "


def question_text(question: Question) -> str:
    """The whole question, a step a line."""
    lines = [f"for {question.unit!r}", *relation_lines(question.relation)]
    lines += [f"group by {_key(key)}" for key in question.keys]
    if question.grouping_sets != (tuple(range(len(question.keys))),):
        sets = (
            "(" + ", ".join(_name(question.keys[i].name) for i in chosen) + ")"
            for chosen in question.grouping_sets
        )
        lines.append(f"grouping sets {', '.join(sets)}")
    for a in question.aggregates:
        place = "" if a.bin is None else f", bin {a.bin}"
        lines.append(f"compute {_name(a.name)} = {aggregate_text(a)}{place}")
    if question.having is not None:
        lines.append(f"having {question.having!r}")
    for order in question.order_by:
        way = " desc" * order.descending + ", missing first" * order.missing_first
        lines.append(f"order by {order.expression!r}{way}")
    if question.limit is not None:
        lines.append(f"limit {question.limit}")
    if question.offset:
        lines.append(f"offset {question.offset}")
    lines += [f"answer {_name(out.name)} = {out.expression!r}" for out in question.outputs]
    return "\n".join(lines)


def fingerprint(question: Question) -> str:
    """A hash of the text and of all that it shortens: the facts of columns, the lists of keys."""
    scans = (each for each in walk(question.relation) if isinstance(each, Scan))
    reads = (read for scan in scans for read in scan.reads)
    facts = [(read.name, vars(read.facts)) for read in reads if read.facts is not None]
    listed = [key.values for key in question.keys]
    return hashlib.sha256(repr((question_text(question), facts, listed)).encode()).hexdigest()


def relation_lines(relation: Relation, said: Said = repr) -> Iterator[str]:
    """The steps of a relation, from the table on."""
    match relation:
        case Scan():
            yield from _scan(relation)
        case Filter():
            yield from relation_lines(relation.source, said)
            yield f"filter {said(relation.where)}"
        case Project():
            yield from relation_lines(relation.source, said)
            yield from (f"let {_name(name)} = {said(made)}" for name, made in relation.named)
        case Join():
            yield from relation_lines(relation.left, said)
            ons = [f"{said(left)} = {said(right)}" for left, right in relation.on]
            ons = ["the same person", *ons] if relation.same_person else ons
            once = ", once a row" if relation.unique else ""
            yield f"{relation.kind.value} join on {' and '.join(ons)}{once}"
            yield from (_INDENT + line for line in relation_lines(relation.right, said))
        case Union():
            yield from relation_lines(relation.left, said)
            yield "and all rows of"
            yield from (_INDENT + line for line in relation_lines(relation.right, said))
        case PerPerson():
            yield from relation_lines(relation.source, said)
            yield "for each person" + "".join(
                f" and {_name(n)} = {said(k)}" for n, k in relation.keys
            )
            yield from (f"{_INDENT}{_name(s.name)} = {_summed(s)}" for s in relation.summaries)


def expression_text(expression: Expression) -> str:
    """An expression as one would write it."""
    match expression:
        case Column():
            return _name(expression.name)
        case Literal():
            return _literal(expression.value, expression.kind)
        case Call():
            return _call(expression)
    raise AssertionError(type(expression))


def plain(expression: Expression) -> str:
    """An expression as people would say it: without the steps that only engines need.

    Different expressions may read the same, so nothing is looked up by it.
    """
    if expression.label:
        return expression.label
    match expression:
        case Literal(value=float() as value):
            return _end(value, plain)
        case Call(op="not", args=(Call(op="is_null", args=(value,)),)):
            return f"{_inner(value, plain)} is not null"
        case Call(op="is_null", args=(value,)):
            return f"{_inner(value, plain)} is null"
        case Call(op="to_float", args=(value,)) if value.domain.numeric:
            return plain(value)
        case Call():
            return _call(expression, plain)
    return repr(expression)


def aggregate_text(aggregate: Aggregate, said: Said = repr) -> str:
    """An aggregate with its bounds."""
    values = (aggregate.shown, aggregate.other)
    parts = [_bounded(aggregate, each, said) for each in values if each is not None]
    if aggregate.q is not None:
        parts.append(repr(aggregate.q))
    parts += (_end(edge, said) for edge in aggregate.edges)
    where = "" if aggregate.where is None else f" where {said(aggregate.where)}"
    return f"{aggregate.function.value}({', '.join(parts)}){where}"


def _bounded(aggregate: Aggregate, shown: Expression, said: Said) -> str:
    if aggregate.function in (Function.COUNT, Function.DISTINCT):
        return said(shown)
    low, high = (_end(end, said) for end in (shown.domain.low, shown.domain.high))
    return f"{said(shown)} in [{low}, {high}]"


def _end(end: Scalar | None, said: Said) -> str:
    return f"{end}".removesuffix(".0") if said is plain else f"{end}"


def _summed(summed: Summed) -> str:
    argument = "" if summed.argument is None else repr(summed.argument)
    where = "" if summed.where is None else f" where {summed.where!r}"
    return f"{summed.summary.value}({argument}){where}"


def _scan(scan: Scan) -> Iterator[str]:
    size = "" if scan.size is None else f" ({scan.size:,} rows)"
    yield f"from {_name(scan.table)}" + (" (public)" if scan.public else size)
    if scan.id is not None:
        yield f"{_INDENT}{_name(scan.id.name)} = {_name(scan.id.source)}"
    for read in scan.reads:
        source = "" if read.name == read.source else f" = {_name(read.source)}"
        yield f"{_INDENT}read {_name(read.name)}{source}: {read.facts!r}"


def _key(key: Key) -> str:
    listed = "private" if key.values is None else f"{len(key.values)} public values"
    plain = isinstance(key.expression, Column) and key.expression.name == key.name
    made = "" if plain else f" = {key.expression!r}"
    return f"{_name(key.name)}{made} ({listed})"


def _call(expression: Call, said: Said = repr) -> str:
    symbol = expression.operator.symbol
    if symbol:
        return f" {symbol} ".join(_inner(arg, said) for arg in expression.args)
    return f"{expression.op}({', '.join(map(said, expression.args))})"


def _inner(expression: Expression, said: Said = repr) -> str:
    infix = isinstance(expression, Call) and expression.operator.symbol
    named = said is plain and expression.label
    return f"({said(expression)})" if infix and not named else said(expression)


def _name(name: str) -> str:
    """A name as it is, in double quotes where it could be taken for something else."""
    plain = name.isidentifier() and name.isascii()
    return name if plain else '"' + name.replace('"', '""') + '"'


def _literal(value: Scalar | None, kind: Kind) -> str:
    match value:
        case None:
            return f"missing_{kind.value}"
        case bool():
            return "true" if value else "false"
        case str():
            return "'" + value.replace("'", "''") + "'"
        case dt.date():
            return f"{kind.value} '{value.isoformat()}'"
    return repr(value)
