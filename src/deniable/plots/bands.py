"""A line with a band around it: noisy numbers in order, and how far each may be off."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike

from . import style

if TYPE_CHECKING:
    from matplotlib.axes import Axes


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
    """One line with its band."""
    heights, arms = np.asarray(values, dtype=float), np.asarray(errors, dtype=float)
    faint = 0.15 if label else 0.3  # several bands lie on each other
    ax.fill_between(
        places, heights - arms, heights + arms, color=shade, alpha=faint, lw=0, step="mid"
    )
    drawn = {"color": line.color, "lw": line.width, "label": label}
    ax.step(places, heights, where="mid", ls=line.dashes if label else "solid", **drawn)
