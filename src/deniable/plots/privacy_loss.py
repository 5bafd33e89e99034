"""How likely each amount of privacy loss is."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from . import style
from .style import Axes


def privacy_loss(
    losses: Sequence[float],
    densities: Mapping[str, Sequence[float]],
    *,
    epsilon: float | None = None,
    delta: float | None = None,
    unit: str = "",
    title: str = "How much one answer gives away",
    ax: Axes | None = None,
) -> Axes:
    """Densities of the privacy-loss random variable ln(P/Q) under P, one curve a mechanism.

    `losses` are the places, `densities` the heights by name; `epsilon` marks the promise, beyond
    which δ lies (shaded).
    """
    ax = style.canvas(ax, title=title)
    for heights, line in style.drawn(ax, losses, densities, zorder=3):
        if epsilon is not None:
            beyond = [loss > epsilon for loss in losses]
            ax.fill_between(losses, heights, where=beyond, color=line.color, alpha=0.18, lw=0)
    ax.axvline(0, color=style.FAINT, lw=0.9)
    if epsilon is not None:
        ax.axvline(epsilon, color=style.INK, lw=1.1, ls=(0, (2, 2)))
        ax.annotate(
            f"ε = {epsilon:.3g}",
            xy=(epsilon, 0.97),
            xycoords=("data", "axes fraction"),
            xytext=(5, 0),
            textcoords="offset points",
            va="top",
            fontsize=9,
            color=style.INK,
        )
    ax.set_ylim(bottom=0)
    ax.margins(x=0)
    ax.legend(frameon=False, fontsize=9, loc="upper left")
    ax.set_yticks([])
    ax.spines["left"].set_visible(False)
    style.label(
        ax,
        x="privacy loss: how much more likely the answer was with this person   (ln of the odds)",
        y="",
        unit=unit,
        epsilon=epsilon,
        delta=delta,
    )
    return ax
