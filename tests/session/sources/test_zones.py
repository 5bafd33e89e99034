"""Moments that are stored with a time zone are read in UTC, and plans say so."""

import pytest

import deniable as dp

pd = pytest.importorskip("pandas")
pl = pytest.importorskip("polars")
pa = pytest.importorskip("pyarrow")
duckdb = pytest.importorskip("duckdb")

NEW_YEAR = pd.to_datetime(["2024-01-01 00:30"])
OSLO = NEW_YEAR.tz_localize("Europe/Oslo")
FRAME = pd.DataFrame({"oslo": OSLO, "utc": OSLO.tz_convert("UTC"), "local": NEW_YEAR})
SAID = "oslo is stored with a time zone, and read in UTC"


def in_duckdb(_folder):
    connection = duckdb.connect()
    connection.register("given", FRAME)
    connection.execute("CREATE TABLE data AS FROM given")
    return connection


def in_parquet(folder):
    FRAME.to_parquet(folder / "data.parquet")
    return folder / "data.parquet"


HELD = {
    "pandas": lambda _: FRAME,
    "polars": lambda _: pl.from_pandas(FRAME),
    "arrow": lambda _: pa.Table.from_pandas(FRAME),
    "duckdb": in_duckdb,
    "parquet": in_parquet,
}


@pytest.mark.parametrize("kind", HELD)
def test_a_zone_is_said_in_the_plan(kind, tmp_path):
    s = dp.open(HELD[kind](tmp_path), unit=dp.rows(), budget=dp.epsilon(1e6))

    def notes(column):
        query = s.sql(f"SELECT COUNT(*) AS n FROM data WHERE year({column}) = 2023")
        (count,) = query.release(spend=dp.epsilon(1e4)).answers["n"].cells
        plan = query.explain(spend=dp.epsilon(1))
        return count, SAID.replace("oslo", column) in plan.notes

    assert notes("oslo") == (1, True)
    assert notes("local") == (0, False)
    if kind not in ("duckdb", "parquet"):  # these do not keep which zone it was
        assert notes("utc") == (1, False)
