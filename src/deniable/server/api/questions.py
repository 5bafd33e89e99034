"""Questions over HTTP: a question is data (SQL and an amount), never code."""

from __future__ import annotations

import asyncio
from typing import Annotated, Any

from fastapi import APIRouter, Header, HTTPException, Path, Request
from fastapi.responses import Response

from deniable.server.jobs.door import raised
from deniable.server.jobs.outcomes import Outcome
from deniable.server.state import Record, app_of

from .models import Problem, Question
from .people import Someone

KEY = r"^[A-Za-z0-9_-]{8,100}$"
Key = Annotated[str, Header(alias="Idempotency-Key", pattern=KEY)]
KeyPath = Annotated[str, Path(pattern=KEY)]

router = APIRouter(
    prefix="/api",
    tags=["questions"],
    responses={status: {"model": Problem} for status in (400, 403)},
)


@router.post("/explain")
def explain(request: Request, question: Question, who: Someone) -> dict[str, Any]:
    """What an answer would cost and how good it would be. Free; no rows are read."""
    return app_of(request).door.explain(who, question.task())


@router.post("/try")
def rehearse(request: Request, question: Question, who: Someone) -> dict[str, Any]:
    """An answer on made-up rows. Free; it describes no real people."""
    return {"made_up": True, "release": app_of(request).door.rehearse(who, question.task())}


@router.post("/ask", responses={409: {"model": Problem}, 424: {"model": Problem}})
async def ask(request: Request, question: Question, who: Someone, key: Key) -> dict[str, Any]:
    """The answer, charged before it is computed, and at most once per key."""
    return _record(raised(await app_of(request).door.ask(who, key, question.task())))


@router.post("/jobs", status_code=202, responses={409: {"model": Problem}})
async def begin(request: Request, question: Question, who: Someone, key: Key) -> Response:
    """Ask in the background: look it up under its key, or cancel it before it is charged."""
    app, task = app_of(request), question.task()
    prepared = await asyncio.to_thread(app.door.prepared, who, key, task)
    found = await asyncio.to_thread(app.asking.enqueue, prepared)
    if found is None:
        app.start(prepared)
    state = "queued" if found is None else found.state
    return Record({"key": key, "state": state}, status_code=202)


@router.get("/jobs/{key}", responses={404: {"model": Problem}})
async def look(request: Request, key: KeyPath, who: Someone) -> dict[str, Any]:
    """How far a question is: queued, running, stored (with its answer) or lost."""
    app = app_of(request)
    return _record(await asyncio.to_thread(app.job, who, key))


@router.delete("/jobs/{key}")
def cancel(request: Request, key: KeyPath, who: Someone) -> dict[str, Any]:
    """Cancel a question that is still queued: nothing was charged."""
    if not app_of(request).asking.cancel(who, key):
        raise HTTPException(409, "this question is not queued any more")
    return {"key": key, "state": "cancelled"}


def _record(outcome: Outcome) -> dict[str, Any]:
    """An outcome as JSON."""
    state = "running" if outcome.state == "reserved" else outcome.state
    return {"state": state, "release": outcome.release, "error": outcome.error}
