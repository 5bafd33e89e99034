"""Aggregates: one class for each family, one file each.

tallies        what each row adds: counts, sums on a lattice, squares, histograms, distinct values
_estimator     what a family answers for: its tallies, its ± in advance, its estimate and interval
linear         COUNT, COUNT(DISTINCT), SUM
mean           AVG
spread         VAR and STDDEV
rank           quantiles, MIN, MAX
pairs          COVAR and CORR
histogram      HISTOGRAM

A new aggregate is a name in `algebra.Function` and a file here: front ends read its spelling from
the family, and plans, noise, answers and notes ask the family for the rest.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from deniable.query.algebra import Function

from ._estimator import Derived, Ends, Estimator, Terms, span_of
from .histogram import Histogram
from .linear import Count, Sum
from .mean import Mean
from .pairs import Correlation, Covariance
from .rank import Rank
from .spread import Spread
from .tallies import Measure, Tally

FAMILIES: Final[Mapping[Function, type[Estimator]]] = {
    function: family
    for family in (Count, Sum, Mean, Spread, Rank, Covariance, Correlation, Histogram)
    for function in family.sql.values()
} | {Function.PERSONS: Count}
"""The family of every function."""


def spelled(front: str) -> dict[str, Function]:
    """Every spelling of a front end, `sql` or `ibis`."""
    found: dict[str, Function] = {}
    for family in dict.fromkeys(FAMILIES.values()):
        found |= getattr(family, front)
    return found


__all__ = [
    "FAMILIES",
    "Derived",
    "Ends",
    "Estimator",
    "Measure",
    "Rank",
    "Tally",
    "Terms",
    "span_of",
    "spelled",
]
