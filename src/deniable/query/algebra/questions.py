"""A question: rows, groups, aggregates, and what is made of the noisy numbers afterwards.

Everything up to the aggregates touches data and is bounded. Outputs, HAVING, ORDER BY and LIMIT are
expressions about keys and *noisy* aggregates: they cost nothing more.
"""

from __future__ import annotations

import enum
from dataclasses import dataclass, field

from deniable.units import Unit

from .domain import Domain, Kind, Scalar
from .expressions import Column, Expression, Span
from .relations import Relation


class Function(enum.StrEnum):
    """What can be asked of a group of rows."""

    COUNT = "count"
    """Rows, or rows where the argument is not missing."""
    PERSONS = "persons"
    """Distinct persons; no argument."""
    DISTINCT = "distinct"
    """Distinct values of the argument that are not missing."""
    SUM = "sum"
    AVG = "avg"
    VAR_SAMP = "var_samp"
    VAR_POP = "var_pop"
    STDDEV_SAMP = "stddev_samp"
    STDDEV_POP = "stddev_pop"
    QUANTILE = "quantile"
    MIN = "min"
    """The lowest value, as a private quantile."""
    MAX = "max"
    """The highest value, as a private quantile."""
    COVAR_POP = "covar_pop"
    COVAR_SAMP = "covar_samp"
    CORR = "corr"
    HISTOGRAM = "histogram"
    """Rows in one bin of the argument, which is the number of a bin."""


@dataclass(frozen=True, kw_only=True)
class Key:
    """One thing to group by.

    `values` are all groups there can be, in order, or None if they must be chosen privately. Rows
    whose key is missing or not among them are in no group. Float keys are made of
    correctly rounded float64 operations alone, so they are the same bits in the engine.
    """

    name: str
    expression: Expression
    values: tuple[Scalar, ...] | None
    span: Span | None = field(default=None, compare=False)

    @property
    def listed(self) -> tuple[Scalar, ...]:
        """All groups there can be, where they are public."""
        assert self.values is not None
        return self.values

    @property
    def column(self) -> Column:
        """What outputs read; missing where a grouping set leaves the key out."""
        return Column(name=self.name, domain=self.expression.domain)


@dataclass(frozen=True, kw_only=True)
class Aggregate:
    """One number for each group.

    The argument of every function from SUM on is INT or FLOAT with both bounds known (they may be
    equal), and rows where it is missing do not count. `where`: only rows for which it is true. `q`
    belongs to QUANTILE, and `other`, the second argument, to functions of pairs. Where the argument
    is a date in days or a moment in minutes, `moment` is the date or moment itself; where it is the
    number of a bin between `edges`, of which `bin` is counted, `moment` is what lies in the bin.
    """

    name: str
    function: Function
    argument: Expression | None = None
    other: Expression | None = None
    where: Expression | None = None
    q: float | None = None
    edges: tuple[float, ...] = ()
    bin: int | None = None
    moment: Expression | None = field(default=None, compare=False)
    span: Span | None = field(default=None, compare=False)

    @property
    def shown(self) -> Expression | None:
        """What is aggregated, as people would say it."""
        return self.moment or self.argument

    @property
    def expressions(self) -> tuple[Expression, ...]:
        """All that it reads of a row."""
        return tuple(e for e in (self.argument, self.other, self.where) if e is not None)

    @property
    def low(self) -> int | float:
        """The least an argument can be."""
        assert self.argument is not None
        return self.argument.domain.bounds[0]

    @property
    def high(self) -> int | float:
        """The most an argument can be."""
        assert self.argument is not None
        return self.argument.domain.bounds[1]

    @property
    def column(self) -> Column:
        """What outputs read: a noisy number, unbounded and perhaps missing (an AVG of nobody)."""
        return Column(name=self.name, domain=Domain(kind=Kind.FLOAT), span=self.span)


@dataclass(frozen=True, kw_only=True)
class Output:
    """One column of the answer: an expression about names of keys and aggregates."""

    name: str
    expression: Expression
    span: Span | None = field(default=None, compare=False)


@dataclass(frozen=True, kw_only=True)
class Order:
    """One thing to sort the answer by; missing values come last unless they are to come first."""

    expression: Expression
    descending: bool = False
    missing_first: bool = False


@dataclass(frozen=True, kw_only=True, repr=False)
class Question:
    """What was asked: checked, typed and bounded; printed as a program.

    `grouping_sets` are tuples of positions in `keys`; without ROLLUP and the like there is one, of
    all keys (of none: one row). `text` is what the user wrote, if it was text.
    """

    unit: Unit
    relation: Relation
    keys: tuple[Key, ...] = ()
    grouping_sets: tuple[tuple[int, ...], ...] = ((),)
    aggregates: tuple[Aggregate, ...] = ()
    outputs: tuple[Output, ...] = ()
    having: Expression | None = None
    order_by: tuple[Order, ...] = ()
    limit: int | None = None
    offset: int = 0
    text: str = field(default="", compare=False)

    @property
    def person(self) -> str | None:
        """The column of the relation that identifies people; None if every row is a unit."""
        return self.relation.person

    @property
    def plain(self) -> dict[str, str]:
        """The columns of the answer that are keys or aggregates as they are, and which."""
        return {o.name: o.expression.name for o in self.outputs if isinstance(o.expression, Column)}

    @property
    def fingerprint(self) -> str:
        """Equal for two questions only if they, and the schema they rely on, are the same."""
        from .show import fingerprint

        return fingerprint(self)

    def __repr__(self) -> str:
        from .show import question_text

        return question_text(self)
