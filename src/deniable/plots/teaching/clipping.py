"""Noisy sums against the clipping bound: too low loses values, too high adds noise."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike

from deniable.errors import BadParameter
from deniable.plots import style
from deniable.plots.style import Axes


def clipping(
    bounds: Sequence[float],
    noisy: ArrayLike,
    *,
    clipped: Sequence[float] | None = None,
    truth: float | None = None,
    quantity: str = "sum",
    logarithmic: bool = False,
    epsilon: float | None = None,
    unit: str = "",
    title: str = "",
    ax: Axes | None = None,
) -> Axes:
    """Noisy answers as dots, over the bound at which values were clipped.

    `noisy` has one row per bound and one column per trial. `clipped` is what the answers would be
    without noise, `truth` what they would be without clipping: both are for teaching, on data that
    are not secret.
    """
    dots = np.asarray(noisy, dtype=float).reshape(len(bounds), -1) if len(bounds) else None
    if dots is None:
        raise BadParameter("there are no bounds to draw")
    ax = style.canvas(ax, title=title or f"A noisy {quantity} against its clipping bound")
    first, second = style.LINES[0], style.LINES[1]
    ax.plot(
        np.repeat(np.asarray(bounds, dtype=float), dots.shape[1]), dots.ravel(), "o",
        color=second.color, alpha=0.5, ms=4, mew=0, label=f"noisy {quantity}",
    )  # fmt: skip
    if clipped is not None:
        style.same_length("clipped", clipped, as_many_as=bounds)
        ax.plot(bounds, clipped, color=first.color, lw=first.width, label="clipped, without noise")
    if truth is not None:
        ax.axhline(truth, color=style.INK, lw=1.1, ls=(0, (2, 2)), label="without both")
    if logarithmic:
        ax.set_xscale("log")
    ax.legend(frameon=False, fontsize=9)
    style.label(ax, x="clipping bound", y=quantity, unit=unit, epsilon=epsilon)
    return ax
