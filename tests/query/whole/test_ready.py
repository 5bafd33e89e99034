"""Ready before the charge: what fails by public facts or by the environment alone costs nothing."""

import subprocess
import sys
from pathlib import Path

import duckdb
import numpy as np
import pandas as pd
import polars as pl
import psycopg
import pyarrow as pa
import pyarrow.dataset
import pyarrow.parquet
import pytest

import deniable as dp
from deniable.errors import AskerStopped, BadParameter, DataFailure, DeniableError, NotReady
from deniable.query.backends import engine_for
from deniable.query.backends.duckdb import SETTINGS, DuckDB
from deniable.query.backends.postgres import Postgres
from deniable.query.compile.statements import Writer

ROWS = pd.DataFrame({"x": np.arange(20.0), "c": ["a", "b"] * 10})
SCHEMA = dp.Schema(columns={"x": dp.bounds(0, 100, missing=0.0), "c": dp.keys(["a", "b"])})
SQL = "SELECT c, SUM(x) AS s FROM data GROUP BY c"
SPEND = dp.epsilon(0.1)


def opened(source, schema=SCHEMA):
    return dp.open(source, unit=dp.rows(), budget=dp.epsilon(5.0), schema=schema, name="data")


@pytest.fixture
def csv(tmp_path):
    ROWS.to_csv(tmp_path / "data.csv", index=False)
    return tmp_path / "data.csv"


@pytest.fixture
def parquet(tmp_path):
    ROWS.to_parquet(tmp_path / "data.parquet", index=False)
    return tmp_path / "data.parquet"


@pytest.fixture
def postgres(server):
    with psycopg.connect(server, autocommit=True) as connection:
        connection.execute("DROP TABLE IF EXISTS data; CREATE TABLE data (x float8, c text)")
        connection.execute("INSERT INTO data SELECT i, 'a' FROM generate_series(1, 20) t(i)")
    yield server
    with psycopg.connect(server, autocommit=True) as connection:
        connection.execute("DROP TABLE IF EXISTS data")


def in_place(source):
    schema = dp.Schema(tables={"data": SCHEMA})
    return dp.open(source, unit=dp.rows(), budget=dp.epsilon(5.0), schema=schema)


def over(engine, csv, postgres):
    return opened(csv) if engine is DuckDB else in_place(postgres)


ASKED = {
    "release": lambda s: s.sql(SQL).release(spend=SPEND),
    "statistic": lambda s: s.mean("x", spend=SPEND, by="c"),
    "bounds": lambda s: s.mean("x", spend=SPEND, bounds="auto"),
    "median": lambda s: s.median("x", spend=SPEND),
}
every_door = pytest.mark.parametrize("ask", ASKED.values(), ids=list(ASKED))


def refused(session, ask, kind=NotReady):
    """The error; nothing was charged, and the asker goes on."""
    with pytest.raises(kind) as caught:
        ask(session)
    assert caught.value.cost == "nothing was spent"
    assert len(session.ledger.entries) == 0
    assert caught.value.__cause__ is caught.value.__context__ is None
    session.ledger.check_asker(None)
    return caught.value


# ---- faults of the environment


@every_door
@pytest.mark.parametrize("file", ["csv", "parquet"])
def test_a_missing_file_costs_nothing_and_is_named(file, ask, request):
    path = request.getfixturevalue(file)
    session, content = opened(path), path.read_bytes()
    path.unlink()
    assert f"{path}: No such file" in str(refused(session, ask))
    path.write_bytes(content)
    ask(session)  # and once it is there, the question is answered


@pytest.mark.parametrize("file", ["csv", "parquet"])
def test_a_file_that_cannot_be_opened_costs_nothing(file, request):
    path = request.getfixturevalue(file)
    session = opened(path)
    path.unlink()
    path.mkdir()
    assert "Is a directory" in str(refused(session, ASKED["release"]))


def test_one_file_of_several_that_is_missing_costs_nothing(tmp_path):
    for part in "ab":
        ROWS.to_parquet(tmp_path / f"{part}.parquet", index=False)
    session = opened(tmp_path / "*.parquet")
    (tmp_path / "b.parquet").unlink()
    refused(session, ASKED["release"])


def test_a_parquet_file_that_is_none_costs_nothing(parquet):
    session = opened(parquet)
    parquet.write_text("x,c\n1,a\n")
    refused(session, ASKED["release"])


def test_columns_that_are_not_there_any_more_cost_nothing(parquet):
    session = opened(parquet)
    ROWS[["c"]].to_parquet(parquet, index=False)
    refused(session, ASKED["release"])


@every_door
def test_a_server_that_cannot_be_reached_costs_nothing(postgres, ask, monkeypatch):
    session = in_place(postgres)

    def unreachable(*_args, **_named):
        raise psycopg.OperationalError("password=secret")

    monkeypatch.setattr(psycopg, "connect", unreachable)
    assert "secret" not in str(refused(session, ask))


