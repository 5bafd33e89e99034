"""What every request must pass, whatever it asks for: host, size, origin; and the headers it gets.

- A Host that is not ours is refused: else a page elsewhere could rebind its name to our address.
- A body is counted while it is read, and refused once it is too long or takes too long. One in
  several parts, which none of our pages sends, is not read: it may name an encoding in which texts
  are not whole.
- A request that changes something must come from our own pages, as browsers state in Sec-Fetch-Site
  and Origin, also if it carries no cookie: else another page could sign its visitors in as somebody
  else. Programs state neither; they carry a token, which no browser adds by itself.
- Answers are never cached, compressed or tagged: their sizes and validators would be a channel.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import Awaitable, Callable, MutableMapping
from typing import Any, Final

from deniable.server.settings import Settings

Scope = MutableMapping[str, Any]
Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
App = Callable[[Scope, Receive, Send], Awaitable[None]]

_POLICY: Final = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; "
    "form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
)
HEADERS: Final = {
    "content-security-policy": _POLICY,
    "x-content-type-options": "nosniff",
    "referrer-policy": "same-origin",  # none at all would make browsers send Origin: null
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "permissions-policy": "camera=(), geolocation=(), microphone=()",
    "cache-control": "no-store",
}
_HOST: Final = re.compile(r"(\[[0-9a-f:.]+\]|[a-z0-9_.-]+)(:[0-9]{1,5})?")
_SAFE: Final = {"GET", "HEAD", "OPTIONS"}


class _TooLong(Exception):
    """The body is longer than any question, or takes longer to arrive."""


class Guard:
    """The outermost layer of the application."""

    def __init__(self, app: App, settings: Settings) -> None:
        self._app, self._settings = app, settings

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Let a request through, or refuse it."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        headers = {
            name.decode("latin-1"): value.decode("latin-1") for name, value in scope["headers"]
        }
        longest = self._longest(scope["path"])
        refusal = self._refusal(scope["method"], headers, longest)
        if refusal is not None:
            await _refuse(send, *refusal)
            return
        try:
            await self._app(
                scope, self._counted(receive, longest), _with_headers(send, self._extra())
            )
        except _TooLong:
            await _refuse(send, 413, "the request is too long")

    def _extra(self) -> dict[str, str]:
        secure = {"strict-transport-security": "max-age=31536000"} if self._settings.https else {}
        return HEADERS | secure

    def _longest(self, path: str) -> int:
        """Curators' forms are longer: their routes read a body only once they know its sender."""
        schema = path.startswith("/curator/tables/")
        return self._settings.longest_schema if schema else self._settings.longest_body

    def _refusal(
        self, method: str, headers: dict[str, str], longest: int
    ) -> tuple[int, str] | None:
        host = headers.get("host", "").lower()
        if not _HOST.fullmatch(host) or _name(host) not in self._settings.hosts:
            return 421, "this server does not answer to that host name"
        if int(headers.get("content-length", "0")) > longest:
            return 413, "the request is too long"
        if method in _SAFE:
            return None
        if headers.get("content-type", "").strip().lower().startswith("multipart/"):
            return 415, "this server takes forms of one part, and JSON"
        site, origin = headers.get("sec-fetch-site"), headers.get("origin")
        scheme = "https" if self._settings.https else "http"
        ours = site in ("same-origin", None) and origin in (f"{scheme}://{host}", None)
        unsaid = site is None and origin is None  # by a program, or a browser that tells nothing
        if not ours or (unsaid and "cookie" in headers):
            return 403, "a request that changes something must come from this server's own pages"
        return None

    def _counted(self, receive: Receive, longest: int) -> Receive:
        length, whole = 0, False
        end = asyncio.get_running_loop().time() + self._settings.arrival

        async def counted() -> Message:
            nonlocal length, whole
            try:
                async with asyncio.timeout_at(None if whole else end):
                    message = await receive()
            except TimeoutError:
                raise _TooLong from None
            whole = whole or not message.get("more_body", False)
            length += len(message.get("body", b""))
            if length > longest:
                raise _TooLong
            return message

        return counted


def _name(host: str) -> str:
    """The host without its port."""
    if host.startswith("["):
        return host.partition("]")[0] + "]"
    return host.partition(":")[0]


def _with_headers(send: Send, extra: dict[str, str]) -> Send:
    async def sending(message: Message) -> None:
        if message["type"] == "http.response.start":
            given = [(n, v) for n, v in message.get("headers", []) if n != b"etag"]
            known = {name for name, _ in given}
            more = [(n.encode(), v.encode()) for n, v in extra.items() if n.encode() not in known]
            message["headers"] = [*given, *more]
        await send(message)

    return sending


async def _refuse(send: Send, status: int, words: str) -> None:
    given = {"content-type": "text/plain; charset=utf-8"} | HEADERS
    headers = [(name.encode(), value.encode()) for name, value in given.items()]
    await send({"type": "http.response.start", "status": status, "headers": headers})
    await send({"type": "http.response.body", "body": words.encode()})
