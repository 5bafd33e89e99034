"""The ask form: price, try and release are its buttons, with or without JavaScript."""

from __future__ import annotations

import asyncio
import hashlib
import re
from collections.abc import Mapping
from typing import Annotated, Any
from urllib.parse import quote

from fastapi import APIRouter, Form, Request
from fastapi.responses import RedirectResponse, Response

from deniable.errors import (
    BadParameter,
    DeniableError,
    MissingBounds,
    MissingRule,
    MixedLosses,
    UnknownKeys,
)
from deniable.release.numbers import amount, digits, meaning, remaining, shown_error
from deniable.server import wire
from deniable.server.accounts import Person, secret
from deniable.server.api.people import Someone
from deniable.server.app import status_of
from deniable.server.jobs.door import Door, raised
from deniable.server.state import Record, app_of

from . import charts
from .render import page

router = APIRouter()
Field = Annotated[str, Form(max_length=10_000)]
_FACTS = {MissingBounds.code, MissingRule.code, UnknownKeys.code}
"""Errors about a fact that the schema lacks, or the question."""
_CALLED = re.compile(r's\.sql\("(.*?)"\)')


@router.get("/ask.json")
def twin(request: Request, who: Someone, table: str = "") -> Response:
    """What the form offers: tables, examples, purposes, and a price to begin with."""
    record = form_record(request, who, {"table": table})
    if record is None:
        return Record({"tables": [], "chosen": None, "examples": [], "figure": None})
    examples = app_of(request).views.table(record["chosen"]["name"], who)["examples"]
    shown = {name: record[name] for name in ("tables", "chosen", "figure")}
    return Record(shown | {"examples": examples})


@router.get("/ask")
def form(request: Request, who: Someone, table: str = "", sql: str = "") -> Response:
    """An empty form, or one that starts from an example."""
    return _shown(request, who, {"table": table, "sql": sql})


@router.post("/ask")
async def act(
    request: Request,
    who: Someone,
    *,
    sql: Field = "",
    table: Field = "",
    figure: Field = "",
    purpose: Field = "",
    nonce: Field = "",
    action: Field = "price",
) -> Response:
    """Price, try or release what the form says."""
    fields = {"sql": sql, "table": table, "figure": figure, "purpose": purpose, "nonce": nonce}
    try:
        found = await _acted(request, who, fields, action)
    except DeniableError as error:
        problem = fields | {"problem": for_page(error, who, fields["table"])}
        return await asyncio.to_thread(_shown, request, who, problem, status=status_of(error))
    if isinstance(found, Response):
        return found
    return await asyncio.to_thread(_shown, request, who, fields | found)


async def _acted(
    request: Request, who: Person, fields: Mapping[str, str], action: str
) -> Response | dict[str, Any]:
    """Go to the answer, or what the form shows next."""
    door, task = app_of(request).door, _task(request, fields)
    if action == "release":
        key = _key(fields)
        raised(await door.ask(who, key, task))
        return RedirectResponse(f"/answers/{key}", status_code=303)
    return await looked_at(door, who, task, action)


async def looked_at(
    door: Door, who: Person, task: Mapping[str, Any], action: str | None
) -> dict[str, Any]:
    """The price of a question, and if it is to be tried its answer on made-up rows."""
    plan = await asyncio.to_thread(door.explain, who, task)
    if action != "try":
        return {"plan": plan}
    made = await asyncio.to_thread(door.rehearse, who, task)
    return {"plan": plan, "made_up": wire.release_from_dict(made)}


def for_page(error: DeniableError, who: Person, table: str) -> dict[str, str]:
    """An error as a page shows it: what to do is said in the words of the page, not of Python."""
    record = error.to_json()
    fix = record.get("fix", "")
    if error.code in _FACTS and "columns={" in fix:
        record |= _stated(who, table) | {"hint": ""}
    elif error.code == MixedLosses.code and "δ" in error.what:
        record |= {"fix": "fill in a δ, such as 1e-9; it comes out of your share, which needs one"}
    else:
        record["fix"] = _CALLED.sub(r"\1", fix)
    return record


