"""Who is asking, and what a curator may do."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any

from fastapi import APIRouter, Depends, HTTPException, Request

from deniable.errors import BadParameter
from deniable.server import wire
from deniable.server.accounts import Person
from deniable.server.house import House
from deniable.server.settings import Settings
from deniable.server.state import app_of, house_of

from .models import NewPerson

COOKIE = "deniable"
UNKNOWN = (
    "this server does not know this token: it was replaced by a newer one, or belongs to another "
    "server"
)
KNOWN = (
    "An account with this name already existed. It now has the new share in addition to its "
    "earlier ones, and this token opens that account. If this is somebody else, choose another "
    "name for them."
)


def cookie_of(settings: Settings) -> str:
    """The name of the cookie; by https a prefix lets no other host or path of the site set it."""
    return f"__Host-{COOKIE}" if settings.https else COOKIE


router = APIRouter(prefix="/api", tags=["people"])


def signed_in(request: Request) -> Person:
    """Whoever sent a valid token, or has a browser session; 401 otherwise."""
    person = maybe_signed_in(request)
    if person is None:
        said = "sign in, or send a token" if _token(request) is None else UNKNOWN
        raise HTTPException(401, said, {"www-authenticate": "Bearer"})
    return person


def maybe_signed_in(request: Request) -> Person | None:
    """Whoever sent a valid token or has a browser session, or None."""
    house = house_of(request)
    house.refresh()
    accounts = house.accounts
    token = _token(request)
    if token is not None:
        return accounts.whose(token, "token")
    cookie = request.cookies.get(cookie_of(house.settings))
    return None if cookie is None else accounts.whose(cookie, "session")


def _token(request: Request) -> str | None:
    """The token that was sent; None if the cookie says who is asking, whatever else was sent."""
    scheme, _, token = request.headers.get("authorization", "").partition(" ")
    return token.strip() if scheme.lower() == "bearer" else None


def curator(person: Annotated[Person, Depends(signed_in)]) -> Person:
    """Whoever is signed in, if that is a curator; 403 otherwise."""
    if person.role != "curator":
        raise HTTPException(403, "only a curator may do this")
    return person


class Stale(HTTPException):
    """Signed in too long ago for what only the curator may do."""

    def __init__(self) -> None:
        super().__init__(401, "sign in again: you signed in too long ago for this")


def is_fresh(request: Request) -> bool:
    """Whether this request carries a token, or a browser session that has just begun."""
    house = house_of(request)
    if _token(request) is not None:
        return True
    session = request.cookies.get(cookie_of(house.settings), "")
    return house.accounts.since(session) <= house.settings.fresh


def curator_afresh(request: Request, person: Annotated[Person, Depends(curator)]) -> Person:
    """A curator who has just signed in: whoever finds a browser left open is none."""
    if not is_fresh(request):
        raise Stale
    return person


Someone = Annotated[Person, Depends(signed_in)]
TheCurator = Annotated[Person, Depends(curator)]
TheCuratorAfresh = Annotated[Person, Depends(curator_afresh)]


@router.post("/people")
def add(request: Request, new: NewPerson, who: TheCuratorAfresh) -> dict[str, Any]:
    """Add an analyst with a share; their token and one-time link are shown once."""
    house = house_of(request)
    share = None if new.share is None else new.share.figures()
    known = KNOWN if house.accounts.find(new.name) is not None else ""
    person = added(house, new.name, new.people, share)
    house.log(who.name, "added", name=person.name)
    token = house.accounts.issue(person, "token")
    return {"name": person.name, "token": token, "link": house.accounts.issue(person, "link"),
            "note": f"{known} {covers(house, new.people, share)}".strip()}  # fmt: skip


def covers(house: House, people: str | None, share: Mapping[str, Any] | None) -> str:
    """What a share cannot pay for, if there is anything: said when it is given, not when asked."""
    group = people or next(iter(house.groups), "")
    budget = house.ledgers[group].budget
    if not share or not budget.figures().get("delta") or share.get("delta"):
        return ""
    return (
        "This share has no δ. It pays for answers with Laplace noise (counts, sums, averages, "
        "quantiles, ranges, synthetic rows), but not for models and private keys, which need a δ. "
        f"Add a share with a δ for those, such as δ {budget.figures()['delta'] / 100:.0e}."
    )


def added(house: House, name: str, people: str | None, share: dict[str, Any] | None) -> Person:
    """A new analyst with a share of a group's budget."""
    amount = None if share is None else wire.loss(share, name="share")
    group = people or next(iter(house.groups), "")
    if group not in house.groups:
        raise BadParameter(f"there is no group `{group}`", fix=", ".join(house.groups))
    if amount is not None:
        ledger = house.ledgers[group]
        ledger.check(ledger.filter.price_of(amount))  # before anything is written
    person = house.accounts.find(name) or house.accounts.add(name)
    if person.role == "curator":
        raise BadParameter(
            "a curator spends the unreserved part of the budget and does not need a share"
        )
    if amount is not None:
        house.ledgers[group].share(person.name, amount=amount)
        house.anchor(group)
    return person


@router.post("/people/{name}/rotate")
def rotate(request: Request, name: str, who: TheCuratorAfresh) -> dict[str, str]:
    """Give somebody a new token; everything older stops working, and what waits is cancelled."""
    house = house_of(request)
    person = known(house, name)
    token = house.accounts.rotate(person)
    app_of(request).asking.cancel(person)
    house.log(who.name, "rotated", name=name)
    return {"name": name, "token": token}


@router.post("/people/{name}/freeze")
def freeze(request: Request, name: str, who: TheCuratorAfresh) -> dict[str, Any]:
    """Stop somebody from asking; what they have in the queue is cancelled."""
    return _frozen(request, name, who, frozen=True)


@router.post("/people/{name}/thaw")
def thaw(request: Request, name: str, who: TheCuratorAfresh) -> dict[str, Any]:
    """Let somebody ask again."""
    return _frozen(request, name, who, frozen=False)


def _frozen(request: Request, name: str, who: Person, *, frozen: bool) -> dict[str, Any]:
    house = house_of(request)
    person = known(house, name)
    if frozen and person.name == who.name:
        raise BadParameter("this would freeze your own account", fix="another curator can do so")
    house.accounts.freeze(person.name, frozen=frozen)
    if frozen:
        app_of(request).asking.cancel(person)
    house.log(who.name, "froze" if frozen else "thawed", name=name)
    return {"name": name, "frozen": frozen}


@router.post("/people/{name}/resume")
def resume(
    request: Request, name: str, who: TheCuratorAfresh, people: str | None = None
) -> dict[str, Any]:
    """Let an asker go on who was stopped by a failure; its cause is erased."""
    house = house_of(request)
    asker = known(house, name).asker
    groups = [people] if people in house.ledgers else list(house.ledgers)
    passed = 0
    for group in groups:
        ledger = house.ledgers[group]
        if asker in ledger.halts().stopped:
            passed += len(ledger.passed_over(asker)[1])
            house.anchor(group)
    house.log(who.name, "resumed", name=name, failures=passed)
    return {"name": name, "failures": passed}


def known(house: House, name: str) -> Person:
    """The person of that name; 404 otherwise."""
    person = house.accounts.find(name)
    if person is None:
        raise HTTPException(404, f"there is no account called {name}")
    return person
