"""What all families share: notes, intervals, plain numbers, and sums at their worst."""

import itertools
import math
from dataclasses import replace

import numpy as np
import pytest

import deniable as dp
from deniable.query.aggregates import Derived
from deniable.query.aggregates._estimator import half_width, is_whole, mixture, sizes, worst
from deniable.query.algebra import Aggregate, Column, Domain, Function, Key, Kind, Order
from deniable.workload.tails import reach

from .deriving import asked

KEY = Key(name="k", expression=Column(name="x", domain=Domain(kind=Kind.FLOAT)), values=None)


def picking():
    """An average of private groups of which noise picks the first."""
    column = Column(name="a", domain=Domain(kind=Kind.FLOAT))
    asking = {"keys": (KEY,), "grouping_sets": ((0,),), "limit": 1}
    return asked(Function.AVG, asking=asking | {"order_by": (Order(expression=column),)})


def test_an_error_that_depends_on_the_size_is_noted_at_a_few():
    allocation, mean = asked(Function.AVG, ends=(0.0, 1e4))
    told = mean.note(allocation, None)
    assert told.count("±") == 3
    assert all(f"in a group of {n}" in told for n in ("100,", "1,000,", "10,000 rows (at most)"))
    assert mean.note(allocation, 50.0) == ""
    counting, count = asked(Function.COUNT)
    assert count.note(counting, None) == ""
    picked, of_many = picking()
    assert picked.of_many
    assert of_many.note(picked, None) == ""


def test_what_is_not_known_in_advance_does_not_err_before_rounding():
    allocation, mean = asked(Function.AVG)
    assert mean.smooth_error(allocation, size=None) == 0.0
    assert mean.smooth_error(allocation, size=1e6) == mean.error(allocation, size=1e6)
    assert math.isinf(asked(Function.SUM)[1].largest)


@pytest.mark.parametrize(
    ("function", "second", "said"),
    [
        (Function.COUNT, None, ""),
        (Function.SUM, None, "values are clipped to [-3, 9]"),
        (Function.CORR, (1.0, 2.5), "values are clipped to [-3, 9] and [1, 2.5]"),
    ],
)
def test_only_what_has_bounds_is_clipped_to_them(function, second, said):
    _, part = asked(function, second=second)
    assert part.estimand == said
    assert part.clips == bool(said)


def test_plain_numbers_are_whole_where_answers_are():
    values = np.array([-1.5, 0.49, 0.5, 2.0**40 + 0.75])
    given = {"values": values, "interval": None}
    assert Derived(whole=True, **given).cells() == [-1, 0, 1, 2**40 + 1]
    found = Derived(whole=False, **given).cells()
    assert (found, {type(cell) for cell in found}) == (values.tolist(), {float})


@pytest.mark.parametrize("tabled", [False, True])
def test_intervals_at_several_confidences_are_those_one_by_one(tabled):
    values = np.array([5.0, 7.0])

    def ends(confidence):
        return values - confidence, values + confidence

    made = Derived(
        values=values,
        whole=False,
        interval=None if tabled else ends,
        table=ends if tabled else None,
    )
    found = made.intervals([0.5, 0.9])
    assert [(low.tolist(), high.tolist()) for low, high in found] == [
        ((values - c).tolist(), (values + c).tolist()) for c in (0.5, 0.9)
    ]


@pytest.mark.parametrize(("confidence", "factors"), [(0.5, (6.0, -2.0)), (0.95, (-1.0, 0.5, 3.0))])
def test_a_sum_is_off_as_at_the_worst_of_its_factors(confidence, factors):
    allocation, mean = asked(Function.AVG)
    terms = [(mean.sum, (1.0, 0.25)), (mean.count, factors), (None, (7.0,))]
    wanted = max(
        reach(
            allocation.law,
            tuple(abs(e) for e in allocation.errors((mean.sum, a), (mean.count, b)) if e),
            confidence=confidence,
        )
        for a, b in itertools.product((1.0, 0.25), factors)
    )
    assert worst(allocation, terms, confidence) == wanted


def test_scales_are_without_signs_and_without_those_that_are_not_there():
    assert sizes((3.0, 0.0, -2.0)) == (3.0, 2.0)


@pytest.mark.parametrize(
    ("argument", "whole"),
    [(None, False), *((Column(name="x", domain=Domain(kind=k)), k is Kind.INT) for k in Kind)],
)
def test_only_whole_numbers_have_whole_sums(argument, whole):
    assert is_whole(Aggregate(name="a", function=Function.COUNT, argument=argument)) == whole


@pytest.mark.parametrize(
    ("centre", "wanted"), [(0.0, 9.0), (3.0, 6.0), (-3.0, 12.0), (9.0, 12.0), (5.0, 8.0)]
)
def test_values_lie_as_far_from_a_centre_as_the_farther_of_their_ends(centre, wanted):
    _, part = asked(Function.SUM, ends=(-3.0, 9.0))
    assert half_width(replace(part.sum, centre=centre)) == wanted


@pytest.mark.parametrize("folded", [False, True])
def test_tallies_err_by_the_noises_that_are_in_them(folded):
    """A row for each, and a column for every noise: those of public numbers are not there."""
    unit = dp.rows() if folded else dp.rows(relation="replace")
    allocation, part = asked(Function.VAR_POP, unit=unit)
    assert any(p.basis.folded for p in allocation.parts) == folded
    tallies = (part.count, None, part.sum, part.squares)
    found = mixture(allocation, tallies)
    assert found.shape[0] == 4
    assert found.any(axis=0).all()
    assert not found[1].any()
    for tally, row in zip(tallies, found, strict=True):
        if tally is not None:
            alone = sorted(abs(e) for e in allocation.errors((tally, 1.0)) if e)
            assert sorted(abs(e) for e in row if e) == pytest.approx(alone)
    both = allocation.errors((part.count, 2.0), (part.sum, -3.0), (part.squares, 1.0))
    mixed = 2 * found[0] - 3 * found[2] + found[3]
    assert sorted(map(abs, mixed)) == pytest.approx(sorted(abs(e) for e in both if e))
