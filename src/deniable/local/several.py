"""Several attributes at once: each person reports one of them, chosen by a public coin.

Splitting ε over d attributes multiplies the variance of each by about d²; asking one attribute of
each person multiplies it by d [WXYZ19]. Which attribute is asked does not depend on the values,
so the report costs ε whatever is chosen.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from deniable import parameters
from deniable.errors import BadParameter
from deniable.mechanisms import Mechanism
from deniable.sampling import below

from .choosing import choose
from .estimate import Estimate
from .protocols import Protocol
from .protocols._protocol import listed
from .reports import Reporter, Rows, Tally, impossible, is_a_name

_TYPICAL = 1_000_000  # reports for which the protocol of each attribute is chosen


@parameters.made("local.Attributes(categories={...}, epsilon=1.0)")
@dataclass(frozen=True, kw_only=True)
class Attributes(Reporter[dict[str, Estimate]]):
    """Attributes: counts of several attributes, from one report per person.

    >>> p = Attributes(categories={"sex": 2, "job": ["baker", "smith", "other"]}, epsilon=1.0)
    >>> reports = p.encode_all({"sex": [0, 1, 1], "job": ["smith", "smith", "baker"]})
    >>> sorted(p.server().add(reports).estimate())
    ['job', 'sex']
    """

    name: ClassVar[str] = "attributes"

    categories: Mapping[str, int | Sequence[str]]

    def __post_init__(self) -> None:
        super().__post_init__()
        given: object = self.categories
        if not isinstance(given, Mapping) or not 1 <= len(given) <= 256:
            raise BadParameter("categories must name 1 to 256 attributes, each with its categories")
        if not all(is_a_name(name) for name in given):
            raise BadParameter("the names of attributes must be texts")
        # In one order, whoever lists them: a report names its attribute by its place.
        kept = {name: listed(given[name]) for name in sorted(given)}
        object.__setattr__(self, "categories", kept)
        _ = self.protocols

    @cached_property
    def protocols(self) -> tuple[Protocol, ...]:
        """The protocol of each attribute."""
        return tuple(
            choose(categories=each, epsilon=self.epsilon, reports=_TYPICAL)
            for each in self.categories.values()
        )

    def bound_to(self) -> dict[str, object]:
        """The protocol of each attribute, too, as a later version may choose another one."""
        return self.to_dict() | {"protocols": [each.to_dict() for each in self.protocols]}

    @property
    def randomizer(self) -> Mechanism:
        """That of the attribute which is asked: each costs ε."""
        return self.protocols[0].randomizer

    @cached_property
    def payload(self) -> int:
        """Which attribute, and the longest of their payloads; shorter ones are filled with 0."""
        return 1 + max(each.payload for each in self.protocols)

    def numbered(self, values: object) -> NDArray[np.int64]:
        """One row per person, one column per attribute."""
        table = _by_column(values)
        if set(table) != set(self.categories):
            named = ", ".join(self.categories)
            raise BadParameter(
                f"values must be a frame, or a dict of lists, with the columns {named}",
                fix="{name: frame[name] for name in p.categories}",
            )
        columns = [
            each.numbered(table[name])
            for name, each in zip(self.categories, self.protocols, strict=True)
        ]
        if len({each.size for each in columns}) > 1:
            raise BadParameter("the columns must have one value per person each")
        return np.stack(columns, axis=1)

    def draw(self, values: NDArray[Any]) -> Rows:
        """One attribute per person, at random."""
        asked = below(len(self.protocols), len(values))
        payloads = np.zeros((len(values), self.payload), dtype=np.uint8)
        payloads[:, 0] = asked
        for place, each in enumerate(self.protocols):
            rows = np.flatnonzero(asked == place)
            if rows.size:
                payloads[rows, 1 : 1 + each.payload] = each.draw(values[rows, place])
        return payloads

    def check_payloads(self, payloads: Rows) -> None:
        """A known attribute, a possible report on it, and zeros."""
        if (payloads[:, 0] >= len(self.protocols)).any():
            raise impossible()
        for place, each in enumerate(self.protocols):
            here = payloads[payloads[:, 0] == place, 1:]
            if here[:, each.payload :].any():
                raise impossible()
            each.check_payloads(here[:, : each.payload])

    def tally(self) -> Tally:
        """How many were asked each attribute, and what the servers of all attributes keep."""
        asked = np.zeros(len(self.protocols), dtype=np.int64)
        return asked, *(part for each in self.protocols for part in each.tally())

    def count(self, tally: Tally, payloads: Rows) -> None:
        """Each report for the attribute it is about."""
        tally[0][:] += np.bincount(payloads[:, 0], minlength=len(self.protocols))
        for place, (each, kept) in enumerate(self._parts(tally)):
            here = payloads[payloads[:, 0] == place, 1 : 1 + each.payload]
            if len(here):
                each.count(kept, here)

    def estimated(self, tally: Tally, people: int, *, confidence: float) -> dict[str, Estimate]:
        """Each attribute's counts of all people, given how many were asked about it."""
        parts = zip(self.categories, tally[0].tolist(), self._parts(tally), strict=True)
        return {
            name: each.estimate(
                each.supports(kept, asked), people, confidence=confidence, asked=asked
            )
            for name, asked, (each, kept) in parts
        }

    def _parts(self, tally: Tally) -> list[tuple[Protocol, Tally]]:
        rest, parts = list(tally[1:]), []
        for each in self.protocols:
            size = len(each.tally())
            parts.append((each, tuple(rest[:size])))
            rest = rest[size:]
        return parts


def _by_column(values: Any) -> Mapping[str, Any]:
    """The columns of a dict, or of a frame of pandas, Polars or Arrow; none of anything else."""
    names = getattr(values, "column_names", getattr(values, "columns", ()))
    if isinstance(values, Mapping):
        return values
    return {name: values[name] for name in names}
