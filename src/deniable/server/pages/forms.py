"""What curators' forms have in common."""

from __future__ import annotations

from typing import Annotated

from fastapi import Depends, HTTPException, Request

from deniable.server.state import house_of


async def _typed(request: Request) -> dict[str, str]:
    """The text fields of a form, read only after the dependencies before this one were met."""
    form = await request.form(max_fields=20_000, max_files=0)
    return {name: value for name, value in form.items() if isinstance(value, str)}


Typed = Annotated[dict[str, str], Depends(_typed)]


def known_table(request: Request, name: str) -> str:
    """The name of a table that is served; 404 otherwise."""
    if name not in house_of(request).tables():
        raise HTTPException(404, "there is no such table")
    return name
