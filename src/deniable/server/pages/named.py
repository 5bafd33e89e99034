"""Questions by name: a form made from the parameters of a kind, and a page to wait for the answer.

What can be watched is public: whether a question waits, when its turn came, and the step of time at
which its answer may be given next. How far the computation is would tell how many rows there are.
"""

from __future__ import annotations

import asyncio
import hashlib
from collections.abc import Mapping
from contextlib import suppress
from typing import Annotated, Any, Final

from fastapi import APIRouter, HTTPException, Path, Request
from fastapi.responses import RedirectResponse, Response

from deniable.errors import BadParameter, DeniableError
from deniable.server.accounts import Person
from deniable.server.api.people import Someone
from deniable.server.api.questions import KEY
from deniable.server.app import status_of
from deniable.server.jobs.asking import Conflict
from deniable.server.jobs.kinds import KINDS, forms
from deniable.server.state import Record, app_of

from .asking import for_page, form_record, looked_at
from .forms import Typed
from .render import page

router = APIRouter()
Key = Annotated[str, Path(pattern=KEY)]
_WORDS: Final = {
    "choose": "The largest group",
    "above": "Groups above a threshold",
    "median": "A median",
    "ranges": "All ranges of a column",
    "prefixes": "Running totals",
    "marginals": "Cross tables",
    "hierarchy": "Levels that add up",
    "running": "Counts over time",
    "synthesize": "Synthetic rows",
    "fit": "A fitted model",
}
_RESULTS: Final = ("plan", "made_up", "problem")
"""What a page adds to what was typed: no field of a form may be called so."""


@router.get("/ask/named.json")
def described(_: Someone) -> Response:
    """Every kind of question, with the description of its parameters."""
    return Record({"kinds": {name: kind.model_json_schema() for name, kind in KINDS.items()}})


@router.get("/ask/named")
def form(
    request: Request, who: Someone, kind: str = "ranges", table: str = "", sql: str = ""
) -> Response:
    """The form for one kind of question, empty or with the query of an example."""
    return _shown(request, who, {"kind": kind, "table": table, "sql": sql})


@router.post("/ask/named")
async def act(request: Request, who: Someone, fields: Typed) -> Response:
    """Price what the form says, try it, or ask it in the background."""
    typed = {name: text for name, text in fields.items() if name not in _RESULTS}
    try:
        found = await _acted(request, who, typed)
    except DeniableError as error:
        shown = {**typed, "problem": for_page(error, who, typed.get("table", ""))}
        return await asyncio.to_thread(_shown, request, who, shown, status=status_of(error))
    if isinstance(found, Response):
        return found
    return await asyncio.to_thread(_shown, request, who, {**typed, **found})


async def _acted(
    request: Request, who: Person, fields: Mapping[str, str]
) -> Response | dict[str, Any]:
    app = app_of(request)
    task = _task(request, fields)
    if fields.get("action") != "release":
        return await looked_at(app.door, who, task, fields.get("action"))
    text = "\0".join(f"{name}\0{fields[name]}" for name in sorted(fields))
    key = hashlib.blake2b(text.encode(), digest_size=16).hexdigest()
    ask = await asyncio.to_thread(app.door.prepared, who, key, task)
    with suppress(Conflict):  # the same form was sent before: its answer is being computed
        if await asyncio.to_thread(app.asking.enqueue, ask) is None:
            app.start(ask)
    return RedirectResponse(f"/jobs/{key}", status_code=303)


def _task(request: Request, fields: Mapping[str, str]) -> dict[str, Any]:
    """The question of a form, as a program would send it."""
    house = app_of(request).house
    known = house.tables()
    if not known:
        raise BadParameter("no table is served yet", fix="the curator registers one")
    table = fields["table"] if fields.get("table") in known else next(iter(known))
    budget = house.ledgers[known[table].name].budget
    asked = forms.read(fields.get("kind", ""), fields, table=table)
    spend = {budget.figure: _number("the cost", fields.get("figure", ""))}
    if fields.get("delta", "").strip():
        spend["delta"] = _number("δ", fields["delta"])
    purpose = fields.get("purpose") or None
    return {"sql": None, "ask": asked, "spend": spend, "table": table, "purpose": purpose}


def _number(what: str, text: str) -> float:
    try:
        return float(text.replace(",", "."))
    except ValueError:
        raise BadParameter.of(what, text, must="a number above 0") from None


def _shown(
    request: Request, who: Person, fields: Mapping[str, Any], *, status: int = 200
) -> Response:
    app = app_of(request)
    record = form_record(request, who, fields)
    if record is None:
        return page(request, "tables.html", app.views.tables(who))
    kind = fields.get("kind", "")
    if kind not in KINDS:
        raise HTTPException(404, "there is no such kind of question")
    group = app.house.group_of(record["chosen"]["name"])
    columns = [c for c in record["chosen"]["columns"] if c != group.unit.column]
    delta = app.house.ledgers[group.name].budget.figures().get("delta", 0.0)
    examples = app.views.table(record["chosen"]["name"], who)["examples"]
    more = {
        "kind": kind,
        "examples": [each for each in examples if each["asks"] == KINDS[kind].starts_from],
        "kinds": {name: _WORDS.get(name, name) for name in KINDS},
        "about": (KINDS[kind].__doc__ or "").partition("\n")[0],
        "fields": forms.fields(kind, columns, fields),
        "delta": fields.get("delta", "") if delta else None,
        "made_up": fields.get("made_up"),
    }
    return page(request, "named.html", record | more, status=status)


# ---- waiting


@router.get("/jobs/{key}.json")
def twin(request: Request, key: Key, who: Someone) -> Response:
    """How far a question is."""
    return Record(app_of(request).progress(who, key))


@router.get("/jobs/{key}")
def watch(request: Request, key: Key, who: Someone) -> Response:
    """Wait for an answer: whoever is done goes on to it."""
    found = app_of(request).progress(who, key)
    if found["state"] == "stored":
        return RedirectResponse(f"/answers/{key}", status_code=303)
    return page(request, "job.html", found | {"key": key})


@router.post("/jobs/{key}")
def cancel(request: Request, key: Key, who: Someone) -> Response:
    """Cancel a question that still waits: nothing was charged."""
    app_of(request).asking.cancel(who, key)
    return RedirectResponse(f"/jobs/{key}", status_code=303)
