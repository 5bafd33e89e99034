"""Bars with whiskers: noisy answers by group, and how far each may be off."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

from deniable.errors import MissingExtra

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_BAR, _WHISKER = "#3b73b9", "#333333"  # told apart in grey, too


def bars(
    labels: Sequence[str],
    values: Sequence[float],
    errors: Sequence[float],
    *,
    title: str = "",
    axis_label: str = "",
    caption: str = "",
    ax: Axes | None = None,
) -> Axes:
    """Horizontal bars from a visible zero line, one a label; a missing ± (NaN) has no whisker.

    Noise makes small counts negative now and then; they are drawn as they are.
    """
    if ax is None:
        try:
            from matplotlib.figure import Figure  # noqa: PLC0415
        except ImportError:
            raise MissingExtra.of("matplotlib", extra="plots") from None
        ax = Figure(figsize=(7, 1.2 + 0.3 * len(labels)), layout="constrained").add_subplot()
    places = range(len(labels))
    ax.barh(places, values, color=_BAR, height=0.7)
    known = [i for i in places if math.isfinite(errors[i])]
    if known:
        ax.errorbar(
            [values[i] for i in known],
            known,
            xerr=[errors[i] for i in known],
            fmt="none",
            ecolor=_WHISKER,
            capsize=3,
        )
    ax.axvline(0, color="black", linewidth=0.8)
    ax.set_yticks(list(places), labels)
    ax.invert_yaxis()  # the first label on top, as in the table
    ax.set_xlabel(f"{axis_label}\n{caption}" if caption else axis_label)
    ax.set_title(title)
    return ax
