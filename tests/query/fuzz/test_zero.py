"""0 and -0 are one value: which of them an engine shows for a group must change nothing.

It shows that of some row, which may be another one if somebody's rows come or go.
"""

import dataclasses

import pytest

from .hostile import Data
from .judging import CASES
from .places import Place, cells
from .test_parquet import PLAIN

CASE = CASES[1]  # three rows of a person in two groups
QUESTIONS = [
    "SELECT bin(x, 10) AS g, COUNT(DISTINCT id) AS n FROM data GROUP BY g",
    "SELECT bin(x, 10) AS g, m, SUM(x) AS s, COUNT(DISTINCT id) FROM data GROUP BY CUBE (g, m)",
    "SELECT k, COUNT(DISTINCT x) AS n FROM data GROUP BY k",
    "SELECT c, COUNT(DISTINCT id) AS n, SUM(x) AS s FROM data GROUP BY c",
]
ZEROS = (-0.0, 5.0, -5.0, 10.0, 0.0)


def rows(zeros):
    """Everybody in more groups than count; the person 0 under both names."""
    ids = [*(float(i) for i in range(1, 40)), 0.0, -0.0]
    return tuple(PLAIN | {"id": i, "x": x, "k": "a" if x else "é"} for i in ids for x in zeros)


@pytest.mark.parametrize("sql", QUESTIONS, ids=range(len(QUESTIONS)))
def test_the_order_of_rows_does_not_matter(sql, place: Place):
    first, second = (Data(ids="float", data=rows(z)) for z in (ZEROS, ZEROS[::-1]))
    second = dataclasses.replace(second, data=second.data[::-1])
    plan = place(first, unit=CASE.unit, budget=CASE.budget).sql(sql).integers
    found = [cells(plan, each) for each in place.asked(plan, [first, second])]
    assert found[0] == found[1]
