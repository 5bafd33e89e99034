"""Statements of every shape find the whole numbers that Python finds, row by row."""

import collections
import itertools

import pytest
import sqlglot
from sqlglot import exp
from tests.query.back.holding import Holding, cells_of, scan_of

import deniable as dp
from deniable.query.algebra import Aggregate, Function, Key, Question, call, literal
from deniable.query.compile import nodes as sql
from deniable.query.compile.duckdb import DuckDB
from deniable.query.compile.relations import Stored
from deniable.query.compile.statements import statements
from deniable.query.integers import WEIGHT, in_integers

FACTS = {
    "u": dp.column("text"),
    "k": dp.column("text"),
    "j": dp.bounds(0, 9, type="int", missing="drop"),
    "x": dp.bounds(-5, 9, type="int", missing="drop"),
}
# Nobody is in more than two groups of (k, j), or has more than four different values.
ROWS = [
    ("ann", "a", 0, 5), ("ann", "a", 0, -9), ("ann", "a", 0, None), ("ann", "b", 1, 7),
    ("ann", "b", 1, 5), ("bob", "a", 1, 3), ("cat", "b", 0, 99), ("cat", "b", 0, 1),
    ("cat", "b", 0, 1), ("cat", "b", 0, 2), ("dan", "c", 0, 4), ("dan", "a", 0, 4),
    ("eve", None, 1, 2), ("eve", "a", 1, 2), (None, "a", 0, 6), ("fay", "b", 7, 3),
    ("fay", "b", 1, None), ("gus", "a", 0, 2), ("gus", "a", 0, 2), ("gus", "a", 0, 3),
    ("gus", "a", 0, 3), ("gus", "a", 0, 4), ("gus", "a", 0, 4), ("gus", "a", 0, 5),
    ("hal", "c", 9, 1),
]  # fmt: skip
HELD = Holding(kind="duckdb").table(
    "t", [dict(zip("ukjx", row, strict=True)) for row in ROWS], FACTS
)
UNITS = {
    "rows": dp.rows(),
    "person": dp.person("u", rows=4, groups=2),
    "much": dp.person("u", rows=9, groups=2),
}
SETS = [((),), ((0,),), ((0, 1),), ((0,), ()), ((0, 1), (1,))]
VALUES = {"k": ("a", "b"), "j": (0, 1)}


def question(unit, sets, *, private=False, only=None):
    scan = scan_of(HELD, None if unit.column is None else "u")
    column = {c.name: c for c in scan.columns}
    more = call("gt", column["x"], literal(2))
    functions = {
        "all": (Function.COUNT, None, None),
        "known": (Function.COUNT, column["x"], None),
        "sum": (Function.SUM, column["x"], None),
        "more": (Function.COUNT, None, more),
        "more_sum": (Function.SUM, column["x"], more),
        "values": (Function.DISTINCT, column["x"], None),
        "persons": (Function.PERSONS, None, None),
        "more_persons": (Function.PERSONS, None, more),
    }
    wanted = [n for n in functions if n in (only or functions)]
    wanted = [n for n in wanted if unit.column is not None or "persons" not in n]
    aggregates = tuple(
        Aggregate(name=n, function=functions[n][0], argument=functions[n][1], where=functions[n][2])
        for n in wanted
    )
    keys = tuple(
        Key(name=n, expression=column[n], values=None if private else VALUES[n]) for n in "kj"
    )
    given = {"keys": keys, "grouping_sets": sets}
    return Question(unit=unit, relation=scan, aggregates=aggregates, **given)


def held_in(row, chosen, *, private):
    values = dict(zip("ukjx", row, strict=True))
    names = ["kj"[i] for i in chosen]
    return all(values[n] is not None and (private or values[n] in VALUES[n]) for n in names)


def counted(row, name):
    """What a row adds to a tally; None where it does not count."""
    x = None if row[3] is None else min(max(row[3], -5), 9)
    if name.startswith("more") and (x is None or x <= 2):
        return None
    if name in ("known", "sum", "more_sum", "values") and x is None:
        return None
    return x if name in ("sum", "more_sum", "values") else 1


