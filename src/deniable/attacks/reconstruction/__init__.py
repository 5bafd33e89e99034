"""From many answers back to the people they count."""

from __future__ import annotations

from ._reconstruct import Reconstruction, reconstruct
from .breakdown import Breakdown, breakdown
from .exact import all_subsets
from .fourier import hadamard_counts
from .published import Block, cross_tabulate, domains_of, reconstruct_rows

__all__ = [
    "Block",
    "Breakdown",
    "Reconstruction",
    "all_subsets",
    "breakdown",
    "cross_tabulate",
    "domains_of",
    "hadamard_counts",
    "reconstruct",
    "reconstruct_rows",
]
