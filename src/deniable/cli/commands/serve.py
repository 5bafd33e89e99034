"""deniable serve: a page for curators and analysts; deniable mcp: the same for agents."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from typer import Argument, Option

from deniable.cli import amounts, options, remote, talk
from deniable.errors import BadParameter


def serve(
    folder: Annotated[
        Path | None, Argument(help="Tables with their schemas [the bundled table].")
    ] = None,
    *,
    ledger: Annotated[
        str | None, Option(help="postgresql://..., for several server processes [files in FOLDER].")
    ] = None,
    budget: options.Budget = None,
    host: Annotated[str, Option(help="The address to listen on.")] = "127.0.0.1",
    port: Annotated[int, Option(help="The port to listen on.")] = 8477,
    name: Annotated[
        list[str] | None, Option(help="A host name that browsers use; once per name.")
    ] = None,
    certificate: Annotated[Path | None, Option(help="A TLS certificate (PEM).")] = None,
    key: Annotated[Path | None, Option(help="The key of the certificate.")] = None,
    https: Annotated[
        bool, Option("--https", help="This server runs behind a proxy with TLS.")
    ] = False,
    steps: Annotated[
        str,
        Option(
            help="Send answers only this many seconds after a question's turn came; the last is "
            "the time limit."
        ),
    ] = "0.5,2,8,30",
    workers: Annotated[int, Option(min=1, help="Processes that compute answers.")] = 2,
    link: Annotated[
        bool, Option("--link", help="Print a new sign-in link for the curator, and exit.")
    ] = False,
    back_up: Annotated[
        Path | None, Option("--back-up", help="Copy ledgers and accounts here, and exit.")
    ] = None,
    restore: Annotated[
        Path | None, Option("--restore", help="Restore such copies, and exit.")
    ] = None,
) -> None:
    """Serve tables to analysts, in a browser and over HTTP.

    In Python, analysts connect with `dp.connect`.
    """
    from deniable.server import backups
    from deniable.server.serving import bundled, curators_link, made
    from deniable.server.serving import serve as serving

    if link:
        fresh = curators_link(made(folder or bundled(), database=ledger))
        scheme = "http" if certificate is None else "https"
        talk.say(f"{scheme}://{host}:{port}/join/{fresh}")
        return
    for copy, where in ((backups.back_up, back_up), (backups.restore, restore)):
        if where is not None:
            for path in copy(made(folder or Path()), where):
                talk.say(path)
            return
    if ledger is not None and not ledger.startswith(("postgresql://", "postgres://")):
        raise BadParameter("--ledger is the address of a Postgres database: postgresql://...")
    try:
        times = tuple(float(step) for step in steps.split(","))
    except ValueError:
        raise BadParameter.of("steps", steps, must="seconds, as 0.5,2,8,30") from None
    serving(
        folder,
        database=ledger,
        budget=amounts.maybe("budget", budget),
        host=host,
        port=port,
        names=tuple(name or ()),
        certificate=certificate,
        key=key,
        https=https,
        steps=times,
        workers=workers,
    )


def mcp(*, server: options.Server = None) -> None:
    """Let a software agent query a server (MCP on stdin and stdout)."""
    from deniable.server.agents import tools

    tools(remote.connected(server or "http://127.0.0.1:8477")).run(show_banner=False)
