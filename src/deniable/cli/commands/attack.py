"""deniable attack: what somebody learns from rows without names."""

from __future__ import annotations

from dataclasses import asdict
from typing import Annotated

import typer
from typer import Option

from deniable.cli import joining, options, rows
from deniable.errors import BadParameter

attack = typer.Typer(
    rich_markup_mode=None,
    no_args_is_help=True,
    help="Measure how easily people in a table can be re-identified.\n\n"
    "Reads the rows and answers exactly, without noise: keep the output confidential.",
)


@attack.command("uniqueness")
def uniqueness(
    file: options.Rows,
    *,
    columns: Annotated[str | None, Option(help="Only these: age,zip,sex [all].")] = None,
    largest: Annotated[int, Option(help="The most columns to combine.")] = 3,
    unit: options.UnitColumn = None,
    json: options.Json = False,
) -> None:
    """Which columns single people out?

    Keep the exact answer confidential.
    """
    from deniable.attacks import uniqueness as attacked

    table = rows.read(file)
    person = rows.unit_of(file, unit, table)
    found = attacked(table, columns=rows.names(columns) or None, largest=largest, unit=person)
    record = {
        "people": found.people,
        "columns": found.columns,
        "largest": found.largest,
        "singled_out": int((found.needed > 0).sum()),
        "combinations": [asdict(each) for each in found.combinations],
    }
    rows.answer(found, record, json=json)
    rows.counted(person)


@attack.command("selectivity")
def selectivity(
    file: options.Rows,
    *,
    known: Annotated[str | None, Option(help="What the attacker knows: age,sex.")] = None,
    unit: options.UnitColumn = None,
    json: options.Json = False,
) -> None:
    """How identifying is each column?

    Keep the exact answer confidential. The column listed first would help an attacker who
    knows --known the most.
    """
    from deniable.attacks import selectivity as attacked

    table = rows.read(file)
    found = attacked(table, known=rows.names(known), unit=rows.unit_of(file, unit, table))
    rows.answer(found, asdict(found), json=json)


@attack.command("linkage")
def linkage(
    file: options.Rows,
    *,
    auxiliary: options.Auxiliary = None,
    on: options.On = None,
    unit: options.UnitColumn = None,
    json: options.Json = False,
) -> None:
    """Who can be re-identified?

    Keep the exact answer confidential. Joins records with names, from another source, to rows
    without names.
    """
    from deniable.attacks import linkage as attacked

    rules = joining.rules(on)
    if auxiliary is None or not rules:
        raise BadParameter(
            "a linkage attack needs records from another source and columns to join on",
            fix="--auxiliary voters.csv --on zip,sex,age:near=1",
        )
    known, released = rows.read(auxiliary), rows.read(file)
    joining.check(rules, known, released)
    found = attacked(known, released, on=rules, unit=rows.unit_of(file, unit, released))
    record = {
        "on": rows.names(on),
        "people": found.candidates.size,
        "rows": found.rows,
        "reidentified": found.reidentified,
        "narrowed_to": {k: found.narrowed_to(k) for k in (1, 2, 5, 10)},
        "not_found": int((found.candidates == 0).sum()),
    }
    rows.answer(found, record, json=json)


@attack.command("small-groups")
def small_groups(
    file: options.Rows,
    *,
    by: Annotated[str, Option(help="The columns of a published table: city,sex.")],
    value: Annotated[str | None, Option(help="The column it averages: income.")] = None,
    below: Annotated[int, Option(help="Smaller groups count as small.")] = 5,
    unit: options.UnitColumn = None,
    json: options.Json = False,
) -> None:
    """Which groups are too small?

    Keep the exact answer confidential. An average over one person is that person's value;
    --value shows what an attacker would read.
    """
    from deniable.attacks import small_groups as attacked

    table = rows.read(file)
    person = rows.unit_of(file, unit, table)
    found = attacked(table, by=rows.names(by), value=value, below=below, unit=person)
    rows.answer(found, found.to_dict() | {"alone": found.alone}, json=json)
    rows.counted(person)
