"""Whole relations and questions answered exactly in plain Python: what every engine must find.

Rows are dictionaries by column name, as tables hold them. Reading a column makes it keep the
schema's word. `groups` gives, for each group, the exact value of each aggregate over the rows as
they are: nobody is bounded and nothing is noisy.
"""

from __future__ import annotations

import datetime as dt
import itertools
import math
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from deniable.query.algebra import (
    Aggregate,
    Expression,
    Filter,
    Function,
    Join,
    JoinKind,
    Kind,
    PerPerson,
    Project,
    Question,
    Read,
    Relation,
    Scan,
    Summary,
    Summed,
    Union,
    evaluate,
)
from deniable.schema import Column as Facts

Row = dict[str, Any]
Data = Mapping[str, Sequence[Mapping[str, Any]]]


def rows_of(relation: Relation, data: Data) -> list[Row]:
    """The rows of a relation; the person's id is in the column that the relation names."""
    match relation:
        case Scan():
            return [_scanned(relation, row) for row in data[relation.table]]
        case Filter():
            rows = rows_of(relation.source, data)
            return [row for row in rows if evaluate(relation.where, row) is True]
        case Project():
            return [
                {name: evaluate(made, row) for name, made in relation.named}
                | _person(relation, row)
                for row in rows_of(relation.source, data)
            ]
        case Join():
            return list(_joined(relation, data))
        case Union():
            return _both(relation, data)
        case PerPerson():
            return list(_per_person(relation, data))
    raise AssertionError(type(relation))


def groups(question: Question, data: Data) -> dict[tuple[int, tuple[Any, ...]], Row]:
    """(grouping set, key values) → aggregate name → exact value, for every public group."""
    rows = rows_of(question.relation, data)
    if question.person is not None:
        rows = [row for row in rows if row[question.person] is not None]
    found = {}
    for index, chosen in enumerate(question.grouping_sets):
        keys = [question.keys[i] for i in chosen]
        of_group: dict[tuple[Any, ...], list[Row]] = {}
        for row in rows:
            at = tuple(evaluate(key.expression, row) for key in keys)
            of_group.setdefault(at, []).append(row)
        for cell in itertools.product(*(key.values or () for key in keys)):
            inside = of_group.get(cell, [])
            found[index, cell] = {
                a.name: aggregate(a, inside, question.person) for a in question.aggregates
            }
    return found


def aggregate(asked: Aggregate, rows: Sequence[Row], person: str | None) -> Any:
    """The exact value of an aggregate; None for an average of nothing."""
    kept = [row for row in rows if asked.where is None or evaluate(asked.where, row) is True]
    if asked.function is Function.PERSONS:
        return len({row[person] for row in kept})
    if asked.argument is None:
        return len(kept)
    values = [v for row in kept if (v := evaluate(asked.argument, row)) is not None]
    if asked.other is not None:
        return _of_pairs(asked, kept)
    match asked.function:
        case Function.COUNT:
            return len(values)
        case Function.DISTINCT:
            return len(set(values))
    clipped = [min(max(v, asked.low), asked.high) for v in values]
    return _of_numbers(asked, sorted(clipped))


def read(value: Any, facts: Facts) -> Any:
    """One stored value as it is read: typed, settled, in its bounds, on its list, or imputed."""
    found = _typed(value, Kind(facts.type))
    if found is not None and facts.low is not None:
        found = min(max(found, facts.low), facts.high)
    if found is not None and facts.keys is not None and found not in facts.keys:
        found = None
    if found is None and facts.missing not in (None, "drop"):
        return facts.missing
    return found


# ---- values


def _typed(value: Any, kind: Kind) -> Any:
    if value is None or (isinstance(value, float) and math.isnan(value)):
        return None
    match kind:
        case Kind.FLOAT if isinstance(value, int | float) and not isinstance(value, bool):
            return float(value) + 0.0
        case Kind.INT if isinstance(value, int) and not isinstance(value, bool):
            return value
        case Kind.TEXT if isinstance(value, str):
            return value
        case Kind.BOOL if isinstance(value, bool):
            return value
        case Kind.TIMESTAMP if isinstance(value, dt.datetime):
            return value
        case Kind.DATE if isinstance(value, dt.date) and not isinstance(value, dt.datetime):
            return value
    return None


def _of_pairs(asked: Aggregate, rows: Sequence[Row]) -> float | None:
    """Covariance or correlation of the rows that have both values."""
    both = [(evaluate(asked.argument, row), evaluate(asked.other, row)) for row in rows]
    x, y = (np.array([p[i] for p in both if None not in p], dtype=float) for i in (0, 1))
    less = int(asked.function is Function.COVAR_SAMP)
    if len(x) <= less:
        return None
    if asked.function is Function.CORR:
        return float(np.corrcoef(x, y)[0, 1]) if x.std() and y.std() else None
    return float(np.cov(x, y, ddof=less)[0, 1])


