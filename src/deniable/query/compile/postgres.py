"""PostgreSQL's spelling.

Its float64 arithmetic fails where results overflow or vanish. Factors below 2⁻⁵⁰⁰ therefore count
as 0 here, and those beyond 2⁵⁰⁰ in columns without bounds as infinite: products and quotients of
the rest stay within the floats. A cast of text fails, too, so dates are checked by the calendar.
"""

from __future__ import annotations

import math
import re
from typing import ClassVar, Final

from sqlglot import exp

from deniable.query.algebra import Domain, Kind

from . import nodes as sql
from .dialect import Dialect
from .nodes import Node

_STORED: Final = (
    (r"smallint|integer|bigint", Kind.INT),
    (r"real|double precision|numeric.*", Kind.FLOAT),
    (r"text|character varying.*|character.*|uuid|name|USER-DEFINED", Kind.TEXT),
    (r"boolean", Kind.BOOL),
    (r"date", Kind.DATE),
    (r"timestamp.*", Kind.TIMESTAMP),
)
_SMALL: Final = 2.0**-500
_LARGE: Final = 2.0**500
_HUGE: Final = 2.0**1000


class Postgres(Dialect):
    """PostgreSQL 12 and later."""

    name: ClassVar = "postgres"
    types: ClassVar = {
        Kind.INT: "BIGINT",
        Kind.FLOAT: "DOUBLE PRECISION",
        Kind.TEXT: "TEXT",
        Kind.BOOL: "BOOLEAN",
        Kind.DATE: "DATE",
        Kind.TIMESTAMP: "TIMESTAMP",
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

    def calm(self, node: Node, facts: Domain) -> Node:
        """Neither so small nor so large that a product could leave the floats."""
        if facts.kind is Kind.INT:
            return node
        size = sql.function("ABS", sql.copy(node))
        pairs = [(sql.lt(size, self.real(_SMALL)), self.real(0.0))]
        if not facts.bounded or max(abs(facts.low), abs(facts.high)) > _LARGE:  # type: ignore[arg-type]
            pairs.append((sql.gt(sql.copy(size), self.real(_LARGE)), self._infinite(node)))
        return sql.case(*pairs, default=sql.copy(node))

    def calm_sum(self, node: Node, facts: Domain) -> Node:
        """Not so large that a sum could leave the floats."""
        if facts.kind is Kind.INT or (
            facts.bounded and max(abs(facts.low), abs(facts.high)) < _HUGE  # type: ignore[arg-type]
        ):
            return node
        size = sql.function("ABS", sql.copy(node))
        pair = (sql.gt(size, self.real(_HUGE)), self._infinite(node))
        return sql.case(pair, default=sql.copy(node))

    def _infinite(self, node: Node) -> Node:
        above = sql.gt(sql.copy(node), self.real(0.0))
        return sql.case((above, self.real(math.inf)), default=self.real(-math.inf))

    def exponential(self, node: Node) -> Node:
        """eˣ, or what it would be beyond the floats."""
        above = sql.gt(sql.copy(node), self.real(709.0))
        below = sql.lt(sql.copy(node), self.real(-708.0))
        inside = sql.function("EXP", sql.copy(node))
        return sql.case((above, self.real(math.inf)), (below, self.real(0.0)), default=inside)

    def power(self, x: Node, y: Node) -> Node:
        """xʸ by its logarithm where that tells that it leaves the floats."""
        size = sql.function("ABS", sql.copy(x))
        log = sql.times(sql.function("LN", size), sql.copy(y))
        odd = sql.both(
            [
                sql.lt(sql.copy(x), self.real(0.0)),
                sql.eq(
                    sql.function("MOD", sql.typed(sql.copy(y), "NUMERIC"), sql.plain(2)),
                    sql.plain(1),
                ),
            ]
        )
        endless = sql.case((odd, self.real(-math.inf)), default=self.real(math.inf))
        simple = sql.either(
            [sql.eq(sql.copy(x), self.real(0.0)), sql.eq(sql.copy(y), self.real(0.0))]
        )
        return sql.case(
            (simple, sql.function("POWER", sql.copy(x), sql.copy(y))),
            (sql.gt(log, self.real(709.0)), endless),
            (sql.lt(sql.copy(log), self.real(-708.0)), self.real(0.0)),
            default=sql.function("POWER", x, y),
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

    def days(self, start: Node, end: Node) -> Node:
        """A difference of dates is a number of days."""
        return self.to(Kind.INT, sql.subtract(end, start))

    def shifted(self, day: Node, days: Node) -> Node:
        """Dates take whole numbers of 32 bits."""
        return sql.add(day, sql.typed(days, "INTEGER"))

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

    def stored(self, spelling: str) -> Kind | None:
        """From information_schema."""
        return next((kind for rule, kind in _STORED if re.fullmatch(rule, spelling)), None)

    def narrowed(self, node: Node, spelling: str) -> Node:  # noqa: ARG002  (all of them fit)
        """All stored whole numbers have at most 64 bits."""
        return self.to(Kind.INT, node)

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
