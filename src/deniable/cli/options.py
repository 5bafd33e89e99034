"""What several commands can be told, each said once."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer


def _remember(context: typer.Context, value: bool) -> bool:  # noqa: FBT001  (Typer calls it)
    """Errors leave by another door than answers, and must know which form was wanted."""
    context.meta["json"] = value
    return value


Json = Annotated[
    bool,
    typer.Option("--json", help="Answer in JSON.", callback=_remember, is_eager=True),
]
Sql = Annotated[str, typer.Argument(help='A question, as "SELECT COUNT(*) AS n FROM people".')]
Target = Annotated[str, typer.Argument(help="people.income")]
SchemaPath = Annotated[
    Path | None,
    typer.Option(
        "--schema", envvar="DENIABLE_SCHEMA", help="Public facts [the only schema in this folder]."
    ),
]
DataPath = Annotated[
    list[Path] | None,
    typer.Option(
        "--data",
        envvar="DENIABLE_DATA",
        help="A data file, if it is not beside the schema; once a table.",
    ),
]
LedgerPath = Annotated[
    str | None,
    typer.Option(
        "--ledger",
        envvar="DENIABLE_LEDGER",
        help="A file or postgresql://... [beside the schema, ending in .ledger].",
    ),
]
Budget = Annotated[
    str | None,
    typer.Option(
        "--budget", help="The ceiling for all answers ever, if no ledger was started: 1 or 3,1e-7."
    ),
]
Asker = Annotated[
    str | None,
    typer.Option(
        "--asker", envvar="DENIABLE_ASKER", help="Whose share pays [the curator's budget]."
    ),
]
Spend = Annotated[
    str | None, typer.Option("--spend", help="What you pay: 0.25 (ε), 0.25,1e-8, rho=0.1.")
]
Size = Annotated[
    float | None,
    typer.Option("--size", help="About how many rows a group has, if public: a ± of averages."),
]
Within = Annotated[
    list[str] | None,
    typer.Option("--within", help="Or the ± you want (95 %): 100, or n=100, once a column."),
]
Rows = Annotated[
    Path,
    typer.Argument(help="people.parquet, or a .csv whose first line names its columns."),
]
Quasi = Annotated[
    str | None, typer.Option("--quasi", help="Columns that somebody may know: age,zip,sex.")
]
Sensitive = Annotated[
    str | None, typer.Option("--sensitive", help="The column that must not be guessed.")
]
Auxiliary = Annotated[
    Path | None, typer.Option("--auxiliary", help="Records with names, from elsewhere.")
]
On = Annotated[
    str | None,
    typer.Option(
        "--on",
        help="Columns to join on: zip:prefix=3,age:near=2,born:year,name:spelling=1,sex.",
    ),
]
Force = Annotated[bool, typer.Option("--force", help="Replace an existing file.")]
