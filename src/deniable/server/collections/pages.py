"""The list of collections, and a page for each: what is asked, why, and what the reports say."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import APIRouter, Form, Request
from fastapi.responses import RedirectResponse, Response
from pydantic import ValidationError

from deniable.errors import BadParameter
from deniable.release.numbers import plus_minus
from deniable.server.accounts import Person
from deniable.server.api.people import TheCurator, maybe_signed_in
from deniable.server.pages import charts
from deniable.server.pages.render import page
from deniable.server.state import Record

from .routes import Name, NewCollection, collections_of, created, known
from .store import Facts

router = APIRouter(include_in_schema=False)
Field = Annotated[str, Form(max_length=20_000)]


@router.get("/collections.json")
def listed(request: Request) -> Response:
    """Every collection, as JSON."""
    return Record(_all(request))


@router.get("/collections")
def list_page(request: Request) -> Response:
    """Every collection; for a curator also a form to begin one."""
    return page(request, "collections.html", _all(request))


@router.post("/collections")
def begin(
    request: Request,
    who: TheCurator,
    *,
    name: Field = "",
    title: Field = "",
    purpose: Field = "",
    categories: Field = "",
    epsilon: Field = "",
    tickets: Field = "open",
    public: Field = "",
) -> Response:
    """Begin a collection from the form: one category per line."""
    lines = [line.strip() for line in categories.splitlines() if line.strip()]
    fields = {"name": name.strip(), "title": title, "purpose": purpose, "tickets": tickets}
    more = {"categories": lines, "epsilon": epsilon.replace(",", "."), "public": bool(public)}
    try:
        new = NewCollection.model_validate(fields | more)
    except ValidationError as error:
        first = error.errors()[0]
        where = ".".join(map(str, first["loc"])) or "the form"
        raise BadParameter(f"{where}: {first['msg']}") from None
    facts = created(request, new, who.name)
    return RedirectResponse(f"/collections/{facts.name}", status_code=303)


@router.get("/collections/{name}.json")
def record(request: Request, name: Name) -> Response:
    """One collection and its estimate, as JSON."""
    return Record(_one(request, name))


@router.get("/collections/{name}")
def show(request: Request, name: Name) -> Response:
    """One collection: what is asked, why, and what the reports say."""
    found = _one(request, name)
    estimate = found["estimate"] or {"rows": []}
    ordered = sorted(estimate["rows"], key=lambda row: -row["value"])[: charts.MOST]
    labels = [": ".join(filter(None, (r.get("attribute"), r["label"]))) for r in ordered]
    chart = ""
    if len(ordered) > 1:
        values, errors = ([row[n] for row in ordered] for n in ("value", "error"))
        chart = charts.drawn("estimates", labels, values, errors)
    words = [plus_minus(row["value"], row["error"]) for row in ordered]
    more = {"top": list(zip(labels, words, strict=True)), "chart": chart}
    return page(request, "collection.html", found | more)


def _all(request: Request) -> dict[str, Any]:
    return {"collections": [each.record() for each in collections_of(request).all()]}


def _one(request: Request, name: str) -> dict[str, Any]:
    """The public facts; the estimate for whom it is meant for."""
    facts = known(request, name)
    may = _may_see(facts, maybe_signed_in(request))
    estimate = collections_of(request).estimate(facts) if may else None
    address = f"{str(request.base_url).rstrip('/')}"
    return {
        "collection": facts.record(),
        "shown": may,
        "estimate": estimate,
        "code": f'dp.connect("{address}").collection("{facts.name}").submit(...)',
    }


def _may_see(facts: Facts, person: Person | None) -> bool:
    return facts.public or (person is not None and person.role == "curator")
