"""Graphical models on NumPy: from noisy marginals to a distribution, its marginals and its rows.

    junction    the tree of cliques that measured marginals make
    model       a distribution as one table per clique; any of its marginals
    partition   cells merged into groups
    fitting     the distribution of maximum entropy that fits noisy marginals best
    unfolded    a model of groups of cells, read cell by cell
    rows        rows with that distribution

Columns are numbers and cells are numbers here; nothing knows of schemas, sessions or privacy.
"""

from .fitting import Fit, Measurement, fit, noisy_total
from .junction import Clique, Tree, growing, junction_tree, ordered, tree_cells
from .model import Model
from .partition import Partition, Partitions, by_count, by_mass, merged, merged_shape
from .rows import drawn_rows
from .unfolded import Fold, Unfolded

__all__ = [
    "Clique",
    "Fit",
    "Fold",
    "Measurement",
    "Model",
    "Partition",
    "Partitions",
    "Tree",
    "Unfolded",
    "by_count",
    "by_mass",
    "drawn_rows",
    "fit",
    "growing",
    "junction_tree",
    "merged",
    "merged_shape",
    "noisy_total",
    "ordered",
    "tree_cells",
]
