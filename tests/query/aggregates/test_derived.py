"""Aggregates made of noisy tallies: how they are rounded, and where extremes are looked for."""

import numpy as np
import pyarrow as pa
import pytest

import deniable as dp
from deniable.query.aggregates import Derived
from deniable.sampling.seeded import SeededSource
from deniable.sampling.source import using


def test_whole_values_are_rounded_to_the_nearest_and_halves_up():
    values = np.array([-1.5, -1.2, -0.5, 0.0, 0.49, 0.5, 0.9, 2.5, 2.0**40 + 0.75])
    found = Derived(values=values, whole=True, interval=lambda _: (values, values)).cells()
    assert found == [-1, -1, 0, 0, 0, 1, 1, 3, 2**40 + 1]
    assert {type(cell) for cell in found} == {int}


@pytest.mark.parametrize("seed", range(3))
def test_extremes_are_where_counts_rise_above_the_noise(seed):
    """A single noisy row is not a minimum: most cells are empty. Seeded: no alarms."""
    held = pa.table({"x": np.random.default_rng(1).integers(400, 601, 5000)})
    schema = dp.Schema(columns={"x": dp.bounds(0, 1000, type="int")})
    with using(SeededSource(seed)):
        session = dp.open(held, unit=dp.rows(), budget=dp.epsilon(9), schema=schema, name="t")
        asked = session.sql("SELECT MIN(x) AS low, MAX(x) AS high FROM t")
        (row,) = asked.release(spend=dp.epsilon(1)).rows()
    assert 395 <= row["low"] <= 410
    assert 590 <= row["high"] <= 605


@pytest.mark.parametrize("made", ["1.0 / (COUNT(*) - 5)", "SUM(x) / (COUNT(*) - 5)"])
def test_a_quotient_that_may_be_anything_is_released_without_an_error(made):
    """Five rows: whatever the noise, zero is among the possible divisors."""
    schema = dp.Schema(columns={"x": dp.bounds(0, 1000, type="int")})
    held = pa.table({"x": [1, 2, 3, 4, 5]})
    with using(SeededSource(1)):
        session = dp.open(held, unit=dp.rows(), budget=dp.epsilon(9), schema=schema, name="t")
        released = session.sql(f"SELECT {made} AS r FROM t").release(spend=dp.epsilon(1))
    assert released.answers["r"].errors(0.95) == (None,)


def test_of_very_many_groups_only_expressions_go_without_an_error(monkeypatch):
    monkeypatch.setattr("deniable.query.answer._MOST_ENCLOSED", 2)
    schema = dp.Schema(columns={"x": dp.bounds(0, 10), "k": dp.keys(["a", "b", "c"])})
    held = pa.table({"x": [1.0] * 3, "k": ["a", "b", "c"]})
    session = dp.open(held, unit=dp.rows(), budget=dp.epsilon(9), schema=schema, name="t")
    sql = "SELECT k, AVG(x) AS plain, AVG(x) + COUNT(*) AS made FROM t GROUP BY k"
    answers = session.sql(sql).release(spend=dp.epsilon(1)).answers
    assert None not in answers["plain"].errors(0.95)
    assert answers["made"].errors(0.95) == (None, None, None)


@pytest.mark.parametrize("rest", ["", "ORDER BY n LIMIT 2", "HAVING COUNT(*) > 1"])
def test_no_group_at_all_is_an_answer_too(rest):
    """Three cities of one person each: one is shown with a chance below 1e-11."""
    schema = dp.Schema(columns={"x": dp.bounds(0, 10), "city": dp.column("text")})
    held = pa.table({"x": [1.0, 2.0, 3.0], "city": ["a", "b", "c"]})
    budget = dp.epsilon(9, delta=1e-12)
    session = dp.open(held, unit=dp.rows(), budget=budget, schema=schema, name="t")
    sql = f"SELECT city, COUNT(*) AS n, AVG(x) AS m FROM t GROUP BY city {rest}"
    assert session.sql(sql).release(spend=dp.epsilon(1)).rows() == []
