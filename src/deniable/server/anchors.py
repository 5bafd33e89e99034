"""What is remembered outside of a server's state, so that a back-up cannot give budget back.

The folder keeps the newest line of every ledger, under the ledger's own random name, and for each
table in which ledger its people are counted. A table is known by several identities, each under a
keyed hash: where it is, what it holds (for files), and what its server calls it (for Postgres).

What a file holds is known by its rows, not by its bytes: by all of them together, and by sixteen
samples. Rows are dealt into sixteen parts by their hashes, and a sample is the four rows of a part
with the smallest hashes [Bro97]. So two tables of which a share J of all rows agrees have no sample
in common with probability (1 − J⁴)¹⁶: 1e-7 for J = 0.89, and 0.99 for J = 0.15. A row counts with
how often it occurs, its numbers as numbers, and in any order of rows and columns.
"""

from __future__ import annotations

import fcntl
import hashlib
import json
import os
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Final

from deniable.errors import DeniableError, LedgerFailure
from deniable.ledger import Head, Ledger

from .accounts import secret
from .folder import SPARK, Group, attach, on_spark, spark_at

_ENDS: Final = 4 << 20  # bytes
_TOGETHER: Final = 4  # rows
_SAME: Final = (
    "WITH RECURSIVE behind(oid) AS (SELECT to_regclass(quote_ident(%s))::oid "
    "UNION SELECT d.refobjid FROM behind JOIN pg_rewrite r ON r.ev_class = behind.oid "
    "JOIN pg_depend d ON d.objid = r.oid AND d.classid = 'pg_rewrite'::regclass "
    "AND d.refclassid = 'pg_class'::regclass) "  # a view is also every table that it is made of
    "SELECT system_identifier, (SELECT oid FROM pg_database WHERE datname = current_database()), "
    "behind.oid FROM behind, pg_control_system() WHERE behind.oid IS NOT NULL"
)


