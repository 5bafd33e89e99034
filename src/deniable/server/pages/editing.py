"""The schema editor: a form per table, its lint, and a review before anything is written."""

from __future__ import annotations

from typing import Any

from fastapi import APIRouter, Request
from fastapi.responses import RedirectResponse, Response

from deniable.errors import DeniableError
from deniable.schema import Schema
from deniable.schema.columns import TYPES
from deniable.schema.lint import Finding
from deniable.server.api.people import TheCuratorAfresh
from deniable.server.app import status_of
from deniable.server.curating import schemas
from deniable.server.curating.schemas import Editing
from deniable.server.state import Record, house_of

from .forms import Typed, known_table
from .render import page

router = APIRouter()


@router.get("/curator/tables/{name}/schema.json")
def record(request: Request, name: str, _: TheCuratorAfresh) -> Response:
    """The facts about a table, and what is missing or dangerous in them."""
    editing = schemas.begin(house_of(request), known_table(request, name))
    found = [_finding(each) for each in editing.findings(editing.facts)]
    return Record({"table": name, "facts": editing.facts.to_dict(), "findings": found})


@router.get("/curator/tables/{name}/schema")
def form(request: Request, name: str, _: TheCuratorAfresh) -> Response:
    """The facts about a table in a form."""
    editing = schemas.begin(house_of(request), known_table(request, name))
    return _shown(request, editing, schemas.typed_in(editing.facts))


@router.post("/curator/tables/{name}/schema")
def act(request: Request, name: str, who: TheCuratorAfresh, fields: Typed) -> Response:
    """Fill in a proposed fix, review what was typed, or save what was reviewed."""
    house = house_of(request)
    editing = schemas.begin(house, known_table(request, name))
    typed = schemas.typed_in(editing.facts) | fields
    action = fields.get("action", "review")
    try:
        if action.startswith("fix-"):
            return _shown(request, editing, typed | _filled(editing, typed, action))
        new = schemas.read(editing.facts, typed)
        said = schemas.changes(editing.facts, new)
        seen = schemas.digest(new.to_toml())
        if action == "save" and fields.get("seen") == seen:
            schemas.save(house, editing, new, base=fields.get("base", ""), who=who.name)
            return RedirectResponse(f"/curator/tables/{name}/schema?saved=1", 303)
        review = {"changes": said, "seen": seen} if said else None
    except DeniableError as error:
        return _shown(request, editing, typed, problem=error, status=status_of(error))
    return _shown(request, editing, typed, review=review, unchanged=not said)


def _filled(editing: Editing, typed: dict[str, str], action: str) -> dict[str, str]:
    """The fields that a proposed fix sets: `fix-2-0` is the first fix of the third finding."""
    _, finding, fix = (*action.split("-"), "", "")[:3]
    found = editing.findings(_readable(editing, typed))
    if not (finding.isdecimal() and fix.isdecimal()) or int(finding) >= len(found):
        return {}
    chosen = found[int(finding)]
    place = list(editing.facts.columns).index(chosen.column) if chosen.column else None
    fixes = chosen.fixes[int(fix) :][:1]
    names = {k: v for each in fixes for k, v in each.fields.items()}
    return {k if place is None else f"{k}-{place}": v for k, v in names.items()}


def _readable(editing: Editing, typed: dict[str, str]) -> Schema:
    """What was typed, if it can be read; else what the file says."""
    try:
        return schemas.read(editing.facts, typed)
    except DeniableError:
        return editing.facts


def _shown(
    request: Request,
    editing: Editing,
    typed: dict[str, str],
    *,
    problem: DeniableError | None = None,
    review: dict[str, Any] | None = None,
    unchanged: bool = False,
    status: int = 200,
) -> Response:
    found = [_finding(each) for each in editing.findings(_readable(editing, typed))]
    columns = [
        {"name": name, "place": place, "identifies": name == editing.group.unit.column}
        | {part: typed[f"{part}-{place}"] for part in ("type", "low", "high", "keys", "missing")}
        for place, name in enumerate(editing.facts.columns)
    ]
    record = {
        "table": editing.table,
        "unit": str(editing.group.unit),
        "version": editing.file.version or "schema 1",
        "next": schemas.next_revision(editing.file.version),
        "columns": columns,
        "typed": typed,
        "types": TYPES,
        "truths": [each["name"] for each in columns if each["type"] == "bool"],
        "findings": found,
        "base": typed.get("base") or editing.base,
        "review": review,
        "unchanged": unchanged,
        "saved": "saved" in request.query_params,
        "problem": None if problem is None else problem.to_json(),
    }
    return page(request, "schema.html", record, status=status)


def _finding(each: Finding) -> dict[str, Any]:
    """A finding with the words of its buttons."""
    fixes = [{"fields": dict(fix.fields), "words": _words(dict(fix.fields))} for fix in each.fixes]
    return {
        "code": each.code,
        "column": each.column,
        "what": each.what,
        "danger": each.danger,
        "fixes": fixes,
    }


def _words(fields: dict[str, str]) -> str:
    if "low" in fields:
        return f"Fill in {fields['low']} to {fields['high']}"
    if fields.get("keys") == "":
        return "Remove the list"
    shown = ", ".join(value.replace("\n", ", ") for value in fields.values())
    return f"Fill in {shown}"
