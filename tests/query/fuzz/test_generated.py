"""Questions at random over hostile tables: refused unread, or nothing moves more than declared.

DENIABLE_FUZZ is how many questions there are (and DENIABLE_FUZZ_SEED which ones); CI asks a few.
On every engine a list comes first that has everything that can be asked.
"""

import os
import random

import pytest

import deniable as dp
from deniable.query.algebra import OPERATORS, Function, Join, JoinKind, PerPerson

from .hostile import pairs
from .judging import CASES, accepted, judge, operators_of, relations_of, weigh
from .places import opened
from .writing import Writer

MANY = int(os.environ.get("DENIABLE_FUZZ", "0"))
SEED = int(os.environ.get("DENIABLE_FUZZ_SEED", "20260"))
EACH = 2 if MANY else 1
# How many questions are made up, and how many expressions stand in one of the list.
ASKED = {"duckdb": 110, "postgres": 40, "parquet": 20, "csv": 20, "spark": 1}
WIDE = {"duckdb": 6, "parquet": 20, "csv": 20, "postgres": 20, "spark": 45}

_OWN = "(SELECT id, COUNT(*) AS n, SUM(x) AS s, AVG(x) AS a, MIN(t) AS t, COUNT(DISTINCT c) AS c"
_MORE = "FROM data WHERE i > 0 GROUP BY id, k HAVING COUNT(*) < 9) AS p GROUP BY k"
ROWS, PEOPLE, REPLACED = 0, 1, 2
CLAUSES = [
    (PEOPLE, "SELECT k, COUNT(*) AS n, SUM(x) AS s, AVG(i) AS a, COUNT(b) FROM data GROUP BY k"),
    (ROWS, "SELECT COVAR_POP(x, y) AS a, COVAR_SAMP(i, x) AS b, CORR(x, i) AS c FROM data"),
    (PEOPLE, "SELECT k, HISTOGRAM(x, 3) AS h, HISTOGRAM(i, 2), CORR(x, y) FROM data GROUP BY k"),
    (ROWS, "SELECT VAR_SAMP(x) AS a, VAR_POP(i) AS b, STDDEV(y) AS c, STDDEV_POP(i) FROM data"),
    (REPLACED, "SELECT m, MEDIAN(x) AS q, MAX(i) AS top, MIN(d) FROM data GROUP BY ROLLUP (m)"),
    (PEOPLE, "SELECT c, COUNT(*) AS n, AVG(x) AS a, COUNT(DISTINCT id) AS p FROM data GROUP BY c"),
    (ROWS, "SELECT c, m, SUM(i) AS s, COUNT(DISTINCT n) AS p FROM data WHERE b GROUP BY c, m"),
    (PEOPLE, 'SELECT k, "select" AS s, COUNT(DISTINCT id) AS n FROM data GROUP BY CUBE (k, s)'),
    (REPLACED, "SELECT b, COUNT(DISTINCT x) AS d, COUNT(DISTINCT c) AS e FROM data GROUP BY b"),
    (ROWS, "SELECT region, SUM(size) AS s FROM data JOIN zips ON c = zip GROUP BY region"),
    (ROWS, "SELECT region, m, AVG(x) AS a FROM data LEFT JOIN zips ON c = zip GROUP BY region, m"),
    (PEOPLE, "SELECT region, AVG(size) AS s FROM data JOIN zips ON c = zip GROUP BY region"),
    (REPLACED, "SELECT k, COUNT(region) AS s FROM data LEFT JOIN zips ON c = zip GROUP BY k"),
    (PEOPLE, "SELECT stay, SUM(cost) AS s FROM data JOIN visits USING (id) GROUP BY stay"),
    (REPLACED, "SELECT SUM(x) AS s, COUNT(cost) AS n FROM data LEFT JOIN visits USING (id)"),
    (PEOPLE, f"SELECT AVG(LEAST(n, 4)) AS n, SUM(a) AS a FROM {_OWN} FROM data GROUP BY id) AS p"),
    (REPLACED, f"SELECT k, SUM(CLAMP(s, -5, 5)) AS s, MAX(LEAST(c, 3)) FROM {_OWN}, k {_MORE}"),
]  # fmt: skip


def questions(name):
    """Texts with the number of the case they are asked in."""
    writer = Writer(random.Random(SEED))
    yield from CLAUSES
    listed = writer.catalogue(each=WIDE[name], distinct=name == "duckdb")
    made = (writer.question() for _ in range(MANY or ASKED[name]))
    for number, sql in enumerate((*listed, *made)):
        yield number % len(CASES), sql


