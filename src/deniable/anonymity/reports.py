"""What was done to a table, what holds for it now, and what it cost."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from . import diversity
from .checking import paired
from .demands import Demands
from .methods.prepared import Prepared
from .tables import Codes, grouped, joined


@dataclass(frozen=True, kw_only=True)
class Measured:
    """k, ℓ and t of the published rows, counted anew; ℓ and t where a column is sensitive.

    `unit` is the column by which k counts people.
    """

    rows: int
    classes: int
    k: int
    l: int | None
    t: float | None
    unit: str | None = None


@dataclass(frozen=True, kw_only=True)
class Report:
    """What was asked, what holds, what was left out, and how much exactness was lost.

    `levels` is the step each column was taken up to (optimal method). `losses` holds every measure
    that is defined for the method, from 0 (nothing lost) to 1. `counted` of `nodes` generalisations
    were counted; the others were settled without.
    """

    method: str
    demands: Demands
    measured: Measured
    suppressed: int
    levels: Mapping[str, int]
    losses: Mapping[str, float]
    counted: int = 0
    nodes: int = 0

    @property
    def k(self) -> int:
        """The size of the smallest class."""
        return self.measured.k

    @property
    def l(self) -> int | None:  # noqa: E743  (the name in the literature)
        """The fewest different sensitive values in a class."""
        return self.measured.l

    @property
    def t(self) -> float | None:
        """The largest distance of a class from the whole."""
        return self.measured.t

    @property
    def loss(self) -> float:
        """The normalised certainty penalty: the share of each column's span that was given up."""
        return self.losses["ncp"]

    @property
    def risk(self) -> float:
        """The best chance to pick one person's row, for someone who knows they are in the table."""
        return 1 / max(1, self.k)

    @property
    def guarantee(self) -> str:
        """What is promised about the loss."""
        if self.method == "mondrian":
            return "no class can be cut further; a smaller loss may exist"
        if self.method == "chosen":
            return "nothing: the levels were chosen by hand"
        return f"none of the {self.nodes:,} possible generalisations loses less information"

    def __str__(self) -> str:
        now = self.measured
        classes = f"{now.classes:,} class{'' if now.classes == 1 else 'es'}"
        lines = [f"{now.rows:,} rows in {classes}: k = {now.k}"]
        if now.unit is not None:
            lines[0] += f" people ({now.unit})"
        if now.l is not None and now.t is not None:
            lines[0] += f", ℓ = {now.l}, t = {now.t:.3g}"
        lines.append(f"  suppressed {self.suppressed:,} rows")
        if self.levels:
            steps = ", ".join(f"{name} {level}" for name, level in self.levels.items())
            lines.append(f"  levels     {steps}")
        lost = ", ".join(f"{name} {value:.3g}" for name, value in self.losses.items())
        lines.append(f"  lost       {lost}")
        lines.append(f"  promised   {self.guarantee}")
        lines.append("  not promised: k-anonymous tables do not hide what a class has in common,")
        lines.append("  and two such tables together can reveal what neither does alone")
        return "\n".join(lines)


def measured(ready: Prepared, classes: Codes, rows: Codes) -> Measured:
    """Count the published rows anew; `classes` has the class of each."""
    named = np.unique(classes, return_inverse=True)[1].astype(np.int64)
    sizes = np.bincount(named)
    if ready.person is not None:
        whose = ready.person.codes[rows]
        once = grouped(*joined([(named, max(1, sizes.size)), (whose, ready.person.size)]))[0]
        sizes = np.bincount(named[once])
    l = t = None
    if ready.sensitive is not None and rows.size:
        # Ranks are among the values that are published.
        present, codes = np.unique(ready.sensitive.codes[rows], return_inverse=True)
        tree = tuple(where[present] for where in ready.tree)
        pairs = paired(named, codes, size=present.size)
        l = int(diversity.distinct(pairs).min())
        t = float(diversity.distance(pairs, ordered=ready.ordered, tree=tree).max())
    return Measured(
        rows=int(rows.size),
        classes=int(sizes.size),
        k=int(sizes.min(initial=rows.size)),
        l=l,
        t=t,
        unit=None if ready.person is None else ready.person.name,
    )
