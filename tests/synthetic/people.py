"""A small table with every kind of column, and its public facts."""

import datetime as dt

import numpy as np
import pandas as pd

import deniable as dp

SCHEMA = dp.Schema(
    columns={
        "age": dp.bounds(0, 99, type="int"),
        "height": dp.bounds(1.0, 2.2),
        "sex": dp.keys(["f", "m"]),
        "member": dp.column("bool"),
        "joined": dp.bounds(dt.date(2020, 1, 1), dt.date(2023, 12, 31), type="date"),
        "score": dp.bounds(0, 5, type="int", missing=0),
    }
)


def people(size, seed=0):
    """Rows in which columns depend on each other, and some values are missing."""
    draw = np.random.default_rng(seed)
    age = draw.integers(18, 90, size)
    tall = 1.5 + 0.004 * (90 - age) + draw.normal(0, 0.05, size)
    days = draw.integers(0, 1461, size)
    return pd.DataFrame(
        {
            "age": pd.array(np.where(draw.random(size) < 0.05, None, age), dtype="Int64"),
            "height": np.where(draw.random(size) < 0.05, np.nan, tall),
            "sex": np.where(age > 50, "f", np.where(draw.random(size) < 0.1, "x", "m")),
            "member": pd.array(draw.random(size) < age / 100, dtype="boolean"),
            "joined": [dt.date(2020, 1, 1) + dt.timedelta(days=int(d)) for d in days],
            "score": pd.array(np.where(draw.random(size) < 0.3, None, age // 18), dtype="Int64"),
        }
    )


def opened(frame, budget, unit=None, schema=SCHEMA):
    """A session on it."""
    return dp.open(frame, unit=unit or dp.rows(), budget=budget, schema=schema)
