"""Hostile expressions, grown from the table of operators: a new operator is grown, too."""
# ruff: noqa: DTZ001  (timestamps have no time zone here)

import datetime as dt
import math

import deniable as dp
from deniable.errors import UnsupportedQuery
from deniable.query.algebra import OPERATORS, Kind, call, literal
from deniable.query.algebra.moments import UNITS

MOST = 1.7976931348623157e308
_FLOATS = (0.0, -0.0, 5e-324, -5e-324, 2.0**-1022, 1e-308, -1e-300, 1e-200, -1e-160, 1e-140, 1e-100,
           1e-16, -0.1, 0.5, 1.0, -1.0, 1.5, 3.0, -7.25, 1e3, 2.0**53, -(2.0**63), 1e100, -1e140,
           2.0**500, 1e160, -1e200, 1e300, -1e305, 1e308, -1e308, MOST, -MOST)  # fmt: skip
_INTS = (0, 1, -1, 2, 3, -7, 10, 100, 2**31, -(2**31), 2**52 + 1, 2**53, 2**53 + 1, -(2**53) - 1,
         2**62, 2**62 + 1, -(2**62) - 1, 2**63 - 2, 2**63 - 1, -(2**63), -(2**63) + 1)  # fmt: skip
_TEXTS = ("", " ", "a", "A%b_c", "é", "😀x", "12", " -7 ", "1e3", "-.5e-99", "9" * 30 + "e99",
          "1e400", "nan", "infinity", "9223372036854775808", "true", " F", "2020-02-29",
          "2021-02-29", "0000-01-01", "9999-12-31", "infinity ", "0001-01-01 00:00",
          "9999-12-31T23:59:59.999999", "2020-12-31 24:00", "\\", "'", "a\nb",
          "Z" * 1500)  # fmt: skip
_DAYS = (dt.date(1, 1, 1), dt.date(1, 1, 2), dt.date(1582, 10, 10), dt.date(1969, 12, 31),
         dt.date(2020, 2, 29), dt.date(9999, 12, 30), dt.date(9999, 12, 31))  # fmt: skip
_MOMENTS = (dt.datetime(1, 1, 1), dt.datetime(1582, 10, 10, 1), dt.datetime(2020, 2, 29, 13, 45, 1),
            dt.datetime(1969, 12, 31, 23, 59, 59, 999999),
            dt.datetime(9999, 12, 31, 23, 59, 59, 999999))  # fmt: skip
CONSTANTS = {
    Kind.FLOAT: _FLOATS,
    Kind.INT: _INTS,
    Kind.TEXT: _TEXTS,
    Kind.BOOL: (True, False),
    Kind.DATE: _DAYS,
    Kind.TIMESTAMP: _MOMENTS,
}
VALUES = {kind: (None, *listed) for kind, listed in CONSTANTS.items()}
VALUES[Kind.FLOAT] += (math.inf, -math.inf, math.nan)

_REALS = [(-1e200, 1e200), (-8e307, 8e307), (0.0, MOST), (5e-324, 1e308), (1e-300, 1e-200),
          (-1e-310, -5e-324), (-1e-200, 1e-200), (1e-200, 1e200), (1e160, 1e200), (0.0, 1.0),
          (-1e3, 1e3), (0.0, 5e-324), (-1e305, 1e160), (700.0, 720.0),
          (-760.0, -700.0)]  # fmt: skip
_WHOLE = [(0, 2**53), (-(2**63), 2**63 - 1), (-5, 12), (2**62, 2**63 - 1), (-(2**53), -1)]
FACTS = {
    "i": dp.column("int"),
    **{f"real{j}": dp.bounds(*ends) for j, ends in enumerate(_REALS)},
    **{f"sure{j}": dp.bounds(*ends, missing=ends[0]) for j, ends in enumerate(_REALS)},
    **{f"whole{j}": dp.bounds(*ends, type="int") for j, ends in enumerate(_WHOLE)},
    **{f"any_{kind}": dp.column(kind.value) for kind in Kind},
    "real": dp.column("float", missing=1.0),
    "day": dp.bounds(dt.date(1, 1, 1), dt.date(2000, 1, 1), type="date"),
    "moment": dp.bounds(
        dt.datetime(1990, 1, 1), dt.datetime(9999, 12, 31, 23, 59), type="timestamp"
    ),
    "word": dp.keys(["", "a", "12", "2020-02-29"]),
}


def rows(rng, count):
    """Values of every kind in every column, whatever its bounds are."""
    return [
        {name: rng.choice(VALUES[Kind(fact.type)]) for name, fact in FACTS.items()} | {"i": i}
        for i in range(count)
    ]


class Grower:
    """Grows expressions over the columns of a scan."""

    def __init__(self, rng, columns):
        self.rng = rng
        self.columns = [column for column in columns if column.name != "i"]

    def call(self, op, depth):
        """The operator on hostile arguments; refused constants are drawn again."""
        for _ in range(200):
            args = self._arguments(OPERATORS[op], depth)
            try:
                return call(op, *args)
            except UnsupportedQuery:
                continue
        raise AssertionError(f"no arguments were found for {op}")

    def _arguments(self, operator, depth):
        most = operator.least + 1 if operator.most is None else operator.most
        count = self.rng.randint(operator.least, most)
        if operator.name == "case":
            count = self.rng.choice([3, 5])
        kind = self.rng.choice(sorted(operator.kinds_of(count - 1)))
        return [self._argument(operator, i, count, kind, depth) for i in range(count)]

    def _argument(self, operator, position, count, kind, depth):
        kinds = operator.kinds_of(position)
        if operator.name == "case" and position % 2 == 0 and position < count - 1:
            kinds, kind = operator.kinds_of(0), Kind.BOOL
        alike = operator.alike or operator.name == "case"
        wanted = kind if alike and kind in kinds else self.rng.choice(sorted(kinds))
        if position in operator.constants:
            return self.constant(wanted)
        return self.value(wanted, depth - 1)

    def constant(self, kind):
        """A constant of any size; units of time are texts, too."""
        listed = CONSTANTS[kind] + (UNITS * 3 if kind is Kind.TEXT else ())
        return literal(self.rng.choice(listed))

    def value(self, kind, depth):
        """A column, a constant, or a call that gives that kind."""
        if depth > 0 and self.rng.random() < 0.7:
            for _ in range(20):
                made = self.call(self.rng.choice(sorted(OPERATORS)), depth)
                if made.kind is kind:
                    return made
        if self.rng.random() < 0.2:
            return self.constant(kind)
        return self.rng.choice([c for c in self.columns if c.kind is kind])


def bounded(made, most):
    """A number between ends that can be added up: its own if they are near enough, else ±most."""
    low, high = made.domain.low, made.domain.high
    if None not in (low, high) and max(abs(low), abs(high)) <= most:
        return made
    return call("clip", made, literal(-most), literal(most))
