"""Tables of people with several rows: added, removed, and searched."""

import numpy as np
import polars as pl
import pyarrow as pa
import pytest

import deniable as dp
from deniable.audit import search
from deniable.mechanisms import GaussianThreshold


def opened():
    return dp.open(pa.table({"x": [0.0]}), unit=dp.rows(), budget=dp.epsilon(50.0, delta=1e-5))


KEYS = ["a", "b", "c"]


def by_key(table, *, keys=None, cap=1):
    """Counts of persons by key, each counted `cap` times at most."""
    session = dp.open(table, unit=dp.person("who", rows=cap, groups=cap), budget=dp.epsilon(9.0))

    def counts():
        rows = table.to_pylist() if hasattr(table, "to_pylist") else table.to_dicts()
        kept = {}
        for row in rows:
            kept.setdefault(row["who"], []).append(row["key"])
        counted = [key for own in kept.values() for key in sorted(own, key=str)[:cap]]
        return np.array([counted.count(key) for key in keys or sorted(set(counted), key=str)])

    noise = dp.Laplace(scale=cap, sensitivity=cap)
    return session.release(noise.on(dp.Sensitive(counts, l1=cap, shape=len(KEYS))))


@pytest.mark.parametrize("make", [pa.table, pl.DataFrame], ids=["arrow", "polars"])
def test_people_with_many_rows_are_tried(make):
    table = make({"who": [1, 1, 2, 3], "key": ["a", "b", "a", "c"], "x": [0.5, 1.0, 2.0, 3.0]})
    unit = dp.person("who", rows=2, groups=2)
    assert search(lambda t: by_key(t, keys=KEYS, cap=2), table, unit).ok
    seen = search(lambda t: by_key(t, cap=2), table, unit)
    assert seen.faults[0].kind == "failure"  # another shape than declared
    uncapped = search(
        lambda t: dp.open(t, unit=unit, budget=dp.epsilon(1.0)).release(
            dp.Laplace(scale=2.0, sensitivity=2.0).on(dp.Sensitive(lambda: len(t), l1=2))
        ),
        table,
        unit,
    )
    assert uncapped.moved == 3  # the fewest rows beyond what is declared


def test_lists_of_text_have_neighbours_too():
    def vote(names):
        scores = dp.Sensitive(lambda: [names.count(k) for k in KEYS], linf=1, shape=len(KEYS))
        return opened().release(dp.Exponential(epsilon=1.0, monotonic=True).on(scores))

    assert search(vote, ["a", "b", "b"]).ok


def test_keys_that_people_share_move_by_one():
    def keys(names):
        counts = {name: names.count(name) for name in names}
        mechanism = GaussianThreshold.calibrate(epsilon=1.0, delta=1e-7)
        return opened().release(mechanism.on(dp.Sensitive(lambda: counts, linf=1, l1=1)))

    assert search(keys, ["a", "b", "b"]).ok
