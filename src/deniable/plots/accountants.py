"""ε against the number of questions, by each way of counting."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from . import style
from .style import Axes


def accountants(
    times: Sequence[float],
    epsilons: Mapping[str, Sequence[float]],
    *,
    delta: float | None = None,
    unit: str = "",
    title: str = "The same answers, counted in different ways",
    ax: Axes | None = None,
) -> Axes:
    """One curve a way of counting, named at its end, best last; both axes logarithmic."""
    ax = style.canvas(ax, title=title)
    drawn = zip(epsilons, style.drawn(ax, times, epsilons), strict=True)
    ends = [(values[-1], name, line.color) for name, (values, line) in drawn]
    ax.set_xscale("log")
    ax.set_yscale("log")
    ax.margins(x=0)
    _names(ax, times[-1], ends)
    style.label(
        ax,
        x="number of answers",
        y=f"ε of all together\n{style.EPSILON_AXIS}",
        unit=unit,
        delta=delta,
    )
    return ax


def _names(ax: Axes, x: float, ends: list[tuple[float, str, str]]) -> None:
    """Names to the right of the curves' ends, pushed apart where they would touch."""
    height = 0.052
    low, high = (ax.transData.transform((x, y))[1] for y in ax.get_ylim())
    places: list[float] = []
    for value, name, color in sorted(ends):
        wished = (ax.transData.transform((x, value))[1] - low) / (high - low)
        place = max(wished, places[-1] + height) if places else wished
        places.append(place)
        ax.annotate(
            name,
            xy=(1.015, place),
            xycoords="axes fraction",
            va="center",
            fontsize=9,
            color=color,
            annotation_clip=False,
        )
