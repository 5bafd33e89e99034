"""Workloads: many counts and sums released together, with noise chosen for the whole.

moves       how far one unit can move whole numbers, exactly, in three norms
split       a loss divided over vectors: the best noise for each
tails       how far a weighted sum of independent noises lies from zero
ratios      intervals for averages, variances and covariances of noisy sums
trees       histograms as trees of counts, for every rank at once
search      one quantile of a histogram: its cell, and what lies around it
cheapest    the smallest loss at which every answer meets its ±
linear      what workloads share
hierarchy/  counts by groupings of common leaves
online/     ranges, and values of a stream, that arrive one at a time
intervals   all ranges of ordered cells, and running totals
queries     any workload given as a matrix
residuals   all k-way marginals of a table
plans       errors before anything is spent, and estimates after
strategies/  what is measured so that a whole workload is answered well

Only numbers, noise and losses: nothing here knows about queries, schemas or data. A workload says
how far one unit can move it (`Moves`), gets noise for a `Vector`, and reads answers off the noisy
numbers.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from deniable.loading import on_first_use

from .cheapest import Balance, cheapest
from .moves import Moves
from .search import Search, SearchResult
from .split import Noise, Vector, noise_for
from .tails import Law, of_each, reach, tail
from .trees import Ranks, Tree, tree_for

if TYPE_CHECKING:
    from .hierarchy import groupings, tree
    from .intervals import prefixes, ranges
    from .online import arriving, multiplicative_weights, stream
    from .plans import Estimates, WorkloadPlan
    from .queries import matrix
    from .residuals import marginals
else:
    __getattr__, __dir__ = on_first_use(
        __name__,
        {
            "hierarchy": "groupings tree",
            "intervals": "prefixes ranges",
            "online": "arriving multiplicative_weights stream",
            "plans": "Estimates WorkloadPlan",
            "queries": "matrix",
            "residuals": "marginals",
        },
    )

__all__ = [
    "Balance",
    "Estimates",
    "Law",
    "Moves",
    "Noise",
    "Ranks",
    "Search",
    "SearchResult",
    "Tree",
    "Vector",
    "WorkloadPlan",
    "arriving",
    "cheapest",
    "groupings",
    "marginals",
    "matrix",
    "multiplicative_weights",
    "noise_for",
    "of_each",
    "prefixes",
    "ranges",
    "reach",
    "stream",
    "tail",
    "tree",
    "tree_for",
]
