"""Ranges of a column with an order, and running totals over time."""

from __future__ import annotations

import datetime as dt
from dataclasses import dataclass
from typing import Any, Final, Literal, get_args

import numpy as np

from deniable import parameters, workload
from deniable.errors import BadParameter
from deniable.query.algebra import Aggregate, Function
from deniable.query.query import Query
from deniable.release import Release
from deniable.release.months import PERIODS
from deniable.schema.binning import Intervals, Listed
from deniable.schema.edges import Bins
from deniable.statistics.building import COUNT, About
from deniable.workload.linear import Measurement
from deniable.workload.plans import Estimates
from deniable.workload.strategies.exact import LARGEST_CELL

from .answers import Ranges
from .asking import Asked, answer_name, as_release, cells_of, counted, estimand_of, measuring

Every = Literal["hour", "day", "week", "month", "quarter", "year"]

_RANGE_CELLS: Final = 1000
_MOST_STEPS: Final = 100_000
_LENGTHS: Final = {
    "hour": dt.timedelta(hours=1),
    "day": dt.timedelta(days=1),
    "week": dt.timedelta(days=7),
    "month": dt.timedelta(days=28),
}


def ranges(about: About, column: str, *, bins: Bins | None = None) -> Asked[Ranges]:
    """Every range of a column with an order, from one release."""
    about.column(column)
    facts = about.source.column(column)
    if facts.type == "text":
        raise _no_order(column, listed=facts.keys is not None)
    cells = cells_of(about, column, bins=_fine(about, column) if bins is None else bins)
    if not cells.ordered:
        raise _no_order(column, listed=True)
    query = counted(about, {column: cells}, [(0,)])
    (vector,) = query.vectors()
    w = workload.ranges(cells.count)
    labels = {column: tuple(cells.labels)}

    def present(asked: Asked[Any], measured: Measurement[Estimates], released: Release) -> Ranges:
        noisy = np.array(released.answers[asked.name].cells, dtype=np.float64) / asked.worth
        return Ranges(
            release=released,
            cells=cells,
            estimates=w.estimates(measured.plan, noisy),
            worth=asked.worth,
        )

    return Asked(
        about=about,
        title=f"ranges of {column} in {cells.count:,} cells",
        detail=repr(cells),
        name=answer_name("count", labels),
        labels=labels,
        worth=float(vector.worth),
        estimand=estimand_of(query),
        measure=measuring(about, w, vector),
        present=present,
    )


def _no_order(column: str, *, listed: bool) -> BadParameter:
    ask = f's.histogram("{column}", ' if listed else f's.top_k("{column}", k=10, '
    return BadParameter(
        f"`{column}` has no order, so it has no ranges", fix=f"{ask}spend=dp.epsilon(0.1))"
    )


def _fine(about: About, column: str) -> Bins | None:
    """Many cells: of equal width; of moments, the finest calendar unit that is not too many."""
    facts = about.source.column(column)
    if facts.keys is not None or facts.type == "bool":
        return None
    if facts.type != "timestamp" or facts.low is None:
        return _RANGE_CELLS
    low: Any = facts.low
    span: dt.timedelta = facts.high - low
    for every, length in _LENGTHS.items():
        if span / length < _RANGE_CELLS - 2:
            return _calendar(facts.low, facts.high, every)
    return _RANGE_CELLS


def running(
    about: About, column: str, *, every: Every = "day", of: str | None = None
) -> Asked[Release]:
    """The number of rows, or the sum of a column, up to the end of every day, hour, week or month.

    A person's rows are limited over the whole stream, not step by step.
    """
    steps = steps_of(about, column, every=every, of=of)
    query = steps.query()
    (vector,) = query.vectors()
    w = workload.prefixes(steps.cells.count)
    # Where the sum of a step is cut off, which no count comes near.
    held = f"a {every} counts at most ± {LARGEST_CELL * float(vector.worth):,.3g}" if of else ""
    return Asked(
        about=about,
        title=steps.title,
        detail=f"{steps.cells!r} {of!r}",
        name="total",
        labels={every: steps.labels},
        worth=float(vector.worth),
        estimand="; ".join(filter(None, (estimand_of(query), held))),
        exactly="count the cells exactly" if of is None else "add up each cell exactly",
        measure=measuring(about, w, vector),
        present=as_release,
    )


