"""`deniable mcp`: the same door for software agents, as tools of the Model Context Protocol.

An agent is an analyst with a token and a share; its tools list tables, price questions and ask.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from deniable.errors import DeniableError, MissingExtra
from deniable.losses import epsilon as epsilon_

from . import wire
from .client import Client
from .client.naming import RemoteNamed

Telling = Callable[[Callable[[], dict[str, Any]]], dict[str, Any]]
"""Turns an error of ours into a refusal that an agent can read."""


def tools(client: Client) -> Any:
    """A server of tools over a connection; `.run()` speaks to an agent on stdin and stdout."""
    try:
        from fastmcp import FastMCP
        from fastmcp.exceptions import ToolError
    except ImportError:
        raise MissingExtra.of("tools for agents (FastMCP)", extra="mcp") from None
    served = FastMCP(
        "deniable",
        instructions="Differentially private answers about tables nobody may see. Price a "
        "question with explain before you ask: each answer spends a budget that is never refilled.",
    )

    for each in _tools(client, ToolError):
        served.tool(each)
    return served


def _tools(client: Client, refusal: type[Exception]) -> list[Callable[..., dict[str, Any]]]:
    """Each is a function whose docstring is what an agent reads."""
    told = _telling(refusal)

    def list_tables() -> dict[str, Any]:
        """Tables, their columns as public facts, and what may still be spent."""
        return told(lambda: {"tables": client.tables})

    def explain(sql: str, epsilon: float, purpose: str | None = None) -> dict[str, Any]:
        """The cost and the ± of an answer, for free."""

        def act() -> dict[str, Any]:
            query = client.sql(sql, purpose=purpose)
            return wire.plan_to_dict(query.explain(spend=epsilon_(epsilon)))

        return told(act)

    def ask(sql: str, epsilon: float, key: str, purpose: str | None = None) -> dict[str, Any]:
        """The noisy answer; spends ε. The same key asked again is the same answer, free."""

        def act() -> dict[str, Any]:
            query = client.sql(sql, purpose=purpose)
            release = query.release(spend=epsilon_(epsilon), key=key)
            return {"rows": release.rows(), "cost": release.cost, "left": client.left.to_dict()}

        return told(act)

    return [list_tables, explain, ask, *_by_name(client, told)]


def _by_name(client: Client, told: Telling) -> list[Callable[..., dict[str, Any]]]:
    """Tools for questions other than SQL."""

    def explain_named(
        kind: str,
        parameters: dict[str, Any],
        epsilon: float,
        delta: float = 0.0,
        purpose: str | None = None,
    ) -> dict[str, Any]:
        """The cost and the ± of a question by name, for free."""

        def act() -> dict[str, Any]:
            plan = _named(client, kind, parameters, purpose).explain(
                spend=epsilon_(epsilon, delta=delta)
            )
            return wire.plan_to_dict(plan)

        return told(act)

    def ask_named(  # noqa: PLR0917  (agents name their arguments)
        kind: str,
        parameters: dict[str, Any],
        epsilon: float,
        key: str,
        delta: float = 0.0,
        purpose: str | None = None,
    ) -> dict[str, Any]:
        """The answer to a question by name; spends ε. The same key is the same answer, free."""

        def act() -> dict[str, Any]:
            named, spend = _named(client, kind, parameters, purpose), epsilon_(epsilon, delta=delta)
            answer = str(named.release(spend=spend, key=key))
            return {"answer": answer, "key": key, "left": client.left.to_dict()}

        return told(act)

    return [list_kinds, explain_named, ask_named]


def list_kinds() -> dict[str, Any]:
    """Questions by name beside SQL, each with the JSON schema of its parameters."""
    from .jobs.kinds import KINDS

    return {name: kind.model_json_schema() for name, kind in KINDS.items()}


def _named(
    client: Client, kind: str, parameters: dict[str, Any], purpose: str | None
) -> RemoteNamed:
    given = {"purpose": purpose, **parameters}
    given.pop("kind", None)  # it is said beside them
    return client.named(kind, **given)


def _telling(refusal: type[Exception]) -> Telling:
    def told(act: Callable[[], dict[str, Any]]) -> dict[str, Any]:
        try:
            return act()
        except DeniableError as error:
            raise refusal(str(error)) from None

    return told
