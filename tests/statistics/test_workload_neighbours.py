"""Random tables with and without one unit: every workload moves no further than it declares.

Noise is frozen, so this is about exact numbers, and nothing is left to chance: tables are drawn
with fixed seeds. The unit that comes or goes has what tends to hurt: more rows than count, all in
one cell or in as many as there are, values at and beyond their bounds, missing ones.
"""

import datetime as dt

import numpy as np
import pandas as pd
import pytest
from tests.statistics.every_workload import FIRST, PERSON, ROWS, SCHEMA, WORKLOADS

import deniable as dp
from deniable.audit import replay

REPLACE = dp.rows(relation="replace")
UNITS = {
    "rows": ROWS,
    "replace": REPLACE,
    "person": PERSON,
    "person replaced": dp.person("who", rows=2, groups=2, relation="replace"),
}
PAIRS = {"running count by hour": 1}
"""Of one workload with many steps; of all others 2."""
CLOSE = 0.4
"""Of the pairs of a workload, one uses at least so much of what is declared."""


def random_rows(rng, rows, *, alike):
    """Rows of all kinds; if `alike`, one of them again and again."""
    at = [FIRST + dt.timedelta(hours=int(h)) for h in rng.integers(-30, 21 * 24, rows)]
    table = pd.DataFrame(
        {
            "who": rng.integers(0, 5, rows),
            "age": rng.choice([-7, 0, 1, 50, 98, 99, 400], rows),
            "sex": rng.choice(["F", "M", "X", None], rows),
            "city": rng.choice(["Ulm", "Köln", "東京", "Rom"], rows),
            "pay": rng.choice([-1e300, -10.0, 0.0, 3.3, 100.0, 1e300, np.nan], rows),
            "day": [each.date() for each in at],
            "at": at,
            "page": rng.choice(["page 1", "page 2", "page 3"], rows),
        }
    )
    return pd.concat([table.iloc[[0]]] * rows, ignore_index=True) if alike else table


def inside(table, *, day=1, **values):
    """The same rows, with nothing beyond its bounds or missing."""
    at = FIRST + dt.timedelta(days=day)
    usual = {"age": 99, "sex": "M", "city": "Köln", "pay": 100.0}
    return table.assign(**usual | values, day=at.date(), at=at)


def neighbours(unit, seed):
    """Two tables that differ in one unit; the first of the pairs in one that counts in full."""
    rng = np.random.default_rng(seed)
    table = random_rows(rng, int(rng.integers(8, 30)), alike=False)
    size = 1 if unit.column is None else int(rng.integers(1, 9))
    one = random_rows(rng, size, alike=bool(seed % 2)).assign(who=99)
    one = inside(one) if not seed else one
    if unit.relation.value == "replace":
        other = random_rows(rng, size, alike=not seed % 2).assign(who=99)
        if not seed:
            other = inside(other, day=15, age=0, pay=-10.0, city="Ulm", sex="F")
        return pd.concat([table, one]), pd.concat([table, other])
    return table, pd.concat([table, one])


@pytest.mark.parametrize("unit", UNITS)
@pytest.mark.parametrize("name", WORKLOADS)
def test_no_random_neighbour_moves_a_workload_further_than_declared(name, unit):
    def program(table):
        budget = dp.epsilon(3.0, delta=1e-5)
        s = dp.open({"data": table}, unit=UNITS[unit], budget=budget, schema=SCHEMA)
        return WORKLOADS[name](s)

    closest = 0.0
    for seed in range(PAIRS.get(name, 2)):
        found = replay(program, *neighbours(UNITS[unit], seed))
        assert found.ok, str(found)
        assert not found.ended, found.ended
        assert not found.failed
        ratios = [each.moved / each.declared for _, each in found.measured if each.declared]
        assert max(ratios) <= 1.0
        closest = max(closest, *ratios)
    assert closest >= CLOSE, closest
