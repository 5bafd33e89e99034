"""Bars in panels, one for each level of a hierarchy or each table of several."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

from . import style
from .bars import bars, largest
from .style import Axes

_MOST_BARS: Final = 12
_MOST_PANELS: Final = 12


def panels(
    keys: Mapping[str, Sequence[object]],
    values: Sequence[Any],
    errors: Sequence[Any],
    *,
    title: str = "",
    axis_label: str = "",
    caption: str = "",
    ax: Axes | None = None,
) -> Axes:
    """A panel for each `level`, or for each set of keys that are given; None is "not given".

    Each panel shows its largest bars, and says how many there are. On axes of the caller's there is
    room for one panel only: the first.
    """
    parts = _parts(keys, len(values))
    shown = list(parts.items())[: 1 if ax is not None else _MOST_PANELS]
    kept = {name: largest(rows, values, _MOST_BARS) for name, rows in shown}
    axes = [ax] if ax is not None else style.stacked([2 + len(rows) for rows in kept.values()])
    left_out = len(parts) - len(kept)
    more = f"; {left_out:,} more are not shown" if left_out else ""
    for (name, rows), own in zip(kept.items(), axes, strict=True):
        count = len(parts[name])
        many = f" (the {len(rows)} largest of {count:,})" if count > len(rows) else ""
        made = bars(
            [_label(keys, row) for row in rows],
            [values[row] for row in rows],
            [errors[row] for row in rows],
            ax=own,
        )
        made.set_title(f"{name}{many}", loc="left", fontsize=10, color=style.INK)
    below = style.captioned(axis_label, caption + more)
    if ax is None:
        style.around(axes[0], title=title, below=below)
    else:
        ax.set_xlabel(below)
    return axes[0]


def _parts(keys: Mapping[str, Sequence[object]], count: int) -> dict[str, list[int]]:
    """The rows of each panel."""
    found: dict[str, list[int]] = {}
    for row in range(count):
        given = [name for name, column in keys.items() if column[row] is not None]
        name = str(keys["level"][row]) if "level" in keys else " and ".join(given)
        found.setdefault(name, []).append(row)
    return found


def _label(keys: Mapping[str, Sequence[object]], row: int) -> str:
    given = [column[row] for name, column in keys.items() if name != "level"]
    return ", ".join(str(each) for each in given if each is not None) or "all"
