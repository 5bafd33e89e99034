"""`dp.open`, and what it returns: the session with SQL, Ibis and one-line statistics."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from importlib import import_module
from itertools import accumulate
from pathlib import Path
from typing import TYPE_CHECKING, Any, Unpack

from deniable import fixes, session, statistics
from deniable.errors import BadParameter
from deniable.fixes import Fix
from deniable.ledger import Ledger
from deniable.losses import Loss
from deniable.losses.filters import Price
from deniable.parameters import called
from deniable.query.bind.scope import surroundings
from deniable.query.query import Query
from deniable.release import Release
from deniable.schema import Schema
from deniable.units import Unit

from .learning import Learning
from .options import Averaged, Counted, Histogram, Ranked, SpendOrWithin, Summed
from .synthesizing import Synthesizing
from .workloads import Workloads

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from deniable.statistics import About
    from deniable.statistics.contributions import Contributions
    from deniable.statistics.ranges import Bounds


@called("dp.open(table, unit=dp.rows(), budget=dp.epsilon(1.0))")
def open(
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
    tables by name. Only column names and types are read. `unit` is the privacy unit, here or in the
    schema. `budget` is the ceiling for everything that will ever be released from this ledger;
    an existing ledger brings its own. A frame is named `data`; a file takes its stem as its name;
    `name` overrides both. `version` is your public name for the state of the data: answers stored
    about one version are not given for another. All versions share one budget. `asker` is the
    analyst whose share pays; the session shows only their activity. Without it the session is the
    curator's.

    >>> import deniable as dp
    >>> people = dp.load_adult()
    >>> s = dp.open(people, unit=dp.rows(), budget=dp.epsilon(1.0), name="people")
    >>> q = s.sql("SELECT COUNT(*) AS n FROM people WHERE age > 40")
    >>> print(q.explain(within=50).cost)    # free: the price of that ±
    ε = 0.0594
    >>> answer = q.release(within=50)       # spends
    >>> print(s.left)
    ε = 0.94

    Statistics in one line: `count`, `sum`, `mean`, `median`, `quantile`, `variance`, `std`,
    `histogram`, `crosstab`, `top_k`, `describe`, `bounds`, `contributions`. More: `workload`,
    `synthesize`, `fit`, `select`, `run` for algorithms, `ledger`, `spent`, `left`, `plot`.
    """
    opened = session.open(
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


class Curator(Learning, Synthesizing, Workloads):
    """Data with a privacy unit and a budget: query them in SQL, in Ibis, or by one-line statistics.

    Every statistic takes `spend=` (a loss), most also `within=` (a ±, 95 % confidence) and `by=`.
    `bounds="auto"` finds the bounds of a column privately first, for a quarter of the spend.
    The same question asked again is free. `dp.open` makes one, and shows its first steps.

    >>> import deniable as dp
    >>> facts = dp.Schema(columns={"age": dp.bounds(17, 90), "sex": dp.keys(["Female", "Male"])})
    >>> s = dp.open(dp.load_adult(), unit=dp.rows(), budget=dp.epsilon(1.0), schema=facts)
    >>> first = s.mean("age", by="sex", spend=dp.epsilon(0.25))
    >>> again = s.mean("age", by="sex", spend=dp.epsilon(0.25))
    >>> again.rows() == first.rows(), s.spent == dp.epsilon(0.25)
    (True, True)
    """

    # ---- questions

    @called('s.sql("SELECT COUNT(*) FROM data")')
    def sql(self, text: str) -> Query:
        """A question in SQL: checked and bounded; free until it is released."""
        if not isinstance(text, str):
            private = [name for name, table in self.tables.items() if not table.public]
            (example,) = fixes.for_tables([Fix(fixes.EXAMPLE)], private)
            fix = f"s.sql({fixes.quoted(example.python)})"
            raise BadParameter.of("text", text, must="SQL", fix=fix)
        # The parser is half of a cold start; a session that asks nothing in SQL need not load it.
        from deniable.query.sql.select import question_from_sql

        return Query(session=self, question=question_from_sql(text, **surroundings(self)))

    @called("s.query(table.count())")
    def query(self, expression: object) -> Query:
        """A query from an Ibis expression."""
        front = import_module("deniable.query.ibis")
        asked = front.question_from_ibis(expression, **surroundings(self))
        return Query(session=self, question=asked)

    # ---- statistics

    @called("s.count(spend=dp.epsilon(0.1))", options=Counted)
    def count(self, **how: Unpack[Counted]) -> Release:
        """How many rows there are, all together or `by` columns.

        To count people instead: `s.sql("SELECT COUNT(DISTINCT patient) AS n FROM visits")`.
        """
        query = statistics.count(self._about(how.get("table"), how.get("by")), by=how.get("by"))
        return query.release(**_paying(how))

    @called('s.sum("age", spend=dp.epsilon(0.1))', options=Summed)
    def sum(self, column: str, **how: Unpack[Summed]) -> Release:
        """The sum of a column, its values clipped to their bounds."""
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

    @called('s.crosstab("education", "sex", spend=dp.epsilon(0.1))', options=SpendOrWithin)
    def crosstab(self, first: str, second: str, **how: Unpack[SpendOrWithin]) -> Release:
        """Counts for each pair of values of two columns."""
        query = statistics.crosstab(self._about(how.get("table"), first, second), first, second)
        return query.release(**_paying(how))

    @called('s.top_k("name", k=10, spend=dp.epsilon(0.1))', options=SpendOrWithin)
    def top_k(self, column: str, *, k: int = 10, **how: Unpack[SpendOrWithin]) -> Release:
        """The commonest values of a column with their counts."""
        about = self._about(how.get("table"), column)
        return statistics.top_k(about, column, k=k).release(**_paying(how))

    @called('s.bounds("age", spend=dp.epsilon(0.1))')
    def bounds(self, column: str, *, spend: Loss, table: str | None = None) -> Bounds:
        """(low, high) that hold nearly all values of a column, found privately: powers of two.

        Where noise hides all values, both are near 0, and a `note` says that none were found.
        """
        from deniable.statistics.ranges import read_bounds

        about = self._about(table, column)
        found = statistics.bounds(about, column).release(spend=spend)
        return read_bounds(found, whole=about.source.column(column).type == "int")

    @called("s.describe(spend=dp.epsilon(0.5))")
    def describe(
        self, columns: Sequence[str] | None = None, *, spend: Loss, table: str | None = None
    ) -> Release:
        """Count, mean, std and quartiles of every column with bounds."""
        from deniable.statistics.summary import reshaped

        return reshaped(
            statistics.describe(self._about(table, columns), columns).release(spend=spend)
        )

    @called('s.contributions(by="diagnosis", spend=dp.epsilon(0.1))')
    def contributions(
        self, by: str | None = None, *, spend: Loss, table: str | None = None
    ) -> Contributions:
        """How many rows and groups people have, to help you choose limits for them.

        Everyone counts once, whatever `rows` and `groups` of the unit are now.
        """
        from deniable.statistics import contributions

        about = self._about(table, by)
        text = contributions.question(about, by)
        person = self.unit.column
        assert person is not None
        return contributions.read(self.sql(text).release(spend=spend), about, person=person, by=by)

    def plot(self, *, ax: Axes | None = None) -> Axes:
        """What is left of the budget after each charge; in an asker's session, of their share."""
        from deniable import plots

        whole, lines = self.share or self.budget, self.ledger.entries
        if self.asker is None:  # a share is not left, whether it is spent or not
            counted = [e for e in lines if e.kind == "share" or (e.price and not e.standing)]
        else:
            counted = [entry for entry in lines if entry.kind == "charge"]
        sums = accumulate((entry.price or Price.zero for entry in counted), initial=Price.zero)
        spent = [getattr(self._ledger.filter.spent(each), whole.figure) for each in sums][1:]
        return plots.burn_down(
            getattr(whole, whole.figure),
            spent,
            [f"share for {e.asker}" if e.kind == "share" else e.what for e in counted],
            symbol=whole.symbol,
            unit=str(self.unit),
            ax=ax,
        )

    # ---- parts

    def _statistic(self, name: str, column: str, how: Mapping[str, Any]) -> Release:
        by = how.get("by")
        return self._answered(
            lambda about: statistics.statistic(about, name, column, by=by), column, how
        )

    def _answered(
        self, ask: Callable[[About], Query], column: str, how: Mapping[str, Any]
    ) -> Release:
        """The answer; with automatic bounds for a column after a search for them."""
        about = self._about(how.get("table"), column, how.get("by"))
        paying, bounds = _paying(how), how.get("bounds")
        if bounds is None:
            return ask(about).release(**paying)
        if str(bounds) != "auto":
            pair = isinstance(bounds, Sequence) and len(bounds) == 2 and not isinstance(bounds, str)
            ends = ", ".join(map(repr, sorted(bounds))) if pair else "0, 100"
            among = about.source.name if len(self.tables) > 1 else ""
            raise BadParameter(
                'bounds= accepts only "auto"; state known bounds in the schema',
                fix=fixes.schema({column: f"dp.bounds({ends})"}, among=among),
            )
        if paying["spend"] is None:
            raise BadParameter(
                'bounds="auto" goes with spend=: a quarter of it pays for the search',
                fix='spend=dp.epsilon(0.5), bounds="auto"',
            )
        from .searching import Searching

        spend = self.spending(paying.pop("spend"))
        return Searching(about=about, column=column, question=ask, options=paying).release(spend)


def _paying(how: Mapping[str, Any]) -> dict[str, Any]:
    """Of the options of a statistic, those that its query is released with."""
    return {name: how.get(name) for name in ("spend", "within", "size")}
