"""From noisy numbers to the table that is shown: which rows, in which order, with which ±."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from deniable.query.aggregates import Derived, Ends, Estimator
from deniable.query.algebra import (
    Call,
    Column,
    Domain,
    Expression,
    Function,
    Kind,
    Order,
    Output,
    Question,
    Scalar,
    columns_of,
    evaluate,
    literal,
    substitute,
)
from deniable.query.algebra.meaning import EPOCH
from deniable.query.allocate import Allocation, remarks
from deniable.query.allocate.foresight import people_needed
from deniable.query.integers import Group, limited
from deniable.release import Noisy, Spread, Tabulated
from deniable.workload.tails import of_each

Columns = tuple[dict[str, tuple[object, ...]], dict[str, Noisy]]
Row = dict[str, Scalar | None]

CONFIDENCES: Final = (0.5, 0.8, 0.9, 0.95, 0.99, 0.999)
_FEW: Final = (0.9, 0.95, 0.99)
_MANY_ROWS: Final = 2_000
_MOST_ENCLOSED: Final = 20_000  # range arithmetic takes a while for each row


def answer(allocation: Allocation, groups: Sequence[Group], drawn: Sequence[Any]) -> Columns:
    """The keys and columns that were asked for, each with its ± and what it estimates."""
    table = tabled(allocation, groups, drawn)
    notes = "; ".join(remarks.unmet(allocation.plan.question))
    estimands = {n: "; ".join(filter(None, (notes, e))) for n, e in table.estimands.items()}
    return replace(table, estimands=estimands).present()


def tabled(allocation: Allocation, groups: Sequence[Group], drawn: Sequence[Any]) -> Table:
    """Every aggregate of every group, before anything is made of them."""
    noisy: dict[str, NDArray[np.float64]] = {}
    for part, numbers in zip(allocation.parts, drawn, strict=True):
        noisy |= part.read(numbers)
    plan = allocation.plan
    if allocation.of_many:
        allocation = replace(allocation, among=max(1, len(groups)))
    none = (
        "" if groups or allocation.selection is None else "no group had enough people to be shown; "
    )
    return Table(
        question=plan.question,
        groups=groups,
        aggregates={name: each.derive(allocation, noisy) for name, each in plan.parts.items()},
        among=allocation.among,
        estimands={name: none + estimand(allocation, each) for name, each in plan.parts.items()},
    )


def estimand(allocation: Allocation, estimator: Estimator) -> str:
    """What the numbers estimate, where that is not quite what was asked."""
    plan, notes = allocation.plan, []
    if estimator.rows is not None:
        notes.append(f"the number of rows, {estimator.rows:,}, is public: the schema states it")
    if allocation.selection is not None:
        people = people_needed(allocation.selection, 0.5)
        notes.append(f"groups with fewer than about {people:,} people are usually suppressed")
    if (few := plan.groups_of(estimator)) is not None:
        notes.append(f"a person in more than {few} group{'s' * (few > 1)} counts in only {few}")
    if not plan.single and estimator.aggregate.function is not Function.PERSONS:
        notes.append(limited(plan.rows))
    notes += remarks.estimand_of(plan.question, [estimator.aggregate])
    if estimator.estimand:
        notes.append(estimator.estimand)
    if allocation.among > 1:
        notes.append(
            f"chosen by their noisy values; the ± holds for all {allocation.among:,} groups at once"
        )
    return "; ".join(notes)


@dataclass(frozen=True, kw_only=True)
class Table:
    """Groups and their noisy aggregates, before anything is made of them."""

    question: Question
    groups: Sequence[Group]
    aggregates: Mapping[str, Derived]
    among: int = 1
    """Every interval holds for so many groups at once."""
    estimands: Mapping[str, str]

    def present(self) -> Columns:
        """The keys and noisy columns of the answer."""
        rows = self._rows()
        places = _chosen(self.question, rows)
        keys: dict[str, tuple[object, ...]] = {}
        answers: dict[str, Noisy] = {}
        for output in self.question.outputs:
            cells = tuple(evaluate(output.expression, rows[i]) for i in places)
            if self._used(output.expression):
                answers[output.name] = self._noisy(output, cells, rows, places)
            else:
                keys[output.name] = cells
        return keys, answers

    def _rows(self) -> list[Row]:
        names = [key.name for key in self.question.keys]
        columns = {name: each.cells() for name, each in self.aggregates.items()}
        rows: list[Row] = []
        for i, group in enumerate(self.groups):
            row: Row = dict(zip(names, group, strict=True))
            rows.append(row | {name: cells[i] for name, cells in columns.items()})
        return rows

    def _used(self, expression: Expression) -> list[str]:
        return [name for name in columns_of(expression) if name in self.aggregates]

    def _noisy(
        self, output: Output, cells: tuple[object, ...], rows: list[Row], places: list[int]
    ) -> Noisy:
        made = _ranked(output.expression) or output.expression
        spread: Spread | None = None
        if isinstance(made, Column):
            spread = self.aggregates[made.name].flat
        if spread is None:
            spread = self._tabulated(made, rows, places)
        names = self._used(made)
        clauses = (each for name in names for each in self.estimands.get(name, "").split("; "))
        notes = dict.fromkeys(filter(None, clauses))
        return Noisy(cells=cells, spread=spread, estimand="; ".join(notes))

    def _tabulated(self, made: Expression, rows: list[Row], places: list[int]) -> Tabulated | None:
        """Intervals at a few confidences; None where an expression has none, or not soon."""
        confidences = CONFIDENCES if len(places) <= _MANY_ROWS else _FEW
        if isinstance(made, Column):
            each = [of_each(confidence, self.among) for confidence in confidences]
            ends = zip(confidences, self.aggregates[made.name].intervals(each), strict=True)
            return Tabulated(
                intervals={
                    confidence: tuple((float(low[i]), float(high[i])) for i in places)
                    for confidence, (low, high) in ends
                }
            )
        if len(places) > _MOST_ENCLOSED:
            return None
        table = {}
        for confidence in confidences:
            found = self._enclosed(made, confidence, rows, places)
            if found is None:
                return None
            table[confidence] = found
        return Tabulated(intervals=table)

    def _enclosed(
        self, made: Expression, confidence: float, rows: list[Row], places: list[int]
    ) -> list[tuple[float, float]] | None:
        """Where an expression lies while each aggregate in it lies in its interval.

        With k aggregates each gets 1 − (1 − c)/k, so that all hold at once with c; then range
        arithmetic, which is sound for what is computed, bounds the expression.
        """
        names = self._used(made)
        each = of_each(1 - (1 - confidence) / len(names), self.among)
        ends: dict[str, Ends] = {name: self.aggregates[name].interval(each) for name in names}
        pairs = []
        for i in places:
            known: dict[str, Expression] = {
                name: _between(name, float(low[i]), float(high[i]))
                for name, (low, high) in ends.items()
            }
            fixed = {k: v for k, v in rows[i].items() if k not in known}
            domain = substitute(_filled(made, fixed), known).domain
            if not (domain.numeric and domain.bounded):
                return None
            low, high = domain.bounds
            pairs.append((float(low), float(high)))
        return pairs


def _ranked(made: Expression) -> Column | None:
    """The days or minutes since 1970 of which a date or moment is made, if it is."""
    if isinstance(made, Call) and made.op in ("add_days", "add_minutes"):
        start, whole = made.args
        if start == literal(EPOCH) and isinstance(whole, Call) and whole.op == "to_int":
            return whole.args[0] if isinstance(whole.args[0], Column) else None
    return None


def _between(name: str, low: float, high: float) -> Column:
    return Column(name=name, domain=Domain(kind=Kind.FLOAT, low=low, high=high, nullable=False))


def _filled(made: Expression, row: Row) -> Expression:
    """Keys of the row put in as constants."""
    columns = columns_of(made)
    by_name: dict[str, Expression] = {
        name: literal(value, kind=columns[name].kind)
        for name, value in row.items()
        if name in columns
    }
    return substitute(made, by_name)


# ---- which rows, in which order


def _chosen(question: Question, rows: list[Row]) -> list[int]:
    """The rows that HAVING keeps, in the order asked, cut to LIMIT."""
    places = list(range(len(rows)))
    if question.having is not None:
        places = [i for i in places if evaluate(question.having, rows[i]) is True]
    for order in reversed(question.order_by):
        places = _sorted(order, rows, places)
    stop = None if question.limit is None else question.offset + question.limit
    return places[question.offset : stop]


def _sorted(order: Order, rows: list[Row], places: list[int]) -> list[int]:
    """Stable; missing values at the end that was asked for, whichever the direction."""
    values: dict[int, Any] = {i: evaluate(order.expression, rows[i]) for i in places}
    known = [i for i in places if values[i] is not None]
    known.sort(key=values.__getitem__, reverse=order.descending)
    missing = [i for i in places if values[i] is None]
    return missing + known if order.missing_first else known + missing
