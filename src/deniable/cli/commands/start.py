"""deniable alone: the next sensible step from where you are."""

from __future__ import annotations

from pathlib import Path

from deniable.cli import places, talk
from deniable.errors import DeniableError


def start() -> None:
    """Look at the folder and suggest one command."""
    found = places.schemas(Path())
    if not found:
        data = [*sorted(Path().glob("*.parquet")), *sorted(Path().glob("*.csv"))]
        talk.answer(_beginning(data), None, json=False)
    else:
        talk.answer("\n".join(_going_on(path) for path in found), None, json=False)
    talk.say("all commands: deniable --help", style="dim")


def _beginning(data: list[Path]) -> str:
    if not data:
        return "see it at work:     deniable demo\nwith your own data: deniable init people.parquet"
    header = " --header" if data[0].suffix == ".csv" else ""
    return f"begin: deniable init {data[0]}{header}    reads names and types of columns, no values"


def _going_on(path: Path) -> str:
    place = places.find(path)
    try:
        table = place.names(place.facts())[0]
    except DeniableError as error:
        return str(error)
    count = places.example(table)
    if not place.started:
        return (
            f"{path}: nothing was asked yet\n"
            f"  deniable check                           what is still to be said\n"
            f"  deniable try {count}    free, on made-up rows\n"
            f"  deniable ask {count} --spend 0.1 --budget 1"
        )
    return f"{path}\n  deniable ledger    what is left\n  deniable explain {count}    free"
