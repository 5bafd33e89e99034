"""Write TOML exactly: what `tomllib` reads back is equal, type for type.

Covers what schemas hold: tables of tables, lists, text, whole numbers, finite floats, truth values,
dates and timestamps without zone.
"""

from __future__ import annotations

import datetime as dt
import re
from collections.abc import Iterator, Mapping, Sequence

_BARE = re.compile(r"[A-Za-z0-9_-]+")
_ESCAPES = {'"': '\\"', "\\": "\\\\", "\n": "\\n", "\t": "\\t", "\r": "\\r"}


def dumps(record: Mapping[str, object]) -> str:
    """The record as TOML text.

    >>> print(dumps({"size": 3, "columns": {"a b": {"bounds": [0.0, 1.5]}}}), end="")
    size = 3
    <BLANKLINE>
    [columns."a b"]
    bounds = [0.0, 1.5]
    """
    return "\n".join(_table(record, ())).lstrip("\n") + "\n"


def place(text: str, path: Sequence[str]) -> str:
    r"""Where the table of that path begins, as ", line 3"; "" if its header is not found.

    >>> place("size = 3\n[columns.age]\nlow = 3", ["columns", "age"])
    ', line 2'
    """
    header = f"[{'.'.join(map(_key, path))}]"
    lines = [line.partition("#")[0].replace(" ", "") for line in text.splitlines()]
    wanted = header.replace(" ", "")
    return f", line {lines.index(wanted) + 1}" if wanted in lines else ""


def _table(record: Mapping[str, object], path: tuple[str, ...]) -> Iterator[str]:
    plain = {k: v for k, v in record.items() if not isinstance(v, Mapping)}
    tables = {k: v for k, v in record.items() if isinstance(v, Mapping)}
    if path and (plain or not tables):
        yield f"\n[{'.'.join(map(_key, path))}]"
    for name, value in plain.items():
        yield f"{_key(name)} = {_value(value)}"
    for name, table in tables.items():
        yield from _table(table, (*path, name))


def _key(name: str) -> str:
    return name if _BARE.fullmatch(name) else _text(name)


def _value(value: object) -> str:
    match value:
        case bool():
            return "true" if value else "false"
        case int() | float():
            return repr(value)
        case str():
            return _text(value)
        case dt.date():  # also timestamps; both print as TOML wants
            return value.isoformat()
        case list() | tuple():
            return _list([_value(v) for v in value])
    raise TypeError(f"TOML has no {type(value).__name__}")


def _list(items: list[str]) -> str:
    line = f"[{', '.join(items)}]"
    return line if len(line) <= 88 else "[\n" + "".join(f"    {item},\n" for item in items) + "]"


def _text(text: str) -> str:
    return '"' + "".join(map(_character, text)) + '"'


def _character(character: str) -> str:
    if character in _ESCAPES:
        return _ESCAPES[character]
    if ord(character) < 0x20 or ord(character) == 0x7F:
        return f"\\u{ord(character):04X}"
    return character
