"""Tables that break under a question: one opaque error, on every engine, and no more.

Found before a row is read, it costs nothing; found later, it is charged and stops the asker.
"""

import logging
import warnings
from dataclasses import replace
from pathlib import Path

import pytest

import deniable as dp
from deniable.curator import Curator
from deniable.errors import DataFailure, NotReady
from deniable.session.sources import csv_files

from .hostile import Data
from .places import parts
from .test_silence import ROW, VISIT, WHO, WORD, leaks, told

UNIT, BUDGET = dp.person("id", rows=3, groups=2), dp.epsilon(5, delta=1e-6)
QUESTION = "SELECT c, COUNT(*) AS n, SUM(i) AS s FROM data WHERE i > -4 GROUP BY c"


def gone(place, table):
    """The table is not there any more."""
    match place.kind:
        case "duckdb":
            place.source.execute(f'DROP TABLE "{table.source.inner}"')
        case "postgres":
            _postgres(place, f'DROP TABLE "{table.source.inner}"')
        case "spark":
            (place.folder / f"{table.source.inner}.parquet").unlink()
        case _:
            Path(table.source.held[0]).unlink()


def quoting(place, table):
    """The engine fails on a row, and quotes it where it can."""
    name = getattr(table.source, "inner", "")
    match place.kind:
        case "duckdb":
            place.source.execute(f'ALTER TABLE "{name}" RENAME TO "{name}_kept"')
            columns = "* REPLACE (CAST(error(c) AS BIGINT) AS i)"
            place.source.execute(f'CREATE VIEW "{name}" AS SELECT {columns} FROM "{name}_kept"')
        case "postgres":
            _postgres(place, f'ALTER TABLE "{name}" RENAME TO "{name}_kept"')
            view = f'CREATE VIEW "{name}" AS SELECT id, c, CAST(c AS bigint) AS i'
            _postgres(place, f'{view} FROM "{name}_kept"')
        case "spark":
            return table.source.held.selectExpr("id", "c", "CAST(raise_error(c) AS BIGINT) AS i")
        case "parquet":
            path = Path(table.source.held[0])
            content = bytearray(path.read_bytes())
            footer = int.from_bytes(content[-8:-4], "little") + 8
            content[4:-footer] = b"\xff" * (len(content) - footer - 4)
            path.write_bytes(content)
        case "csv":
            # No row of a CSV makes the engine fail: a folder does.
            Path(table.source.held[0]).unlink()
            (Path(table.source.held[0]) / WORD).mkdir(parents=True)
    return None


def otherwise(place, table):
    """The columns are of other types than when the session was opened, or have other names."""
    match place.kind:
        case "duckdb":
            place.source.execute(
                f'CREATE OR REPLACE TABLE "{table.source.inner}" AS SELECT {{}} AS c'
            )
        case "postgres":
            _postgres(place, f'ALTER TABLE "{table.source.inner}" DROP COLUMN i')
        case "spark":
            return table.source.held.selectExpr("id", "named_struct('c', c) AS c")
        case "parquet":
            Path(table.source.held[0]).write_text(f"{WORD},{WHO}")
        case "csv":
            Path(table.source.held[0]).unlink()
            Path(table.source.held[0]).mkdir()
    return None


def _postgres(place, statement):
    import psycopg

    with psycopg.connect(place.source, autocommit=True) as connection:
        connection.execute(statement)


def holding(table, held):
    return replace(table, source=replace(table.source, held=held))


def session_over(place, broken):
    """A session whose table breaks after it was opened."""
    data = Data(ids="int", data=(ROW,) * 30, visits=(VISIT,) * 5)
    tables = dict(place.tables(data, UNIT))
    fresh = broken(place, tables["data"])
    if fresh is not None:
        tables["data"] = holding(tables["data"], fresh)
    return Curator(**parts(data, UNIT, BUDGET, tables=tables))


def check_silent(session, caplog, capfd, *, kind=DataFailure):
    """One error that tells nothing: not by its words, causes or frames, nor beside it."""
    caplog.set_level(logging.DEBUG)
    caplog.set_level(logging.INFO, logger="py4j")  # below, it writes down all that Spark is told
    with warnings.catch_warnings(record=True) as warned:
        warnings.simplefilter("always")
        with pytest.raises(kind) as raised:
            session.sql(QUESTION).release(spend=dp.epsilon(1, delta=1e-7))
    error = raised.value
    assert error.__cause__ is None
    assert error.__context__ is None
    lines = [entry.kind for entry in session.ledger.entries]
    assert lines == (["charge", "stop"] if kind is DataFailure else [])
    beside = [repr(session), str(session), repr(session.failures), repr(session.ledger.entries)]
    beside += [str(e.record) for e in session.ledger.entries]
    beside += [caplog.text, *capfd.readouterr(), *(str(w.message) for w in warned)]
    assert not leaks("\n".join([told(error), *beside]))


def needs_rows(broken, place):
    """Whether only reading rows can tell: Spark looks for files when it reads them.

    No row of a CSV makes the engine fail; what is broken there is the line of column names.
    """
    return (broken is quoting and place.kind != "csv") or (broken is gone and place.kind == "spark")


@pytest.mark.parametrize("broken", [gone, quoting, otherwise], ids=lambda how: how.__name__)
def test_a_table_that_breaks_is_told_as_one_opaque_failure(broken, place, caplog, capfd):
    session = session_over(place, broken)
    kind = DataFailure if needs_rows(broken, place) else NotReady
    check_silent(session, caplog, capfd, kind=kind)
    if broken is quoting and place.kind in ("duckdb", "postgres", "spark"):
        assert leaks(session.failures[0].detail)  # for the curator; and the test could fail


def test_a_server_that_is_lost_tells_neither_rows_nor_passwords(in_postgres, caplog, capfd):
    data = Data(ids="int", data=(ROW,))
    address = f"postgresql://somebody:{WORD}@127.0.0.1:1/nowhere"
    tables = {
        name: holding(table, address) for name, table in in_postgres.tables(data, UNIT).items()
    }
    session = Curator(**parts(data, UNIT, BUDGET, tables=tables))
    check_silent(session, caplog, capfd, kind=NotReady)


def test_a_full_disk_is_told_as_one_opaque_failure(in_csv, caplog, capfd, monkeypatch):
    def full(*_args, **_named):
        raise OSError(28, f"No space left on device: {WORD}")

    monkeypatch.setattr(csv_files.tempfile, "mkstemp", full)
    row = ROW | {"c": f"{WORD}\r"}
    data = Data(ids="int", data=(row,) * 3)
    session = in_csv(data, unit=UNIT, budget=BUDGET)
    check_silent(session, caplog, capfd)
