"""Report to a collection in the local model: what is sent was randomized here."""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import Any
from urllib.parse import quote

from deniable import local
from deniable.errors import BadParameter
from deniable.local.collection import Receipt, new_ticket, submission
from deniable.local.reports import Reporter
from deniable.parameters import called
from deniable.server.serving import state_home

from .connection import Connection


class RemoteCollection:
    """A collection on a server: `submit` randomizes a value on this machine and sends that.

    What was reported is remembered in the file `memory`, which also limits what this person's
    reports may reveal in their lifetime: see `deniable.local.Client`. By default each collection
    has a memory of its own in this user's state folder. A server that changes ε or the categories
    of a collection is refused, because that would be a second report about the same value.
    """

    def __init__(
        self,
        connection: Connection,
        name: str,
        *,
        memory: str | Path | None = None,
        lifetime: float | None = None,
        given: str | None = None,
    ) -> None:
        if not str(name).replace("-", "").replace("_", "").isalnum():
            raise BadParameter.of("name", name, must="the name of a collection", fix='"drinks"')
        self._connection, self._path = connection, f"/api/collections/{quote(name)}"
        facts = connection.get(self._path)
        self.name, self.title, self.purpose = name, facts["title"], facts["purpose"]
        self.protocol: Reporter[Any] = local.from_dict(facts["protocol"])
        self._memory = _own(connection.url, name) if memory is None else Path(memory)
        self._lifetime, self._given = lifetime, _ticket(given)

    @property
    def epsilon(self) -> float:
        """What a report costs the person who sends it."""
        return self.protocol.epsilon

    @called('c.collection("drinks").submit("tea")')
    def submit(self, value: object, *, period: str = "") -> Receipt:
        """Report a value: once per period, however often this is called.

        A collection by `Repeated` takes a fresh report at each call instead.
        """
        client = local.Client(self.protocol, memory=self._memory, lifetime=self._lifetime)
        report = client.encode(value, period=period)
        own = client.ticket(self.name, period=period)
        if isinstance(self.protocol, local.Repeated):
            own = new_ticket()
        body = submission(self.protocol, self.name, report, ticket=self._given or own)
        found = self._connection.post_bytes(f"{self._path}/reports", body)
        return Receipt(status="stored" if found["stored"] else "duplicate")

    def estimate(self) -> dict[str, Any] | None:
        """What the reports say, with the ± of each number; None before the first batch."""
        found = self._connection.get(f"/collections/{self.name}.json")
        estimate: dict[str, Any] | None = found["estimate"]
        return estimate

    def __repr__(self) -> str:
        return f"collection {self.name!r}: {self.title} (ε = {self.epsilon:.3g} per report)"


def _own(url: str, name: str) -> Path:
    """This user's memory for a collection of a server."""
    folder = state_home() / "reports"
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    return folder / f"{hashlib.sha256(f'{url} {name}'.encode()).hexdigest()[:32]}.db"


def _ticket(given: str | None) -> bytes | None:
    if given is None:
        return None
    try:
        return bytes.fromhex(given)
    except ValueError:
        raise BadParameter("ticket must be the text that the curator gave you") from None
