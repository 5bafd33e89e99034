"""A private report on what is at stake in a table: for the curator's eyes, without noise or price.

It reads exact rows, so it runs in a process of its own with limits on time and memory, in the
background. How far it is and what it found is kept in the server's database, where every server
process finds it, until the curator forgets it. Rows without consent are left out, as for every
question. Where the unit is a person with several rows, one row per person is attacked, chosen by a
hash: strangers who know more of somebody's rows see more.
"""

from __future__ import annotations

import json
import multiprocessing as mp
import resource
import signal
import threading
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from multiprocessing.connection import Connection
from typing import TYPE_CHECKING, Any, Final

from deniable.errors import BadParameter, DeniableError
from deniable.progress import Progress
from deniable.server.accounts import secret
from deniable.server.database import Unreachable, now
from deniable.server.folder import SPARK, Group, attach
from deniable.server.house import House

if TYPE_CHECKING:
    import pyarrow as pa

DEADLINE: Final = 600
_CONTEXT: Final = mp.get_context("forkserver")
_EVERY: Final = 0.3
_BEAT: Final = 1.0
_LEASE: Final = 15.0
GONE: Final = "the server process that made it ended"
ENDED: Final = "its process ended: it took too long, or too much memory"


@dataclass(frozen=True, kw_only=True)
class Job:
    """A report on its way: `said` is how far it is, and `record` or `problem` what it came to."""

    said: str
    record: dict[str, Any] | None
    problem: str
    seconds: int
    """How long ago it began."""

    @property
    def running(self) -> bool:
        """Whether it has not come to its end."""
        return self.record is None and not self.problem


class Reports:
    """The newest report on each table, as all server processes see it."""

    def __init__(self, house: House) -> None:
        self._house, self._database = house, house.database
        self._stops: dict[str, Callable[[], None]] = {}
        """What ends the reports that this process is making."""

    def of(self, table: str) -> Job | None:
        """The newest report on a table, if one was asked for."""
        rows = self._database.rows(
            "SELECT said, record, problem, began, lease FROM reports WHERE name = ?", table
        )
        if not rows:
            return None
        ((said, text, problem, began, lease),) = rows
        record = None if text is None else json.loads(text)
        gone = GONE if text is None and lease < now() else ""
        seconds = int(now() - began)
        return Job(said=said, record=record, problem=problem or gone, seconds=seconds)

    def begin(self, table: str, *, quasi: list[str], sensitive: str | None) -> None:
        """Start a report in the background; one at a time."""
        group = self._house.group_of(table)
        check(group, table, quasi, sensitive)
        asked = {"group": group, "table": table, "quasi": quasi, "sensitive": sensitive}
        attempt = secret()
        with self._database.transaction() as run:
            if run(
                "SELECT 1 FROM reports WHERE record IS NULL AND problem = '' AND lease > ?", now()
            ):
                raise BadParameter("another report is being made", fix="wait until it is done")
            run("DELETE FROM reports WHERE name = ?", table)
            run(
                "INSERT INTO reports (name, attempt, said, began, lease) VALUES (?, ?, ?, ?, ?)",
                *(table, attempt, "starting", now(), now() + _LEASE),
            )
        threading.Thread(target=self._run, args=(attempt, asked)).start()

    def drop(self, table: str) -> None:
        """Forget a report; one that is being made ends, at whichever server process."""
        dropped = self._database.rows("DELETE FROM reports WHERE name = ? RETURNING attempt", table)
        for (attempt,) in dropped:
            self._stops.get(attempt, lambda: None)()

    def stop(self) -> None:
        """End what this process is making."""
        for attempt, end in list(self._stops.items()):
            self._kept(attempt, "problem", GONE)
            end()

    def _run(self, attempt: str, asked: Mapping[str, Any]) -> None:
        ours, theirs = _CONTEXT.Pipe(duplex=False)
        task = (theirs, asked, self._house.settings.memory)
        process = _CONTEXT.Process(target=_made, args=task, daemon=True)
        process.start()
        self._stops[attempt] = process.kill
        theirs.close()
        try:
            self._followed(attempt, ours)
        except EOFError:
            self._kept(attempt, "problem", ENDED)
        finally:
            process.kill()
            process.join()
            del self._stops[attempt]

    def _followed(self, attempt: str, pipe: Connection) -> None:
        """Write down how far a report is, until it is done or was dropped."""
        kind, text = "said", "starting"
        while self._kept(attempt, kind, text) and kind == "said":
            if pipe.poll(_BEAT):
                kind, found = pipe.recv()
                text = json.dumps(found) if kind == "record" else found

    def _kept(self, attempt: str, column: str, text: str) -> bool:
        """Whether a report is still wanted: neither dropped nor begun anew."""
        with suppress(Unreachable):
            done = self._database.rows(
                f"UPDATE reports SET {column} = ?, lease = ? "  # noqa: S608  (one of three names)
                "WHERE attempt = ? AND problem = '' RETURNING 1",
                *(text, now() + _LEASE, attempt),
            )
            return bool(done)
        return False


