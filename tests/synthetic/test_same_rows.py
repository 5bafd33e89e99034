"""Rows are drawn once: columns taken from two calls belong together."""

import numpy as np
import pyarrow as pa

import deniable as dp


def made():
    numbers = np.arange(200) % 2
    table = pa.table({"a": numbers, "b": numbers})
    facts = dp.Schema(columns={name: dp.keys([0, 1]) for name in ("a", "b")})
    s = dp.open(table, unit=dp.rows(), budget=dp.epsilon(1000.0), schema=facts)
    return s.synthesize(spend=dp.epsilon(900.0), marginals=[("a", "b")])


def test_two_calls_give_the_same_rows_in_every_form():
    y = made()
    first, second = y.to_arrow()["a"].to_pylist(), y.to_pandas()["b"].tolist()
    assert [(row["a"], row["b"]) for row in y.rows()] == list(zip(first, second, strict=True))
    assert np.corrcoef(first, second)[0, 1] > 0.99


def test_another_seed_gives_other_rows():
    y = made()
    assert y.rows(50, seed=1) == y.rows(50, seed=1) != y.rows(50, seed=2)
