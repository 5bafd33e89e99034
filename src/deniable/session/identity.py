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
from collections.abc import Mapping
from typing import Any, Final

from deniable.errors import BadParameter

from .tables import Found, type_of

# Types that need the schema's word to be read as values, and are equal byte by byte as ids.
_EXACT: Final = re.compile(
    r"(character( varying)?|bpchar|char|varchar)(\(\d+\))?|name|oid|bytea|blob|null|csv|"
    r"double precision|"
    r"(large_)?binary(_view)?|fixed_size_binary\[\d+\]|extension<arrow\.uuid>",
    re.IGNORECASE,
)
_HOLDS: Final = re.compile(r"(?:dictionary<values=|Sparse\[)([^,]+),.*", re.IGNORECASE)
_COLLATED: Final = re.compile(r"(.+?) collate (\w+)", re.IGNORECASE)
EXACT_COLLATION: Final = "exact"
"""How backends spell a collation under which texts are equal letter by letter only."""
_COLLATIONS: Final = frozenset({EXACT_COLLATION, "utf8_binary"})
_DEFAULTS: Final = frozenset({"", "binary", "c", "posix"})


def identifies(spelling: str) -> bool:
    """Whether a column that an engine or a frame says to be of this type can identify people.

    >>> [identifies(kind) for kind in ("BIGINT", "varchar(9)", "string collate UTF8_LCASE")]
    [True, True, False]
    >>> [identifies(kind) for kind in ("citext", "jsonb", "INTERVAL", "STRUCT(a DOUBLE)")]
    [False, False, False, False]
    """
    collated = _COLLATED.fullmatch(spelling)
    if collated is not None and not spelling.endswith(")"):
        return collated[2].lower() in _COLLATIONS and identifies(collated[1])
    held = _HOLDS.fullmatch(spelling)
    if held is not None:
        return identifies(held[1])
    return type_of(spelling) is not None or _EXACT.fullmatch(spelling) is not None


def check(found: Found, column: str) -> None:
    """Raise if values of the column that identifies people may be equal and yet differ."""
    if column in found.doubtful:
        raise refused(column, found.doubtful[column], table=found.name)
    if found.kind == "ibis":
        _check_remote(found, column)
    elif found.types.get(column) == "text" and found.kind in ("duckdb", "duckdb_relation"):
        _check_collation(found, column)


def doubtful(spellings: Mapping[str, str]) -> dict[str, str]:
    """The columns that cannot identify people, with their types."""
    return {name: kind for name, kind in spellings.items() if not identifies(kind)}


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


def _check_collation(found: Found, column: str) -> None:
    """Text of DuckDB: neither the connection nor the column may have a collation."""
    source: Any = found.source
    asked = "current_setting('default_collation')"
    if found.kind == "duckdb":
        ((default,),) = source.sql(f"SELECT {asked}").fetchall()
        place = ".".join(map(_quoted, (*found.within, found.inner)))
        source = source.cursor().sql(f"FROM {place}")  # a question that is not run
    else:  # a relation is asked only by an expression over it, here over no rows
        ((default,),) = source.limit(0).aggregate(f"{asked} || COALESCE(MAX(''), '')").fetchall()
    if default.lower() not in _DEFAULTS:
        kind = f"VARCHAR under the default collation {default}"
        raise refused(column, kind, table=found.name)
    if not _mixes(source, column):
        raise refused(column, "VARCHAR with a collation", table=found.name)


def _mixes(relation: Any, column: str) -> bool:
    """DuckDB says of no column that it has a collation, but compares no two that differ in it."""
    import duckdb

    if str(relation.types[relation.columns.index(column)]) != "VARCHAR":
        return True
    name = _quoted(column)
    try:
        relation.filter(f'({name} COLLATE "C") = {name}')
    except duckdb.BinderException:
        return False
    return True


def _check_remote(found: Found, column: str) -> None:
    """Ibis says of no column that it has a collation: the engine itself must rule it out."""
    expression: Any = found.source.expression  # type: ignore[attr-defined]
    engine = expression.get_backend()
    match engine.name:
        case "polars" | "datafusion":  # they have no collations
            return
        case "sqlite":  # in a column of numbers, text is missing
            if found.types[column] in ("int", "float", "bool"):
                return
            exact = _exact_in_sqlite(engine, expression, column)
        case _ if not expression.schema()[column].is_string():
            return
        case "duckdb":
            engine._run_pre_execute_hooks(expression)  # noqa: SLF001  (tables in memory)
            ((default,),) = engine.con.sql("SELECT current_setting('default_collation')").fetchall()
            relation = engine.con.sql(engine.compile(expression))  # a question that is not run
            exact = default.lower() in _DEFAULTS and _mixes(relation, column)
        case _:
            exact = False
    if not exact:
        kind = f"text from {engine.name}, which may have a collation"
        raise refused(column, kind, table=found.name)


def _exact_in_sqlite(engine: Any, expression: Any, column: str) -> bool:
    """By the program that SQLite makes of a comparison and does not run: it names the collation.

    The fifth field of an instruction is P4 (https://www.sqlite.org/opcode.html); numbers have none.
    """
    engine._run_pre_execute_hooks(expression)  # noqa: SLF001  (tables in memory)
    name, text = _quoted(column), engine.compile(expression)
    cursor = engine.con.cursor()
    cursor.row_factory = None
    program = cursor.execute(f"EXPLAIN SELECT {name} = {name} FROM ({text})").fetchall()  # noqa: S608
    compared = [step[5] for step in program if step[1] in ("Eq", "Ne")]
    return bool(compared) and all(str(by or "BINARY").startswith("BINARY") for by in compared)


def _quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'
