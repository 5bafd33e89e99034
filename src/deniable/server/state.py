"""What a request finds: the application and its house."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

from fastapi import Request
from fastapi.responses import JSONResponse

from deniable import records

from .house import House

if TYPE_CHECKING:
    from .app import Application


class Record(JSONResponse):
    """JSON that can always be sent: what is not a whole character is escaped."""

    def render(self, content: Any) -> bytes:
        return records.text(content, indent=None).encode("utf-8", "backslashreplace")


def app_of(request: Request) -> Application:
    """The application that serves this request."""
    return cast("Application", request.app.state.application)


def house_of(request: Request) -> House:
    """What the application holds."""
    return app_of(request).house
