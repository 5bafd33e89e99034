"""The options of one-line statistics; each is declared once."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, TypedDict

from deniable.losses import Loss
from deniable.query.query import Within
from deniable.schema.edges import Bins

if TYPE_CHECKING:
    from deniable.statistics.building import By

Auto = Literal["auto"]


class Spend(TypedDict):
    """What an answer may cost."""

    spend: Loss


class Asked(TypedDict, total=False):
    """The loss to spend, or the ± to reach; and the table."""

    spend: Loss | None
    within: Within | None
    table: str | None


class Counted(Asked, total=False):
    """The options of `Asked`, and groups."""

    by: By | None


class Summed(Counted, total=False):
    """The options of `Counted`, and whether to search for the bounds of the column."""

    bounds: Auto | None


class Averaged(Summed, total=False):
    """The options of `Summed`, and about how many rows a group has."""

    size: float | None


class Histogram(Asked, total=False):
    """The options of `Asked`, and bins: how many, their edges, or "half-octaves"."""

    bins: Bins | None
    bounds: Auto | None


class Ranked(Spend, total=False):
    """The loss to spend on quantiles; groups, bounds and the table."""

    by: By | None
    bounds: Auto | None
    table: str | None
