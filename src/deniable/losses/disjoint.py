"""Mechanisms run on disjoint parts of the data: a unit pays only for the parts it is in."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TypeVar

from deniable import parameters
from deniable.errors import BadParameter
from deniable.units import Unit

from ._loss import Loss

L = TypeVar("L", bound=Loss)


@parameters.called("dp.parallel([dp.epsilon(0.1), dp.epsilon(0.2)], unit=dp.rows())")
def parallel(losses: Iterable[L], *, unit: Unit, parts_per_unit: int | None = None) -> L:
    """What one unit loses when each mechanism reads one part of a public, disjoint partition.

    add/remove   the g largest losses, where a unit is in at most g parts                 [McS09]
    replace      the 2g largest: a unit may leave g parts and enter g others

    The parts must be public and fixed in advance: taken from the data they leak themselves. g is
    `parts_per_unit`; without it, what the unit says: its `groups`, else its `rows`. Under replace,
    each loss must hold for any change of what a unit has in that part: there, gone or different.
    Curves are taken point by point, which is what each order, and each of ε and δ, is entitled to.

    >>> from deniable.losses import epsilon
    >>> from deniable.units import rows
    >>> parallel([epsilon(1.0), epsilon(0.5)], unit=rows())
    Pure(epsilon=1.0)
    >>> parallel([epsilon(1.0), epsilon(0.5)], unit=rows(relation="replace"))
    Pure(epsilon=1.5)
    """
    parts = list(losses)
    if not parts or not all(isinstance(part, Loss) for part in parts):
        raise BadParameter.of("losses", parts, must="at least one loss")
    if not isinstance(unit, Unit):
        raise BadParameter.of("unit", unit, must="a unit: dp.rows() or dp.person(...)")
    for part in parts:
        parts[0].same_kind(part, "compare")
    default = unit.groups if unit.groups is not None else unit.rows
    count = parameters.whole(
        "parts_per_unit", default if parts_per_unit is None else parts_per_unit
    )
    count = min(count * unit.sides, len(parts))
    return parts[0].sum_of_largest(parts, count)
