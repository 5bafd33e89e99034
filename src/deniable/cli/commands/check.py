"""deniable check: the facts the schema is still missing."""

from __future__ import annotations

import shlex
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING

from deniable.cli import amounts, options, places, talk
from deniable.errors import MissingBounds, MissingRule, MissingUnit, UnknownKeys

if TYPE_CHECKING:
    from deniable.schema import Column, Schema
    from deniable.session import Table


@dataclass(frozen=True, kw_only=True)
class Warned:
    """A missing fact for which queries would be refused, and how to add it."""

    code: str
    target: str
    what: str
    fix: str

    def __str__(self) -> str:
        first, *rest = self.fix.split("\n")
        lines = [f"warning[{self.code}]: {self.target}: {self.what}", f"  fix:  {first}"]
        return "\n".join([*lines, *(f"{'':8}{line}" for line in rest)])


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
            why="privacy protects someone, and the data do not say which rows are theirs",
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
    """The facts missing for one table, column by column, with commands that add them."""
    if table.public:
        return
    whose = facts.unit.column if facts.unit is not None else None
    for name, column in table.columns.items():
        if name != whose:
            yield from _of_column(name, column, table, place)
    for name in [each for each in table.unread if each not in table.refused]:
        yield Warned(
            code="DP111",
            target=f"{table.name}.{name}",
            what="unknown type, so it cannot be used",
            fix=_set(table.name, name, "--type text", place, data=True),
        )


def _of_column(name: str, column: Column, table: Table, place: places.Place) -> Iterator[Warned]:
    target = f"{table.name}.{name}"
    if column.keys is None and column.low is None:
        if column.type in ("int", "float"):
            yield Warned(
                code=MissingBounds.code,
                target=target,
                what="no bounds, so it cannot be summed or averaged; replace 0 and 100 by "
                "plausible bounds, without looking at the data",
                fix=f"{_set(table.name, name, '--bounds 0 100', place)}\n"
                f"deniable bounds {shlex.quote(target)} --spend {_price(place)}"
                f"{place.options(table=table.name, data=True, ledger=True)}",
            )
        elif column.type == "text":
            yield _of_text(name, table, place)
    elif column.missing is None:
        yield Warned(
            code=MissingRule.code,
            target=target,
            what="no rule for NULL and NaN",
            fix=_set(table.name, name, "--missing drop", place),
        )


def _of_text(name: str, table: Table, place: places.Place) -> Warned:
    """Text without a list of keys; in a CSV it may be a number without bounds."""
    keys = _set(table.name, name, "--keys A,B,C", place)
    bounds = _set(table.name, name, "--bounds 0 100", place)
    return Warned(
        code=UnknownKeys.code,
        target=f"{table.name}.{name}",
        what="no public list of values, so its groups must be selected privately"
        + ("; if it is a number, state its bounds" if not table.source.typed else ""),
        fix=f"{keys}\n{bounds}" if not table.source.typed else keys,
    )


def _set(table: str, name: str, fact: str, place: places.Place, *, data: bool = False) -> str:
    target = shlex.quote(f"{table}.{name}")
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
