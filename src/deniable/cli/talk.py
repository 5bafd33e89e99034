"""What is said, and where: answers to stdout, everything else to stderr; colour only for people.

Rich leaves out colour by itself when NO_COLOR is set or nobody is watching.
"""

from __future__ import annotations

import datetime as dt
import json as notation
import math
import re
import shlex
import sys
from collections.abc import Mapping
from typing import TYPE_CHECKING

from deniable.errors import DeniableError

if TYPE_CHECKING:
    from rich.console import Console

_LOSS = re.compile(r"\b(spend|budget)=dp\.(epsilon|rho|mu)\(([^,()]+)(?:, delta=([^,()]+))?\)")

_NUMBER = re.compile(r"\b(size|within)=(\d+)\b")

_UNIT = re.compile(r'\bunit=dp\.person\("([^"]+)", rows=(\d+|\.\.\.)(?:, groups=(\d+))?\)')

_BOUNDS = re.compile(r"\bdp\.bounds\(([^,()]+), ([^,()]+)\)$")

# What has no option of its own is said in the schema, or when the ledger is started.
_SCHEMA = {
    "unit=dp.rows()": "--unit row",
    "dp.Schema(..., public=True)": "public = true in its schema",
    "unit=dp.person(..., groups=3) and a budget with a delta": (
        "groups = 3 in the unit of the schema, and a ledger started with --budget 3,1e-7"
    ),
    "open the session with a budget that has a delta": "start the ledger with --budget 3,1e-7",
}

_KEYS = re.compile(r'columns=\{"([^"]+)": dp\.keys\(\[\.\.\.\]\)\}')

_HIERARCHY = re.compile(r"hierarchies=\{'([^']+)': \.\.\.\}")


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
    error.fix = _in_shell(error.fix)
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


def _in_shell(fix: str) -> str:
    r"""A fix as it is typed here, where it was written for Python.

    >>> _in_shell("schema=dp.Schema(...)\ndeniable set people.age --bounds 0 100")
    'deniable set people.age --bounds 0 100'
    >>> _in_shell("spend=dp.epsilon(0.2)    what is left"), _in_shell("budget=dp.rho(0.1)")
    ('--spend 0.2    what is left', '--budget rho=0.1')
    >>> _in_shell("spend=dp.epsilon(0.2, delta=1e-8) or within=100")
    '--spend 0.2,1e-8 or --within 100'
    >>> _in_shell("hierarchies={'sex': ...} that covers all values")
    '--hierarchies FILE with a `sex` that covers all values'
    >>> _in_shell('unit=dp.person("Customer ID", rows=...)'), _in_shell("dp.bounds(0, 100)")
    ("--unit 'Customer ID' --rows 10", '--bounds 0 100')
    >>> _in_shell('give the list: columns={"city": dp.keys([...])}')
    'give the list: --keys for `city` with deniable set'
    """

    def typed(found: re.Match[str]) -> str:
        option, kind, figure, delta = found.groups()
        name = "" if kind == "epsilon" else f"{kind}="
        return f"--{option} {name}{figure}" + (f",{delta}" if delta else "")

    for python, shell in _SCHEMA.items():
        fix = fix.replace(python, shell)
    fix = _UNIT.sub(_unit, _BOUNDS.sub(r"--bounds \1 \2", fix))
    if any(line.startswith("deniable ") for line in fix.split("\n")):
        lines = [line for line in fix.split("\n") if "dp." not in line]
        fix = "\n".join(sorted(lines, key=lambda line: not line.startswith("deniable ")))
    fix = _KEYS.sub(r"--keys for `\1` with deniable set", fix)
    fix = _HIERARCHY.sub(r"--hierarchies FILE with a `\1`", fix)
    return _NUMBER.sub(r"--\1 \2", _LOSS.sub(typed, fix))


def _unit(found: re.Match[str]) -> str:
    column, rows, groups = found.groups()
    said = f"--unit {shlex.quote(column)} --rows {rows.replace('...', '10')}"
    return said + (f" --groups {groups}" if groups else "")


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
