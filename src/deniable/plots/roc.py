"""True against false accusations, where it matters: at few false ones."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from . import style
from .style import Axes

_LEAST = 1e-3


def roc(
    rates: Mapping[str, tuple[Sequence[float], Sequence[float]]],
    *,
    epsilon: float | None = None,
    delta: float = 0.0,
    unit: str = "",
    title: str = "Who is found, and who is accused wrongly",
    ax: Axes | None = None,
) -> Axes:
    """For each name false- and true-positive rates, on logarithmic axes.

    With `epsilon` the region that no attack can leave is shaded: at most e^ε times the
    false-positive rate plus δ, and the same for the misses.
    """
    ax = style.canvas(ax, title=title, size=(5.6, 5.2))
    grid = np.geomspace(_LEAST, 1, 200)
    ax.plot(grid, grid, color=style.FAINT, lw=1.2, label="guessing")
    if epsilon is not None:
        most = np.minimum(np.exp(epsilon) * grid + delta, 1 - np.exp(-epsilon) * (1 - delta - grid))
        ax.fill_between(
            grid, grid, most, color=style.SHADE, label=f"all that ε = {epsilon:.3g} allows"
        )
    for (name, (false, true)), line in zip(rates.items(), style.lines(), strict=False):
        style.same_length(name, true, as_many_as=false)
        ax.plot(false, true, label=name, zorder=3, **line.drawn)
    ax.set_xscale("log")
    ax.set_yscale("log")
    ax.set_xlim(_LEAST, 1)
    ax.set_ylim(_LEAST, 1.05)
    ax.legend(frameon=False, fontsize=9, loc="lower right")
    style.label(
        ax, x="accused, though not in the data", y="found, of those in the data",
        unit=unit, epsilon=epsilon,
    )  # fmt: skip
    return ax
