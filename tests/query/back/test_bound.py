"""Which tallies a question becomes, and the bounds they carry."""

import pytest

import deniable as dp
from deniable.errors import MissingUnit, UnsupportedQuery
from deniable.query.aggregates import Measure
from deniable.query.aggregates.tallies import grid, on_lattice
from deniable.query.algebra import (
    Aggregate,
    Column,
    Domain,
    Filter,
    Function,
    Join,
    Key,
    Kind,
    Question,
    Read,
    Scan,
    call,
    literal,
)
from deniable.query.integers import WEIGHT, in_integers
from deniable.workload.moves import Moves

AGE = Read(name="age", source="age", facts=dp.bounds(0, 125, type="int"))
PAY = Read(name="pay", source="pay", facts=dp.bounds(20.0, 80.0, missing=30.0))
ROWS = Scan(table="data", reads=(AGE, PAY))
PEOPLE = Scan(table="data", reads=(AGE, PAY), id=Read(name="u", source="u"))


def asked(*functions, unit=None, relation=None, of=PAY, keys=()):
    unit = unit or dp.rows()
    relation = relation or (ROWS if unit.column is None else PEOPLE)
    none = (Function.COUNT, Function.PERSONS)
    aggregates = tuple(
        Aggregate(name=f"a{i}", function=f, argument=None if f in none else of.column)
        for i, f in enumerate(functions)
    )
    sets = (tuple(range(len(keys))),)
    return Question(
        unit=unit, relation=relation, aggregates=aggregates, keys=keys, grouping_sets=sets
    )


def test_a_sum_beside_a_mean_of_the_same_rows_costs_nothing_more():
    plan = in_integers(asked(Function.SUM, Function.AVG, Function.COUNT, Function.VAR_SAMP))
    assert [t.measure for t in plan.tallies] == [Measure.COUNT, Measure.SUM, Measure.SQUARES]
    assert plan.parts["a0"].sum is plan.parts["a1"].sum


def test_a_sum_alone_is_not_centred_and_moves_by_the_farther_bound():
    (tally,) = in_integers(asked(Function.SUM)).tallies
    assert (tally.centre, tally.moves.l1 * tally.unit) == (0.0, 80)


def test_a_centred_sum_moves_by_half_the_width():
    plan = in_integers(asked(Function.AVG))
    total = plan.parts["a0"].sum
    assert (total.centre, total.moves.l1 * total.unit) == (50.0, 30)


def test_a_persons_rows_count_with_all_their_weight_in_one_cell():
    plan = in_integers(asked(Function.COUNT, unit=dp.person("u", rows=7)))
    most = 7 * WEIGHT
    assert plan.tallies[0].moves == Moves(l1=most, l2_squared=most**2, linf=most)


def test_replacing_a_row_that_always_counts_moves_no_count():
    unit = dp.rows(relation="replace")
    assert in_integers(asked(Function.COUNT, unit=unit)).tallies[0].moves.l1 == 0
    (total,) = in_integers(asked(Function.SUM, unit=unit)).tallies
    assert total.moves.l1 * total.unit == 60


def test_a_filter_makes_a_replaced_row_count_or_not():
    old = call("gt", AGE.column, literal(65))
    relation = Filter(source=ROWS, where=old)
    unit = dp.rows(relation="replace")
    assert in_integers(asked(Function.COUNT, unit=unit, relation=relation)).tallies[0].moves.l1 == 1
    (total,) = in_integers(asked(Function.SUM, unit=unit, relation=relation)).tallies
    assert total.moves.l1 * total.unit == 80


def test_a_replaced_row_may_leave_one_group_and_enter_another():
    old = call("gt", AGE.column, literal(65))
    key = Key(name="old", expression=old, values=(False, True))
    unit = dp.rows(relation="replace")
    found = in_integers(asked(Function.COUNT, unit=unit, keys=(key,))).tallies[0].moves
    assert found == Moves(l1=2, l2_squared=2, linf=1)


def test_private_keys_come_with_a_count_of_persons_to_choose_by():
    key = Key(name="age", expression=AGE.column, values=None)
    plan = in_integers(asked(Function.COUNT, unit=dp.person("u", rows=9, groups=4), keys=(key,)))
    assert plan.private_keys
    assert plan.selection.moves == Moves(l1=4, l2_squared=4, linf=1)


def test_whole_numbers_stay_whole_and_have_bins_of_their_own():
    lattice, low, high = on_lattice(AGE.column, centre=62.0, squared=False)
    assert (lattice.exponent, low, high) == (0, -62, 63)
    bins = grid(AGE.column, at_most=1024)
    assert (bins.count, bins.whole, bins.edges[0], bins.edges[-1]) == (126, True, 0.0, 126.0)


@pytest.mark.parametrize("ends", [(0.0, 0.0), (-1e130, 1e130), (1e-300, 2e-300), (5.0, 5.0)])
def test_extreme_bounds_have_a_lattice_that_fits_in_64_bits_with_its_weight(ends):
    value = Column(name="v", domain=Domain(kind=Kind.FLOAT, low=ends[0], high=ends[1]))
    for squared in (False, True):
        _, low, high = on_lattice(value, centre=0.0, squared=squared)
        assert max(-low, high) * WEIGHT < 2**63
    assert grid(value, at_most=64).count >= 1


def test_bounds_beyond_every_lattice_are_refused():
    value = Column(name="v", domain=Domain(kind=Kind.FLOAT, low=-1e300, high=1e300))
    with pytest.raises(UnsupportedQuery):
        on_lattice(value, centre=0.0, squared=False)


def test_where_rows_are_units_a_row_may_not_become_several():
    other = Scan(table="towns", reads=(AGE,), public=True)
    pair = (AGE.column, AGE.column)
    relation = Join(left=ROWS, right=other, on=(pair,))
    with pytest.raises(UnsupportedQuery):
        in_integers(asked(Function.COUNT, relation=relation))


def test_rows_of_nobody_are_refused_where_people_are_protected():
    with pytest.raises(MissingUnit):
        in_integers(asked(Function.COUNT, unit=dp.person("u", rows=1), relation=ROWS))
