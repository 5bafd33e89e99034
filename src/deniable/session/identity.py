"""Which columns can identify people: those whose values are equal in one way only.

One rule holds wherever ids meet, when they are grouped, joined or hashed: two ids are one person
if and only if their values are equal. Whole numbers, floats, decimals, dates and moments are equal
as numbers (0 is -0, 1.0 is 1.00; NaN is nobody); text is equal letter by letter. A column whose
engine holds more than that equal ('Bob' and 'BOB' under a collation or as citext, 1 and 1.0 as
jsonb, '1 day' and '24 hours' as intervals) would make several people of one, and each of them would
get the whole of a person's bound. Such a column is refused, by its type alone.
"""

from __future__ import annotations

import re
from typing import Final

from deniable.errors import BadParameter

from .tables import TableOutline, type_of

# Types that need the schema's word to be read as values, and are equal byte by byte as ids.
_EXACT: Final = re.compile(
    r"(character( varying)?|bpchar|char|varchar)(\(\d+\))?|name|oid|bytea|blob|null|csv|"
    r"double precision|"
    r"(large_)?binary(_view)?|fixed_size_binary\[\d+\]|extension<arrow\.uuid>",
    re.IGNORECASE,
)
_HOLDS: Final = re.compile(r"(?:dictionary<values=|Sparse\[)([^,]+),.*", re.IGNORECASE)
COLLATED: Final = re.compile(r"(.+?) collate (\w+)", re.IGNORECASE)
"""A type with the collation that it names."""
EXACT_COLLATION: Final = "exact"
"""How backends spell a collation under which texts are equal letter by letter only."""
_COLLATIONS: Final = frozenset({EXACT_COLLATION, "utf8_binary"})


def identifies(spelling: str) -> bool:
    """Whether a column that an engine or a frame says to be of this type can identify people.

    >>> [identifies(kind) for kind in ("BIGINT", "varchar(9)", "string collate UTF8_LCASE")]
    [True, True, False]
    >>> [identifies(kind) for kind in ("citext", "jsonb", "INTERVAL", "STRUCT(a DOUBLE)")]
    [False, False, False, False]
    """
    collated = COLLATED.fullmatch(spelling)
    if collated is not None:
        return collated[2].lower() in _COLLATIONS and identifies(collated[1])
    held = _HOLDS.fullmatch(spelling)
    if held is not None:
        return identifies(held[1])
    return type_of(spelling) is not None or _EXACT.fullmatch(spelling) is not None


def check(found: TableOutline, column: str) -> None:
    """Raise if values of the column that identifies people may be equal and yet differ."""
    spelled = found.spelled.get(column)
    if spelled is not None and not identifies(spelled):
        raise refused(column, spelled, table=found.name)
    spelling = found.source.doubt(column, found.types.get(column))
    if spelling:
        raise refused(column, spelling, table=found.name)


def refused(column: str, spelling: str, *, table: str) -> BadParameter:
    """Why a column cannot be the person, and what to do."""
    text = "text" if "collate" in spelling.lower() or "citext" in spelling else "VARCHAR"
    exact = f'CAST(lower("{column}") AS {text})'
    return BadParameter(
        f"`{column}` of `{table}` cannot identify people: its type is {spelling}",
        why="values of this type can be equal without being the same, "
        "so that one person could count as several",
        fix=(
            f"a view with an exact id, such as {exact} AS person, and its own collation removed",
            "another column that identifies people by a number, by bytes or by plain text",
        ),
    )