@pytest.mark.parametrize(
    "change",
    ["DROP TABLE data", "ALTER TABLE data DROP COLUMN x", "ALTER TABLE data RENAME x TO y"],
)
def test_a_table_of_postgres_that_changed_costs_nothing(postgres, change):
    session = in_place(postgres)
    with psycopg.connect(postgres, autocommit=True) as connection:
        connection.execute(change)
    refused(session, ASKED["release"])


def test_a_role_that_may_not_read_costs_nothing(postgres):
    with psycopg.connect(postgres, autocommit=True) as connection:
        connection.execute("DROP ROLE IF EXISTS nobody_reads; CREATE ROLE nobody_reads LOGIN")
        session = in_place(postgres)
        address = psycopg.conninfo.make_conninfo(postgres, user="nobody_reads")
        table = session.tables["data"]
        object.__setattr__(table.source, "held", address)
        refused(session, ASKED["release"])
        connection.execute("DROP ROLE nobody_reads")


# ---- settings


@pytest.mark.parametrize("engine", [DuckDB, Postgres], ids=["duckdb", "postgres"])
def test_a_setting_that_does_not_hold_costs_nothing(engine, csv, postgres, monkeypatch):
    home = sys.modules[engine.__module__]
    session = over(engine, csv, postgres)
    monkeypatch.setattr(home, "SETTINGS", home.SETTINGS | {"TimeZone": "Nowhere"})
    refused(session, ASKED["release"])


@pytest.mark.parametrize("setting", [None, "integer_division = true", "TimeZone = 'Asia/Tokyo'"])
def test_of_a_locked_connection_it_only_matters_that_the_settings_hold(setting):
    connection = duckdb.connect()
    connection.register("rows", ROWS)
    connection.execute("CREATE TABLE data AS FROM rows")
    connection.unregister("rows")
    for name, value in SETTINGS.items():
        connection.execute(f"SET GLOBAL {name} = '{value}'")
    if setting is not None:
        connection.execute(f"SET GLOBAL {setting}")
    connection.execute("SET lock_configuration = true")
    session = in_place(connection)
    if setting is None:
        assert ASKED["release"](session).rows()
    else:
        assert setting.split()[0] in str(refused(session, ASKED["release"]))


NOTEBOOK = """
import sys, types
kernel = types.ModuleType("IPython")
kernel.get_ipython = lambda: types.SimpleNamespace(config={"IPKernelApp": {}})
sys.modules["IPython"] = kernel
sys.modules["ipywidgets"] = None  # not installed
import duckdb
try:
    duckdb.connect().execute("SET enable_progress_bar = false")
except duckdb.Error as error:
    print("refused:", "ipywidgets" in str(error))
import deniable as dp
s = dp.open("PATH", unit=dp.rows(), budget=dp.epsilon(1.0))
print(len(s.sql("SELECT COUNT(*) AS n FROM data").release(spend=dp.epsilon(0.1)).rows()))
"""


def test_a_notebook_without_ipywidgets_is_answered(parquet):
    """DuckDB refuses to be told of its progress bar there, and this is not a reason to fail."""
    program = NOTEBOOK.replace("PATH", str(parquet))
    command = [sys.executable, "-c", program]  # __main__ has no file, as there
    ran = subprocess.run(command, capture_output=True, text=True, check=False)
    assert ran.stdout.splitlines() == ["refused: True", "1"], ran.stderr


# ---- statements


@every_door
def test_a_statement_that_is_too_long_costs_nothing(csv, ask, monkeypatch):
    monkeypatch.setattr(sys.modules[Writer.__module__], "LONGEST", 10)
    refused(opened(csv), ask, DeniableError)


@pytest.mark.parametrize("engine", [DuckDB, Postgres], ids=["duckdb", "postgres"])
def test_a_statement_that_the_engine_does_not_understand_costs_nothing(
    engine, csv, postgres, monkeypatch
):
    honest = engine.check

    def check(self, statements):
        honest(self, [f"{text} NONSENSE (" for text in statements])

    monkeypatch.setattr(engine, "check", check)
    session = over(engine, csv, postgres)
    refused(session, ASKED["release"])


# ---- no row is read before the charge


class Charged(Exception):
    """Raised instead of a charge: everything before it has happened."""


def _rows_are_read(frame):
    raise AssertionError("rows were read")


def _dataset(folder):
    ROWS.to_parquet(folder / "part.parquet", index=False)
    return pyarrow.dataset.dataset(folder / "part.parquet")


def _csv(folder):
    ROWS.to_csv(folder / "data.csv", index=False)
    return folder / "data.csv"


SOURCES = {
    "pandas": lambda _: ROWS,
    "polars": lambda _: pl.from_pandas(ROWS),
    "lazy": lambda _: pl.from_pandas(ROWS).lazy().map_batches(_rows_are_read, schema=None),
    "arrow": lambda _: pa.Table.from_pandas(ROWS),
    "dataset": _dataset,
    "relation": lambda _: duckdb.connect().from_df(ROWS),
    "csv": _csv,
}


