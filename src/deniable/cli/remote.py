"""deniable ask --server: the same question to a curator's server."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from deniable.cli import talk
from deniable.errors import BadParameter

if TYPE_CHECKING:
    from deniable.losses import Loss
    from deniable.server import Client


def connected(server: str) -> Client:
    """A connection with the token that the environment holds."""
    from deniable.server import connect

    token = os.environ.get("DENIABLE_TOKEN", "")
    if not token:
        raise BadParameter(
            "DENIABLE_TOKEN is not set, and the server needs a token",
            fix="export DENIABLE_TOKEN=...    the text that the curator gave you",
        )
    return connect(server, token=token)


def ask(
    server: str,
    sql: str,
    *,
    spend: Loss | None,
    within: float | dict[str, float] | None,
    size: float | None,
    purpose: str | None,
    json: bool,
    csv: bool = False,
) -> None:
    """Answer a query over HTTP; without an amount, price a tenth of what is left."""
    from deniable.release.numbers import amount
    from deniable.server import wire

    with connected(server) as c:
        query = c.sql(sql, purpose=purpose)
        if spend is None and within is None:
            plan = query.explain(spend=c.left.share(0.1), size=size)
            talk.answer(plan, wire.plan_to_dict(plan), json=json)
            talk.say("nothing was spent; add --spend to release the answer")
            return
        release = query.release(spend=spend, within=within, size=size)
        left = c.left
        record = {"rows": release.rows(), "cost": release.loss.to_dict(), "left": left.to_dict()}
        talk.released(release, record, json=json, csv=csv)
        if not json:
            talk.say(f"left: {amount(left, 'down')}")
