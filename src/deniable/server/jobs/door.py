"""The one door for questions, whoever sends them: a page, a program or an agent.

Answers leave at public steps of time after the asker's turn came (`Settings.steps`), so how long
rows took to read shows at most which step was reached. Refusals depend on public facts alone, and
take the same steps. A failure of the server itself is described to the curator, not to analysts.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Mapping
from typing import Any, Final

from deniable.errors import BadParameter, DeniableError, NotReady
from deniable.server.accounts import Person
from deniable.server.guard import limits
from deniable.server.house import House

from .asking import Ask, Asking
from .outcomes import Outcome, is_own, shown
from .pace import step_after
from .turns import Turns
from .workers import Died

_CURATORS: Final = {"DP401", "DP410", "DP501", "DP701"}
"""Errors about the server's own files and engines: they may name paths."""

_PATIENCE: Final = 20.0
"""Seconds that a price waits."""
_WAITING: Final = 10
"""Prices of one person that wait at once."""

Task = Mapping[str, Any]


class Door:
    """Prices, tries and asks."""

    def __init__(self, house: House, asking: Asking) -> None:
        self._house, self._asking = house, asking
        self._turns = Turns(most=_WAITING)

    # ---- free

    def explain(self, person: Person, task: Task) -> dict[str, Any]:
        """The plan for a question: cost and ±, from public facts."""
        return self._planned(person, task, "explain")

    def rehearse(self, person: Person, task: Task) -> dict[str, Any]:
        """An answer on made-up rows."""
        return self._planned(person, task, "try")

    def _planned(self, person: Person, task: Task, kind: str) -> dict[str, Any]:
        house = self._house
        limits.count(house.database, person.name, "price", most=house.settings.prices)
        people = self.people(person, task)
        shown = self._asking.known.line(people, person.asker)
        asked = {**task, "kind": kind, "people": people, "asker": person.asker, "shown": shown}
        plan: dict[str, Any] = self._free(person, asked)
        return plan

    def _free(self, person: Person, asked: Task) -> Any:
        """What a planner says; it reads no rows, so it may simply be ended."""
        tried = asked["kind"] == "try"  # made-up rows take longer than a price
        try:
            with (
                self._turns.of(person.name, patience=_PATIENCE),
                self._house.planners.one(patience=_PATIENCE, long=tried) as planner,
            ):
                said = planner.do(asked)
        except Died:
            raise BadParameter("this question takes too long to price") from None
        if "ok" in said:
            return said["ok"]
        if "fault" in said:
            self._house.log(person.name, "fault", cause=said["fault"])
            raise _opaque()
        outcome = Outcome(state="refused", error=said["refused"])
        self._log_cause(person, outcome)
        raise shown(seen(person, outcome)) or _opaque()

    def people(self, person: Person, task: Task) -> str:
        """The group that a question is about."""
        groups = list(self._house.groups)
        if not groups:
            raise BadParameter("no table is served yet", fix="the curator registers one")
        if len(groups) == 1:
            return groups[0]
        if task.get("table"):
            return self._house.group_of(str(task["table"])).name
        asked = task.get("ask") or {}
        if asked.get("table"):
            return self._house.group_of(str(asked["table"])).name
        sql = asked.get("sql") if asked else task["sql"]
        if sql is None:
            raise BadParameter("there are several groups of people: name a table", fix='"table"')
        return str(self._free(person, {"kind": "whose", "sql": sql}))

    # ---- spending

    def prepared(self, person: Person, key: str, task: Task) -> Ask:
        """A question that may be asked, with its key."""
        house = self._house
        limits.count(house.database, person.name, "ask", most=house.settings.asks)
        return Ask(person=person, key=key, people=self.people(person, task), body=task)

    async def ask(self, person: Person, key: str, task: Task) -> Outcome:
        """The answer to a question, at a public step of time after its turn came."""
        start, found = time.monotonic(), None
        try:
            ask, found = await asyncio.to_thread(self._put, person, key, task)
        except DeniableError:
            await self.pad(start)
            raise
        if found is None:
            return await asyncio.to_thread(self.run, ask)
        await self.pad(start)
        return self.told(person, found)

    def _put(self, person: Person, key: str, task: Task) -> tuple[Ask, Outcome | None]:
        ask = self.prepared(person, key, task)
        return ask, self._asking.enqueue(ask)

    def run(self, ask: Ask) -> Outcome:
        """Take a queued question to its end, which comes at a public step of time."""
        return self.told(ask.person, self._asking.run(ask))

    def told(self, person: Person, outcome: Outcome) -> Outcome:
        """An outcome as this person may see it, written to the log."""
        self._house.log(person.name, "ask", state=outcome.state)
        self._log_cause(person, outcome)
        return seen(person, outcome)

    def _log_cause(self, person: Person, outcome: Outcome) -> None:
        """For the curator: what the server itself lacks."""
        error = outcome.error
        if error is not None and error.get("code") in _CURATORS:
            self._house.log(person.name, "not ready", cause=error.get("title", ""))

    async def pad(self, start: float) -> None:
        """Wait for the next public step of time."""
        taken = time.monotonic() - start
        await asyncio.sleep(step_after(taken, self._house.settings.steps) - taken)


def seen(person: Person, outcome: Outcome) -> Outcome:
    """An outcome as this person may see it: what is about the server itself is the curator's."""
    error = outcome.error
    if error is None or person.role == "curator" or error.get("code") not in _CURATORS:
        return outcome
    if is_own(error):
        return outcome
    hidden = _opaque().to_json()
    return Outcome(state=outcome.state, error=hidden | {"cost": error.get("cost", hidden["cost"])})


def raised(outcome: Outcome) -> Outcome:
    """The outcome, if it is an answer; else its error is raised."""
    error = shown(outcome)
    if error is not None:
        raise error
    return outcome


def _opaque() -> DeniableError:
    return NotReady(
        "the server cannot answer this now", fix="ask the curator, who can see the cause"
    )