def _of_numbers(asked: Aggregate, values: list[float]) -> float | None:
    if asked.function is Function.SUM:
        return math.fsum(values)
    if not values:
        return None
    mean = math.fsum(values) / len(values)
    squares = math.fsum((v - mean) ** 2 for v in values)
    match asked.function:
        case Function.AVG:
            return mean
        case Function.VAR_POP:
            return squares / len(values)
        case Function.STDDEV_POP:
            return math.sqrt(squares / len(values))
        case Function.VAR_SAMP:
            return squares / (len(values) - 1) if len(values) > 1 else None
        case Function.STDDEV_SAMP:
            return math.sqrt(squares / (len(values) - 1)) if len(values) > 1 else None
        case Function.MIN:
            return values[0]
        case Function.MAX:
            return values[-1]
        case Function.QUANTILE:
            assert asked.q is not None
            at = asked.q * (len(values) - 1)
            low, high = values[math.floor(at)], values[math.ceil(at)]
            return low + (high - low) * (at - math.floor(at))
    raise AssertionError(asked.function)


# ---- relations


def _scanned(scan: Scan, row: Mapping[str, Any]) -> Row:
    found = {each.name: _read(each, row) for each in scan.reads}
    return found if scan.id is None else found | {scan.id.name: _identity(row[scan.id.source])}


def _read(each: Read, row: Mapping[str, Any]) -> Any:
    assert each.facts is not None
    return read(row[each.source], each.facts)


def _identity(value: Any) -> Any:
    return None if isinstance(value, float) and math.isnan(value) else value


def _person(relation: Relation, row: Row) -> Row:
    return {} if relation.person is None else {relation.person: row[relation.person]}


def _both(union: Union, data: Data) -> list[Row]:
    """Under the names of the left, the person's included; fractions beside whole numbers."""
    rows = rows_of(union.left, data)
    pairs = list(zip(union.left.columns, union.right.columns, strict=True))
    for row in rows_of(union.right, data):
        made = {a.name: row[b.name] for a, b in pairs}
        if union.person is not None:
            made[union.person] = row[union.right.person]
        rows.append(made)
    return rows


def _joined(join: Join, data: Data) -> Iterator[Row]:
    right = rows_of(join.right, data)
    if join.unique:
        right = _first_of_each(right, [b for _, b in join.on])
    for row in rows_of(join.left, data):
        at = [evaluate(a, row) for a, _ in join.on]
        if join.same_person:
            at.append(row[join.left.person])
        met = False
        for other in right:
            to = [evaluate(b, other) for _, b in join.on]
            if join.same_person:
                to.append(other[join.right.person])
            if None not in at and at == to:
                met = True
                yield other | row
        if not met and join.kind is JoinKind.LEFT:
            yield {column.name: None for column in join.right.columns} | row


def _first_of_each(rows: list[Row], keys: list[Expression]) -> list[Row]:
    first: dict[tuple[Any, ...], Row] = {}
    for row in sorted(rows, key=lambda row: [(v is not None, v) for v in row.values()]):
        first.setdefault(tuple(evaluate(key, row) for key in keys), row)
    return list(first.values())


def _per_person(relation: PerPerson, data: Data) -> Iterator[Row]:
    person = relation.source.person
    assert person is not None
    own: dict[tuple[Any, ...], list[Row]] = {}
    for row in rows_of(relation.source, data):
        if row[person] is not None:
            at = (row[person], *(evaluate(key, row) for _, key in relation.keys))
            own.setdefault(at, []).append(row)
    for (who, *values), rows in own.items():
        keys = {name: value for (name, _), value in zip(relation.keys, values, strict=True)}
        yield keys | {each.name: _summed(each, rows) for each in relation.summaries} | {person: who}


def _summed(each: Summed, rows: list[Row]) -> Any:
    kept = [row for row in rows if each.where is None or evaluate(each.where, row) is True]
    if each.argument is None:
        return len(kept)
    values = [v for row in kept if (v := evaluate(each.argument, row)) is not None]
    match each.summary:
        case Summary.COUNT:
            return len(values)
        case Summary.COUNT_DISTINCT:
            return len(set(values))
    if not values:
        return None
    match each.summary:
        case Summary.SUM:
            return float(sum(values))
        case Summary.MIN:
            return min(values)
    return max(values)
