"""How a loss is divided between private keys and numbers, and how answers err then."""

import math

import pytest

import deniable as dp
from deniable.errors import UnknownKeys
from deniable.losses import Approx, Pure, Zcdp
from deniable.losses.filters import filter_for
from deniable.mechanisms.combine import Composed
from deniable.query.algebra import Aggregate, Function, Key, Order, Question, Read, Scan
from deniable.query.allocate import allocate
from deniable.query.allocate.allocation import _select
from deniable.query.integers import in_integers

X = Read(name="x", source="x", facts=dp.bounds(0, 9, type="int", missing=0))
COUNT = Aggregate(name="n", function=Function.COUNT)


def plan(*, private=True, sums=0, groups=2, **given):
    values = None if private else tuple(range(10))
    key = Key(name="k", expression=X.column, values=values)
    made = [
        Read(name=f"y{i}", source=f"y{i}", facts=dp.bounds(0, 9, missing=0.0)) for i in range(sums)
    ]
    total = [Aggregate(name=r.name, function=Function.SUM, argument=r.column) for r in made]
    relation = Scan(table="t", reads=(X, *made), id=Read(name="u", source="u"))
    unit = dp.person("u", rows=5, groups=groups)
    given |= {"keys": (key,), "grouping_sets": ((0,),), "aggregates": (COUNT, *total)}
    return in_integers(Question(unit=unit, relation=relation, **given))


FILTER = filter_for(Approx(8.0, delta=1e-5))


@pytest.mark.parametrize(("sums", "share"), [(0, 1 / 2), (1, 1 / 3), (2, 1 / 4), (5, 1 / 4)])
@pytest.mark.parametrize("named", [0.0, 1e-6])
def test_private_keys_get_the_epsilon_of_one_more_column_and_a_quarter_of_delta(sums, share, named):
    made = plan(sums=sums)
    assert len(made.tallies) == sums + 1
    spend = Approx(2.0, delta=named) if named else Pure(2.0)
    chosen, left = _select(made, spend, FILTER)
    assert chosen.epsilon == pytest.approx(2 * share)
    assert chosen.groups == 2
    assert chosen.epsilon + left.epsilon == pytest.approx(2.0)
    if named:
        assert chosen.delta == pytest.approx(named / 4)
        assert left.delta == pytest.approx(3 * named / 4)
    else:
        assert isinstance(left, Pure)
        assert chosen.delta == pytest.approx(FILTER.reserve / 10)


def test_keys_take_no_more_delta_than_the_ledger_keeps_for_them():
    chosen, _ = _select(plan(), Approx(2.0, delta=0.5), FILTER)
    assert chosen.delta == FILTER.reserve


def test_public_keys_leave_all_of_the_loss_to_numbers():
    spend = Approx(2.0, delta=1e-6)
    assert _select(plan(private=False), spend, FILTER) == (None, spend)


@pytest.mark.parametrize(
    ("budget", "spend"),
    [(Pure(8.0), Pure(1.0)), (Zcdp(1.0), Zcdp(0.1)), (Approx(8.0, delta=1e-5), Zcdp(0.1))],
)
def test_private_keys_need_a_budget_and_a_spend_in_epsilon_and_delta(budget, spend):
    with pytest.raises(UnknownKeys):
        _select(plan(), spend, filter_for(budget))


@pytest.mark.parametrize("private", [False, True])
def test_what_is_drawn_is_within_what_is_spent(private):
    made = allocate(plan(private=private, sums=2), spend=Pure(1.0), filter=FILTER)
    assert not made.free
    assert (made.selection is not None) == private
    assert isinstance(made.mechanism, Composed)
    assert 0.99 < FILTER.price(made.mechanism).epsilon <= 1.0


def test_where_all_is_public_nothing_is_drawn():
    relation = Scan(table="t", reads=(X,), size=77)
    question = Question(unit=dp.rows(relation="replace"), relation=relation, aggregates=(COUNT,))
    assert allocate(in_integers(question), spend=Pure(1.0), filter=FILTER).free


@pytest.mark.parametrize("private", [False, True])
@pytest.mark.parametrize("picked", [False, True])
def test_intervals_of_picked_groups_hold_for_all_of_them_at_once(private, picked):
    order = (Order(expression=COUNT.column),)
    given = {"order_by": order, "limit": 1} if picked else {}
    made = allocate(plan(private=private, **given), spend=Pure(1.0), filter=FILTER)
    assert made.among == (10 if picked and not private else 1)
    assert made.of_many == (picked and private)
    assert made.of_each(0.95) == pytest.approx(0.95 ** (1 / made.among))


def test_errors_of_the_same_noise_are_added_before_their_size_is_taken():
    made = allocate(plan(private=False, sums=1), spend=Pure(1.0), filter=FILTER, fold=False)
    n, total = made.plan.tallies
    (one,), (other,) = made.errors((n, 1.0)), made.errors((total, 1.0))
    assert made.errors((n, 3.0), (total, -2.0)) == pytest.approx((3 * one, -2 * other))
    assert made.errors((n, 3.0), (None, 5.0), (n, -1.0)) == pytest.approx((2 * one,))
    assert made.of(total) is made.noise[1]
    assert made.part_of(total) is made.parts[1]
    assert made.shared == ""
    scale = made.noise[0]
    assert math.isclose(one, made.parts[0].worth * _scale(scale))


def _scale(noise):
    from deniable.workload.split import spread_of

    return spread_of(noise)


def test_vectors_told_together_are_named_in_what_is_released():
    made = allocate(plan(private=False, sums=1), spend=Pure(1.0), filter=FILTER)
    assert [part.basis.folded for part in made.parts] == [True]
    names = ", ".join(t.name for t in made.parts[0].tallies)
    assert made.shared == f"\ntogether {names}"
