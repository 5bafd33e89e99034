"""Connections over which nothing comes: closed, so that a few hundred of them lock nobody out.

A body is given its time by `security.Guard`. What comes before it, the line and the headers of a
request, no application sees: whoever connects and sends half of that would be waited for.
"""

from __future__ import annotations

import asyncio
from typing import ClassVar

from uvicorn.protocols.http.h11_impl import H11Protocol, RequestResponseCycle


class Prompt(H11Protocol):  # type: ignore[misc]
    """HTTP for clients that say in time what they want."""

    patience: ClassVar[float] = 10.0
    """Seconds for the line and the headers of a request."""

    def connection_made(self, transport: asyncio.Transport) -> None:
        """Wait for a first request."""
        super().connection_made(transport)
        self._expect()

    def on_response_complete(self) -> None:
        """Wait for the next request."""
        self._expect()
        super().on_response_complete()

    def _expect(self) -> None:
        self.loop.call_later(self.patience, self._give_up, self.cycle)

    def _give_up(self, last: RequestResponseCycle | None) -> None:
        """Close, if no request has begun since the last one."""
        if self.cycle is last:
            self.transport.close()
