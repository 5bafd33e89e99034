"""Counts and sums of noisy tallies, and when a sum is better made of a centred one."""

import itertools

import numpy as np
import pytest

import deniable as dp
from deniable.losses import Pure, Zcdp
from deniable.losses.filters import filter_for
from deniable.query.aggregates.linear import counted
from deniable.query.aggregates.tallies import Measure
from deniable.query.algebra import Aggregate, Function, Key, Question, Read, Scan, call, literal
from deniable.query.allocate import allocate
from deniable.query.integers import in_integers
from deniable.release import Summed

from .deriving import asked, noisy

X = Read(name="x", source="x", facts=dp.bounds(2.0, 10.0, missing="drop"))
SURE = Read(name="s", source="s", facts=dp.bounds(2, 10, type="int", missing=2))
SEX = Read(name="sex", source="sex", facts=dp.keys(["f", "m"]))
COUNTING = [
    Function.COUNT, Function.AVG, Function.VAR_POP, Function.VAR_SAMP, Function.STDDEV_POP,
    Function.STDDEV_SAMP,
]  # fmt: skip
PAIRS = [Function.COVAR_POP, Function.COVAR_SAMP, Function.CORR]
SOME = call("eq", SEX.column, literal("f"))


def sum_of(*others, where=None, of=SURE, unit=None, size=None, complete=True, keyed=False):
    total = Aggregate(name="total", function=Function.SUM, argument=of.column, where=where)
    relation = Scan(table="t", reads=(X, SURE, SEX), size=size, complete=complete)
    keys = (Key(name="k", expression=SEX.column, values=("f", "m")),) if keyed else ()
    question = Question(
        unit=unit or dp.rows(), relation=relation, keys=keys,
        grouping_sets=((0,),) if keyed else ((),), aggregates=(total, *others),
    )  # fmt: skip
    return in_integers(question).parts["total"]


def other(function, argument=None, *, where=None):
    return Aggregate(name="other", function=function, argument=argument, where=where)


def test_a_sum_alone_is_not_centred():
    assert sum_of().sum.centre == 0.0
    assert sum_of().count is None


@pytest.mark.parametrize(("of", "where"), [*itertools.product([X, SURE], [None, SOME])])
def test_a_sum_beside_a_mean_or_a_count_of_its_rows_is_centred(of, where):
    for function in (Function.AVG, Function.VAR_POP):
        beside = other(function, of.column, where=where)
        assert sum_of(beside, where=where, of=of).sum.centre == 6.0
    rows = other(Function.COUNT, of.column, where=where)
    found = sum_of(rows, where=where, of=of)
    assert found.sum.centre == 6.0
    assert [(t.name, f) for t, f in found.terms] == [(found.sum.name, 1.0), (found.count.name, 6.0)]


@pytest.mark.parametrize(
    "beside",
    [
        other(Function.AVG, X.column), other(Function.AVG, SURE.column, where=SOME),
        other(Function.COUNT, X.column), other(Function.COUNT, where=SOME),
        other(Function.SUM, X.column),
        other(Function.DISTINCT, SURE.column),
    ],
)  # fmt: skip
def test_beside_anything_else_it_is_not(beside):
    assert sum_of(beside).sum.centre == 0.0


def test_where_rows_are_replaced_it_is_centred_only_if_lines_may_be_left_out_of_a_public_size():
    unit, rows = dp.rows(relation="replace"), other(Function.COUNT)
    for size, complete, keyed in itertools.product([None, 50], [False, True], [False, True]):
        found = sum_of(rows, unit=unit, size=size, complete=complete, keyed=keyed)
        centred = size is not None and not complete and not keyed
        assert found.sum.centre == (6.0 if centred else 0.0)
        assert found.rows == (50 if centred else None)
        assert found.known == (300.0 if centred else 0.0)


