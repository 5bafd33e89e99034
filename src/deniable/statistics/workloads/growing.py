"""Running totals of a table that grows: paid for once, asked for the newest days only.

The whole stream, from the first day of the schema to the last, is one opened counter: `s.follow`
charges for all its steps, and `next` is free. Each step is counted once, from the table as it is
when that step is asked for.

A person's rows are counted in the order of time, up to `rows` of them over the *whole stream*: in a
step with n rows of a person of whom K were before, each of the n counts as min(n, max(rows − K, 0))
/n. By induction what a person adds up to some step is at most min(rows, their rows up to it), if
rows are only ever added: a row that is deleted later would make room for another one. The weights
used for tables that stand still (rows/k for someone with k rows) would not do, because k grows.

The ledger notes which steps are about to be read, before they are, and their totals, before they
are shown. So a stream can be resumed after its process has ended: no step is read again, and a new
counter for the rest adds to the last total that was noted (`session.streams` has the proof). Where
steps were read whose totals were not noted the stream has ended, as it has after an interrupt.
"""

from __future__ import annotations

import datetime as dt
import threading
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from deniable import workload
from deniable.errors import BadParameter
from deniable.losses import Loss
from deniable.mechanisms import Mechanism
from deniable.mechanisms.counting._stream import Counter
from deniable.parameters import called
from deniable.query.rows import Matrix, Rows
from deniable.release import Plan, Release
from deniable.release.numbers import shown_error
from deniable.release.plan import balance
from deniable.session import budgets, streams
from deniable.session.offers import offering
from deniable.session.streams import Course
from deniable.statistics.building import About
from deniable.workload.plans import Estimates, WorkloadPlan

from .asking import column_of, span
from .ordered import Every, Steps, steps_of

_BITS: Final = 28  # of what one unit moves: sums are rounded towards 0, row by row
_STREAM: Final = "follow"


