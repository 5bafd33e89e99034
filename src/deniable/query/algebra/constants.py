"""Which constants a question may contain: those for which an operator keeps what it declares.

Others are refused when the question is read. What they are is public, so nothing is spent.
"""

from __future__ import annotations

import datetime as dt
import math
from collections.abc import Sequence
from typing import Any

from deniable import fixes
from deniable.errors import UnsupportedQuery

from .domain import Kind
from .moments import UNITS


def check_value(value: object) -> None:
    """A number must be finite, and a whole one must have 64 bits: no engine holds a larger one."""
    if isinstance(value, int) and not -(2**63) <= value < 2**63:
        raise UnsupportedQuery(
            "a whole number in a query must fit in 64 bits",
            why="engines fail on larger ones, or round them in their own way",
            fix="a number from -9223372036854775808 to 9223372036854775807, or 1e30",
        )
    if isinstance(value, float) and not math.isfinite(value):
        raise UnsupportedQuery("a number in a query must be finite", fix="NULL is a missing value")


def check_constants(op: str, args: Sequence[Any]) -> None:
    """Refuse constants for which an operator has no meaning, or not the same on every engine.

    `args` holds the values of the arguments that are constants, and the kinds of the others.
    """
    match op, *args:
        case "round", _, int(digits) if not -15 <= digits <= 15:
            raise UnsupportedQuery(
                "rounding keeps from -15 to 15 digits", fix=fixes.sql("ROUND(x, 2)", ".round(2)")
            )
        case "clip", _, low, high:
            _check_ends(low, high)
        case "bin", _, width if not width > 0:
            raise UnsupportedQuery("the width of a bin must be above 0", fix="BIN(x, 10)")
        case "width_bucket", _, low, high, buckets:
            _check_buckets(low, high, buckets)
        case "substr", _, start, *_ if start < 1:
            raise UnsupportedQuery("SUBSTR positions start at 1", fix="SUBSTR(x, 1, 3)")
        case "substr", _, _, int(count) if count < 0:
            raise UnsupportedQuery("SUBSTR cannot take a negative number of letters")
        case "like" | "ilike", _, str(pattern) if "\\" in pattern:
            raise UnsupportedQuery(
                "escape characters in patterns are not supported",
                fix=fixes.sql(
                    "contains, starts_with or ends_with", ".contains, .startswith or .endswith"
                ),
            )
        case "date_trunc", unit, moment:
            _check_unit(unit, moment)


def _check_ends(low: float, high: float) -> None:
    if low > high:
        raise UnsupportedQuery(
            f"the lower end, {low}, is above the upper end, {high}",
            why="no value lies between them",
            fix=fixes.sql(f"CLAMP(x, {high}, {low})", f".clip({high}, {low})"),
        )


def _check_buckets(low: float, high: float, buckets: int) -> None:
    """Their width is computed in float64: it must be a number above 0."""
    if not 1 <= buckets <= 1_000_000:
        raise UnsupportedQuery("the number of buckets must be from 1 to 1,000,000")
    if not 0 < float(high) - float(low) < math.inf:
        raise UnsupportedQuery(
            f"WIDTH_BUCKET cannot divide the range from {low} to {high}",
            why="its lower end must be below its upper end, and their distance a float above 0",
            fix="WIDTH_BUCKET(x, 0, 100, 10)",
        )


def _check_unit(unit: str, moment: object) -> None:
    if unit not in UNITS:
        raise UnsupportedQuery(f"DATE_TRUNC knows {', '.join(UNITS)}; not {unit!r}")
    day = isinstance(moment, dt.date) and not isinstance(moment, dt.datetime)
    if unit in ("hour", "minute") and (moment is Kind.DATE or day):
        raise UnsupportedQuery(
            f"a date has no {unit}",
            fix=f"DATE_TRUNC('{unit}', CAST(... AS TIMESTAMP)), or DATE_TRUNC('day', ...)",
        )