def expected(unit, sets, name, *, centre=0, private=False):
    """Cells by (set, keys), in units of one weight."""
    rows = [row for row in ROWS if any(held_in(row, s, private=private) for s in sets)]
    if unit.column is not None:
        rows = [row for row in rows if row[0] is not None]
    per = collections.Counter(row[0] for row in rows)
    found = collections.defaultdict(list)
    for chosen, row in itertools.product(sets, rows):
        if held_in(row, chosen, private=private) and counted(row, name) is not None:
            place = tuple(row[1 + i] if i in chosen else None for i in (0, 1))
            weight = 1
            if unit.column is not None:
                weight = min(WEIGHT, unit.rows * WEIGHT // per[row[0]])
            added = counted(row, name) - (int(centre) if "sum" in name else 0)
            found[place].append((row[0], added, weight))
    if "persons" in name:
        return {place: len({who for who, _, _ in added}) for place, added in found.items()}
    if name == "values":
        return {place: len({value for _, value, _ in added}) for place, added in found.items()}
    return {place: sum(v * w for _, v, w in added) for place, added in found.items()}


def numbers(plan, cells, name):
    return dict(zip(cells.groups, cells.numbers[tally(plan, name).name], strict=True))


def tally(plan, name):
    part = plan.parts[name]
    return part.sum if "sum" in name else part.count


@pytest.mark.parametrize("sets", SETS, ids=str)
@pytest.mark.parametrize("who", UNITS)
def test_public_groups_have_the_numbers_that_python_finds(who, sets):
    unit = UNITS[who]
    plan, cells = cells_of(question(unit, sets), [HELD])
    assert list(cells.groups) == list(plan.public_groups())
    for name in plan.parts:
        wanted = expected(unit, sets, name, centre=tally(plan, name).centre)
        assert numbers(plan, cells, name) == {g: wanted.get(g, 0) for g in cells.groups}, name


@pytest.mark.parametrize("sets", [((0,),), ((0, 1),)], ids=str)
@pytest.mark.parametrize("who", ["person", "much"])
def test_private_groups_have_them_too_and_the_persons_to_choose_by(who, sets):
    unit = UNITS[who]
    plan, cells = cells_of(question(unit, sets, private=True), [HELD])
    persons = expected(unit, sets, "persons", private=True)
    assert set(cells.groups) == set(persons)
    chosen = dict(zip(cells.groups, cells.numbers[plan.selection.name], strict=True))
    assert chosen == persons
    for name in plan.parts:
        centre = tally(plan, name).centre
        wanted = expected(unit, sets, name, centre=centre, private=True)
        assert numbers(plan, cells, name) == {g: wanted.get(g, 0) for g in cells.groups}, name


@pytest.mark.parametrize("private", [False, True])
@pytest.mark.parametrize("groups", [1, 3, 8])
def test_a_person_is_kept_in_at_most_so_many_groups(groups, private):
    rows = [{"u": "ann", "k": "a", "j": j, "x": 1} for j in range(8) for _ in range(2)]
    table = Holding(kind="duckdb").table("t", rows, FACTS)
    scan = scan_of(table, "u")
    column = {c.name: c for c in scan.columns}
    key = Key(name="j", expression=column["j"], values=None if private else tuple(range(8)))
    persons = Aggregate(name="n", function=Function.PERSONS)
    asked = Question(
        unit=dp.person("u", rows=99, groups=groups), relation=scan, keys=(key,),
        grouping_sets=((0,),), aggregates=(persons,),
    )  # fmt: skip
    plan, cells = cells_of(asked, [table])
    assert sorted(numbers(plan, cells, "n").values())[-groups:] == [1] * groups
    assert sum(numbers(plan, cells, "n").values()) == groups


@pytest.mark.parametrize("most", [1, 5, 20])
def test_a_person_brings_at_most_so_many_values(most):
    rows = [{"u": "ann", "k": "a", "j": 0, "x": x} for x in range(-5, 10)] * 2
    table = Holding(kind="duckdb").table("t", rows, FACTS)
    scan = scan_of(table, "u")
    x = next(c for c in scan.columns if c.name == "x")
    values = Aggregate(name="v", function=Function.DISTINCT, argument=x)
    asked = Question(unit=dp.person("u", rows=most), relation=scan, aggregates=(values,))
    plan, cells = cells_of(asked, [table])
    assert numbers(plan, cells, "v") == {(): min(most, 15)}


@pytest.mark.parametrize("sets", SETS, ids=str)
@pytest.mark.parametrize("who", UNITS)
def test_rows_that_a_statement_reads_twice_are_stored_once(who, sets):
    """Else a view that samples, or a file that is replaced, could be weighed and summed apart."""
    plan = in_integers(question(UNITS[who], sets))
    types = {"u": "VARCHAR", "k": "VARCHAR", "j": "BIGINT", "x": "BIGINT"}
    tables = {"t": Stored(source=sql.table("t"), types=types)}
    for each in statements(plan, dialect=DuckDB(), tables=tables, secret="s"):
        tree = sqlglot.parse_one(each.text, dialect="duckdb")
        read = collections.Counter(table.name for table in tree.find_all(exp.Table))
        for part in tree.find_all(exp.CTE):
            below = {table.name for table in part.this.find_all(exp.Table)}
            if read[part.alias] > 1 and below <= {"base", "t"}:
                assert part.args["materialized"] is True, part.alias
