"""Relations: which rows a question is about.

Every row of a private relation belongs to one person (or is a unit itself), whatever is done to it:
only such relations can be written down here, so a person can be bounded on the last one.

    Scan         the rows of a table, every column made to keep the schema's word
    Filter       rows for which a condition is true (missing is not true)
    Project      other columns in place of those there are, row by row
    Join         private with public on equal columns, or private with private on the person
    Union        the rows of two relations, one after the other
    PerPerson    one row for each person (and key): their own rows summed up exactly
"""

from __future__ import annotations

import enum
from dataclasses import dataclass, field

from deniable.schema import Column as Facts

from .domain import Domain, Kind, domain_of_column
from .expressions import Column, Expression
from .ranges import together


@dataclass(frozen=True, kw_only=True)
class Relation:
    """Rows with named columns; `person` names the column that identifies people, if any."""

    @property
    def columns(self) -> tuple[Column, ...]:
        """What expressions about this relation may read."""
        raise AssertionError("each kind of relation has its own")

    @property
    def person(self) -> str | None:
        """The name of the column of person ids; None if rows are units or the table is public."""
        return self.scan.id.name if self.scan.id is not None else None

    @property
    def private(self) -> bool:
        """Whether it is about anybody."""
        return not self.scan.public

    @property
    def scan(self) -> Scan:
        """The table that identifies whose rows these are: the leftmost one."""
        return self.children[0].scan

    @property
    def children(self) -> tuple[Relation, ...]:
        """The relations it is made of, left to right; none for a table."""
        return tuple(each for each in vars(self).values() if isinstance(each, Relation))


@dataclass(frozen=True, kw_only=True)
class Read:
    """One column as it is read.

    `name` is what this tree calls it, `source` what the table does. With `facts` it is sanitised:
    cast to its type (else missing; so is a moment outside the years 1 to 9999), NaN and −0.0
    settled, moved into its bounds, off its list missing, and missing values replaced if the schema
    names a value. Without `facts` it is a person
    id: read as it is stored, because merging two ids would let one person change another's weight;
    only NaN is made missing. `kind` is the type that the schema states for an id: text that is
    stored is read as that, so that 7 and 07 are one person if ids are whole numbers. `zoned`: it is
    stored with a time zone, and read in UTC.
    """

    name: str
    source: str
    facts: Facts | None = None
    kind: Kind | None = None
    zoned: bool = False

    @property
    def column(self) -> Column:
        """The column that expressions read."""
        known = Domain(kind=Kind.TEXT) if self.facts is None else domain_of_column(self.facts)
        return Column(name=self.name, domain=known)


@dataclass(frozen=True, kw_only=True)
class Scan(Relation):
    """The rows of a table; `table` is the session's name for it.

    It is `complete` if every row that is stored can be read: a broken line of a CSV cannot. `size`
    is its number of rows, where that is public: a declared fact, on which no bound may rest.
    """

    table: str
    reads: tuple[Read, ...] = ()
    id: Read | None = None
    public: bool = False
    complete: bool = True
    size: int | None = None

    @property
    def columns(self) -> tuple[Column, ...]:
        return tuple(read.column for read in self.reads)

    @property
    def scan(self) -> Scan:
        return self


@dataclass(frozen=True, kw_only=True)
class Filter(Relation):
    """The rows for which `where` is true."""

    source: Relation
    where: Expression

    @property
    def columns(self) -> tuple[Column, ...]:
        return self.source.columns


@dataclass(frozen=True, kw_only=True)
class Project(Relation):
    """The same rows with other columns; the person stays."""

    source: Relation
    named: tuple[tuple[str, Expression], ...]

    @property
    def columns(self) -> tuple[Column, ...]:
        return tuple(Column(name=name, domain=made.domain) for name, made in self.named)


class JoinKind(enum.StrEnum):
    """Which rows of the left are kept."""

    INNER = "inner"
    LEFT = "left"


@dataclass(frozen=True, kw_only=True)
class Join(Relation):
    """Rows of the left beside rows of the right that agree with them.

    The left is private. `on` are pairs of a left and a right expression that must be equal.
    `same_person`: the right side is private as well, and both ids must be equal: one person's rows.
    `unique`: of several (public) rows on the right with equal `on`, only the first in the order of
    all its columns counts, so that a row of the left stays one row. In a LEFT join columns of the
    right may be missing where nothing agrees.
    """

    left: Relation
    right: Relation
    on: tuple[tuple[Expression, Expression], ...] = ()
    kind: JoinKind = JoinKind.INNER
    same_person: bool = False
    unique: bool = False

    @property
    def multiplies(self) -> bool:
        """Whether a person with n rows here and m rows there may have n·m rows together."""
        return self.same_person and not (one_each(self.left) or one_each(self.right))

    @property
    def columns(self) -> tuple[Column, ...]:
        right = self.right.columns
        if self.kind is JoinKind.LEFT:
            right = tuple(Column(name=c.name, domain=c.domain.but(nullable=True)) for c in right)
        return self.left.columns + right


@dataclass(frozen=True, kw_only=True)
class Union(Relation):
    """All rows of both: both private or both public, with columns of the same names and kinds."""

    left: Relation
    right: Relation

    @property
    def columns(self) -> tuple[Column, ...]:
        pairs = zip(self.left.columns, self.right.columns, strict=True)
        return tuple(Column(name=a.name, domain=together([a.domain, b.domain])) for a, b in pairs)


class Summary(enum.StrEnum):
    """An exact summary of one person's own rows."""

    COUNT = "count"
    COUNT_DISTINCT = "count_distinct"
    SUM = "sum"
    MIN = "min"
    MAX = "max"


@dataclass(frozen=True, kw_only=True)
class Summed:
    """One summary of a person's rows.

    COUNT without an argument counts rows, with one the rows where it is not missing. SUM takes INT
    within ±2⁵³ only: added up exactly in a wide integer, then rounded to one FLOAT, so that the
    order of rows cannot matter. SUM, MIN and MAX of nothing are missing. `where`: only rows for
    which it is true.
    """

    name: str
    summary: Summary
    argument: Expression | None = None
    where: Expression | None = None

    @property
    def column(self) -> Column:
        """What expressions about the summed-up rows read."""
        if self.summary in (Summary.COUNT, Summary.COUNT_DISTINCT):
            return Column(name=self.name, domain=Domain(kind=Kind.INT, low=0, nullable=False))
        assert self.argument is not None
        known = self.argument.domain.but(nullable=True)
        if self.summary is Summary.SUM:
            low = 0.0 if isinstance(known.low, int) and known.low >= 0 else None
            known = Domain(kind=Kind.FLOAT, low=low, ruled=known.ruled)
        return Column(name=self.name, domain=known)


@dataclass(frozen=True, kw_only=True)
class PerPerson(Relation):
    """One row for each person and combination of `keys`; rows without a person are dropped.

    Keys are private values of the person's own rows and may be missing (missing equals missing).
    """

    source: Relation
    keys: tuple[tuple[str, Expression], ...] = ()
    summaries: tuple[Summed, ...] = field(default=())

    @property
    def columns(self) -> tuple[Column, ...]:
        keys = tuple(Column(name=name, domain=key.domain) for name, key in self.keys)
        return keys + tuple(each.column for each in self.summaries)


def one_each(relation: Relation) -> bool:
    """Whether nobody has more than one row."""
    while isinstance(relation, Filter | Project):
        relation = relation.source
    return isinstance(relation, PerPerson) and not relation.keys
