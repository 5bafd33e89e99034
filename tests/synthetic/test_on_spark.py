"""On Spark, marginals are counted in the executors: only counts reach the driver."""

import numpy as np
import pytest
from tests.synthetic.people import SCHEMA, opened, people
from tests.synthetic.test_wide import exact

import deniable as dp
from deniable.query.backends.spark import Spark

COLUMNS = ["age", "sex", "joined", "score"]
FACTS = dp.Schema(columns={name: SCHEMA.columns[name] for name in COLUMNS})


@pytest.fixture
def nothing_is_collected(monkeypatch):
    def nothing(*_):
        raise AssertionError("rows were collected")

    monkeypatch.setattr(Spark, "table", nothing)
    monkeypatch.setattr(Spark, "run", nothing)


def frame(several):
    held = people(400).drop(columns=["height", "member"])
    return held.assign(id=np.arange(400) // 3) if several else held


@pytest.mark.slow
@pytest.mark.parametrize("several", [False, True], ids=["rows", "persons"])
def test_executors_count_what_memory_counts(spark, several, nothing_is_collected):
    unit = dp.person("id", rows=2) if several else dp.rows()
    there = spark.createDataFrame(frame(several)).repartition(5)
    found = []
    for source in (there, frame(several)):
        session = opened(source, dp.rho(1.0), unit=unit, schema=FACTS)
        asked = session.synthesis(COLUMNS, method="tree", bins=6)
        hidden = asked._hidden("tree")
        found.append([exact(hidden[clique]) for clique in [(0,), *asked.cliques("tree")]])
    for one, other in zip(*found, strict=True):
        assert np.array_equal(one, other)


@pytest.mark.slow
@pytest.mark.parametrize("method", ["tree", "adaptive"])
@pytest.mark.parametrize("empty", [False, True])
def test_synthetic_rows_are_made_from_counts_alone(spark, method, empty, nothing_is_collected):
    there = spark.createDataFrame(frame(several=False)).repartition(3)
    s = opened(there.where("age > 200") if empty else there, dp.rho(5.0), schema=FACTS)
    y = s.synthesize(COLUMNS, spend=dp.rho(5.0), method=method, bins=6)
    assert y.to_pandas(20).shape == (20, 4)
    if not empty:
        assert y.evaluate(frame(several=False)).variation[2][1] < 0.1
