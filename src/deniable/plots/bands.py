"""A line with a band around it: noisy numbers in order, and how far each may be off."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, Literal

import numpy as np
from numpy.typing import ArrayLike

from . import style
from .style import Axes

_LONG: Final = 9  # characters of a label that fits beside five others


def band(
    places: ArrayLike,
    values: ArrayLike,
    errors: ArrayLike,
    *,
    title: str = "",
    x: str = "",
    y: str = "",
    caption: str = "",
    ax: Axes | None = None,
) -> Axes:
    """Values over `places` as steps, with value ± error shaded."""
    ax = style.canvas(ax, title=title)
    layer(ax, places, values, errors, line=style.LINES[0], shade=style.LINES[1].color)
    ax.axhline(0, color=style.INK, lw=0.8)
    ax.set_xlabel(style.captioned(x, caption))
    ax.set_ylabel(y)
    style.thousands(ax.yaxis)
    return ax


def in_cells(
    labels: Sequence[str],
    values: ArrayLike,
    errors: ArrayLike,
    *,
    title: str,
    x: str,
    y: str,
    caption: str = "",
    ax: Axes | None = None,
) -> Axes:
    """Values of cells in their own order, of which a few are labelled."""
    places = np.arange(len(labels))
    made = band(places, values, errors, title=title, x=x, y=y, caption=caption, ax=ax)
    few = np.unique(np.linspace(0, len(labels) - 1, 6).astype(int))
    shown = [labels[place] for place in few]
    made.set_xticks(few.tolist(), shown)
    if max(map(len, shown)) > _LONG:
        for label in made.get_xticklabels():
            label.set(rotation=30, ha="right")
    return made


def layer(
    ax: Axes,
    places: ArrayLike,
    values: ArrayLike,
    errors: ArrayLike,
    *,
    line: style.Line,
    shade: str,
    label: str | None = None,
) -> None:
    """One line with its band; steps are between `places`, or at them if they are ends of cells."""
    heights, arms = np.asarray(values, dtype=float), np.asarray(errors, dtype=float)
    at: Literal["mid", "post"] = "mid"
    if np.size(places) == heights.size + 1:  # the last cell reaches to the last place
        heights, arms = (np.append(each, each[-1:]) for each in (heights, arms))
        at = "post"
    faint = 0.15 if label else 0.3  # several bands lie on each other
    ax.fill_between(places, heights - arms, heights + arms, color=shade, alpha=faint, lw=0, step=at)
    drawn = {"color": line.color, "lw": line.width, "label": label}
    ax.step(places, heights, where=at, ls=line.dashes if label else "solid", **drawn)
