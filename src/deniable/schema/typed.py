"""Public facts as people type them, in a shell or a form: text in, columns out."""

from __future__ import annotations

import datetime as dt
from collections.abc import Sequence

from deniable.errors import BadParameter

from .columns import DROP, Column, Scalar, bounds, column, keys


def stated(
    type_: str, *, low: str = "", high: str = "", listed: Sequence[str] = (), missing: str = ""
) -> Column:
    """A column of which these facts are stated; what is empty is not.

    >>> stated("int", low="0", high="120")
    bounds(0, 120, type='int')
    >>> stated("text", listed=["Oslo", "Bergen"], missing="drop")
    keys(['Oslo', 'Bergen'])
    """
    rule: Scalar | None = value(missing, type_, free=DROP) if missing else None
    if listed and (low or high):
        raise BadParameter("a column has bounds or keys, not both")
    if bool(low) != bool(high):
        raise BadParameter("a column has both bounds or none")
    if listed:
        return keys([value(each, type_) for each in listed], missing=DROP if rule is None else rule)
    if low:
        ends = value(low, type_), value(high, type_)
        return bounds(*ends, type=type_, missing=DROP if rule is None else rule)
    return column(type_, missing=rule)


def value(text: str, type_: str, *, free: str | None = None) -> Scalar:
    """Convert typed text to a value of the column's type."""
    if text == free:
        return text
    try:
        match type_:
            case "int":
                return int(text) if text.lstrip("+-").isdecimal() else _whole(float(text))
            case "float":
                return float(text)
            case "bool":
                return {"true": True, "false": False}[text.lower()]
            case "date":
                return dt.date.fromisoformat(text)
            case "timestamp":
                return dt.datetime.fromisoformat(text)
    except (ValueError, KeyError, OverflowError):
        forms = {"date": "YYYY-MM-DD", "timestamp": "YYYY-MM-DD or YYYY-MM-DDTHH:MM:SS"}
        if type_ in forms:
            raise BadParameter(f"{text!r} is not a {type_}; write {forms[type_]}") from None
        must = {"int": "a whole number", "float": "a number", "bool": "true or false"}
        raise BadParameter.of("a value", text, must=must[type_]) from None
    return text


def _whole(number: float) -> int:
    """An integer written as a float, such as 1e6."""
    if not number.is_integer():
        raise ValueError(number)
    return int(number)