class Anchors:
    """The folder of anchors, for its owner alone."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        self._write(folder / "key", secret(), again=False)
        self._key = _key(folder / "key")

    def keep(self, ledger: Ledger) -> None:
        """Remember where a ledger ends; one writer at a time, or a later line is forgotten."""
        path, head = self._of(ledger), ledger.head()
        with self._alone():
            try:
                seen = _head(path).sequence if path.exists() else 0
            except LedgerFailure:
                seen = 0  # this ledger was whole when it was opened, and has only grown
            if seen < head.sequence:
                self._write(path, json.dumps(head.to_dict()), again=True)

    def cut(self, ledger: Ledger) -> str | None:
        """Why this ledger is not the whole one, if it lacks a line that was seen."""
        path = self._of(ledger)
        if path.exists():
            try:
                ledger.verify(_head(path))
            except LedgerFailure as error:
                return error.what
        return None

    @contextmanager
    def _alone(self) -> Iterator[None]:
        with os.fdopen(os.open(self._folder / "lock", os.O_RDWR | os.O_CREAT, 0o600)) as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)  # let go when it is closed
            yield

    def identities(self, table: str, group: Group) -> list[str]:
        """By what a table is known again: its places, and a sample of its rows, by keyed hashes.

        The sample is kept for each state of a file, so that a large one is read once.
        """
        if "://" in group.source or group.schema.tables[table].public:
            return places(table, group)
        path = Path(group.source) if group.source else group.sources[table]
        now = path.stat()
        state = f"{path} {table} {now.st_ino} {now.st_size} {now.st_mtime_ns}"
        kept = self._folder / f"rows-{self._keyed(state)}.json"
        rows = _kept(kept)
        if rows is None:
            found = _samples(group, table)
            if found is None:
                return places(table, group)
            rows = list(map(self._keyed, found))
            self._write(kept, json.dumps(rows), again=True)
        return places(table, group) + [f"row {each}" for each in rows]

    def claim(self, ledger: Ledger, table: str, known_as: list[str]) -> str | None:
        """Count a table in this ledger; why not, if it is counted in another."""
        if self.taken(ledger, table, known_as) is None:  # a ledger that is refused claims nothing
            for identity in known_as:
                text = json.dumps({"ledger": _name(ledger)})
                self._write(self._of_table(identity), text, again=False)
        return self.taken(ledger, table, known_as)

    def taken(self, ledger: Ledger | None, table: str, known_as: list[str]) -> str | None:
        """Why a table cannot be counted in this ledger, or in one that begins with it."""
        name = "" if ledger is None else _name(ledger)
        for path in map(self._of_table, known_as):
            if path.exists() and _claimed(path) != name:
                return (
                    f"the people of `{table}` are counted in another ledger, which is not here "
                    f"(remembered in {path.name})"
                )
        return None

    def _of_table(self, identity: str) -> Path:
        return self._folder / f"table-{self._keyed(identity)}.json"

    def _keyed(self, text: str) -> str:
        return hashlib.blake2b(text.encode(), key=self._key, digest_size=16).hexdigest()

    def _of(self, ledger: Ledger) -> Path:
        return self._folder / f"ledger-{_name(ledger)}.json"

    def _write(self, path: Path, text: str, *, again: bool) -> None:
        """All of a file or nothing of it, of mode 0600."""
        draft = path.with_name(f"{path.name}.{os.getpid()}.{threading.get_ident()}")
        with os.fdopen(os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "w") as file:
            file.write(text)
            file.flush()
            os.fsync(file.fileno())  # else a power cut could leave the name without the text
        if again:
            draft.replace(path)
            return
        with suppress(FileExistsError):
            os.link(draft, path)
        draft.unlink()


def places(table: str, group: Group) -> list[str]:
    """Where a table is, and the bytes that are there, under any name of group or user."""
    if group.source.startswith(SPARK):
        return _on_spark(group.source, table)
    if "://" in group.source:
        return _in_postgres(group.source, table)
    path = Path(group.source) if group.source else group.sources[table]
    inside = [f" {name}" for name in _behind(path, table)] if group.source else [""]
    found = f"path {path}", f"bytes {_fingerprint(path)}"
    return [f"{place}{name}" for place in found for name in inside]


def _samples(group: Group, table: str) -> list[str] | None:
    """What the rows of a table are known by; None if they cannot be read now."""
    import duckdb

    from deniable.query.backends.private_files import own_duckdb

    with own_duckdb() as engine:
        try:
            attach(engine, group, table, texts=True)
            values = ", ".join(map(_plain, engine.table("held").columns))
            engine.execute(
                f"CREATE TABLE hashes AS SELECT md5(text || ' ' || count(*)) AS seen FROM (SELECT "  # noqa: S608  (quoted)
                f"array_to_string(list_sort([{values}]), chr(31)) AS text FROM held) GROUP BY text"
            )
        except duckdb.Error:
            return None  # not a table that could be served, or not enough memory: asked again
        found = engine.execute(
            "SELECT CAST(bit_xor(md5_number(seen)) AS VARCHAR) FROM hashes HAVING count(*) > 0 "
            "UNION ALL SELECT array_to_string(min(seen, $1), ' ') FROM hashes "
            "GROUP BY right(seen, 1) HAVING count(*) >= $1",
            [_TOGETHER],
        )
        return [sample for (sample,) in found.fetchall()]


def _plain(column: str) -> str:
    """A value as text: however a file writes a number, a truth or a missing value."""
    name = '"' + column.replace('"', '""') + '"'
    text = f"lower(trim(CAST({name} AS VARCHAR)))"
    return f"coalesce(CAST(TRY_CAST({text} AS DOUBLE) AS VARCHAR), {text}, '')"


def _on_spark(address: str, table: str) -> list[str]:
    """By its name at that cluster, and by where its files are, whichever table they belong to."""
    host, port = spark_at(address)
    found = [f"spark {host}:{port} {table.lower()}"]
    with suppress(Exception):  # of pyspark, of grpc: a cluster that is away has its name alone
        return found + [
            f"path {file}" for file in sorted(on_spark(address, table).inputFiles())[:1]
        ]
    return found


def _behind(path: Path, table: str) -> list[str]:
    """A table of a DuckDB file, or a view and every table that it is made of."""
    import duckdb

    table = table.lower()  # as the engine compares names
    with suppress(duckdb.Error), duckdb.connect(path, read_only=True) as connection:
        views = dict(
            connection.execute(
                "SELECT lower(view_name), sql FROM duckdb_views() WHERE NOT internal"
            ).fetchall()
        )
        found, new = [table], [table]
        while new:
            text = views.get(new.pop(), "")
            query = text.partition(" AS ")[2].rstrip("; \n")
            named = connection.get_table_names(query) if query else set()
            more = [name for name in sorted(map(str.lower, named)) if name not in found]
            found, new = found + more, new + more
        return found
    return [table]


def _in_postgres(address: str, table: str) -> list[str]:
    import psycopg
    from psycopg.conninfo import conninfo_to_dict

    parts = conninfo_to_dict(address)
    host = str(parts.get("host") or parts.get("hostaddr") or "").lower()
    base = parts.get("dbname") or parts.get("user") or ""
    found = [f"postgres {host} {parts.get('port') or 5432} {base} {table}"]
    with (
        suppress(psycopg.Error),
        psycopg.connect(address, connect_timeout=5, autocommit=True) as connection,
    ):
        for system, base_, relation in connection.execute(_SAME, (table,)).fetchall():
            found.append(f"postgres {system} {base_} {relation}")
    return found


def _fingerprint(path: Path) -> str:
    """Of the size and both ends of a file: enough to know a copy, and quick for large ones."""
    size = path.stat().st_size
    with path.open("rb") as file:
        first = file.read(_ENDS)
        file.seek(max(0, size - _ENDS))
        ends = first + file.read(_ENDS)
    return hashlib.blake2b(f"{size} ".encode() + ends).hexdigest()


def _name(ledger: Ledger) -> str:
    """A ledger's own name, wherever its copies lie: the hash of the secret it began with."""
    return ledger.header.hash_of_key[:32] or hashlib.sha256(ledger.where.encode()).hexdigest()[:32]


def _key(path: Path) -> bytes:
    """The secret that identities are hashed with."""
    try:
        key = bytes.fromhex(path.read_text(encoding="ascii"))
    except ValueError:
        key = b""
    if len(key) != 32:
        raise _unreadable(path)
    return key


def _head(path: Path) -> Head:
    """The line that an anchor remembers."""
    try:
        return Head.from_dict(json.loads(path.read_bytes()))
    except (ValueError, LookupError, TypeError, AttributeError, AssertionError, DeniableError):
        raise _unreadable(path) from None


def _claimed(path: Path) -> str:
    """The ledger that counts a table; no ledger's name if that cannot be read."""
    try:
        return str(json.loads(path.read_bytes())["ledger"])
    except (ValueError, LookupError, TypeError):
        return "unreadable"


def _kept(path: Path) -> list[str] | None:
    """What the rows of a file were known by; None if that is to be found out."""
    try:
        found = json.loads(path.read_bytes())
    except (OSError, ValueError):
        return None
    whole = isinstance(found, list) and all(isinstance(each, str) for each in found)
    return found if whole else None


def _unreadable(path: Path) -> LedgerFailure:
    return LedgerFailure(
        f"the anchor {path.name} cannot be read",
        why="without it nobody knows whether a ledger is older than the last one that was seen",
        fix=f"restore {path} from a copy",
    )
