"""Answers that executors write: what they hold, what they cost, what is refused."""

import datetime as dt
import itertools
import shutil

import numpy as np
import pandas as pd
import pyarrow.parquet as pq
import pytest
from scipy import stats
from tests import goodness

import deniable as dp
from deniable.errors import BadParameter, BudgetExceeded, NotReady, UnsupportedQuery
from deniable.query.scatter import writing

from .asking import collected, opened, rows

pytestmark = pytest.mark.filterwarnings("ignore:PySpark does not yet fully support pandas")

CITIES = {"city": dp.keys([f"c{i}" for i in range(7)])}
ROLLUP = (
    "SELECT city, year, COUNT(*) AS n, SUM(pay) AS total, AVG(pay) AS mean "
    "FROM data GROUP BY ROLLUP (city, year)"
)
COUNT = "SELECT city, COUNT(*) AS n FROM data GROUP BY city"


def charges(session):
    return [entry for entry in session.ledger.entries if entry.kind == "charge"]


def in_order(frame):
    return frame.sort_values(["city", "year"]).reset_index(drop=True)


@pytest.fixture(scope="module")
def people(spark):
    """The rows of `asking.rows`, on Spark."""
    return spark.range(600).selectExpr(
        "id AS who", "concat('c', id % 5) AS city", "2020 + id % 2 AS year", "id % 700 AS pay"
    )


# ---- what is written


def test_with_next_to_no_noise_it_is_what_duckdb_says_and_asked_again_it_is_free(people, tmp_path):
    """Also of groups that nobody is in, also of totals; a lost answer is paid for again."""
    options = {"unit": dp.rows(), "keys": CITIES}
    path, spend = tmp_path / "answer", dp.epsilon(1e9)
    session = opened(people, **options)
    query = session.sql(ROLLUP)
    written = query.release_to(path, spend=spend)
    expected = opened(rows(), **options).sql(ROLLUP).release(spend=spend).to_pandas()
    found = collected(written)
    assert len(found) == 7 * 3 + 7 + 1
    pd.testing.assert_frame_equal(in_order(found), in_order(expected), check_dtype=False)
    assert sum(found.n[found.city.isin(["c5", "c6"])]) == 0  # known, and nobody is there

    again = query.release_to(path, spend=spend)
    assert again.free
    assert again.provenance == written.provenance
    shutil.rmtree(path)
    paid = query.release_to(path, spend=spend)
    assert not paid.free
    assert paid.provenance.entry != written.provenance.entry
    assert query.release_to(path, spend=spend).provenance == paid.provenance
    assert len(charges(session)) == 2
    (path / "_SUCCESS").unlink()
    shutil.copytree(path, tmp_path / "other")
    with pytest.raises(BadParameter, match="already"):  # files of a job that no charge was for
        query.release_to(tmp_path / "other", spend=spend)


def test_private_keys_hide_lone_people_for_one_charge(spark, tmp_path):
    """300 cities of one person, each shown with δ ≤ 1e-10: a false alarm at 3e-8."""
    crowd = "if(id < 4000, concat('big', id % 4), concat('lone', id)) AS city"
    frame = spark.range(4300).selectExpr("id AS who", crowd, "2020 AS year", "1 AS pay")
    session = opened(frame, budget=dp.epsilon(1e12, delta=1e-9))
    asked = COUNT.replace(" FROM", ", COUNT(DISTINCT pay) AS pays FROM")  # a statement of its own
    written = session.sql(asked).release_to(tmp_path / "answer", spend=dp.epsilon(1e6))
    found = {row.city: (row.n, row.pays) for row in written.frame().collect()}
    assert found == dict.fromkeys(["big0", "big1", "big2", "big3"], (1000, 1))
    (charge,) = charges(session)
    names = [m["mechanism"] for m in written.mechanisms]
    assert names == ["partition_selection", "laplace", "laplace"]
    assert charge.hash == written.provenance.entry_hash
    assert session.spent.epsilon == pytest.approx(1e6)
    claim = written.certificate()["claim"]
    assert claim["this_release"].startswith("ε 1,000,000")
    assert "written to" in repr(written)
    assert "spent ε" in repr(written)


