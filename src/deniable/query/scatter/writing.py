"""A question answered into a folder: checked, charged once, computed and drawn on Spark, committed.

Why exactly one draw is ever shown, though Spark may run a task several times:

    which groups       a partition holds the groups whose keys hash to it, in every attempt: what is
                       computed before noise is a function of the data and of a key chosen once. So
                       each group is in one task's file, and in no other's
    which attempt      noise is drawn in the last stage, the one that writes: no task of it is run
                       again for another stage's sake. Spark lets one attempt of a task commit; the
                       files of all others are deleted unseen (see `places`). Which one it is
                       depends on what failed and on time, not on what was drawn: making columns
                       of noisy numbers cannot fail on any of them
    what is handed out never the frame that draws, which would draw again whenever Spark computes
                       it: only one that reads the committed files

An attempt that is not shown tells nothing, so it costs nothing; the one that is was paid for before
the first began. If the job fails, the charge stands, no file can be seen, and asking again is paid
again. If the driver is lost while it moves the files of a finished job, some may be seen: they are
part of the one draw. What `_temporary` may still hold then is not part of the answer.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, Final, NoReturn

from deniable.errors import BadParameter, UnsupportedQuery
from deniable.mechanisms import Step
from deniable.query.algebra import Question
from deniable.query.allocate import Allocation, title
from deniable.query.answer import Columns, answer
from deniable.query.backends.engine import before_charge, tables_of
from deniable.query.backends.spark import Spark, versions_of
from deniable.query.execute import drawn_secret
from deniable.release.provenance import version
from deniable.sensitive import Sensitive
from deniable.session import Session
from deniable.session.elsewhere import Commission
from deniable.session.tables import Table

from . import places
from .columns import fields
from .executors import Draw
from .integers import integers
from .written import Written, spark_schema

_PROBES: Final = 8


def write(session: Session, allocation: Allocation, *, path: object) -> Written:
    """The answer in Parquet files at a path that does not exist yet; asked again, it is free."""
    question = allocation.plan.question
    tables = _on_spark(session, question)
    _check(allocation)
    work = Scattered(allocation=allocation, path=places.checked(path), tables=tables)
    columns = fields(allocation)
    asked = f"{question!r}\n({question.fingerprint}){allocation.shared}"
    release = session.commission(
        work.steps,
        work=work,
        question=f"{asked} written to {work.path}",
        title=title(question),
    )
    shown = replace(release.provenance, question=title(question))
    return Written(
        path=work.path,
        columns=columns,
        release=replace(release, provenance=shown),
        spark=work.spark,
    )


@dataclass(kw_only=True)
class Scattered:
    """One answer, as work for a session to commission."""

    allocation: Allocation
    path: str
    tables: tuple[Table, ...]
    _integers: Any = field(default=None, init=False, repr=False)
    """The numbers that noise is added to: a frame that nothing has computed yet."""

    @cached_property
    def spark(self) -> Any:
        """The user's session."""
        return self.tables[0].source.held.sparkSession

    @property
    def steps(self) -> list[Step[Any]]:
        """What is drawn: the choice of keys where they are private, then the numbers."""
        allocation, plan = self.allocation, self.allocation.plan
        steps: list[Step[Any]] = []
        if allocation.selection is not None:
            assert plan.selection is not None
            moves = plan.selection.moves
            people = Sensitive(_not_here, l1=moves.l1, linf=moves.linf, unit=plan.unit)
            steps.append(allocation.selection.on(people))
        for part, noise in zip(allocation.parts, allocation.noise, strict=True):
            vector = part.vector
            # The executors compute and draw: here nothing is read, and 0 groups are.
            shape = (0, *part.shape)
            cells = Sensitive(
                _not_here, l1=vector.l1, l2=vector.l2, whole=True, shape=shape, unit=plan.unit
            )
            steps.append(noise.on(cells))
        return steps

    @property
    def columns(self) -> Columns:
        """The answer about no group: its columns, and what they estimate."""
        return answer(self.allocation, (), [() for _ in self.allocation.parts])

    @contextmanager
    def ready(self) -> Iterator[None]:
        """The folder is not there yet, the executors have this deniable, the frame is analysed."""
        if places.exists(self.spark, self.path):
            raise BadParameter(
                f"there is something at {self.path} already",
                why="an answer is written once, to a folder of its own",
                fix="another path, or delete what is there",
            )
        _check_executors(self.spark)
        with ExitStack() as held:
            before_charge(lambda: self._prepare(held), engine=Spark)
            yield

    def _prepare(self, held: ExitStack) -> None:
        engine = held.enter_context(Spark(self.tables))
        self._integers = integers(self.allocation, engine, secret=drawn_secret())
        places.pin(self._integers.sparkSession)
        _ = self._integers.schema  # Connect looks when it is asked for columns

    def stands(self, record: Mapping[str, Any]) -> bool:
        """Whether the files are there that the same job wrote, and all of them."""
        there = places.found(self.spark, self.path)
        return there is not None and all(record.get(n, v) == v for n, v in there.record.items())

    def committed(self) -> tuple[str, dict[str, object]] | None:
        """The charge that paid for the files of a job that was committed, and their record."""
        there = places.found(self.spark, self.path)
        if there is None or not places.succeeded(self.spark, self.path):
            return None
        return there.paid, self._record(there)

    def do(self, commission: Commission) -> dict[str, object]:
        """Compute the integers, draw, commit."""
        draw = Draw.of(commission, self.allocation)
        noisy = self._integers.mapInArrow(draw.over, spark_schema(draw.columns))
        places.commit(noisy, self.path, paid=commission.entry)
        there = places.found(self.spark, self.path)
        if there is None:
            raise RuntimeError("the executors do not write where the driver reads")
        return self._record(there)

    def _record(self, there: places.JobFiles) -> dict[str, object]:
        return {"path": self.path, **there.record}


