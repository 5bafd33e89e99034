"""One unit never moves a column further than declared, on Spark too.

Many pairs of neighbouring tables are asked about at once: each pair lives in a world of its own,
told by a public key, with persons of its own. So one question is one job for all of them. Private
keys are asked about in one pair at a time: which groups a person keeps hangs on who they are.
"""

import dataclasses
import math
import random

import pytest

import deniable as dp
from deniable.query.algebra import Aggregate, Function, Key, Question
from deniable.units import Relation

from ..back.holding import Holding  # noqa: TID252
from ..back.test_moving import FACTS, cells, check, moved, plain_count  # noqa: TID252

PAIRS = 24
WORLDS = tuple(range(2 * PAIRS))
FLOATS = (None, math.nan, math.inf, -math.inf, -0.0, 0.0, 9.99, -3.0, 1e300, 0.3)
KEYS = (None, "a", "b", "c", "A", "")
ODD = [
    {"x": math.nan, "g": "a"},
    {"x": math.inf, "g": "a"},
    {"x": -math.inf, "g": "c"},
    {"x": None, "g": "b"},
    {"x": 1.0, "g": None},
    {"x": 1.0, "g": ""},
    {"x": -0.0, "g": "a", "y": -(2**63)},
    {},
]
UNITS = [
    dp.rows(),
    dp.rows(relation="replace"),
    dp.person("u", rows=3, groups=2),
    dp.person("u", rows=2, groups=1, relation="replace"),
]


def row(draw):
    return {
        "g": draw.choice(KEYS),
        "h": draw.choice("pqrs"),
        "x": draw.choice(FLOATS),
        "y": draw.choice((None, 0, 5, 9, 2**62)),
        "z": draw.choice(FLOATS),
    }


def person(draw, odd):
    return [odd] if odd is not None else [row(draw) for _ in range(draw.randint(0, 6))]


def rows_of(unit):
    """Every world's rows: of pair i, world 2i has one unit, world 2i + 1 has not, or another."""
    made = []
    for pair in range(PAIRS):
        draw = random.Random(pair)
        odd = ODD[pair] if pair < len(ODD) else None
        others = [(who, row) for who in range(3) for row in person(draw, None)]
        nobodys = [(None, row(draw))] if pair % 2 else []
        one, other = person(draw, odd), person(draw, None)
        if unit.column is None:
            one, other = one[:1] or [row(draw)], other[:1] or [row(draw)]
        yours = other if unit.relation is Relation.REPLACE else []
        for world, own in ((2 * pair, one), (2 * pair + 1, yours)):
            for who, each in [*others, *nobodys, *((9, each) for each in own)]:
                made.append(each | {"w": world, "u": None if who is None else 10 * world + who})
    return made


def asked_in_all_worlds(unit):
    def question(scan):
        column = {c.name: c for c in scan.columns}
        keys = (
            Key(name="w", expression=column["w"], values=WORLDS),
            Key(name="g", expression=column["g"], values=("a", "b", "c")),
        )
        # Which values a person keeps hangs on who they are too: DISTINCT is asked of rows alone.
        functions = {
            "n": (Function.COUNT, None),
            "p": (Function.SUM, "x"),
            "v": (Function.VAR_POP, "y"),
            "c": (Function.COVAR_POP, "y"),
        }
        functions |= {"m": (Function.QUANTILE, "x")}
        functions |= {"d": (Function.DISTINCT, "x")} if unit.column is None else {}
        aggregates = [
            Aggregate(
                name=name,
                function=function,
                argument=None if of is None else column[of],
                other=column["x"] if function is Function.COVAR_POP else None,
                q=0.5 if function is Function.QUANTILE else None,
            )
            for name, (function, of) in functions.items()
        ]
        return Question(
            unit=unit,
            relation=scan,
            keys=keys,
            grouping_sets=((0, 1), (0,)),
            aggregates=tuple(aggregates),
        )

    return question


def world(found, number):
    """The cells of one world, by their other keys."""
    places = [i for i, group in enumerate(found.groups) if group[0] == number]
    return dataclasses.replace(
        found,
        groups=tuple(found.groups[i][1:] for i in places),
        numbers={name: column[places] for name, column in found.numbers.items()},
        histograms={name: table[places] for name, table in found.histograms.items()},
    )


@pytest.mark.parametrize("unit", UNITS, ids=str)
def test_one_unit_moves_no_column_further_than_declared(spark, unit, monkeypatch):
    monkeypatch.setitem(FACTS, "w", dp.keys(WORLDS))
    holding = Holding(kind="spark", place=spark)
    plan, found = cells(holding, unit, asked_in_all_worlds(unit), rows_of(unit))
    reached = 0
    for pair in range(PAIRS):
        before, after = world(found, 2 * pair), world(found, 2 * pair + 1)
        for tally, l1, l2_squared, linf in moved(plan, before, after):
            assert l1 <= tally.moves.l1, (pair, tally)
            assert l2_squared <= tally.moves.l2_squared, (pair, tally)
            assert linf <= tally.moves.linf, (pair, tally)
            reached += l1 > 0
    assert reached > PAIRS  # else nothing moved, and nothing was tested


@pytest.mark.parametrize("relation", list(Relation), ids=str)
def test_nor_with_private_keys(spark, relation):
    unit = dp.person("u", rows=3, groups=2, relation=relation)
    draw = random.Random(7)
    others = [person(draw, None) for _ in range(3)]
    one, another = ([row(draw) for _ in range(5)] for _ in range(2))
    odd = [ODD[0] | {"h": "p"}, ODD[1] | {"h": ""}, ODD[3] | {"h": None}]
    holding = Holding(kind="spark", place=spark)
    check(holding, plain_count(unit, keys="private"), others, [*one, *odd], another)


def test_a_unit_that_moves_more_would_be_seen(spark):
    """Five rows of one unit where one is allowed: the same comparison finds it."""
    unit, question = plain_count(dp.rows())
    rows = [{"g": "a", "h": "p", "x": 10.0, "y": 9, "z": 0.0}] * 5
    holding = Holding(kind="spark", place=spark)
    plan, full = cells(holding, unit, question, rows)
    _, empty = cells(holding, unit, question, [])
    assert any(l1 > tally.moves.l1 for tally, l1, _, _ in moved(plan, full, empty))
