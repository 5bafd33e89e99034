"""Which groups there are, how many a person is in, and whether noise picks them."""

import itertools

import pytest

import deniable as dp
from deniable.query.algebra import (
    Aggregate,
    Function,
    Key,
    Order,
    PerPerson,
    Question,
    Read,
    Scan,
    call,
    literal,
)
from deniable.query.integers import KEPT_OF_BOTH, KEPT_OF_ONE, MOST_KEPT, in_integers

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


KEPT_SETS = [((),), ((0,),), ((0,), ()), ((), (0,))]


@pytest.mark.parametrize("sets", KEPT_SETS, ids=str)
@pytest.mark.parametrize("private", [False, True])
@pytest.mark.parametrize("groups", [1, 2, 3, 4])
@pytest.mark.parametrize(
    ("who", "function"),
    [
        ("row", Function.COUNT),
        *itertools.product(["person", "summary"], [Function.COUNT, Function.PERSONS]),
    ],
)
def test_groups_are_limited_only_where_somebody_could_be_in_more(
    function, sets, private, groups, who
):
    """Persons by public keys, and everything by private ones; never where all groups fit."""
    (key, *_), (read, *_) = KEYS, READS
    key = Key(name=key.name, expression=key.expression, values=None if private else (0, 1))
    unit = dp.rows() if who == "row" else dp.person("u", rows=7, groups=groups)
    whose = None if who == "row" else Read(name="u", source="u")
    relation = Scan(table="t", reads=(read,), id=whose)
    relation = PerPerson(source=relation) if who == "summary" else relation
    counted = Aggregate(name="a", function=function)
    given = {"unit": unit, "relation": relation, "keys": (key,), "grouping_sets": sets}
    plan = in_integers(Question(aggregates=(counted,), **given))
    used = any(sets)
    all_fit = not (private and used) and sum(2 if each else 1 for each in sets) <= groups
    limited = who == "person" and used and not all_fit
    limited &= function is Function.PERSONS or private
    assert plan.single == (who != "person")
    assert plan.groups_of(plan.parts["a"]) == (groups if limited else None)
    assert (plan.rows, plan.groups) == ((7, groups) if who == "person" else (1, 1))
