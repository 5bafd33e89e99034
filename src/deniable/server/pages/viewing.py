"""Pages to look at, each with a .json twin made of the same record."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from fastapi import APIRouter, HTTPException, Request
from fastapi.responses import FileResponse, RedirectResponse, Response

import deniable
from deniable.server.accounts import Person
from deniable.server.api.people import is_fresh, maybe_signed_in, signed_in
from deniable.server.jobs.kinds import KINDS
from deniable.server.state import Record, app_of

from . import charts
from .render import HERE, page

router = APIRouter()
Look = Callable[[Request, Person | None], dict[str, Any]]
_STATIC = {"page.css": "text/css", "page.js": "text/javascript"}


def _twins(path: str, template: str, record: Look, *, role: str | None = "analyst") -> None:
    """Register a page and its .json twin; `role` is the least that may see it."""

    def seen(request: Request) -> dict[str, Any]:
        person = maybe_signed_in(request) if role is None else signed_in(request)
        if role == "curator" and (person is None or person.role != "curator"):
            raise HTTPException(403, "only a curator may see this")
        return record(request, person)

    def twin(request: Request) -> Response:
        return Record(seen(request))

    def look(request: Request) -> Response:
        return page(request, template, seen(request) | {"charts": charts})

    router.add_api_route(f"{path}.json", twin)
    router.add_api_route(path, look)


def _tables(request: Request, person: Person | None) -> dict[str, Any]:
    assert person is not None
    return app_of(request).views.tables(person)


def _table(request: Request, person: Person | None) -> dict[str, Any]:
    assert person is not None
    name = request.path_params["name"]
    if name not in app_of(request).house.tables():
        raise HTTPException(404, "there is no such table")
    return {"table": app_of(request).views.table(name, person)}


def _ledger(request: Request, person: Person | None) -> dict[str, Any]:
    assert person is not None
    return app_of(request).views.ledger(person)


def _curator(request: Request, _: Person | None) -> dict[str, Any]:
    return app_of(request).views.curator(fresh=is_fresh(request))


def _public(request: Request, _: Person | None) -> dict[str, Any]:
    return app_of(request).views.public()


def _certificate(request: Request, _: Person | None) -> dict[str, Any]:
    found = app_of(request).views.certificate(request.path_params["entry"])
    if found is None:
        raise HTTPException(404, "no published answer has this ledger line")
    return found


def _limits(request: Request, _: Person | None) -> dict[str, Any]:
    settings = app_of(request).house.settings
    return {
        "steps": list(settings.steps),
        "longest": max(kind.patience for kind in KINDS.values()),
        "memory": settings.memory,
        "https": settings.https,
    }


def _health(_: Request, __: Person | None) -> dict[str, Any]:
    """That the server runs, and which version; nothing that depends on who asks what."""
    return {"ok": True, "version": deniable.__version__}


_twins("/tables", "tables.html", _tables)
_twins("/tables/{name}", "table.html", _table)
_twins("/ledger", "ledger.html", _ledger)
_twins("/curator", "curator.html", _curator, role="curator")
_twins("/public", "public.html", _public, role=None)
_twins("/public/{entry}", "certificate.html", _certificate, role=None)
_twins("/limits", "limits.html", _limits, role=None)
_twins("/health", "health.html", _health, role=None)


@router.get("/")
def home(request: Request) -> Response:
    """Tables for who is signed in; the public page for everyone else."""
    return RedirectResponse("/tables" if maybe_signed_in(request) else "/public", status_code=303)


@router.get("/static/{name}")
def static(name: str) -> Response:
    """The style sheet and the script: two files, named here."""
    if name not in _STATIC:
        raise HTTPException(404, "there is no such file")
    headers = {"cache-control": "public, max-age=300"}
    return FileResponse(HERE / "static" / name, media_type=_STATIC[name], headers=headers)


@router.get("/favicon.ico")
def icon() -> Response:
    """There is none, and browsers need not ask again."""
    return Response(status_code=204, headers={"cache-control": "public, max-age=86400"})
