"""How far one unit moves a tally, against every contribution it can make; and which groups."""

import itertools
from fractions import Fraction

import pytest

import deniable as dp
from deniable.errors import MissingUnit, UnsupportedQuery
from deniable.query.aggregates import Measure
from deniable.query.algebra import (
    Aggregate,
    Filter,
    Function,
    Join,
    JoinKind,
    Key,
    PerPerson,
    Project,
    Question,
    Read,
    Scan,
    Union,
    call,
    literal,
)
from deniable.query.integers import (
    LEAST_BINS,
    MOST_BINS,
    MOST_ROWS,
    WEIGHT,
    in_integers,
    within_set,
)

LOW, HIGH = -3, 5
SEX = Read(name="sex", source="sex", facts=dp.keys(["f", "m"]))
SURE = Read(name="x", source="x", facts=dp.bounds(LOW, HIGH, type="int", missing=0))
NULLABLE = Read(name="x", source="x", facts=dp.bounds(LOW, HIGH, type="int", missing="drop"))
ID = Read(name="u", source="u")
SIDES = ["add_remove", "replace"]
MALE = call("eq", SEX.column, literal("m"))
BY_SEX = Key(name="sex", expression=SEX.column, values=("f", "m"))
SECRET = Key(name="code", expression=SURE.column, values=None)
BY_CODE = Key(name="code", expression=SURE.column, values=tuple(range(LOW, HIGH + 1)))


def asked(function, *, unit, relation, argument=None, keys=(), sets=None, where=None, **given):
    aggregate = Aggregate(name="a", function=function, argument=argument, where=where, **given)
    sets = (tuple(range(len(keys))),) if sets is None else sets
    given = {"unit": unit, "relation": relation, "keys": keys, "grouping_sets": sets}
    return Question(aggregates=(aggregate,), **given)


def contributions(*, values, may_miss, keyed):
    """What one row may add to the cells f and m (or to the only one); nothing where it is out."""
    cells = [(1, 0), (0, 1)] if keyed else [(1,)]
    found = {tuple(v * c for c in cell) for v in values for cell in cells}
    return found | ({(0,) * len(cells[0])} if may_miss else set())


def farthest(points, others):
    """The largest L1, squared L2 and L∞ distances."""
    gaps = [[abs(a - b) for a, b in zip(p, q, strict=True)] for p in points for q in others]
    return tuple(max(map(norm, gaps)) for norm in (sum, lambda g: sum(x * x for x in g), max))


@pytest.mark.parametrize("ends", [None, (LOW, HIGH), (2, HIGH), (-7, -2)])
@pytest.mark.parametrize(
    ("side", "nullable", "where", "filtered", "broken", "keyed"),
    [*itertools.product(SIDES, *[[False, True]] * 5)],
)
def test_no_row_moves_a_tally_farther_and_some_row_as_far(
    ends, side, nullable, where, filtered, broken, keyed
):
    """A count (no ends) and sums, also of values that are all above or all below 0."""
    low, high = ends or (LOW, HIGH)
    facts = dp.bounds(low, high, type="int", missing="drop" if nullable else low)
    read = Read(name="x", source="x", facts=facts)
    relation = Scan(table="t", reads=(read, SEX), complete=not broken)
    relation = Filter(source=relation, where=MALE) if filtered else relation
    plan = in_integers(
        asked(
            Function.SUM if ends else Function.COUNT,
            unit=dp.rows(relation=side),
            relation=relation,
            argument=read.column,
            keys=(BY_SEX,) if keyed else (),
            where=call("gt", SEX.column, literal("f")) if where else None,
        )
    )
    (tally,) = plan.tallies
    values, may_miss = ends or [1], nullable or where or filtered or broken
    points = contributions(values=values, may_miss=may_miss, keyed=keyed)
    nothing = {(0,) * (2 if keyed else 1)}
    found = farthest(points, points if side == "replace" else nothing)
    assert (tally.moves.l1, tally.moves.l2_squared, tally.moves.linf) == found
    assert (plan.weight, plan.rows, plan.groups, tally.unit) == (1, 1, 1, 1)


