"""False alarms against misses: how well anyone can tell whether a person is in the data."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from . import style
from .style import Axes


def trade_off(
    false_alarms: Sequence[float],
    misses: Mapping[str, Sequence[float]],
    *,
    epsilon: float | None = None,
    delta: float | None = None,
    unit: str = "",
    title: str = "How well anyone can tell",
    ax: Axes | None = None,
) -> Axes:
    """The least rate of misses of any test with this rate of false alarms, one curve a mechanism.

    The diagonal is perfect privacy: no test beats a coin. The nearer a curve, the less can be told.
    """
    ax = style.canvas(ax, title=title, size=(5.2, 5.2))
    ax.fill_between([0, 1], [1, 0], [1, 1], color=style.SHADE, lw=0, zorder=0)
    ax.plot([0, 1], [1, 0], color=style.FAINT, lw=1.2)
    style.along(ax, "perfect privacy: guessing", degrees=-45)
    style.drawn(ax, false_alarms, misses, zorder=3)
    ax.set_xlim(0, 1)
    ax.set_ylim(0, 1)
    ax.set_aspect("equal")
    ax.legend(frameon=False, fontsize=9, loc="upper right")
    style.label(
        ax,
        x="false alarms: says “in the data”, is not",
        y="misses: says “not in the data”, is",
        unit=unit,
        epsilon=epsilon,
        delta=delta,
    )
    return ax
