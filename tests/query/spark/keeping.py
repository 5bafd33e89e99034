"""The same tables on every engine, and questions to all of them with the noise left out."""

import datetime as dt
import math
import tempfile

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

import deniable as dp
from deniable.curator import open as open_curator
from deniable.mechanisms import QuantileSearch
from deniable.session.drawing import watched

from ..whole.asking import without_noise  # noqa: TID252  (tests are no package)

BUDGET = dp.epsilon(1e6, delta=1e-7)
SPEND = dp.epsilon(100.0)
TOWNS = ("Oslo", "Rome", "it's", "back\\slash", "${spark.app.name}", "nowhere")
PAY = (None, math.nan, math.inf, -math.inf, -0.0, 0.1, 99.5, 1e300, 12.25, 7.0)
JOBS = ("cook", "Cook", "été", "a\nb", "")
VISITS = {
    "id": pa.int64(),
    "town": pa.string(),
    "job": pa.string(),
    "age": pa.int64(),
    "pay": pa.float64(),
    "day": pa.date32(),
    "at": pa.timestamp("us"),
    "member": pa.bool_(),
}

_POSTGRES = {
    "int64": "bigint",
    "string": "text",
    "double": "double precision",
    "date32[day]": "date",
    "timestamp[us]": "timestamp",
    "bool": "boolean",
}


def _visit(i):
    return {
        "id": None if i % 29 == 0 else i % 61,
        "town": None if i % 31 == 0 else TOWNS[i * i % 5],
        "job": None if i % 37 == 0 else JOBS[i // 3 % 5],
        "age": None if i % 23 == 0 else i * 7 % 130,
        "pay": PAY[i % len(PAY)],
        "day": dt.date(2020, 1, 1) + dt.timedelta(days=i % 200),
        "at": dt.datetime(2020, 2, 28, 22) + dt.timedelta(minutes=i),  # noqa: DTZ001
        "member": (None, True, False)[i % 3],
    }


def _table(rows, kinds):
    return pa.table({c: pa.array([row.get(c) for row in rows], kind) for c, kind in kinds.items()})


TABLES = {
    "visits": _table([_visit(i) for i in range(600)], VISITS),
    "bills": _table(
        [{"id": i % 61, "amount": i % 40} for i in range(300)],
        {"id": pa.int64(), "amount": pa.int64()},
    ),
    "towns": _table(
        [
            *({"town": t, "region": "north" if t == "Oslo" else "south"} for t in TOWNS[:4]),
            {"town": "Rome", "region": "again"},
            {"town": None, "region": "north"},
        ],
        {"town": pa.string(), "region": pa.string()},
    ),
}
SCHEMA = dp.Schema(
    tables={
        "visits": dp.Schema(
            columns={
                "town": dp.keys(TOWNS),
                "job": dp.column("text"),
                "age": dp.bounds(0, 120, type="int", missing=40),
                "pay": dp.bounds(0.0, 100.0, missing=0.0),
                "day": dp.bounds(dt.date(2020, 1, 1), dt.date(2020, 12, 31), type="date"),
                "at": dp.column("timestamp"),
                "member": dp.column("bool"),
            }
        ),
        "bills": dp.Schema(columns={"amount": dp.bounds(0, 30, type="int", missing=0)}),
        "towns": dp.Schema(
            columns={
                "town": dp.column("text"),
                "region": dp.keys(["north", "south"]),
            },
            public=True,
        ),
    }
)
UNITS = {
    "rows": dp.rows(),
    "persons": dp.person("id", rows=8, groups=30),
}


def in_spark(session, table):
    """A table in two files: rows that are given directly are made in the driver."""
    folder = tempfile.mkdtemp(prefix="spark-")
    middle = table.num_rows // 2
    for i, part in enumerate((table.slice(0, middle), table.slice(middle))):
        pq.write_table(part, f"{folder}/{i}.parquet")
    return session.read.parquet(folder)


def in_postgres(address, tables):
    """Tables on a Postgres server, in a schema of their own; the address that leads there."""
    import psycopg

    with psycopg.connect(address, autocommit=True) as connection:
        connection.execute("DROP SCHEMA IF EXISTS kept CASCADE; CREATE SCHEMA kept")
        for name, table in tables.items():
            columns = ", ".join(f"{f.name} {_POSTGRES[str(f.type)]}" for f in table.schema)
            connection.execute(f"CREATE TABLE kept.{name} ({columns})")
            with connection.cursor().copy(f"COPY kept.{name} FROM STDIN") as copy:
                for row in table.to_pylist():
                    copy.write_row(list(row.values()))
    mark = "&" if "?" in address else "?"
    return f"{address}{mark}options=-csearch_path%3Dkept"


def opened(source, unit="rows", schema=SCHEMA):
    """A session for a data curator; rows cannot be told apart in tables of several people."""
    return open_curator(source, unit=UNITS.get(unit, unit), budget=BUDGET, schema=schema)


def exactly(session, text, spend=SPEND):
    """The rows of the answer, without noise."""
    with without_noise():
        return session.sql(text).release(spend=spend).rows()


def computed(session, text):
    """The rows without noise, and all whole numbers that the noise would have been added to."""
    seen = _Seen()
    with watched(seen):
        rows = session.sql(text).release(spend=SPEND).rows()
    return seen.numbers, () if seen.searched else rows


class _Seen:
    """A replay that keeps what was computed; a search has no answer but a drawn one."""

    def __init__(self):
        self.numbers, self.searched = [], False

    def charged(self, entry):
        pass

    def answer(self, draw, value, compute):
        exact = compute()
        if isinstance(exact, tuple):
            self.numbers.append(sorted(zip(*exact, strict=True)))
            return sorted(exact[0])
        self.numbers.append(np.asarray(exact).tolist())
        if isinstance(draw.__self__, QuantileSearch):
            self.searched = True
            return draw(exact)
        return exact
