"""Output densities on two neighbouring data sets: the picture of what ε promises."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from deniable.errors import BadParameter
from deniable.plots import style
from deniable.plots.style import Axes


def neighbours(
    outputs: Sequence[float],
    densities: Mapping[str, Sequence[float]],
    *,
    mark: float | None = None,
    epsilon: float | None = None,
    delta: float | None = None,
    unit: str = "",
    title: str = "The same question, with one person and without",
    ax: Axes | None = None,
) -> Axes:
    """How likely each output is on two neighbouring data sets.

    `densities` maps a name for each data set to its heights over `outputs`. `mark` is an output at
    which the two heights are compared; the picture says by which factor they differ there.
    """
    if len(densities) != 2:
        raise BadParameter(f"densities must be of two data sets; there are {len(densities)}")
    ax = style.canvas(ax, title=title)
    for heights, line in style.drawn(ax, outputs, densities):
        ax.fill_between(outputs, heights, color=line.color, alpha=0.12, lw=0)
    if mark is not None:
        _compare(ax, mark, [float(np.interp(mark, outputs, h)) for h in densities.values()])
    ax.set_ylim(bottom=0)
    ax.margins(x=0)
    ax.legend(frameon=False, fontsize=9)
    style.label(ax, x="released number", y="density", unit=unit, epsilon=epsilon, delta=delta)
    return ax


def _compare(ax: Axes, place: float, heights: list[float]) -> None:
    """A thin line at one output, a dot on each curve, and the factor between them in words."""
    low, high = sorted(heights)
    ax.plot([place, place], [0, high], color=style.INK, lw=0.9, ls=(0, (2, 2)))
    ax.plot([place, place], heights, "o", color=style.INK, ms=5, zorder=4)
    factor = f"{high / low:.2f} times as likely" if low > 0 else "impossible without"
    ax.annotate(
        factor, xy=(place, high), xytext=(8, 4), textcoords="offset points", fontsize=9,
        color=style.INK,
    )  # fmt: skip
