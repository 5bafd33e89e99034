"""The application: routes, one handler for every error, and what starts and ends with it."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import asynccontextmanager, suppress
from typing import Any, Final
from urllib.parse import quote

from fastapi import APIRouter, FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import Response
from starlette.exceptions import HTTPException

import deniable
from deniable.errors import (
    AskerStopped,
    BudgetExceeded,
    DataFailure,
    DeniableError,
    LedgerFailure,
    NotReady,
)

from .accounts import Person
from .api.people import Stale
from .collections.store import Collections
from .curating import registering
from .curating.risk import Reports
from .database import Unreachable, now
from .guard.security import HEADERS, Guard
from .house import House
from .jobs.asking import Ask, Asking
from .jobs.door import Door, seen
from .jobs.outcomes import Outcome
from .jobs.pace import step_after
from .state import Record
from .views import Views

_THREADS: Final = 200  # questions that may wait at once: they hardly use a processor
_TIDY: Final = 60.0  # seconds
# Traces, metrics and logs would tell, elsewhere, when questions came and how long they took.
_SILENT: Final[Any] = dict.fromkeys(
    ("tracing", "metrics", "logs", "operation_spans", "auto_configure"), False
)
_STATUS: Final[dict[type[DeniableError], int]] = {
    DataFailure: 424,
    BudgetExceeded: 403,
    AskerStopped: 403,
    NotReady: 503,
    LedgerFailure: 503,
}


class Application:
    """One server process: a house, its door, and the jobs it has begun."""

    def __init__(self, house: House) -> None:
        self.house = house
        self.asking = Asking(house)
        self.door = Door(house, self.asking)
        self.views = Views(house, self.asking)
        self.collections = Collections(house.database)
        self.reports = Reports(house)
        self._jobs: set[asyncio.Task[None]] = set()

    def start(self, ask: Ask) -> None:
        """Answer a queued question in the background; it is done at a public step of time."""
        job = asyncio.create_task(self._do(ask))
        self._jobs.add(job)
        job.add_done_callback(self._jobs.discard)

    async def _do(self, ask: Ask) -> None:
        with suppress(DeniableError):  # stored under its key
            await asyncio.to_thread(self.door.run, ask)

    def job(self, person: Person, key: str) -> Outcome:
        """How far a question is; done only once its step of time has come."""
        found = self.asking.look(person, key)
        if found is None:
            raise HTTPException(404, "there is no question with this key")
        return seen(person, found)

    def progress(self, person: Person, key: str) -> dict[str, Any]:
        """What may be watched of a question: its state, and public steps of time."""
        found, about = self.job(person, key), self.asking.about(person.name, key)
        state = "running" if found.state == "reserved" else found.state
        seconds = 0 if about["turn"] is None else max(0, int(now() - about["turn"]))
        following = step_after(seconds + 0.001, self.house.settings.steps)
        return {"state": state, "question": about["question"], "seconds": seconds,
                "next": following, "most": about["most"], "error": found.error}  # fmt: skip


def create(house: House) -> FastAPI:
    """The web application of a house."""
    application = Application(house)

    @asynccontextmanager
    async def lifespan(_: FastAPI) -> AsyncIterator[None]:
        threads = ThreadPoolExecutor(max_workers=_THREADS, thread_name_prefix="ask")
        asyncio.get_running_loop().set_default_executor(threads)
        await asyncio.to_thread(application.asking.settle_all)
        tidying = asyncio.create_task(_tidied(house))
        house.planners.warm()
        house.workers.warm()
        yield
        tidying.cancel()
        application.reports.stop()
        await asyncio.to_thread(house.close)

    app = FastAPI(
        title="deniable",
        version=deniable.__version__,
        description="Differentially private answers, priced before they are given.",
        docs_url=None,  # their pages load scripts from elsewhere
        redoc_url=None,
        openapi_url="/api/openapi.json",
        lifespan=lifespan,
        default_response_class=Record,
        telemetry=_SILENT,
    )
    app.state.application = application
    for router in _routers():
        app.include_router(router)
    app.add_exception_handler(DeniableError, _refused)
    app.add_exception_handler(RequestValidationError, _invalid)
    app.add_exception_handler(HTTPException, _http)
    app.add_exception_handler(Exception, _fault)
    app.add_middleware(Guard, settings=house.settings)
    return app


async def _tidied(house: House) -> None:
    """Forget what was to be kept for a while only; first what is left of an earlier run."""
    while True:
        with suppress(Unreachable):
            await asyncio.to_thread(registering.expire, house)
        await asyncio.sleep(_TIDY)


def _routers() -> list[APIRouter]:
    """What is served, for programs and for people."""
    from .api import answers, people, questions
    from .collections import pages as collection_pages
    from .collections import routes as collections
    from .pages import router as pages

    parts = (questions, answers, people, collections, collection_pages)
    return [*(part.router for part in parts), pages]


def status_of(error: DeniableError) -> int:
    """The HTTP status of an error."""
    own = getattr(error, "status", None)
    if isinstance(own, int):
        return own
    return next((code for kind, code in _STATUS.items() if isinstance(error, kind)), 400)


def _wants_page(request: Request) -> bool:
    path = request.url.path
    return not path.startswith("/api") and not path.endswith(".json")


def _answer(request: Request, record: dict[str, str], status: int) -> Response:
    if _wants_page(request):
        from .pages.render import problem

        return problem(request, record, status)
    return Record(record, status_code=status)


def _refused(request: Request, error: Exception) -> Response:
    assert isinstance(error, DeniableError)
    record = error.to_json()
    if isinstance(error, LedgerFailure):  # it may name files
        house = request.app.state.application.house
        house.log("server", "ledger", cause=str(error))
        record = {"type": "error", "code": error.code, "title": "the ledger cannot be used now"}
    return _answer(request, record, status_of(error))


def _invalid(request: Request, error: Exception) -> Response:
    assert isinstance(error, RequestValidationError)
    first: dict[str, Any] = next(iter(error.errors()), {})
    where = ".".join(str(part) for part in first.get("loc", ()))
    record = {
        "type": "error",
        "code": "DP111",
        "title": f"{where}: {first.get('msg', 'not understood')}",
        "cost": "nothing was spent",
    }
    return _answer(request, record, 422)


def _http(request: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException)
    title = "there is no such page" if error.detail == "Not Found" else str(error.detail)
    record = {"type": "error", "code": "DP111", "title": title, "cost": "nothing was spent"}
    if isinstance(error, Stale) and _wants_page(request):
        back = request.url.path if request.method == "GET" else "/curator"
        return Response(status_code=303, headers={"location": f"/sign-in?to={quote(back)}"})
    if error.status_code == 401 and _wants_page(request) and request.method == "GET":
        return Response(status_code=303, headers={"location": "/sign-in"})
    response = _answer(request, record, error.status_code)
    response.headers.update(error.headers or {})
    return response


def _fault(request: Request, error: Exception) -> Response:
    """A fault of the server: described to the curator in the log, and to nobody else."""
    import traceback

    house = request.app.state.application.house
    house.log("server", "fault", cause="".join(traceback.format_exception(error)))
    record = {"type": "error", "code": "DP410", "title": "the server made a mistake"}
    response = _answer(request, record, 500)
    response.headers.update(HEADERS)  # this answer does not pass the guard
    return response
