"""No error, traceback, warning or log says anything about a row: planted values never come out."""

import datetime as dt
import linecache
import logging
import random
import traceback
import warnings
from pathlib import Path

import duckdb
import pytest

import deniable
from deniable.errors import DataFailure, DeniableError
from deniable.query.backends.duckdb import DuckDB

from .hostile import Data
from .judging import CASES
from .places import Place, opened
from .test_odd_row import PLAIN
from .writing import Writer

WORD, NUMBER, FRACTION, WHO = "quetzalcoatlus", 918273645, 73.190283, 555000111
PLANTED = [WORD, str(NUMBER), str(FRACTION), str(WHO), "1987-06-05", "1987, 6, 5"]
ROW = PLAIN | dict.fromkeys(("i", "huge", "n", "m"), NUMBER) | dict.fromkeys("xyzw", FRACTION)
ROW |= {"id": WHO, "k": WORD, "c": WORD, "d": dt.date(1987, 6, 5)}
ROW |= {"t": dt.datetime.fromisoformat("1987-06-05")}
VISIT = {"id": WHO, "cost": FRACTION, "stay": NUMBER, "zip": WORD}
DATA = Data(ids="int", data=(ROW,) * 30, visits=(VISIT,) * 5)
OURS = str(Path(deniable.__file__).parent)


def told(error):
    """All that an error shows: its words, its causes, and the local variables of our frames."""
    parts, seen = [], set()
    while error is not None and id(error) not in seen:
        seen.add(id(error))
        parts += [str(error), repr(error), repr(error.args), repr(vars(error))]
        found = traceback.TracebackException.from_exception(error, capture_locals=True)
        for frame in found.stack:
            if frame.filename.startswith(OURS):
                parts += [linecache.getline(frame.filename, frame.lineno or 0)]
                parts += [str(value) for value in (frame.locals or {}).values()]
        error = error.__cause__ or error.__context__
    return "\n".join(parts)


def leaks(text):
    return [planted for planted in PLANTED if planted in text]


@pytest.fixture
def shown(caplog, capsys):
    """Everything that was logged, warned or printed meanwhile."""
    caplog.set_level(logging.DEBUG)
    with warnings.catch_warnings(record=True) as warned:
        warnings.simplefilter("always")
        yield lambda: "\n".join(
            [caplog.text, *capsys.readouterr(), *(str(w.message) for w in warned)]
        )


@pytest.mark.parametrize("case", CASES[:3], ids=lambda case: str(case.unit))
def test_refusals_and_plans_say_nothing_of_the_rows(case, shown):
    writer = Writer(random.Random(11))
    texts = [writer.question() for _ in range(40)]
    session = opened(DATA, unit=case.unit, budget=case.budget)
    words = [repr(session), str(session)]
    refused = 0
    for sql in texts:
        try:
            query = session.sql(sql)
            words += [repr(query), str(query.explain(spend=case.spend))]
        except DeniableError as error:
            refused += 1
            words.append(told(error))
    assert refused >= 10
    assert not leaks("\n".join(words))
    assert not leaks(shown())


def _failing(store, names):
    """Views that fail on a row: the engine's own words quote its value."""
    for name in names:
        store.source.execute(f'ALTER TABLE "{name}" RENAME TO "{name}_kept"')
        columns = "* REPLACE (CAST(c AS INTEGER) AS i)" if name.endswith("data") else "*"
        store.source.execute(f'CREATE VIEW "{name}" AS SELECT {columns} FROM "{name}_kept"')


QUESTION = "SELECT COUNT(*) AS n, SUM(i) AS s FROM data WHERE i > 1"


@pytest.mark.parametrize("case", CASES[:3], ids=lambda case: str(case.unit))
def test_an_engine_that_quotes_a_row_is_not_quoted(case, shown):
    store = Place("duckdb", source=duckdb.connect())
    session = store(DATA, unit=case.unit, budget=case.budget)
    _failing(store, [table.source.inner for table in session.tables.values()])
    with pytest.raises(duckdb.ConversionException, match=WORD):
        store.source.execute(f'SELECT SUM(i) FROM "{session.tables["data"].source.inner}"')
    with pytest.raises(DataFailure) as raised:
        session.sql(QUESTION).release(spend=case.spend)
    assert not leaks(told(raised.value))
    assert not leaks(repr(session.failures))
    assert leaks(session.failures[0].detail)  # for the curator; and the test could fail
    assert not leaks(shown())


@pytest.mark.parametrize("case", CASES[:3], ids=lambda case: str(case.unit))
@pytest.mark.parametrize(
    "what", [RuntimeError, MemoryError, RecursionError, KeyError, duckdb.Error]
)
def test_whatever_is_raised_over_the_rows_is_told_as_one_opaque_failure(
    what, case, shown, monkeypatch
):
    def broken(self, statements):
        held = self._connection.execute("SELECT 1").fetchall(), ROW  # in a frame of the traceback
        raise what(f"{WORD} {NUMBER} {held}")

    monkeypatch.setattr(DuckDB, "run", broken)
    session = opened(DATA, unit=case.unit, budget=case.budget)
    with pytest.raises(DataFailure) as raised:
        session.sql(QUESTION).release(spend=case.spend)
    assert raised.value.__cause__ is None
    assert not leaks(told(raised.value))
    assert not leaks(repr(session) + str(session) + repr(session.failures))
    assert not leaks(shown())


def test_values_where_nothing_can_be_computed_are_not_told(shown, monkeypatch):
    """An engine whose answer is not a whole number, or is too short."""
    for found in ([(WORD, 1)], [(NUMBER,)], [(float("inf"), FRACTION)], [(1, WORD)]):
        monkeypatch.setattr(DuckDB, "run", lambda self, texts, found=found: [found for _ in texts])
        session = opened(DATA, unit=CASES[0].unit, budget=CASES[0].budget)
        with pytest.raises(DataFailure) as raised:
            session.sql(QUESTION).release(spend=CASES[0].spend)
        assert not leaks(told(raised.value))
    assert not leaks(shown())


@pytest.mark.parametrize("case", CASES[:3], ids=lambda case: str(case.unit))
def test_what_comes_with_an_answer_says_nothing_of_the_rows(case, shown):
    """Certificate, provenance, ledger: no value of a row, though all rows are alike."""
    session = opened(DATA, unit=case.unit, budget=case.budget)
    sql = "SELECT m, COUNT(*) AS n, AVG(x) AS a, COUNT(DISTINCT c) AS c FROM data GROUP BY m"
    release = session.sql(sql).release(spend=case.spend)
    beside = [repr(release), str(release.certificate()), repr(release.provenance), repr(session)]
    beside += [str(entry.record) for entry in session.ledger.entries]
    assert not leaks("\n".join(beside))
    assert not leaks(shown())
