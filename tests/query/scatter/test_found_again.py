"""Answers that executors wrote are found again if they are whole, whoever died meanwhile."""

import shutil

import pytest

import deniable as dp
from deniable.errors import BadParameter
from deniable.ledger import Ledger

from .asking import collected, opened

pytestmark = pytest.mark.filterwarnings("ignore:PySpark does not yet fully support pandas")

CITIES = {"city": dp.keys([f"c{i}" for i in range(7)])}
COUNT = "SELECT city, COUNT(*) AS n FROM data GROUP BY city"
SPEND = dp.epsilon(0.25)


@pytest.fixture(scope="module")
def people(spark):
    return spark.range(600).selectExpr(
        "id AS who", "concat('c', id % 5) AS city", "2020 + id % 2 AS year", "id % 700 AS pay"
    )


@pytest.fixture
def session(people):
    return opened(people, unit=dp.rows(), keys=CITIES, budget=dp.epsilon(4))


def charges(session):
    return [entry for entry in session.ledger.entries if entry.kind == "charge"]


def parts(path):
    return sorted(path.glob("part-*.parquet"))


def died(session, path, monkeypatch):
    """Part, but the session ends after the commit and before the answer is written down."""

    def kill(*_):
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(Ledger, "answer", kill)
        with pytest.raises(KeyboardInterrupt):
            session.sql(COUNT).release_to(path, spend=SPEND)
    assert (path / "_SUCCESS").exists()
    assert not [entry for entry in session.ledger.entries if entry.kind == "answer"]


def test_an_answer_with_a_missing_part_is_not_whole(session, tmp_path):
    path, query = tmp_path / "answer", session.sql(COUNT)
    query.release_to(path, spend=SPEND)
    files = parts(path)
    assert len(files) > 1
    kept = files[-1].rename(tmp_path / "aside")
    with pytest.raises(BadParameter, match="already"):
        query.release_to(path, spend=SPEND)
    assert len(charges(session)) == 1
    kept.rename(files[-1])
    assert query.release_to(path, spend=SPEND).free
    shutil.rmtree(path)
    assert not query.release_to(path, spend=SPEND).free
    assert len(charges(session)) == 2


def test_an_answer_that_was_committed_and_not_written_down_is_found_again(
    session, tmp_path, monkeypatch
):
    path, query = tmp_path / "answer", session.sql(COUNT)
    died(session, path, monkeypatch)
    drawn = [file.read_bytes() for file in parts(path)]
    found = query.release_to(path, spend=SPEND)
    assert [file.read_bytes() for file in parts(path)] == drawn
    assert len(charges(session)) == 1, "it was paid for"
    assert found.free
    assert found.provenance.entry_hash == charges(session)[0].hash
    assert sorted(collected(found).city) == [f"c{i}" for i in range(7)]
    assert query.release_to(path, spend=SPEND).provenance == found.provenance


@pytest.mark.parametrize("spoil", ["unfinished", "mixed", "elsewhere"])
def test_what_is_not_that_answer_is_not_taken_for_it(session, tmp_path, monkeypatch, spoil):
    path = tmp_path / "answer"
    died(session, path, monkeypatch)
    if spoil == "unfinished":
        (path / "_SUCCESS").unlink()
    elif spoil == "mixed":
        other = tmp_path / "other"
        session.sql(COUNT).release_to(other, spend=SPEND)
        shutil.copy(parts(other)[0], path)
    else:
        path = path.rename(tmp_path / "moved")
    count = len(charges(session))
    with pytest.raises(BadParameter, match="already"):
        session.sql(COUNT).release_to(path, spend=SPEND)
    assert len(charges(session)) == count


@pytest.mark.parametrize("lost", [False, True])
def test_an_asker_pays_for_anothers_files_from_their_share(session, tmp_path, monkeypatch, lost):
    path = tmp_path / "answer"
    for name in ("ann", "bob"):
        session.ledger.share(name, amount=dp.epsilon(0.5))
    ann, bob = session.for_("ann"), session.for_("bob")
    if lost:
        died(bob, path, monkeypatch)
    else:
        bob.sql(COUNT).release_to(path, spend=SPEND)
    mine = ann.sql(COUNT).release_to(path, spend=SPEND)
    assert ann.spent == bob.spent == SPEND
    assert [entry.asker for entry in charges(session)] == ["bob", "ann"]
    assert "spent ε 0.25" in repr(mine)
    assert not mine.free
    assert "bob" not in f"{mine!r} {mine.provenance} {mine.certificate()}"
    assert mine.provenance.entry is None
    assert ann.sql(COUNT).release_to(path, spend=SPEND).free
    assert ann.spent == SPEND


def test_spark_connect_finds_it_again_too(connect, tmp_path, monkeypatch):
    frame = connect.range(60).selectExpr(
        "id AS who", "concat('c', id % 5) AS city", "2020 AS year", "id % 700 AS pay"
    )
    session = opened(frame, unit=dp.rows(), keys=CITIES, budget=dp.epsilon(4))
    path = tmp_path / "answer"
    died(session, path, monkeypatch)
    assert session.sql(COUNT).release_to(path, spend=SPEND).free
    parts(path)[-1].unlink()
    with pytest.raises(BadParameter, match="already"):
        session.sql(COUNT).release_to(path, spend=SPEND)
    assert len(charges(session)) == 1