@pytest.mark.parametrize("complete", [False, True])
@pytest.mark.parametrize("function", [Function.SUM, *COUNTING, *PAIRS])
def test_a_public_number_of_rows_takes_the_place_of_a_noisy_count(function, complete):
    for beside, size in itertools.product([Function.COUNT, Function.AVG], [None, 50]):
        relation = Scan(table="t", reads=(SURE,), size=size, complete=complete)
        asked_for = (
            Aggregate(
                name="a", function=function, argument=SURE.column,
                other=SURE.column if function in PAIRS else None,
            ),
            Aggregate(name="b", function=beside, argument=SURE.column),
        )  # fmt: skip
        unit = dp.rows(relation="replace")
        part = in_integers(Question(unit=unit, relation=relation, aggregates=asked_for)).parts["a"]
        noisy_counts = [t for t in part.tallies if t.measure is Measure.COUNT]
        assert not (part.rows and noisy_counts), "the rows would count twice"
        if function is not Function.SUM:
            assert bool(part.rows) == (size is not None) == (not noisy_counts)


@pytest.mark.parametrize(("value", "counts"), [(X, True), (SURE, False)])
def test_a_value_counts_rows_only_where_it_may_be_missing(value, counts):
    found = counted(other(Function.COUNT, value.column))
    assert found == (value.column if counts else None)
    assert counted(other(Function.COUNT)) is None


@pytest.mark.parametrize("kind", ["int", "float"])
def test_a_sum_is_read_with_its_centre_and_whole_ones_are_rounded(kind):
    allocation, part = asked(Function.SUM, ends=(-3, 9), kind=kind)
    found = part.derive(allocation, noisy(**{part.sum.name: [10.4, -2.5]}))
    assert found.values.tolist() == [10.4, -2.5]
    assert found.whole == (kind == "int")
    shown = np.floor(np.array([10.9, -2.0])) if kind == "int" else np.array([10.4, -2.5])
    half = part.error(allocation, size=None, confidence=0.9)
    low, high = found.interval(0.9)
    assert low.tolist() == pytest.approx((shown - half).tolist())
    assert high.tolist() == pytest.approx((shown + half).tolist())
    assert isinstance(found.flat, Summed)
    assert found.flat.rounded == (kind == "int")
    assert found.flat.half(0.9) == half
    smooth = part.smooth_error(allocation, size=None)
    assert smooth == Summed(law=allocation.law, scales=found.flat.scales).half(0.95)


@pytest.mark.parametrize(
    ("function", "unit", "whole"),
    [
        (Function.COUNT, dp.rows(), True),
        (Function.COUNT, dp.person("u", rows=3), False),  # rows with weights: parts of one count
        (Function.PERSONS, dp.person("u", rows=3), True),
    ],
)
def test_only_a_count_of_whole_rows_or_people_errs_by_whole_numbers(function, unit, whole):
    allocation, part = asked(function, unit=unit)
    found = Summed(
        law=allocation.law, scales=tuple(map(abs, allocation.errors(*part.terms))),
        rounded=True, whole=whole,
    )  # fmt: skip
    assert part.error(allocation, size=None) == found.half(0.95)
    assert part.error(allocation, size=None).is_integer() == whole


def test_a_noisy_count_is_shown_as_the_nearest_whole_number():
    allocation, part = asked(Function.COUNT)
    found = part.derive(allocation, noisy(**{part.count.name: [10.4, 0.5, -2.0]}))
    assert found.cells() == [10, 1, -2]


def test_a_public_count_has_no_noise():
    allocation, part = asked(Function.COUNT, unit=dp.rows(relation="replace"), size=77)
    assert allocation.free
    assert (part.rows, part.largest, part.known, part.tallies) == (77, 0.0, 77.0, ())
    assert asked(Function.COUNT)[1].largest == float("inf")


def test_the_forms_of_a_centred_sum_are_in_units_of_what_a_row_moves():
    found = sum_of(other(Function.COUNT))
    (form,) = found.forms()
    assert [f for _, f in form] == pytest.approx([4 / 10, 6 / 10])
    (form,) = sum_of().forms()
    assert [(t.name, f) for t, f in form] == [("t0", 1.0)]


