"""Hostile tables give the same whole numbers on every engine, and those that Python finds."""

import math

import pytest

import deniable as dp
from deniable.query.algebra import (
    Aggregate,
    Filter,
    Function,
    Join,
    Key,
    PerPerson,
    Question,
    Summary,
    Summed,
    call,
    literal,
)
from deniable.query.integers import WEIGHT

from .holding import Holding, cells_of, scan_of

FACTS = {
    "u": dp.column("float"),
    "g": dp.keys(["", "a", "it's", "é"]),
    "b": dp.column("int"),
    "x": dp.bounds(-1.0, 8.0),
    "n": dp.bounds(0, 2**40, type="int"),
}
VALUES = (None, math.nan, math.inf, -math.inf, -0.0, 0.0, 0.1, 7.999999, 8.0, -1.0, 1e-320, 1e308)
KEYS = ("", "a", "it's", "é", None, "A", " a")
PEOPLE = (1.0, 2.0, 2.0, 2.0, None, math.nan, 3.5, -0.0, 0.0, math.inf)
NUMBERS = (None, 0, 1, 2**40, 2**63 - 1, -(2**63))

ROWS = [
    {
        "u": PEOPLE[i % len(PEOPLE)],
        "g": KEYS[i % len(KEYS)],
        "b": None if i % 11 == 0 else i % 3,
        "x": VALUES[i % len(VALUES)],
        "n": NUMBERS[i % len(NUMBERS)],
    }
    for i in range(400)
]
ASKED = {"count", "avg", "var_pop", "quantile", "persons", "corr"}
UNITS = [
    dp.rows(),
    dp.person("u", rows=2, groups=2),
    dp.person("u", rows=1000, groups=9),
]


def asked(scan, unit, *, sets=((0,),), private=False, where=None):
    column = {c.name: c for c in scan.columns}
    keys = (
        Key(name="g", expression=column["g"], values=("", "a", "it's", "é")),
        Key(name="b", expression=column["b"], values=None if private else (0, 1, 2)),
    )
    functions = [f for f in Function if f in ASKED]
    aggregates = [
        Aggregate(
            name=f"{function}_{name}",
            function=function,
            argument=None if function is Function.PERSONS else column[name],
            other=column["n"] if function is Function.CORR else None,
            where=where,
            q=0.5 if function is Function.QUANTILE else None,
        )
        for name in ("x", "n")
        for function in functions
    ]
    return Question(
        unit=unit, relation=scan, keys=keys, grouping_sets=sets, aggregates=tuple(aggregates)
    )


def plain(found):
    numbers = {name: list(column) for name, column in found.numbers.items()}
    return found.groups, numbers, {n: h.tolist() for n, h in found.histograms.items()}


SETS = [((0,),), ((0, 1), (0,), ()), ((),)]


@pytest.mark.parametrize("unit", UNITS, ids=str)
@pytest.mark.parametrize("sets", SETS, ids=str)
def test_postgres_finds_the_same_whole_numbers(postgres, unit, sets):
    compare(Holding(kind="postgres", place=postgres), unit, sets)


@pytest.mark.parametrize(("unit", "sets"), list(zip(UNITS, SETS[1:] * 2, strict=False)), ids=str)
def test_spark_finds_the_same_whole_numbers(spark, unit, sets):
    compare(Holding(kind="spark", place=spark), unit, sets)


def compare(holding, unit, sets):
    answers = []
    for place in (Holding(kind="duckdb"), holding):
        table = place.table("data", ROWS, FACTS)
        question = asked(scan_of(table, unit.column), unit, sets=sets)
        persons_are_hashed = unit.column is not None and sets != ((),)
        plan, found = cells_of(question, [table], bins=16)
        groups, numbers, histograms = plain(found)
        if persons_are_hashed:  # which groups a person keeps is drawn anew each time
            numbers = {n: c for n, c in numbers.items() if not _persons(plan, n)}
        answers.append((groups, numbers, histograms))
    assert answers[0] == answers[1]


def _persons(plan, name):
    known = {tally.name: tally.measure for tally in (*plan.tallies, *filter(None, [plan.hidden]))}
    return known[name] == "persons"


