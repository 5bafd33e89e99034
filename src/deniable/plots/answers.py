"""Noisy answers as the chart that fits their keys.

One number, or one key: bars, in the order of the table. A key of dates, or of many numbers: a line
with a band, or a line for each value of a second key. Otherwise two keys or more are bars grouped
by the last, which has its own colours.
"""

from __future__ import annotations

import datetime as dt
import math
from collections.abc import Iterable, Mapping, Sequence
from itertools import pairwise
from typing import Any, Final, NamedTuple, cast

import numpy as np

from . import style
from .bands import layer
from .bars import bars, largest
from .style import Axes

Keys = Mapping[str, Sequence[object]]

MOST_BARS: Final = 30
_MOST_COLOURS: Final = len(style.LINES)


def answers(
    keys: Keys,
    values: Sequence[float],
    errors: Sequence[float],
    *,
    name: str,
    title: str = "",
    caption: str = "",
    ax: Axes | None = None,
) -> Axes:
    """The column `name` by its keys, with 95 % confidence; a missing ± is NaN."""
    edges = _edges(keys)
    keys = binned(keys)
    title = title or in_words(name, keys)
    lines = as_lines(keys, values)
    if lines is not None:
        below = caption + lines.left_out
        return _along(lines, keys, values, errors, edges, y=name, title=title, caption=below, ax=ax)
    colour = coloured(keys, len(values))
    if colour is not None:
        below = style.captioned(name, caption)
        return _grouped(keys, colour, values, errors, title=title, axis=below, ax=ax)
    labels = labelled(keys) or [name] * len(values)
    shown = largest(range(len(values)), values, MOST_BARS)
    left_out = len(values) - len(shown)
    more = f"; the {len(shown)} largest of {len(values):,}" if left_out else ""
    return bars(
        [labels[i] for i in shown],
        [values[i] for i in shown],
        [errors[i] for i in shown],
        title=title,
        axis_label=name,
        caption=caption + more,
        ax=ax,
    )


def in_words(name: str, keys: Iterable[str]) -> str:
    """What is shown by what.

    >>> in_words("n", ["city", "sex"]), in_words("n", [])
    ('n by city and sex', 'n')
    """
    by = " and ".join(keys)
    return f"{name} by {by}" if by else name


def binned(keys: Keys) -> Keys:
    """The keys, where `low` and `high` are the ends of bins one after the other: one key of both.

    >>> binned({"low": (0.0, 50.0), "high": (50.0, 100.0)})
    {'bin': ['0 to 50', '50 to 100']}
    >>> binned({"low": (0, 3, 4), "high": (2, 3, 9)})
    {'bin': ['0 to 2', '3', '4 to 9']}

    Of many it is their middles: a step from one to the next is then where bins of one width meet.
    """
    edges = _edges(keys)
    if edges is None:
        return keys
    bins = [*zip(*keys.values(), strict=True)]
    if len(bins) > MOST_BARS:
        return {"bin": [(a + b) / 2 for a, b in pairwise(edges)]}
    return {"bin": [f"{a:z,g}" + f" to {b:z,g}" * (a < b) for a, b in bins]}


def _edges(keys: Keys) -> list[float] | None:
    """Where bins from `low` to `high` meet; between whole numbers in the middle."""
    if [*keys] != ["low", "high"]:
        return None
    low, high = cast("Iterable[Sequence[float]]", keys.values())
    if not all(isinstance(end, int | float) for end in (*low, *high)):
        return None
    gaps = {b - a for a, b in zip(high, low[1:], strict=False)}
    if gaps not in ({0}, {1}, set()):
        return None
    half = sum(gaps) / 2
    return [*(end - half for end in low), *(end + half for end in high[-1:])]


def coloured(keys: Keys, count: int) -> str | None:
    """Of several keys, the one that is shown by colours: the last with few enough values."""
    if len(keys) < 2 or count > 2 * MOST_BARS:
        return None
    few = [k for k, column in keys.items() if 1 < len(dict.fromkeys(column)) <= _MOST_COLOURS]
    return few[-1] if few else None


def labelled(keys: Keys) -> list[str]:
    """A label for each row: its keys, in words."""
    return [_label(row) for row in zip(*map(_days, keys.values()), strict=True)]


def _days(column: Sequence[object]) -> Sequence[object]:
    """Moments that are all midnights as the days that they stand for."""
    if all(isinstance(each, dt.datetime) and each.time() == dt.time() for each in column):
        return [each.date() for each in column if isinstance(each, dt.datetime)]
    return column


