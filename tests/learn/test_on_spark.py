"""On Spark each step is summed in the executors, and gives the numbers that memory gives."""

import numpy as np
import pandas as pd
import pytest

import deniable as dp
from deniable.learn import LogisticRegression, StandardScaler
from deniable.query.backends.spark import Spark

ROWS = 400
RANDOM = np.random.default_rng(0)
FRAME = pd.DataFrame(
    {
        "who": np.arange(ROWS) // 3,
        "x": RANDOM.uniform(0, 1, ROWS),
        "pay": RANDOM.integers(0, 90_000, ROWS),
        "kind": RANDOM.choice(["a", "b", "other"], ROWS),
        "y": RANDOM.choice(["no", "yes"], ROWS),
    }
)
COLUMNS = {
    "who": dp.column("int"),
    "x": dp.bounds(0, 1),
    "pay": dp.bounds(0, 100_000, type="int"),
    "kind": dp.keys(["a", "b"]),
    "y": dp.keys(["no", "yes"]),
}


def coefficients(source, unit):
    session = dp.open(
        source, unit=unit, budget=dp.mu(2.0), schema=dp.Schema(columns=COLUMNS), name="data"
    )
    model = LogisticRegression(steps=3, random_state=7)
    return session.fit(model, target="y", spend=dp.mu(1.0)).coef_


@pytest.mark.slow
@pytest.mark.parametrize("unit", [dp.rows(), dp.person("who", rows=2)], ids=str)
def test_executors_give_the_same_model_as_memory(spark, unit, monkeypatch):
    def nothing(*_):
        raise AssertionError("rows were collected")

    monkeypatch.setattr(Spark, "table", nothing)
    monkeypatch.setattr(Spark, "run", nothing)
    there = coefficients(spark.createDataFrame(FRAME).repartition(5), unit)
    assert np.array_equal(there, coefficients(FRAME, unit))


@pytest.mark.slow
def test_an_empty_frame_is_fitted_too(spark):
    session = dp.open(
        spark.createDataFrame(FRAME).where("x > 2"),
        unit=dp.rows(),
        budget=dp.mu(1.0),
        schema=dp.Schema(columns=COLUMNS),
        name="data",
    )
    scaler = session.fit(StandardScaler(), features=["x", "pay"], spend=dp.mu(1.0))
    assert ((scaler.mean_ >= [0, 0]) & (scaler.mean_ <= [1, 100_000])).all()
