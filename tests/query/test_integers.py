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
    Order,
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
    KEPT_OF_BOTH,
    KEPT_OF_ONE,
    LEAST_BINS,
    MOST_BINS,
    MOST_KEPT,
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


# ---- which groups there are, how many, and whether noise picks them

READS = tuple(Read(name=n, source=n, facts=dp.bounds(0, 9, type="int", missing=0)) for n in "abc")
KEYS = tuple(
    Key(name=read.name, expression=read.column, values=tuple(range(2 + i)))
    for i, read in enumerate(READS)
)
COUNT = Aggregate(name="n", function=Function.COUNT)


def grouped(*, unit=None, keys=KEYS, sets=((0, 1, 2),), **given):
    unit = unit or dp.rows()
    whose = None if unit.column is None else Read(name="u", source="u")
    relation = Scan(table="t", reads=READS, id=whose)
    given |= {"keys": keys, "grouping_sets": sets, "aggregates": (COUNT,)}
    return in_integers(Question(unit=unit, relation=relation, **given))


@pytest.mark.parametrize(
    "sets", [((),), ((0,),), ((0, 1, 2),), ((2, 0), (1,), ()), ((0, 2), (2, 0), (0, 2))]
)
def test_groups_are_all_combinations_of_every_set_once(sets):
    made = grouped(sets=sets)
    wanted = []
    for chosen in dict.fromkeys(tuple(sorted(s)) for s in sets):
        lists = [k.values if i in chosen else (None,) for i, k in enumerate(KEYS)]
        wanted += itertools.product(*lists)
    assert list(made.public_groups()) == wanted
    assert made.cells == len(wanted)
    assert len(set(wanted)) == len(wanted)


@pytest.mark.parametrize("private", range(3))
def test_one_private_key_makes_groups_private_but_only_in_sets_that_use_it(private):
    keys = [*KEYS]
    keys[private] = Key(name=keys[private].name, expression=keys[private].expression, values=None)
    unit = dp.person("u", rows=4, groups=2)
    made = grouped(unit=unit, keys=tuple(keys), sets=((0, 1, 2), ()))
    assert made.private_keys
    assert made.cells is None
    others = tuple(i for i in range(3) if i != private)
    made = grouped(unit=unit, keys=tuple(keys), sets=(others,))
    assert not made.private_keys
    assert made.cells == len(KEYS[others[0]].values) * len(KEYS[others[1]].values)


NOISY = COUNT.column
PUBLIC = READS[0].column


@pytest.mark.parametrize("noisy", [False, True])
@pytest.mark.parametrize("limit", [None, 3])
@pytest.mark.parametrize("offset", [0, 1])
@pytest.mark.parametrize("having", [None, "public", "noisy"])
def test_noise_picks_groups_where_a_noisy_value_cuts_or_filters(noisy, limit, offset, having):
    by = {
        None: None,
        "public": call("gt", PUBLIC, literal(0)),
        "noisy": call("gt", NOISY, literal(0)),
    }
    order = (Order(expression=PUBLIC), Order(expression=NOISY if noisy else PUBLIC))
    made = grouped(having=by[having], order_by=order, limit=limit, offset=offset)
    cut = limit is not None or offset > 0
    assert made.picked == (having == "noisy" or (cut and noisy))


@pytest.mark.parametrize("rows", [1, 255, 256, 10_000, 10_001, 65_535, 65_536, 2**18, 2**20, 2**30])
def test_whoever_keeps_to_the_stated_rows_loses_none_in_a_join(rows):
    one, both = grouped(unit=dp.person("u", rows=rows)).joined
    held = min(rows, MOST_KEPT)
    assert one >= held
    assert (both + 1) ** 2 > held
    assert one == max(KEPT_OF_ONE, held)
    assert both == max(KEPT_OF_BOTH, int(held**0.5))