def test_weighted_counts_and_sums_are_what_python_finds(holding):
    unit = dp.person("u", rows=2, groups=2)
    table = holding.table("data", ROWS, FACTS)
    plan, found = cells_of(asked(scan_of(table, "u"), unit), [table], bins=16)
    rows = [(r, _person(r)) for r in ROWS if r["g"] in FACTS["g"].keys and _person(r) is not None]
    each = {}
    for _, person in rows:
        each[person] = each.get(person, 0) + 1
    parts = plan.parts["avg_x"]
    count, total = dict.fromkeys(FACTS["g"].keys, 0), dict.fromkeys(FACTS["g"].keys, 0)
    for row, person in rows:
        x = row["x"]
        if x is None or math.isnan(x):
            continue
        weight = min(WEIGHT, 2 * WEIGHT // each[person])
        x = max(-1.0, min(8.0, x))
        point = math.floor((x - parts.sum.centre) * 2.0**-parts.sum.lattice.exponent + 0.5)
        count[row["g"]] += weight
        total[row["g"]] += weight * point
    assert found.groups == tuple((g, None) for g in FACTS["g"].keys)
    assert list(found.numbers[parts.count.name]) == list(count.values())
    assert list(found.numbers[parts.sum.name]) == list(total.values())


def _person(row):
    """Of floats from 2⁵³ on several whole numbers are one: they name nobody."""
    u = row["u"]
    return None if u is None or not abs(u) < 2**53 else u + 0.0


def test_sums_wider_than_64_bits_are_exact(holding):
    facts = {"u": dp.column("int"), "n": dp.bounds(0, 2**40, type="int")}
    table = holding.table("data", [{"u": i, "n": 2**41} for i in range(5000)], facts)
    scan = scan_of(table, "u")
    total = Aggregate(name="s", function=Function.SUM, argument=scan.columns[0])
    question = Question(unit=dp.person("u", rows=1), relation=scan, aggregates=(total,))
    plan, found = cells_of(question, [table])
    assert found.numbers[plan.tallies[0].name][0] == 5000 * 2**40 * WEIGHT > 2**63


def test_joins_and_summaries_of_a_person_agree(holding):
    """A private table beside a public one with doubled keys, and each person's own total."""
    visits = holding.table(
        "visits",
        [{"u": i % 4, "place": i % 3, "cost": i} for i in range(40)] + [{"u": None, "place": 1}],
        {"u": dp.column("int"), "place": dp.column("int"), "cost": dp.bounds(0, 30, type="int")},
    )
    towns = holding.table(
        "towns",
        [{"id": 0, "town": "x"}, {"id": 0, "town": "w"}, {"id": 1, "town": "y"}, {"id": None}],
        {"id": dp.column("int"), "town": dp.column("text")},
    )
    left, right = scan_of(visits, "u"), scan_of(towns)
    place = next(c for c in left.columns if c.name == "place")
    joined = Join(left=left, right=right, on=((place, right.columns[0]),), unique=True)
    unit = dp.person("u", rows=100)
    column = {c.name: c for c in joined.columns}
    counted = Question(
        unit=unit,
        relation=joined,
        keys=(Key(name="town", expression=column["town"], values=("w", "x", "y")),),
        grouping_sets=((0,),),
        aggregates=(Aggregate(name="n", function=Function.COUNT),),
    )
    plan, found = cells_of(counted, [visits, towns])
    wanted = [sum(1 for i in range(40) if i % 3 == p) * WEIGHT for p in (0, 1)]
    assert list(found.numbers[plan.tallies[0].name]) == [wanted[0], 0, wanted[1]]

    own = PerPerson(
        source=Filter(source=left, where=call("gt", column["cost"], literal(3))),
        summaries=(Summed(name="total", summary=Summary.SUM, argument=column["cost"]),),
    )
    spent = call("clip", own.columns[0], literal(0.0), literal(500.0))
    asked_of_all = Question(
        unit=dp.person("u", rows=1),
        relation=own,
        aggregates=(Aggregate(name="s", function=Function.SUM, argument=spent),),
    )
    plan, found = cells_of(asked_of_all, [visits])
    wanted = [sum(min(i, 30) for i in range(40) if i % 4 == u and i > 3) for u in range(4)]
    value = found.numbers[plan.tallies[0].name][0] * plan.tallies[0].unit
    assert value == sum(min(w, 500) for w in wanted)
