"""What a Parquet file says of itself, or holds against its own word, changes nothing for others."""

import math

import duckdb
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import deniable as dp

from .hostile import Data
from .judging import CASES
from .places import Place
from .test_odd_row import PLAIN

CASE = CASES[1]
QUESTIONS = [
    "SELECT COUNT(*) AS n, AVG(x) AS a, SUM(CAST(y AS BIGINT)) AS s, MEDIAN(x) AS m FROM data",
    "SELECT c, COUNT(*) AS n FROM data GROUP BY c",
    "SELECT COUNT(DISTINCT z) AS n, COUNT(CAST(z AS BIGINT)) AS i FROM data WHERE NOT z > 5",
]
ORDINARY = [PLAIN | {"id": float(j // 2), "x": j / 9, "z": j / 7} for j in range(30)]
MINE = PLAIN | {"id": 1000.0}
NAN = MINE | dict.fromkeys("xyzw", math.nan)
NOBODY = PLAIN | {"id": math.nan}


def asked(place, rows):
    """What the engine adds up for each question."""
    data = Data(ids="float", data=tuple(rows))
    session = place(data, unit=CASE.unit, budget=CASE.budget)
    return [place.asked(session.sql(sql).integers, [data]) for sql in QUESTIONS]


@pytest.fixture(params=["parquet", "a view of Parquet", "duckdb"])
def place(request, tmp_path):
    """Files, read by us or by a view of the user's; and rows without such statistics."""
    if request.param == "a view of Parquet":
        return Viewed("duckdb", source=duckdb.connect(), folder=tmp_path)
    return Place(request.param, source=duckdb.connect(), folder=tmp_path)


class Viewed(Place):
    """Views over Parquet files on a connection of the user's."""

    def tables(self, data, unit):
        known = super().tables(data, unit)
        for name, table in known.items():
            path = self.folder / f"{table.source.inner}.parquet"
            if not path.exists():
                pq.write_table(data.tables[name], path)
                self.source.execute(f'DROP TABLE "{table.source.inner}"')
                self.source.execute(f"CREATE VIEW \"{table.source.inner}\" AS FROM '{path}'")
        return known


def test_nan_is_missing_though_statistics_leave_it_out(place):
    """Taken at their word, x < 2 holds of all rows, and NaN is cast to a whole number."""
    missing = MINE | dict.fromkeys("xyzw")
    assert cells(asked(place, [*ORDINARY, NAN])) == cells(asked(place, [*ORDINARY, missing]))


def test_nobody_is_nobody_though_statistics_leave_them_out(place):
    assert cells(asked(place, [*ORDINARY, NOBODY])) == cells(asked(place, ORDINARY))


def cells(found):
    return [[(s.text.count("SELECT"), sorted(rows, key=repr)) for s, rows in w] for (w,) in found]


def test_the_statistics_do_leave_it_out(tmp_path):
    """Else the tests above could not fail."""
    pq.write_table(pa.table({"x": [1.5] * 9 + [math.nan]}), tmp_path / "x.parquet")
    found = duckdb.execute(f"SELECT BOOL_AND(x < 2) FROM '{tmp_path}/x.parquet'").fetchall()
    assert found == [(True,)]


def test_text_that_is_not_utf8_stops_nobody(tmp_path):
    raw = pa.array([*[b"Oslo"] * 30, b"\xff\xfe"])
    text = pa.Array.from_buffers(pa.string(), len(raw), raw.buffers())
    people = pa.array([j // 2 for j in range(31)])
    pq.write_table(pa.table({"id": people, "c": text}), tmp_path / "data.parquet")
    facts = dp.Schema(columns={"c": dp.column("text")})
    unit, budget = dp.person("id", rows=2, groups=1), dp.epsilon(50, delta=1e-6)
    session = dp.open(tmp_path / "data.parquet", unit=unit, budget=budget, schema=facts)
    for sql in (QUESTIONS[1], "SELECT COUNT(*) AS n FROM data WHERE UPPER(c) LIKE '%O'"):
        session.sql(sql).release(spend=dp.epsilon(9, delta=1e-7))
    assert not session.failures