@pytest.mark.parametrize("kind", SOURCES)
def test_no_row_is_read_before_the_charge(kind, tmp_path, monkeypatch):
    """Rows of frames and files come to DuckDB by `load` alone."""
    session = opened(SOURCES[kind](tmp_path))

    def charged(*_args, **_named):
        raise Charged

    monkeypatch.setattr(session.ledger, "charge", charged)
    (table,) = session.tables.values()
    monkeypatch.setattr(type(table.source), "load", _rows_are_read)
    with pytest.raises(Charged):
        ASKED["release"](session)


@pytest.mark.parametrize("kind", [kind for kind in SOURCES if kind != "lazy"])
def test_what_is_described_before_is_what_is_read_after(kind, tmp_path):
    session = opened(SOURCES[kind](tmp_path))
    assert [row["c"] for row in ASKED["release"](session).rows()] == ["a", "b"]


STORED = {
    "int8": pa.array([1, None], pa.int8()),
    "half": pa.array([1.0, None], pa.float16()),
    "decimal": pa.array([1, None], pa.decimal256(50, 3)),
    "moment": pa.array([1, None], pa.timestamp("ms", tz="Europe/Oslo")),
    "time": pa.array([1, None], pa.time64("us")),
    "duration": pa.array([1, None], pa.duration("s")),
    "dictionary": pa.array(["a", None]).dictionary_encode(),
    "numbers": pa.array([7, None]).dictionary_encode(),
    "list": pa.array([[1], None]),
    "struct": pa.array([{"a": 1}, None]),
    "view": pa.array(["a", None], pa.string_view()),
    "nothing": pa.array([None, None]),
    "binary": pa.array([b"a", None]),
    "bool": pa.array([True, None]),
}


# Types that a frame does not have.
ABSENT = {("polars", "decimal")}


@pytest.mark.parametrize("stored", STORED)
@pytest.mark.parametrize("frame", ["arrow", "polars", "pandas", "numpy", "parquet", "stream"])
def test_every_stored_type_is_described_as_it_is_read(stored, frame, tmp_path):
    table = pa.table({"v": STORED[stored], "x": [1.0, 2.0]})
    if (frame, stored) in ABSENT:
        return
    source = _as(frame, table, tmp_path)
    schema = dp.Schema(columns={"v": dp.column("text", missing="drop"), "x": dp.bounds(0, 9)})
    if frame == "parquet" and stored in ("list", "struct"):
        with pytest.raises(BadParameter, match="lists and structs in Parquet cannot be read"):
            opened(source, schema)
        return
    session = opened(source, schema)
    session.sql("SELECT COUNT(v) AS n, SUM(x) AS s FROM data").release(spend=SPEND)


def _as(frame, table, folder):
    match frame:
        case "arrow":
            return table
        case "polars":
            return pl.from_arrow(table).lazy()
        case "pandas":
            return table.to_pandas(types_mapper=pd.ArrowDtype)
        case "numpy":
            return table.to_pandas()
        case "stream":
            pyarrow.parquet.write_table(table, folder / "t.parquet")
            return pyarrow.dataset.dataset(folder / "t.parquet")
    pyarrow.parquet.write_table(table, folder / "t.parquet")
    return folder / "t.parquet"


# ---- after the charge


def test_a_file_that_goes_between_is_a_failure_that_stops(parquet, monkeypatch):
    session, honest = opened(parquet), DuckDB.run

    def run(self, statements):
        Path(parquet).unlink()
        return honest(self, statements)

    monkeypatch.setattr(DuckDB, "run", run)
    with pytest.raises(DataFailure):
        ASKED["release"](session)
    assert [entry.kind for entry in session.ledger.entries] == ["charge", "stop"]


@every_door
@pytest.mark.parametrize("engine", ["csv", "postgres"])
def test_a_failure_over_rows_stops_every_other_question(engine, ask, request, monkeypatch):
    source = request.getfixturevalue(engine)
    session = opened(source) if engine == "csv" else in_place(source)
    kind = engine_for(list(session.tables.values()))
    honest = kind.run

    def broken(self, statements):
        raise RuntimeError("Secret Person")

    monkeypatch.setattr(kind, "run", broken)
    with pytest.raises(DataFailure):
        ask(session)
    monkeypatch.setattr(kind, "run", honest)
    lines = len(session.ledger.entries)
    for other in ASKED.values():
        with pytest.raises(AskerStopped):
            other(session)
    assert len(session.ledger.entries) == lines
    assert "Secret Person" in str(session.failures)
    session.resume()
    assert ask(session).certificate()["ledger"]["resumptions"] == 1


def test_what_the_curator_sees_names_the_question(csv, monkeypatch):
    session = opened(csv)
    monkeypatch.setattr(DuckDB, "run", lambda *_: 1 / 0)
    with pytest.raises(DataFailure):
        ASKED["release"](session)
    assert SQL in str(session.failures)
    assert "ZeroDivisionError" in str(session.failures)


def test_an_engine_that_cannot_be_closed_takes_no_answer_back(csv, monkeypatch):
    honest = DuckDB.close
    monkeypatch.setattr(DuckDB, "close", lambda self: honest(self) or Path("/missing").stat())
    assert ASKED["release"](opened(csv)).rows()
