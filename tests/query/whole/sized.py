"""A table whose number of rows is declared, and rows are replaced."""

import math
from statistics import NormalDist

import numpy as np
import pyarrow as pa

import deniable as dp

REPLACE = dp.rows(relation="replace")
N = 1_000
ENDS = [(0.0, 100.0), (-3.0, 1.0), (50.0, 60.0), (-10.0, 10.0)]
ASKED = """
    SELECT AVG(x) AS a, SUM(x) AS s, VARIANCE(x) AS v, STDDEV_POP(x) AS d, COUNT(*) AS n FROM t
"""
LN20, Z95 = math.log(20), NormalDist().inv_cdf(0.975)


def table(ends=(0.0, 100.0), count=N):
    low, high = ends
    x = np.linspace(low, high, count)
    return pa.table({"x": x, "y": [i % 7 for i in range(count)], "k": ["a", "b"] * (count // 2)})


def opened(ends=(0.0, 100.0), *, size=N, unit=REPLACE, budget=None, data=None, **facts):
    columns = {
        "x": dp.bounds(*ends, missing=ends[0]),
        "y": dp.bounds(0, 6, type="int"),
        "k": dp.keys(["a", "b"], missing="a"),
    }
    schema = dp.Schema(columns=columns | facts, size=size)
    source = table(ends) if data is None else data
    return dp.open(source, unit=unit, budget=budget or dp.epsilon(99), schema=schema, name="t")
