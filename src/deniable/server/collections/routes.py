"""Collections over HTTP: a curator creates them, and anyone sends reports to them."""

from __future__ import annotations

import asyncio
from typing import Annotated, Any, Literal, Self

from fastapi import APIRouter, HTTPException, Path, Request
from pydantic import AfterValidator, BaseModel, ConfigDict, Field, model_validator

from deniable import local
from deniable.local.reports import Reporter
from deniable.server.api.models import Positive, Problem, encoded
from deniable.server.api.people import TheCurator
from deniable.server.guard import limits
from deniable.server.state import app_of, house_of

from .store import Collections, Facts, protocol_of

NAME = r"^[a-z0-9][a-z0-9_-]{0,60}$"
PER_MINUTE = 6000
"""Requests with reports, per address."""

Name = Annotated[str, Path(pattern=NAME)]
Words = Annotated[str, Field(min_length=1, max_length=200), AfterValidator(encoded)]

router = APIRouter(
    prefix="/api/collections",
    tags=["collections"],
    responses={status: {"model": Problem} for status in (400, 404)},
)


class NewCollection(BaseModel):
    """A collection: what is asked and why, and either a protocol or what to choose one for."""

    model_config = ConfigDict(extra="forbid")

    name: Annotated[str, Field(pattern=NAME)]
    title: Words
    purpose: Annotated[str, Field(min_length=1, max_length=2000), AfterValidator(encoded)]
    protocol: dict[str, Any] | None = None
    """The record of a protocol, as `to_dict` writes it."""
    categories: Annotated[list[Words], Field(min_length=2, max_length=2000)] | None = None
    epsilon: Positive | None = None
    expected: Annotated[int, Field(ge=1, le=10**10)] = 10_000
    """How many people are expected, to choose a protocol by."""
    tickets: Literal["open", "issued"] = "open"
    public: bool = True
    batch: Annotated[int, Field(ge=10, le=10**9)] = 100

    @model_validator(mode="after")
    def _one_way(self) -> Self:
        chosen = self.categories is not None and self.epsilon is not None
        if (self.protocol is None) == (not chosen):
            raise ValueError("a collection has a `protocol`, or `categories` and `epsilon`")
        return self

    def reporter(self) -> Reporter[Any]:
        """The protocol that people report by."""
        if self.protocol is not None:
            return protocol_of(self.protocol)
        assert self.categories is not None
        assert self.epsilon is not None
        return local.choose(categories=self.categories, epsilon=self.epsilon, reports=self.expected)


class Invitations(BaseModel):
    """How many tickets to issue."""

    model_config = ConfigDict(extra="forbid")

    count: Annotated[int, Field(ge=1, le=10_000)]


def collections_of(request: Request) -> Collections:
    """The collections of the server."""
    return app_of(request).collections


def known(request: Request, name: str) -> Facts:
    """The collection of that name; 404 otherwise."""
    found = collections_of(request).find(name)
    if found is None:
        raise HTTPException(404, "there is no such collection")
    return found


def created(request: Request, new: NewCollection, who: str) -> Facts:
    """Begin a collection, and write that down in the log."""
    fields = {n: getattr(new, n) for n in ("name", "title", "purpose", "tickets", "public")}
    facts = Facts(**fields, protocol=new.reporter(), batch=new.batch)
    collections_of(request).create(facts)
    house_of(request).log(who, "created a collection", name=facts.name)
    return facts


@router.post("", responses={403: {"model": Problem}})
def create(request: Request, new: NewCollection, who: TheCurator) -> dict[str, Any]:
    """Begin a collection: its protocol, ε and categories are public and stay as they are."""
    return created(request, new, who.name).record()


@router.get("/{name}")
def look(request: Request, name: Name) -> dict[str, Any]:
    """What a client needs to report: the protocol with its ε, and what the reports are for."""
    return known(request, name).record()


_BYTES = {
    "requestBody": {
        "required": True,
        "content": {"application/octet-stream": {"schema": {"type": "string", "format": "binary"}}},
    }
}


@router.post("/{name}/reports", openapi_extra=_BYTES, responses={429: {"model": Problem}})
async def report(request: Request, name: Name) -> dict[str, int]:
    """Send a report, or several after each other; sent again, it is not counted again.

    No account is needed. The body is what `submission` of `deniable.local` writes.
    """
    body = await request.body()
    return await asyncio.to_thread(_reported, request, name, body)


def _reported(request: Request, name: str, body: bytes) -> dict[str, int]:
    house = house_of(request)
    address = "" if request.client is None else request.client.host
    limits.count(house.database, house.accounts.keyed(address), "report", most=PER_MINUTE)
    return collections_of(request).accept(known(request, name), body)


@router.post("/{name}/tickets", responses={403: {"model": Problem}})
def invite(
    request: Request, name: Name, wanted: Invitations, who: TheCurator
) -> dict[str, list[str]]:
    """New tickets, shown once: give each person one, and their report counts once."""
    known(request, name)
    made = collections_of(request).issue(name, wanted.count)
    house_of(request).log(who.name, "issued tickets", collection=name, count=wanted.count)
    return {"tickets": made}


@router.post("/{name}/close", responses={403: {"model": Problem}})
def close(request: Request, name: Name, who: TheCurator) -> dict[str, Any]:
    """Take no more reports."""
    known(request, name)
    collections_of(request).close(name)
    house_of(request).log(who.name, "closed a collection", name=name)
    return known(request, name).record()
