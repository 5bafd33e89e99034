"""deniable anonymize: make a table k-anonymous, or measure how anonymous it is."""

from __future__ import annotations

import tomllib
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from typer import Option

from deniable.cli import options, rows, talk
from deniable.errors import BadParameter

if TYPE_CHECKING:
    import pyarrow as pa

    from deniable.anonymity import Anonymized, Deidentified, Ladder

_NAMED = ("digits", "dates", "single")


def anonymize(
    file: options.Rows,
    *,
    quasi: options.Quasi = None,
    k: Annotated[int, Option(help="The smallest number of people (or rows) in a class.")] = 5,
    sensitive: options.Sensitive = None,
    l: Annotated[int | None, Option(help="ℓ-diversity: sensitive values per class.")] = None,
    t: Annotated[float | None, Option(help="t-closeness: distance to the table.")] = None,
    method: Annotated[str, Option(help="optimal or mondrian.")] = "optimal",
    suppression: Annotated[float, Option(help="Maximum fraction of rows to suppress.")] = 0.05,
    hierarchies: Annotated[
        Path | None, Option(help="A TOML file on how to generalise values [guessed from them].")
    ] = None,
    drop: Annotated[str | None, Option(help="More columns to drop.")] = None,
    keep: Annotated[str | None, Option(help="Columns to keep, though they look like names.")] = (
        None
    ),
    out: Annotated[Path | None, Option(help="The file to write: safe.parquet or .csv.")] = None,
    check: Annotated[bool, Option("--check", help="Only measure; exit 1 if it fails.")] = False,
    unit: options.UnitColumn = None,
    force: options.Force = False,
    json: options.Json = False,
) -> None:
    """Make a table k-anonymous, or --check one.

    Reads the rows and reports exact facts, so keep its output confidential. The table it writes
    hides people in groups. It is not differentially private, and promises nothing against someone
    who knows more than the columns in --quasi.
    """
    columns = rows.names(quasi)
    _needs(columns, sensitive, l, t, out, check=check)
    if check:
        _check(file, columns, unit=unit, k=k, sensitive=sensitive, l=l, t=t, json=json)
        return
    assert out is not None
    target = rows.fresh(out, suffixes=(".parquet", ".csv"), force=force)
    ladders = {} if hierarchies is None else _ladders(hierarchies)
    from deniable import anonymity

    used = [*columns, *([sensitive] if sensitive else [])]
    table = rows.read(file)
    person = rows.unit_of(file, unit, table)
    kept = [*used, *rows.names(keep)]
    named = _without_names(table, keep=kept, drop=rows.names(drop), person=person)
    done = anonymity.anonymize(
        named.frame,
        quasi=columns,
        k=k,
        hierarchies=ladders,
        suppression=suppression,
        method=method,
        sensitive=sensitive,
        l=l,
        t=t,
        unit=person,
    )
    extra = [] if person is None or person in kept else [person]
    rows.write(done.frame.drop_columns(extra), target)
    dropped = list(dict.fromkeys([*named.identifiers, *extra]))
    record = _record(done) | {"dropped": dropped, "untouched": named.quasi}
    rows.answer(done, record | {"path": str(target)}, json=json)
    _say_columns(dropped, named.quasi)
    counted = "" if person is None else f", {k} people ({person}) per class"
    on = ", ".join(columns)
    talk.say(f"wrote {target}: {k}-anonymous on {on}{counted}, not differentially private")


def _say_columns(dropped: Sequence[str], untouched: Sequence[str]) -> None:
    if dropped:
        talk.say(f"dropped, because they identify people: {', '.join(dropped)}")
    if untouched:
        talk.say(f"left exact, though others may know it: {', '.join(untouched)}")


def _needs(
    columns: list[str],
    sensitive: str | None,
    l: int | None,
    t: float | None,
    out: Path | None,
    *,
    check: bool,
) -> None:
    """What must be said before a row is read."""
    if not columns:
        raise BadParameter(
            "no quasi-identifiers were given",
            why="the rows are grouped so that each shares its values in these columns with others",
            fix="--quasi age,zip,sex",
        )
    if sensitive is None and (l is not None or t is not None):
        raise BadParameter(
            "ℓ-diversity and t-closeness need to know which column is sensitive",
            fix="--sensitive diagnosis",
        )
    if out is None and not check:
        raise BadParameter(
            "no output file was given",
            fix=("--out safe.parquet", "--check    to measure the table as it is"),
        )


def _without_names(
    table: pa.Table, *, keep: list[str], drop: list[str], person: str | None
) -> Deidentified:
    """The table without the columns that name people, but for the one that counts them."""
    from deniable.anonymity import deidentify

    for name in drop:
        if name in keep:
            raise BadParameter(f"`{name}` cannot be both dropped and used", fix="--drop another")
    also = [name for name in drop if name != person]
    counting = [] if person is None else [person]
    return deidentify(table, keep=list(dict.fromkeys([*keep, *counting])), also=also)


def _check(
    file: Path,
    columns: list[str],
    *,
    unit: str | None,
    k: int,
    sensitive: str | None,
    l: int | None,
    t: float | None,
    json: bool,
) -> None:
    """Measure, and end with 1 if what was asked for does not hold."""
    from deniable import anonymity
    from deniable.anonymity import Demands

    demands = Demands(k=k, l=l, t=t)
    table = rows.read(file)
    person = rows.unit_of(file, unit, table)
    found = anonymity.check(table, quasi=columns, sensitive=sensitive, unit=person)
    holds = found.k >= demands.k
    holds &= l is None or (found.l is not None and found.l >= l)
    holds &= t is None or (found.t is not None and found.t <= t)
    below = found.below(k)
    record = {"holds": holds, "k": found.k, "l": found.l, "t": found.t, "rows": found.rows}
    record |= {"unique": found.unique, "below": below, "classes": found.classes.num_rows}
    spreads = {name: asdict(spread) for name, spread in found.spreads.items()}
    text = f"{found}\n  {below:,} {found.counted} are in classes of fewer than {k}"
    rows.answer(text, record | {"spreads": spreads}, json=json)
    if not holds:
        raise typer.Exit(1)


def _ladders(path: Path) -> dict[str, Ladder]:
    """age = [5, 10, 20] are ranges, zip = "digits" a way by name, a table groups of groups."""
    from deniable import anonymity

    try:
        record = tomllib.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        raise BadParameter(f"{path} cannot be read as TOML") from None
    found: dict[str, Ladder] = {}
    for column, how in record.items():
        match how:
            case dict():
                found[column] = anonymity.tree(how)
            case list():
                found[column] = anonymity.ranges(*how)
            case str() if how in _NAMED:
                found[column] = getattr(anonymity, how)()
            case _:
                raise BadParameter.of(
                    f"{column} in {path.name}",
                    how,
                    must=f"widths of ranges, a table of groups, or one of {', '.join(_NAMED)}",
                    fix='age = [5, 10, 20]    zip = "digits"',
                )
    return found


def _record(done: Anonymized) -> dict[str, object]:
    told = done.report
    names = ("method", "suppressed", "levels", "losses")
    stated = {name: getattr(told, name) for name in names} | {"promised": told.guarantee}
    return asdict(told.measured) | stated
