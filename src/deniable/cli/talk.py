"""What is said, and where: answers to stdout, everything else to stderr; colour only for people.

Rich leaves out colour by itself when NO_COLOR is set or nobody is watching. Texts of tables and of
servers are not commands to a terminal: their control characters are left out.
"""

from __future__ import annotations

import os
import sys
from typing import IO, TYPE_CHECKING, Final

from deniable import records
from deniable.errors import DeniableError

if TYPE_CHECKING:
    from rich.console import Console

    from deniable.release import Release

_COMMANDS: Final = dict.fromkeys({*range(32), *range(127, 160)} - {ord("\n"), ord("\t")})

_ESCAPED: Final = {code: f"\\u{code:04x}" for code in range(127, 160)}
"""In JSON; those below 32 are escaped there anyway."""


def answer(text: object, record: object, *, json: bool, csv: str | None = None) -> None:
    """What was asked for, on stdout: for people, as one JSON document, or as CSV."""
    if csv is not None:
        _write(sys.stdout, csv.translate(_COMMANDS) if sys.stdout.isatty() else csv)
    elif json:
        _write(sys.stdout, records.text(record).translate(_ESCAPED) + "\n")
    else:
        _console(stderr=False).print(str(text).translate(_COMMANDS), soft_wrap=True)


def released(release: Release, record: object, *, json: bool, csv: bool) -> None:
    """The answer to a query; its notes, which CSV has no place for, on stderr."""
    answer(release, record, json=json, csv=release.to_csv() if csv else None)
    for note in release.notes if csv else ():
        say(note)


def say(text: object, *, style: str = "") -> None:
    """Talk: hints, headings and progress, on stderr."""
    plain = str(text).translate(_COMMANDS)
    _console(stderr=True).print(plain, style=style or None, soft_wrap=True)


def next_step(command: str, why: str = "") -> None:
    """A command to paste, alone on its line, and below it what it does."""
    say(f"next: {command}" + (f"\n      {why}" if why else ""), style="dim")


def refused(error: DeniableError, *, json: bool) -> None:
    """An error by its own template, on stderr."""
    error.medium = "shell"
    if json:
        _write(sys.stderr, records.text(error.to_json()).translate(_ESCAPED) + "\n")
        return
    first, _, rest = str(error).partition("\n")
    say(first, style="bold red")
    if rest:
        say(rest)


def unheard(stream: IO[str]) -> None:
    """Nobody reads the pipe any more: what is still said goes nowhere, and the command goes on."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, stream.fileno())
    os.close(nowhere)


def _write(stream: IO[str], text: str) -> None:
    try:
        stream.write(text)
        stream.flush()
    except BrokenPipeError:
        unheard(stream)


def _console(*, stderr: bool) -> Console:
    from rich.console import Console

    class Patient(Console):
        def on_broken_pipe(self) -> None:  # Rich would end the command with 1
            unheard(self.file)

    return Patient(stderr=stderr, markup=False, highlight=False, emoji=False)
