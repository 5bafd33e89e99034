"""The difference of two series of answers over time: what subtracting reveals about one person."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from deniable.plots import style
from deniable.plots.style import Axes


def differences(
    times: Sequence[float],
    first: Sequence[float],
    second: Sequence[float],
    *,
    error: float = 0.0,
    marks: Mapping[str, float] | None = None,
    x: str = "day",
    y: str = "first answer − second answer",
    unit: str = "",
    title: str = "One person, by subtraction",
    ax: Axes | None = None,
) -> Axes:
    """`first` − `second` at each time, with ± `error` shaded; `marks` are named times."""
    style.same_length("first", first, as_many_as=times)
    style.same_length("second", second, as_many_as=times)
    ax = style.canvas(ax, title=title)
    line, shade = style.LINES[0], style.LINES[1]
    heights = np.asarray(first, dtype=float) - np.asarray(second, dtype=float)
    if error:
        ax.axhspan(-error, error, color=shade.color, alpha=0.15, lw=0, label="± of a difference")
    ax.step(times, heights, where="mid", color=line.color, lw=1.6)
    ax.plot(times, heights, "o", color=line.color, ms=3)
    ax.axhline(0, color=style.INK, lw=0.8)
    for name, place in (marks or {}).items():
        ax.axvline(place, color=style.INK, lw=1.0, ls=(0, (2, 2)))
        ax.annotate(
            name, xy=(place, 1.0), xycoords=("data", "axes fraction"), xytext=(4, -2),
            textcoords="offset points", va="top", fontsize=9, color=style.INK,
        )  # fmt: skip
    if error:
        ax.legend(frameon=False, fontsize=9)
    ax.locator_params(axis="x", integer=True)
    style.label(ax, x=x, y=y, unit=unit)
    return ax
