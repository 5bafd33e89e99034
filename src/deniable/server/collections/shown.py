"""An estimate as rows in plain JSON types: what was estimated, its value, and its ±."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import pairwise
from typing import Any

from deniable.local import Estimate, MeanEstimate, RangeEstimate, VectorEstimate

Row = dict[str, Any]


def shown(estimate: object, *, people: int) -> dict[str, Any]:
    """The rows of an estimate, and how many reports it is made of."""
    return {"people": people, "confidence": 0.95, "rows": list(_rows(estimate))}


def _rows(estimate: Any) -> Iterator[Row]:
    match estimate:
        case Estimate():
            for row in estimate.rows():
                yield _row(row["category"], row["count"], row["error"], projected=row["projected"])
        case Mapping():
            for name, part in estimate.items():
                yield from ({"attribute": name} | row for row in _rows(part))
        case MeanEstimate():
            yield _row("mean", estimate.mean, estimate.error)
        case VectorEstimate():
            pairs = zip(estimate.mean.tolist(), estimate.error.tolist(), strict=True)
            yield from (_row(str(i), mean, error) for i, (mean, error) in enumerate(pairs))
        case RangeEstimate():
            ends = zip(estimate.edges.tolist(), estimate.labels, strict=True)
            for (low, first), (high, last) in pairwise(ends):
                yield _row(f"{first} to {last}", *estimate.count(low, high))
        case _:
            yield from (_row(str(each.value), each.count, each.error) for each in estimate)


def _row(label: object, value: Any, error: Any, **more: Any) -> Row:
    return {"label": str(label), "value": float(value), "error": float(error)} | more
