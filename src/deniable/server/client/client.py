"""A connection that feels like a local session."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Self
from urllib.parse import quote

from deniable import fixes
from deniable.errors import BadParameter
from deniable.losses import Loss
from deniable.parameters import called, spend_or_within
from deniable.release import Plan, Release
from deniable.sampling.source import current
from deniable.server import wire

from .collecting import RemoteCollection
from .connection import Connection
from .naming import ByName

Within = float | Mapping[str, float]


@called('dp.connect("http://127.0.0.1:8477", token="...")')
def connect(url: str, *, token: str | None = None) -> Client:
    """Ask a curator's server: `c.tables`, `c.sql(text).explain(...)`, `.release(...)`, `c.left`.

    The curator gives out tokens; reporting to a collection (`c.collection(name)`) needs none.
    Queries, plans, answers and errors are those of a local session. A release that is interrupted
    can be repeated: its idempotency key makes sure that it is paid for once.
    """
    if not str(url).startswith(("http://", "https://")):
        raise BadParameter.of("url", url, must="http://... or https://...")
    if token is not None and not str(token).isalnum():
        raise BadParameter("token must be the text that the curator gave you")
    return Client(Connection(url, token))


class Client(ByName):
    """What a token may see and ask."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    def __repr__(self) -> str:
        return f"dp.connect({self._connection.url!r}, token=...)"

    @property
    def tables(self) -> dict[str, dict[str, Any]]:
        """Each table by name, with the public facts about its columns."""
        found = self._connection.get("/tables.json")["tables"]
        names = [each["name"] for each in found]
        return {
            name: self._connection.get(f"/tables/{quote(name, safe='')}.json")["table"]
            for name in names
        }

    @property
    def left(self) -> Loss:
        """What you may still spend; of the first group of people, if there are several."""
        return self._standing("loss_left").as_left()

    @property
    def spent(self) -> Loss:
        """What you have spent."""
        return self._standing("loss_spent")

    def _standing(self, what: str) -> Loss:
        for table in self._connection.get("/tables.json")["tables"]:
            if table.get(what) is not None:
                return Loss.from_dict(table[what])
        raise BadParameter("no share of a budget is reserved for you", fix="ask the curator")

    @property
    def ledger(self) -> list[dict[str, Any]]:
        """Your own lines, newest first."""
        groups = self._connection.get("/ledger.json")["groups"]
        return [line for group in groups for line in group["lines"]]

    @called('c.sql("SELECT COUNT(*) FROM people")')
    def sql(self, text: str, *, purpose: str | None = None) -> RemoteQuery:
        """A question in SQL: free until it is released; `purpose` where the curator wants one."""
        if not str(text).strip():
            raise BadParameter.of(
                "text", text, must="SQL", fix='c.sql("SELECT COUNT(*) FROM people")'
            )
        return RemoteQuery(connection=self._connection, text=text, purpose=purpose)

    @called('c.collection("drinks")')
    def collection(
        self,
        name: str,
        *,
        memory: str | Path | None = None,
        lifetime: float | None = None,
        ticket: str | None = None,
    ) -> RemoteCollection:
        """A collection in the local model, to `submit` a value to: it is randomized here first.

        `memory` is the file that remembers what was reported, `lifetime` the most ε that all
        reports from it may cost; `ticket` is what the curator gave you, where that is needed.
        """
        return RemoteCollection(
            self._connection, name, memory=memory, lifetime=lifetime, given=ticket
        )

    def close(self) -> None:
        """Close the connection."""
        self._connection.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


@dataclass(frozen=True, kw_only=True)
class RemoteQuery:
    """A question to a server: `.explain` is free, `.release` spends."""

    connection: Connection = field(repr=False)
    text: str
    purpose: str | None = None

    @called("q.explain(spend=dp.epsilon(0.1))")
    def explain(
        self, *, spend: Loss | None = None, within: Within | None = None, size: float | None = None
    ) -> Plan:
        """What an answer would cost and how good it would be. Free."""
        body = self._body(spend, within, size)
        return wire.plan_from_dict(self.connection.post("/api/explain", body))

    @called("q.rehearse(spend=dp.epsilon(0.1))")
    def rehearse(
        self, *, spend: Loss | None = None, within: Within | None = None, size: float | None = None
    ) -> Release:
        """An answer on made-up rows. Free; it describes no real people."""
        answer = self.connection.post("/api/try", self._body(spend, within, size))
        return wire.release_from_dict(answer["release"] | {"free": "these rows are made up"})

    @called("q.release(spend=dp.epsilon(0.1))")
    def release(
        self,
        *,
        spend: Loss | None = None,
        within: Within | None = None,
        size: float | None = None,
        key: str | None = None,
    ) -> Release:
        """The answer, with its ±: charged, then computed, then drawn.

        `key` names this question for ever: released again under the same key it is the same answer.
        Without one a new key is made, and used for all retries of this call.
        """
        body = self._body(spend, within, size)
        named = key or f"{current().integer(128):032x}"
        answer = self.connection.post("/api/ask", body, key=named)
        return wire.release_from_dict(answer["release"])

    def _body(
        self, spend: Loss | None, within: Within | None, size: float | None
    ) -> dict[str, object]:
        spend_or_within(spend, within)
        if spend is not None and not isinstance(spend, Loss):
            raise BadParameter.of(
                "spend", spend, must="a privacy loss", fix=fixes.amount("spend", "epsilon", 0.1)
            )
        wanted = dict(within) if isinstance(within, Mapping) else within
        body = {
            "sql": self.text,
            "spend": None if spend is None else spend.to_dict(),
            "within": wanted,
            "size": size,
            "purpose": self.purpose,
        }
        return {name: value for name, value in body.items() if value is not None}
