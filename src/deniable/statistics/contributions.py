"""How much of the data one person has, found privately, to choose `rows=` and `groups=` by.

One row per person is made first, so a person moves one count of each histogram by one: the answer
does not depend on the limits that the session has now.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Final

import numpy as np

from deniable.cards import card, facts, table
from deniable.errors import BadParameter, MissingUnit
from deniable.query.algebra.possible import count_of
from deniable.release import Release
from deniable.release.frame import box
from deniable.release.numbers import plus_minus
from deniable.session.sources.source import quoted

from .building import About
from .summary import stacked

STEPS: Final[tuple[int, ...]] = tuple(2**k for k in range(13))  # 1, 2, 4, …, 4096
KEPT: Final = 0.95


@dataclass(frozen=True, kw_only=True, repr=False)
class Contributions:
    """How many people have so many rows, and are in so many groups, with ±.

    `recommended` has the smallest limits that leave at least 95 % of people whole, as far as the
    noisy counts show.
    """

    person: str
    rows: Release
    groups: Release | None = None
    most: int | None = None
    """How many groups there can be, where that is public."""

    @property
    def recommended(self) -> dict[str, int]:
        """Limits for `dp.person`, from the noisy counts."""
        return {name: _limit(each, self._steps(name)) for name, each in self._releases.items()}

    @property
    def advice(self) -> str:
        """The privacy unit to open a session with, and whom it leaves whole."""
        limits = ", ".join(f"{name}={limit}" for name, limit in self.recommended.items())
        kept = ", ".join(
            f"about {100 * _share(self._releases[name], self._steps(name), limit):.0f} % of people "
            f"{'have' if name == 'rows' else 'are in'} at most {_few(limit, name)}"
            for name, limit in self.recommended.items()
        )
        return f'unit=dp.person("{self.person}", {limits})    {kept}'

    @property
    def _releases(self) -> dict[str, Release]:
        both = {"rows": self.rows, "groups": self.groups}
        return {name: release for name, release in both.items() if release is not None}

    def _steps(self, name: str) -> tuple[int, ...]:
        return _up_to(self.most if name == "groups" else None)

    def __str__(self) -> str:
        shown = map(_shortened, self._releases.values())
        tables = [f"{title}\n{box([title, 'people'], rows)}" for title, rows in shown]
        said = [f"{self.rows.cost} · protects {self.rows.unit}", *self._notes()]
        return "\n".join([*tables, *said, f"recommended: {self.advice}"])

    __repr__ = __str__

    def _repr_html_(self) -> str:
        shown = map(_shortened, self._releases.values())
        tables = [table([title, "people"], rows) for title, rows in shown]
        notes = {f"note {n}": text for n, text in enumerate(self._notes(), 1)}
        said = {"cost": self.rows.cost, "protects": str(self.rows.unit)} | notes
        return card(
            "rows and groups per person", *tables, facts(said | {"recommended": self.advice})
        )

    def _notes(self) -> list[str]:
        """What holds for both tables."""
        return [
            "cells beyond the last count that stands out from the noise are not shown",
            "± covers the noise (95 % confidence); everyone counts once, whatever the limits are",
        ]


def question(about: About, by: str | None) -> str:
    """The SQL: one row per person, then people by how much they have."""
    person = about.session.unit.column
    if person is None:
        raise MissingUnit(
            "in this session every row is a person, so nobody has several rows",
            why=f"the session protects {about.session.unit}",
            fix='unit=dp.person("user_id", rows=10)',
        )
    if by is not None and not isinstance(by, str):
        raise BadParameter.of("by", by, must="the name of one column", fix='by="diagnosis"')
    groups = "" if by is None else f", COUNT(DISTINCT {quoted(by)}) AS groups"
    asked = _histogram("rows") + ("" if by is None else f", {_histogram('groups')}")
    who, table = quoted(person), quoted(about.source.name)
    return (
        f"SELECT {asked} FROM (SELECT {who}, COUNT(*) AS rows{groups} "  # noqa: S608  (quoted)
        f"FROM {table} GROUP BY {who}) AS each"
    )


def read(release: Release, about: About, *, person: str, by: str | None) -> Contributions:
    """The answer to `question`, as two tables."""
    rows = _table(release, "rows", "rows per person")
    if by is None:
        return Contributions(person=person, rows=rows)
    most = count_of(about.column(by).domain)
    groups = _table(release, "groups", f"values of {by} per person", most)
    return Contributions(person=person, rows=rows, groups=groups, most=most)


def _up_to(most: int | None) -> tuple[int, ...]:
    """The steps, the last of them the most there can be, where that is known."""
    if most is None or most > STEPS[-1]:
        return STEPS
    return *(step for step in STEPS if step < most), most


def _histogram(column: str) -> str:
    edges = ", ".join(str(edge) for edge in (0, *(step + 1 for step in STEPS)))
    return f"HISTOGRAM(LEAST({column}, {STEPS[-1] + 1}), {edges}, {STEPS[-1] + 2}) AS {column}"


def _table(release: Release, column: str, title: str, most: int | None = None) -> Release:
    steps = _up_to(most)
    cells = [answer for name, answer in release.answers.items() if name.startswith(f"{column} ")]
    labels = [f"{a + 1:,} to {b:,}" if b > a + 1 else f"{b:,}" for a, b in pairwise((0, *steps))]
    if most is None or most > steps[-1]:
        labels.append(f"more than {steps[-1]:,}")
    people = replace(stacked(cells[: len(labels)]), estimand="")
    keys = {title: tuple(labels)}
    provenance = replace(release.provenance, question=title)
    return replace(release, keys=keys, answers={"people": people}, provenance=provenance)


def _shortened(release: Release) -> tuple[str, list[list[str]]]:
    """The title, and the rows up to one after the last count that is hardly noise alone.

    At 95 % one of fourteen cells would pass its ± by chance in a third of all tables.
    """
    counts, error = _people(release)
    _, highest = _people(release, confidence=0.99)
    last = max((place for place, count in enumerate(counts) if count > highest), default=0)
    ((title, labels),) = release.keys.items()
    shown = zip(labels[: last + 2], release.answers["people"].cells, strict=False)
    return title, [[str(label), plus_minus(count, error)] for label, count in shown]


def _few(limit: int, name: str) -> str:
    return f"{limit:,} {name if limit > 1 else name.removesuffix('s')}"


def _share(release: Release, steps: Sequence[int], limit: int) -> float:
    """The share of people with no more than that, from the noisy counts."""
    counts, _ = _people(release)
    return min(sum(counts[: steps.index(limit) + 1]) / max(sum(counts), 1.0), 1.0)


def _limit(release: Release, steps: Sequence[int]) -> int:
    """The smallest limit that at most 5 % of people exceed, as far as the noisy counts show."""
    counts, error = _people(release)
    few = (1 - KEPT) * sum(counts)
    for place, step in enumerate(steps, 1):
        beyond = counts[place:]
        if sum(beyond) <= few + error * math.sqrt(len(beyond)):
            return step
    return steps[-1]


def _people(release: Release, *, confidence: float = 0.95) -> tuple[list[float], float]:
    """The noisy counts, and their ±."""
    people = release.answers["people"]
    return np.array(people.cells, dtype=np.float64).tolist(), float(people.errors(confidence)[0])
