"""Counts by several groupings of common leaves: noise per level, made to agree, and whole numbers.

nesting    levels that nest, and the fit of noisy counts along them in linear time
fit        the fit where some levels cut across others
shares     how much of the loss each level gets
whole      non-negative whole numbers that add up
workloads  the workloads themselves: `tree` and `groupings`
"""

from .workloads import Hierarchy, HierarchyEstimates, groupings, tree

__all__ = ["Hierarchy", "HierarchyEstimates", "groupings", "tree"]
