"""What one server process holds: accounts, groups with their ledgers, and workers."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Final

from deniable.errors import BadParameter
from deniable.ledger import Account, Ledger, open_ledger
from deniable.losses import Loss

from . import database
from .accounts import Accounts, Person, secret
from .anchors import Anchors
from .folder import Group, read
from .jobs.workers import Workers
from .settings import Settings

_ACCOUNTS: Final = 32


class House:
    """Everything that requests are answered from."""

    def __init__(self, settings: Settings, *, budget: Loss | None = None) -> None:
        self.settings, self.budget = settings, budget
        settings.state.mkdir(mode=0o700, parents=True, exist_ok=True)
        settings.state.chmod(0o700)
        groups = read(settings.folder, budget=budget)  # refused before anything is written
        self.database = database.opened(settings.state, settings.database)
        self.accounts = Accounts(self.database)
        self._lock = threading.RLock()
        self._accounts: dict[tuple[str, str], Account] = {}
        self.groups: dict[str, Group] = {}
        self.ledgers: dict[str, Ledger] = {}
        self.closed: dict[str, str] = {}
        """Groups whose ledger was rolled back or replaced, and why; nobody may ask about them."""
        self._anchors = Anchors(settings.anchors)
        self._generation = self._newest()
        self._take(groups)
        memory, places = settings.memory, self._places()
        self.workers = Workers(
            settings.workers,
            memory=memory,
            deadline=settings.deadline,
            groups=groups,
            ledgers=places,
        )
        self.planners = Workers(2, memory=memory, deadline=10.0, groups=groups, ledgers=places)

    # ---- what the curator changes while the server runs

    def change(self, write: Callable[[], None]) -> None:
        """Write files of the folder and serve what they say now, here and at other processes."""
        with self._lock:
            write()
            self.reload()
            self._generation = secret()
            self.database.rows(
                "INSERT INTO facts VALUES ('generation', ?) "
                "ON CONFLICT (name) DO UPDATE SET value = excluded.value",
                self._generation,
            )

    def refresh(self) -> None:
        """Read the folder again if a curator changed it at another server process."""
        newest = self._newest()
        if newest != self._generation:
            with self._lock:
                self.reload()
                self._generation = newest

    def reload(self) -> None:
        """Serve what the folder says now; a question under way ends as it began."""
        with self._lock:
            self._take(read(self.settings.folder, budget=self.budget))
            for pool in (self.workers, self.planners):
                pool.renew(self.groups, self._places())

    def _newest(self) -> str:
        rows = self.database.rows("SELECT value FROM facts WHERE name = 'generation'")
        return str(rows[0][0]) if rows else ""

    def _take(self, groups: dict[str, Group]) -> None:
        known_as = {
            t: self._anchors.identities(t, g) for g in groups.values() for t in g.schema.tables
        }
        whose = [(table, group) for group in groups.values() for table in group.schema.tables]
        for table, group in whose:
            self._check_registered(table, group, known_as[table])
        ledgers = {n: self.ledgers.get(n) or self._opened(group) for n, group in groups.items()}
        closed = {n: self.closed.get(n) or self._closed(ledgers[n], known_as, g)
                  for n, g in groups.items()}  # fmt: skip
        for table, group in whose:
            self._register(table, group, known_as[table])
        self.closed = {name: reason for name, reason in closed.items() if reason is not None}
        self.ledgers, self.groups = ledgers, groups
        for name in groups:
            self.anchor(name)

    # ---- tables

    def group_of(self, table: str) -> Group:
        """The group that a table belongs to."""
        for group in self.groups.values():
            if table in group.schema.tables:
                return group
        raise BadParameter(f"there is no table `{table}`", fix=", ".join(self.tables()))

    def tables(self) -> dict[str, Group]:
        """Every table, with its group."""
        return {t: group for group in self.groups.values() for t in group.schema.tables}

    def books(self, group: str, person: Person) -> Ledger | Account:
        """What this person may see of a group's ledger."""
        ledger = self.ledgers[group]
        if person.asker is None:
            return ledger
        key = group, person.asker
        with self._lock:  # an account remembers the lines that it has read: of few, and lately
            found = self._accounts.pop(key, None) or Account(ledger, person.asker)
            self._accounts[key] = found
            while len(self._accounts) > _ACCOUNTS:
                del self._accounts[next(iter(self._accounts))]
        return found

    # ---- ledgers

    def _place(self, group: str) -> str:
        if self.settings.database is not None:
            return f"{self.settings.database.partition('#')[0]}#{group}"
        return str(self.settings.state / f"{group}.ledger")

    def _opened(self, group: Group) -> Ledger:
        place, budget = self._place(group.name), group.budget
        if self.settings.database is None and not Path(place).exists() and budget is None:
            raise BadParameter(
                f"no budget was given for `{group.name}`",
                why="without a budget, enough questions would reveal every row",
                fix=(
                    "deniable serve FOLDER --budget 3,1e-7",
                    f"[{group.name}]\nbudget = {{epsilon = 3, delta = 1e-7}}    in server.toml",
                ),
            )
        return open_ledger(place, budget=budget, unit=group.unit, name=group.name)

    def _places(self) -> dict[str, str]:
        return {name: self._place(name) for name in self.groups}

    def _check_registered(self, table: str, group: Group, known_as: list[str]) -> None:
        """Refuse a second budget for a table that has one under any name."""
        for identity in known_as:
            rows = self.database.rows(
                "SELECT people, name FROM registrations WHERE identity = ?",
                self.accounts.keyed("file", identity),
            )
            for people, name in rows:
                if people != group.name:
                    raise _twice(table, people, name)

    def _register(self, table: str, group: Group, known_as: list[str]) -> None:
        with self.database.transaction() as run:
            for identity in known_as:
                run(
                    "INSERT INTO registrations VALUES (?, ?, ?) ON CONFLICT DO NOTHING",
                    *(self.accounts.keyed("file", identity), group.name, table),
                )
        self._check_registered(table, group, known_as)  # another server may have been quicker

    # ---- rollback

    def anchor(self, group: str) -> None:
        """Keep where a ledger ends, outside of what a back-up restores."""
        if group in self.closed:
            return  # the line that is missing must stay missed
        self._anchors.keep(self.ledgers[group])

    def _closed(
        self, ledger: Ledger, known_as: Mapping[str, list[str]], group: Group
    ) -> str | None:
        """Why nobody may ask about a group: its ledger is older than what was seen, or another."""
        reason = self._anchors.cut(ledger)
        for table, facts in group.schema.tables.items():
            if reason is None and not facts.public:
                reason = self._anchors.claim(ledger, table, known_as[table])
        return reason

    def check_new(self, table: str, group: Group) -> None:
        """Refuse a table whose people are counted elsewhere; nothing is written."""
        known_as = self._anchors.identities(table, group)
        self._check_registered(table, group, known_as)
        reason = self._anchors.taken(self.ledgers.get(group.name), table, known_as)
        if reason is not None:
            raise BadParameter(reason, why="a new ledger would be a second budget for them")

    # ---- the log

    def log(self, who: str, what: str, **details: object) -> None:
        """Write down who did what: public facts only, and for the curator."""
        whole = {name: _whole(value) for name, value in details.items()}
        text = json.dumps(whole, default=str)
        with suppress(database.Unreachable):  # what is being logged matters more than the log
            self.database.rows(
                "INSERT INTO log VALUES (?, ?, ?, ?)", database.now(), who, what, text
            )

    def logged(self, count: int = 100) -> list[dict[str, object]]:
        """The newest lines of the log."""
        rows = self.database.rows(
            "SELECT time, who, what, detail FROM log ORDER BY time DESC LIMIT ?", count
        )
        return [
            {"time": time, "who": who, "what": what, **_details(text)}
            for time, who, what, text in rows
        ]

    def close(self) -> None:
        """End the workers and let go of files."""
        self.workers.stop()
        self.planners.stop()
        for ledger in self.ledgers.values():
            ledger.close()
        self.database.close()


def _twice(table: str, people: str, name: str) -> BadParameter:
    return BadParameter(
        f"the rows of `{table}` were registered in the group `{people}` as `{name}`",
        why="a second group would be a second budget for the same people",
        fix=f"list `{table}` in the group `{people}` of server.toml",
    )


def _whole(value: object) -> object:
    """A value whose text can be sent to a page; half of a surrogate pair is escaped."""
    if not isinstance(value, str):
        return value
    return value.encode("utf-8", "backslashreplace").decode("utf-8")


def _details(text: str) -> Mapping[str, object]:
    found: Mapping[str, object] = json.loads(text)
    return found
