"""What an attacker believes after an answer, given what they believed before."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from . import style
from .style import Axes


def belief(
    priors: Sequence[float],
    posteriors: Mapping[str, tuple[Sequence[float], Sequence[float]]],
    *,
    unit: str = "",
    delta: float | None = None,
    title: str = "What an attacker can learn about one person",
    ax: Axes | None = None,
) -> Axes:
    """For each name, the least and the most one may believe after; the diagonal is no change."""
    ax = style.canvas(ax, title=title, size=(5.6, 5.2))
    for (name, (low, high)), line in zip(posteriors.items(), style.lines(), strict=False):
        style.same_length(name, low, as_many_as=priors)
        style.same_length(name, high, as_many_as=priors)
        ax.fill_between(priors, low, high, color=line.color, alpha=0.10, lw=0)
        ax.plot(priors, high, label=name, zorder=3, **line.drawn)
        ax.plot(priors, low, zorder=3, **line.drawn)
    ax.plot([0, 1], [0, 1], color=style.FAINT, lw=1.2)
    style.along(ax, "nothing learned", degrees=45)
    ticks = [0, 0.25, 0.5, 0.75, 1]
    names = [f"{tick:.0%}" for tick in ticks]
    ax.set_xticks(ticks, names)
    ax.set_yticks(ticks, names)
    ax.set_xlim(0, 1)
    ax.set_ylim(0, 1)
    ax.set_aspect("equal")
    ax.legend(frameon=False, fontsize=9, loc="upper left")
    style.label(ax, x="belief before the answer", y="belief after it", unit=unit, delta=delta)
    return ax
