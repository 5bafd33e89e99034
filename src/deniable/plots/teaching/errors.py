"""Histograms of errors over many trials, beside the ± that was stated."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from numpy.typing import ArrayLike

from deniable.errors import BadParameter
from deniable.plots import style
from deniable.plots.style import Axes


def errors(
    trials: Mapping[str, ArrayLike],
    *,
    stated: Mapping[str, float] | None = None,
    bins: int = 40,
    x: str = "error (released − true)",
    unit: str = "",
    title: str = "How far answers were off, over many trials",
    ax: Axes | None = None,
) -> Axes:
    """One histogram per name, over common bins; `stated` marks ± the error that was promised."""
    drawn = {name: np.asarray(each, dtype=float).ravel() for name, each in trials.items()}
    if not drawn or any(not each.size or not np.isfinite(each).all() for each in drawn.values()):
        raise BadParameter("every name needs at least one error, and all must be finite")
    everything = np.concatenate(list(drawn.values()))
    edges = np.histogram_bin_edges(everything, bins=bins)
    ax = style.canvas(ax, title=title)
    for (name, each), line in zip(drawn.items(), style.lines(), strict=False):
        shares = np.histogram(each, bins=edges)[0] / each.size
        ax.stairs(shares, edges, fill=True, color=line.color, alpha=0.15)
        ax.stairs(shares, edges, label=name, **line.drawn)
        if stated is not None and name in stated:
            for place in (-stated[name], stated[name]):
                ax.axvline(place, color=line.color, ls=line.dashes, lw=1.0)
    ax.set_ylim(bottom=0)
    ax.legend(frameon=False, fontsize=9)
    note = "upright lines: the stated ± (95 % confidence)" if stated else ""
    style.label(ax, x=x, y="share of trials", unit=" · ".join(s for s in (unit, note) if s))
    return ax
