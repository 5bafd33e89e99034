"""The command line: `deniable`, or `python -m deniable`.

    app         the commands by name, and the one place where errors are printed
    options     options that several commands share
    amounts     0.5, 0.5,1e-8 and rho=0.1 as losses; ± as text
    joining     how two files are joined: zip,age:near=2
    places      data, schema and ledger: three files side by side
    rows        people's rows, for the commands that read them exactly
    remote      questions to a server
    talk        answers to stdout, everything else to stderr
    start       the next step, for `deniable` without a command
    commands/   one file per command
    demo        a demonstration in a minute; needs neither Typer nor Rich
    hospitals   another: five hospitals, one histogram

Typer and Rich are the extra `cli`; each command loads what it needs only when it runs.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from importlib import import_module


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command; 0 is done, 1 refused, 2 not understood."""
    given = list(sys.argv[1:] if arguments is None else arguments)
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):  # a terminal without ε must not stop an answer
            stream.reconfigure(errors="replace")
    if given in (["demo"], ["demo", "hospitals"]):
        return _told(import_module(f".{given[-1]}", __package__).main)
    try:
        import_module("rich")  # used later, when it is too late to say what is missing

        from .app import run
    except ModuleNotFoundError as missing:
        if (missing.name or "").split(".")[0] not in ("typer", "rich"):
            raise
        from deniable.errors import MissingExtra

        error = MissingExtra.of("the command line (Typer and Rich)", extra="cli")
        sys.stderr.write(f"{error}\n")
        return 1
    return run(given)


def _told(story: Callable[[], int]) -> int:
    """Tell a story, as long as somebody reads it."""
    try:
        code = story()
        sys.stdout.flush()
    except BrokenPipeError:
        from . import talk

        talk.unheard(sys.stdout)
        return 0
    return code