def _not_here() -> NoReturn:
    raise AssertionError("these numbers are computed and drawn in the executors")


# ---- what is refused before anything is charged


def _on_spark(session: Session, question: Question) -> tuple[Table, ...]:
    tables = tuple(tables_of(question.relation, session.tables))
    if any(table.source.engine != Spark.name for table in tables):
        raise UnsupportedQuery(
            "only answers about Spark tables are written by executors",
            fix="q.release(...), and then r.to_arrow() or r.to_pandas()",
        )
    return tables


def _check(allocation: Allocation) -> None:
    question = allocation.plan.question
    if not question.keys:
        raise UnsupportedQuery("this answer is one row", fix="q.release(...)")
    if any(part.tree is not None for part in allocation.parts):
        raise UnsupportedQuery(
            "quantiles, MIN, MAX and histograms are not written by executors",
            why="they are read off a histogram, which needs all bins of a group together",
            fix="q.release(...) for these; counts, sums, averages and variances can be written",
        )
    if question.order_by or question.limit is not None or question.offset:
        raise UnsupportedQuery(
            "a table that is written in parts has no order, and no first rows",
            fix="leave ORDER BY and LIMIT out here: written.frame().orderBy(...).limit(...)",
        )
    if allocation.of_many:
        raise UnsupportedQuery(
            "HAVING over private groups is not written by executors",
            why="its ± would have to hold for all groups at once, and no executor knows how many",
            fix='leave HAVING out here: written.frame().where("...")',
        )


def _check_executors(spark: Any) -> None:
    """A small job about nobody: have the executors deniable, and the same one?"""
    fix = f"deniable {version()} in the Python of every executor"
    try:
        found = versions_of(spark, workers=_PROBES)
    except Exception as error:
        raise BadParameter("the executors cannot load deniable", fix=fix) from error
    if found != {version()}:
        other = ", ".join(sorted(found - {version()}))
        raise BadParameter(
            f"the executors have deniable {other}, and here is {version()}",
            why="what is charged for here must be what is drawn there",
            fix=fix,
        )
