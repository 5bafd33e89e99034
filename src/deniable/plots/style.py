"""What all pictures share: one palette, one canvas, one caption."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import cycle
from typing import TYPE_CHECKING, NamedTuple

from deniable.errors import BadParameter, MissingExtra

if TYPE_CHECKING:
    from matplotlib.axes import Axes

INK, FAINT, SHADE = "#22262b", "#8a9099", "#eceef1"
EPSILON_AXIS = "← more private · more accurate →"


class Line(NamedTuple):
    """A colour with a dash and a width of its own, so that it is told apart in grey as well."""

    color: str
    dashes: str | tuple[int, tuple[float, ...]]
    width: float


# After Okabe and Ito, from dark to light: the lightness differs as much as the hue.
LINES = (
    Line("#003f5c", "solid", 2.4),
    Line("#d55e00", (0, (6, 2)), 2.0),
    Line("#009e73", (0, (1.2, 1.4)), 2.4),
    Line("#7a5195", (0, (7, 2, 1.5, 2)), 2.0),
    Line("#e69f00", (0, (3, 1.5)), 2.0),
    Line("#56b4e9", "solid", 1.4),
)


def lines() -> Iterator[Line]:
    """A style for each curve, in turn."""
    return cycle(LINES)


def canvas(ax: Axes | None, *, title: str, size: tuple[float, float] = (7.2, 4.4)) -> Axes:
    """The given axes, or new ones; with a quiet frame."""
    if ax is None:
        try:
            from matplotlib.figure import Figure
        except ImportError:
            raise MissingExtra.of("matplotlib", extra="plots") from None
        ax = Figure(figsize=size, dpi=120, layout="constrained").add_subplot()
    for side in ("top", "right"):
        ax.spines[side].set_visible(False)
    for side in ("left", "bottom"):
        ax.spines[side].set_color(FAINT)
    ax.tick_params(colors=INK, labelsize=9, width=0.8)
    ax.grid(visible=True, color=SHADE, linewidth=0.9)
    ax.set_axisbelow(True)
    if title:
        ax.set_title(title, loc="left", fontsize=12, fontweight="bold", color=INK, pad=12)
    return ax


def label(
    ax: Axes,
    *,
    x: str,
    y: str,
    unit: str = "",
    epsilon: float | None = None,
    delta: float | None = None,
) -> None:
    """The axes' names, and below them for whom and how much: unit, ε and δ where they are given."""
    facts = [unit] if unit else []
    facts += [f"ε = {epsilon:.3g}"] if epsilon is not None else []
    facts += [f"δ = {delta:.0e}"] if delta is not None else []
    caption = "\n" + " · ".join(facts) if facts else ""
    ax.set_xlabel(x + caption, color=INK, fontsize=10, linespacing=1.6)
    ax.set_ylabel(y, color=INK, fontsize=10)


def along(ax: Axes, text: str, *, degrees: float) -> None:
    """A word along a diagonal of the unit square, readable over the curves."""
    ax.annotate(
        text,
        xy=(0.5, 0.5),
        xytext=(0, 0),
        textcoords="offset points",
        rotation=degrees,
        rotation_mode="anchor",
        ha="center",
        va="center",
        fontsize=9,
        color=INK,
        bbox={"facecolor": "white", "edgecolor": "none", "alpha": 0.85, "pad": 1.5},
        zorder=5,
    )


def same_length(name: str, values: Sequence[float], *, as_many_as: Sequence[float]) -> None:
    """One value for each place."""
    if len(values) != len(as_many_as):
        raise BadParameter(f"{name} has {len(values)} values for {len(as_many_as)} places")
