"""deniable without a command: suggest the next step."""

from __future__ import annotations

import shlex
from pathlib import Path

from deniable.cli import places, talk
from deniable.errors import DeniableError


def start() -> None:
    """Look at the folder and suggest the next command."""
    found = places.schemas(Path())
    if not found:
        talk.answer(_beginning(places.data_files(Path())), None, json=False)
    else:
        talk.answer("\n".join(_going_on(path) for path in found), None, json=False)
    talk.say("all commands: deniable --help", style="dim")


def _beginning(data: list[Path]) -> str:
    if not data:
        return "see a demo:         deniable demo\nuse your own data:  deniable init people.parquet"
    header = " --header" if data[0].suffix == ".csv" else ""
    file = shlex.quote(str(data[0]))
    return (
        f"begin: deniable init {file}{header}\n"
        "       reads the names and types of columns, no values"
    )


def _going_on(path: Path) -> str:
    place = places.find(path)
    try:
        table = place.names(place.facts())[0]
    except DeniableError as error:
        return str(error)
    count = places.example(table)
    said = place.options()
    if not place.started:
        return (
            f"{path}: no queries yet\n"
            f"  deniable check{said}\n      lists the facts that are still missing\n"
            f"  deniable try {count}{said}\n      free, on made-up rows\n"
            f"  deniable ask {count} --spend 0.1 --budget 1{said}"
        )
    return (
        f"{path}\n{_stopped(place)}  deniable ledger{said}\n      shows the budget left\n"
        f"  deniable explain {count}{said}\n      free"
    )


def _stopped(place: places.Place) -> str:
    """The askers who are stopped, and the command with which the curator resumes."""
    from deniable.ledger import open_ledger
    from deniable.ledger.halts import called, command

    try:
        with open_ledger(place.ledger_name()) as kept:
            stopped = list(kept.halts().stopped)
    except DeniableError as error:
        return f"{error}\n"
    return "".join(
        f"  {command(asker)}{place.options()}\n      {called(asker)} is stopped: "
        "a query failed while the data were read\n"
        for asker in stopped
    )
