"""Workloads: many counts and sums released together, with noise chosen for the whole.

moves       how far one unit can move whole numbers, exactly, in three norms
split       a loss divided over vectors: the best noise for each
tails       how far a weighted sum of independent noises lies from zero
ratios      intervals for averages, variances and covariances of noisy sums
trees       histograms as trees of counts, for every rank at once
search      one quantile of a histogram: its cell, and what lies around it
cheapest    the smallest loss at which every answer meets its ±

Only numbers, noise and losses: nothing here knows about queries, schemas or data. A workload says
how far one unit can move it (`Moves`), gets noise for a `Vector`, and reads answers off the noisy
numbers.
"""

from __future__ import annotations

from .cheapest import Balance, cheapest
from .moves import Moves
from .search import Found, Search
from .split import Noise, Vector, noise_for
from .tails import Law, of_each, reach, tail
from .trees import Ranks, Tree, tree_for

__all__ = [
    "Balance",
    "Found",
    "Law",
    "Moves",
    "Noise",
    "Ranks",
    "Search",
    "Tree",
    "Vector",
    "cheapest",
    "noise_for",
    "of_each",
    "reach",
    "tail",
    "tree_for",
]
