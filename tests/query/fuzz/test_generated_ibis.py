"""The same through the other front end: Ibis expressions at random over hostile tables."""

import os
import random

import pytest

from deniable.query.algebra import OPERATORS, Function

from .hostile import pairs
from .judging import CASES, accepted, operators_of, weigh

pytest.importorskip("ibis")

MANY = int(os.environ.get("DENIABLE_FUZZ", "0"))
SEED = int(os.environ.get("DENIABLE_FUZZ_SEED", "20260"))
ASKED = {"duckdb": 40, "postgres": 10}
# What Ibis has no word for.
SQL_ALONE = {"bin", "width_bucket"}


@pytest.mark.slow
@pytest.mark.timeout(0 if MANY else 1800)
@pytest.mark.parametrize("name", ASKED)
def test_generated_expressions_are_refused_unread_or_move_no_more_than_declared(name, request):
    from .writing_ibis import Writer

    place = request.getfixturevalue(f"in_{name}")
    rng = random.Random(SEED)
    writer = Writer(rng)
    neighbours = [pairs(rng, case.unit, count=7) for case in CASES]
    made = [*writer.catalogue(), *(writer.question() for _ in range(MANY or ASKED[name]))]
    asked, faults = [], []
    for number, (text, expression) in enumerate(made):
        which = number % len(CASES)
        query = None if expression is None else accepted(expression, CASES[which])
        if query is not None:
            asked.append(query.question)
            fault = weigh(query, [neighbours[which][number % 7]], place=place)
            faults += [f"{text}\n{fault}"] * bool(fault)
    assert not faults, "\n\n".join(faults)
    assert len(asked) >= len(made) / 2
    assert set().union(*map(operators_of, asked)) >= set(OPERATORS) - SQL_ALONE
    if name == "duckdb":
        found = {a.function for q in asked for a in q.aggregates}
        assert found >= set(Function) - {Function.PERSONS, Function.HISTOGRAM}
