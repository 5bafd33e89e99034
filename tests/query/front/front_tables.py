"""Tables that the front's tests ask about: what a session would know of them."""

import datetime as dt

import deniable as dp
from deniable.query.algebra import Question
from deniable.query.sql.select import question_from_sql
from deniable.schema import Column, bounds, column, keys
from deniable.session.sources import Source
from deniable.session.tables import Table


def table(
    name: str, columns: dict[str, Column], *, public: bool = False, unread: tuple[str, ...] = ()
) -> Table:
    return Table(name=name, columns=columns, public=public, unread=unread, source=Source(held=None))


TABLES = {
    "people": table(
        "people",
        {
            "user_id": column("int"),
            "age": bounds(0, 125, type="int"),
            "income": column("float"),
            "wage": bounds(0, 200_000),
            "debt": bounds(-100, 100, missing=0),
            "sex": keys(["f", "m"]),
            "city": column("text"),
            "born": bounds(dt.date(1950, 1, 1), dt.date(2010, 12, 31), type="date"),
            "seen": bounds(
                dt.datetime.fromisoformat("2024-01-01"),
                dt.datetime.fromisoformat("2024-12-31"),
                type="timestamp",
            ),
            "member": column("bool"),
            "Group Name": keys(["a", "b", "c"]),
        },
        unread=("blob",),
    ),
    "visits": table(
        "visits",
        {
            "user_id": column("int"),
            "cost": bounds(0, 1000),
            "zip": column("text"),
            "stay": bounds(0, 10, type="int"),
        },
    ),
    "zips": table(
        "zips",
        {"zip": column("text"), "region": keys(["N", "S"]), "size": bounds(0, 1e6)},
        public=True,
    ),
}
PERSON = dp.person("user_id", rows=10)
GROUPED = dp.person("user_id", rows=10, groups=3)
ROWS = dp.rows()


def ask(sql: str, *, unit: dp.Unit = PERSON, private_keys: bool = False) -> Question:
    return question_from_sql(sql, tables=TABLES, unit=unit, private_keys=private_keys)


def asked(sql: str, **more: object) -> str:
    """A question as it prints, without the line that names the unit."""
    return repr(ask(sql, **more)).partition("\n")[2]
