"""Answers and budgets as inline SVG: classes for colours, so that both themes and a policy work."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from markupsafe import Markup, escape

from deniable.release import Release
from deniable.release.numbers import plus_minus

MOST = 30
_ROW, _LABEL, _WIDE, _VALUE = 30, 150, 480, 120


def bars(release: Release) -> Markup:
    """Horizontal bars with 95 % whiskers; nothing where the answer is one number, or no number."""
    name, answer = next(iter(release.answers.items()), (None, None))
    if name is None or answer is None or not 1 < len(answer.cells) <= MOST:
        return Markup("")
    cells = list(answer.cells)
    if not all(isinstance(v, int | float) and math.isfinite(v) for v in cells):
        return Markup("")
    errors = [_finite(e) for e in answer.errors()]
    labels = [", ".join(map(str, row)) for row in zip(*release.keys.values(), strict=True)]
    return drawn(name, labels or [""] * len(cells), cells, errors)


def drawn(
    name: str, labels: Sequence[str], cells: Sequence[Any], errors: Sequence[float]
) -> Markup:
    """Horizontal bars of these numbers with whiskers."""
    low = min(0.0, *(float(v) - e for v, e in zip(cells, errors, strict=True)))
    high = max(0.0, *(float(v) + e for v, e in zip(cells, errors, strict=True)))
    span = (high - low) or 1.0
    room = _WIDE - _LABEL - _VALUE

    def x(value: float) -> str:
        return f"{_LABEL + room * (value - low) / span:.1f}"

    rows = [
        _bar(labels[i], plus_minus(v, errors[i] or None), float(v), errors[i], top=i * _ROW, x=x)
        for i, v in enumerate(cells)
    ]
    tall = len(cells) * _ROW + 6
    zero = Markup('<line class="axis" x1="{0}" x2="{0}" y1="0" y2="{1}"/>').format(x(0.0), tall)
    return Markup(
        '<svg class="chart" viewBox="0 0 {} {}" role="img" '
        'aria-label="{} with 95 % intervals">{}{}</svg>'
    ).format(_WIDE, tall, name, Markup("").join(rows), zero)


def _bar(label: str, text: str, value: float, error: float, *, top: int, x: Any) -> Markup:
    left, right = sorted((float(x(0.0)), float(x(value))))
    middle = top + 15
    whisker = Markup('<path class="whisker" d="M{0} {1}H{2}M{0} {3}V{4}M{2} {3}V{4}"/>').format(
        x(value - error), middle, x(value + error), middle - 4, middle + 4
    )
    short = label if len(label) <= 18 else label[:17] + "…"
    return Markup(
        '<text x="{}" y="{}" text-anchor="end">{}</text>'
        '<rect class="bar" x="{:.1f}" y="{}" width="{:.1f}" height="18" rx="2"/>{}'
        '<text class="value" x="{}" y="{}">{}</text>'
    ).format(
        _LABEL - 8, middle + 4, escape(short), left, top + 6, max(1.0, right - left),
        whisker, _WIDE - _VALUE + 8, middle + 4, text,
    )  # fmt: skip


def _finite(error: object) -> float:
    return float(error) if isinstance(error, int | float) and math.isfinite(error) else 0.0


def burn_down(lines: Sequence[dict[str, Any]], whole: float) -> Markup:
    """What is left after each charge, oldest first."""
    spent = [line["figure"] for line in lines[::-1] if line["kind"] == "charge"]
    if not spent or not whole:
        return Markup("")
    wide, tall, foot = 480, 120, 100
    step, left, path = wide / (len(spent) + 1), whole, "M0 4"
    for number, figure in enumerate(spent, 1):
        left = max(0.0, left - figure)
        path += f"H{number * step:.1f}V{4 + (foot - 4) * (1 - left / whole):.1f}"
    return Markup(
        '<svg class="chart burn" viewBox="0 0 {0} {6}" role="img" '
        'aria-label="budget left after each of {2} charges: {3:.0%} of it">'
        '<line class="axis" x1="0" x2="{0}" y1="{4}" y2="{4}"/>'
        '<line class="axis" x1="0" x2="{0}" y1="4" y2="4"/>'
        '<path class="line" d="{5}H{0}"/><text class="value" x="0" y="{1}">nothing left</text>'
        '<text class="value" x="0" y="20">all</text></svg>'
    ).format(wide, tall - 4, len(spent), left / whole, foot, path, tall + 2)
