"""The options of one-line statistics and workloads; each is declared once."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal, TypedDict

from deniable.losses import Loss
from deniable.query.query import Within
from deniable.schema.edges import Bins

if TYPE_CHECKING:
    from deniable.statistics.building import By
    from deniable.statistics.workloads import Every

Auto = Literal["auto"]


class Spend(TypedDict):
    """What an answer may cost."""

    spend: Loss


class SpendOrWithin(TypedDict, total=False):
    """The loss to spend, or the ± to reach; and the table."""

    spend: Loss | None
    within: Within | None
    table: str | None


class Counted(SpendOrWithin, total=False):
    """The options of `SpendOrWithin`, and groups."""

    by: By | None


class Summed(Counted, total=False):
    """The options of `Counted`, and whether to search for the bounds of the column."""

    bounds: Auto | None


class Averaged(Summed, total=False):
    """The options of `Summed`, and about how many rows a group has."""

    size: float | None


class Histogram(SpendOrWithin, total=False):
    """The options of `SpendOrWithin`, and bins: how many, their edges, or "half-octaves"."""

    bins: Bins | None
    bounds: Auto | None


class Ranked(Spend, total=False):
    """The loss to spend on quantiles; groups, bounds and the table."""

    by: By | None
    bounds: Auto | None
    table: str | None


class Binned(TypedDict, total=False):
    """The options of `ranges`: how to divide the column."""

    bins: Bins | None
    table: str | None


class Ways(TypedDict, total=False):
    """The options of `marginals`: how many columns a table has, and how to divide them."""

    ways: int
    bins: Bins | None
    table: str | None


class Levels(TypedDict, total=False):
    """The options of `hierarchy`: further groupings of the last column."""

    groups: Mapping[str, Mapping[Any, object]] | None
    table: str | None


class Steps(TypedDict, total=False):
    """The options of `running` and `follow`: how long a step is, and what is added up."""

    every: Every
    of: str | None
    table: str | None


class Parts(TypedDict, total=False):
    """The options of `sample_and_aggregate`: in how many parts the rows are divided."""

    parts: int | None
    table: str | None


class Modelled(Spend, total=False):
    """The loss to spend on a model; the columns to predict from, and the table."""

    features: Sequence[str] | None
    table: str | None