def test_a_public_count_is_read_without_anything_drawn():
    allocation, part = asked(Function.COUNT, unit=dp.rows(relation="replace"), size=77)
    found = part.derive(allocation, {})
    assert found.cells() == [77]
    assert found.flat.half(0.95) == 0.0
    assert part.derivation(allocation) == "as the number of rows, 77: no noise, no cost"


def derivations(*aggregates, gaussian=False, unit=None, size=None, **given):
    """What the plan says of each aggregate, by its name."""
    relation = Scan(table="t", reads=(X, SURE, SEX), size=size, complete=False)
    question = Question(unit=unit or dp.rows(), relation=relation, aggregates=aggregates)
    spend = Zcdp(0.1) if gaussian else Pure(1.0)
    made = allocate(in_integers(question), spend=spend, filter=filter_for(9 * spend), **given)
    return {name: part.derivation(made) for name, part in made.plan.parts.items()}


def named(name, function, argument=None, where=None):
    return Aggregate(name=name, function=function, argument=argument, where=where)


ROWS, SOME_ROWS = named("n", Function.COUNT), named("f", Function.COUNT, where=SOME)
THERE = named("m", Function.COUNT, X.column)


def test_counts_say_of_which_noisy_numbers_they_are_made():
    assert derivations(ROWS) == {"n": ""}
    both = {"n": "from both noisy counts", "f": "from the first noisy count"}
    assert derivations(ROWS, SOME_ROWS) == both
    assert derivations(ROWS, SOME_ROWS, fold=False) == {"n": "", "f": ""}
    shared = {"n": "from the noisy number of rows", "f": "from its two noisy numbers"}
    assert derivations(ROWS, SOME_ROWS, gaussian=True) == shared


def test_counts_and_averages_from_sums_say_so():
    average = named("a", Function.AVG, X.column)
    found = derivations(ROWS, THERE, average)
    assert found == {
        "n": "from the two noisy sums and the noisy number of other rows",
        "m": "from the two noisy sums",
        "a": "from the ratio of the two noisy sums",
    }
    apart = derivations(average, fold=False)
    assert apart == {"a": "as 6 + (the sum of x − 6) / the number of x"}


def test_sums_say_what_is_added_to_them():
    total = named("s", Function.SUM, SURE.column)
    assert derivations(total) == {"s": ""}
    beside = derivations(total, ROWS, fold=False)["s"]
    assert beside.startswith("as (the sum of s − 6) + 6 × the number of rows, which errs less")
    both = "from the two noisy sums"
    assert derivations(total, ROWS) == {"s": both, "n": both}
    unit = dp.rows(relation="replace")
    public = derivations(total, unit=unit, size=50)
    assert public == {"s": "as (the sum of s − 6) + 6 × 50"}


@pytest.mark.parametrize(
    ("ends", "said"),
    [((2, 10), "as 6 + (the sum of x − 6) / 50"), ((-4, 4), "as the sum of x / 50")],
)
def test_an_average_of_public_rows_says_its_centre_where_there_is_one(ends, said):
    unit = dp.rows(relation="replace")
    allocation, part = asked(Function.AVG, ends=ends, kind="int", unit=unit, size=50)
    assert part.derivation(allocation) == said
    allocation, part = asked(Function.VAR_POP, ends=ends, kind="int", unit=unit, size=50)
    assert part.derivation(allocation) == "as the variance of 50 rows with these two sums"


def test_a_variance_says_of_which_noisy_numbers_it_is_made():
    allocation, part = asked(Function.VAR_POP)
    assert part.derivation(allocation) == "from the noisy sums and squares"
    allocation, part = asked(Function.VAR_POP, unit=dp.rows(relation="replace"))
    assert part.derivation(allocation) == "from the noisy count, sum and squares"


@pytest.mark.parametrize(
    ("function", "measure"),
    [(Function.DISTINCT, Measure.DISTINCT), (Function.PERSONS, Measure.PERSONS)],
)
def test_a_public_number_of_rows_is_not_that_of_values_or_people(function, measure):
    unit = dp.rows(relation="replace")
    _, part = asked(function, unit=unit, size=50)
    assert part.rows is None
    assert [tally.measure for tally in part.tallies] == [measure]
