"""Noisy answers as interactive charts: Altair's, which browsers and notebooks draw.

The chart that fits, as in `answers`: bars with whiskers, lines with bands over time, or bars in
groups. Each mark tells its value and ± when one points at it. A chart contains what it shows, and
that alone: noisy values and public facts. Altair writes texts into HTML as they are, so that the
text </script> would end its script: texts are made inert before.
"""

from __future__ import annotations

import datetime as dt
import math
import re
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Final

from deniable.errors import MissingExtra

from . import style
from .answers import MOST_BARS, Keys, Lines, as_lines, binned, coloured, in_words, labelled

if TYPE_CHECKING:
    from altair import LayerChart

_TAG: Final = re.compile("<(?=[A-Za-z/!?])")
_JOINER: Final = "\N{WORD JOINER}"


def chart(
    keys: Keys,
    values: Sequence[float],
    errors: Sequence[float],
    shown: Sequence[str],
    *,
    name: str,
    title: str = "",
    caption: str = "",
) -> LayerChart:
    """The column `name` by its keys; `shown` has the values as text, with their ± (NaN: none)."""
    try:
        import altair as alt
    except ImportError:
        raise MissingExtra.of("altair", extra="charts") from None
    name, title, caption = map(_inert, (name, title, caption))
    keys = {_inert(key): [_inert(each) for each in column] for key, column in binned(keys).items()}
    lines = as_lines(keys, values)
    colour = None if lines else coloured(keys, len(values))
    labels = labelled({key: column for key, column in keys.items() if key != colour})
    rows = [
        {"label": label, **_row([k[i] for k in keys.values()], values[i], errors[i], shown[i])}
        for i, label in enumerate(labels or [name] * len(values))
    ]
    if lines is not None:
        caption += lines.left_out
        rows = [rows[i] for places in lines.rows.values() for i in places]
    elif colour is None and len(rows) > MOST_BARS:
        caption += f"; the {MOST_BARS} largest of {len(rows):,}"
        rows = sorted(rows, key=lambda row: -row["value"])[:MOST_BARS]
    below = style.captioned("", caption).splitlines()
    heading = alt.TitleParams(title or in_words(name, keys), subtitle=below, anchor="start")
    base = alt.Chart(alt.Data(values=rows)).encode(tooltip=_tooltip(keys, name))
    layers = _line(base, keys, name, lines) if lines else _bars(base, keys, name, colour)
    made: LayerChart = alt.layer(*layers).properties(width=420, title=heading)
    return made


def _inert(text: Any) -> Any:
    """A text in which no HTML begins: an invisible character stands after each < of a tag."""
    return _TAG.sub(f"<{_JOINER}", text) if isinstance(text, str) else text


def _row(found: Sequence[object], value: float, error: float, shown: str) -> dict[str, Any]:
    """A mark's data; names are ours, because a dot or a bracket in a name means something here."""
    keys = {f"key{place}": _plain(key) for place, key in enumerate(found)}
    known = math.isfinite(error)
    low, high = (value - error, value + error) if known else (None, None)
    return keys | {"value": value, "low": low, "high": high, "shown": shown}


def _plain(key: object) -> object:
    if isinstance(key, dt.date):
        return key.isoformat()
    if key is None:
        return "(missing)"
    return key if isinstance(key, int | float) and not isinstance(key, bool) else str(key)


def _tooltip(keys: Keys, name: str) -> list[Any]:
    import altair as alt

    named = [
        alt.Tooltip(f"key{place}", type="nominal", title=key) for place, key in enumerate(keys)
    ]
    return [*named, alt.Tooltip("shown", type="nominal", title=f"{name} (95 % confidence)")]


def _line(base: Any, keys: Keys, name: str, lines: Lines) -> list[Any]:
    import altair as alt

    column, place = keys[lines.along], f"key{[*keys].index(lines.along)}"
    kind = "temporal" if isinstance(column[0], dt.date) else "quantitative"
    along = base.encode(x=alt.X(place, type=kind, title=lines.along))
    ink, shade = style.LINES[0].color, style.LINES[1].color
    area = along.mark_area(color=shade, opacity=0.3, interpolate="step")
    line = along.mark_line(color=ink, interpolate="step", point={"color": ink})
    if lines.by is not None:
        colour = _colour(f"key{[*keys].index(lines.by)}", lines.by)
        area = along.mark_area(opacity=0.3, interpolate="step").encode(color=colour)
        line = along.mark_line(interpolate="step", point=True).encode(color=colour)
    return [
        area.encode(y=alt.Y("low", type="quantitative", title=name), y2="high"),
        line.encode(y=alt.Y("value", type="quantitative")),
    ]


def _colour(place: str, title: str) -> Any:
    import altair as alt

    palette = alt.Scale(range=[line.color for line in style.LINES])
    return alt.Color(place, type="nominal", title=title, sort=None, scale=palette)


def _bars(base: Any, keys: Keys, name: str, colour: str | None) -> list[Any]:
    import altair as alt

    along = " and ".join(key for key in keys if key != colour)
    made = base.encode(
        x=alt.X("value", type="quantitative", title=name),
        y=alt.Y("label", type="nominal", title=along or None, sort=None),
    )
    if colour is None:
        bars = made.mark_bar(color=style.LINES[0].color)
    else:
        place = f"key{[*keys].index(colour)}"
        made = made.encode(yOffset=alt.YOffset(place, type="nominal", sort=None))
        bars = made.mark_bar().encode(color=_colour(place, colour))
    whiskers = (
        made.transform_filter("isValid(datum.low)")
        .mark_rule(color=style.INK if colour else style.LINES[1].color, strokeWidth=2)
        .encode(x=alt.X("low", type="quantitative"), x2="high")
    )
    return [bars, whiskers]
