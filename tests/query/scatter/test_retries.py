"""A task that is run again draws again, and one draw of it is shown."""

import os
import signal
import sys
import time
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import deniable as dp
from deniable.errors import AskerStopped, DataFailure
from deniable.query.scatter import places, writing
from deniable.query.scatter.executors import Draw
from deniable.session.elsewhere import Commission

from .asking import counts, opened

pytestmark = pytest.mark.filterwarnings("ignore:PySpark does not yet fully support pandas")

KEYS = {"city": dp.keys([f"c{i}" for i in range(200)])}
COUNT = "SELECT city, COUNT(*) AS n FROM data GROUP BY city"
SPEND = dp.epsilon(1e-3)  # b = 1000 and more: two draws of a group are seldom the same


class Stumbling(Draw):
    """Draws, notes what it drew, and fails in the way of `mishap`."""

    notes = ""
    mishap = ""
    patience = 1.0

    def over(self, batches):
        from pyspark import TaskContext

        drawn = list(super().over(batches))
        place, notes = TaskContext.get().partitionId(), Path(self.notes)
        times = len(list(notes.glob(f"{place}-*")))  # Spark counts anew after a lost executor
        note = notes / f"{place}-{times}-{os.getpid()}.parquet"
        pq.write_table(pa.Table.from_batches(drawn), note)
        yield drawn[0]  # some of it may be in a file already
        if place == 0 and (self.mishap == "always" or (times == 0 and self.mishap == "once")):
            raise RuntimeError("c7 has 3 people")
        if place == 0 and self.mishap == "once":
            self._look(notes)
        if place == 0 and times == 0 and self.mishap == "killed":
            os.kill(_executor(), signal.SIGKILL)
            time.sleep(60)
        yield from drawn[1:]

    def _look(self, notes):
        """What can be seen of the answer while this task still runs, and another is done."""
        stop = time.monotonic() + self.patience
        seen = []
        while time.monotonic() < stop and not seen:
            time.sleep(0.1)
            seen = list((notes.parent / "answer").glob("part-*"))
        (notes / "seen").write_text(" ".join(map(str, seen)))


def _executor():
    """The process of Java that this worker is of: worker, daemon, executor."""
    daemon = os.getppid()
    return int(Path(f"/proc/{daemon}/stat").read_text().rsplit(")", 1)[1].split()[1])


@pytest.fixture
def stumbling(monkeypatch, tmp_path):
    """Executors that stumble; gives back where they note what they drew."""
    from pyspark import cloudpickle

    here = sys.modules[__name__]
    cloudpickle.register_pickle_by_value(here)
    notes = tmp_path / "notes"
    notes.mkdir()

    def install(mishap, *, patience=1.0):
        facts = {"notes": str(notes), "mishap": mishap, "patience": patience}
        kind = type("Stumbles", (Stumbling,), facts)
        monkeypatch.setattr(writing, "Draw", kind)
        return notes

    yield install
    cloudpickle.unregister_pickle_by_value(here)


@pytest.fixture(scope="module")
def people(spark):
    return spark.range(600).selectExpr(
        "id AS who", "concat('c', id % 50) AS city", "2020 AS year", "id % 700 AS pay"
    )


def noted(notes, place, attempt):
    (note,) = notes.glob(f"{place}-{attempt}-*.parquet")
    table = pq.read_table(note).select(["city", "n"]).to_pydict()
    return dict(zip(table["city"], table["n"], strict=True))


def check_one_draw(session, written, notes):
    found, (first, second) = counts(written), (noted(notes, 0, a) for a in (0, 1))
    assert len(found) == 200
    assert set(first) == set(second) <= set(found)  # the same groups, whichever the attempt
    assert sum(first[c] == second[c] for c in first) < len(first) / 2  # drawn anew
    assert all(found[c] == second[c] for c in second)  # the attempt that was committed
    assert not list(Path(written.path).glob("_temporary/**/*.parquet"))
    assert len([e for e in session.ledger.entries if e.kind == "charge"]) == 1
    assert counts(written) == found  # a frame that is computed again reads the same files


