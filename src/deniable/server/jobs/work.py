"""What a worker process does: prices and answers questions, one at a time, within its limits.

The web server never touches rows. A worker that is killed by its deadline or its memory limit, or
that crashes, is seen by the server as a closed pipe; `asking` then counts that as a failure. The
deadline is an alarm whose default action ends the process, so nothing in it can outlive it, not
even while an engine computes or after the machine was suspended.
"""

from __future__ import annotations

import json
import math
import resource
import signal
import tempfile
import traceback
from collections.abc import Callable, Mapping
from dataclasses import replace
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

from deniable.curator import Curator
from deniable.curator import open as open_
from deniable.errors import BadParameter, BudgetExceeded, DeniableError, NotReady
from deniable.ledger import Account, open_ledger
from deniable.ledger.entry import dated
from deniable.losses import Loss
from deniable.query.query import Query
from deniable.release import Plan
from deniable.release.numbers import amount
from deniable.schema.made_up import write
from deniable.server import wire
from deniable.server.database import now
from deniable.server.folder import SPARK, Group, on_spark
from deniable.session import offers

from . import kinds

Task = Mapping[str, Any]
MADE_UP = 1000  # rows


def work(
    pipe: Connection,
    groups: Mapping[str, Group],
    ledgers: Mapping[str, str],
    memory: int,
    deadline: float,
) -> None:
    """Take tasks from the pipe until the server closes it."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the server decides when to stop
    signal.signal(signal.SIGALRM, signal.SIG_DFL)
    resource.setrlimit(resource.RLIMIT_DATA, (memory, memory))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))  # a core file would hold people's rows
    room = Room(groups, ledgers)
    while True:
        try:
            task = pipe.recv()
        except EOFError:
            return
        answer = _within(room, task, task.get("deadline", deadline))
        signal.setitimer(signal.ITIMER_REAL, 0)
        pipe.send(answer)


def _within(room: Room, task: Task, deadline: float) -> dict[str, Any]:
    """What a task came to; past its lease another server may have settled it, so none is begun."""
    left = task.get("until", math.inf) - now()
    if left <= 0:
        return {"refused": NotReady("the question waited too long", fix="ask again").to_json()}
    signal.setitimer(signal.ITIMER_REAL, min(deadline, left))
    return said(room, task)


def said(room: Room, task: Task) -> dict[str, Any]:
    """What a task came to: ok, refused, or a fault that only the curator is told about."""
    try:
        return {"ok": room.do(task)}
    except DeniableError as error:
        return {"refused": error.to_json()}
    except Exception:  # noqa: BLE001  (whatever it is, the curator is told)
        return {"fault": traceback.format_exc()}


class Room:
    """The sessions of one worker, opened when first needed."""

    def __init__(self, groups: Mapping[str, Group], ledgers: Mapping[str, str]) -> None:
        self._groups, self._ledgers = groups, ledgers
        self._sessions: dict[str, Curator] = {}

    def do(self, task: Task) -> object:
        """The answer to a task, as a record."""
        kinds: dict[str, Callable[[Task], object]] = {
            "ready": lambda _: [self._session(name, None).version for name in self._groups],
            "whose": self._whose,
            "explain": self._explain,
            "ask": self._ask,
            "try": self._try,
        }
        return kinds[task["kind"]](task)

    def _whose(self, task: Task) -> str:
        """The group whose tables a question names; the first, if it names none."""
        from sqlglot import exp, parse_one
        from sqlglot.errors import SqlglotError

        try:
            named = {t.name.lower() for t in parse_one(task["sql"], "duckdb").find_all(exp.Table)}
        except (SqlglotError, RecursionError):
            named = set()
        for name, group in self._groups.items():
            if any(table.lower() in named for table in group.schema.tables):
                return name
        return next(iter(self._groups))

    def _explain(self, task: Task) -> object:
        session, group = self._session(task["people"], task["asker"]), self._groups[task["people"]]
        if isinstance(session.ledger, Account):
            session.ledger.hold(task["shown"])
        plan = _explained(session, task)
        if group.most is not None:
            _check_most(plan, group.most)
        notes = tuple(note for note in plan.notes if not note.startswith("s."))
        return wire.plan_to_dict(replace(plan, notes=notes))  # not what a local session alone has

    def _ask(self, task: Task) -> object:
        group = self._groups[task["people"]]
        session = self._session(task["people"], task["asker"])
        if group.most is not None:
            _check_most(_explained(session, task), group.most)
        with dated(task.get("turn", now())):
            return _told(_released(session, task), ledger=group.name)

    def _try(self, task: Task) -> object:
        """An answer on made-up rows: nothing is read, and nothing charged."""
        group = self._groups[task["people"]]
        with tempfile.TemporaryDirectory() as folder:
            facts = group.schema
            files = write(facts, list(facts.tables), folder=Path(folder), rows=MADE_UP, seed=1)
            budget = self._session(group.name, None).budget
            with open_(files, schema=facts, budget=budget) as session:
                return _told(_released(session, task), ledger="made-up rows")

    def _session(self, people: str, asker: str | None) -> Curator:
        if people not in self._sessions:
            group = self._groups[people]
            self._sessions[people] = open_(
                source_of(group), schema=group.schema, ledger=open_ledger(self._ledgers[people])
            )
        session = self._sessions[people]
        return session if asker is None else session.for_(asker)


def _told(answer: kinds.Answer, *, ledger: str) -> dict[str, object]:
    """An answer as a record, with what belongs to it."""
    held = json.loads(json.dumps(answer.attachment))  # the same now as when it is read again
    return wire.release_to_dict(answer.release, ledger=ledger) | {"attachment": held}


def source_of(group: Group) -> object:
    """What a session opens: files, a Postgres address, Spark frames, or a DuckDB file to read."""
    if not group.source:
        return dict(group.sources)
    if group.source.startswith(SPARK):
        return {table: on_spark(group.source, table) for table in group.schema.tables}
    if "://" in group.source:
        return group.source
    import duckdb

    return duckdb.connect(group.source, read_only=True)


def _explained(session: Curator, task: Task) -> Plan:
    asked = kinds.named(task)
    if asked is not None:
        return asked.explain(session, _spend(task))
    query, options = _asked(session, task)
    return query.explain(**options)


def _released(session: Curator, task: Task) -> kinds.Answer:
    asked = kinds.named(task)
    if asked is not None:
        return asked.release(session, _spend(task))
    query, options = _asked(session, task)
    return kinds.Answer(release=query.release(**options))


def _spend(task: Task) -> Loss:
    """What a question by name may cost: it has no ± that could be asked for instead."""
    if task.get("spend") is None or task.get("within") is not None:
        raise BadParameter("a question by name says what to spend", fix='"spend": {"epsilon": 0.1}')
    return wire.loss(task["spend"])


def _asked(session: Curator, task: Task) -> tuple[Query, dict[str, Any]]:
    """The question with what was said about its price."""
    spend, within, size = (task.get(name) for name in ("spend", "within", "size"))
    options = {"spend": None if spend is None else wire.loss(spend), "within": within, "size": size}
    return session.sql(task["sql"]), options


def _check_most(plan: Plan, most: Loss) -> None:
    """Refuse what costs more than one question may, in any figure: `most` without δ allows none."""
    allowed, cost = most.figures(), plan.cost.figures()
    if most.figure not in cost or any(cost[name] > allowed.get(name, 0.0) for name in cost):
        error = BudgetExceeded(
            f"this would cost {amount(plan.cost, 'up')}, and one question may cost "
            f"{amount(most, 'down')} at most",
            why="the curator limits single questions, so that nobody drains the common budget",
            fix="ask for less: a smaller spend, or a wider ±",
        )
        error.offer(offers.written(offers.typed(most), "the most for one question"))
        raise error
