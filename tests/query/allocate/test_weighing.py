"""Which vectors a question needs, and how much the error of each of them matters."""

import collections

import pytest

import deniable as dp
from deniable.errors import BadParameter, UnknownName
from deniable.query.algebra import (
    Aggregate,
    Function,
    Key,
    Output,
    Question,
    Read,
    Scan,
    call,
    literal,
)
from deniable.query.allocate.allocation import _tree, emphasis, parts_of, touched
from deniable.query.integers import in_integers
from deniable.workload.search import FEWEST_CELLS, MOST_GROUPS, Search
from deniable.workload.trees import Tree

X = Read(name="x", source="x", facts=dp.bounds(0.0, 1.0, missing=0.0))
K = Read(name="k", source="k", facts=dp.bounds(0, 10**6, type="int", missing=0))


def plan(*aggregates, cells=None, private=False, unit=None, sets=None, bins=None, outputs=()):
    unit = unit or dp.rows()
    whose = None if unit.column is None else Read(name="u", source="u")
    keyed = cells is not None or private
    values = None if private else tuple(range(cells or 1))
    keys = (Key(name="k", expression=K.column, values=values),) if keyed else ()
    question = Question(
        unit=unit, relation=Scan(table="t", reads=(X, K), id=whose), keys=keys,
        grouping_sets=sets or (tuple(range(len(keys))),), aggregates=aggregates, outputs=outputs,
    )  # fmt: skip
    return in_integers(question, bins=bins)


COUNT = Aggregate(name="n", function=Function.COUNT)
SUM = Aggregate(name="s", function=Function.SUM, argument=X.column)
AVG = Aggregate(name="m", function=Function.AVG, argument=X.column)


def quantile(q, name="q", function=Function.QUANTILE):
    return Aggregate(name=name, function=function, argument=X.column, q=q)


@pytest.mark.parametrize("side", ["add_remove", "replace"])
@pytest.mark.parametrize("cells", [1, 2, 3, 1000])
def test_a_row_moves_one_cell_of_each_set_on_each_side_and_no_more_than_there_are(side, cells):
    unit = dp.rows(relation=side)
    assert touched(plan(COUNT, cells=cells, unit=unit)) == min(cells, unit.sides)
    both = plan(COUNT, cells=cells, unit=unit, sets=((0,), ()))
    assert touched(both) == min(cells + 1, 2 * unit.sides)


@pytest.mark.parametrize("side", ["add_remove", "replace"])
def test_a_person_may_move_many_public_cells_and_few_private_ones(side):
    unit = dp.person("u", rows=3, groups=2, relation=side)
    assert touched(plan(COUNT, cells=50, unit=unit)) == 50
    assert touched(plan(COUNT, cells=2**22, unit=unit)) == min(2**22, unit.sides * 3 * 2**20)
    assert touched(plan(COUNT, private=True, unit=unit)) == 2 * unit.sides


def tree(*aggregates, law="laplace", bins=FEWEST_CELLS, cells=None, private=False):
    unit = dp.person("u", rows=1, groups=1) if private else None
    made = plan(*aggregates, cells=cells, private=private, bins=bins, unit=unit)
    tally = next(t for t in made.tallies if t.bins is not None)
    return _tree(made, tally, law)


def test_one_inner_quantile_of_few_groups_is_searched():
    found = tree(quantile(0.3))
    assert isinstance(found, Search)
    assert (found.q, found.cells) == (0.3, FEWEST_CELLS)
    assert isinstance(tree(quantile(0.3), cells=MOST_GROUPS), Search)


@pytest.mark.parametrize(
    "given",
    [
        {"aggregates": (quantile(0.3),), "law": "gaussian"},
        {"aggregates": (quantile(0.3),), "bins": FEWEST_CELLS - 1},
        {"aggregates": (quantile(0.3),), "cells": MOST_GROUPS + 1},
        {"aggregates": (quantile(0.3),), "private": True},
        {"aggregates": (quantile(0.3), quantile(0.4, name="r"))},
        {"aggregates": (quantile(0.0),)},
        {"aggregates": (quantile(1.0),)},
        {"aggregates": (quantile(None, function=Function.MAX),)},
    ],
    ids=str,
)
def test_other_quantiles_are_read_off_a_tree(given):
    aggregates = given.pop("aggregates")
    assert isinstance(tree(*aggregates, **given), Tree)


def test_only_histograms_have_trees():
    made = plan(COUNT, SUM)
    assert [_tree(made, tally, "laplace") for tally in made.tallies] == [None, None]


OUTPUTS = (
    Output(name="n", expression=COUNT.column),
    Output(name="ratio", expression=call("divide", SUM.column, COUNT.column)),
    Output(name="k", expression=K.column),
)


def test_a_column_weighs_each_aggregate_that_it_is_made_of_at_its_most():
    made = plan(COUNT, SUM, cells=3, outputs=OUTPUTS)
    assert emphasis(made, {}) == {}
    assert emphasis(made, {"n": 4}) == {"n": 4.0}
    assert emphasis(made, {"ratio": 3, "n": 2}) == {"n": 3.0, "s": 3.0}
    assert emphasis(made, {"n": 5, "ratio": 3}) == {"n": 5.0, "s": 3.0}
    for weights in ({"k": 2}, {"other": 1}):
        with pytest.raises(UnknownName):
            emphasis(made, weights)
    for weights in ([("n", 1)], {"n": 0}, {"n": "2"}):
        with pytest.raises(BadParameter):
            emphasis(made, weights)


