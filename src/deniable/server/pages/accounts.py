"""Signing in and out, and the curator's forms."""

from __future__ import annotations

import re
from typing import Annotated, Any

from fastapi import APIRouter, Form, HTTPException, Request
from fastapi.responses import RedirectResponse, Response

from deniable.server.accounts import Person
from deniable.server.api import people as acts
from deniable.server.api.people import TheCuratorAfresh, cookie_of
from deniable.server.guard import limits
from deniable.server.state import house_of

from .render import page

router = APIRouter()
Field = Annotated[str, Form(max_length=300)]
_OURS = re.compile(r"/(curator[A-Za-z0-9_./%-]*)")
"""Pages to go back to after signing in again; never an address elsewhere."""


def _entered(request: Request, person: Person, to: str = "") -> Response:
    house = house_of(request)
    home = "/curator" if person.role == "curator" else "/tables"
    response = RedirectResponse(to if _OURS.fullmatch(to) else home, 303)
    response.set_cookie(
        cookie_of(house.settings),
        house.accounts.issue(person, "session"),
        max_age=12 * 3600,
        httponly=True,
        samesite="strict",
        secure=house.settings.https,
        path="/",
    )
    house.log(person.name, "signed in")
    return response


def _count_failure(request: Request) -> None:
    """Failures only: behind a proxy all have one address, and nobody may lock others out."""
    house = house_of(request)
    where = "" if request.client is None else request.client.host
    limits.count(house.database, where, "sign-in", most=house.settings.sign_ins)


@router.get("/sign-in")
def sign_in(request: Request, to: str = "") -> Response:
    """Sign in with a token."""
    return page(request, "sign_in.html", {"to": to if _OURS.fullmatch(to) else ""})


@router.post("/sign-in")
def sign_in_by_token(request: Request, token: Field = "", to: Field = "") -> Response:
    """A browser session for who has a token."""
    person = house_of(request).accounts.whose(token.strip(), "token")
    if person is None:
        _count_failure(request)
        record = {"problem": {"title": "this token is not known here", "cost": ""}, "to": ""}
        return page(request, "sign_in.html", record, status=403)
    return _entered(request, person, to)


@router.get("/join/{secret}")
def join(request: Request, secret: str) -> Response:
    """Show whose link this is; it is not used up by looking."""
    person = house_of(request).accounts.whose(secret, "link")
    if person is None:
        raise HTTPException(404, "this link was used already, has expired, or is not complete")
    return page(request, "join.html", {"name": person.name, "role": person.role})


@router.post("/join/{secret}")
def consume(request: Request, secret: str) -> Response:
    """Use the link up, and sign in."""
    person = house_of(request).accounts.consume(secret)
    if person is None:
        _count_failure(request)
        raise HTTPException(404, "this link was used already, has expired, or is not complete")
    return _entered(request, person)


@router.post("/sign-out")
def sign_out(request: Request) -> Response:
    """End the browser session."""
    house = house_of(request)
    name = cookie_of(house.settings)
    cookie = request.cookies.get(name)
    if cookie is not None:
        house.accounts.forget(cookie)
    response = RedirectResponse("/public", 303)
    response.delete_cookie(name, path="/", secure=house.settings.https, httponly=True)
    return response


# ---- the curator's forms


@router.post("/curator/people")
def invite(
    request: Request,
    who: TheCuratorAfresh,
    *,
    name: Field = "",
    people: Field = "",
    share: Field = "",
    delta: Field = "",
) -> Response:
    """Add an analyst, and show their link and token once."""
    house = house_of(request)
    group = people if people in house.groups else next(iter(house.groups), "")
    if not group:
        raise HTTPException(400, "register a table first: an analyst has a share of its budget")
    try:
        typed = {house.ledgers[group].budget.figure: share, "delta": delta}
        given = {n: float(text.replace(",", ".")) for n, text in typed.items() if text.strip()}
    except ValueError:
        raise HTTPException(400, "the share must be a number above 0") from None
    record = given or None
    known = "" if house.accounts.find(name.strip()) is None else acts.KNOWN
    person = acts.added(house, name.strip(), group, record)
    house.log(who.name, "added", name=person.name)
    return _secrets(
        request,
        person,
        token=house.accounts.issue(person, "token"),
        link=house.accounts.issue(person, "link"),
        note=f"{known} {acts.covers(house, group, record)}".strip(),
    )


@router.post("/curator/people/{name}/{action}")
def act(request: Request, who: TheCuratorAfresh, name: str, action: str) -> Response:
    """Freeze, thaw, rotate or resume somebody."""
    house = house_of(request)
    if action == "rotate":
        token = acts.rotate(request, name, who)["token"]
        return _secrets(request, acts.known(house, name), token=token, link=None)
    done = {"freeze": acts.freeze, "thaw": acts.thaw, "resume": acts.resume}.get(action)
    if done is None:
        raise HTTPException(404, "there is no such action")
    done(request, name, who)
    return RedirectResponse("/curator", 303)


def _secrets(
    request: Request, person: Person, *, token: str, link: str | None, note: str = ""
) -> Response:
    base = str(request.base_url).rstrip("/")
    record: dict[str, Any] = {
        "name": person.name,
        "token": token,
        "link": None if link is None else f"{base}/join/{link}",
        "base": base,
        "note": note,
    }
    return page(request, "secrets.html", record)
