"""Scatter: answers with very many groups, whose noise is drawn where the groups are.

integers     the question as one Spark SQL statement of whole numbers, a row for each group
limbs        whole numbers of 128 bits, rounded to those that get noise
executors    in each executor: choose groups, add noise, make the columns
columns      the columns that are written, and how numbers become them
places       the folder of an answer: committed once, or not there
writing      all of it as work that a session commissions
written      what is given back
"""

from __future__ import annotations

from .writing import write
from .written import Written

__all__ = ["Written", "write"]
