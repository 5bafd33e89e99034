"""What `dp.open` returns: the session with SQL, Ibis and one-line statistics.

import deniable as dp

s = dp.open(table, unit=dp.rows(), budget=dp.epsilon(1.0))
s.count(spend=dp.epsilon(0.1))
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Literal, NamedTuple

from deniable import session as core
from deniable import statistics
from deniable.errors import BadParameter, DeniableError
from deniable.ledger import Ledger
from deniable.losses import Approx, Loss
from deniable.losses.filters import Price
from deniable.parameters import called
from deniable.query.algebra import Question
from deniable.query.front import question_from_sql
from deniable.query.query import Query, Within
from deniable.query.refuse import paid_before
from deniable.release import Release
from deniable.release.numbers import amount
from deniable.schema import Schema
from deniable.session import Session
from deniable.units import Unit

if TYPE_CHECKING:
    from deniable.statistics import About
    from deniable.statistics.building import By

Auto = Literal["auto"]


class Paying(NamedTuple):
    """What is spent, or the ± that is wanted and about how many rows a group has."""

    spend: Loss | None
    within: Within | None
    size: float | None


class Curator(Session):
    """Data, whom they protect, and a ceiling: ask in SQL, in Ibis, or by one-line statistics.

    Every statistic takes `spend=` (a loss) or `within=` (a ± with 95 %), and `by=` for groups.
    `bounds="auto"` finds the bounds of a column privately first, for a quarter of the spend.
    """

    # ---- questions

    @called('s.sql("SELECT COUNT(*) FROM data")')
    def sql(self, text: str) -> Query:
        """A question in SQL: checked and bounded; free until it is released."""
        if not isinstance(text, str):
            raise BadParameter.of(
                "text", text, must="SQL", fix='s.sql("SELECT COUNT(*) FROM data")'
            )
        question = question_from_sql(
            text, tables=self.tables, unit=self.unit, private_keys=isinstance(self.budget, Approx)
        )
        return Query(session=self, question=question)

    @called("s.query(table.count())")
    def query(self, expression: object) -> Query:
        """The same from an Ibis expression."""
        front = import_module("deniable.query.ibis")
        question: Question = front.question_from_ibis(
            expression,
            tables=self.tables,
            unit=self.unit,
            private_keys=isinstance(self.budget, Approx),
        )
        return Query(session=self, question=question)

    # ---- statistics

    @called("s.count(spend=dp.epsilon(0.1))")
    def count(
        self,
        *,
        spend: Loss | None = None,
        within: Within | None = None,
        by: By | None = None,
        table: str | None = None,
    ) -> Release:
        """How many rows there are."""
        return statistics.count(self._about(table), by=by).release(spend=spend, within=within)

    @called('s.sum("age", spend=dp.epsilon(0.1))')
    def sum(
        self,
        column: str,
        *,
        spend: Loss | None = None,
        within: Within | None = None,
        by: By | None = None,
        bounds: Auto | None = None,
        table: str | None = None,
    ) -> Release:
        """The sum of a column, its values held within their bounds."""
        return self._statistic(
            "sum", column, Paying(spend, within, None), by=by, bounds=bounds, table=table
        )

    @called('s.mean("age", spend=dp.epsilon(0.1))')
    def mean(
        self,
        column: str,
        *,
        spend: Loss | None = None,
        within: Within | None = None,
        size: float | None = None,
        by: By | None = None,
        bounds: Auto | None = None,
        table: str | None = None,
    ) -> Release:
        """The mean of a column."""
        return self._statistic(
            "mean", column, Paying(spend, within, size), by=by, bounds=bounds, table=table
        )

    @called('s.variance("age", spend=dp.epsilon(0.1))')
    def variance(
        self,
        column: str,
        *,
        spend: Loss | None = None,
        within: Within | None = None,
        size: float | None = None,
        by: By | None = None,
        bounds: Auto | None = None,
        table: str | None = None,
    ) -> Release:
        """The sample variance of a column."""
        return self._statistic(
            "variance", column, Paying(spend, within, size), by=by, bounds=bounds, table=table
        )

    @called('s.std("age", spend=dp.epsilon(0.1))')
    def std(
        self,
        column: str,
        *,
        spend: Loss | None = None,
        within: Within | None = None,
        size: float | None = None,
        by: By | None = None,
        bounds: Auto | None = None,
        table: str | None = None,
    ) -> Release:
        """The sample standard deviation of a column."""
        return self._statistic(
            "std", column, Paying(spend, within, size), by=by, bounds=bounds, table=table
        )

    @called('s.median("age", spend=dp.epsilon(0.1))')
    def median(
        self,
        column: str,
        *,
        spend: Loss,
        by: By | None = None,
        bounds: Auto | None = None,
        table: str | None = None,
    ) -> Release:
        """The median of a column."""
        return self.quantile(column, 0.5, spend=spend, by=by, bounds=bounds, table=table)

    @called('s.quantile("age", [0.25, 0.5, 0.75], spend=dp.epsilon(0.1))')
    def quantile(
        self,
        column: str,
        q: float | Sequence[float],
        *,
        spend: Loss,
        by: By | None = None,
        bounds: Auto | None = None,
        table: str | None = None,
    ) -> Release:
        """One quantile of a column, or several for the price of one."""
        return self._answered(
            lambda about: statistics.quantile(about, column, q, by=by),
            column,
            Paying(spend, None, None),
            bounds=bounds,
            table=table,
        )

    @called('s.histogram("age", bins=10, spend=dp.epsilon(0.1))')
    def histogram(
        self,
        column: str,
        *,
        spend: Loss | None = None,
        within: Within | None = None,
        bins: int | Sequence[float] | None = None,
        bounds: Auto | None = None,
        table: str | None = None,
    ) -> Release:
        """Rows by the value of a column: by its public list, or in bins between its bounds."""
        if bounds is not None and isinstance(bins, Sequence):
            raise BadParameter(
                'bins= says where the histogram ends, and bounds="auto" would search for that',
                fix=f's.histogram("{column}", bins=10, spend=dp.epsilon(0.1), bounds="auto")',
            )
        return self._answered(
            lambda about: statistics.histogram(about, column, bins=bins),
            column,
            Paying(spend, within, None),
            bounds=bounds,
            table=table,
        )

    @called('s.crosstab("education", "sex", spend=dp.epsilon(0.1))')
    def crosstab(
        self,
        first: str,
        second: str,
        *,
        spend: Loss | None = None,
        within: Within | None = None,
        table: str | None = None,
    ) -> Release:
        """Rows by two columns."""
        query = statistics.crosstab(self._about(table), first, second)
        return query.release(spend=spend, within=within)

    @called('s.top_k("name", k=10, spend=dp.epsilon(0.1))')
    def top_k(
        self,
        column: str,
        *,
        k: int = 10,
        spend: Loss | None = None,
        within: Within | None = None,
        table: str | None = None,
    ) -> Release:
        """The commonest values of a column with their counts."""
        query = statistics.top_k(self._about(table), column, k=k)
        return query.release(spend=spend, within=within)

    @called('s.bounds("age", spend=dp.epsilon(0.1))')
    def bounds(self, column: str, *, spend: Loss, table: str | None = None) -> tuple[float, float]:
        """(low, high) that hold nearly all values of a column, found privately: powers of two."""
        from deniable.statistics.ranges import read_bounds

        about = self._about(table)
        found = statistics.bounds(about, column).release(spend=spend)
        return read_bounds(found, whole=about.source.column(column).type == "int")

    @called("s.describe(spend=dp.epsilon(0.5))")
    def describe(
        self,
        columns: Sequence[str] | None = None,
        *,
        spend: Loss,
        table: str | None = None,
    ) -> Release:
        """Count, mean, std and quartiles of every column with bounds."""
        from deniable.statistics.summary import reshaped

        return reshaped(statistics.describe(self._about(table), columns).release(spend=spend))

    # ---- parts

    def _about(self, table: str | None) -> About:
        return statistics.About(session=self, table=table)

    def _statistic(
        self,
        name: str,
        column: str,
        paying: Paying,
        *,
        by: By | None,
        bounds: Auto | None,
        table: str | None,
    ) -> Release:
        return self._answered(
            lambda about: statistics.statistic(about, name, column, by=by),
            column,
            paying,
            bounds=bounds,
            table=table,
        )

    def _answered(
        self,
        ask: Callable[[About], Query],
        column: str,
        paying: Paying,
        *,
        bounds: Auto | None,
        table: str | None,
    ) -> Release:
        """The answer; with automatic bounds for a column after a search for them."""
        from deniable.statistics.ranges import knowing, quarter, read_bounds

        about = self._about(table)
        if bounds is None:
            return ask(about).release(**paying._asdict())
        if str(bounds) != "auto":
            raise BadParameter(
                'bounds= is "auto" here: what you know stands in the schema',
                fix=f'schema=dp.Schema(columns={{"{column}": dp.bounds(0, 100)}})',
            )
        if paying.spend is None:
            raise BadParameter(
                'bounds="auto" goes with spend=: a quarter of it pays for the search',
                fix='spend=dp.epsilon(0.5), bounds="auto"',
            )
        search, rest = quarter(self.spending(paying.spend))
        looking, then = statistics.bounds(about, column), paying._replace(spend=rest)
        self._check_both(looking.due(spend=search), ask, about, column, then)
        found = looking.release(spend=search)
        low, high = read_bounds(found, whole=about.source.column(column).type == "int")
        try:
            answer = ask(knowing(about, column, low, high)).release(**then._asdict())
        except DeniableError as error:
            paid_before(error, found, "find bounds")
            raise
        return _with(answer, found)

    def _check_both(
        self, due: Price, ask: Callable[[About], Query], about: About, column: str, then: Paying
    ) -> None:
        """Refuse now what would be refused after the search, whatever that finds."""
        from deniable.statistics.ranges import EXTREMES, knowing

        for low, high in EXTREMES:
            after = ask(knowing(about, column, low, high)).due(**then._asdict())
            if due != Price.zero:  # else the search is free, and what comes then is charged alone
                self.ledger.check(due + after)


def _with(release: Release, search: Release) -> Release:
    """The answer with what the search for bounds cost, and what it found, beside it."""
    from deniable.statistics.ranges import told

    nothing = "no value was told from noise, so bounds are near 0,"
    found = "bounds found privately" if told(search) else nothing
    note = f"{found} for {amount(search.loss, 'up')}; {release.provenance.note}"
    both = release.after(search)
    return replace(both, provenance=replace(both.provenance, note=note))


@called("dp.open(table, unit=dp.rows(), budget=dp.epsilon(1.0))")
def open(  # noqa: A001  (dp.open is the promised name)
    source: object,
    *,
    unit: Unit | None = None,
    budget: Loss | None = None,
    schema: Schema | Mapping[str, Schema] | str | os.PathLike[str] | None = None,
    ledger: Ledger | str | Path | None = None,
    name: str | None = None,
    version: str | None = None,
    asker: str | None = None,
) -> Curator:
    """Open data for private questions.

    `source` is a path or glob (.csv, .parquet), a frame, an Ibis table, a connection, or several
    tables by name. Only column names and types are looked at. `unit` is whom to protect, here or in
    the schema. `budget` is the ceiling for everything that will ever be released from this ledger;
    an existing ledger brings its own. A frame is called `data`, a file by its stem, unless `name`
    says otherwise. `version` is your public name for the state of the data: answers stored about
    one version are not given for another. The budget is one for all versions. `asker` is whom the
    session is for: it spends from their share, and shows nothing of others. Without it the session
    is the curator's.
    """
    opened = core.open(
        source,
        unit=unit,
        budget=budget,
        schema=schema,
        ledger=ledger,
        name=name,
        version=version,
        asker=asker,
    )
    return Curator(
        tables=opened.tables,
        schema=opened.schema,
        ledger=opened._ledger,  # noqa: SLF001  (the session it becomes holds it as well)
        asker=opened.asker,
    )
