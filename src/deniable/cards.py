"""Small cards for notebooks: inline style, light and dark, no JavaScript."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

# `currentColor` and transparent greys read well on white and on black alike.
_CARD = (
    "display:inline-block;border:1px solid #8886;border-radius:6px;padding:.6em .9em;"
    "font-family:system-ui,sans-serif;font-size:13px;line-height:1.45;color:inherit"
)
_CELL = "padding:.15em .7em;text-align:left;font-variant-numeric:tabular-nums"


def escape(text: str) -> str:
    """Text as HTML has it."""
    import html

    return html.escape(text)


def card(title: str, *parts: str) -> str:
    """A titled box around parts that are already HTML."""
    return f"<div style='{_CARD}'><b>{escape(title)}</b>{''.join(parts)}</div>"


def table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """An HTML table of escaped text, with a head."""
    top = "".join(f"<th scope='col' style='{_CELL}'>{escape(name)}</th>" for name in head)
    body = "".join(
        "<tr>"
        + "".join(f"<td style='{_style(cell)}'>{escape(cell)}</td>" for cell in row)
        + "</tr>"
        for row in rows
    )
    return (
        "<table style='border-collapse:collapse;margin:.4em 0'>"
        f"<thead style='border-bottom:1px solid #8886'><tr>{top}</tr></thead>"
        f"<tbody>{body}</tbody></table>"
    )


def _style(cell: str) -> str:
    """Times and numbers stay on one line."""
    return f"{_CELL};white-space:nowrap" if len(cell) <= 20 else _CELL


def facts(pairs: Mapping[str, str]) -> str:
    """Named facts, one per line."""
    lines = "".join(
        f"<div><span style='opacity:.65'>{escape(name)}</span> {escape(text)}</div>"
        for name, text in pairs.items()
        if text
    )
    return f"<div style='margin-top:.3em'>{lines}</div>"


def lines(text: str) -> str:
    """Text as it stands, line by line."""
    return f"<pre style='margin:.4em 0;white-space:pre-wrap'>{escape(text)}</pre>"


def folded(summary: str, *parts: str) -> str:
    """Details that open on a click."""
    return f"<details><summary>{escape(summary)}</summary>{''.join(parts)}</details>"


def bar(part: float) -> str:
    """A bar that shows the fraction used; the caller prints the number beside it."""
    width = 100 * min(max(part, 0.0), 1.0)
    return (
        "<div role='img' aria-label='share of the budget that is spent' style='height:.5em;"
        "min-width:16em;border:1px solid #8888;border-radius:4px;margin:.4em 0'>"
        f"<div style='height:100%;width:{width:.1f}%;background:#3b73b9;border-radius:3px'></div>"
        "</div>"
    )
