"""What is said, and where: answers to stdout, everything else to stderr; colour only for people.

Rich leaves out colour by itself when NO_COLOR is set or nobody is watching.
"""

from __future__ import annotations

import datetime as dt
import json as notation
import math
import sys
from collections.abc import Mapping
from typing import TYPE_CHECKING

from deniable.errors import DeniableError

if TYPE_CHECKING:
    from rich.console import Console


def answer(text: object, record: object, *, json: bool) -> None:
    """What was asked for, on stdout: for people, or as one JSON document."""
    if json:
        sys.stdout.write(as_json(record) + "\n")
    else:
        _console(stderr=False).print(str(text), soft_wrap=True)


def say(text: object, *, style: str = "") -> None:
    """Talk: hints, headings and progress, on stderr."""
    _console(stderr=True).print(str(text), style=style or None, soft_wrap=True)


def next_step(command: str, why: str = "") -> None:
    """A command to paste, alone on its line, and below it what it does."""
    say(f"next: {command}" + (f"\n      {why}" if why else ""), style="dim")


def refused(error: DeniableError, *, json: bool) -> None:
    """An error by its own template, on stderr."""
    error.medium = "shell"
    if json:
        sys.stderr.write(as_json(error.to_json()) + "\n")
        return
    first, _, rest = str(error).partition("\n")
    say(first, style="bold red")
    if rest:
        say(rest)


def as_json(record: object) -> str:
    """One JSON document that any parser takes: no NaN, no infinity, dates and times as text.

    >>> print(as_json([dt.timedelta(days=8)]))
    [
      "P8D"
    ]
    """
    return notation.dumps(_plain(record), ensure_ascii=False, indent=2, allow_nan=False)


def _plain(value: object) -> object:
    match value:
        case None | bool() | int() | str():
            return value
        case float():
            return value if math.isfinite(value) else None
        case Mapping():
            return {str(name): _plain(each) for name, each in value.items()}
        case list() | tuple():
            return [_plain(each) for each in value]
        case dt.timedelta():  # as ISO 8601 writes it
            return f"P{value.days}D" + (f"T{value.seconds}S" if value.seconds else "")
    if hasattr(value, "tolist"):  # NumPy's numbers and arrays
        return _plain(value.tolist())
    return str(value)


def _console(*, stderr: bool) -> Console:
    from rich.console import Console

    return Console(stderr=stderr, markup=False, highlight=False, emoji=False)
