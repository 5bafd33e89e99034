"""deniable report: a risk report to read before publishing a table."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from typer import Option

from deniable.cli import joining, options, rows, talk
from deniable.errors import BadParameter


def report(
    file: options.Rows,
    *,
    quasi: options.Quasi = None,
    sensitive: options.Sensitive = None,
    auxiliary: options.Auxiliary = None,
    on: options.On = None,
    unit: options.UnitColumn = None,
    k: Annotated[int, Option(help="The k of a k-anonymous table to compare with.")] = 5,
    epsilon: Annotated[float, Option(help="The ε of noisy counts to compare with.")] = 1.0,
    out: Annotated[
        Path | None, Option(help="A page (.html) or a record (.json) [FILE.report.html].")
    ] = None,
    force: options.Force = False,
    json: options.Json = False,
) -> None:
    """Write a confidential report on the risks of publishing a table.

    Attacks the rows as a stranger would, and compares ways to publish them. The report states
    exact facts about people, without noise, so it is as confidential as the table.
    """
    chosen = out or file.with_suffix(".report.html")
    target = rows.fresh(chosen, suffixes=(".html", ".json"), force=force)
    table = rows.read(file)
    from deniable import anonymity, attacks

    person = rows.unit_of(file, unit, table)
    columns = rows.names(quasi) or [
        name for name in anonymity.deidentify(table).quasi if name not in (sensitive, person)
    ]
    if not columns:
        raise BadParameter(
            "no column name looks like a quasi-identifier",
            fix="--quasi age,zip,sex    the columns that an attacker may know",
        )
    known = None if auxiliary is None else rows.read(auxiliary)
    rules = joining.rules(on)
    if known is not None:
        rules = rules or joining.rules(",".join(n for n in known.column_names if n in columns))
        joining.check(rules, known, table)
    found = attacks.report(
        table,
        quasi=columns,
        sensitive=sensitive,
        auxiliary=known,
        on=rules,
        k=k,
        epsilon=epsilon,
        unit=person,
    )
    target.touch(mode=0o600)  # for its owner alone, unless it was there before
    found.write(target)
    talk.answer(found, found.to_dict() | {"path": str(target)}, json=json)
    talk.say(f"wrote {target}, which is as confidential as {file.name}")