@dataclass(frozen=True, kw_only=True, eq=False)
class Following:
    """A growing table to follow: `explain` for nothing, `open` to pay for the whole stream."""

    about: About = field(repr=False)
    steps: Steps = field(repr=False)

    @property
    def title(self) -> str:
        """What is asked, in a line."""
        return f"{self.steps.title}, as it grows"

    def __repr__(self) -> str:
        return f"{self.title}: not asked yet; .explain(spend=...) is free, .open(spend=...) spends"

    @called('s.follow("when").explain(spend=dp.epsilon(0.5))')
    def explain(self, *, spend: Loss) -> Plan:
        """The cost of the whole stream and the errors to expect; free."""
        counter, plan, worth = self._counter(spend)
        ledger = self.about.session.ledger
        halves = plan.errors * worth
        least, most = (shown_error(x) for x in (halves.min(), halves.max()))
        return Plan(
            question=self.title,
            cost=budgets.used(spend, counter),
            errors={"total": float(halves.max())},
            steps=[
                f"charge once for {len(halves):,} steps",
                f"count each {self.steps.every} once, when it is over",
                f"add it to the totals, with noise (strategy: {plan.strategy})",
            ],
            **balance(ledger, ledger.price(counter)),
            notes=(f"± {span(least, most)} (95 % confidence)", *self.notes()),
        )

    @called('s.follow("when").open(spend=dp.epsilon(0.5))')
    def open(self, *, spend: Loss) -> Growing:
        """Pay for all steps of the stream; `next` on the result is free."""
        counter, plan, _ = self._counter(spend)
        session = self.about.session
        with offering(session, spend, lambda loss: session.ledger.price(self._counter(loss)[0])):
            course = streams.begun(session, counter, question=self._question(), title=self.title)
        return Growing(self, course=course, plan=plan)

    @called('s.follow("when").resume()')
    def resume(self) -> Growing:
        """Go on with the newest stream that was paid for in this ledger, after a restart; free.

        The rest of the stream gets new noise, which comes on top of that of the last total.
        """
        session = self.about.session
        found = streams.paid(session, question=self._question())
        if found is None:
            raise BadParameter(
                "no such stream was paid for in this ledger",
                why="column, steps, bounds, table and data version must be as they were",
                fix="s.follow(...).open(spend=...)    which charges for the whole stream",
            )
        entry, notes = found
        (record,) = entry.mechanisms
        counter = Mechanism.from_dict(record)
        assert isinstance(counter, Counter)
        totals, deviations = _so_far(counter, notes)
        if len(totals) == len(self.steps.labels):
            raise BadParameter("all steps of this stream were asked for")
        rest = _rest(counter, len(totals))
        course = streams.resumed(session, rest, entry=entry, notes=notes)
        plan = workload.stream(steps=len(self.steps.labels)).planned(counter, session.budget)
        plan = replace(plan, deviations=_after(deviations, rest))
        return Growing(self, course=course, plan=plan, totals=totals)

    def _question(self) -> dict[str, object]:
        """By which the ledger finds the stream again: all that its bound and its steps rest on."""
        moved, worth = self.moved()
        labels = self.steps.labels
        return {
            "stream": self.title,
            "table": self.about.table or "",
            "steps": [str(labels[0]), str(labels[-1]), len(labels)],
            "moved": moved,
            "worth": worth,
            "data": self.about.session.version,
        }

    def _counter(self, spend: Loss) -> tuple[Counter, WorkloadPlan, float]:
        """The counter for all steps, the errors to expect, and what 1 in it is worth."""
        session = self.about.session
        moved, worth = self.moved()
        stream = workload.stream(steps=len(self.steps.labels))
        spend = session.spending(spend)
        made = stream.counter(spend=spend, sensitivity=moved, filter=session.ledger.filter)
        return made, stream.planned(made, spend), worth

    def notes(self) -> tuple[str, ...]:
        """What is counted, and on which condition the bound holds."""
        unit = self.about.session.unit
        clipped = f"values of {self.steps.of} are clipped to their bounds" if self.steps.of else ""
        most = (
            f"only the first {unit.rows} rows of each person, by date, count over the whole stream"
        )
        only_added = (
            "the bound holds if rows are only ever added: no row may be deleted, moved to another "
            f"{self.steps.every}, or lose its consent"
        )
        stated = (
            most if unit.column is not None else "",
            clipped,
            f"a row that arrives after its {self.steps.every} has been counted is never counted",
            only_added,
        )
        return tuple(filter(None, stated))

    def reader(self, rows: Rows) -> Callable[..., int]:
        """What the rows of one step add."""
        bits = _largest(rows).bit_length()
        return partial(
            _added,
            rows=rows.most // rows.weight,
            weight=rows.weight,
            first=max(0, bits - 62),
            shift=max(0, bits - _BITS),
        )

    def moved(self) -> tuple[float, float]:
        """How far one unit moves all steps together, and what 1 of that is worth."""
        rows = self.steps.query().rows()
        (number,) = rows.numbers
        assert number.centre == 0, "counts and sums are not centred"
        largest, sides = _largest(rows), self.about.session.unit.sides
        shift = max(0, largest.bit_length() - _BITS)
        return float(sides * (largest >> shift)), float(number.worth) * 2.0**shift / rows.weight


def _largest(rows: Rows) -> int:
    """What a unit adds at most, on each side of a replacement."""
    (number,) = rows.numbers
    return rows.most * max(-number.low, number.high, 1)


class Growing:
    """A stream that was paid for: `next` answers the steps since the last time, for nothing.

    The rows of a step are read once. What is noted when they are read outlives an interrupt.
    """

    def __init__(
        self,
        following: Following,
        *,
        course: Course,
        plan: WorkloadPlan,
        totals: list[float] | None = None,
    ) -> None:
        self._following, self._course, self._plan = following, course, plan
        self._alone = threading.RLock()
        self._totals = totals or []
        self._before = self._totals[-1] if self._totals else 0.0
        """The last total of an earlier process, to which this counter's are added."""
        self._epoch = self._noted = self._shown = len(self._totals)
        self._begun = list(range(self._epoch))
        """The steps whose rows were read, which must never happen again."""
        self._newest: Release | None = None

    def __repr__(self) -> str:
        steps = f"{len(self._totals):,} of {len(self._following.steps.labels):,} steps"
        return f"{self._following.title}: {steps} asked"

    @called("stream.next(through=date(2025, 1, 31))")
    def next(self, *, through: dt.date | dt.datetime | None = None) -> Release:
        """The totals of the steps that are over and were not asked for yet; free.

        `through` is the last day (or moment) that is over: by default the one before now.
        """
        with self._alone:
            steps = self._following.steps
            first, last = self._shown, steps.over(through)
            if last <= first:
                raise BadParameter(
                    f"no {steps.every} has ended since the last time",
                    fix="stream.next(through=...)    the last day that is over",
                )
            session, course = self._following.about.session, self._course
            streams.note(session, course, {"reading": last, "since": self._epoch})
            self._count(last)
            new = self._totals[self._noted :]
            streams.note(session, course, {"totals": new, "since": self._epoch})
            self._noted = len(self._totals)
            shown = self._release(first, last)
            self._shown = last
            return shown

    def _count(self, last: int) -> None:
        """Read and add the steps that were not, up to the last."""
        session, rows = self._following.about.session, self._following.steps.query().rows()
        moved, _ = self._following.moved()
        read = self._following.reader(rows)

        def once(matrix: Matrix, *, step: int) -> int:
            self._begun.append(step)
            return read(matrix, step=step)

        for step in range(len(self._totals), last):
            if len(self._begun) != step:
                raise _cut_off()
            value = rows.then(partial(once, step=step), l1=moved, whole=True, stream=_STREAM)
            self._newest = session.release(self._course.handle.on(value))
            (total,) = np.array(self._newest.answers["value"].cells, dtype=np.float64)
            self._totals.append(self._before + float(total))

    def _release(self, first: int, last: int) -> Release:
        following, newest = self._following, self._newest
        assert newest is not None
        _, worth = following.moved()
        found = Estimates(
            values=np.array(self._totals[first:last]),
            deviations=self._plan.deviations[first:last],
            plan=self._plan,
        )
        return replace(
            newest,
            keys={following.steps.every: following.steps.labels[first:last]},
            answers={"total": column_of(found, worth, "; ".join(following.notes()))},
            provenance=replace(newest.provenance, question=following.title),
        )


