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
from typing import TYPE_CHECKING, Any, Literal, TypedDict, Unpack

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
from deniable.schema.edges import Bins
from deniable.session import Session
from deniable.units import Unit

if TYPE_CHECKING:
    from deniable.statistics import About
    from deniable.statistics.building import By

Auto = Literal["auto"]


class Spend(TypedDict):
    """What an answer may cost."""

    spend: Loss


class Asked(TypedDict, total=False):
    """What is spent, or the ± that is wanted; and of which table."""

    spend: Loss | None
    within: Within | None
    table: str | None


class Counted(Asked, total=False):
    """The same, for groups."""

    by: By | None


class Summed(Counted, total=False):
    """The same, of a column whose bounds may be searched for."""

    bounds: Auto | None


class Averaged(Summed, total=False):
    """The same, where it matters about how many rows a group has."""

    size: float | None


class Histogram(Asked, total=False):
    """The same, in bins: how many, their edges, or "half-octaves"."""

    bins: Bins | None
    bounds: Auto | None


class Ranked(Spend, total=False):
    """What is spent on quantiles, by which groups, and of which table."""

    by: By | None
    bounds: Auto | None
    table: str | None


class Curator(Session):
    """Data with a privacy unit and a budget: query them in SQL, in Ibis, or by one-line statistics.

    Every statistic takes `spend=` (a loss) or `within=` (a ±, 95 % confidence), and `by=`.
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

    @called("s.count(spend=dp.epsilon(0.1))", options=Counted)
    def count(self, **how: Unpack[Counted]) -> Release:
        """How many rows there are."""
        query = statistics.count(self._about(how), by=how.get("by"))
        return query.release(**_paying(how))

    @called('s.sum("age", spend=dp.epsilon(0.1))', options=Summed)
    def sum(self, column: str, **how: Unpack[Summed]) -> Release:
        """The sum of a column, its values held within their bounds."""
        return self._statistic("sum", column, how)

    @called('s.mean("age", spend=dp.epsilon(0.1))', options=Averaged)
    def mean(self, column: str, **how: Unpack[Averaged]) -> Release:
        """The mean of a column."""
        return self._statistic("mean", column, how)

    @called('s.variance("age", spend=dp.epsilon(0.1))', options=Averaged)
    def variance(self, column: str, **how: Unpack[Averaged]) -> Release:
        """The sample variance of a column."""
        return self._statistic("variance", column, how)

    @called('s.std("age", spend=dp.epsilon(0.1))', options=Averaged)
    def std(self, column: str, **how: Unpack[Averaged]) -> Release:
        """The sample standard deviation of a column."""
        return self._statistic("std", column, how)

    @called('s.median("age", spend=dp.epsilon(0.1))', options=Ranked)
    def median(self, column: str, **how: Unpack[Ranked]) -> Release:
        """The median of a column."""
        return self.quantile(column, 0.5, **how)

    @called('s.quantile("age", [0.25, 0.5, 0.75], spend=dp.epsilon(0.1))', options=Ranked)
    def quantile(self, column: str, q: float | Sequence[float], **how: Unpack[Ranked]) -> Release:
        """One quantile of a column, or several for the price of one."""
        by = how.get("by")
        return self._answered(lambda at: statistics.quantile(at, column, q, by=by), column, how)

    @called('s.histogram("age", bins=10, spend=dp.epsilon(0.1))', options=Histogram)
    def histogram(self, column: str, **how: Unpack[Histogram]) -> Release:
        """Rows by the value of a column: by its public list, or in bins between its bounds."""
        bins = how.get("bins")
        edges = isinstance(bins, Sequence) and not isinstance(bins, str)
        if how.get("bounds") is not None and edges:
            raise BadParameter(
                'bins= says where the histogram ends, and bounds="auto" would search for that',
                fix=f's.histogram("{column}", bins=10, spend=dp.epsilon(0.1), bounds="auto")',
            )
        return self._answered(lambda at: statistics.histogram(at, column, bins=bins), column, how)

    @called('s.crosstab("education", "sex", spend=dp.epsilon(0.1))', options=Asked)
    def crosstab(self, first: str, second: str, **how: Unpack[Asked]) -> Release:
        """Rows by two columns."""
        query = statistics.crosstab(self._about(how), first, second)
        return query.release(**_paying(how))

    @called('s.top_k("name", k=10, spend=dp.epsilon(0.1))', options=Asked)
    def top_k(self, column: str, *, k: int = 10, **how: Unpack[Asked]) -> Release:
        """The commonest values of a column with their counts."""
        return statistics.top_k(self._about(how), column, k=k).release(**_paying(how))

    @called('s.bounds("age", spend=dp.epsilon(0.1))')
    def bounds(self, column: str, *, spend: Loss, table: str | None = None) -> tuple[float, float]:
        """(low, high) that hold nearly all values of a column, found privately: powers of two."""
        from deniable.statistics.ranges import read_bounds

        about = self._about({"table": table})
        found = statistics.bounds(about, column).release(spend=spend)
        return read_bounds(found, whole=about.source.column(column).type == "int")

    @called("s.describe(spend=dp.epsilon(0.5))")
    def describe(
        self, columns: Sequence[str] | None = None, *, spend: Loss, table: str | None = None
    ) -> Release:
        """Count, mean, std and quartiles of every column with bounds."""
        from deniable.statistics.summary import reshaped

        about = self._about({"table": table})
        return reshaped(statistics.describe(about, columns).release(spend=spend))

    # ---- parts

    def _about(self, how: Mapping[str, Any]) -> About:
        return statistics.About(session=self, table=how.get("table"))

    def _statistic(self, name: str, column: str, how: Mapping[str, Any]) -> Release:
        by = how.get("by")
        return self._answered(
            lambda about: statistics.statistic(about, name, column, by=by), column, how
        )

    def _answered(
        self, ask: Callable[[About], Query], column: str, how: Mapping[str, Any]
    ) -> Release:
        """The answer; with automatic bounds for a column after a search for them."""
        from deniable.statistics.ranges import knowing, read_bounds

        about, paying, bounds = self._about(how), _paying(how), how.get("bounds")
        if bounds is None:
            return ask(about).release(**paying)
        if str(bounds) != "auto":
            raise BadParameter(
                'bounds= is "auto" here: what you know stands in the schema',
                fix=f'schema=dp.Schema(columns={{"{column}": dp.bounds(0, 100)}})',
            )
        if paying["spend"] is None:
            raise BadParameter(
                'bounds="auto" goes with spend=: a quarter of it pays for the search',
                fix='spend=dp.epsilon(0.5), bounds="auto"',
            )
        search, rest = self.spending(paying["spend"]).split(0.25)
        looking, then = statistics.bounds(about, column), paying | {"spend": rest}
        self._check_both(looking.due(spend=search), ask, about, column, then)
        found = looking.release(spend=search)
        low, high = read_bounds(found, whole=about.source.column(column).type == "int")
        try:
            answer = ask(knowing(about, column, low, high)).release(**then)
        except DeniableError as error:
            paid_before(error, found, "find bounds")
            raise
        return _with(answer, found)

    def _check_both(
        self,
        due: Price,
        ask: Callable[[About], Query],
        about: About,
        column: str,
        then: Mapping[str, Any],
    ) -> None:
        """Refuse now what would be refused after the search, whatever that finds."""
        from deniable.statistics.ranges import EXTREMES, knowing

        for low, high in EXTREMES:
            after = ask(knowing(about, column, low, high)).due(**then)
            if due != Price.zero:  # else the search is free, and what comes then is charged alone
                self.ledger.check(due + after)


def _paying(how: Mapping[str, Any]) -> dict[str, Any]:
    return {name: how.get(name) for name in ("spend", "within", "size")}


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
        of=Curator,
    )
    assert isinstance(opened, Curator)
    return opened