@pytest.mark.parametrize("law", ["laplace", "gaussian"])
def test_what_matters_more_weighs_more_and_what_matters_not_at_all_a_little(law):
    made = plan(COUNT, SUM, cells=3)
    plain = parts_of(made, law, fold=False)
    assert [len(part.tallies) for part in plain] == [1, 1]
    more = parts_of(made, law, {"n": 4.0}, fold=False)
    for before, after in zip(plain, more, strict=True):
        counts = before.tallies[0].measure == "count"
        assert (after.weight > before.weight) == counts
    nothing = parts_of(made, law, {"n": 1e-12, "s": 1e-12}, fold=False)
    assert {part.weight for part in nothing} == {1 / 64}


def test_numbers_that_are_divided_or_told_together_are_fine():
    assert [part.fine for part in parts_of(plan(COUNT, cells=3), "laplace")] == [False]
    assert {part.fine for part in parts_of(plan(AVG, cells=3), "gaussian")} == {True}
    folded = parts_of(plan(COUNT, SUM, cells=3), "laplace")
    assert [part.basis.folded for part in folded] == [True]
    assert [part.fine for part in folded] == [True]


VAR = Aggregate(name="v", function=Function.VAR_POP, argument=X.column)
SOME = [
    Aggregate(name=f"c{i}", function=Function.COUNT, where=call("lt", K.column, literal(i)))
    for i in (3, 9)
]


@pytest.mark.parametrize("law", ["laplace", "gaussian"])
@pytest.mark.parametrize(
    ("aggregates", "weights"),
    [
        ((AVG,), {"count": 1 / 4, "sum": 1.0}),
        ((VAR,), {"count": 1 / 16, "sum": 1 / 4, "squares": 1.0}),
        ((AVG, COUNT), {"count": 1 + 1 / 4, "sum": 1.0}),
        ((AVG, VAR), {"count": 1 / 4 + 1 / 16, "sum": 1 + 1 / 4, "squares": 1.0}),
    ],
)
def test_a_tally_weighs_the_squares_of_what_answers_have_of_it(law, aggregates, weights):
    """Where signs are not known, the mean over them."""
    found = parts_of(plan(*aggregates, cells=3), law, fold=False)
    assert {p.tallies[0].measure.value: p.weight for p in found} == pytest.approx(weights)


@pytest.mark.parametrize(
    ("emphasis", "folded"), [(0.1, True), (3.9, True), (4.1, False), (50, False)]
)
def test_gaussian_counts_share_a_vector_while_that_has_the_smaller_sum_of_roots(emphasis, folded):
    """With weights 1 and e it is √(1 + 2e) beside 1 + √e: smaller up to e = 4."""
    found = parts_of(plan(COUNT, SOME[0], cells=3), "gaussian", {"n": emphasis})
    assert [part.basis.folded for part in found] == ([True] if folded else [False, False])
    if folded:
        assert found[0].basis.forth == ((512, -256), (0, 256))


@pytest.mark.parametrize(("emphasis", "folded"), [(0.1, True), (54, True), (55, False)])
def test_laplace_counts_share_a_vector_while_that_has_the_smaller_sum_of_roots(emphasis, folded):
    """With weights 1 and e it is ∛(1 + 2e) beside 1 + ∛e: smaller up to ∛e = (3 + √21)/2."""
    found = parts_of(plan(COUNT, SOME[0], cells=3), "laplace", {"n": emphasis})
    assert [part.basis.folded for part in found] == ([True] if folded else [False, False])


@pytest.mark.parametrize("law", ["laplace", "gaussian"])
@pytest.mark.parametrize("aggregates", [(COUNT, *SOME), (COUNT, *SOME, AVG), (*SOME, AVG, VAR)])
@pytest.mark.parametrize("emphasis", [{}, {"n": 9.0}, {"c3": 9.0}])
def test_every_tally_is_released_once(law, aggregates, emphasis):
    made = plan(*aggregates, cells=3)
    found = parts_of(made, law, emphasis)
    told = collections.Counter(tally.name for part in found for tally in part.tallies)
    asked = {tally.name for tally in made.tallies}
    assert set(told.values()) == {1}
    assert set(told) - asked <= {getattr(made.hidden, "name", None)}
    assert asked <= set(told)


def test_what_cannot_move_weighs_no_more_for_it():
    made = plan(COUNT, SUM, unit=dp.rows(relation="replace"))
    assert made.tallies[0].moves.l1 == 0
    assert [len(part.tallies) for part in parts_of(made, "gaussian")] == [1, 1]


def test_a_histogram_that_is_an_answer_is_released_as_it_is():
    """Also where a quantile could be read off it."""
    small = Read(name="s", source="s", facts=dp.bounds(0, 299, type="int", missing=0))
    bins = Aggregate(
        name="h", function=Function.HISTOGRAM, argument=small.column, bin=0, edges=tuple(range(301))
    )
    middle = Aggregate(name="q", function=Function.QUANTILE, argument=small.column, q=0.5)
    for aggregates in ((bins,), (bins, middle)):
        relation = Scan(table="t", reads=(small,))
        made = in_integers(Question(unit=dp.rows(), relation=relation, aggregates=aggregates))
        for law in ("laplace", "gaussian"):
            assert _tree(made, made.tallies[0], law) == Tree(cells=300, branching=(300,))
