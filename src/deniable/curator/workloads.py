"""One-line workloads on a session: ranges, marginals, hierarchies, running totals."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, overload

from deniable import statistics
from deniable.losses import Loss
from deniable.parameters import called
from deniable.release import Release
from deniable.schema.edges import Bins
from deniable.session import Session

if TYPE_CHECKING:
    from deniable.statistics.sampled import Sampled, Statistic
    from deniable.statistics.workloads import Asked, Every, Following, Growing, Ranges


class Workloads(Session):
    """Many answers from one release. Without `spend=` each returns the question, to `explain`."""

    @overload
    def ranges(
        self, column: str, *, spend: Loss, bins: Bins | None = None, table: str | None = None
    ) -> Ranges: ...
    @overload
    def ranges(
        self, column: str, *, spend: None = None, bins: Bins | None = None, table: str | None = None
    ) -> Asked[Ranges]: ...
    @called('s.ranges("age", spend=dp.epsilon(0.5))')
    def ranges(
        self,
        column: str,
        *,
        spend: Loss | None = None,
        bins: Bins | None = None,
        table: str | None = None,
    ) -> Ranges | Asked[Ranges]:
        """Every range of a column: `s.ranges("age", spend=...).between(20, 40)`."""
        from deniable.statistics import workloads

        asked = workloads.ranges(self._about(table), column, bins=bins)
        return asked if spend is None else asked.release(spend=spend)

    @overload
    def marginals(
        self,
        columns: Sequence[str],
        *,
        spend: Loss,
        ways: int = 2,
        bins: Bins | None = None,
        table: str | None = None,
    ) -> Release: ...
    @overload
    def marginals(
        self,
        columns: Sequence[str],
        *,
        spend: None = None,
        ways: int = 2,
        bins: Bins | None = None,
        table: str | None = None,
    ) -> Asked[Release]: ...
    @called('s.marginals(["sex", "race"], ways=2, spend=dp.epsilon(0.5))')
    def marginals(
        self,
        columns: Sequence[str],
        *,
        spend: Loss | None = None,
        ways: int = 2,
        bins: Bins | None = None,
        table: str | None = None,
    ) -> Release | Asked[Release]:
        """A table for every set of `ways` of the columns; all tables agree with each other."""
        from deniable.statistics import workloads

        asked = workloads.marginals(self._about(table), columns, ways=ways, bins=bins)
        return asked if spend is None else asked.release(spend=spend)

    @overload
    def hierarchy(
        self,
        columns: Sequence[str],
        *,
        spend: Loss,
        groups: Mapping[str, Mapping[Any, object]] | None = None,
        table: str | None = None,
    ) -> Release: ...
    @overload
    def hierarchy(
        self,
        columns: Sequence[str],
        *,
        spend: None = None,
        groups: Mapping[str, Mapping[Any, object]] | None = None,
        table: str | None = None,
    ) -> Asked[Release]: ...
    @called('s.hierarchy(["state", "county"], spend=dp.epsilon(0.5))')
    def hierarchy(
        self,
        columns: Sequence[str],
        *,
        spend: Loss | None = None,
        groups: Mapping[str, Mapping[Any, object]] | None = None,
        table: str | None = None,
    ) -> Release | Asked[Release]:
        """Counts by the first column, the first two, …, and in total, that add up.

        `groups` adds groupings of the last column that may cut across the others:
        `groups={"zip": {"Berkeley": "94704", ...}}`.
        """
        from deniable.statistics import workloads

        asked = workloads.hierarchy(self._about(table), columns, groups=groups)
        return asked if spend is None else asked.release(spend=spend)

    @overload
    def running(
        self,
        column: str,
        *,
        spend: Loss,
        every: Every = "day",
        of: str | None = None,
        table: str | None = None,
    ) -> Release: ...
    @overload
    def running(
        self,
        column: str,
        *,
        spend: None = None,
        every: Every = "day",
        of: str | None = None,
        table: str | None = None,
    ) -> Asked[Release]: ...
    @called('s.running("when", every="day", spend=dp.epsilon(0.5))')
    def running(
        self,
        column: str,
        *,
        spend: Loss | None = None,
        every: Every = "day",
        of: str | None = None,
        table: str | None = None,
    ) -> Release | Asked[Release]:
        """The number of rows up to each day, or the sum of a column, `of="cost"`.

        `every` is "hour", "day", "week", "month", "quarter" or "year".
        A person's rows are limited over the whole stream, not step by step.
        """
        from deniable.statistics import workloads

        asked = workloads.running(self._about(table), column, every=every, of=of)
        return asked if spend is None else asked.release(spend=spend)

    @overload
    def follow(
        self,
        column: str,
        *,
        spend: Loss,
        every: Every = "day",
        of: str | None = None,
        table: str | None = None,
    ) -> Growing: ...
    @overload
    def follow(
        self,
        column: str,
        *,
        spend: None = None,
        every: Every = "day",
        of: str | None = None,
        table: str | None = None,
    ) -> Following: ...
    @called('s.follow("when", every="day", spend=dp.epsilon(0.5))')
    def follow(
        self,
        column: str,
        *,
        spend: Loss | None = None,
        every: Every = "day",
        of: str | None = None,
        table: str | None = None,
    ) -> Growing | Following:
        """Running totals of a table that grows: pay once for the whole stream, then ask `.next()`.

        The first `rows` rows of each person count, in the order of time, over the whole stream.
        That holds only if rows are never deleted or changed. After a restart with the same ledger,
        `s.follow("when").resume()` goes on with the stream, for nothing.
        """
        from deniable.statistics import workloads

        about = self._about(table)
        asked = workloads.follow(about, workloads.steps_of(about, column, every=every, of=of))
        return asked if spend is None else asked.open(spend=spend)

    @overload
    def sample_and_aggregate(
        self,
        function: Statistic,
        columns: str | Sequence[str],
        *,
        spend: Loss,
        parts: int | None = None,
        table: str | None = None,
    ) -> Release: ...
    @overload
    def sample_and_aggregate(
        self,
        function: Statistic,
        columns: str | Sequence[str],
        *,
        spend: None = None,
        parts: int | None = None,
        table: str | None = None,
    ) -> Sampled: ...
    @called('s.sample_and_aggregate(np.median, "cost", spend=dp.epsilon(0.5))')
    def sample_and_aggregate(
        self,
        function: Statistic,
        columns: str | Sequence[str],
        *,
        spend: Loss | None = None,
        parts: int | None = None,
        table: str | None = None,
    ) -> Release | Sampled:
        """Any function of columns, averaged over disjoint parts of the rows, wherever it lies.

        No range of answers is given: a quarter of the loss finds their magnitude first. The
        function gets an array of the values of a part, of which it must remember nothing when it
        gets the next; all rows of a person are in one part.
        """
        from deniable.statistics.sampled import sampled

        asked = sampled(self._about(table), function, columns, parts=parts)
        return asked if spend is None else asked.release(spend=spend)

    def _about(self, table: str | None) -> statistics.About:
        return statistics.About(session=self, table=table)
