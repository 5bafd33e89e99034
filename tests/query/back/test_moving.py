"""The heart of soundness: one unit never moves a column of cells further than the plan declares.

Tables and questions are made up; the engine really adds up, with noise left out; a unit is added,
removed or replaced, and what moved is held against the declared bounds, in all three norms.
"""

import math

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import deniable as dp
from deniable.query import execute as running
from deniable.query.aggregates import FAMILIES
from deniable.query.algebra import (
    Aggregate,
    Filter,
    Function,
    Key,
    Question,
    call,
    literal,
)
from deniable.query.backends import engine_for
from deniable.query.execute import compiled_for
from deniable.query.integers import in_integers
from deniable.units import Relation

from .holding import Holding, scan_of

FACTS = {
    "u": dp.column("int"),
    "g": dp.keys(["a", "b", "c"]),
    "h": dp.column("text"),
    "x": dp.bounds(-3.0, 10.0),
    "y": dp.bounds(5, 9, type="int", missing=7),
    "z": dp.column("float"),
}
FLOATS = st.sampled_from([None, math.nan, math.inf, -math.inf, -0.0, 0.0, 9.99, -3.0, 1e300, 0.3])
ROW = st.fixed_dictionaries(
    {
        "g": st.sampled_from([None, "a", "b", "c", "A", ""]),
        "h": st.sampled_from([None, "", "p", "q", "r", "s"]),
        "x": FLOATS,
        "y": st.sampled_from([None, 0, 5, 9, 2**62]),
        "z": FLOATS,
    }
)
PERSON = st.lists(ROW, max_size=7)


@st.composite
def questions(draw):
    """A unit, what to group by, what to ask of whom; a function from a scan to the question."""
    relation = draw(st.sampled_from(list(Relation)))
    unit = draw(
        st.one_of(
            st.just(dp.rows(relation=relation)),
            st.builds(
                lambda rows, groups: dp.person("u", rows=rows, groups=groups, relation=relation),
                st.integers(1, 4),
                st.integers(1, 2),
            ),
        )
    )
    grouped = draw(st.sampled_from(["none", "public", "private", "both", "rollup"]))
    asked = draw(st.lists(st.sampled_from(list(Function)), min_size=1, max_size=4))
    of = draw(st.sampled_from(["x", "y", "x * 2"]))
    filtered, kept = draw(st.booleans()), draw(st.booleans())

    def question(scan):
        column = {c.name: c for c in scan.columns}
        value = column[of[0]] if "*" not in of else call("multiply", column["x"], literal(2))
        positive = call("gt", column["x"], literal(0.0))
        aggregates = []
        for i, function in enumerate(asked):
            none = function in (Function.COUNT, Function.PERSONS)
            aggregates.append(
                Aggregate(
                    name=f"a{i}",
                    function=function,
                    argument=None if none else value,
                    other=column["y"] if FAMILIES[function].pair else None,
                    where=positive if kept and i % 2 == 0 else None,
                    q=0.5 if function is Function.QUANTILE else None,
                )
            )
        keys, sets = _keys(grouped, column)
        where = call("ne", column["h"], literal("s"))
        return Question(
            unit=unit,
            relation=Filter(source=scan, where=where) if filtered else scan,
            keys=keys,
            grouping_sets=sets,
            aggregates=tuple(aggregates),
        )

    return unit, question


def _keys(grouped, column):
    public = Key(name="g", expression=column["g"], values=("a", "b", "c"))
    private = Key(name="h", expression=column["h"], values=None)
    match grouped:
        case "none":
            return (), ((),)
        case "public":
            return (public,), ((0,),)
        case "private":
            return (private,), ((0,),)
        case "both":
            return (public, private), ((0, 1),)
    return (public, private), ((0, 1), (0,), ())


def cells(holding, unit, question, rows, *, secret="secret"):
    """What the engine finds, with the same key for the hash every time."""
    table = holding.table("data", rows, FACTS)
    person = unit.column
    plan = in_integers(question(scan_of(table, person)), bins=8)
    with engine_for([table])([table]) as engine:
        asked = compiled_for(plan, engine, secret=secret)
        found = engine.run([each.text for each in asked])
    return plan, running._cells(plan, list(zip(asked, found, strict=True)))


def moved(plan, before, after):
    """How far each tally moved: L1, square of L2, L∞."""
    tallies = [*plan.tallies, *([plan.selection] if plan.selection else [])]
    for tally in tallies:
        first, second = (_flat(tally, c) for c in (before, after))
        changes = [abs(first.get(k, 0) - second.get(k, 0)) for k in first.keys() | second.keys()]
        yield tally, sum(changes), sum(c * c for c in changes), max(changes, default=0)


def _flat(tally, found):
    if tally.name in found.histograms:
        table = found.histograms[tally.name]
        return {
            (g, b): int(n)
            for g, row in zip(found.groups, table, strict=True)
            for b, n in enumerate(row)
        }
    return dict(zip(found.groups, found.numbers[tally.name], strict=True))