@pytest.mark.parametrize("side", SIDES)
@pytest.mark.parametrize("sets", [((0,), ()), ((0,), (1,), (0, 1), ())])
def test_every_grouping_set_is_moved_and_a_set_alone_less(side, sets):
    unit = dp.rows(relation=side)
    relation = Scan(table="t", reads=(SURE, SEX))
    plan = in_integers(
        asked(Function.COUNT, unit=unit, relation=relation, keys=(BY_SEX, BY_CODE), sets=sets)
    )
    both = unit.sides
    (tally,) = plan.tallies
    assert (tally.moves.l1, tally.moves.l2_squared) == (both * len(sets), both * len(sets))
    (alone,) = within_set(plan, (0,)).tallies
    assert (alone.moves.l1, alone.moves.l2_squared, alone.moves.linf) == (both, both, 1)
    (total,) = within_set(plan, ()).tallies
    assert total.moves.l1 == (0 if side == "replace" else 1)
    assert (
        plan.cells
        == len(list(plan.public_groups()))
        == sum((2 if 0 in s else 1) * (9 if 1 in s else 1) for s in sets)
    )


@pytest.mark.parametrize("side", SIDES)
@pytest.mark.parametrize("rows", [1, 7])
@pytest.mark.parametrize("groups", [None, 3])
@pytest.mark.parametrize("keyed", [False, True])
def test_people_move_weighted_tallies_by_all_their_rows_and_persons_by_their_groups(
    side, rows, groups, keyed
):
    unit = dp.person("u", rows=rows, groups=groups, relation=side)
    relation = Scan(table="t", reads=(SURE, SEX), id=ID)
    keys = (BY_SEX,) if keyed else ()
    given = {"unit": unit, "relation": relation, "keys": keys}
    plan = in_integers(asked(Function.COUNT, **given))
    (tally,) = plan.tallies
    assert (plan.weight, plan.rows, plan.groups) == (WEIGHT, rows, groups or rows)
    assert tally.unit == Fraction(1, WEIGHT)
    both = unit.sides if keyed else 1
    assert tally.moves.l1 == both * rows * WEIGHT
    assert tally.moves.l2_squared == both * (rows * WEIGHT) ** 2
    (persons,) = in_integers(asked(Function.PERSONS, **given)).tallies
    many = both * ((groups or rows) if keyed else 1)
    assert (persons.moves.l1, persons.moves.l2_squared, persons.moves.linf) == (many, many, 1)
    assert persons.unit == 1
    (distinct,) = in_integers(asked(Function.DISTINCT, argument=SURE.column, **given)).tallies
    assert (distinct.moves.l1, distinct.unit) == (both * rows, 1)


def test_persons_are_moved_once_per_set_and_in_the_set_without_keys_once():
    unit = dp.person("u", rows=7, groups=3)
    relation = Scan(table="t", reads=(SURE, SEX), id=ID)
    given = {"unit": unit, "relation": relation, "keys": (BY_SEX,), "sets": ((0,), ())}
    plan = in_integers(asked(Function.PERSONS, **given))
    assert plan.tallies[0].moves.l1 == 4
    assert within_set(plan, (0,)).tallies[0].moves.l1 == 3
    assert within_set(plan, ()).tallies[0].moves.l1 == 1


def test_nobody_has_more_rows_than_weights_can_count():
    relation = Scan(table="t", reads=(SURE,), id=ID)
    unit = dp.person("u", rows=2**60)
    assert in_integers(asked(Function.COUNT, unit=unit, relation=relation)).rows == MOST_ROWS


@pytest.mark.parametrize("nullable", [False, True])
@pytest.mark.parametrize("other", [False, True])
@pytest.mark.parametrize("where", [False, True])
@pytest.mark.parametrize("keyed", [False, True])
@pytest.mark.parametrize("side", SIDES)
@pytest.mark.parametrize("who", ["row", "person"])
def test_a_stated_size_counts_rows_only_where_every_row_is_counted(
    nullable, other, where, keyed, side, who
):
    """COUNT(*) = size needs one group, no filter, nothing missing, and rows that are replaced."""
    read = NULLABLE if nullable else SURE
    unit = dp.rows(relation=side) if who == "row" else dp.person("u", rows=1, relation=side)
    relation = Scan(table="t", reads=(read, SEX), size=77, id=None if who == "row" else ID)
    question = asked(
        Function.COVAR_POP if other else Function.COUNT,
        unit=unit,
        relation=relation,
        argument=SURE.column if other else read.column,
        keys=(BY_SEX,) if keyed else (),
        where=MALE if where else None,
        **({"other": read.column} if other else {}),
    )
    (part,) = in_integers(question).parts.values()
    exact = side == "replace" and who == "row" and not (nullable or where or keyed)
    assert part.rows == (77 if exact else None)


