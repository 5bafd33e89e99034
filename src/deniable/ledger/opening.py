"""Open a ledger, or start one: in memory, in a file, or in Postgres."""

from __future__ import annotations

import re
from pathlib import Path

from deniable import parameters
from deniable.errors import BadParameter, MissingUnit
from deniable.losses import Loss
from deniable.losses.filters import filter_for
from deniable.sampling.source import current
from deniable.units import Unit

from .entry import digest, sealed
from .header import Header
from .ledger import Ledger
from .stores.memory import MemoryStore
from .stores.store import CommitUnsure, Store, Writing, nothing_there, refuse_seed

_POSTGRES = ("postgresql://", "postgres://")

# A scheme of two letters or more (one is a drive), a setting such as host=…, or what could be a
# password: :// anywhere, or a colon somewhere before an @.
_ADDRESS = re.compile(
    r"^\s*[a-z][a-z0-9+._-]+:|^\s*\w+\s*=|://|:.*@"
    r"|(^|[\s;])(host|hostaddr|user|password|passwd|pwd|dbname|database|server|service)\s*=",
    re.IGNORECASE | re.DOTALL,
)
_PATH = re.compile(r"\.{0,2}/(?!/)|[a-z]:[\\/](?!/)", re.IGNORECASE)  # /x, ./x, ../x and C:\x


def open_ledger(
    where: str | Path | None = None,
    *,
    budget: Loss | None = None,
    unit: Unit | None = None,
    name: str = "ledger",
    patience: float = 60.0,
    reserve: float | None = None,
) -> Ledger:
    """Open the ledger at a path (SQLite), a postgresql:// address or in memory; start it if new.

    With `budget` and `unit` a new ledger is started where there is none, and an existing one must
    have the same. Without them an existing ledger is opened as it is. `where` alone says which one:
    postgresql://host/database#survey is the ledger `survey` of that database. `name` is a title. A
    charge waits `patience` seconds for its turn, and for an answer of others to the same question.
    Of a new budget's δ, `reserve` is for releases that are charged as one block: a quarter if not
    stated.

    >>> import deniable as dp
    >>> ledger = open_ledger(budget=dp.epsilon(1.0), unit=dp.rows())
    >>> entry = ledger.charge(dp.Laplace(scale=4.0), unit=dp.rows())
    >>> ledger
    <Ledger 'ledger' in memory: spent ε = 0.25 of ε = 1, lines: 1, protects rows()>
    """
    create, patience = budget is not None, parameters.non_negative("patience", patience)
    if create and unit is None:
        raise MissingUnit.of(name)
    store = _store(where, create=create, patience=patience)
    try:
        if store.read(lambda lines: lines.last()) is None:
            _start(store, budget=budget, unit=unit, name=name, reserve=reserve)
        ledger = Ledger(store)
        ledger.header.agree(unit=unit, budget=budget, where=store.where)
    except BaseException:
        store.close()
        raise
    return ledger


def _store(where: str | Path | None, *, create: bool, patience: float) -> Store:
    match where:
        case None:
            return MemoryStore()
        case str() if where.lower().startswith(_POSTGRES):
            from .stores.postgres import PostgresStore

            scheme, rest = where.split(":", 1)
            return PostgresStore(f"{scheme.lower()}:{rest}", create=create, patience=patience)
        case Path() | str() if _ADDRESS.search(str(where)) and not _PATH.match(str(where)):
            raise _not_understood()
        case Path() | str() if str(where):
            from .stores.sqlite import SqliteStore, resolved

            path = Path(where)
            if not create and not resolved(path).exists():
                raise nothing_there(str(path))
            return SqliteStore(path, create=create, patience=patience)
    raise BadParameter(
        f"ledger must be None, a path, or postgresql://...; you gave {parameters.a_kind(where)}"
    )


def _not_understood() -> BadParameter:
    """An error that does not repeat what was given: it may hold a password."""
    return BadParameter(
        "cannot read the ledger's address",
        why="it looks like the address of a database, and is not one of postgresql://...",
        fix=(
            'ledger="postgresql://user@host:5432/database"    (the password from ~/.pgpass)',
            'ledger="./name.db"    for a file, whatever its name looks like',
        ),
    )


def _start(
    store: Store, *, budget: Loss | None, unit: Unit | None, name: str, reserve: float | None
) -> None:
    """Write the header, unless another process just did."""
    if budget is None or unit is None:
        raise nothing_there(store.where)
    refuse_seed(durable=store.durable)
    key = f"{current().integer(256):064x}"
    header = Header(
        name=name,
        unit=unit,
        budget=budget,
        filter=filter_for(budget, reserve=reserve),
        hash_of_key=digest(key),
    )

    def act(lines: Writing) -> None:
        if lines.last() is None:
            lines.append(sealed(header.to_record(), after=None))
            lines.keep(key)

    try:
        store.write(act)
    except CommitUnsure as unsure:  # no charge is at stake: a failure like any other
        raise unsure.failure from unsure
