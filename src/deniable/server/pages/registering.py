"""Registering a table: where its rows are, then whom it protects and whose budget it shares."""

from __future__ import annotations

from typing import Any
from urllib.parse import quote

from fastapi import APIRouter, Request
from fastapi.responses import RedirectResponse, Response

from deniable.errors import DeniableError
from deniable.server.api.people import TheCuratorAfresh
from deniable.server.app import status_of
from deniable.server.curating import registering
from deniable.server.house import House
from deniable.server.state import Record, house_of

from .forms import Typed
from .render import page

router = APIRouter()
_FIELDS = ("file", "header", "table", "group", "new_group", "unit", "rows", "groups",
           "epsilon", "delta", "purposes")  # fmt: skip


@router.get("/curator/register.json")
def record(request: Request, _: TheCuratorAfresh) -> Response:
    """The files of the folder that hold rows and are not served."""
    return Record({"files": registering.candidates(house_of(request))})


@router.get("/curator/register")
def form(request: Request, _: TheCuratorAfresh) -> Response:
    """Choose where the rows are."""
    return _shown(request, {})


@router.post("/curator/register")
def act(request: Request, who: TheCuratorAfresh, fields: Typed) -> Response:
    """Look at the names and types of columns, or register the table."""
    house, found = house_of(request), None
    try:
        where = registering.place(house, fields)
        found = registering.columns(house, where, header=fields.get("header") == "yes")
        if fields.get("action") == "register":
            group = registering.register(house, where, found, fields)
            registering.forget(house, fields.get("handle", ""))
            house.log(who.name, "registered", table=where.table, group=group)
            return RedirectResponse(f"/curator/tables/{quote(where.table)}/schema", 303)
    except DeniableError as error:
        return _shown(request, fields, found, problem=error, status=status_of(error))
    return _shown(request, fields, found)


def _shown(
    request: Request,
    fields: dict[str, str],
    found: Any = None,
    *,
    problem: DeniableError | None = None,
    status: int = 200,
) -> Response:
    house = house_of(request)
    groups = {
        name: {"unit": str(group.unit), "tables": ", ".join(group.schema.tables)}
        for name, group in house.groups.items()
    }
    stated = {} if house.budget is None else house.budget.figures()  # with `--budget`
    usual = {name: f"{value:g}" for name, value in stated.items() if value}
    record = {
        "typed": {name: fields.get(name, usual.get(name, "")) for name in _FIELDS},
        "handle": _handle(house, fields) if found is not None else "",
        "files": registering.candidates(house),
        "folder": house.settings.folder.name,
        "columns": None if found is None else {name: c.type for name, c in found.items()},
        "groups": groups,
        "problem": None if problem is None else _in_form(problem),
    }
    return page(request, "register.html", record, status=status)


def _in_form(problem: DeniableError) -> dict[str, str]:
    """An error with what to do on this page, where others would pass an option."""
    record = problem.to_json()
    if record.get("fix", "").startswith("--header"):
        record["fix"] = "tick the box below if its first line contains column names"
    return record


def _handle(house: House, fields: dict[str, str]) -> str:
    """For an address that was looked at: the page that comes next does not show it."""
    address = fields.get("address", "").strip()
    return registering.keep(house, address) if address else fields.get("handle", "")
