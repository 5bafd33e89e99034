"""Read only the columns that are used: what is not read can neither fail nor cost time."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable

from deniable.query.algebra import (
    Expression,
    Filter,
    Join,
    PerPerson,
    Project,
    Relation,
    Scan,
    Union,
    columns_of,
)


def prune(relation: Relation, used: Iterable[Expression | None]) -> Relation:
    """The relation with only the columns that these expressions, and its own steps, read."""
    return _pruned(relation, _names(used))


def _pruned(relation: Relation, wanted: frozenset[str]) -> Relation:
    match relation:
        case Scan():
            reads = tuple(read for read in relation.reads if read.name in wanted)
            return dataclasses.replace(relation, reads=reads)
        case Filter():
            source = _pruned(relation.source, wanted | _names([relation.where]))
            return dataclasses.replace(relation, source=source)
        case Project():
            named = tuple((name, made) for name, made in relation.named if name in wanted)
            source = _pruned(relation.source, _names(made for _, made in named))
            return Project(source=source, named=named)
        case Join():
            left = _pruned(relation.left, wanted | _names(a for a, _ in relation.on))
            right = _pruned(relation.right, wanted | _names(b for _, b in relation.on))
            return dataclasses.replace(relation, left=left, right=right)
        case Union():
            sides = (_pruned(side, wanted) for side in (relation.left, relation.right))
            return Union(left=next(sides), right=next(sides))
        case PerPerson():
            sums = tuple(s for s in relation.summaries if s.name in wanted)
            parts = [*(k for _, k in relation.keys), *(s.argument for s in sums)]
            inner = _names([*parts, *(s.where for s in sums)])
            return dataclasses.replace(
                relation, source=_pruned(relation.source, inner), summaries=sums
            )
    raise AssertionError(type(relation))


def _names(used: Iterable[Expression | None]) -> frozenset[str]:
    return frozenset(name for e in used if e is not None for name in columns_of(e))