def _so_far(counter: Counter, notes: list[Any]) -> tuple[list[float], NDArray[np.float64]]:
    """The totals that were noted, and their standard deviations; an error if a step was lost."""
    totals, deviations, since = list[float](), np.zeros(0), 0
    for note in notes:
        if "totals" in note:
            if note["since"] != since or not len(deviations):
                since = note["since"]
                deviations = _after(deviations[:since], _rest(counter, since))
            totals += note["totals"]
    if any(note.get("reading", 0) > len(totals) for note in notes):
        raise _cut_off()
    return totals, deviations[: len(totals)]


def _rest(counter: Counter, steps: int) -> Counter:
    """The counter for what is left after so many steps: the same noise, and no higher price."""
    rest = Mechanism.from_dict(counter.to_dict() | {"steps": counter.steps - steps})
    assert isinstance(rest, Counter)
    return rest


def _after(before: NDArray[np.float64], counter: Counter) -> NDArray[np.float64]:
    """Standard deviations of totals, and of those that a new counter adds to the last of them."""
    last = before[-1] if len(before) else 0.0
    return np.concatenate([before, np.hypot(last, counter.deviations(counter.steps))])


def _cut_off() -> BadParameter:
    return BadParameter(
        "this stream ended when a step was interrupted",
        why="the rows of a step were read but its total was lost, and reading them again would "
        "count people twice",
        fix="s.follow(...).open(spend=...)    which charges again",
    )


def _added(matrix: Matrix, *, step: int, rows: int, weight: int, first: int, shift: int) -> int:
    """What the rows of one step add: each row's part is rounded towards 0, so never enlarged.

    `first` of the `shift` bits are dropped before weights are applied, so that 64 bits suffice.
    """
    when = matrix.keys[:, 0]
    inside = when == step
    points = matrix.points[inside, 0]
    size = np.abs(points) >> first
    if weight > 1:
        weights = _weights(matrix.people, when, step=step, rows=rows, weight=weight)
        size = size * weights[matrix.people[inside]]
    return int((np.sign(points) * (size >> (shift - first))).sum())


def _weights(
    people: NDArray[np.int64], when: NDArray[np.int64], *, step: int, rows: int, weight: int
) -> NDArray[np.int64]:
    """How much a row of each person counts in a step, in 1/`weight`: the first `rows` count in all.

    rows · weight is below 2⁶³.
    """
    size = int(people.max(initial=-1)) + 1
    before = np.bincount(people[when < step], minlength=size)
    now = np.bincount(people[when == step], minlength=size)
    left = np.maximum(rows - before, 0)
    return np.asarray(np.minimum(left * weight // np.maximum(now, 1), weight), dtype=np.int64)


def follow(about: About, column: str, *, every: Every = "day", of: str | None = None) -> Following:
    """A growing table to follow; refused here if it cannot be asked."""
    made = Following(about=about, steps=steps_of(about, column, every=every, of=of))
    made.moved()
    return made
