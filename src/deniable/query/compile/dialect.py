"""What engines spell differently. All that is not here is spelled alike by all of them.

Every method is total: it gives a tree that no row can make fail.
"""

from __future__ import annotations

import datetime as dt
import re
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from string import ascii_lowercase, ascii_uppercase
from typing import TYPE_CHECKING, ClassVar, Final

from sqlglot import exp

from deniable.query.algebra import Domain, Kind, Scalar
from deniable.session.identity import COLLATED

from . import nodes as sql
from .nodes import Node

if TYPE_CHECKING:
    from .reals import Real

CALENDAR: Final = (
    dt.datetime.combine(dt.date.min, dt.time.min),
    dt.datetime.combine(dt.date.max, dt.time.max),
)
"""The first and the last moment that is read: the calendars of engines are longer."""
_PARTS: Final = {"dow": "DAYOFWEEK", "doy": "DAYOFYEAR"}


def uncollated(spelling: str) -> str:
    """A stored type without the collation that it may name.

    >>> uncollated("string collate UTF8_LCASE"), uncollated("ENUM('a collate b')")
    ('string', "ENUM('a collate b')")
    """
    found = COLLATED.fullmatch(spelling)
    return spelling if found is None else found[1]


class Dialect(ABC):
    """One engine's spelling."""

    name: ClassVar[str]
    """What sqlglot calls the engine."""
    types: ClassVar[Mapping[Kind, str]]
    kinds: ClassVar[Mapping[str, Kind]]
    """Stored types, as regular expressions of their names, that a cast brings to one of ours."""
    wide: ClassVar[str]
    """Whole numbers of at least 38 digits."""
    says_materialized: ClassVar[bool] = True
    """Whether the engine can be told to store a named part, or not to."""
    joins_weights: ClassVar[bool] = False
    """Whether a join of two readings of a stored part is quicker than a window over it.

    Such an engine may make a join of a window unasked, so parts under windows are stored, too.
    """
    binary: ClassVar[str] = "C"
    """The collation by which texts are equal if their code points are."""
    text_functions: ClassVar[Mapping[str, str]]
    """How trim, starts_with, contains are called."""

    def write(self, node: Node) -> str:
        """The text that is sent."""
        return node.sql(dialect=self.name, copy=False, comments=False)

    # ---- whole numbers

    def summed(self, node: Node) -> Node:
        """A sum of 64-bit numbers, or of wider ones, that no possible table makes overflow."""
        return sql.function("SUM", node)

    def quotient(self, x: Node, y: Node) -> Node:
        """⌊x/y⌋ for whole numbers above 0."""
        return sql.binary(exp.IntDiv, x, y)

    # ---- fewer bytes: for engines that store rows

    def narrow(self, node: Node, _low: int, _high: int) -> Node:
        """A 64-bit whole number in the shortest type; it is known to be from low to high."""
        return node

    def coded(self, node: Node, _values: Sequence[Scalar]) -> Node:
        """A key from a public list in a short type; one not on the list may become missing."""
        return node

    # ---- types and constants

    def to(self, kind: Kind, node: Node) -> Node:
        """A cast that cannot fail: between numbers that fit, or of a constant."""
        return sql.typed(node, self.types[kind])

    def widened(self, node: Node) -> Node:
        """As a whole number that cannot overflow."""
        return sql.typed(node, self.wide)

    def constant(self, value: Scalar | None, kind: Kind) -> Node:
        """A constant of that kind."""
        match value:
            case None:
                return self.to(kind, sql.null())
            case bool():
                return exp.true() if value else exp.false()
            case int() if kind is Kind.INT:
                return self.whole(value)
            case int() | float():
                return self.real(float(value))
            case str():
                return sql.text(value)
            case dt.datetime():
                return self.to(Kind.TIMESTAMP, sql.text(value.isoformat(sep=" ")))
        return self.to(Kind.DATE, sql.text(value.isoformat()))

    def whole(self, value: int) -> Node:
        """A 64-bit whole number."""
        return self.to(Kind.INT, sql.plain(value))

    def real(self, value: float) -> Node:
        """A float64; its shortest text that reads back as the same number."""
        return self.to(Kind.FLOAT, sql.text(repr(value).replace("inf", "Infinity")))

    # ---- floats

    def without_nan(self, node: Node) -> Node:
        """NaN made missing; on all three engines NaN equals itself."""
        return exp.Nullif(this=node, expression=self.real(float("nan")))

    def stored_without_nan(self, node: Node, spelling: str) -> Node:
        """A stored float column with NaN made missing, whatever the engine believes about it."""
        return exp.Nullif(this=node, expression=sql.typed(sql.text("NaN"), spelling))

    def decimal_in_one_way(self, node: Node) -> Node:
        """A decimal written as all that equal it: its type has one scale on most engines."""
        return node

    def stored_nan(self, _node: Node) -> Node | None:
        """Whether a stored float is NaN, where comparing it may not show that; else None."""
        return None

    def arithmetic(self, kind: type[exp.Binary], x: Real, y: Real, _made: Domain) -> Node:
        """x + y, x − y, x · y or x / y in float64, y not 0; in the range `made` or missing."""
        return self.settled(sql.binary(kind, x.node, y.node), x, y)

    def settled(self, node: Node, *parts: Real) -> Node:
        """NaN made missing where an infinite argument could have made one."""
        sure = all(part.facts.bounded for part in parts)
        return node if sure else self.without_nan(node)

    def step(self, called: str, node: Node) -> Node:
        """FLOOR or CEIL of a float, as a float."""
        return sql.function(called, node)

    def exponential(self, x: Real, _made: Domain) -> Node:
        """eˣ, in the range `made`."""
        return sql.function("EXP", x.node)

    def power(self, x: Real, y: Real, _made: Domain) -> Node:
        """xʸ where it is defined, in the range `made`."""
        return sql.function("POWER", x.node, y.node)

    # ---- text

    def ordered(self, node: Node) -> Node:
        """Text that compares by code point."""
        return node

    def lowered(self, node: Node, *, up: bool = False) -> Node:
        """ASCII letters of one case made the other."""
        small, capital = sql.text(ascii_lowercase), sql.text(ascii_uppercase)
        return sql.function("TRANSLATE", node, *([small, capital] if up else [capital, small]))

    def trimmed(self, node: Node) -> Node:
        """Without spaces at both ends."""
        return sql.function(self.text_functions["trim"], node, sql.text(" "))

    def starts(self, node: Node, part: Node) -> Node:
        """Whether text starts with a part."""
        return sql.function(self.text_functions["starts_with"], node, part)

    def ends(self, node: Node, part: Node) -> Node:
        """Whether text ends with a part."""
        return sql.function(self.text_functions["ends_with"], node, part)

    def contains(self, node: Node, part: Node) -> Node:
        """Whether text contains a part."""
        return sql.function(self.text_functions["contains"], node, part)

    def like(self, node: Node, pattern: str) -> Node:
        """LIKE, in a time that grows with the text no faster than its length."""
        return exp.Paren(this=exp.Like(this=node, expression=sql.text(pattern)))

    @abstractmethod
    def matches(self, node: Node, pattern: str) -> Node:
        """Whether all of a text matches a regular expression, which is ours."""

    def hashed(self, node: Node) -> Node:
        """A digest of text, the same on every engine."""
        return sql.function("MD5", node)

    # ---- times

    def part(self, part: str, node: Node) -> Node:
        """Year, quarter, month, day, dow, doy, hour or minute, as a 64-bit whole number."""
        return self.to(Kind.INT, sql.function(_PARTS.get(part, part.upper()), node))

    def truncated(self, unit: str, node: Node, kind: Kind) -> Node:
        """The start of a year, quarter, month, week, day, hour or minute; of its kind again."""
        return self.to(kind, sql.function("DATE_TRUNC", sql.text(unit), node))

    def days(self, start: Node, end: Node) -> Node:
        """Whole days between two dates, as a 64-bit whole number."""
        return self.to(Kind.INT, sql.subtract(end, start))

    def shifted(self, day: Node, days: Node) -> Node:
        """A date some days later, within the calendar: dates take whole numbers of 32 bits."""
        return sql.add(day, sql.typed(days, "INTEGER"))

    @abstractmethod
    def later(self, moment: Node, minutes: Node) -> Node:
        """A timestamp some minutes later, which is within the calendar."""

    def date_text(self, node: Node) -> Node:
        """A date as 2020-12-31."""
        return self.to(Kind.TEXT, node)

    def moment_text(self, node: Node) -> Node:
        """A timestamp within the calendar as 2020-12-31 23:59:59."""
        return self.to(Kind.TEXT, node)

    # ---- text that is known to look right

    def parsed(self, node: Node, kind: Kind) -> Node:
        """Text of the right shape as a number, date or timestamp; missing if there is none."""
        return sql.tried(node, self.types[kind])

    # ---- reading columns as they are stored

    def column(self, name: str, spelling: str) -> Node:
        """A stored column; one with a collation of its own loses it, as it could merge keys."""
        node = sql.name(name)
        if uncollated(spelling) == spelling:
            return node
        collation = exp.to_identifier(self.binary, quoted=True)
        return exp.Paren(this=exp.Collate(this=node, expression=collation))

    def stored(self, spelling: str) -> Kind | None:
        """The kind of a stored type that a cast brings to ours; None: read by way of text."""
        return next(
            (kind for rule, kind in self.kinds.items() if re.fullmatch(rule, spelling)), None
        )

    def narrowed(self, node: Node, _spelling: str) -> Node:
        """A stored whole number of any width in 64 bits; missing if it does not fit."""
        return self.to(Kind.INT, node)

    def as_float(self, node: Node, _spelling: str) -> Node:
        """A stored float or decimal as float64, NaN or not."""
        return self.to(Kind.FLOAT, node)

    def possible(self, node: Node, _spelling: str) -> Node:
        """A stored value that is written as text, if its type has it; else missing."""
        return node

    def as_text(self, node: Node) -> Node:
        """A stored column as text: what differs here must differ once it is read back."""
        return self.to(Kind.TEXT, node)

    def as_moment(self, node: Node, _spelling: str) -> Node:
        """A stored timestamp without time zone, in UTC."""
        return self.to(Kind.TIMESTAMP, node)
