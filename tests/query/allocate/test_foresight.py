"""The ± in advance rests on public facts: which sizes are known, and how many people it takes."""

import pytest
from tests.query.aggregates.deriving import FILTER

import deniable as dp
from deniable.mechanisms.keys import PartitionSelection
from deniable.query.algebra import (
    Aggregate,
    Filter,
    Function,
    Key,
    Order,
    Output,
    Project,
    Question,
    Read,
    Scan,
    call,
    literal,
)
from deniable.query.allocate import allocate
from deniable.query.allocate.foresight import errors, people_needed
from deniable.query.integers import in_integers
from deniable.query.query import public_size

X = Read(name="x", source="x", facts=dp.bounds(0, 9, type="int", missing=0))
SCAN = Scan(table="t", reads=(X,))
KEY = Key(name="k", expression=X.column, values=tuple(range(10)))
COUNT = Aggregate(name="n", function=Function.COUNT)
MEAN = Aggregate(name="m", function=Function.AVG, argument=X.column)


def question(relation=SCAN, **given):
    return Question(unit=dp.rows(), relation=relation, aggregates=(COUNT, MEAN), **given)


def schema(size):
    return dp.Schema(columns={"x": dp.bounds(0, 9)}, size=size)


def test_a_size_is_public_of_the_one_group_of_all_rows_where_the_schema_states_it():
    assert public_size(question(), schema(77)) == 77.0
    assert public_size(question(), schema(None)) is None
    assert public_size(question(), None) is None
    keyed = question(keys=(KEY,), grouping_sets=((0,),))
    assert public_size(keyed, schema(77)) is None
    some = Filter(source=SCAN, where=call("gt", X.column, literal(1)))
    assert public_size(question(some), schema(77)) is None
    other = Project(source=SCAN, named=(("x", X.column),))
    assert public_size(question(other), schema(77)) is None


def test_of_several_tables_the_size_is_that_of_the_one_asked_about():
    both = dp.Schema(tables={"t": schema(5), "other": schema(9)})
    assert public_size(question(), both) == 5.0


@pytest.mark.parametrize("probability", [1e-9, 0.05, 0.5, 0.999])
def test_so_many_people_and_no_fewer_make_a_group_likely_to_be_shown(probability):
    selection = PartitionSelection(epsilon=0.5, delta=1e-5, groups=2)
    many = people_needed(selection, probability)
    assert selection.probability(many) >= probability
    assert many == 1 or selection.probability(many - 1) < probability


OUTPUTS = tuple(
    Output(name=name, expression=made)
    for name, made in (
        ("n", COUNT.column), ("m", MEAN.column), ("k", X.column),
        ("both", call("add", COUNT.column, MEAN.column)),
    )
)  # fmt: skip


@pytest.mark.parametrize("size", [None, 1000.0])
def test_columns_have_the_error_of_their_aggregate_and_expressions_none(size):
    plan = in_integers(question(outputs=OUTPUTS))
    allocation = allocate(plan, spend=dp.epsilon(1), filter=FILTER)
    for confidence in (0.5, 0.95):
        found = errors(allocation, size=size, confidence=confidence)
        assert set(found) == {"n", "m", "both"}
        given = {"size": size, "confidence": confidence}
        assert found["n"] == plan.parts["n"].error(allocation, **given)
        assert found["m"] == plan.parts["m"].error(allocation, **given)
        assert (found["m"] is None) == (size is None)
        assert found["both"] is None


def test_of_groups_that_noise_picks_among_private_ones_nothing_is_known():
    key = Key(name="k", expression=X.column, values=None)
    picked = question(
        keys=(key,), grouping_sets=((0,),), outputs=OUTPUTS[:1], limit=1,
        order_by=(Order(expression=COUNT.column),),
    )  # fmt: skip
    allocation = allocate(in_integers(picked), spend=dp.epsilon(1), filter=FILTER)
    assert errors(allocation, size=1000.0) == {"n": None}
