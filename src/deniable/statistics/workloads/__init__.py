"""Workloads of a session: ranges, marginals, hierarchies and running totals of its tables.

Each is a question that can be explained for nothing, and released: the engine counts cells once,
exactly, for rows or for people; the workload decides what gets noise.

    asking     the question: explained, then released
    ordered    ranges and running totals
    grouped    marginals and hierarchies
    growing    running totals of a table that grows
    answers    the answer to all ranges of a column
"""

from .answers import Ranges
from .asking import Asked
from .grouped import hierarchy, marginals
from .growing import Following, Growing, follow
from .ordered import Every, ranges, running

__all__ = [
    "Asked",
    "Every",
    "Following",
    "Growing",
    "Ranges",
    "follow",
    "hierarchy",
    "marginals",
    "ranges",
    "running",
]
