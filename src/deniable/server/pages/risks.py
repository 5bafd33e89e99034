"""The risk report of a table: asked for, watched and read by a curator who has just signed in."""

from __future__ import annotations

from typing import Any
from urllib.parse import quote

from fastapi import APIRouter, Request
from fastapi.responses import RedirectResponse, Response

from deniable.errors import DeniableError
from deniable.server.api.people import TheCuratorAfresh
from deniable.server.app import status_of
from deniable.server.curating import risk
from deniable.server.state import Record, app_of

from .forms import Typed, known_table
from .render import page

router = APIRouter()


@router.get("/curator/tables/{name}/risk.json")
def record(request: Request, name: str, _: TheCuratorAfresh) -> Response:
    """How far the report is, and what it found."""
    return Record(_record(request, name))


@router.get("/curator/tables/{name}/risk")
def look(request: Request, name: str, _: TheCuratorAfresh) -> Response:
    """Choose columns, watch the report being made, or read it."""
    return page(request, "risk.html", _record(request, name))


@router.post("/curator/tables/{name}/risk")
def act(request: Request, name: str, who: TheCuratorAfresh, fields: Typed) -> Response:
    """Make a report, or forget it."""
    app, table = app_of(request), known_table(request, name)
    if fields.get("action") == "drop":
        app.reports.drop(table)
    else:
        quasi = [c for c in app.house.group_of(table).schema.tables[table].columns
                 if fields.get(f"quasi:{c}")]  # fmt: skip
        try:
            app.reports.begin(table, quasi=quasi, sensitive=fields.get("sensitive") or None)
        except DeniableError as error:
            shown = _record(request, name) | {"problem": error.to_json()}
            return page(request, "risk.html", shown, status=status_of(error))
        app.house.log(who.name, "risk report", table=table)
    return RedirectResponse(f"/curator/tables/{quote(table)}/risk", 303)


def _record(request: Request, name: str) -> dict[str, Any]:
    app, table = app_of(request), known_table(request, name)
    group = app.house.group_of(table)
    columns = [c for c in group.schema.tables[table].columns if c != group.unit.column]
    return {"table": table, "unit": str(group.unit), "columns": columns,
            "problem": None, **risk.shown(app.reports.of(table))}  # fmt: skip
