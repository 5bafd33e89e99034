"""DuckDB's spelling."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import ClassVar, Final

from sqlglot import exp

from deniable.query.algebra import Kind, Scalar

from . import nodes as sql
from .dialect import CALENDAR, Dialect
from .nodes import Node

# The types of fewer than eight bytes, the shortest first.
_NARROW: Final = {
    "TINYINT": (-(2**7), 2**7 - 1),
    "UTINYINT": (0, 2**8 - 1),
    "SMALLINT": (-(2**15), 2**15 - 1),
    "USMALLINT": (0, 2**16 - 1),
    "INTEGER": (-(2**31), 2**31 - 1),
    "UINTEGER": (0, 2**32 - 1),
}
_DECIMAL: Final = re.compile(r"DECIMAL\((\d+),(\d+)\)")
# Characters of an ENUM: it is part of the statement, and DuckDB parses that twice.
_LONGEST_ENUM: Final = 20_000


class DuckDB(Dialect):
    """DuckDB: the embedded default."""

    name: ClassVar = "duckdb"
    types: ClassVar = {
        Kind.INT: "BIGINT",
        Kind.FLOAT: "DOUBLE",
        Kind.TEXT: "VARCHAR",
        Kind.BOOL: "BOOLEAN",
        Kind.DATE: "DATE",
        Kind.TIMESTAMP: "TIMESTAMP",
    }
    kinds: ClassVar = {
        r"U?(TINYINT|SMALLINT|INTEGER|BIGINT|HUGEINT)": Kind.INT,
        r"FLOAT|DOUBLE|DECIMAL\(.*\)": Kind.FLOAT,
        r"VARCHAR|ENUM\(.*\)|UUID": Kind.TEXT,
        r"BOOLEAN": Kind.BOOL,
        r"DATE": Kind.DATE,
        r"TIMESTAMP.*": Kind.TIMESTAMP,
    }
    wide: ClassVar = "HUGEINT"
    joins_weights: ClassVar = True
    text_functions: ClassVar = {
        "trim": "TRIM",
        "starts_with": "STARTS_WITH",
        "ends_with": "ENDS_WITH",
        "contains": "CONTAINS",
    }

    def narrow(self, node: Node, low: int, high: int) -> Node:
        """CAST keeps what DuckDB knows about a column, so sums need fewer bytes as well."""
        kind = _shortest(low, high)
        return node if kind is None else sql.typed(node, kind)

    def coded(self, node: Node, values: Sequence[Scalar]) -> Node:
        """Text as an ENUM: up to 255 values take one byte per row, where text takes sixteen.

        By TRY_CAST, as any value may come: one that is not on the list is missing.
        """
        texts = [each for each in values if isinstance(each, str)]
        numbers = [each for each in values if type(each) is int]
        kind = None
        if len(texts) == len(values):
            listed = ", ".join(self.write(sql.text(each)) for each in dict.fromkeys(texts))
            kind = f"ENUM({listed})" if len(listed) <= _LONGEST_ENUM else None
        elif len(numbers) == len(values):
            kind = _shortest(min(numbers), max(numbers))
        return node if kind is None else sql.tried(node, kind)

    def matches(self, node: Node, pattern: str) -> Node:
        """RE2, on the whole text."""
        return sql.function("REGEXP_FULL_MATCH", node, sql.text(pattern))

    def later(self, moment: Node, minutes: Node) -> Node:
        """An interval of so many minutes."""
        return sql.add(moment, sql.function("TO_MINUTES", minutes))

    def moment_text(self, node: Node) -> Node:
        """DuckDB cannot write the ends of its own calendar."""
        low, high = (self.constant(end, Kind.TIMESTAMP) for end in CALENDAR)
        return self.to(Kind.TEXT, _within(node, low, high))

    def possible(self, node: Node, spelling: str) -> Node:
        """Times of day, which may hold any number, and cannot be written if it is too large."""
        if spelling not in ("TIME", "TIME_NS"):
            return node
        low, high = (sql.typed(sql.text(end), spelling) for end in ("00:00:00", "24:00:00"))
        return _within(node, low, high)

    def stored_without_nan(self, node: Node, spelling: str) -> Node:
        """Not by comparing: see `stored_nan`."""
        if spelling.startswith("DECIMAL"):
            return _within_digits(node, spelling)
        return sql.case((sql.negated(self.stored_nan(node)), sql.copy(node)))

    def as_float(self, node: Node, spelling: str) -> Node:
        """Decimals of up to 18 digits are 64-bit numbers, of which every one can be cast."""
        digits = _DECIMAL.fullmatch(spelling)
        wide = digits is not None and int(digits[1]) > 18
        return self.to(Kind.FLOAT, _within_digits(node, spelling) if wide else node)

    def stored_nan(self, node: Node) -> Node:
        """Statistics of Parquet leave NaN out, and the optimizer believes them.

        Where all else is below 1.5, x < 2 is taken to hold of all rows: NaN would pass for a
        number, and fail where it is cast.
        """
        return sql.function("ISNAN", node)

    def as_moment(self, node: Node, spelling: str) -> Node:
        """Other units reach farther than microseconds: their casts fail there."""
        if spelling == "TIMESTAMP":
            return node
        # Nanoseconds with a zone have no cast of their own.
        zoned = sql.tried(node, "TIMESTAMPTZ") if spelling == "TIMESTAMPTZ_NS" else node
        return sql.tried(zoned, "TIMESTAMP")

    def narrowed(self, node: Node, spelling: str) -> Node:
        """TRY_CAST is total."""
        wide = spelling in ("UBIGINT", "HUGEINT", "UHUGEINT")
        return sql.tried(node, "BIGINT") if wide else self.to(Kind.INT, node)


def _within_digits(node: Node, spelling: str) -> Node:
    """A decimal of as many digits as its type has; missing if more are stored, as may be."""
    digits = _DECIMAL.fullmatch(spelling)
    assert digits is not None
    most = "9" * (int(digits[1]) - int(digits[2])) + "." + "9" * int(digits[2])
    low, high = (sql.typed(sql.text(sign + most), spelling) for sign in ("-", ""))
    return _within(node, low, high)


def _within(node: Node, low: Node, high: Node) -> Node:
    """The value if it is from low to high; clipped inside the CASE as well.

    DuckDB takes casts from its own types to text and to float for ones that cannot fail, and does
    them once for each value of a dictionary, also for those that the condition leaves out. If one
    does fail, not even TRY helps: the database is closed.
    """
    held = sql.function("GREATEST", sql.function("LEAST", sql.copy(node), high), low)
    inside = exp.Between(this=node, low=sql.copy(low), high=sql.copy(high))
    return sql.case((inside, held))


def _shortest(low: int, high: int) -> str | None:
    """A type of fewer than eight bytes that holds both ends."""
    return next((k for k, (least, most) in _NARROW.items() if least <= low and high <= most), None)
