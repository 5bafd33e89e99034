"""Covariances and correlations of noisy sums, and their ± in advance, written out by hand."""

import itertools
import math
from dataclasses import replace

import numpy as np
import pytest

import deniable as dp
from deniable.errors import DeniableError
from deniable.losses import Approx
from deniable.query.aggregates.pairs import _both, _product
from deniable.query.aggregates.tallies import Measure
from deniable.query.algebra import (
    Aggregate,
    Column,
    Domain,
    Function,
    Key,
    Kind,
    Order,
    Read,
    call,
    literal,
)
from deniable.workload.tails import reach

from .deriving import asked, noisy

X, Y, SURE, SURER = (
    Read(name=name, source=name, facts=dp.bounds(0, 9, missing=missing)).column
    for name, missing in [("x", "drop"), ("y", "drop"), ("s", 0.0), ("r", 0.0)]
)
PICKED = call("gt", SURE, literal(3.0))


@pytest.mark.parametrize("where", [None, PICKED])
@pytest.mark.parametrize(
    ("first", "second", "gone"),
    [(X, Y, [X, Y]), (X, SURE, [X]), (SURE, Y, [Y]), (SURE, SURER, []), (X, X, [X])],
)
def test_rows_must_have_a_value_only_where_it_may_be_missing(first, second, gone, where):
    asked = Aggregate(name="a", function=Function.CORR, argument=first, other=second, where=where)
    found = _both(asked)
    parts = found.args if getattr(found, "op", "") == "and" else [found]
    wanted = [where, *(call("not", call("is_null", value)) for value in gone)]
    assert [p for p in parts if p is not None] == [w for w in wanted if w is not None]


FIRST, SECOND = (-50.0, 50.0), (1.0, 5.0)
COVARIANCES = {Function.COVAR_POP: 0, Function.COVAR_SAMP: 1}
COUNTS, XS, YS, PRODUCTS = (
    [400.0, 1.4, 0.3, 2.5],
    [2e3, 30.0, 90.0, -5.0],
    [100.0, -1.0, 3.0, 4.0],
    [9e3, 45.0, -95.0, 6.0],
)
SQUARES = [4e5, 2e3, 8e3, 900.0], [900.0, 1.1, 30.0, 9.0]


def given(part):
    names = (part.first.count, part.first.sum, part.second.sum, part.products)
    numbers = dict(zip((t.name for t in names), (COUNTS, XS, YS, PRODUCTS), strict=True))
    if part.aggregate.function is Function.CORR:
        numbers |= {part.first.squares.name: SQUARES[0], part.second.squares.name: SQUARES[1]}
    return noisy(**numbers)


def held_between(value, most):
    return min(max(value, -most), most)


@pytest.mark.parametrize("function", COVARIANCES)
def test_a_covariance_is_that_of_the_noisy_sums_and_a_samples_is_corrected(function):
    less = COVARIANCES[function]
    allocation, part = asked(function, ends=FIRST, second=SECOND)
    found = part.derive(allocation, given(part))
    wanted = []
    for n, x, y, p in zip(COUNTS, XS, YS, PRODUCTS, strict=True):
        rows, many = max(n, 1.0), max(n, 1.0 + less)
        means = held_between(x / rows, 50.0) * held_between(y / rows, 2.0)
        wanted.append(held_between(p / rows - means, 100.0) * many / (many - less))
    assert found.values.tolist() == pytest.approx(wanted)
    assert not found.whole
    pairs = part.pairs(allocation, given(part))
    for confidence in (0.5, 0.95):
        ends = pairs.covariance_interval(confidence, less=less)
        assert np.array_equal(found.interval(confidence), ends)


def test_a_correlation_is_that_of_the_noisy_sums():
    allocation, part = asked(Function.CORR, ends=FIRST, second=SECOND)
    found, pairs = part.derive(allocation, given(part)), part.pairs(allocation, given(part))
    assert found.values.tolist() == pairs.correlation().tolist()
    assert np.array_equal(found.interval(0.9), pairs.correlation_interval(0.9))
    assert part.largest == 2.0
    assert part.error(allocation, size=100.0) is None


