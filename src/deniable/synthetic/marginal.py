"""Counts of a model's marginal, with a ± where one is known."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import product
from typing import TYPE_CHECKING, Final

import numpy as np
from numpy.typing import NDArray

from deniable import cards
from deniable.release.frame import terminal_width
from deniable.release.numbers import decimals, shown_error
from deniable.workload.tails import Law, factor

from .domain import Domain
from .inference import Clique, Measurement, Model, Unfolded

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes

_SHOWN: Final = 20
_CAPTION: Final = "a synthetic model; 95 % confidence, from the measured marginals"


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class Marginal:
    """Rows per cell: `counts` and `error` have one axis per column, in the order of `columns`.

    `error` is None where these columns were never measured together: nothing then bounds how far
    the model is from the truth.
    """

    columns: tuple[str, ...]
    labels: tuple[tuple[str, ...], ...]
    counts: NDArray[np.float64]
    error: NDArray[np.float64] | None
    in_order: bool = False
    """One column, whose cells follow each other as numbers and dates do."""

    def to_pandas(self) -> pd.DataFrame:
        """A pandas frame with one row per cell."""
        import pandas as pd

        frame = pd.DataFrame(list(product(*self.labels)), columns=list(self.columns))
        frame["count"] = self.counts.ravel()
        frame["±"] = math.nan if self.error is None else self.error.ravel()
        return frame

    def plot(self, *, ax: Axes | None = None) -> Axes:
        """The model's counts as a chart, with 95 % confidence intervals where they are known."""
        from deniable.plots.answers import MOST_BARS, answers
        from deniable.plots.bands import in_cells

        cells = list(product(*self.labels))
        errors = np.full(len(cells), math.nan) if self.error is None else self.error.ravel()
        if self.in_order and len(cells) > MOST_BARS:  # the largest bars alone would lose the order
            title, caption = f"rows by {self.columns[0]}", _CAPTION
            flat = self.counts.ravel()
            return in_cells(
                self.labels[0],
                flat,
                errors,
                title=title,
                x=self.columns[0],
                y="rows",
                caption=caption,
                ax=ax,
            )
        return answers(
            dict(zip(self.columns, zip(*cells, strict=True), strict=True)),
            self.counts.ravel().tolist(),
            errors.tolist(),
            name="rows",
            caption=_CAPTION,
            ax=ax,
        )

    def _lines(self) -> list[list[str]]:
        flat = self.counts.ravel()
        errors = None if self.error is None else self.error.ravel()
        first = zip(range(_SHOWN), product(*self.labels), strict=False)
        return [
            [
                *cell,
                decimals(flat[i]),
                "unknown" if errors is None else f"± {shown_error(float(errors[i]))}",
            ]
            for i, cell in first
        ]

    def __repr__(self) -> str:
        head = [*self.columns, "count", "± (95 % confidence)"]
        lines = [head, *self._lines()]
        wide = [max(terminal_width(line[i]) for line in lines) for i in range(len(head))]
        shown = [
            "  ".join(
                t + " " * (w - terminal_width(t)) for t, w in zip(line, wide, strict=True)
            ).rstrip()
            for line in lines
        ]
        more = self.counts.size - _SHOWN
        return "\n".join([*shown, *([f"… {more:,} more cells"] if more > 0 else [])])

    def _repr_html_(self) -> str:
        head = [*self.columns, "count", "± (95 % confidence)"]
        return cards.card(" × ".join(self.columns), cards.table(head, self._lines()))


def marginal_of(
    domain: Domain,
    model: Model | Unfolded,
    measured: Sequence[Measurement],
    clique: Clique,
    total: float,
) -> Marginal:
    """The model's counts. Their ±: how far they are from a measurement, plus that one's own ±.

    If y = t + noise and |noise| ≤ r with 95 %, then |m − t| ≤ |m − y| + r with 95 %, whatever m
    is. Of several measurements that hold the columns, the one with the least noise is taken: which
    one that is, is known without looking at any.
    """
    counts = model.marginal(clique) * total
    holding = [m for m in measured if _shows(m, clique)]
    error = None
    if holding:
        best = min(holding, key=lambda m: _spread(m, counts.size))
        gone = tuple(i for i, a in enumerate(best.columns) if a not in clique)
        near = best.counts.sum(axis=gone)
        error = np.abs(counts - near) + _reach(best, counts.size)
    return Marginal(
        columns=tuple(domain.names[a] for a in clique),
        labels=tuple(tuple(domain.cells[domain.names[a]].labels) for a in clique),
        counts=counts,
        error=error,
        in_order=len(clique) == 1 and domain.cells[domain.names[clique[0]]].ordered,
    )


def _shows(measurement: Measurement, clique: Clique) -> bool:
    """Whether it counted each cell of these columns: not only groups of them."""
    parts = measurement.partitions or (None,) * len(measurement.columns)
    cells = {a for a, part in zip(measurement.columns, parts, strict=True) if part is None}
    return cells.issuperset(clique)


def _spread(measurement: Measurement, cells: int) -> float:
    """The standard deviation of a cell that is a sum of cells of the measurement."""
    each = math.hypot(measurement.sigma, measurement.grain / math.sqrt(12))
    return each * math.sqrt(measurement.counts.size / cells)


def _reach(measurement: Measurement, cells: int) -> float:
    """What the noise of such a sum exceeds with at most 5 %.

    In standard deviations that is 1.96 for Gaussian noise. For Laplace noise it is ln 20/√2 = 2.12
    for one cell, and less for sums. Half a step more covers the rounding to whole numbers.
    """
    law: Law = "gaussian" if measurement.law == "gaussian" else "laplace"
    return factor(law, 0.95) * _spread(measurement, cells) + measurement.grain / 2
