"""A model of groups of cells, read cell by cell.

Cells that hardly have rows are not worth a place in every table. They are *folded*: a model is
fitted to groups of cells, and within a group each cell has a fixed share, whatever the other
columns are.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from .model import Model, Table
from .partition import Partition


@dataclass(frozen=True, eq=False)
class Fold:
    """Groups of the cells of a column, and the share that each cell has in its group."""

    partition: Partition
    shares: NDArray[np.float64]

    @staticmethod
    def of(partition: Partition, mass: NDArray[np.float64]) -> Fold:
        """Shares by mass; equal ones in a group without any."""
        whole = partition.sums(mass, axis=0)[partition.group]
        alike = 1 / np.bincount(partition.group)[partition.group]
        shares = np.where(whole > 0, mass / np.where(whole > 0, whole, 1.0), alike)
        return Fold(partition, shares)


@dataclass(frozen=True, eq=False)
class Unfolded:
    """A distribution over cells: `folded` over groups of them, `folds` for each column or None."""

    folded: Model
    folds: tuple[Fold | None, ...]

    @property
    def sizes(self) -> tuple[int, ...]:
        """How many cells each column has."""
        pairs = zip(self.folds, self.folded.tree.sizes, strict=True)
        return tuple(n if fold is None else len(fold.shares) for fold, n in pairs)

    def marginal(self, columns: Iterable[int]) -> Table:
        """The probability of each cell of these columns, with axes in the order given."""
        asked = tuple(columns)
        table = self.folded.marginal(asked)
        for axis, column in enumerate(asked):
            fold = self.folds[column]
            if fold is not None:
                shape = [-1 if i == axis else 1 for i in range(len(asked))]
                table = table.take(fold.partition.group, axis=axis) * fold.shares.reshape(shape)
        return table