@dataclass(frozen=True, kw_only=True, eq=False)
class Steps:
    """The steps of a stream over a column of time, and what is added up in each."""

    about: About
    column: str
    every: Every
    of: str | None
    edges: tuple[Any, ...]
    cells: Listed | Intervals

    @property
    def title(self) -> str:
        """What is asked, in a line."""
        what = "count" if self.of is None else f"sum of {self.of}"
        return f"running {what} by {self.every} of {self.column}"

    @property
    def labels(self) -> tuple[object, ...]:
        """What each step is called: the moment an hour begins, the date of a day, 2024-Q2.

        A total is that at the *end* of its step, so a day is not called by its first instant.
        """
        starts = self.edges[:-1]
        if self.every == "hour":
            return tuple(starts)
        days = (at.date() if isinstance(at, dt.datetime) else at for at in starts)
        period = PERIODS.get(self.every)
        return tuple(days if period is None else map(period.of, days))

    def query(self) -> Query:
        """The question that counts or adds up the steps."""
        return counted(
            self.about, {self.column: self.cells}, [(0,)], of=_added(self.about, self.of)
        )

    def over(self, through: object) -> int:
        """How many steps are over after a day or a moment; by default, before now."""
        moments = isinstance(self.edges[0], dt.datetime)
        if through is None:
            now = dt.datetime.now(dt.UTC).replace(tzinfo=None)
            return sum(end <= (now if moments else now.date()) for end in self.edges[1:])
        if not isinstance(through, dt.date) or (isinstance(through, dt.datetime) and not moments):
            raise BadParameter.of("through", through, must="a date", fix=_as_date(through))
        if isinstance(through, dt.datetime) and through.tzinfo is not None:
            raise BadParameter.of("through", through, must="a moment in UTC, without a time zone")
        if not isinstance(through, dt.datetime):  # that day is over
            day = dt.timedelta(days=1)
            through = min(through, dt.date.max - day) + day
            through = dt.datetime.combine(through, dt.time()) if moments else through
        return sum(end <= through for end in self.edges[1:])


def _as_date(through: object) -> str:
    """A date that is meant by a text, as Python writes it; else an example."""
    try:
        day = dt.date.fromisoformat(str(through)[:10])
    except ValueError:
        day = dt.date(2025, 1, 31)
    return f"through=date({day.year}, {day.month}, {day.day})"


def steps_of(about: About, column: str, *, every: Every, of: str | None) -> Steps:
    """The steps between the first and the last day that the schema states."""
    facts = about.source.column(column)
    about.column(column)
    if facts.type not in ("date", "timestamp"):
        raise BadParameter(
            f"`{column}` is not a date or a timestamp",
            why="running totals are about time",
            fix=f's.ranges("{column}", spend=dp.epsilon(0.5))',
        )
    parameters.one_of("every", every, get_args(Every))
    edges = _calendar(facts.low, facts.high, every)
    cells = cells_of(about, column, bins=edges)
    return Steps(about=about, column=column, every=every, of=of, edges=tuple(edges), cells=cells)


def _added(about: About, of: str | None) -> Aggregate:
    if of is None:
        return COUNT
    return Aggregate(
        name="sum", function=Function.SUM, argument=about.number(of, what="running sum")
    )


def _calendar(low: Any, high: Any, every: str) -> list[Any]:
    """The starts of all days (or hours, weeks, …, years) from `low` to the first after `high`."""
    if low is None or high is None:
        raise BadParameter(
            "running totals need the first and the last day of the stream",
            why="where the data begin and end would be read from the data",
            fix='dp.bounds("2025-01-01", "2025-12-31", type="date")',
        )
    if every == "hour" and not isinstance(low, dt.datetime):
        raise BadParameter("a date has no hours", fix='every="day"')
    try:
        return _edges(low, high, every)
    except OverflowError:
        raise BadParameter(
            f"the first or the last {every} of the stream does not lie within the years 1 to 9999",
            fix='dp.bounds("2025-01-01", "2025-12-31", type="date")',
        ) from None


def _edges(low: Any, high: Any, every: str) -> list[Any]:
    at: Any = low
    if isinstance(low, dt.datetime):
        hour = low.hour if every == "hour" else 0
        at = low.replace(hour=hour, minute=0, second=0, microsecond=0)
    if every == "week":
        at -= dt.timedelta(days=at.weekday())
    if (period := PERIODS.get(every)) is not None:
        at = at.replace(month=period.of(at).month, day=1)
    edges = [at]
    while edges[-1] <= high:
        edges.append(_next(edges[-1], every))
        if len(edges) > _MOST_STEPS:
            raise BadParameter.of("every", every, must=f"at most {_MOST_STEPS:,} steps")
    return edges


def _next(at: Any, every: str) -> Any:
    period = PERIODS.get(every)
    if period is None:
        return at + _LENGTHS[every]
    year, month = divmod(12 * at.year + at.month - 1 + period.months, 12)
    if year > dt.MAXYEAR:
        raise OverflowError
    return at.replace(year=year, month=month + 1)
