"""Templates, and what every page knows. Everything a template prints is escaped."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

from fastapi import Request
from fastapi.responses import HTMLResponse, Response
from jinja2 import Environment, FileSystemLoader, StrictUndefined

from deniable.server.api.people import maybe_signed_in

HERE: Final = Path(__file__).parent

_TEMPLATES: Final = Environment(
    loader=FileSystemLoader(HERE / "templates"),
    autoescape=True,
    undefined=StrictUndefined,
    trim_blocks=True,
    lstrip_blocks=True,
)


def page(
    request: Request, template: str, record: Mapping[str, Any], *, status: int = 200
) -> HTMLResponse:
    """A page of a record."""
    person = maybe_signed_in(request)
    text = _TEMPLATES.get_template(template).render(
        record, person=person, path=request.url.path, problem=record.get("problem")
    )
    return HTMLResponse(text.encode("utf-8", "backslashreplace"), status_code=status)


def problem(request: Request, record: Mapping[str, str], status: int) -> Response:
    """A page that says what went wrong."""
    return page(request, "problem.html", {"problem": record, "status": status}, status=status)
