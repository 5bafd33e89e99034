"""Bounds found privately, where nobody can say what is plausible.

Rows are counted by magnitude: [2ᵏ, 2ᵏ⁺¹) for k from −32 to 63, their negatives, and what lies
between. A row is in one of these bins, so all counts together cost what one would. A bin counts if
its noisy count passes a threshold that noise alone passes with a chance of 10⁻⁶ in all; the bounds
are the outer ends of the bins that count. A quarter of the loss is enough for this: bounds need to
be right within a factor of two.
"""

from __future__ import annotations

import math
from typing import Final

from deniable.errors import BadParameter
from deniable.losses import Approx, Gdp, Loss, Pure, Zcdp
from deniable.mechanisms import Gaussian, Laplace, Mechanism
from deniable.query.algebra import Key, Kind
from deniable.query.bound import WEIGHT
from deniable.query.query import Query
from deniable.release import Release
from deniable.schema import Column as Facts
from deniable.schema.columns import DROP

from .building import COUNT, About, ask
from .tables import bucket

_SMALLEST: Final = -32
_LARGEST: Final = 64
_FALSE_ALARM: Final = 1e-6


def bounds(about: About, column: str) -> Query:
    """Rows by magnitude, from which `read_bounds` reads the bounds."""
    found = about.column(column)
    if not found.domain.numeric:
        raise BadParameter(f"`{column}` holds {found.kind.value}, and only numbers have bounds")
    edges = magnitudes()
    key = Key(name="bin", expression=bucket(found, edges), values=tuple(range(len(edges) - 1)))
    return ask(about, COUNT, keys=[key], text=f"bounds of {column}")


def read_bounds(release: Release, *, whole: bool) -> tuple[float, float]:
    """The outer ends of the bins that hold more than noise; whole numbers for a whole column."""
    edges = magnitudes()
    counts = release.answers["count"].cells
    threshold = _threshold(release, len(counts))
    kept = [i for i, n in enumerate(counts) if float(n) > threshold]  # type: ignore[arg-type]
    middle = len(counts) // 2
    first, last = (kept[0], kept[-1]) if kept else (middle, middle)
    low, high = edges[first], edges[last + 1]
    # Around zero lies one bin on its own; next to others it is an end at zero.
    low = 0.0 if first == middle and last > middle else low
    high = 0.0 if last == middle and first < middle else high
    return (float(math.floor(low)), float(math.ceil(high))) if whole else (low, high)


def found_facts(about: About, column: str, low: float, high: float) -> Facts:
    """What is known of the column now."""
    facts = about.source.column(column)
    if facts.type == Kind.INT.value:
        ends: tuple[float, float] = (max(int(low), -(2**53)), min(int(high), 2**53))
    else:
        ends = (low, high)
    missing = DROP if facts.missing is None else facts.missing
    return Facts(type=facts.type, low=ends[0], high=ends[1], missing=missing)


def quarter(spend: Loss) -> tuple[Loss, Loss]:
    """A quarter of an amount, and the rest."""
    match spend:
        case Pure():
            return Pure(spend.epsilon / 4), Pure(spend.epsilon - spend.epsilon / 4)
        case Approx():
            part = spend.epsilon / 4
            return Pure(part), Approx(spend.epsilon - part, delta=spend.delta)
        case Zcdp():
            return Zcdp(spend.rho / 4), Zcdp(spend.rho - spend.rho / 4)
        case Gdp():
            return Gdp(spend.mu / 2), Gdp(spend.mu * math.sqrt(0.75))
    raise BadParameter.of("spend", spend, must="a loss a session can spend")


def magnitudes() -> list[float]:
    """−2⁶⁴, …, −2⁻³², 2⁻³², …, 2⁶⁴."""
    powers = [math.ldexp(1.0, k) for k in range(_SMALLEST, _LARGEST + 1)]
    return [-p for p in reversed(powers)] + powers


def _threshold(release: Release, bins: int) -> float:
    """What no empty bin passes but with a chance of 10⁻⁶: from the noise that was drawn."""
    noise = Mechanism.from_dict(release.mechanisms[0])
    assert isinstance(noise, Laplace | Gaussian)
    one = 1 if release.unit.column is None else WEIGHT
    return noise.error(1 - 2 * _FALSE_ALARM, coordinates=bins) / one
