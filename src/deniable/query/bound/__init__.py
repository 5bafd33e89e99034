"""Bound: a question rewritten into whole numbers, each with how far one unit can move it.

tallies      what each row adds: counts, sums on a lattice, squares, histograms, distinct values
plan         what the engine computes, and which tallies each answer is made of
rewriting    from a question to that plan
"""

from __future__ import annotations

from deniable.workload.moves import Moves, joint_l1, joint_l2_squared

from .plan import KEPT_OF_BOTH, KEPT_OF_ONE, WEIGHT, Cells, Group, IntegerPlan, Parts
from .rewriting import bound, relations_in, within_set
from .tallies import Measure, Tally

__all__ = [
    "KEPT_OF_BOTH",
    "KEPT_OF_ONE",
    "WEIGHT",
    "Cells",
    "Group",
    "IntegerPlan",
    "Measure",
    "Moves",
    "Parts",
    "Tally",
    "bound",
    "joint_l1",
    "joint_l2_squared",
    "relations_in",
    "within_set",
]