@pytest.mark.slow
@pytest.mark.timeout(0 if MANY else 1800)
@pytest.mark.parametrize("name", ASKED)
def test_generated_questions_are_refused_unread_or_move_no_more_than_declared(name, request):
    place = request.getfixturevalue(f"in_{name}")
    rng = random.Random(SEED)
    neighbours = [pairs(rng, case.unit, count=42 if MANY else 7) for case in CASES]
    faults, asked, count = [], [], 0
    for count, (which, sql) in enumerate(questions(name), 1):
        mine = neighbours[which]
        chosen = [mine[(count * EACH + j) % len(mine)] for j in range(EACH)]
        try:
            query = accepted(sql, CASES[which])
            fault = weigh(query, chosen, place=place) if query else ""
        except Exception as error:
            query, fault = None, repr(error)
        assert query or count > len(CLAUSES), sql
        asked += [query.question] if query else []
        faults += [f"{sql}\n{fault}"] * bool(fault)
    if MANY:
        print(f"\n{name}: {len(asked)} of {count} accepted, {EACH} pairs each")  # noqa: T201
    assert not faults, "\n\n".join(faults)
    assert len(asked) >= count / 2
    check_reached(asked)


@pytest.mark.slow
@pytest.mark.timeout(0 if MANY else 1800)
def test_whole_sessions_replayed_show_no_more_than_was_declared(in_duckdb):
    """The same by the long way: opened, charged, drawn with frozen noise; also frames in memory."""
    writer = Writer(random.Random(SEED + 1))
    made = [(n % len(CASES), writer.question()) for n in range(MANY // 10 or 24)]
    rng = random.Random(SEED)
    neighbours = [pairs(rng, case.unit, count=7) for case in CASES]
    faults = []
    for number, (which, sql) in enumerate([*CLAUSES[::3], *made]):
        if accepted(sql, CASES[which]) is not None:
            chosen = [neighbours[which][number % 7]]
            place = in_duckdb if number % 2 else opened
            faults += [f for f in [judge(sql, CASES[which], chosen, opening=place)] if f]
    assert not faults, "\n\n".join(faults)


@pytest.mark.parametrize("name", ["duckdb", "postgres", "parquet", "csv"])
@pytest.mark.parametrize(
    "sql",
    [
        "SELECT COUNT(*) AS n FROM data WHERE t <= GREATEST(t, t, t)",
        "SELECT COUNT(DISTINCT LEAST(d, d, d)) AS n FROM data",
        "SELECT c, MEDIAN(x) AS middle, MAX(i) AS top FROM data WHERE i > 100 GROUP BY c",
        "SELECT c, AVG(x) AS mean, STDDEV(i) AS spread FROM data WHERE i > 100 GROUP BY c",
        "SELECT COUNT(LENGTH(CAST(NULL AS TEXT))) AS n FROM data",
        "SELECT AVG(CASE WHEN b THEN 1e-300 ELSE 0.0 END) AS a FROM data",
    ],
)
def test_questions_that_once_failed_are_answered(sql, name, request):
    """One column thrice in a call; private groups none of which is shown; a text that is
    never there; scales whose squares are 0.
    """
    place = request.getfixturevalue(f"in_{name}")
    chosen = pairs(random.Random(SEED), CASES[PEOPLE].unit, count=1)
    assert not judge(sql, CASES[PEOPLE], chosen, opening=place)


def test_groups_that_cannot_exist_are_refused():
    """An empty list of keys once became SQL that Postgres and Spark cannot read, once paid for."""
    sql = "SELECT DATE_TRUNC('week', NULLIF(d, d)) AS w2, COUNT(*) AS n FROM data GROUP BY w2"
    with pytest.raises(dp.UnsupportedQuery, match="always missing"):
        CASES[PEOPLE].blind.sql(sql)


def check_reached(asked):
    """Everything that can be asked was asked."""
    assert set().union(*map(operators_of, asked)) == set(OPERATORS)
    assert {a.function for q in asked for a in q.aggregates} == set(Function)
    parts = [r for q in asked for r in relations_of(q.relation)]
    joins = {(r.kind, r.same_person, r.unique) for r in parts if isinstance(r, Join)}
    assert joins >= {(kind, same, False) for kind in JoinKind for same in (True, False)}
    assert joins >= {(kind, False, True) for kind in JoinKind}
    assert any(isinstance(r, PerPerson) and r.keys for r in parts)
    assert any(isinstance(r, PerPerson) and not r.keys for r in parts)
    keys = [[k.values is not None for k in q.keys] for q in asked]
    assert [True, True] in keys
    assert any(False in each for each in keys)
    assert max(len(q.grouping_sets) for q in asked) >= 3