def _stated(who: Person, table: str) -> dict[str, str]:
    """Who adds a fact to a schema, and where."""
    if who.role == "curator":
        return {"fix": "state it in the schema", "to": f"/curator/tables/{quote(table)}/schema"}
    return {"fix": "ask about other columns, or ask the curator to state it in the schema"}


def _task(request: Request, fields: Mapping[str, str]) -> dict[str, Any]:
    """The question of a form, as a program would send it."""
    app = app_of(request)
    if not fields["sql"].strip():
        raise BadParameter("the question is empty", fix="start from an example, or type SQL")
    if len(fields["sql"]) > app.house.settings.longest_sql:
        raise BadParameter("the question is too long")
    known = app.house.tables()
    if not known:
        raise BadParameter("no table is served yet", fix="the curator registers one")
    table = fields["table"] if fields["table"] in known else next(iter(known))
    kind = app.house.ledgers[known[table].name].budget.figure
    try:
        figure = float(fields["figure"].replace(",", "."))
    except ValueError:
        raise BadParameter.of("the cost", fields["figure"], must="a number above 0") from None
    return {
        "sql": fields["sql"],
        "spend": {kind: figure},
        "purpose": fields["purpose"] or None,
        "table": None if len(app.house.groups) == 1 else fields["table"] or None,
    }


def _key(fields: Mapping[str, str]) -> str:
    """The same form sent twice is one question; a changed form is another one."""
    parts = [fields[name] for name in ("nonce", "sql", "figure", "purpose", "table")]
    return hashlib.blake2b("\0".join(parts).encode(), digest_size=16).hexdigest()


def _shown(
    request: Request, who: Person, fields: Mapping[str, Any], *, status: int = 200
) -> Response:
    app = app_of(request)
    record = form_record(request, who, fields)
    if record is None:
        return page(request, "tables.html", app.views.tables(who))
    table = app.views.table(record["chosen"]["name"], who)
    about = {name: table[name] for name in ("examples", "columns")}
    more = about | {"sql": fields.get("sql", ""), "made_up": fields.get("made_up")}
    return page(request, "ask.html", record | more, status=status)


def form_record(request: Request, who: Person, fields: Mapping[str, Any]) -> dict[str, Any] | None:
    """What every form for questions shows: tables, the price, what is left; None without tables."""
    tables = app_of(request).views.tables(who)["tables"]
    if not tables:
        return None
    chosen = next((t for t in tables if t["name"] == fields.get("table")), tables[0])
    whole = chosen.get("figure_left") or 0.0
    return {
        "tables": tables,
        "chosen": chosen,
        "figure": fields.get("figure") or digits(whole / 10, "down") if whole else "0.1",
        "most": whole,
        "purpose": fields.get("purpose", ""),
        "nonce": fields.get("nonce") or secret(),
        "plan": None if fields.get("plan") is None else priced(fields["plan"]),
        "problem": fields.get("problem"),
        "charts": charts,
    }


def priced(record: Mapping[str, Any]) -> dict[str, Any]:
    """A plan in the words of the page."""
    plan = wire.plan_from_dict(record)
    notes = [note.partition("; explain(")[0] for note in plan.notes]  # a page has a slider for that
    unknown = [name for name, error in plan.errors.items() if error is None]
    instead = [n for n in notes if n.startswith((*unknown, "the ±"))] if unknown else []
    known = [
        {"name": name, "error": "unknown in advance" if e is None else f"± {shown_error(e)}"}
        for name, e in plan.errors.items()
    ]
    return {
        "cost": amount(plan.cost, "up"),
        "errors": known,
        "left": None if plan.left is None else remaining(plan.left, groups=False),
        "steps": plan.steps,
        "instead": instead,
        "notes": [f"what it means: {meaning(plan.cost)}", *(n for n in notes if n not in instead)],
    }
