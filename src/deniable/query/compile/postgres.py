"""PostgreSQL's spelling.

Its float64 arithmetic fails where a result overflows or vanishes: `reals` says what it is then. A
cast of text fails, too, so dates are checked by the calendar.
"""

from __future__ import annotations

import math
from typing import ClassVar, Final

from sqlglot import exp

from deniable.query.algebra import Domain, Kind

from . import nodes as sql
from .dialect import Dialect
from .nodes import Node, clipped
from .reals import Guarded, Real

# Code points of a text that are read: LOWER, TRIM and regular expressions fail on a text that takes
# a quarter of the gigabyte that PostgreSQL can hold, and one row must not stop a question.
LONGEST_READ: Final = 2**20
# eˣ is a float that is neither subnormal nor infinite for x between these.
_LEAST_LOG: Final = -708.0
_MOST_LOG: Final = 709.0


class Postgres(Dialect):
    """PostgreSQL 13 and later."""

    name: ClassVar = "postgres"
    types: ClassVar = {
        Kind.INT: "BIGINT",
        Kind.FLOAT: "DOUBLE PRECISION",
        Kind.TEXT: "TEXT",
        Kind.BOOL: "BOOLEAN",
        Kind.DATE: "DATE",
        Kind.TIMESTAMP: "TIMESTAMP",
    }
    kinds: ClassVar = {  # as information_schema spells them
        r"smallint|integer|bigint": Kind.INT,
        r"real|double precision|numeric.*": Kind.FLOAT,
        r"text|character.*|uuid|name|USER-DEFINED": Kind.TEXT,
        r"boolean": Kind.BOOL,
        r"date": Kind.DATE,
        r"timestamp.*": Kind.TIMESTAMP,
    }
    wide: ClassVar = "NUMERIC"
    text_functions: ClassVar = {"trim": "BTRIM", "starts_with": "STARTS_WITH"}

    def quotient(self, x: Node, y: Node) -> Node:
        """Whole numbers divide to whole numbers there."""
        return sql.binary(exp.Div, x, y)

    # ---- floats

    def decimal_in_one_way(self, node: Node) -> Node:
        """1.0 and 1.00 are equal, and each is kept as it was written."""
        return sql.function("TRIM_SCALE", node)

    def arithmetic(self, kind: type[exp.Binary], x: Real, y: Real, made: Domain) -> Node:
        """With a guard where a result may overflow or vanish."""
        found = Guarded(kind, x, y, made)
        settle = self.without_nan if found.overflows else lambda node: self.settled(node, x, y)
        node = settle(found.node)
        return self._held(node, made) if found.strays else node

    def _held(self, node: Node, made: Domain) -> Node:
        """Moved into a range, where a guard could have left it."""
        low, high = made.ends
        return clipped(node, self.real(float(low)), self.real(float(high)), nullable=made.nullable)

    def exponential(self, x: Real, made: Domain) -> Node:
        """eˣ, or what it would be beyond the floats."""
        low, high = x.facts.ends
        plain = sql.function("EXP", x.node)
        if low >= _LEAST_LOG and high <= _MOST_LOG:
            return plain
        above = sql.gt(sql.copy(x.node), self.real(_MOST_LOG))
        below = sql.lt(sql.copy(x.node), self.real(_LEAST_LOG))
        found = sql.case((above, self.real(math.inf)), (below, self.real(0.0)), default=plain)
        least, most = made.ends
        return self._held(found, made) if least > 0 or most < math.inf else found

    def power(self, x: Real, y: Real, made: Domain) -> Node:
        """xʸ by its logarithm where that tells that it leaves the floats."""
        size = sql.function("ABS", sql.copy(x.node))
        most = self.real(2.0**500)
        held = clipped(sql.copy(y.node), self.real(-(2.0**500)), most, nullable=False)
        log = sql.times(sql.function("LN", size), held)
        # Of a power that is a fraction almost 0 the logarithm would vanish.
        near = sql.lt(sql.function("ABS", sql.copy(y.node)), self.real(2.0**-500))
        simple = sql.either([sql.eq(sql.copy(x.node), self.real(0.0)), near])
        found = sql.case(
            (simple, sql.function("POWER", sql.copy(x.node), sql.copy(y.node))),
            (sql.gt(log, self.real(_MOST_LOG)), self._endless(x, y)),
            (sql.lt(sql.copy(log), self.real(_LEAST_LOG)), self.real(0.0)),
            default=sql.function("POWER", x.node, y.node),
        )
        settled = self.settled(found, x, y)
        low, high = made.ends
        far = any(2.0**1000 < abs(end) < math.inf for end in (low, high))
        return self._held(settled, made) if far or 0 < low < 2.0**-1000 else settled

    def _endless(self, x: Real, y: Real) -> Node:
        """∞, or -∞ for an odd power of a number below 0."""
        half = sql.binary(exp.Div, sql.function("ABS", sql.copy(y.node)), self.real(2.0))
        even = sql.eq(self.step("FLOOR", half), sql.copy(half))
        above = sql.gt(sql.copy(x.node), self.real(0.0))
        return sql.case(
            (sql.either([above, even]), self.real(math.inf)), default=self.real(-math.inf)
        )

    # ---- text

    def ordered(self, node: Node) -> Node:
        """By bytes, which in UTF-8 is by code points."""
        return exp.Paren(
            this=exp.Collate(this=node, expression=exp.to_identifier("C", quoted=True))
        )

    def ends(self, node: Node, part: Node) -> Node:
        """The last letters are those."""
        return sql.eq(sql.function("RIGHT", node, sql.function("LENGTH", part)), sql.copy(part))

    def contains(self, node: Node, part: Node) -> Node:
        """It has a place in it."""
        return sql.gt(sql.function("STRPOS", node, part), sql.plain(0))

    def matches(self, node: Node, pattern: str) -> Node:
        """POSIX expressions; $ is the very end."""
        return exp.Paren(this=exp.RegexpLike(this=node, expression=sql.text(f"^(?:{pattern})$")))

    # ---- times

    def part(self, part: str, node: Node) -> Node:
        """EXTRACT gives a numeric."""
        unit = exp.Var(this=part.upper())
        return self.to(Kind.INT, exp.Extract(this=unit, expression=node))

    def truncated(self, unit: str, node: Node, kind: Kind) -> Node:
        """Of a timestamp without time zone."""
        moment = self.to(Kind.TIMESTAMP, node)
        return self.to(kind, sql.function("DATE_TRUNC", sql.text(unit), moment))

    def later(self, moment: Node, minutes: Node) -> Node:
        """One minute so many times: exact, as 2⁸ divides its microseconds."""
        minute = sql.typed(sql.text("1 minute"), "INTERVAL")
        return sql.add(moment, sql.times(minute, minutes))

    def date_text(self, node: Node) -> Node:
        """Whatever DateStyle says."""
        return sql.function("TO_CHAR", node, sql.text("YYYY-MM-DD"))

    def parsed(self, node: Node, kind: Kind) -> Node:
        """There is no cast that does not fail: the calendar is looked at first."""
        made = self.to(kind, node)
        if kind in (Kind.INT, Kind.FLOAT):
            return made
        year, month, day = (
            sql.typed(sql.function("SUBSTR", sql.copy(node), *map(sql.plain, place)), "INTEGER")
            for place in ((1, 4), (6, 2), (9, 2))
        )
        return sql.case((_on_calendar(year, month, day), made))

    # ---- reading

    def as_text(self, node: Node) -> Node:
        """Up to a length that every function takes."""
        whole = self.to(Kind.TEXT, node)
        return sql.function("SUBSTR", whole, sql.plain(1), sql.plain(LONGEST_READ))

    def as_float(self, node: Node, spelling: str) -> Node:
        """A numeric can have thousands of digits; what float64 cannot hold fails."""
        if not spelling.startswith("numeric"):
            return self.to(Kind.FLOAT, node)
        least, most = (sql.typed(sql.text(end), "NUMERIC") for end in ("1e-300", "1e300"))
        size = sql.function("ABS", sql.copy(node))
        nan = sql.eq(sql.copy(node), sql.typed(sql.text("NaN"), "NUMERIC"))
        above = sql.gt(sql.copy(node), sql.plain(0))
        endless = sql.case((above, self.real(math.inf)), default=self.real(-math.inf))
        return sql.case(
            (nan, self.constant(None, Kind.FLOAT)),
            (sql.lt(size, least), self.real(0.0)),
            (sql.gt(sql.copy(size), most), endless),
            default=self.to(Kind.FLOAT, node),
        )


def _on_calendar(year: Node, month: Node, day: Node) -> Node:
    def divides(n: int) -> Node:
        return sql.eq(sql.function("MOD", sql.copy(year), sql.plain(n)), sql.plain(0))

    leap = sql.either([sql.both([divides(4), sql.negated(divides(100))]), divides(400)])
    february = sql.case((leap, sql.plain(29)), default=sql.plain(28))
    length = sql.case(
        (sql.eq(sql.copy(month), sql.plain(2)), february),
        (sql.among(sql.copy(month), map(sql.plain, (4, 6, 9, 11))), sql.plain(30)),
        default=sql.plain(31),
    )
    return sql.both(
        [
            sql.gt(year, sql.plain(0)),
            sql.gt(sql.copy(month), sql.plain(0)),
            sql.lt(month, sql.plain(13)),
            sql.gt(sql.copy(day), sql.plain(0)),
            sql.le(day, length),
        ]
    )
