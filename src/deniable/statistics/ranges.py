"""Bounds found privately, where nobody can say what is plausible.

Rows are counted by magnitude: [2ᵏ, 2ᵏ⁺¹) for k from −32 to 63, their negatives, and what lies
between. A row is in one of these bins, so all counts together cost what one would. A bin counts if
its noisy count passes a threshold that noise alone passes with a chance of 10⁻⁶ in all; the bounds
are the outer ends of the bins that count. A quarter of the loss is enough for this: bounds need to
be right within a factor of two.
"""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Final

import numpy as np

from deniable.errors import BadParameter
from deniable.query.algebra import Key, Kind
from deniable.query.bind.bins import bucket
from deniable.query.query import Query
from deniable.release import Release
from deniable.release.numbers import amount, digits
from deniable.schema import Column as Facts
from deniable.schema.columns import DROP
from deniable.schema.edges import magnitudes

from .building import COUNT, About, ask

SEARCH_SHARE: Final = 0.25
"""Of a spend, what pays for the search if the same call answers a question after it."""
_FALSE_ALARM: Final = 1e-6
EXTREMES: Final = ((-1.0, 1.0), (-(2.0**64), 2.0**64))
"""The narrowest bounds of whole numbers that a search can find, and the widest of all."""


class Bounds(tuple[float, float]):  # noqa: SLOT001  (a tuple with a field cannot have slots)
    """(low, high); where none were found, `note` says so, and is printed with them."""

    note: str = ""

    def __repr__(self) -> str:
        ends = super().__repr__()
        return f"{ends}: {self.note}" if self.note else ends


def bounds(about: About, column: str) -> Query:
    """Rows by magnitude, from which `read_bounds` reads the bounds."""
    found = about.column(column)
    if not found.domain.numeric:
        raise BadParameter(f"`{column}` holds {found.kind.value}, and only numbers have bounds")
    edges = magnitudes().edges
    key = Key(name="bin", expression=bucket(found, edges), values=tuple(range(len(edges) - 1)))
    return ask(about, COUNT, keys=[key], text=f"bounds of {column}")


def read_bounds(release: Release, *, whole: bool) -> Bounds:
    """The outer ends of the bins that hold more than noise; whole numbers for a whole column."""
    edges, kept = magnitudes().edges, above_noise(release)
    middle = (len(edges) - 1) // 2
    first, last = (kept[0], kept[-1]) if kept else (middle, middle)
    low, high = edges[first], edges[last + 1]
    # Around zero lies one bin on its own; next to others it is an end at zero.
    low = 0.0 if first == middle and last > middle else low
    high = 0.0 if last == middle and first < middle else high
    found = Bounds((float(math.floor(low)), float(math.ceil(high))) if whole else (low, high))
    found.note = "" if kept else _nothing_found(release)
    return found


def above_noise(release: Release) -> list[int]:
    """The bins that hold more than noise."""
    counts, threshold = release.answers["count"].cells, _threshold(release)
    return [i for i, n in enumerate(np.array(counts, dtype=np.float64)) if n > threshold]


def _threshold(release: Release) -> float:
    """What no empty bin passes but with a chance of 10⁻⁶ in all: half of what passes a ±."""
    counts = release.answers["count"]
    return float(counts.errors(1 - 2 * _FALSE_ALARM / len(counts.cells))[0])


def _nothing_found(release: Release) -> str:
    """At which cost nothing was found, and how many rows it takes."""
    return (
        f"no bounds were found at {amount(release.loss, 'up')}: a range between two powers of two "
        f"is found only if it has about {digits(_threshold(release), 'up')} rows or more; spend "
        "more, or state plausible bounds"
    )


def knowing(about: About, column: str, low: float, high: float) -> About:
    """The same rows, with bounds for a column."""
    facts = about.source.column(column)
    if facts.type == Kind.INT.value:
        # Magnitudes reach further than 64 bits: what lies there is in the last that fits.
        low = min(max(int(low), -(2**63)), 2**62)
        high = max(min(int(high), 2**63 - 1), -(2**62))
    missing = DROP if facts.missing is None else facts.missing
    known = Facts(type=facts.type, low=low, high=high, missing=missing)
    return replace(about, known={column: known})