def neighbours(unit, others, one, another):
    """The same rows of others, with and without one unit, or with another in its place."""
    if unit.column is None:
        flat = [row for person in others for row in person]
        first, second = one[:1] or [{}], another[:1] or [{}]
        replaced = unit.relation is Relation.REPLACE
        return [*flat, *first], [*flat, *(second if replaced else [])]
    rest = [row | {"u": i} for i, person in enumerate(others) for row in person]
    rest += [row | {"u": None} for row in one[:2]]
    mine = [row | {"u": 99} for row in one]
    yours = [row | {"u": 99} for row in another] if unit.relation is Relation.REPLACE else []
    return rest + mine, rest + yours


def check(holding, asked, others, one, another):
    unit, question = asked
    before, after = neighbours(unit, others, one, another)
    plan, first = cells(holding, unit, question, before)
    _, second = cells(holding, unit, question, after)
    for tally, l1, l2_squared, linf in moved(plan, first, second):
        assert l1 <= tally.moves.l1, tally
        assert l2_squared <= tally.moves.l2_squared, tally
        assert linf <= tally.moves.linf, tally


@settings(max_examples=60, suppress_health_check=list(HealthCheck))
@given(questions(), st.lists(PERSON, max_size=3), PERSON, PERSON)
def test_one_unit_moves_no_column_further_than_declared(asked, others, one, another):
    check(Holding(kind="duckdb"), asked, others, one, another)


@pytest.mark.slow
@settings(max_examples=25, suppress_health_check=list(HealthCheck))
@given(questions(), st.lists(PERSON, max_size=3), PERSON, PERSON)
def test_nor_on_postgres(postgres, asked, others, one, another):
    check(Holding(kind="postgres", place=postgres), asked, others, one, another)


def plain_count(unit, *, keys="public"):
    def question(scan):
        column = {c.name: c for c in scan.columns}
        chosen, sets = _keys(keys, column)
        return Question(
            unit=unit,
            relation=scan,
            keys=chosen,
            grouping_sets=sets,
            aggregates=(
                Aggregate(name="n", function=Function.COUNT),
                Aggregate(name="s", function=Function.SUM, argument=column["x"]),
            ),
        )

    return unit, question


ROWS = {"g": "a", "h": "p", "x": 10.0, "y": 9, "z": 0.0}


def test_a_person_with_a_hundred_thousand_rows_moves_no_more_than_one_with_few():
    unit, question = plain_count(dp.person("u", rows=3))
    holding = Holding(kind="duckdb")
    crowd = [ROWS | {"u": 1}] * 100_000
    plan, found = cells(holding, unit, question, crowd)
    count, total = (found.numbers[t.name][0] for t in plan.tallies)
    assert count == 100_000 * (3 * 2**20 // 100_000) <= plan.tallies[0].moves.l1
    assert total <= plan.tallies[1].moves.l1


def test_the_bounds_are_reached():
    """Bounds that nothing reaches would be noise for nothing, and a test that cannot fail."""
    unit, question = plain_count(dp.person("u", rows=3))
    plan, found = cells(Holding(kind="duckdb"), unit, question, [ROWS | {"u": 1}] * 3)
    assert [found.numbers[t.name][0] for t in plan.tallies] == [t.moves.l1 for t in plan.tallies]


def test_without_weights_the_check_would_fail():
    """The same check on rows that are not weighted: a person with five rows is caught."""
    unit, question = plain_count(dp.rows())
    plan, found = cells(Holding(kind="duckdb"), unit, question, [ROWS] * 5)
    assert found.numbers[plan.tallies[0].name][0] > plan.tallies[0].moves.l1


def test_private_keys_show_a_person_in_no_more_groups_than_the_limit():
    unit, question = plain_count(dp.person("u", rows=9, groups=2), keys="private")
    rows = [ROWS | {"u": 1, "h": h} for h in "abcdefgh"]
    plan, found = cells(Holding(kind="duckdb"), unit, question, rows)
    assert list(found.numbers["selection"]) == [1, 1]
    assert sum(found.numbers[plan.tallies[0].name]) == 2 * 2**20


def test_which_groups_a_person_keeps_depends_on_the_key_of_the_hash():
    unit, question = plain_count(dp.person("u", rows=9, groups=1), keys="private")
    rows = [ROWS | {"u": 1, "h": h} for h in "abcdefgh"]
    kept = {
        cells(Holding(kind="duckdb"), unit, question, rows, secret=f"{i}")[1].groups
        for i in range(8)
    }
    assert len(kept) > 1


def test_rows_without_a_person_do_not_count():
    unit, question = plain_count(dp.person("u", rows=3))
    plan, found = cells(Holding(kind="duckdb"), unit, question, [ROWS | {"u": None}] * 4)
    assert not any(found.numbers[t.name].any() for t in plan.tallies)


def test_known_keys_come_back_even_when_nobody_has_them():
    unit, question = plain_count(dp.rows())
    _, found = cells(Holding(kind="duckdb"), unit, question, [ROWS | {"g": "nowhere"}])
    assert found.groups == (("a",), ("b",), ("c",))
