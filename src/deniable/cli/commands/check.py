"""deniable check: the facts the schema is still missing."""

from __future__ import annotations

import shlex
from collections.abc import Iterator
from dataclasses import asdict, dataclass, replace
from typing import TYPE_CHECKING

from deniable.cli import amounts, options, places, talk
from deniable.errors import BadParameter, MissingBounds, MissingUnit

if TYPE_CHECKING:
    from deniable.schema import Schema
    from deniable.session import Table


@dataclass(frozen=True, kw_only=True)
class Warned:
    """A missing fact for which queries would be refused, and how to add it."""

    code: str
    target: str
    what: str
    fix: str

    def __str__(self) -> str:
        line = f"warning[{self.code}]: {self.target}: {self.what}"
        commands = self.fix.split("\n") if self.fix else []
        first, *rest = ["one of these", *commands] if len(commands) > 1 else [*commands, ""]
        fixes = [f"  fix:  {first}", *(f"{'':8}{each}" for each in rest if each)]
        return "\n".join([line, *(fixes if first else ())])


def check(
    *,
    schema: options.SchemaPath = None,
    data: options.DataPath = None,
    ledger: options.LedgerPath = None,
    json: options.Json = False,
) -> None:
    """List the facts the schema is still missing.

    Reads only the names and types of columns.
    """
    import deniable as dp

    place = places.find(schema, data=data, ledger=ledger)
    facts = place.facts()
    if facts.unit is None:
        raise MissingUnit(
            f"no privacy unit is given in {place.schema}",
            why="the data do not show which rows belong to the same person",
            fix=(
                'unit = {column = "user_id", rows = 10}    at the top of the file',
                'unit = {relation = "add_remove"}          if every person has exactly one row',
            ),
        )
    with place.look(budget=dp.epsilon(1.0)) as session:
        tables = dict(session.tables)
    found = [warned for table in tables.values() for warned in warnings(table, facts, place)]
    text = "\n".join(map(str, found)) or f"{place.schema}: nothing is missing"
    record = {"schema": str(place.schema), "unit": facts.unit.to_dict()}
    talk.answer(text, record | {"warnings": [asdict(each) for each in found]}, json=json)
    example = places.example(next(iter(tables)))
    talk.next_step(f"deniable try {example}{place.options()}", "free, on made-up rows")


def warnings(table: Table, facts: Schema, place: places.Place) -> Iterator[Warned]:
    """The facts missing or dangerous in one table, with commands that mend them."""
    from deniable.schema import Schema
    from deniable.schema.lint import lint

    stated = facts.table(table.name) if table.name in (facts.tables or [table.name]) else Schema()
    seen = replace(stated, columns=table.columns, unit=None, public=table.public, consent=None)
    for each in lint(seen, unit=facts.unit, typed=table.source.typed):
        commands = [
            _set(table.name, each.column, f.command, place) for f in each.fixes if f.command
        ]
        if each.code == MissingBounds.code and not each.danger:
            target = shlex.quote(f"{table.name}.{each.column}")
            where = place.options(table=table.name, data=True, ledger=True)
            commands.append(f"deniable bounds {target} --spend {_price(place)}{where}")
        yield Warned(
            code=each.code,
            target=f"{table.name}.{each.column}".rstrip("."),
            what=each.what,
            fix="\n".join(commands),
        )
    if table.public:
        return
    for name in [each for each in table.unread if each not in table.refused]:
        yield Warned(
            code=BadParameter.code,
            target=f"{table.name}.{name}",
            what="unknown type, so it cannot be used",
            fix=_set(table.name, name, "--type text", place, data=True),
        )


def _set(table: str, name: str, fact: str, place: places.Place, *, data: bool = False) -> str:
    target = shlex.quote(f"{table}.{name}".rstrip("."))
    return f"deniable set {target} {fact}{place.options(table=table, data=data)}"


def _price(place: places.Place) -> str:
    """A tenth of the budget; if there is none yet, an amount and a budget to start with."""
    from deniable.ledger import open_ledger

    if not place.started:
        return "0.1 --budget 1"
    if "://" in place.ledger:
        return "0.1"
    with open_ledger(place.ledger_name()) as kept:
        return amounts.typed(kept.budget.share(0.1))
