"""Ctrl-C while an engine is at work is an interrupt: never a failure, and it leaves no lock."""

import os
import signal
import threading
from contextlib import suppress
from functools import partial
from itertools import count

import duckdb
import pandas as pd
import pyarrow as pa
import pytest
from tests.interrupting import Interrupt, alone

import deniable as dp
from deniable.errors import DataFailure
from deniable.query import execute, rows
from deniable.session.sources.pandas_frames import PandasFrame

SCHEMA = dp.Schema(columns={"x": dp.bounds(0, 8, type="int", missing=0)})
ROWS = pd.DataFrame({"x": [1, 2, 3]})
SQL = "SELECT COUNT(*) AS n, SUM(x) AS s FROM data"
SPEND = dp.epsilon(0.1)


def opened(source=ROWS):
    schema = dp.Schema(tables={"data": SCHEMA})
    return dp.open(source, unit=dp.rows(), budget=dp.epsilon(5.0), schema=schema)


def press():
    signal.raise_signal(signal.SIGINT)


class Pressed:
    """An Arrow stream at whose start, or in whose middle, someone presses Ctrl-C."""

    def __init__(self, error=None, *, late):
        self.error, self.late = error, late

    def __arrow_c_stream__(self, requested_schema=None):
        if not self.late:
            self.end()
        return pa.RecordBatchReader.from_batches(SHAPE, self.batches()).__arrow_c_stream__()

    def batches(self):
        yield pa.record_batch([pa.array([1])], schema=SHAPE)
        self.end()

    def end(self):
        press() if self.error is None else self.raises()

    def raises(self):
        raise self.error


SHAPE = pa.schema([("x", pa.int64())])


@pytest.mark.parametrize(("step", "late"), [("announce", False), ("load", False), ("load", True)])
def test_an_interrupt_that_duckdb_wraps_is_an_interrupt(monkeypatch, step, late):
    def instead(_, connection, view, *more):
        connection.register(view, Pressed(late=late))
        connection.execute(f"CREATE TEMP TABLE {view}_read AS FROM {view}")

    monkeypatch.setattr(PandasFrame, step, instead)
    s = opened({"data": ROWS})
    with pytest.raises(KeyboardInterrupt) as caught:
        s.sql(SQL).release(spend=SPEND)
    assert caught.value.__context__ is None
    assert not s.failures
    assert (s.spent.epsilon > 0) == (step == "load")


@pytest.mark.parametrize("late", [False, True], ids=["schema", "rows"])
@pytest.mark.parametrize("error", [KeyboardInterrupt(), KeyError("KeyboardInterrupt")], ids=type)
def test_an_error_that_rows_raise_by_the_same_name_is_a_failure(monkeypatch, error, late):
    def load(_, connection, view, *more):
        connection.register(view, Pressed(error, late=late))
        connection.execute(f"CREATE TEMP TABLE {view}_read AS FROM {view}")

    monkeypatch.setattr(PandasFrame, "load", load)
    s = opened({"data": ROWS})
    with pytest.raises(DataFailure):
        s.sql(SQL).release(spend=SPEND)
    assert len(s.failures) == 1


@pytest.mark.parametrize("delay", [0.0, 0.05, 0.1, 0.2, 0.4])
def test_an_interrupt_while_duckdb_computes_is_an_interrupt(delay):
    """Whenever it comes: so many rows take far longer to add up."""
    with duckdb.connect(config={"threads": 1}) as connection:  # the others would finish first
        connection.execute("CREATE VIEW data AS SELECT range % 8 AS x FROM range(2000000000)")
        s = opened(connection)
        query = s.sql(SQL)
        timer = threading.Timer(delay, os.kill, (os.getpid(), signal.SIGINT))

        def ask():
            timer.start()
            query.release(spend=SPEND)

        with pytest.raises(KeyboardInterrupt):
            ask()
        timer.join()
        assert not s.failures


def numbers(query):
    return [vector.value for vector in query.vectors()]


def matrix(query):
    return [query.rows().then(lambda found: found.points.sum(), l1=8)]


@pytest.mark.parametrize("make", [numbers, matrix])
def test_wherever_a_reading_is_interrupted_another_thread_can_ask(make):
    ours = (execute.__file__, rows.__file__)

    def once(at):
        s = opened({"data": ROWS})
        value, *_ = make(s.sql(SQL))
        interrupt = Interrupt(ours, at=at)
        step = dp.Laplace(scale=80.0, sensitivity=8).on(value)
        with suppress(KeyboardInterrupt, DataFailure):  # without a signal it is a failure
            interrupt.during(lambda: s.release(step))
        (reading,) = value.ready
        assert alone(lambda: reading._alone.acquire(blocking=False)), interrupt.where
        return interrupt.where

    lines = next(at for at in count(1) if alone(partial(once, at)) is None)
    assert lines > 10, "there are lines to interrupt"
