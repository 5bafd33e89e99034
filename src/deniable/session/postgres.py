"""Where a Postgres connection leads, so that another of our own can go there."""

from __future__ import annotations

import re
from typing import Any


def address(connection: Any, *, schema: str | None = None) -> str:
    """Server, database and user, and the schema in which names of tables are looked up.

    That schema is the connection's own unless one is given: of two tables called alike, a fresh
    connection might see the other one.
    """
    from psycopg import conninfo
    from psycopg.rows import tuple_row

    info = connection.info
    idle = info.transaction_status == 0
    asked = "SELECT coalesce(%s, current_schema(), 'public')"
    cursor = connection.cursor(row_factory=tuple_row)
    (place,) = cursor.execute(asked, (schema,)).fetchone()
    if idle and not connection.autocommit:
        connection.rollback()  # leave the connection as it was found
    quoted = '"' + place.replace('"', '""') + '"'
    escaped = re.sub(r"([\\ ])", r"\\\1", quoted)
    before = conninfo.conninfo_to_dict(info.dsn).get("options", "")
    secret = {"password": info.password} if info.password else {}
    options = f"{before} -c search_path={escaped}".strip()
    return str(conninfo.make_conninfo(info.dsn, options=options, **secret))
