"""`deniable serve`: a folder of tables, or the bundled one; prints the curator's link."""

from __future__ import annotations

import os
import shutil
import sys
from contextlib import closing
from importlib import import_module
from pathlib import Path
from typing import Any

from deniable.errors import BadParameter, MissingExtra
from deniable.losses import Loss
from deniable.losses import epsilon as epsilon_

from .settings import LOCAL, STEPS, Settings

PORT = 8477


def serve(
    folder: Path | None = None,
    *,
    database: str | None = None,
    budget: Loss | None = None,
    host: str = "127.0.0.1",
    port: int = PORT,
    names: tuple[str, ...] = (),
    certificate: Path | None = None,
    key: Path | None = None,
    https: bool = False,
    steps: tuple[float, ...] = STEPS,
    workers: int = 2,
) -> None:
    """Serve until interrupted."""
    uvicorn = _needed()
    if folder is None:
        folder, budget = bundled(), budget or epsilon_(3.0, delta=1e-7)
    settings = made(
        folder,
        database=database,
        hosts=(*LOCAL, *names),
        https=https or certificate is not None,
        steps=steps,
        workers=workers,
    )
    from .app import create
    from .guard.connections import Prompt
    from .house import House

    house = House(settings, budget=budget)
    app = create(house)
    scheme = "https" if certificate is not None else "http"
    link = house.accounts.issue(house.accounts.curator(), "link")
    say = sys.stderr.write
    what = ", ".join(house.tables()) or f"{folder}, where no table is registered yet,"
    say(f"serving {what} at {scheme}://{host}:{port}/\n")
    say(f"the curator signs in once with  {scheme}://{host}:{port}/join/{link}\n")
    sys.stderr.flush()
    uvicorn.run(
        app,
        http=Prompt,
        host=host,
        port=port,
        access_log=False,  # a link in a log could be used by who reads the log
        log_level="warning",
        server_header=False,
        proxy_headers=False,  # else whoever connects from this machine chooses the address counted
        ssl_certfile=None if certificate is None else str(certificate),
        ssl_keyfile=None if key is None else str(key),
        timeout_keep_alive=5,
        limit_concurrency=500,
    )


def made(folder: Path, **options: Any) -> Settings:
    """The settings of a folder; its state lies in it, and the anchors lie elsewhere."""
    steps = options.get("steps", STEPS)
    if not steps or list(steps) != sorted(set(steps)) or steps[0] <= 0:
        raise BadParameter.of("steps", steps, must="seconds above 0, in rising order")
    if folder.is_file():
        raise BadParameter(
            f"{folder} is a file, and a folder is served",
            why="the server keeps its ledger beside the tables",
            fix=f"deniable serve {folder.parent}",
        )
    if not folder.is_dir():
        raise BadParameter(f"there is no folder {folder}", fix="deniable serve FOLDER")
    home = folder.resolve()
    anchors = Path(os.environ.get("DENIABLE_ANCHORS", state_home() / "anchors"))
    return Settings(folder=home, state=home / ".deniable", anchors=anchors, **options)


def curators_link(settings: Settings) -> str:
    """A new one-time link for the curator, also of a server that runs."""
    from . import database
    from .accounts import Accounts

    if settings.database is None and not (settings.state / "server.db").exists():
        raise BadParameter(f"no server has been started in {settings.folder}")
    with closing(database.opened(settings.state, settings.database)) as kept:
        accounts = Accounts(kept)
        return accounts.issue(accounts.curator(), "link")


def bundled() -> Path:
    """A folder with the bundled table (the public census extract) and its schema."""
    from deniable.data.adult import PATH
    from deniable.data.facts import ADULT

    folder = state_home() / "demo"
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    if not (folder / "adult.parquet").exists():
        shutil.copyfile(PATH, folder / "adult.parquet")
    if not (folder / "adult.toml").exists():  # it may have been edited
        (folder / "adult.toml").write_text(ADULT, encoding="utf-8")
    return folder


def state_home() -> Path:
    """Where this user keeps what programs remember."""
    return Path(os.environ.get("XDG_STATE_HOME", Path.home() / ".local" / "state")) / "deniable"


def _needed() -> Any:
    try:
        return [import_module(name) for name in ("fastapi", "jinja2", "uvicorn")][-1]
    except ImportError:
        raise MissingExtra.of("the server (FastAPI, Jinja2 and Uvicorn)", extra="server") from None