def check(group: Group, table: str, quasi: list[str], sensitive: str | None) -> None:
    """Refuse columns that are not there, before anything is read."""
    if group.source.startswith(SPARK):
        raise BadParameter(
            "a risk report reads every row in one process, and these are on a cluster",
            fix="write a sample to a Parquet file and call deniable.attacks.report on it",
        )
    known = group.schema.tables[table].columns
    unknown = [name for name in [*quasi, *([sensitive] if sensitive else [])] if name not in known]
    if unknown:
        raise BadParameter(f"`{table}` has no column `{unknown[0]}`")
    if not [name for name in quasi if name not in (sensitive, group.unit.column)]:
        raise BadParameter(
            "a report needs columns that others may know of people",
            fix="choose those that an acquaintance, an employer or a register knows",
        )


def _made(pipe: Connection, asked: Mapping[str, Any], memory: int) -> None:
    """In a process of its own: read, attack, and send what was found."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGALRM, signal.SIG_DFL)
    signal.alarm(DEADLINE)
    resource.setrlimit(resource.RLIMIT_DATA, (memory, memory))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    with Progress("reading rows") as progress:
        threading.Thread(target=_telling, args=(pipe, progress), daemon=True).start()
        try:
            found: tuple[str, object] = ("record", made(**asked))
        except DeniableError as error:
            found = ("problem", error.what)
        except Exception as error:  # noqa: BLE001  (for the curator, who may see rows)
            found = ("problem", f"{type(error).__name__}: {error}")
    progress.text = ""
    with _SENDING:
        pipe.send(found)


_SENDING: Final = threading.Lock()


def _telling(pipe: Connection, progress: Progress) -> None:
    last = ""
    while progress.text:
        line = progress.line
        if line != last:
            with _SENDING:
                pipe.send(("said", line))
            last = line
        time.sleep(_EVERY)


def made(*, group: Group, table: str, quasi: list[str], sensitive: str | None) -> dict[str, Any]:
    """The report on a table, as a record."""
    from deniable import attacks, progress

    person = group.unit.column
    chosen = [name for name in quasi if name not in (sensitive, person)]
    rows, counted = _rows(group, table, [*chosen, *([sensitive] if sensitive else [])])
    progress.say("attacking the rows as a stranger would")
    found = attacks.report(rows, quasi=chosen, sensitive=sensitive)
    record: dict[str, Any] = found.to_dict()
    return record | {"table": table, "unit": str(group.unit), "headline": str(found).split("\n")[0],
                     "counted": counted}  # fmt: skip


def _rows(group: Group, table: str, columns: list[str]) -> tuple[pa.Table, dict[str, Any]]:
    """One row per person who consents, and how many rows and people there are."""
    from deniable.query.backends.private_files import own_duckdb

    person, consent = group.unit.column, group.schema.tables[table].consent
    with own_duckdb() as engine:
        _load(engine, group, table, [*columns, *filter(None, (person, consent))])
        kept = engine.table("held")
        if consent is not None:
            kept = kept.filter(f"TRY_CAST({_quoted(consent)} AS BOOLEAN)")
        wanted = ", ".join(map(_quoted, columns))
        if person is None:
            found = kept.project(wanted).to_arrow_table()
            return found, {"rows": found.num_rows, "people": found.num_rows, "above": 0}
        who = _quoted(person)
        place = f"row_number() OVER (PARTITION BY {who} ORDER BY hash({wanted})) AS place"
        kept.filter(f"{who} IS NOT NULL").project(f"*, {place}").create("numbered")
        found = engine.table("numbered").filter("place = 1").project(wanted).to_arrow_table()
        (rows, above) = engine.execute(
            "SELECT count(*), count(*) FILTER (place = ?) FROM numbered", [group.unit.rows + 1]
        ).fetchone()
        return found, {"rows": rows, "people": found.num_rows, "above": above}


def _load(engine: Any, group: Group, table: str, columns: list[str]) -> None:
    """The wanted columns as a view `held`, wherever the rows are."""
    if "://" in group.source:
        engine.register("held", _fetched(group.source, table, list(dict.fromkeys(columns))))
    else:
        attach(engine, group, table)


def _fetched(address: str, table: str, columns: list[str]) -> pa.Table:
    import psycopg
    import pyarrow as pa
    from psycopg import sql

    asked = sql.SQL("SELECT {} FROM {}").format(
        sql.SQL(", ").join(map(sql.Identifier, columns)), sql.Identifier(table)
    )
    with psycopg.connect(address, connect_timeout=10) as connection:
        rows = connection.execute(asked).fetchall()
    return pa.table({name: [row[i] for row in rows] for i, name in enumerate(columns)})


def _quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'


def shown(job: Job | None) -> Mapping[str, Any]:
    """A report as the page and its twin show it."""
    if job is None:
        return {"state": "none", "said": "", "seconds": 0, "report": None, "failure": ""}
    state = "running" if job.running else "done" if job.record is not None else "failed"
    return {"state": state, "said": job.said, "seconds": job.seconds, "report": job.record,
            "failure": job.problem}  # fmt: skip