def binned(noise, scale):
    """The p-value of noise as real Laplace noise rounded to whole numbers, in even bins."""
    law = stats.laplace(scale=scale)
    edges = np.unique(np.floor(law.ppf(np.linspace(0, 1, 101)[1:-1]))) + 0.5
    chances = np.diff(np.concatenate([[0.0], law.cdf(edges), [1.0]]))
    seen = np.bincount(np.searchsorted(edges, noise), minlength=len(chances))
    return goodness.cells(seen, chances)


def test_noise_has_the_law_that_was_paid_for_and_layout_tells_nothing(spark, tmp_path):
    """120,000 groups, one of them with rows. False alarm below 1e-7; other noise is caught."""
    frame = spark.range(50).selectExpr("7 AS who", "'c' AS city", "id AS pay", "77 AS year")
    keys = {"city": dp.keys(["c", "d"]), "year": dp.keys(range(60_000))}
    session = opened(frame, unit=dp.rows(), keys=keys)
    asked = "SELECT city, year, COUNT(*) AS n FROM data GROUP BY city, year"
    written = session.sql(asked).release_to(tmp_path / "answer", spend=dp.epsilon(0.01))
    (record,) = written.mechanisms
    assert record == {"mechanism": "laplace", "scale": 100.0, "sensitivity": 1.0}

    files = sorted((tmp_path / "answer").glob("part-*.parquet"))
    assert len(files) == int(spark.conf.get("spark.sql.shuffle.partitions"))
    parts = [pq.read_table(file).to_pandas() for file in files]
    for part in parts:
        assert part[["city", "year"]].equals(
            part[["city", "year"]].sort_values(["city", "year"]).reset_index(drop=True)
        )
    found = pd.concat(parts)
    assert len(found) == len(found[["city", "year"]].drop_duplicates()) == 120_000
    truth = 50 * ((found.city == "c") & (found.year == 77))
    noise = (found.n - truth).to_numpy()
    assert binned(noise, 100.0) > 1e-7
    for twin in (noise // 2, np.abs(noise), np.tile(noise[:1000], 120), noise * 1.05):
        assert binned(twin, 100.0) < 1e-7
    assert (found.n_error == 300).all()  # ⌈100·ln 20 − ½⌉: counts are whole


def test_keys_of_every_kind_come_back_as_they_are(spark, tmp_path):
    """Also text with quotes, also what a person has that is on no list: that is left out."""
    days = [dt.date(1969, 12, 31), dt.date(2024, 2, 29)]
    lists = {"word": ["it's", "a\\b `c`", "d"], "day": days, "yes": [False, True]}
    lists |= {"whole": [-5, 7, 2**60]}
    row = {name: values[-1] for name, values in lists.items()}
    types = "word STRING, day DATE, yes BOOLEAN, whole BIGINT"
    frame = spark.createDataFrame([row, row, row | {"word": "e"}, row | {"whole": None}], types)
    schema = dp.Schema(columns={name: dp.keys(values) for name, values in lists.items()})
    session = dp.open(frame, unit=dp.rows(), budget=dp.epsilon(1e12), schema=schema)
    names = ", ".join(lists)
    query = session.sql(f"SELECT {names}, COUNT(*) AS n FROM data GROUP BY {names}")
    written = query.release_to(tmp_path / "answer", spend=dp.epsilon(1e9))
    found = {tuple(row)[:4]: row.n for row in written.frame().collect()}
    assert found == dict.fromkeys(itertools.product(*lists.values()), 0) | {tuple(row.values()): 2}


def test_spark_connect_writes_the_same(connect, tmp_path):
    frame = connect.range(600).selectExpr(
        "id AS who", "concat('c', id % 5) AS city", "2020 + id % 2 AS year", "id % 700 AS pay"
    )
    session = opened(frame, unit=dp.person("who", rows=1), keys=CITIES)
    asked = COUNT.replace(" FROM", ", COUNT(DISTINCT who) AS people FROM")
    query, spend = session.sql(asked), dp.epsilon(1e9)
    written = query.release_to(tmp_path / "answer", spend=spend)
    found = {row.city: (row.n, row.people) for row in written.frame().collect()}
    assert found == {f"c{i}": (120, 120) if i < 5 else (0, 0) for i in range(7)}
    assert query.release_to(tmp_path / "answer", spend=spend).free


# ---- what is refused, before any charge


@pytest.mark.parametrize(
    ("sql", "match"),
    [
        ("SELECT COUNT(*) AS n FROM data", "one row"),
        ("SELECT city, MEDIAN(pay) AS m FROM data GROUP BY city", "quantiles"),
        ("SELECT city, MAX(pay) AS m FROM data GROUP BY city", "quantiles"),
        (f"{COUNT} ORDER BY n", "no order"),
        (f"{COUNT} LIMIT 3", "no order"),
        ("SELECT city, COUNT(*) AS n, SUM(pay) AS n_error FROM data GROUP BY city", "n_error"),
    ],
)
def test_what_executors_cannot_write_is_refused(people, tmp_path, sql, match):
    session = opened(people, keys=CITIES)
    with pytest.raises(UnsupportedQuery, match=match):
        session.sql(sql).release_to(tmp_path / "answer", spend=dp.epsilon(1))
    assert not charges(session)
    assert not (tmp_path / "answer").exists()


def test_other_engines_collect(tmp_path):
    session = opened(rows(), keys=CITIES)
    with pytest.raises(UnsupportedQuery, match="Spark"):
        session.sql(COUNT).release_to(tmp_path / "answer", spend=dp.epsilon(1))
    assert not charges(session)


def test_a_path_must_be_new_and_plain(people, tmp_path):
    session = opened(people, keys=CITIES)
    query = session.sql(COUNT)
    with pytest.raises(BadParameter, match="already") as told:
        query.release_to(tmp_path, spend=dp.epsilon(1))
    assert told.value.cost == "nothing was spent"
    for path in (tmp_path / "a*", "", None, 7):
        with pytest.raises(BadParameter, match="path must be"):
            query.release_to(path, spend=dp.epsilon(1))
    with pytest.raises(BadParameter, match="cannot look"):
        query.release_to("nowhere://answer", spend=dp.epsilon(1))
    assert not charges(session)


def test_what_passes_the_ceiling_reads_no_data(people, tmp_path, monkeypatch):
    session = opened(people, keys=CITIES, budget=dp.epsilon(0.5))
    monkeypatch.setattr(writing.places, "commit", lambda *_: pytest.fail("data were read"))
    with pytest.raises(BudgetExceeded, match="is left"):
        session.sql(COUNT).release_to(tmp_path / "answer", spend=dp.epsilon(1))
    assert not charges(session)


@pytest.mark.parametrize("part", ["_SETTINGS", "integers", "Spark"])
def test_what_is_not_ready_costs_nothing(people, tmp_path, monkeypatch, part):
    def fails(*_, **__):
        raise RuntimeError("Secret Person")

    session = opened(people, keys=CITIES)
    if part == "_SETTINGS":
        refused = writing.places._SETTINGS | {"spark.sql.adaptive.enabled": "maybe"}
        monkeypatch.setattr(writing.places, "_SETTINGS", refused)
    else:
        where = (writing, "integers") if part == "integers" else (writing.Spark, "_pin")
        monkeypatch.setattr(*where, fails)
    with pytest.raises(NotReady) as told:
        session.sql(COUNT).release_to(tmp_path / "answer", spend=dp.epsilon(1))
    assert told.value.__context__ is None
    assert "Secret" not in str(told.value)
    assert not charges(session)


def test_executors_with_another_deniable_are_found_out_first(people, tmp_path, monkeypatch):
    monkeypatch.setattr(writing, "version", lambda: "0.0.0")
    session = opened(people, keys=CITIES)
    with pytest.raises(BadParameter, match=r"here is 0\.0\.0"):
        session.sql(COUNT).release_to(tmp_path / "answer", spend=dp.epsilon(1))
    assert not charges(session)
