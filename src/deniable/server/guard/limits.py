"""How often somebody may ask: per minute, in the database that all server processes share."""

from __future__ import annotations

from deniable.errors import NotReady
from deniable.server.database import Database, now


class TooMany(NotReady):
    """Too many requests in a minute."""

    status = 429


def count(database: Database, person: str, kind: str, *, most: int) -> None:
    """Count one more; TooMany if this minute has had enough."""
    minute = int(now() // 60)
    database.rows("DELETE FROM rates WHERE minute < ?", minute)
    ((used,),) = database.rows(
        "INSERT INTO rates AS r VALUES (?, ?, ?, 1) ON CONFLICT (person, kind) DO UPDATE SET "
        "used = CASE WHEN r.minute = excluded.minute THEN r.used + 1 ELSE 1 END, "
        "minute = excluded.minute RETURNING used",
        person,
        kind,
        minute,
    )
    if used > most:
        raise TooMany(f"at most {most} requests of this kind per minute", fix="wait a minute")
