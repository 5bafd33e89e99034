"""A loss that a user brings: checked on made-up rows before anything is spent, then called.

Its gradients are clipped, and its values too, so no Lipschitz constant has to be believed; that
each row's results depend on that row alone is tried, see `engine.made_up`.

The last digits of a row's results may still change with its neighbours, because matrix products
treat the rows at the end of a block differently. Clipping therefore keeps back `SPARE` of the
bound, which covers one step of the lattice for each of a thousand rows or more.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from deniable.errors import BadParameter
from deniable.learn.engine.made_up import check_by_row, numbers, unchangeable
from deniable.sampling import PublicRandom

from .domains import Domain
from .objectives import NAMES, Brought
from .restricted import Floats

SPARE = 2.0**-10
_FIX = "def loss(x, X, y): return values, gradients  # shapes (len(X),) and X.shape"


def check(function: object, *, domain: Domain, coordinates: int) -> None:
    """Refuse what is not a loss of single rows, on made-up rows: free, and blind to the data."""
    if not callable(function):
        raise BadParameter.of(
            "loss",
            function,
            must="one of " + ", ".join(map(repr, NAMES)) + ", or a function with gradient",
            fix="loss=lambda x, X, y: (values, gradients)",
        )
    away = PublicRandom(16).generator.normal(size=coordinates)
    x = domain.project(domain.center(coordinates) + away)
    check_by_row(
        lambda rows, targets: called(function, rows, targets)(x),
        what="loss",
        columns=coordinates,
        fix=_FIX,
    )


def called(
    function: Brought, rows: Floats, targets: Floats
) -> Callable[[Floats], tuple[Floats, Floats]]:
    """x → (values, gradients) of these rows, of the right shapes; it cannot change its input.

    It sees zeros in place of a row with a number that is missing or infinite, whose results count
    as 0; and it is never asked about no rows, of which many a function makes another shape.
    """
    missing = ~(np.isfinite(rows).all(axis=1) & np.isfinite(targets))
    rows, targets = np.where(missing[:, None], 0.0, rows), np.where(missing, 0.0, targets)
    rows, targets = unchangeable(rows), unchangeable(targets)

    def at(x: Floats) -> tuple[Floats, Floats]:
        if not len(rows):
            return np.zeros(targets.shape), np.zeros(rows.shape)
        with np.errstate(all="ignore"):
            values, gradients = function(x.copy(), rows, targets)
        found = numbers(values, targets.shape), numbers(gradients, rows.shape)
        for each in found:
            each[missing] = 0.0
        return found

    return at