@pytest.mark.parametrize("kind", JoinKind)
@pytest.mark.parametrize("unique", [False, True])
def test_only_a_left_join_with_unique_rows_keeps_every_row_once(kind, unique):
    left = Scan(table="t", reads=(SURE, SEX), size=77)
    town = Scan(
        table="towns", reads=(Read(name="s", source="s", facts=dp.keys(["f"])),), public=True
    )
    on = ((SEX.column, town.reads[0].column),)
    joined = Join(left=left, right=town, on=on, kind=kind, unique=unique)
    relation = Project(source=joined, named=(("sex", SEX.column),))
    question = asked(Function.COUNT, unit=dp.rows(relation="replace"), relation=relation)
    if not unique:
        with pytest.raises(UnsupportedQuery):
            in_integers(question)
        return
    (part,) = in_integers(question).parts.values()
    assert part.rows == (77 if kind is JoinKind.LEFT else None)


def test_where_rows_are_units_several_rows_are_never_one_nor_one_several():
    rows = Scan(table="t", reads=(SURE, SEX))
    mine = Scan(table="t", reads=(SURE, SEX), id=ID)
    public = Scan(table="p", reads=(SURE, SEX), public=True)
    twice, summed = Union(left=rows, right=rows), PerPerson(source=rows)
    for relation in (twice, summed, Filter(source=twice, where=MALE)):
        with pytest.raises(UnsupportedQuery, match="every row is a unit"):
            in_integers(asked(Function.COUNT, unit=dp.rows(), relation=relation))
    joined = Join(
        left=rows,
        right=Union(left=public, right=public),
        on=((SEX.column, SEX.column),),
        unique=True,
    )
    in_integers(asked(Function.COUNT, unit=dp.rows(), relation=joined))
    unit = dp.person("u", rows=2)
    in_integers(asked(Function.COUNT, unit=unit, relation=Union(left=mine, right=mine)))
    for whose, relation in ((unit, rows), (dp.rows(), mine)):
        with pytest.raises(MissingUnit):
            in_integers(asked(Function.COUNT, unit=whose, relation=relation))


@pytest.mark.parametrize(
    ("groups", "bins"),
    [(1, 2**14), (16, 2**14), (31, 2**14), (32, 2**13), (255, 2**11), (10**6, 2**10)],
)
def test_many_groups_have_fewer_bins(groups, bins):
    real = Read(name="r", source="r", facts=dp.bounds(0.0, 1.0))
    key = Key(name="k", expression=SURE.column, values=tuple(range(groups)))
    relation = Scan(table="t", reads=(SURE, real))
    question = asked(
        Function.QUANTILE,
        unit=dp.rows(),
        relation=relation,
        argument=real.column,
        keys=(key,),
        q=0.5,
    )
    assert LEAST_BINS <= bins <= MOST_BINS
    (tally,) = in_integers(question).tallies
    assert (tally.measure, tally.bins.count) == (Measure.HISTOGRAM, bins)
    assert in_integers(question, bins=64).tallies[0].bins.count == 64


@pytest.mark.parametrize("side", SIDES)
def test_a_histogram_without_keys_has_many_cells(side):
    real = Read(name="r", source="r", facts=dp.bounds(0.0, 1.0))
    unit = dp.rows(relation=side)
    relation = Scan(table="t", reads=(real,))
    given = {"unit": unit, "relation": relation, "argument": real.column, "q": 0.5}
    (tally,) = in_integers(asked(Function.QUANTILE, **given), bins=8).tallies
    assert (tally.moves.l1, tally.moves.l2_squared, tally.moves.linf) == (unit.sides, unit.sides, 1)


