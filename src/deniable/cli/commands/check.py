"""deniable check: what is still to be said about a table before it can be asked."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING

from deniable.cli import options, places, talk
from deniable.errors import MissingBounds, MissingRule, MissingUnit, UnknownKeys

if TYPE_CHECKING:
    from deniable.schema import Column, Schema
    from deniable.session import Table


@dataclass(frozen=True, kw_only=True)
class Warned:
    """Something that a question will be refused for, and what to do about it."""

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
    json: options.Json = False,
) -> None:
    """List what is still to be said about the data.

    Nothing is read but the names and types of columns.
    """
    import deniable as dp

    place = places.find(schema, data=data)
    facts = place.facts()
    if facts.unit is None:
        raise MissingUnit(
            f"nobody said whom to protect in {place.schema}",
            why="privacy is promised to someone; which rows are theirs is not in the data",
            fix=(
                'unit = {column = "user_id", rows = 10}    on top of it',
                'unit = {relation = "add_remove"}          if every person has exactly one row',
            ),
        )
    with place.look(budget=dp.epsilon(1.0)) as session:
        tables = dict(session.tables)
    found = [warned for table in tables.values() for warned in warnings(table, facts)]
    text = "\n".join(map(str, found)) or f"{place.schema}: nothing is missing"
    record = {"schema": str(place.schema), "unit": facts.unit.to_dict()}
    talk.answer(text, record | {"warnings": [asdict(each) for each in found]}, json=json)
    talk.next_step(f"deniable try {places.example(next(iter(tables)))}", "free, on made-up rows")


def warnings(table: Table, facts: Schema) -> Iterator[Warned]:
    """What one table leaves open, a column at a time."""
    if table.public:
        return
    whose = facts.unit.column if facts.unit is not None else None
    for name, column in table.columns.items():
        if name != whose:
            yield from _of_column(name, column, table.name)
    for name in table.unread:
        yield Warned(
            code="DP111",
            target=f"{table.name}.{name}",
            what="its type is not known, so it cannot be used",
            fix=f"deniable set {table.name}.{name} --type text    after adding it to the schema",
        )


def _of_column(name: str, column: Column, table: str) -> Iterator[Warned]:
    target = f"{table}.{name}"
    if column.keys is None and column.low is None:
        if column.type in ("int", "float"):
            yield Warned(
                code=MissingBounds.code,
                target=target,
                what="no bounds, so it can be neither summed nor averaged",
                fix=f"deniable set {target} --bounds LOW HIGH\n"
                f"deniable bounds {target} --spend 0.1",
            )
        elif column.type == "text":
            yield Warned(
                code=UnknownKeys.code,
                target=target,
                what="no public list of values, so groups by it must be chosen privately",
                fix=f"deniable set {target} --keys A,B,C",
            )
    elif column.missing is None:
        yield Warned(
            code=MissingRule.code,
            target=target,
            what="nobody said what NULL and NaN count as",
            fix=f"deniable set {target} --missing drop",
        )
