"""What the operators on dates, timestamps and the casts mean; part of `meaning`, by subject."""

from __future__ import annotations

import datetime as dt
import math
import re
from typing import Final

from .domain import Number
from .meaning import Value, lower, number, round_half_away

UNITS: Final = ("year", "quarter", "month", "week", "day", "hour", "minute")

# What text must look like to be cast; everything else is missing. Leading and trailing spaces are
# allowed. Lengths are limited so that no engine can overflow.
INT_TEXT: Final = r"^ *[+-]?[0-9]{1,18} *$"
WHOLE_TEXT: Final = r"^ *[+-]?[0-9]{1,18}\.0{0,18} *$"
"""A whole number with a point, as pandas writes those of a column with missing values."""
FLOAT_TEXT: Final = r"^ *[+-]?([0-9]{1,30}(\.[0-9]{0,30})?|\.[0-9]{1,30})([eE][+-]?[0-9]{1,2})? *$"
DATE_TEXT: Final = r"^ *[0-9]{4}-[0-9]{2}-[0-9]{2} *$"
TIMESTAMP_TEXT: Final = (
    r"^ *[0-9]{4}-[0-9]{2}-[0-9]{2}[ T][0-9]{2}:[0-9]{2}(:[0-9]{2}(\.[0-9]{1,6})?)? *$"
)
TRUE_TEXTS: Final = ("true", "t", "1")
FALSE_TEXTS: Final = ("false", "f", "0")


def truncate(unit: str, x: dt.date) -> Value:
    """The start of the year, quarter, month, week (Monday), day, hour or minute; same kind."""
    if unit in ("hour", "minute"):
        assert isinstance(x, dt.datetime)
        return x.replace(second=0, microsecond=0, minute=0 if unit == "hour" else x.minute)
    day = _day_of(x)
    match unit:
        case "year":
            day = day.replace(month=1, day=1)
        case "quarter":
            day = day.replace(month=3 * ((day.month - 1) // 3) + 1, day=1)
        case "month":
            day = day.replace(day=1)
        case "week":
            back = day.isoweekday() - 1
            if day.toordinal() - back < 1:
                return None
            day = dt.date.fromordinal(day.toordinal() - back)
    return dt.datetime.combine(day, dt.time()) if isinstance(x, dt.datetime) else day


def days_between(start: dt.date, end: dt.date) -> Value:
    """Whole days from the date of `start` to the date of `end`; negative if that is earlier."""
    return (_day_of(end) - _day_of(start)).days


def add_days(x: dt.date, days: int) -> Value:
    """The date that many days later; missing beyond the years 1 to 9999."""
    ordinal = _day_of(x).toordinal() + days
    return dt.date.fromordinal(ordinal) if 1 <= ordinal <= dt.date.max.toordinal() else None


def add_minutes(x: dt.date, minutes: int) -> Value:
    """The moment that many minutes later, from midnight of a date; missing beyond 1 to 9999."""
    start = x if isinstance(x, dt.datetime) else dt.datetime.combine(x, dt.time())
    days, rest = divmod(start.hour * 60 + start.minute + minutes, 24 * 60)
    day = add_days(start, days)
    if not isinstance(day, dt.date):
        return None
    hour, minute = divmod(rest, 60)
    return start.replace(day.year, day.month, day.day, hour, minute)


# ---- casts


def to_int(x: Number | str) -> Value:
    """Floats are rounded with halves away from zero; missing beyond 64 bits."""
    if isinstance(x, str):
        whole = re.match(INT_TEXT, x) or re.match(WHOLE_TEXT, x)
        return int(x.partition(".")[0]) if whole and "\n" not in x else None
    if isinstance(x, float):
        if not math.isfinite(x) or not -(2.0**63) <= x < 2.0**63:
            return None
        return int(round_half_away(x))
    return int(x)


def to_float(x: Number | str) -> Value:
    """Text that is not a number is missing."""
    if isinstance(x, str):
        return number(float(x)) if re.match(FLOAT_TEXT, x) and "\n" not in x else None
    return float(x)


def to_text(x: object) -> Value:
    """Digits, true or false, or a date as 2020-12-31."""
    if isinstance(x, bool):
        return "true" if x else "false"
    return x.isoformat() if isinstance(x, dt.date) else str(x)


def to_bool(x: object) -> Value:
    """A number is true unless it is 0; text is true, t, 1, false, f, 0 or missing."""
    if isinstance(x, str):
        word = lower(x.strip(" "))
        return True if word in TRUE_TEXTS else False if word in FALSE_TEXTS else None
    return bool(x)


def to_date(x: object) -> Value:
    """The day of a timestamp; text must be a day that exists, as 2020-12-31."""
    if isinstance(x, str):
        moment = _parsed(x, DATE_TEXT)
        return None if moment is None else moment.date()
    assert isinstance(x, dt.date)
    return _day_of(x)


def to_timestamp(x: object) -> Value:
    """Midnight of a date; text must be as 2020-12-31 23:59:59.5, or a date."""
    if isinstance(x, str):
        return _parsed(x, TIMESTAMP_TEXT) or _parsed(x, DATE_TEXT)
    if isinstance(x, dt.datetime):
        return x
    assert isinstance(x, dt.date)
    return dt.datetime.combine(x, dt.time())


def _parsed(text: str, shape: str) -> dt.datetime | None:
    if not re.match(shape, text) or "\n" in text:
        return None
    try:
        whole, _, fraction = text.strip(" ").replace("T", " ").partition(".")
        moment = dt.datetime.fromisoformat(whole)
    except ValueError:  # no such day or time
        return None
    return moment + dt.timedelta(microseconds=int(fraction.ljust(6, "0"))) if fraction else moment


def _day_of(x: dt.date) -> dt.date:
    return x.date() if isinstance(x, dt.datetime) else x
