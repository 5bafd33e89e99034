"""One odd row among 250 is not told by the answers beyond the claim: exactly, without noise."""

import datetime as dt
import math
import os

import pytest

import deniable as dp

from .hostile import FACTS, Data, Pair
from .judging import Case, accepted, judge

MANY = "DENIABLE_FUZZ" in os.environ  # then all of these are asked about every odd row
QUESTIONS = [
    "SELECT k, COUNT(*) AS n, SUM(x) AS s, AVG(x) AS a, STDDEV(y) AS d FROM data GROUP BY k",
    "SELECT AVG(x) AS a, AVG(i) AS b, SUM(huge) AS h, VAR_POP(x) AS v FROM data WHERE i > 19",
    "SELECT m, MEDIAN(x) AS q, MIN(i) AS low, MAX(y) AS high FROM data GROUP BY ROLLUP (m)",
    "SELECT COUNT(DISTINCT c) AS c, COUNT(DISTINCT x) AS x, COUNT(DISTINCT id) AS p FROM data",
    "SELECT c, COUNT(*) AS n, AVG(x) AS a FROM data GROUP BY c",
    "SELECT SUM(CLAMP(1 / x, -5, 5)) AS s, COUNT(x / y) AS r FROM data WHERE LN(x) < 9 OR b",
]
OWN = "WITH p AS (SELECT id, COUNT(*) AS n, SUM(x) AS s, AVG(y) AS y FROM data GROUP BY id)"
OWN += " SELECT COUNT(*) AS n, AVG(CLAMP(s, -9, 9)) AS s, SUM(y) AS y, MAX(LEAST(n, 4)) AS m FROM p"
PLAIN = {"i": 3, "huge": 5, "n": 1, "x": 1.5, "y": 5e-4, "z": 2.0, "w": 1e200, "k": "a", "m": 1}
PLAIN |= {"c": "Oslo", "b": True, "d": dt.date(2001, 2, 3)}
PLAIN |= {"t": dt.datetime.fromisoformat("2001-02-03")}
ODD = {
    "NaN": dict.fromkeys("xyzw", math.nan),
    "infinite": dict.fromkeys("xyzw", math.inf),
    "minus infinite": dict.fromkeys("xyzw", -math.inf),
    "minus zero": dict.fromkeys("xyzw", -0.0),
    "tiny": dict.fromkeys("xyzw", 5e-324),
    "missing": dict.fromkeys(FACTS),
    "a known key nobody had": {"k": "é", "m": 2},
    "a key off the list": {"k": "A", "c": "a city nobody had"},
    "the one row of a mean": {"i": 20, "x": 1e308},
    "the widest whole number": {"i": -(2**63), "huge": 2**63 - 1, "n": -(2**63)},
    "nobody's": {"id": None, "x": 10.0},
    "nobody's, but for NaN": {"id": math.nan, "x": 10.0},
}
_PERSON = {"rows": 2, "groups": 2}
CASES = [
    Case(unit=make(relation=relation), budget=dp.epsilon(50, delta=1e-6))
    for relation in ("add_remove", "replace")
    for make in (dp.rows, lambda relation: dp.person("id", **_PERSON, relation=relation))
]


def neighbours(odd, unit):
    """250 ordinary rows of 125 people, with and without the odd one, or one in its place."""
    rows = tuple(PLAIN | {"id": float(j // 2)} for j in range(250))
    row = PLAIN | {"id": 1000.0} | ODD[odd]
    replaced = unit.relation == "replace"
    second = (*rows, PLAIN | {"id": 1000.0}) if replaced else rows
    nobody = odd.startswith("nobody") and unit.column is not None and not replaced
    first, second = (Data(ids="float", data=each) for each in ((*rows, row), second))
    return Pair(what=odd, first=first, second=second, nobody=nobody)


@pytest.mark.slow
@pytest.mark.parametrize("case", CASES, ids=lambda case: f"{case.unit}")
@pytest.mark.parametrize("odd", ODD)
def test_an_odd_row_moves_no_more_than_was_declared(odd, case, in_duckdb):
    turn = list(ODD).index(odd) + 5 * CASES.index(case)
    check(odd, case, QUESTIONS if MANY else [QUESTIONS[turn % 6]], in_duckdb)


@pytest.mark.slow
@pytest.mark.parametrize("odd", ODD)
def test_an_odd_row_moves_no_more_on_postgres(odd, in_postgres):
    turn = list(ODD).index(odd)
    check(odd, CASES[turn % 4], QUESTIONS if MANY else QUESTIONS[turn % 3 :: 3], in_postgres)


def check(odd, case, questions, engine):
    pair = neighbours(odd, case.unit)
    for sql in [*questions, *([OWN] if case.unit.column else [])]:
        assert accepted(sql, case) is not None, sql
        fault = judge(sql, case, [pair], opening=engine)
        assert not fault, fault
