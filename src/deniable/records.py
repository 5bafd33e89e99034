"""JSON for people and programs to read: certificates, reports, the command line and the server.

What is hashed or signed is written elsewhere, on purpose: the bytes of a ledger's line
(`ledger/entry.py`), of a protocol's identity and of an announced round are part of formats that
must stay as they are for as long as anyone checks them, whatever becomes of this page.
"""

from __future__ import annotations

import datetime as dt
import json
import math
from collections.abc import Mapping


def text(record: object, *, indent: int | None = 2) -> str:
    """One JSON document that any parser takes: no NaN, no infinity, dates and times as text.

    >>> text({"wait": dt.timedelta(days=8), "most": math.inf}, indent=None)
    '{"wait":"P8D","most":null}'
    """
    tight = (",", ":") if indent is None else None
    return json.dumps(
        plain(record), ensure_ascii=False, indent=indent, allow_nan=False, separators=tight
    )


def plain(value: object) -> object:
    """The value in JSON's own types; results that have a record of their own give it."""
    match value:
        case None | bool() | int() | str():
            return value
        case float():
            return value if math.isfinite(value) else None
        case Mapping():
            return {str(name): plain(each) for name, each in value.items()}
        case list() | tuple() | set() | frozenset():
            return [plain(each) for each in value]
        case dt.timedelta():  # as ISO 8601 writes it
            return f"P{value.days}D" + (f"T{value.seconds}S" if value.seconds else "")
    if hasattr(value, "tolist"):  # NumPy's numbers and arrays
        return plain(value.tolist())
    return plain(value.to_dict()) if hasattr(value, "to_dict") else str(value)
