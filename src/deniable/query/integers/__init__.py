"""Integers: a question rewritten into whole numbers, each with how far one unit can move it.

plan         what the engine computes, and how each answer is made of it
rewriting    from a question to that plan
"""

from __future__ import annotations

from deniable.query.aggregates import Measure, Tally
from deniable.workload.moves import Moves

from .plan import KEPT_OF_BOTH, KEPT_OF_ONE, WEIGHT, Cells, Group, IntegerPlan
from .rewriting import in_integers, within_set

__all__ = [
    "KEPT_OF_BOTH",
    "KEPT_OF_ONE",
    "WEIGHT",
    "Cells",
    "Group",
    "IntegerPlan",
    "Measure",
    "Moves",
    "Tally",
    "in_integers",
    "within_set",
]
