"""Membership from synthetic data: is it nearer to the people it was made from?"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from deniable.attacks.evidence import Membership
from deniable.attacks.tables import codes, columns_of, row_count
from deniable.errors import BadParameter

Floats = NDArray[np.float32]

_AT_ONCE = 4_000_000


def from_synthetic(
    synthetic: object,
    *,
    members: object,
    controls: object,
    reference: object | None = None,
    columns: Sequence[str] | None = None,
    epsilon: float | None = None,
) -> Membership:
    """Score people by how near the closest synthetic record is to them.

    Distance is the share of columns that differ; numbers count by how far apart they are in units
    of their spread (Gower). With `reference`, records of other people from the same population, the
    score is how much nearer the synthetic data are than those: being typical is not evidence.

    >>> members, others = {"age": [20, 40, 60]}, {"age": [28, 50, 69]}
    >>> from_synthetic(members, members=members, controls=others).auc  # copies give everyone away
    1.0
    """
    names = list(columns_of(synthetic)) if columns is None else list(columns)
    scale = Scale.of(synthetic, names)
    made = scale.places(synthetic)
    inside, outside = scale.places(members), scale.places(controls)
    scores = [-nearest(people, made) for people in (inside, outside)]
    test = "distance to the closest record"
    if reference is not None:
        others = scale.places(reference)
        scores = [s + nearest(p, others) for s, p in zip(scores, (inside, outside), strict=True)]
        test += ", against other people's"
    return Membership(
        inside=scores[0].astype(np.float64),
        outside=scores[1].astype(np.float64),
        source="synthetic data",
        test=test,
        epsilon=epsilon,
    )


@dataclass(frozen=True, kw_only=True, eq=False)
class Scale:
    """How rows become places: numbers over their spread, categories as codes."""

    names: tuple[str, ...]
    spreads: dict[str, float]
    """Of the numeric columns."""
    levels: dict[str, dict[object, int]]
    """Of the others."""

    @classmethod
    def of(cls, table: object, names: Sequence[str]) -> Scale:
        """Spreads and categories of a table that the attacker holds."""
        values = columns_of(table, names)
        if not row_count(values):
            raise BadParameter("there are no records to compare with")
        spreads, levels = {}, {}
        for name, column in values.items():
            if column.dtype.kind in "iuf":
                spreads[name] = float(np.nanmax(column) - np.nanmin(column)) or 1.0
            else:
                known = codes(column)[1]
                levels[name] = {value: place for place, value in enumerate(known)}
        return cls(names=tuple(values), spreads=spreads, levels=levels)

    def places(self, table: object) -> tuple[Floats, NDArray[np.int32]]:
        """Scaled numbers and codes, a row a person; a category never seen is −1."""
        values = columns_of(table, self.names)
        size = row_count(values)
        numbers = [values[name].astype(np.float32) / self.spreads[name] for name in self.spreads]
        kinds = [
            np.array([known.get(v, -1) for v in values[name].tolist()], dtype=np.int32)
            for name, known in self.levels.items()
        ]
        return (
            np.stack(numbers, axis=1) if numbers else np.zeros((size, 0), dtype=np.float32),
            np.stack(kinds, axis=1) if kinds else np.zeros((size, 0), dtype=np.int32),
        )


Places = tuple[Floats, NDArray[np.int32]]


def nearest(people: Places, records: Places) -> Floats:
    """The distance from each person to the closest record."""
    parts = [part.min(axis=1) for part in distances(people, records)]
    return np.concatenate([np.zeros(0, dtype=np.float32), *parts])


def distances(people: Places, records: Places) -> Iterator[Floats]:
    """Distances of all people to all records, some people at a time."""
    size = people[0].shape[0]
    step = max(1, _AT_ONCE // max(1, records[0].shape[0]))
    columns = max(1, people[0].shape[1] + people[1].shape[1])
    for start in range(0, size, step):
        numbers, kinds = people[0][start : start + step], people[1][start : start + step]
        total = np.zeros((numbers.shape[0], records[0].shape[0]), dtype=np.float32)
        for j in range(numbers.shape[1]):
            total += _apart(numbers[:, j, None], records[0][None, :, j])
        for j in range(kinds.shape[1]):
            total += kinds[:, j, None] != records[1][None, :, j]
        yield total / columns


def _apart(first: Floats, second: Floats) -> Floats:
    """Numbers in units of the spread, 1 at most; a missing number equals only a missing one."""
    far: Floats = np.fmin(1, np.abs(first - second), dtype=np.float32)
    if np.isnan(first).any() and np.isnan(second).any():
        far[np.isnan(first) & np.isnan(second)] = 0
    return far
