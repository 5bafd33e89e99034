"""What is left of a budget after each charge."""

from __future__ import annotations

import textwrap
from collections.abc import Sequence

from . import style
from .style import Axes

_NAMED = 12
"""With more charges than this, their names would run into each other."""
_FEW = 3
_LONGEST = 34


def burn_down(
    whole: float,
    spent: Sequence[float],
    names: Sequence[str],
    *,
    symbol: str = "ε",
    unit: str = "",
    title: str = "What is left of the budget",
    ax: Axes | None = None,
) -> Axes:
    """Stairs from the whole budget down; `spent` is the total after each charge, oldest first."""
    style.same_length("names", names, as_many_as=spent)
    left = [whole - each for each in (0.0, *spent)]
    ax = style.canvas(ax, title=title)
    line = style.LINES[0]
    ax.stairs(left, range(len(left) + 1), baseline=None, color=line.color, lw=line.width)
    ax.fill_between(range(len(left) + 1), [*left, left[-1]], step="post", color=style.SHADE)
    ax.set_ylim(0, whole * 1.12)
    ax.set_xlim(0, len(left))
    ax.set_xticks([place + 0.5 for place in range(len(left))], _ticks(names), fontsize=8)
    if _FEW < len(names) <= _NAMED:
        ax.tick_params(axis="x", rotation=90)
    elif len(names) > _NAMED:
        ax.locator_params(axis="x", nbins=10)
    ax.grid(visible=False, axis="x")
    whom = f"protects {unit}" if unit else ""
    style.label(ax, x="charges, oldest first", y=f"{symbol} left", unit=whom)
    return ax


def _ticks(names: Sequence[str]) -> list[str]:
    if not names:
        return ["nothing was charged yet"]
    if len(names) > _NAMED:
        return [str(place) for place in range(len(names) + 1)]
    cut = [n if len(n) <= _LONGEST else f"{n[: _LONGEST - 1].rstrip()}…" for n in names]
    return [
        "before the first",
        *(cut if len(names) > _FEW else [textwrap.fill(n, 18) for n in cut]),
    ]
