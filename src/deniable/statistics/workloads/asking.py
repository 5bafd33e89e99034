"""A workload about a table of a session: explained for nothing, then released."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Generic, TypeVar

import numpy as np

from deniable.errors import BadParameter, DeniableError, UnsupportedQuery
from deniable.losses import Loss
from deniable.losses.filters import Price
from deniable.parameters import called
from deniable.query.algebra import Aggregate, Expression, Key
from deniable.query.allocate import remarks
from deniable.query.answer import CONFIDENCES
from deniable.query.bind.bins import cell_of
from deniable.query.integers import limited
from deniable.query.query import Query
from deniable.query.vectors import Vector
from deniable.release import Noisy, Plan, Release
from deniable.release.noisy import Tabulated
from deniable.release.numbers import digits, shown_error
from deniable.release.plan import balance
from deniable.schema.binning import Intervals, Listed
from deniable.schema.columns import DROP
from deniable.schema.edges import binning_of
from deniable.session import budgets
from deniable.session.asked import together
from deniable.session.offers import offering
from deniable.statistics.building import COUNT, About, ask
from deniable.workload.linear import Measurement
from deniable.workload.plans import Estimates

T_co = TypeVar("T_co", covariant=True)
Labels = Mapping[str, tuple[object, ...]]


@dataclass(frozen=True, kw_only=True, eq=False)
class Asked(Generic[T_co]):
    """A workload about a table of a session: `explain` it for nothing, or `release` it."""

    about: About = field(repr=False)
    title: str
    detail: str = field(repr=False)
    name: str
    labels: Labels = field(repr=False)
    worth: float
    estimand: str = ""
    exactly: str = "count the cells exactly"
    over: str = "the workload"
    """What the stated root mean squared error is a mean over."""
    measure: Callable[[Loss], Measurement[Estimates]] = field(repr=False)
    present: Callable[[Asked[Any], Measurement[Estimates], Release], T_co] = field(repr=False)

    def __repr__(self) -> str:
        how = ".explain(spend=...) is free, .release(spend=...) spends"
        return f"{self.title}: not asked yet; {how}"

    @called('s.ranges("age").explain(spend=dp.epsilon(0.5))')
    def explain(self, *, spend: Loss) -> Plan:
        """The strategy, the cost and the errors to expect; free."""
        session = self.about.session
        measured = self.measure(session.spending(spend))
        plan, mechanism = measured.plan, together(measured.steps)
        halves = plan.errors * self.worth
        mean, least, most = (
            shown_error(x) for x in (plan.rmse * self.worth, halves.min(), halves.max())
        )
        return Plan(
            question=self.title,
            cost=budgets.used(spend, mechanism),
            errors={self.name: float(halves.max())},
            steps=[
                f"{self.exactly}, in one pass over the rows",
                f"{_added(measured)} (strategy: {plan.strategy})",
                "compute every answer from the least-squares fit",
            ],
            **balance(session.ledger, session.ledger.price(mechanism)),
            notes=(
                f"root mean squared error over {self.over}: {mean}",
                *([f"{plan.strategy}: {why}"] if (why := plan.instead(self.worth)) else []),
                f"± {span(least, most)} (95 % confidence)",
                *([self.estimand] if self.estimand else []),
            ),
        )

    def _noise(self, measured: Measurement[Estimates]) -> str:
        """Which noise is added to what, at its scale in units of the answer."""
        plan = measured.plan
        scales = sorted({spread * self.worth for spread in measured.noise.spreads})
        shown = " to ".join(digits(scale) for scale in dict.fromkeys([scales[0], scales[-1]]))
        letter = "b" if plan.law == "laplace" else "σ"
        return f"{_added(measured)}: {letter} = {shown} (strategy: {plan.strategy})"

    @called('s.ranges("age").release(spend=dp.epsilon(0.5))')
    def release(self, *, spend: Loss) -> T_co:
        """The answers, with their ±: charged, then computed, then drawn."""
        session = self.about.session
        spend = session.spending(spend)
        measured = self.measure(spend)

        def columns(drawn: list[Any]) -> tuple[Labels, dict[str, Noisy]]:
            found = measured.read(drawn)
            return self.labels, {self.name: column_of(found, self.worth, self.estimand)}

        how = f"{self.detail}\n{measured.plan.strategy}, {measured.plan.law}"
        with offering(session, spend, self._due):
            released = session.release(
                measured.steps,
                question=f"{self.title}\n{how}",
                table=self.about.source.name,
                title=self.title,
                present=columns,
            )
        noise = (self._noise(measured),)
        shown = replace(released.provenance, question=self.title, noise=noise)
        return self.present(self, measured, replace(released, provenance=shown))

    def _due(self, spend: Loss) -> Price:
        """What an amount would be charged."""
        return self.about.session.ledger.price(together(self.measure(spend).steps))


def column_of(found: Estimates, worth: float, estimand: str) -> Noisy:
    """Values with intervals at a few confidences."""
    shown, intervals = found.times(worth), {}
    values = shown.values
    for confidence in CONFIDENCES:
        half = shown.error(confidence)
        pairs = np.stack([values - half, values + half], axis=1).tolist()
        intervals[confidence] = tuple(map(tuple, pairs))
    spread = Tabulated(intervals=intervals)
    return Noisy(cells=tuple(values.tolist()), spread=spread, estimand=estimand)


def span(least: str, most: str) -> str:
    """The smallest and the largest ±, or the one that all have."""
    return f"{most} for every answer" if least == most else f"from {least} to {most}"


def answer_name(name: str, columns: Iterable[str]) -> str:
    """A name for the answer that no column of keys has, nor one of its own companions."""
    taken = {column.lower() for column in columns}
    while any(f"{name}{part}" in taken for part in ("", "_error", "_low", "_high")):
        name = f"noisy_{name}"
    return name


def _added(measured: Measurement[Estimates]) -> str:
    law = "Laplace" if measured.plan.law == "laplace" else "Gaussian"
    count = len(measured.steps)
    parts = "one vector" if count == 1 else f"{count} vectors"
    return f"add {law} noise to {parts} of whole numbers"


def as_release(_: Asked[Any], __: Measurement[Estimates], released: Release) -> Release:
    """The release itself."""
    return released


def measuring(about: About, w: Any, counts: Vector) -> Callable[[Loss], Measurement[Estimates]]:
    """How a workload over one vector of counts measures it for an amount."""

    def measure(spend: Loss) -> Measurement[Estimates]:
        filter_ = about.session.ledger.filter
        measured: Measurement[Estimates] = w.measure(flat(counts), spend=spend, filter=filter_)
        return measured

    return measure


def flat(counts: Vector) -> Any:
    """The counts without their keys: a workload knows cells by number."""
    value = counts.value
    bounds = {norm: value.bound(norm) for norm in ("l1", "l2", "linf")}
    return value.then(np.ravel, **bounds, whole=True, shape=value.form.size)


def cells_of(about: About, column: str, *, bins: Any, kept: bool = False) -> Listed | Intervals:
    """The cells of a column.

    Missing values count as the value that the schema states for them. Without one they are left out
    if `bins` is given, and have a cell of their own if not, or if all rows are to be `kept`: where
    several tables are counted at once, a row that one leaves out would be missing in all.
    """
    facts = about.source.column(column)
    stated = facts.missing is not None and facts.missing != DROP
    null: Any = None if stated else "own" if kept or bins is None else "drop"
    try:
        return binning_of(facts, bins=bins, null=null)
    except DeniableError as error:
        error.what = f"`{column}`: {error.what}"
        raise


def estimand_of(query: Query) -> str:
    """What is estimated, where rows are left out or values are clipped."""
    plan = query.integers
    notes = [limited(plan.rows)] if plan.weight != 1 else []
    notes += remarks.estimand_of(plan.question, plan.question.aggregates)
    notes += [part.estimand for part in plan.parts.values()]
    return "; ".join(filter(None, notes))


def counted(
    about: About,
    cells: Mapping[str, Listed | Intervals],
    sets: Sequence[tuple[int, ...]],
    *,
    of: Aggregate = COUNT,
) -> Query:
    """The query that counts or adds up cells, for each set of columns, in one reading."""
    keys = [
        Key(name=name, expression=_cell(about, name, c), values=tuple(range(c.count)))
        for name, c in cells.items()
    ]
    return ask(about, of, keys=keys, sets=sets, text=f"{of.name} by {', '.join(cells)}")


def _cell(about: About, name: str, cells: Listed | Intervals) -> Expression:
    """The cell that a row falls into, as an expression; an error where there are too many."""
    try:
        return cell_of(about.column(name), cells)
    except UnsupportedQuery:
        raise BadParameter(
            f"`{name}` has {cells.count:,} values, which is more than one workload can count",
            fix=f's.top_k("{name}", k=10, spend=dp.epsilon(0.1))    or group rare values',
        ) from None