def far(allocation, *terms, confidence):
    errors = allocation.errors(*terms)
    return reach(allocation.law, tuple(abs(e) for e in errors if e), confidence=confidence)


def of_a_covariance(allocation, part, size, confidence, among=1):
    """± of the sums at the worst of both means, which each miss with a tenth, and of their product.

    Before it is cut to what is possible at all.
    """
    miss, x, y = 1 - confidence ** (1 / among), part.first.width, part.second.width
    grown = size / (size - COVARIANCES.get(part.aggregate.function, 0))
    sums = max(
        far(allocation, (part.products, 1.0), (part.first.sum, y * a), (part.second.sum, x * b),
            (part.first.count, x * y * c * grown), confidence=1 - 0.8 * miss)
        for a, b, c in itertools.product((1, -1), repeat=3)
    )  # fmt: skip
    each = (1 - 0.1 * (1 - confidence)) ** (1 / among)
    means = [
        max(far(allocation, (m.sum, 1.0), (m.count, s * w), confidence=each) for s in (1, -1))
        for m, w in ((part.first, x), (part.second, y))
    ]
    cut = [min(2 * w, m / size) for m, w in zip(means, (x, y), strict=True)]
    return grown * (sums / size + cut[0] * cut[1])


@pytest.mark.parametrize(("ends", "second"), [((0, 3), (0, 5)), ((0, 3), (-5, 0))])
def test_the_worst_sign_is_taken_where_products_share_the_noise_of_the_count(ends, second):
    """Products lie in [−4, 6] or in [−6, 4]: a count that errs with them errs most one way."""
    allocation, part = asked(Function.COVAR_POP, ends=ends, second=second, kind="int")
    assert allocation.part_of(part.products) is allocation.part_of(part.first.count)
    assert (part.products.low, part.products.high) == ((-4, 6) if second[1] else (-6, 4))
    wanted = of_a_covariance(allocation, part, 1e4, 0.95)
    assert part.error(allocation, size=1e4) == pytest.approx(wanted, rel=1e-6)


@pytest.mark.parametrize("function", COVARIANCES)
@pytest.mark.parametrize("size", [None, 5.0, 200.0, 1e4])
@pytest.mark.parametrize(("confidence", "among"), [(0.5, 1), (0.95, 1), (0.95, 30)])
def test_the_error_in_advance_is_that_of_the_worst_means(function, size, confidence, among):
    allocation, part = asked(function, ends=FIRST, second=SECOND)
    allocation = replace(allocation, among=among)
    assert part.largest == 200.0 * (1 + COVARIANCES[function])
    found = part.error(allocation, size=size, confidence=confidence)
    if size is None:
        assert found is None
        return
    wanted = of_a_covariance(allocation, part, size, confidence, among)
    assert found == pytest.approx(min(part.largest, wanted), rel=1e-6)
    assert (wanted > part.largest) == (size == 5.0)


def test_a_public_number_of_rows_is_the_size_of_the_one_group():
    unit = dp.rows(relation="replace")
    allocation, part = asked(Function.COVAR_POP, ends=FIRST, second=SECOND, unit=unit, size=300)
    assert part.error(allocation, size=None) == part.error(allocation, size=7.0)
    assert part.error(allocation, size=None) == part.error_at(allocation, 300.0, 0.95)


def of_a_variance(allocation, spread, size, confidence):
    w = spread.width
    off = max(
        far(allocation, (spread.squares, 1.0), (spread.sum, 2 * w * a), (spread.count, w * w * b),
            confidence=confidence)
        for a, b in itertools.product((1, -1), repeat=2)
    )  # fmt: skip
    return min(w * w, off / size)


