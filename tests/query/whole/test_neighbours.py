"""All that gets noise, together: one unit moves it by no more than the loss that is charged.

Tables are small and extreme, and the engine really adds up, with noise left out. What moved is held
against the noise that would be drawn: Σ |Δ|/b ≤ ε for Laplace noise, Σ (Δ/σ)² ≤ μ² for Gaussian.
"""

import math

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tests.query.executing import execute

import deniable as dp
from deniable.mechanisms import QuantileSearch

ENDS = [(-3.0, 1.0), (0.0, 10.0), (5.0, 6.0)]
UNITS = [
    unit
    for relation in ("add_remove", "replace")
    for unit in (dp.rows(relation=relation), dp.person("u", rows=2, relation=relation))
]
SELECTS = [
    "COUNT(*) AS q",
    "COUNT(x) AS q, COUNT(*) AS n",
    "COUNT(*) FILTER (WHERE f = 1) AS q, COUNT(*) AS n",
    "SUM(y) AS q",
    "SUM(x) AS q, COUNT(*) AS n",
    "AVG(y) AS q",
    "AVG(x) AS q, COUNT(*) AS n",
    "AVG(x) FILTER (WHERE f = 1) AS q, COUNT(x) AS n, SUM(y) AS s",
    "VARIANCE(x) AS q",
    "STDDEV(y) AS q, AVG(y) AS a",
    "COVAR_SAMP(x, y) AS q, COUNT(*) AS n",
    "CORR(x, f) FILTER (WHERE k = 'a') AS q, AVG(x) AS a",
    "HISTOGRAM(y, 3) AS q, HISTOGRAM(x, 2), COUNT(*) AS n",
    "MEDIAN(y) AS q, COUNT(*) AS n",
    "QUANTILE(x, 0.9) AS q, MEDIAN(x) AS m",
]
ROW = st.tuples(
    st.sampled_from([-math.inf, 0.4, math.inf, None]),
    st.sampled_from(["a", "b", None]),
    st.sampled_from([0, 1]),
)
CONTRIBUTION = st.lists(ROW, min_size=1, max_size=3)
SIZES = [None, 1, 3, 1000]


def vectors(query, spend):
    allocation = query._allocate(spend, None, None)
    if allocation.free:
        return []
    cells = execute(query.integers, tables=query.session.tables)
    parts = zip(allocation.parts, allocation.noise, strict=True)
    return [(noise, part.vector, part.numbers(cells).astype(float)) for part, noise in parts]


def loss(noise, vector, change):
    """What one vector's part of the loss would be, for neighbours that differ so much."""
    if isinstance(noise, QuantileSearch):
        return noise.epsilon * np.abs(change).sum() / vector.l1
    if isinstance(noise, dp.Laplace):
        return np.abs(change).sum() / noise.scale
    return float(np.square(change).sum()) / noise.sigma**2


def opened(rows, *, unit, ends, size, budget):
    names = ("x", "y", "k", "f", "u")
    listed = [(x, x, k, f, u) for u, (x, k, f) in rows]
    types = (pa.float64(), pa.float64(), pa.string(), pa.int64(), pa.int64())
    arrays = [pa.array([row[i] for row in listed], kind) for i, kind in enumerate(types)]
    columns = {
        "x": dp.bounds(*ends),
        "y": dp.bounds(*ends, missing=ends[0]),
        "k": dp.keys(["a", "b"], missing="a"),
        "f": dp.bounds(0, 1, type="int", missing=0),
    }
    schema = dp.Schema(columns=columns, size=size)
    table = pa.table(dict(zip(names, arrays, strict=True)))
    return dp.open(table, unit=unit, budget=budget, schema=schema, name="t")


def worst(select, tail, unit, ends, size, spend, mine, other):
    rest = [(7, (math.inf, "a", 1)), (8, (0.0, "b", 0))]
    if unit.column is None:
        mine, other = mine[:1], other[:1]
    other = [] if unit.relation == "add_remove" else other
    found = []
    for rows in (mine, other):
        whole = [*rest, *((9, row) for row in rows)]
        budget = 9 * spend
        session = opened(whole, unit=unit, ends=ends, size=size, budget=budget)
        grouped = "GROUP BY" in tail
        found.append(vectors(session.sql(f"SELECT {'k, ' * grouped}{select} FROM t{tail}"), spend))
    pairs = zip(*found, strict=True)
    return sum(loss(noise, vector, a - b) for (noise, vector, a), (_, _, b) in pairs)


@settings(max_examples=40, deadline=None, suppress_health_check=list(HealthCheck))
@given(
    st.tuples(
        st.sampled_from(SELECTS),
        st.sampled_from(["", " WHERE f = 1", " GROUP BY k", " GROUP BY ROLLUP (k)"]),
        st.sampled_from(UNITS),
        st.sampled_from(ENDS),
        st.sampled_from(SIZES),
        st.sampled_from([dp.epsilon(1), dp.mu(1)]),
        CONTRIBUTION,
        CONTRIBUTION,
    )
)
def test_one_unit_moves_all_that_gets_noise_by_no_more_than_is_charged(case):
    assert worst(*case) <= 1 + 1e-9


@pytest.mark.parametrize("spend", [dp.epsilon(1), dp.mu(1)], ids=["laplace", "gaussian"])
@pytest.mark.parametrize("unit", UNITS[2:], ids=repr)
def test_the_charge_is_reached_so_less_noise_would_be_caught(unit, spend):
    low, high = [(-math.inf, "a", 1)] * 2, [(math.inf, "a", 1)] * 2
    for select in ("SUM(y) AS q", "AVG(x) AS q"):
        assert worst(select, "", unit, ENDS[0], None, spend, low, high) > 1 - 1e-6
    if unit.column is None:
        assert worst("AVG(y) AS q", "", unit, ENDS[0], 3, spend, low, high) > 1 - 1e-6
