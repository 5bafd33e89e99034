"""Questions at random over hostile tables: refused unread, or nothing moves more than declared.

DENIABLE_FUZZ is how many questions there are (and DENIABLE_FUZZ_SEED which ones); CI asks a few.
"""

import os
import random

import pytest

from deniable.query.algebra import OPERATORS, Function, Join, JoinKind, PerPerson

from .hostile import pairs
from .judging import CASES, accepted, judge, operators_of, relations_of
from .writing import Writer

MANY = int(os.environ.get("DENIABLE_FUZZ", "0"))
SEED = int(os.environ.get("DENIABLE_FUZZ_SEED", "20260"))
EACH = 3 if MANY else 1
ENGINES = {"duckdb": MANY or 200, "postgres": MANY // 5 or 30}


def questions(count, *, catalogue):
    """Texts with the case they are asked in, and neighbours to replay them on."""
    rng = random.Random(SEED)
    writer = Writer(rng)
    neighbours = [pairs(rng, case.unit, count=42) for case in CASES]
    texts = writer.catalogue() if catalogue else []
    texts += [writer.question() for _ in range(count - len(texts))]
    for number, sql in enumerate(texts):
        which, turn = number % len(CASES), number // len(CASES)
        chosen = [neighbours[which][(turn * EACH + i) % 42] for i in range(EACH)]
        yield sql, CASES[which], chosen


@pytest.mark.slow
@pytest.mark.timeout(0 if MANY else 600)
@pytest.mark.parametrize("name", ENGINES)
def test_generated_questions_are_refused_unread_or_move_no_more_than_declared(name, request):
    engine = request.getfixturevalue(f"in_{name}")
    faults, asked = [], []
    for sql, case, chosen in questions(ENGINES[name], catalogue=name == "duckdb"):
        question = accepted(sql, case)
        if question is not None:
            asked.append(question)
            faults += [fault for fault in [judge(sql, case, chosen, opening=engine)] if fault]
    assert not faults, "\n\n".join(faults)
    assert len(asked) >= ENGINES[name] / 2
    if name == "duckdb":
        check_reached(asked)


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT COUNT(*) AS n FROM data WHERE t <= GREATEST(t, t, t)",
        "SELECT COUNT(DISTINCT LEAST(d, d, d)) AS n FROM data",
        "SELECT c, MEDIAN(x) AS middle, MAX(i) AS top FROM data WHERE i > 100 GROUP BY c",
        "SELECT c, AVG(x) AS mean, STDDEV(i) AS spread FROM data WHERE i > 100 GROUP BY c",
    ],
)
def test_questions_that_once_failed_are_answered(sql, engine):
    """One column thrice in a call; private groups none of which is shown."""
    chosen = pairs(random.Random(SEED), CASES[1].unit, count=1)
    assert not judge(sql, CASES[1], chosen, opening=engine)


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