def test_a_task_that_fails_once_shows_its_second_draw_alone(people, tmp_path, stumbling):
    notes, session = stumbling("once"), opened(people, keys=KEYS)
    written = session.sql(COUNT).release_to(tmp_path / "answer", spend=SPEND)
    check_one_draw(session, written, notes)
    assert len({note.stem.split("-")[2] for note in notes.glob("*.parquet")}) >= 2  # processes
    assert not (notes / "seen").read_text()  # nothing is shown before all is done


def test_another_committer_would_have_shown_files_before(people, tmp_path, stumbling, monkeypatch):
    """The twin of the test above: version 2, which is what that looks out for."""
    monkeypatch.setattr(places, "_OPTIONS", dict.fromkeys(places._OPTIONS, "2"))
    notes = stumbling("once", patience=20.0)
    opened(people, keys=KEYS).sql(COUNT).release_to(tmp_path / "answer", spend=SPEND)
    assert (notes / "seen").read_text()


def test_an_executor_that_is_killed_leaves_one_draw(people, tmp_path, stumbling):
    notes, session = stumbling("killed"), opened(people, keys=KEYS)
    written = session.sql(COUNT).release_to(tmp_path / "answer", spend=SPEND)
    check_one_draw(session, written, notes)


def test_a_job_that_fails_leaves_nothing_and_the_charge_stands(people, tmp_path, stumbling):
    notes, session = stumbling("always"), opened(people, keys=KEYS)
    path = tmp_path / "answer"
    with pytest.raises(DataFailure) as told:
        session.sql(COUNT).release_to(path, spend=SPEND)
    assert "c7" not in str(told.value)
    assert "c7 has 3 people" in session.failures[0].detail
    assert list(notes.iterdir())  # it did draw
    assert not path.exists()
    assert session.spent.epsilon == pytest.approx(1e-3)
    stumbling("never")
    with pytest.raises(AskerStopped):
        session.sql(COUNT).release_to(tmp_path / "other", spend=SPEND)
    assert "c7 has 3 people" in session.resume()[0].detail
    again = session.sql(COUNT).release_to(path, spend=SPEND)
    assert not again.free
    assert session.spent.epsilon == pytest.approx(2e-3)
    assert again.release.provenance.resumptions == 1


def test_workers_that_were_forked_share_no_noise(spark):
    """10⁵ draws, four times in each of two tasks: windows of four, 8·10⁵, are all different.

    Two are the same with 3.2e11·(2.9e-7)⁴ < 1e-14, where σ = 10⁶.
    """
    from pyspark import cloudpickle

    leave = Commission(mechanisms=(dp.Gaussian(sigma=1e6),), entry="")

    def draws(batches):
        for _ in batches:
            for _ in range(4):
                drawn = leave.perform(0, np.zeros(100_000, dtype=np.int64))
                yield pa.RecordBatch.from_pydict({"drawn": [drawn.tobytes()], "pid": [os.getpid()]})

    here = sys.modules[__name__]
    cloudpickle.register_pickle_by_value(here)
    try:
        both = spark.range(0, 2, 1, 2)  # which wait for each other: one in each executor
        found = both.mapInArrow(draws, "drawn BINARY, pid BIGINT", barrier=True).collect()
    finally:
        cloudpickle.unregister_pickle_by_value(here)
    assert len({row.pid for row in found}) == 2
    parts = [np.frombuffer(row.drawn, dtype=np.int64) for row in found]
    assert repeated(parts) == 0
    assert repeated([*parts, parts[3][500:600]]) > 0  # a run that is used twice is seen


def repeated(parts):
    windows = np.concatenate([np.lib.stride_tricks.sliding_window_view(p, 4) for p in parts])
    mixed = windows @ np.array([1, 3**20, 5**15, 7**12], dtype=np.int64)  # mod 2⁶⁴
    return len(mixed) - len(np.unique(mixed))
