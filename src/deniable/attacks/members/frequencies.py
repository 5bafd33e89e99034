"""Membership from frequencies: whose genome is in the pool [HSRDTMPSNC08, SOJH09].

Published means lean a little towards everyone who is in them. One lean is nothing; over thousands
of columns the leans of a member add up, and those of a stranger cancel.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from deniable import parameters
from deniable.attacks.evidence import Membership
from deniable.attacks.tables import Floats
from deniable.errors import BadParameter


def from_frequencies(
    published: ArrayLike,
    *,
    members: ArrayLike,
    controls: ArrayLike,
    reference: ArrayLike | None = None,
    test: str = "inner_product",
    epsilon: float | None = None,
) -> Membership:
    """Score people by how much the published means lean towards them.

    `published` holds a mean for each column; `members` and `controls` a row per person; `reference`
    is what the means are elsewhere (a rate for each column, or a sample of other people; by default
    the controls' own means). "inner_product" is ⟨x − p, p̂ − p⟩ [DSSUV15] and takes any numbers;
    "likelihood" is Σ x·ln(p̂/p) + (1 − x)·ln((1 − p̂)/(1 − p)) and takes 0 and 1 only [SOJH09].

    >>> from deniable.sampling.public import PublicRandom
    >>> draw = PublicRandom(1).generator
    >>> rates = draw.uniform(0.1, 0.9, 1000)
    >>> pool, others = ((draw.random((50, 1000)) < rates) * 1.0 for _ in range(2))
    >>> means = pool.mean(axis=0)
    >>> from_frequencies(means, members=pool, controls=others, reference=rates).auc > 0.99
    True
    """
    parameters.one_of("test", test, ("inner_product", "likelihood"))
    inside, outside = people_of("members", members), people_of("controls", controls)
    means = np.asarray(published, dtype=np.float64).reshape(-1)
    if not inside.shape[1] == outside.shape[1] == means.size:
        raise BadParameter("people and published means have the same columns")
    rates = outside.mean(axis=0) if reference is None else _rates(reference, means.size)
    score = _inner_product if test == "inner_product" else _likelihood
    return Membership(
        inside=score(inside, means, rates),
        outside=score(outside, means, rates),
        source=f"{means.size:,} published means",
        test=test.replace("_", " "),
        epsilon=epsilon,
    )


def _inner_product(rows: Floats, means: Floats, rates: Floats) -> Floats:
    return (rows - rates) @ (means - rates)


def _likelihood(rows: Floats, means: Floats, rates: Floats) -> Floats:
    if not np.all((rows == 0) | (rows == 1)):
        raise BadParameter(
            "the likelihood test takes columns of 0 and 1", fix='test="inner_product"'
        )
    # Noisy or rare frequencies may touch 0 and 1, where one person would decide everything.
    near, base = np.clip(means, 1e-3, 1 - 1e-3), np.clip(rates, 1e-3, 1 - 1e-3)
    return rows @ np.log(near / base) + (1 - rows) @ np.log((1 - near) / (1 - base))


def people_of(name: str, rows: ArrayLike) -> Floats:
    """A table of finite numbers with a row per person."""
    table = np.asarray(rows, dtype=np.float64)
    if table.ndim != 2 or not table.size or not np.all(np.isfinite(table)):
        raise BadParameter(f"{name} must be a table of finite numbers with a row per person")
    return table


def _rates(reference: ArrayLike, columns: int) -> Floats:
    rates = np.asarray(reference, dtype=np.float64)
    rates = rates.mean(axis=0) if rates.ndim == 2 else rates.reshape(-1)
    if rates.size != columns:
        raise BadParameter.of("reference", rates.shape, must=f"{columns} rates, or rows of people")
    return rates
