"""One odd row among 250 is not told by the answers beyond the claim, wherever the rows are."""

import datetime as dt
import functools
import math
import os

import numpy as np
import pytest
from tests.query.executing import execute

import deniable as dp
from deniable.audit import audit
from deniable.query.execute import ExactCells

from .hostile import FACTS, Data, Pair
from .judging import Case, accepted, judge, weigh

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
PLAIN |= {"select": 1, 'q"uote': 0.5, "größe; --": "x"}
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


@functools.cache
def world(odd):
    """250 ordinary rows of 125 people, with one row more: odd, or as all others are."""
    rows = tuple(PLAIN | {"id": float(j // 2)} for j in range(250))
    last = () if odd is None else (PLAIN | {"id": 1000.0} | ODD.get(odd, {}),)
    return Data(ids="float", data=(*rows, *last))


def neighbours(odd, unit):
    """With and without the odd row; or with an ordinary one in its place."""
    replaced = unit.relation == "replace"
    nobody = odd.startswith("nobody") and unit.column is not None and not replaced
    second = world("ordinary" if replaced else None)
    return Pair(what=odd, first=world(odd), second=second, nobody=nobody)


@pytest.mark.slow
@pytest.mark.parametrize("case", CASES, ids=lambda case: f"{case.unit}")
def test_an_odd_row_moves_no_more_than_was_declared(case, place):
    """Exactly, without noise: all odd rows at once, in every kind of question by turns."""
    turn = CASES.index(case)
    asked = QUESTIONS if MANY else QUESTIONS[turn::4]
    pairs = [neighbours(odd, case.unit) for odd in ODD]
    if place.kind == "spark" and not MANY:
        asked, pairs = asked[:1], pairs[turn::4]
    for sql in [*asked, *([OWN] if case.unit.column and (MANY or place.kind != "spark") else [])]:
        query = accepted(sql, case)
        assert query is not None, sql
        assert not weigh(query, pairs, place=place)


@pytest.mark.slow
@pytest.mark.parametrize("odd", ["NaN", "missing", "a known key nobody had", "nobody's"])
def test_whole_sessions_say_no_more_of_an_odd_row(odd, place):
    turn = list(ODD).index(odd)
    case, sql = CASES[turn % 4], QUESTIONS[turn % 6]
    assert not judge(sql, case, [neighbours(odd, case.unit)], opening=place)


MEANS = "SELECT k, AVG(x) AS a, SUM(i) AS s FROM data GROUP BY k"
SAMPLES = 20_000


def drawn(data, count, *, place):
    """The noisy whole numbers at ε = 1, of which answers are made, as if asked so many times.

    What the engine adds up has no noise of its own: it is found once.
    """
    query = place(data, unit=CASES[1].unit, budget=dp.epsilon(50)).sql(MEANS)
    allocation = query._allocate(dp.epsilon(1), None, None)
    groups = tuple(query.integers.public_groups())
    cells = execute(query.integers, tables=query.session.tables)
    vectors = [ExactCells(cells).aligned(part, groups) for part in allocation.parts]
    noisy = [
        noise.draw(np.tile(vector, count)).reshape(count, -1)
        for noise, vector in zip(allocation.noise, vectors, strict=True)
    ]
    return np.concatenate(noisy, axis=1)


@pytest.mark.slow
@pytest.mark.parametrize("odd", ["NaN", "the one row of a mean"])
def test_an_auditor_who_sees_answers_alone_cannot_tell(odd, in_duckdb):
    """False alarm: 1e-8."""
    pair = neighbours(odd, CASES[1].unit)
    ask = functools.partial(drawn, place=in_duckdb)
    asked = {"samples": SAMPLES, "batch": ask, "confidence": 1 - 1e-8}
    found = audit(None, pair.first, pair.second, epsilon=1.0, **asked)
    assert not found.violated, found


def test_an_auditor_could_tell_if_one_row_made_a_difference(in_duckdb):
    """The same audit where the neighbour is none: as many people again."""
    ask = functools.partial(drawn, place=in_duckdb)
    others = tuple(row | {"id": row["id"] + 5000} for row in world(None).data)
    more = Data(ids="float", data=world(None).data + others)
    asked = {"samples": SAMPLES // 4, "batch": ask, "confidence": 1 - 1e-6}
    assert audit(None, world(None), more, epsilon=1.0, **asked).violated
