"""Bars with whiskers: noisy answers by group, and how far each may be off."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from . import style
from .style import Axes


def largest(rows: Sequence[int], values: Sequence[Any], most: int) -> list[int]:
    """All rows, or if there are more than `most` those of the largest values, largest first."""
    return list(rows) if len(rows) <= most else sorted(rows, key=lambda i: -values[i])[:most]


def bars(
    labels: Sequence[str],
    values: Sequence[float],
    errors: Sequence[float] | None = None,
    *,
    title: str = "",
    axis_label: str = "",
    caption: str = "",
    ax: Axes | None = None,
) -> Axes:
    """Horizontal bars from a visible zero line, one a label; a missing ± (NaN) has no whisker.

    Noise makes small counts negative now and then; they are drawn as they are.
    """
    ax = style.canvas(ax, title=title, size=(7.2, 1.4 + 0.3 * len(labels)))
    places = range(len(labels))
    ax.barh(places, values, color=style.LINES[0].color, height=0.7)
    arms = [math.nan] * len(labels) if errors is None else errors
    known = [i for i in places if math.isfinite(arms[i])]
    if known:
        ends, reach = [values[i] for i in known], [arms[i] for i in known]
        colour = style.LINES[1].color
        ax.errorbar(ends, known, xerr=reach, fmt="none", ecolor=colour, elinewidth=2, capsize=4)
    ax.axvline(0, color=style.INK, linewidth=0.8)
    ax.set_yticks(list(places), labels)
    ax.invert_yaxis()  # the first label on top, as in the table
    ax.set_xlabel(style.captioned(axis_label, caption))
    style.thousands(ax.xaxis)
    return ax
