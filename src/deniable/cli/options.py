"""Options that several commands share."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer
from typer import Argument, Option

from deniable.errors import BadParameter


def _remember(context: typer.Context, *, value: bool) -> bool:
    """Errors leave by another door than answers, and must know which form was wanted."""
    context.meta["json"] = value
    return value


def _typed(sql: str) -> str:
    """A query as typed; other programs read `-` as standard input."""
    if sql == "-":
        raise BadParameter(
            "reading SQL from standard input is not supported",
            fix='deniable ask "$(cat query.sql)"',
        )
    return sql


Json = Annotated[bool, Option("--json", help="Print JSON.", callback=_remember, is_eager=True)]
Sql = Annotated[
    str,
    Argument(help='A query, such as "SELECT COUNT(*) AS n FROM people".', callback=_typed),
]
Target = Annotated[str, Argument(help="A column, such as people.income.")]
SchemaPath = Annotated[
    Path | None,
    Option("--schema", envvar="DENIABLE_SCHEMA", help="The schema [the only one in this folder]."),
]
NewSchemaPath = Annotated[
    Path | None,
    Option(
        "--schema",
        envvar="DENIABLE_SCHEMA",
        help="Where to write the schema [beside the data file].",
    ),
]
DataPath = Annotated[
    list[Path] | None,
    Option(
        "--data",
        envvar="DENIABLE_DATA",
        help="Data file, if not beside the schema (repeat for each table).",
    ),
]
LedgerPath = Annotated[
    str | None,
    Option(
        "--ledger",
        envvar="DENIABLE_LEDGER",
        help="A file or postgresql://... [the .ledger file beside the schema].",
    ),
]
Budget = Annotated[
    str | None,
    Option(
        "--budget", help="The total budget, if there is no ledger yet: 1 (ε) or 3,1e-7 (ε and δ)."
    ),
]
Asker = Annotated[
    str | None,
    Option("--asker", envvar="DENIABLE_ASKER", help="The analyst to act as [the curator]."),
]
Server = Annotated[
    str | None,
    Option(
        "--server",
        envvar="DENIABLE_SERVER",
        help="Query this server, not local files; reads the token from DENIABLE_TOKEN.",
    ),
]
Purpose = Annotated[
    str | None, Option("--purpose", help="The purpose, if the server requires one.")
]
Spend = Annotated[
    str | None, Option("--spend", help="What to spend: 0.25 (ε), 0.25,1e-8, rho=0.1.")
]
Size = Annotated[
    float | None,
    Option("--size", help="Rows per group, if public; used to predict the ± of averages."),
]
Within = Annotated[
    list[str] | None,
    Option("--within", help="Or the ± you want (95 % confidence): 100, or one per column: n=100."),
]
Rows = Annotated[
    Path, Argument(help="people.parquet, or a .csv with column names in its first line.")
]
Csv = Annotated[bool, Option("--csv", help="Print the answer as CSV, with its ±.")]
Quasi = Annotated[
    str | None, Option("--quasi", help="Columns that an attacker may know: age,zip,sex.")
]
Sensitive = Annotated[str | None, Option("--sensitive", help="The column to keep secret.")]
Auxiliary = Annotated[
    Path | None, Option("--auxiliary", help="Records with names, from another source.")
]
On = Annotated[
    str | None,
    Option(
        "--on", help="Columns to join on: zip:prefix=3,age:near=2,born:year,name:spelling=1,sex."
    ),
]
UnitColumn = Annotated[
    str | None,
    Option(
        "--unit",
        help="The column that identifies people [from FILE.toml; else each row].",
    ),
]
Force = Annotated[bool, Option("--force", help="Replace an existing file.")]
