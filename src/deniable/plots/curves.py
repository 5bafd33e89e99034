"""One line a name over common places: how something changes as something else grows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from . import style
from .style import Axes


def curves(
    places: Sequence[float],
    values: Mapping[str, Sequence[float]],
    *,
    x: str,
    y: str,
    title: str = "",
    marks: Mapping[str, float] | None = None,
    logarithmic: bool = False,
    unit: str = "",
    ax: Axes | None = None,
) -> Axes:
    """Curves over `places`; `marks` are named places, drawn as thin upright lines."""
    ax = style.canvas(ax, title=title)
    style.drawn(ax, places, values)
    if logarithmic:
        ax.set_xscale("log")
    for name, place in (marks or {}).items():
        ax.axvline(place, color=style.FAINT, lw=1.0)
        ax.annotate(
            name, xy=(place, 1.0), xycoords=("data", "axes fraction"), fontsize=8, color=style.INK,
            ha="center", va="bottom",
        )  # fmt: skip
    ax.legend(frameon=False, fontsize=9)
    style.label(ax, x=x, y=y, unit=unit)
    return ax