@pytest.mark.parametrize("size", [20.0, 150.0, 500.0, 2e3, 1e4, 1e5])
def test_the_error_of_a_correlation_is_told_for_values_that_spread_evenly(size):
    """The largest over three correlations, where covariance and variances are off at their worst.

    Even values of width w have the variance w²/3; each of the three may miss with a third of 5 %.
    """
    allocation, part = asked(Function.CORR, ends=FIRST, second=SECOND)
    each = 1 - 0.05 / 3
    off = min(200.0, of_a_covariance(allocation, part, size, each))
    ranges = []
    for spread, variance in ((part.first, 2500 / 3), (part.second, 4 / 3)):
        less = of_a_variance(allocation, spread, size, each)
        ranges.append((max(variance - less, 0.0), variance + less))
    wanted = 0.0
    for r in (0.0, 0.5, 1.0):
        c = r * math.sqrt(2500 / 3 * 4 / 3)
        corners = [
            held_between((c + s * off) / math.sqrt(v * w), 1.0) if v * w else float(s)
            for s, v, w in itertools.product((-1, 1), *ranges)
        ]
        wanted = max(wanted, max(corners) - r, r - min(corners))
    assert part._evenly(allocation, size) == pytest.approx(wanted, rel=1e-6)


def test_a_correlation_is_noted_at_the_size_that_is_known_or_at_a_few():
    allocation, part = asked(Function.CORR, ends=FIRST, second=SECOND)
    rest = "if both columns are spread evenly across their bounds"
    assert part.note(allocation, None).count("in a group of") == 3
    one = part.note(allocation, 5000.0)
    assert one.count("in a group of") == 1
    assert one.endswith(f"in a group of 5,000 rows, {rest}")
    public, sized = asked(
        Function.CORR, ends=FIRST, second=SECOND, unit=dp.rows(relation="replace"), size=300
    )
    assert sized.note(public, None).endswith(f"in a group of 300 rows, {rest}")
    order = (Order(expression=part.aggregate.column),)
    key = Key(name="k", expression=X, values=None)
    asking = {"keys": (key,), "grouping_sets": ((0,),), "limit": 1, "order_by": order}
    picked, of_many = asked(Function.CORR, second=SECOND, asking=asking)
    assert picked.of_many
    assert of_many.note(picked, 300.0) == ""


def test_the_forms_weigh_sums_counts_and_squares_by_a_quarter():
    _, part = asked(Function.COVAR_POP, second=SECOND)
    tallies = [part.products, part.first.sum, part.second.sum, part.first.count]
    quarters = [*itertools.product((0.25, -0.25), repeat=3)]
    forms = [*part.forms()]
    assert all([tally for tally, _ in form] == tallies for form in forms)
    assert sorted(tuple(x for _, x in form) for form in forms) == sorted(
        (1.0, *q) for q in quarters
    )
    _, both = asked(Function.CORR, second=SECOND)
    squares = [both.first.squares, both.second.squares]
    last = [form[4:] for form in both.forms()]
    assert all([tally for tally, _ in form] == squares for form in last)
    pairs = [*itertools.product((0.25, -0.25), repeat=2)]
    assert sorted(tuple(x for _, x in form) for form in last) == sorted(pairs * 8)


def between(low, high, kind=Kind.INT, name="x"):
    return Column(name=name, domain=Domain(kind=kind, low=low, high=high))


@pytest.mark.parametrize(
    ("first", "second", "whole"),
    [
        ((-(2**20), 2**20), (-(2**20), 2**20), True),
        ((-(2**20), 2**20), (-(2**20) - 1, 2**20 + 1), False),
        ((7, 7 + 2**21), (-(2**21), 0), True),
        ((-(2**40), 2**40), (0, 3), False),
        ((0, 3), (-(2**40), 2**40), False),
        ((0, 3), (-(2**38), 2**38), True),
    ],
)
def test_products_of_whole_numbers_stay_whole_up_to_40_bits(first, second, whole):
    """Around the middle of the bounds, the one nearer 0: there no product is beyond 2⁴⁰."""
    x, y = between(*first), between(*second, name="y")
    found = _product(x, y)
    assert found.kind is (Kind.INT if whole else Kind.FLOAT)
    wide = [(b - a) / 2 + (b - a) % 2 / 2 for a, b in (first, second)]
    assert (wide[0] * wide[1] <= 2**40) == whole


