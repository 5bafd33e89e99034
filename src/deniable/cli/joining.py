"""How two files are joined, as one types it: zip,age:near=2,born:year,name:spelling=1."""

from __future__ import annotations

from typing import TYPE_CHECKING

from deniable.errors import BadParameter, UnknownName

from .rows import names

if TYPE_CHECKING:
    import pyarrow as pa

    from deniable.attacks.matching import Rule


def rules(text: str | None) -> list[Rule]:
    """A rule for each column.

    >>> [type(rule).__name__ for rule in rules("zip,age:near=2,born:month")]
    ['Rule', 'Near', 'Month']
    """
    return [_rule(part) for part in names(text)]


def check(joined: list[Rule], auxiliary: pa.Table, released: pa.Table) -> None:
    """Text never equals a number: a join on both would find nobody, which proves nothing."""
    from deniable.attacks.matching import Near, Spelling

    for rule in joined:
        for table, column in ((auxiliary, rule.column), (released, rule.released)):
            if column not in table.column_names:
                raise UnknownName.of("column", column, known=table.column_names)
        if isinstance(rule, Near | Spelling):
            continue
        kinds = {_is_text(table, rule.column) for table in (auxiliary, released)}
        if len(kinds) > 1:
            raise BadParameter(
                f"`{rule.column}` is text in one file and not in the other",
                why="no row would match, whoever is in both",
                fix="store the column alike in both files",
            )


def _rule(part: str) -> Rule:
    from deniable.attacks import matching

    column, colon, how = part.partition(":")
    name, _, amount = how.partition("=")
    wrong = BadParameter.of(
        "--on",
        part,
        must="a column, or one with near=2, prefix=3, spelling=1, month or year",
        fix="--on zip:prefix=3,age:near=2,sex",
    )
    try:
        match name if column else None, amount:
            case "", "" if not colon:
                return matching.rule_of(column)
            case "near", _:
                return matching.near(column, within=float(amount))
            case "prefix", _:
                return matching.prefix(column, length=int(amount))
            case "spelling", _:
                return matching.spelling(column, edits=int(amount or 2))
            case "month", "":
                return matching.month(column)
            case "year", "":
                return matching.year(column)
    except ValueError:
        raise wrong from None
    raise wrong


def _is_text(table: pa.Table, column: str) -> bool:
    import pyarrow as pa

    kind = table.schema.field(column).type
    return bool(pa.types.is_string(kind) or pa.types.is_large_string(kind))
