"""Requests with a token; those that spend carry an idempotency key, so a retry pays nothing."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from typing import Any, Final

from deniable.errors import DeniableError, MissingExtra, NotReady
from deniable.server import wire

_WAITS: Final = (0.2, 0.5, 1.0, 2.0, 4.0)
_PATIENCE: Final = 90.0  # longer than any deadline
_AGAIN: Final = {409, 429, 502, 503, 504}


class Connection:
    """One server and one token."""

    def __init__(self, url: str, token: str | None, *, transport: Any = None) -> None:
        try:
            import httpx2
        except ImportError:
            raise MissingExtra.of("the client (httpx2)", extra="client") from None
        self.url = url.rstrip("/")
        self._errors: type[Exception] = httpx2.HTTPError
        self._http = httpx2.Client(
            base_url=self.url,
            headers={} if token is None else {"authorization": f"Bearer {token}"},
            timeout=_PATIENCE,
            transport=transport,
        )

    def get(self, path: str) -> dict[str, Any]:
        """What a page's twin says."""
        return self._again(lambda: self._http.get(path))

    def post(
        self, path: str, body: Mapping[str, object], *, key: str | None = None
    ) -> dict[str, Any]:
        """What the server answers; with a key the same question is paid for once."""
        headers = {} if key is None else {"idempotency-key": key}
        return self._again(lambda: self._http.post(path, json=body, headers=headers))

    def post_bytes(self, path: str, body: bytes) -> dict[str, Any]:
        """What the server answers to bytes that it takes once, however often they are sent."""
        kind = {"content-type": "application/octet-stream"}
        return self._again(lambda: self._http.post(path, content=body, headers=kind))

    def _again(self, send: Callable[[], Any]) -> dict[str, Any]:
        """Send until there is an answer; safe, because nothing here pays twice."""
        for wait in (*_WAITS, None):
            try:
                response = send()
            except self._errors as error:
                if wait is None:
                    raise NotReady(
                        "the server cannot be reached",
                        why=type(error).__name__,
                        fix="try again: a repeated question is not paid for twice",
                        cost="unknown until the server answers",
                    ) from None
            else:
                if response.status_code < 300:
                    return _read(response)
                refused = _refused(response)
                if wait is None or not _worth_waiting(response.status_code, refused):
                    raise refused
            time.sleep(wait)
        raise AssertionError

    def close(self) -> None:
        """Close the connection."""
        self._http.close()


def _worth_waiting(status: int, error: DeniableError) -> bool:
    """A conflict is worth waiting for only while the same question is being answered."""
    return status in _AGAIN and (status != 409 or "still being answered" in error.what)


def _read(response: Any) -> dict[str, Any]:
    try:
        found = response.json()
    except ValueError:
        found = None
    if not isinstance(found, dict):
        raise _stranger(response)
    return found


def _refused(response: Any) -> DeniableError:
    try:
        record = response.json()
    except ValueError:
        record = {}
    if not isinstance(record, dict) or "title" not in record:
        return _stranger(response)
    return wire.error_from_dict(record)


def _stranger(response: Any) -> NotReady:
    """For what answers at an address in other words than a curator's server."""
    elsewhere = response.headers.get("location")
    return NotReady(
        f"{response.url.scheme}://{response.url.netloc.decode()} is not a deniable server "
        f"(status {response.status_code})",
        fix="check the address" if elsewhere is None else f"it points to {elsewhere}",
        cost="unknown until the server answers",
    )
