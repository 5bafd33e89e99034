"""What all pictures share: one palette, one canvas, one caption."""

from __future__ import annotations

import io
import re
import textwrap
from collections.abc import Iterator, Mapping, Sequence, Sized
from itertools import cycle
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

from deniable.errors import BadParameter, MissingExtra

if TYPE_CHECKING:
    import matplotlib.axes
    from matplotlib.figure import Figure

Axes: TypeAlias = "matplotlib.axes.Axes"
"""matplotlib's, named before it is loaded."""

INK, FAINT, SHADE = "#22262b", "#8a9099", "#eceef1"
EPSILON_AXIS = "← more private · more accurate →"
_LINE = 72  # characters: a caption stands below the axes, which may begin far to the right


class Line(NamedTuple):
    """A colour with a dash and a width of its own, so that it is told apart in grey as well."""

    color: str
    dashes: str | tuple[int, tuple[float, ...]]
    width: float

    @property
    def drawn(self) -> dict[str, Any]:
        """As matplotlib takes it."""
        return {"color": self.color, "ls": self.dashes, "lw": self.width}


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
        ax = _shown(_figure(size).add_subplot())
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


def stacked(heights: Sequence[int]) -> list[Axes]:
    """New axes above each other, with room for so many lines each; the first shows all of them."""
    figure = _figure((7.2, min(0.5 + 0.27 * sum(heights), 30.0)))
    axes = figure.subplots(len(heights), 1, squeeze=False, height_ratios=list(heights))
    found: list[Axes] = axes[:, 0].tolist()
    _shown(found[0])
    return found


def around(ax: Axes, *, title: str, below: str) -> None:
    """A title and a caption for all axes of a picture together."""
    figure: Any = ax.figure
    figure.suptitle(title, x=0.01, ha="left", fontsize=12, fontweight="bold", color=INK)
    figure.supxlabel(below, fontsize=10)


def _figure(size: tuple[float, float]) -> Figure:
    try:
        from .figures import Picture
    except ImportError:
        raise MissingExtra.of("matplotlib", extra="plots") from None
    return Picture(figsize=size, dpi=120, layout="constrained")


def _shown(ax: Axes) -> Axes:
    """The same axes, which a notebook shows."""
    vars(ax)["_repr_png_"] = lambda: _png(ax)
    return ax


def _png(ax: Any) -> bytes:
    out = io.BytesIO()
    ax.figure.savefig(out, format="png")
    return out.getvalue()


def captioned(name: str, caption: str) -> str:
    """An axis' name with a caption below it, in lines that fit the picture.

    A line never ends between ε and its number.
    """
    tied = re.sub(r"([εδρμ]) (?=\d)", "\\1\N{NO-BREAK SPACE}", caption)
    lines = [line.replace("\N{NO-BREAK SPACE}", " ") for line in textwrap.wrap(tied, _LINE)]
    return "\n".join([name, *lines]).strip("\n")


def thousands(axis: Any) -> None:
    """Numbers along an axis as in tables: 40,000."""
    axis.set_major_formatter(lambda number, _: f"{number:z,.10g}".replace("-", "−"))


def drawn(
    ax: Axes, places: Sequence[float], curves: Mapping[str, Sequence[float]], *, zorder: float = 2
) -> list[tuple[Sequence[float], Line]]:
    """Each curve over the same places, in a style of its own; and the heights with that style."""
    found = list(zip(curves.items(), lines(), strict=False))
    for (name, heights), line in found:
        same_length(name, heights, as_many_as=places)
        ax.plot(places, heights, label=name, zorder=zorder, **line.drawn)
    return [(heights, line) for (_, heights), line in found]


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
    ax.set_xlabel(captioned(x, " · ".join(facts)), color=INK, fontsize=10, linespacing=1.6)
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


def same_length(name: str, values: Sized, *, as_many_as: Sized) -> None:
    """One value for each place."""
    if len(values) != len(as_many_as):
        raise BadParameter(f"{name} has {len(values)} values for {len(as_many_as)} places")