def test_one_tally_serves_all_that_ask_for_it():
    relation = Scan(table="t", reads=(SURE, SEX))
    functions = [(Function.COUNT, None), (Function.COUNT, SURE.column), (Function.SUM, SURE.column)]
    aggregates = [
        Aggregate(name=f"a{i}", function=f, argument=argument, where=where)
        for i, ((f, argument), where) in enumerate(itertools.product(functions, [None, MALE]))
    ]
    question = Question(unit=dp.rows(), relation=relation, aggregates=tuple(aggregates))
    plan = in_integers(question)
    wanted = {(t.measure, t.where) for t in plan.tallies}
    assert len(plan.tallies) == len(wanted) == 4
    assert len({t.name for t in plan.tallies}) == 4


def test_public_rows_are_nobodys():
    relation = Scan(table="p", reads=(SURE,), public=True)
    unit = dp.person("u", rows=7, groups=3)
    plan = in_integers(asked(Function.COUNT, unit=unit, relation=relation))
    assert (plan.weight, plan.rows, plan.groups) == (1, 1, 1)


ONCE = PerPerson(source=Scan(table="t", reads=(SEX,), id=ID))


@pytest.mark.parametrize("limit", [None, 3])
def test_whoever_has_one_row_each_moves_as_much_as_one_row(limit):
    """However many rows and groups the unit allows: the summary of a person is one row."""
    unit = dp.person("u", rows=7, groups=limit)
    given = {"unit": unit, "relation": ONCE}
    (tally,) = in_integers(asked(Function.COUNT, **given)).tallies
    assert (tally.moves.l1, tally.moves.linf) == (WEIGHT, WEIGHT)
    (persons,) = in_integers(asked(Function.PERSONS, **given)).tallies
    assert (persons.moves.l1, persons.moves.linf) == (1, 1)


YOUNG = call("lt", SURE.column, literal(0))


def counted(*wheres, side="add_remove", argument=None):
    aggregates = tuple(
        Aggregate(name=f"a{i}", function=Function.COUNT, argument=argument, where=where)
        for i, where in enumerate(wheres)
    )
    relation = Scan(table="t", reads=(SURE, NULLABLE, SEX))
    unit = dp.rows(relation=side)
    return in_integers(Question(unit=unit, relation=relation, aggregates=aggregates))


@pytest.mark.parametrize(
    ("wheres", "argument", "hidden"),
    [
        ((), None, False),
        ((MALE,), None, False),
        ((MALE, MALE), None, False),  # one count, asked for twice
        ((MALE, YOUNG), None, True),
        ((MALE, YOUNG, call("not", MALE)), None, True),
        ((MALE, None), None, False),
        ((None, MALE, YOUNG), None, False),
        ((MALE, None), NULLABLE.column, True),  # of known values: not a count of all rows
        ((MALE, None), SURE.column, False),
    ],
)
@pytest.mark.parametrize("side", SIDES)
def test_all_rows_are_counted_beside_several_counts_of_some(wheres, argument, hidden, side):
    plan = counted(*wheres, side=side, argument=argument)
    assert (plan.hidden is not None) == (hidden and side == "add_remove")
    if plan.hidden is not None:
        assert plan.hidden.name not in {each.name for each in plan.tallies}
        assert (plan.hidden.where, plan.hidden.value, plan.hidden.moves.l1) == (None, None, 1)


def test_private_groups_get_the_bins_of_some_hundred():
    real = Read(name="r", source="r", facts=dp.bounds(0.0, 1.0))
    key = Key(name="sex", expression=SEX.column, values=None)
    relation = Scan(table="t", reads=(SEX, real), id=ID)
    given = {"unit": dp.person("u", rows=2), "relation": relation, "keys": (key,)}
    plan = in_integers(asked(Function.QUANTILE, argument=real.column, q=0.5, **given))
    assert [each.bins.count for each in plan.tallies] == [2**10]


@pytest.mark.parametrize(
    ("keys", "sets", "private"),
    [
        ((), ((),), False),
        ((BY_SEX,), ((0,),), False),
        ((BY_SEX, SECRET), ((0, 1),), True),  # one private key makes private groups
        ((BY_SEX, SECRET), ((0,),), False),  # it groups nothing
        ((SECRET,), ((0,),), True),
    ],
)
def test_groups_are_private_where_any_of_their_keys_is(keys, sets, private):
    given = {"unit": dp.person("u", rows=2), "keys": keys, "sets": sets}
    relation = Scan(table="t", reads=(SURE, SEX), id=ID)
    plan = in_integers(asked(Function.COUNT, relation=relation, **given))
    assert plan.private_keys == private
    assert (plan.cells is None) == private
