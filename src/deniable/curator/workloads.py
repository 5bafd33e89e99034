"""One-line workloads on a session: ranges, marginals, hierarchies, running totals."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from importlib import import_module
from typing import TYPE_CHECKING, Any, Unpack, overload

from deniable import statistics
from deniable.losses import Loss
from deniable.parameters import called
from deniable.release import Release
from deniable.session import Session

from .options import Binned, Levels, Parts, Steps, Ways

if TYPE_CHECKING:
    from deniable.statistics.sampled import Sampled, Statistic
    from deniable.statistics.workloads import Asked, Following, Growing, Ranges


class Workloads(Session):
    """Many answers from one release. Without `spend=` each returns the question, to `explain`."""

    @overload
    def ranges(self, column: str, *, spend: Loss, **how: Unpack[Binned]) -> Ranges: ...
    @overload
    def ranges(self, column: str, *, spend: None = ..., **how: Unpack[Binned]) -> Asked[Ranges]: ...
    @called('s.ranges("age", spend=dp.epsilon(0.5))', options=Binned)
    def ranges(
        self, column: str, *, spend: Loss | None = None, **how: Unpack[Binned]
    ) -> Ranges | Asked[Ranges]:
        """Every range of a column: `s.ranges("age", spend=...).between(20, 40)`."""
        asked: Asked[Ranges] = self._workload("ranges", column, how)
        return asked if spend is None else asked.release(spend=spend)

    @overload
    def marginals(self, columns: Sequence[str], *, spend: Loss, **how: Unpack[Ways]) -> Release: ...
    @overload
    def marginals(
        self, columns: Sequence[str], *, spend: None = ..., **how: Unpack[Ways]
    ) -> Asked[Release]: ...
    @called('s.marginals(["sex", "race"], ways=2, spend=dp.epsilon(0.5))', options=Ways, ways=2)
    def marginals(
        self, columns: Sequence[str], *, spend: Loss | None = None, **how: Unpack[Ways]
    ) -> Release | Asked[Release]:
        """A table for every set of `ways` of the columns; all tables agree with each other."""
        asked: Asked[Release] = self._workload("marginals", columns, how)
        return asked if spend is None else asked.release(spend=spend)

    @overload
    def hierarchy(
        self, columns: Sequence[str], *, spend: Loss, **how: Unpack[Levels]
    ) -> Release: ...
    @overload
    def hierarchy(
        self, columns: Sequence[str], *, spend: None = ..., **how: Unpack[Levels]
    ) -> Asked[Release]: ...
    @called('s.hierarchy(["state", "county"], spend=dp.epsilon(0.5))', options=Levels)
    def hierarchy(
        self, columns: Sequence[str], *, spend: Loss | None = None, **how: Unpack[Levels]
    ) -> Release | Asked[Release]:
        """Counts by the first column, the first two, …, and in total, that add up.

        `groups` adds groupings of the last column that may cut across the others:
        `groups={"zip": {"Berkeley": "94704", ...}}`.
        """
        asked: Asked[Release] = self._workload("hierarchy", columns, how)
        return asked if spend is None else asked.release(spend=spend)

    @overload
    def running(self, column: str, *, spend: Loss, **how: Unpack[Steps]) -> Release: ...
    @overload
    def running(
        self, column: str, *, spend: None = ..., **how: Unpack[Steps]
    ) -> Asked[Release]: ...
    @called('s.running("when", every="day", spend=dp.epsilon(0.5))', options=Steps, every="day")
    def running(
        self, column: str, *, spend: Loss | None = None, **how: Unpack[Steps]
    ) -> Release | Asked[Release]:
        """The number of rows up to each day, or the sum of a column, `of="cost"`.

        `every` is "hour", "day", "week", "month", "quarter" or "year".
        A person's rows are limited over the whole stream, not step by step.
        """
        asked: Asked[Release] = self._workload("running", column, how)
        return asked if spend is None else asked.release(spend=spend)

    @overload
    def follow(self, column: str, *, spend: Loss, **how: Unpack[Steps]) -> Growing: ...
    @overload
    def follow(self, column: str, *, spend: None = ..., **how: Unpack[Steps]) -> Following: ...
    @called('s.follow("when", every="day", spend=dp.epsilon(0.5))', options=Steps, every="day")
    def follow(
        self, column: str, *, spend: Loss | None = None, **how: Unpack[Steps]
    ) -> Growing | Following:
        """Running totals of a table that grows: pay once for the whole stream, then ask `.next()`.

        The first `rows` rows of each person count, in the order of time, over the whole stream.
        That holds only if rows are never deleted or changed. After a restart with the same ledger,
        `s.follow("when").resume()` goes on with the stream, for nothing.
        """
        asked: Following = self._workload("follow", column, how)
        return asked if spend is None else asked.open(spend=spend)

    @overload
    def sample_and_aggregate(
        self,
        function: Statistic,
        columns: str | Sequence[str],
        *,
        spend: Loss,
        **how: Unpack[Parts],
    ) -> Release: ...
    @overload
    def sample_and_aggregate(
        self,
        function: Statistic,
        columns: str | Sequence[str],
        *,
        spend: None = ...,
        **how: Unpack[Parts],
    ) -> Sampled: ...
    @called('s.sample_and_aggregate(np.median, "cost", spend=dp.epsilon(0.5))', options=Parts)
    def sample_and_aggregate(
        self,
        function: Statistic,
        columns: str | Sequence[str],
        *,
        spend: Loss | None = None,
        **how: Unpack[Parts],
    ) -> Release | Sampled:
        """Any function of columns, averaged over disjoint parts of the rows, wherever it lies.

        No range of answers is given: a quarter of the loss finds their magnitude first. The
        function gets an array of the values of a part, of which it must remember nothing when it
        gets the next; all rows of a person are in one part.
        """
        from deniable.statistics.sampled import sampled

        about = self._about(how.get("table"), columns)
        asked = sampled(about, function, columns, parts=how.get("parts"))
        return asked if spend is None else asked.release(spend=spend)

    def _about(self, table: str | None, *columns: object) -> statistics.About:
        """The table that is named, or else the one that has these columns."""
        return statistics.About(session=self, table=table, asked=columns)

    def _workload(self, name: str, columns: object, how: Mapping[str, Any]) -> Any:
        """The question, from the function of that name."""
        ask = getattr(import_module("deniable.statistics.workloads"), name)
        options = {option: value for option, value in how.items() if option != "table"}
        about = self._about(how.get("table"), columns, how.get("of"))
        return ask(about, columns, **options)