def continuous(column: Sequence[object]) -> bool:
    """Whether a key is time, or so many numbers that a line shows them better than bars."""
    kinds = dt.date | int | float if len(column) > MOST_BARS else dt.date
    return len(column) > 1 and all(isinstance(each, kinds) for each in column)


def _label(row: Sequence[object]) -> str:
    return ", ".join("(missing)" if each is None else str(each) for each in row)


class Lines(NamedTuple):
    """The key along the axis, and the rows of each line; `by` is the key that tells lines apart."""

    along: str
    by: str | None
    rows: Mapping[object, Sequence[int]]
    left_out: str = ""


def as_lines(keys: Keys, values: Sequence[float]) -> Lines | None:
    """How answers over time, or over many numbers, are lines; of many lines those highest up."""
    along = next((k for k, column in keys.items() if continuous([*dict.fromkeys(column)])), None)
    if along is None or len(keys) > 2:
        return None
    by = next((key for key in keys if key != along), None)
    rows: dict[object, list[int]] = {}
    for row in np.argsort(np.array(keys[along], dtype=object), kind="stable").tolist():
        rows.setdefault(None if by is None else keys[by][row], []).append(row)
    kinds = [None] if by is None else [*dict.fromkeys(keys[by])]
    if len(kinds) <= _MOST_COLOURS:
        return Lines(along, by, {kind: rows[kind] for kind in kinds})
    highest = sorted(kinds, key=lambda kind: -sum(values[i] for i in rows[kind]))[:_MOST_COLOURS]
    more = f"; the {_MOST_COLOURS} largest of {len(kinds):,}"
    return Lines(along, by, {kind: rows[kind] for kind in highest}, more)


def _along(
    lines: Lines,
    keys: Keys,
    values: Sequence[float],
    errors: Sequence[float],
    edges: Sequence[float] | None,
    *,
    y: str,
    title: str,
    caption: str,
    ax: Axes | None,
) -> Axes:
    ax = style.canvas(ax, title=title)
    found = keys[lines.along]
    for (kind, rows), line in zip(lines.rows.items(), style.lines(), strict=False):
        places: Any = edges or [found[i] for i in rows]
        layer(
            ax,
            places,
            [values[i] for i in rows],
            [0.0 if math.isnan(errors[i]) else errors[i] for i in rows],
            line=line,
            shade=style.LINES[1].color if lines.by is None else line.color,
            label=None if lines.by is None else _label([kind]),
        )
    ax.axhline(0, color=style.INK, lw=0.8)
    ax.set_xlabel(style.captioned(lines.along, caption))
    ax.set_ylabel(y)
    style.thousands(ax.yaxis)
    if lines.by is not None:
        _legend(ax, lines.by)
    if isinstance(found[0], dt.date):
        ax.figure.autofmt_xdate()
    else:
        style.thousands(ax.xaxis)
    return ax


def _legend(ax: Axes, title: str) -> None:
    beside = {"loc": "upper left", "bbox_to_anchor": (1.0, 1.0)}
    ax.legend(title=title, frameon=False, fontsize=9, **beside)


def _grouped(
    keys: Keys,
    colour: str,
    values: Sequence[float],
    errors: Sequence[float],
    *,
    title: str,
    axis: str,
    ax: Axes | None,
) -> Axes:
    groups = labelled({key: column for key, column in keys.items() if key != colour})
    colours = _days(keys[colour])
    rows, kinds = list(dict.fromkeys(groups)), list(dict.fromkeys(colours))
    height = 0.8 / len(kinds)
    size = (7.2, 1.6 + len(rows) * max(0.3, 0.2 * len(kinds)))
    ax = style.canvas(ax, title=title, size=size)
    for nth, kind in enumerate(kinds):
        chosen = [i for i, each in enumerate(colours) if each == kind]
        places = [rows.index(groups[i]) - 0.4 + height * (nth + 0.5) for i in chosen]
        ax.barh(
            places,
            [values[i] for i in chosen],
            xerr=[0.0 if math.isnan(errors[i]) else errors[i] for i in chosen],
            height=0.9 * height,
            color=style.LINES[nth].color,
            error_kw={"ecolor": style.FAINT, "elinewidth": 1.5, "capsize": 2},
            label=_label([kind]),
        )
    ax.axvline(0, color=style.INK, linewidth=0.8)
    ax.set_yticks(range(len(rows)), rows)
    ax.invert_yaxis()
    _legend(ax, colour)
    ax.set_xlabel(axis)
    style.thousands(ax.xaxis)
    return ax
