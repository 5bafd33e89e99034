"""The event each way that separates two data sets best, and what fresh answers prove of it."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from .certify import RATES, FloatArray, lower_rate, quick_rates, upper_rate
from .claims import Claim
from .features import Feature, finite
from .outputs import Table

_EVEN = np.linspace(0.0, 1.0, 257)
_TAIL = np.geomspace(1e-5, 1 / 256, 24)
_LEVELS = np.concatenate([_TAIL, _EVEN, 1 - _TAIL])
_WORTH = 0.01
"""A feature further down the list must be this much better: simple witnesses are believed."""


@dataclass(frozen=True, eq=False)
class Event:
    """Answers whose score is at least (or at most) a threshold."""

    feature: Feature
    threshold: float
    at_least: bool

    def __str__(self) -> str:
        return self.feature.words(self.threshold, at_least=self.at_least)

    def hits(self, table: Table) -> int:
        """How many answers belong to it."""
        scores = self.feature.scores(table)
        inside = scores >= self.threshold if self.at_least else scores <= self.threshold
        return int(np.count_nonzero(inside))


@dataclass(frozen=True, kw_only=True)
class Finding:
    """An event that is likelier on one side, with rates that hold at the stated confidence."""

    event: str
    likelier: str
    """The data set on which it is likelier: "first" or "second"."""
    rate: float
    """A lower bound on its probability there."""
    other_rate: float
    """An upper bound on its probability on the other data set."""
    lower: float
    """The claim's parameter is at least this."""
    violated: bool


def choose(
    features: Iterable[Feature], first: Table, second: Table, *, claim: Claim, alpha: float
) -> tuple[Event | None, Event | None]:
    """The best event for "likelier on the first" and for "likelier on the second"."""
    best: list[Event | None] = [None, None]
    height = [-np.inf, -np.inf]
    for feature in features:
        a, b = (np.sort(finite(feature.scores(table))) for table in (first, second))
        thresholds = _thresholds(a, b)
        if thresholds.size == 0:
            continue
        for at_least in (False, True):
            counts = [_counts(side, thresholds, at_least=at_least) for side in (a, b)]
            rates = [
                quick_rates(count, trials=table.size, alpha=alpha)
                for count, table in zip(counts, (first, second), strict=True)
            ]
            for way in (0, 1):
                value = claim.lower(rates[way][0], rates[1 - way][1])
                top = int(value.argmax())
                if value[top] > height[way] + _WORTH * abs(height[way]) or best[way] is None:
                    height[way] = float(value[top])
                    best[way] = Event(feature, float(thresholds[top]), at_least)
    return best[0], best[1]


def certify(
    events: tuple[Event | None, Event | None],
    first: Table,
    second: Table,
    *,
    claim: Claim,
    alpha: float,
) -> list[Finding]:
    """What fresh answers prove: each rate may be wrong with probability α/4, all four with α."""
    findings = []
    for event, sides, name in zip(
        events, ((first, second), (second, first)), ("first", "second"), strict=True
    ):
        if event is None:
            continue
        here, there = sides
        rate = lower_rate(event.hits(here), trials=here.size, alpha=alpha / RATES)
        other = upper_rate(event.hits(there), trials=there.size, alpha=alpha / RATES)
        findings.append(
            Finding(
                event=str(event),
                likelier=name,
                rate=float(rate),
                other_rate=float(other),
                lower=float(claim.lower(rate, other)),
                violated=bool(rate > claim.most(other)),
            )
        )
    return findings


def _thresholds(a: FloatArray, b: FloatArray) -> FloatArray:
    """Scores of each side at even and at extreme levels."""
    at = [side[np.rint(_LEVELS * (side.size - 1)).astype(np.int64)] for side in (a, b) if side.size]
    return np.unique(np.concatenate(at)) if at else np.empty(0)


def _counts(scores: FloatArray, thresholds: FloatArray, *, at_least: bool) -> FloatArray:
    if at_least:
        return (scores.size - np.searchsorted(scores, thresholds, side="left")).astype(np.float64)
    return np.searchsorted(scores, thresholds, side="right").astype(np.float64)
