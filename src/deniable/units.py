"""Whom we protect, and how much of the data is theirs.

The unit owns the neighbouring relation: two tables are neighbours if they differ in all that one
unit contributed. There is no other place in deniable where that is decided.

    >>> rows()
    rows()
    >>> person("user_id", rows=10, groups=3)
    person('user_id', rows=10, groups=3)
"""

from __future__ import annotations

import enum
from collections.abc import Mapping
from dataclasses import dataclass

from . import parameters
from .errors import BadParameter


class Relation(enum.StrEnum):
    """How neighbouring tables differ in one unit."""

    ADD_REMOVE = "add_remove"
    """The unit is there or not: the number of units is private."""
    REPLACE = "replace"
    """The unit's contribution is exchanged for another: the number of units is public.

    Of `rows()` a schema states it exactly, as its `size`.
    """

    @property
    def sides(self) -> int:
        """How many contributions neighbours differ in: the unit's own, or also its successor's."""
        return 2 if self is Relation.REPLACE else 1

    @property
    def words(self) -> str:
        """What happens to the unit."""
        return "replaced by another" if self is Relation.REPLACE else "added or removed"


@dataclass(frozen=True, kw_only=True, repr=False)
class Unit:
    """One row, or all rows of one person up to stated limits.

    `column` names who a row belongs to (None: every row is a unit of its own); `rows` is the most
    rows of one person that count; `groups` the most groups they may fall in (None: no limit beyond
    `rows`).
    """

    column: str | None = None
    rows: int = 1
    groups: int | None = None
    relation: Relation = Relation.ADD_REMOVE

    def __repr__(self) -> str:
        parts = [] if self.column is None else [repr(self.column), f"rows={self.rows}"]
        if self.groups is not None:
            parts.append(f"groups={self.groups}")
        if self.relation is not Relation.ADD_REMOVE:
            parts.append(f"relation={self.relation.value!r}")
        return f"{'rows' if self.column is None else 'person'}({', '.join(parts)})"

    def __str__(self) -> str:
        """In words, for people."""
        if self.column is None:
            who = "one row"
        else:
            who = f"any one person ({self.column}; counted as at most {_counted(self.rows, 'row')}"
            who += f" in {_counted(self.groups, 'group')})" if self.groups is not None else ")"
        return f"{who}, {self.relation.words}"

    @property
    def sides(self) -> int:
        """How many contributions neighbours differ in: 1 if a unit comes or goes, 2 if replaced."""
        return self.relation.sides

    @property
    def neighbours(self) -> str:
        """What neighbouring tables are, in a sentence."""
        column = self.column
        whose = "one row" if column is None else f"all rows of one person (identified by {column})"
        if self.sides == 1:
            return f"two tables are neighbours if removing {whose} from one gives the other"
        return f"two tables are neighbours if they differ in {whose}; the number of units is public"

    def to_dict(self) -> dict[str, str | int]:
        """A flat record, for ledgers and schemas."""
        record: dict[str, str | int] = {"relation": self.relation.value}
        if self.column is not None:
            record |= {"column": self.column, "rows": self.rows}
        if self.groups is not None:
            record["groups"] = self.groups
        return record

    @staticmethod
    def from_dict(record: Mapping[str, object]) -> Unit:
        """The unit that `to_dict` wrote."""
        unknown = set(record) - {"relation", "column", "rows", "groups"}
        if unknown:
            raise BadParameter(f"a unit has no field {min(unknown)!r}")
        relation = record.get("relation", Relation.ADD_REMOVE)
        if "column" not in record:
            return rows(relation=relation)
        return person(
            record["column"],
            rows=record.get("rows"),
            groups=record.get("groups"),
            relation=relation,
        )


@parameters.called("dp.rows()")
def rows(*, relation: object = Relation.ADD_REMOVE) -> Unit:
    """Every row is a unit: right only if every person has exactly one row."""
    return Unit(relation=_relation(relation))


@parameters.called(
    'dp.person("user_id", rows=10)',
    why="noise must cover every row a person contributes: set rows= to the most that count",
)
def person(
    column: object,
    *,
    rows: object,
    groups: object = None,
    relation: object = Relation.ADD_REMOVE,
) -> Unit:
    """All rows with the same value in `column` are one person's.

    Together they count as at most `rows` rows: each weighs less if there are more.
    """
    if not isinstance(column, str) or not column:
        raise BadParameter.of(
            "column", column, must="the name of the column that identifies people"
        )
    return Unit(
        column=column,
        rows=parameters.whole("rows", rows),
        groups=None if groups is None else parameters.whole("groups", groups),
        relation=_relation(relation),
    )


def _counted(number: int, what: str) -> str:
    return f"{number} {what}" if number == 1 else f"{number} {what}s"


def _relation(value: object) -> Relation:
    return Relation(parameters.one_of("relation", value, [r.value for r in Relation]))
