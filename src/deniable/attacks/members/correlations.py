"""Membership from published correlations: second moments lean towards members, as means do.

With d columns there are d(d − 1)/2 correlations, so they reveal far more than d means: few people
or few columns suffice [HSRDTMPSNC08, DSSUV15].
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from deniable.attacks.evidence import Membership
from deniable.attacks.tables import Floats
from deniable.errors import BadParameter

from .frequencies import people_of


def from_correlations(
    published: ArrayLike,
    *,
    members: ArrayLike,
    controls: ArrayLike,
    reference: ArrayLike | None = None,
    epsilon: float | None = None,
) -> Membership:
    """Score people by how much a published correlation matrix leans towards them.

    `published` is the matrix of correlations of the data's columns; `reference` other people of the
    same population (by default the controls), from whom the attacker knows what is usual. A person
    with standardised values z scores ⟨zzᵀ − R, Ĉ − R⟩ over pairs of different columns, R being the
    reference's correlations: the inner-product test on products of columns.

    >>> from deniable.sampling.public import PublicRandom
    >>> draw = PublicRandom(3).generator.normal
    >>> pool, others = draw(size=(40, 60)), draw(size=(400, 60))
    >>> found = from_correlations(np.corrcoef(pool.T), members=pool, controls=others[:200],
    ...                           reference=others[200:])
    >>> found.auc > 0.9
    True
    """
    inside, outside = people_of("members", members), people_of("controls", controls)
    usual = outside if reference is None else people_of("reference", reference)
    told = np.asarray(published, dtype=np.float64)
    size = inside.shape[1]
    if told.shape != (size, size) or not outside.shape[1] == usual.shape[1] == size:
        raise BadParameter(
            "published must be a square matrix with one row and one column per column of the "
            "tables",
            fix="from_correlations(numpy.corrcoef(table.T), members=table, controls=others)",
        )
    if size < 2 or not np.all(np.isfinite(told)) or usual.shape[0] < 3:
        raise BadParameter("correlations need two columns, finite numbers and a few other people")
    centre, spread = usual.mean(axis=0), np.maximum(usual.std(axis=0), 1e-12)
    base = ((usual - centre) / spread).T @ ((usual - centre) / spread) / usual.shape[0]
    lean = np.where(np.eye(size, dtype=bool), 0.0, told - base)

    def score(rows: Floats) -> Floats:
        z = (rows - centre) / spread
        return np.asarray(np.sum((z @ lean) * z, axis=1) - np.sum(lean * base))

    pairs = size * (size - 1) // 2
    return Membership(
        inside=score(inside),
        outside=score(outside),
        source=f"{pairs:,} published correlations",
        test="inner product of second moments",
        epsilon=epsilon,
    )