@pytest.mark.parametrize("kinds", [*itertools.product([Kind.INT, Kind.FLOAT], repeat=2)])
@pytest.mark.parametrize("ends", [(0, 10), (-5, 5)])
def test_values_are_multiplied_around_their_centres(kinds, ends):
    whole = kinds == (Kind.INT, Kind.INT)
    columns = [
        between(*(ends if kind is Kind.INT else map(float, ends)), kind=kind, name=name)
        for name, kind in zip("xy", kinds, strict=True)
    ]
    parts = []
    for column in columns:
        number = column if whole or column.kind is Kind.FLOAT else call("to_float", column)
        centre = sum(ends) // 2 if whole else sum(ends) / 2
        parts.append(call("subtract", number, literal(centre)) if centre else number)
    assert _product(*columns) == call("multiply", *parts)


@pytest.mark.parametrize(
    ("wide", "other", "refused"),
    [(1e135, 1e135, False), (1e135, 1.1e135, True), (1e270, 1.0, False), (1.1e270, 1.0, True),
     (1.0, 1.1e270, True), (1e269, 2.0, False)],
)  # fmt: skip
def test_bounds_are_refused_where_their_product_is_beyond_1e270(wide, other, refused):
    x = between(-wide, wide, Kind.FLOAT)
    y = between(3 * other, 5 * other, Kind.FLOAT, "y")
    if refused:
        with pytest.raises(DeniableError, match="too far apart to multiply"):
            _product(x, y)
    else:
        assert _product(x, y).kind is Kind.FLOAT


@pytest.mark.parametrize("function", [Function.COVAR_POP, Function.COVAR_SAMP, Function.CORR])
@pytest.mark.parametrize("size", [None, 100])
def test_public_sizes_take_the_place_of_counts(function, size):
    unit = dp.rows(relation="replace")
    _, part = asked(function, ends=FIRST, second=SECOND, unit=unit, size=size)
    counts = [tally for tally in part.tallies if tally.measure is Measure.COUNT]
    assert (part.rows, len(counts)) == (size, int(size is None))
    assert (part.first.count is None) == (part.second.count is None) == (size is not None)


@pytest.mark.parametrize("function", COVARIANCES)
@pytest.mark.parametrize("size", [2, 3, 10])
def test_no_interval_of_so_many_rows_is_wider_than_was_told_in_advance(function, size):
    """At any means and covariance that there can be; a sample's is corrected by n/(n − 1)."""
    spend, budget = Approx(1800.0, delta=1e-6), Approx(9000.0, delta=1e-5)
    made = {"ends": FIRST, "second": SECOND, "unit": dp.rows(relation="replace"), "size": size}
    allocation, part = asked(function, spend=spend, budget=budget, **made)
    ends = np.linspace(-1, 1, 9)
    a, b, share = (x.ravel() for x in np.meshgrid(ends, ends, ends))
    off = share * np.sqrt((1 - a**2) * (1 - b**2))  # Cauchy and Schwarz
    sums = [a * 50 * size, b * 2 * size, (a * b + off) * 100 * size]
    names = [t.name for t in (part.first.sum, part.second.sum, part.products)]
    found = part.derive(allocation, noisy(**dict(zip(names, sums, strict=True))))
    low, high = found.interval(0.95)
    widest = max((found.values - low).max(), (high - found.values).max())
    told = part.error(allocation, size=None)
    assert 0.8 * told < widest <= told * (1 + 1e-6)
    assert told < part.largest
