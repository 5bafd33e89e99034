"""Spark SQL's spelling, for sessions with the settings of `backends.spark`."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from sqlglot import exp

from deniable.query.algebra import Domain, Kind
from deniable.query.algebra.meaning import like_rule

from . import nodes as sql
from .dialect import Dialect
from .nodes import Node

if TYPE_CHECKING:
    from .reals import Real


class Spark(Dialect):
    """Spark 4 and later."""

    name: ClassVar = "spark"
    types: ClassVar = {
        Kind.INT: "BIGINT",
        Kind.FLOAT: "DOUBLE",
        Kind.TEXT: "STRING",
        Kind.BOOL: "BOOLEAN",
        Kind.DATE: "DATE",
        Kind.TIMESTAMP: "TIMESTAMP_NTZ",
    }
    kinds: ClassVar = {  # as a data frame spells them
        r"tinyint|smallint|int|bigint": Kind.INT,
        r"float|double|decimal\(.*\)": Kind.FLOAT,
        r"string|varchar\(.*\)|char\(.*\)": Kind.TEXT,
        r"boolean": Kind.BOOL,
        r"date": Kind.DATE,
        r"timestamp|timestamp_ntz|timestamp_ltz": Kind.TIMESTAMP,
    }
    # A sum of decimal(28) is a decimal(38): ten more digits, so 10¹⁰ rows of any kind, and 10¹⁹ of
    # numbers below 2⁶³, cannot overflow it.
    wide: ClassVar = "DECIMAL(28, 0)"
    text_functions: ClassVar = {
        "trim": "BTRIM",
        "starts_with": "STARTSWITH",
        "ends_with": "ENDSWITH",
        "contains": "CONTAINS",
    }

    says_materialized: ClassVar = False
    binary: ClassVar = "UTF8_BINARY"

    def summed(self, node: Node) -> Node:
        """Sums of 64-bit numbers would wrap around."""
        return sql.function("SUM", self.widened(node))

    def step(self, called: str, node: Node) -> Node:
        """They give whole numbers of 64 bits there; from 2⁵³ on every float is whole already."""
        small = sql.lt(sql.function("ABS", sql.copy(node)), self.real(2.0**53))
        whole = self.to(Kind.FLOAT, sql.function(called, node))
        return sql.case((small, whole), default=sql.copy(node))

    def power(self, x: Real, y: Real, made: Domain) -> Node:
        """Java takes 1 to an infinite power for NaN."""
        one = self.real(1.0)
        plain = super().power(x, y, made)
        return sql.case((sql.eq(sql.copy(x.node), one), sql.copy(one)), default=plain)

    def matches(self, node: Node, pattern: str) -> Node:
        """Java's expressions, on the whole text (its $ would allow a line end after it)."""
        return sql.function("RLIKE", node, sql.text(rf"\A(?:{pattern})\z"))

    def like(self, node: Node, pattern: str) -> Node:
        """Its own goes through all ways to share out a text between two %."""
        words = pattern.strip("%")
        start, end = pattern.startswith("%"), pattern.endswith("%")
        if not words or set(words) & {"%", "_"}:
            return self.matches(node, f"(?s:{like_rule(pattern, quote=_quoted)})")
        if start and end:
            return self.contains(node, sql.text(words))
        if start or end:
            return (self.ends if start else self.starts)(node, sql.text(words))
        return sql.eq(node, sql.text(words))

    def part(self, part: str, node: Node) -> Node:
        """Sunday is 1 there."""
        found = super().part(part, node)
        return sql.subtract(found, self.whole(1)) if part == "dow" else found

    def days(self, start: Node, end: Node) -> Node:
        """The end comes first there."""
        return self.to(Kind.INT, sql.function("DATEDIFF", end, start))

    def shifted(self, day: Node, days: Node) -> Node:
        """Dates take whole numbers of 32 bits."""
        return sql.function("DATE_ADD", day, sql.typed(days, "INT"))

    def later(self, moment: Node, minutes: Node) -> Node:
        """Parts of an interval have 32 bits: days, hours, minutes, seconds."""
        day = self.whole(24 * 60)
        days = sql.typed(sql.binary(exp.IntDiv, sql.copy(minutes), day), "INT")
        rest = sql.typed(sql.binary(exp.Mod, minutes, sql.copy(day)), "INT")
        parts = (days, sql.plain(0), rest, sql.plain(0))
        return sql.add(moment, sql.function("MAKE_DT_INTERVAL", *parts))

    def as_text(self, node: Node) -> Node:
        """Files may hold bytes that are not UTF-8: Python would read different ones as equal."""
        return sql.function("MAKE_VALID_UTF8", self.to(Kind.TEXT, node))


def _quoted(letter: str) -> str:
    """A letter that stands for itself in Java's expressions."""
    return rf"\x{{{ord(letter):x}}}"
