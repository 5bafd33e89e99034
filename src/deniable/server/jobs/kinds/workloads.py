"""Many answers from one release: ranges, prefixes, marginals, hierarchies, running counts."""

from __future__ import annotations

from abc import abstractmethod
from typing import Annotated, Any, Literal

from pydantic import Field

from deniable import workload
from deniable.curator import Curator
from deniable.errors import BadParameter
from deniable.losses import Loss
from deniable.release import Plan, Release
from deniable.statistics.building import About
from deniable.statistics.workloads import Asked, Every
from deniable.statistics.workloads.asking import (
    answer_name,
    as_release,
    cells_of,
    counted,
    estimand_of,
    measuring,
)

from ._kind import Answer, Bins, Name, Named, Names


class Workload(Named):
    """One of the session's workloads."""

    @abstractmethod
    def asked(self, session: Curator) -> Asked[Any]:
        """The question, as a local session has it."""

    def explain(self, session: Curator, spend: Loss) -> Plan:
        """The strategy, the cost and the ±."""
        return self.asked(session).explain(spend=spend)

    def release(self, session: Curator, spend: Loss) -> Answer:
        """Every answer with its ±."""
        return Answer(release=self.asked(session).release(spend=spend))


class Ranges(Workload):
    """How many rows lie in every range of a column; quantiles are free afterwards."""

    kind: Literal["ranges"] = "ranges"
    column: Name
    """A column with an order: numbers with bounds, or dates."""
    bins: Bins | None = None
    """How many cells, or their edges; if empty, the schema's own."""

    def asked(self, session: Curator) -> Asked[Any]:
        return session.ranges(self.column, bins=self.bins, table=self.table)

    def release(self, session: Curator, spend: Loss) -> Answer:
        """The cells, with all that the ± of any range is computed from."""
        from .cells import written

        found = self.asked(session).release(spend=spend)
        return Answer(release=found.release, attachment=written(found))


class Prefixes(Workload):
    """How many rows have at most each value of a column with an order."""

    kind: Literal["prefixes"] = "prefixes"
    column: Name
    """A column with an order: numbers with bounds, or dates."""
    bins: Bins | None = None
    """How many cells, or their edges; if empty, the schema's own."""

    def asked(self, session: Curator) -> Asked[Release]:
        """Running totals over the cells of the column."""
        about = About(session=session, table=self.table)
        found = cells_of(about, self.column, bins=self.bins)
        if not found.ordered:
            raise BadParameter(
                f"`{self.column}` has no order, so it has no prefixes", fix='"kind": "marginals"'
            )
        query = counted(about, {self.column: found}, [(0,)])
        (vector,) = query.vectors()
        labels = {self.column: tuple(found.labels)}
        return Asked(
            about=about,
            title=f"running totals of {self.column} in {found.count:,} cells",
            detail=repr(found),
            name=answer_name("total", labels),
            labels=labels,
            worth=float(vector.worth),
            estimand=estimand_of(query),
            measure=measuring(about, workload.prefixes(found.count), vector),
            present=as_release,
        )


class Marginals(Workload):
    """All cross tables of so many of the columns; their totals agree with each other."""

    kind: Literal["marginals"] = "marginals"
    columns: Names
    """Columns with keys or bounds."""
    ways: Annotated[int, Field(ge=1, le=10)] = 2
    """How many columns each table has."""
    bins: Bins | None = None
    """How many cells, or their edges; if empty, the schema's own."""

    def asked(self, session: Curator) -> Asked[Any]:
        return session.marginals(self.columns, ways=self.ways, bins=self.bins, table=self.table)


class Hierarchy(Workload):
    """Counts by the first column, the first two, …, and in total, that add up."""

    kind: Literal["hierarchy"] = "hierarchy"
    columns: Annotated[Names, Field(json_schema_extra={"ordered": True})]
    """From the widest to the narrowest, such as state, county."""

    def asked(self, session: Curator) -> Asked[Any]:
        return session.hierarchy(self.columns, table=self.table)


class Running(Workload):
    """The number of rows up to the end of each hour, day, week, month, quarter or year."""

    kind: Literal["running"] = "running"
    column: Name
    """A column of dates or times, with bounds."""
    every: Every = "day"

    def asked(self, session: Curator) -> Asked[Any]:
        return session.running(self.column, every=self.every, table=self.table)
