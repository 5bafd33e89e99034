"""Values made of values: exact in what they hold, and bounded by what follows from their parts."""

from fractions import Fraction

import mpmath
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import deniable as dp
from deniable.forms import read_numbers
from deniable.sensitive import _root_above, compute

NORMS = {
    "l1": lambda x: sum(map(abs, x)),
    "l2": lambda x: sum(v * v for v in x),  # squared, to stay exact
    "linf": lambda x: max(map(abs, x)),
}
numbers = st.one_of(
    st.integers(-(2**53), 2**53), st.floats(-1e100, 1e100).map(lambda x: x + 0.0), st.just(1 / 3)
)
vectors = st.lists(numbers, min_size=3, max_size=3)
factors = st.one_of(st.integers(-(10**6), 10**6), st.floats(-1e6, 1e6), st.just(0.1))


def pair(first, second, **declared):
    """A value on two neighbours, with bounds that they just reach."""
    moved = [Fraction(a) - Fraction(b) for a, b in zip(first, second, strict=True)]
    bounds = {"l1": up(NORMS["l1"](moved)), "linf": up(NORMS["linf"](moved))}
    bounds["l2"] = min(bounds["l1"], root_up(NORMS["l2"](moved)))
    return [dp.Sensitive(lambda x=x: x, **bounds, shape=3, **declared) for x in (first, second)]


def up(number):
    near = float(number)
    return near if Fraction(near) >= number else float(np.nextafter(near, np.inf))


def root_up(square):
    with mpmath.workdps(60):
        root = mpmath.sqrt(mpmath.mpf(square.numerator) / square.denominator) * (1 + 1e-12)
    return float(np.nextafter(float(root), np.inf)) if square else 0.0


def held(value):
    """What a mechanism would be given, exactly."""
    read = read_numbers(compute(value), value.form)
    return [Fraction(x) for x in np.ravel(read).tolist()]


def check(first, second):
    """The bounds of a made value hold on the neighbours it was made of."""
    moved = [a - b for a, b in zip(held(first), held(second), strict=True)]
    for norm, length in NORMS.items():
        bound = Fraction(first.bound(norm))
        assert length(moved) <= (bound**2 if norm == "l2" else bound)


@given(vectors, vectors, factors)
def test_a_multiple_moves_by_the_multiple(first, second, factor):
    one, other = pair(first, second)
    check(factor * one, other * factor)
    assert held(factor * one) == [Fraction(factor) * Fraction(x) for x in first]


def test_a_difference_subtracts():
    five, three = (dp.Sensitive(lambda n=n: n, l1=1, whole=True) for n in (5, 3))
    assert held(five - three) == [2]
    assert (five - three).bound("l1") == 2


@given(vectors, vectors, vectors, vectors)
def test_a_sum_a_difference_and_a_stack_are_bounded_by_their_parts(a, b, c, d):
    (x, x2), (y, y2) = pair(a, b), pair(c, d)
    check(x + y, x2 + y2)
    check(x - y, x2 - y2)
    check(dp.Sensitive.stack([x, y]), dp.Sensitive.stack([x2, y2]))
    assert held(x - y) == [Fraction(p) - Fraction(q) for p, q in zip(a, c, strict=True)]
    assert held(dp.Sensitive.stack([x, y])) == [Fraction(p) for p in [*a, *c]]


@given(vectors, vectors, st.integers(0, 2))
def test_one_number_moves_no_more_than_the_largest_move(first, second, place):
    one, other = pair(first, second)
    check(one.at(place), other.at(place))
    assert held(one.at(place)) == [Fraction(first[place])]


def test_bounds_are_derived_norm_by_norm():
    x = dp.Sensitive(lambda: [1, 2], l2=3, linf=2, whole=True, shape=2)
    y = dp.Sensitive(lambda: [5, 6], l2=4, whole=True, shape=2)
    assert repr(-2 * x) == "Sensitive(hidden, l2=6, linf=4, whole=True, shape=2)"
    assert repr(x + y) == "Sensitive(hidden, l2=7, linf=6, whole=True, shape=2)"
    assert repr(dp.Sensitive.stack([x, y])) == (
        "Sensitive(hidden, l2=5, linf=4, whole=True, shape=(2, 2))"
    )
    assert repr(x.at(1)) == "Sensitive(hidden, l1=2, whole=True)"
    assert repr(0.5 * x) == "Sensitive(hidden, l2=1.5, linf=1, whole=False, shape=2)"


@pytest.mark.parametrize("bound", [0.0, 5e-324, 1e-300, 1e-160, 1.0, 3.0, 1e154, 1.7e308])
def test_bounds_of_every_size_are_stacked_and_added(bound):
    x = dp.Sensitive(lambda: 0, l2=bound)
    if bound > 1e308:
        for make in (lambda: x + x, lambda: 3 * x):
            with pytest.raises(dp.BadParameter):
                make()
        return
    both = dp.Sensitive.stack([x, x]).bound("l2")
    assert 2 * Fraction(bound) ** 2 <= Fraction(both) ** 2
    assert both <= max(bound * 1.5, 1.5e-323)
    assert (x + x).bound("l2") == 2 * bound


@pytest.mark.parametrize("two", [2, np.int64(2), np.float64(2), Fraction(2)], ids=repr)
def test_any_number_may_be_a_factor(two):
    assert held(two * dp.Sensitive(lambda: 4, l1=1, whole=True)) == [8]


@pytest.mark.parametrize("factor", [np.nan, np.inf, -np.inf], ids=repr)
def test_a_factor_is_finite(factor):
    with pytest.raises(dp.BadParameter, match="factor"):
        factor * dp.Sensitive(lambda: 4, l1=1)


class Other:
    """Something that says itself what it is times a sensitive value."""

    def __rmul__(self, value):
        return "asked"


@pytest.mark.parametrize("factor", [True, "2", None, [1, 2], 1j], ids=repr)
def test_what_is_no_real_number_is_left_to_the_other_operand(factor):
    x = dp.Sensitive(lambda: 4, l1=1)
    for product in (lambda: factor * x, lambda: x * factor):
        with pytest.raises(TypeError):
            product()
    assert x * Other() == "asked"


PLAIN = dp.Sensitive(lambda: 1, l1=1)
UNLIKE = {
    "shape": dp.Sensitive(lambda: [1, 2], l1=1, shape=2),
    "keys": dp.Sensitive(lambda: [1], l1=1, keys=["a"]),
    "unit": dp.Sensitive(lambda: 1, l1=1, unit=dp.rows()),
    "stream": dp.Sensitive(lambda: 1, l1=1, stream="s"),
    "statistic": dp.Sensitive(lambda: 1, l1=1, statistic=max),
}


@pytest.mark.parametrize("other", UNLIKE.values(), ids=UNLIKE)
def test_unlike_values_do_not_meet(other):
    for meet in (lambda: PLAIN + other, lambda: dp.Sensitive.stack([PLAIN, other])):
        with pytest.raises(dp.DeniableError):
            meet()


def test_one_of_several_dimensions_is_found_by_all_its_places():
    table = dp.Sensitive(lambda: [[1, 2, 3], [4, 5, 6]], l1=1, shape=(2, 3), whole=True)
    assert [held(table.at((1, column))) for column in range(3)] == [[4], [5], [6]]
    for wrong in [(0, 3), (2, 0), (-1, 0), (0, -1), (1,), (0, 0, 0), 0, (0, True), (0, None)]:
        with pytest.raises(dp.BadParameter, match="one of 6 numbers"):
            table.at(wrong)


WHOLE = [
    ([True, True], True), ([True, None], None), ([None, None], None),
    ([True, False], False), ([False, None], False), ([True], True),
]  # fmt: skip


@pytest.mark.parametrize(("kinds", "made"), WHOLE, ids=str)
def test_what_is_made_of_values_is_whole_if_all_are_and_real_if_one_is(kinds, made):
    values = [dp.Sensitive(lambda: 1, l1=1, whole=kind) for kind in kinds]
    for given_values in (values, values[::-1]):
        assert dp.Sensitive.stack(given_values).form.whole is made
        assert sum(given_values[1:], start=given_values[0]).form.whole is made


def test_nothing_cannot_be_stacked():
    with pytest.raises(dp.BadParameter, match="empty"):
        dp.Sensitive.stack([])


@pytest.mark.parametrize("place", [2, -1, True, 0.0, None, (0, 0), "a"], ids=repr)
def test_a_place_that_is_not_there_is_refused_without_computing(place):
    with pytest.raises(dp.BadParameter):
        dp.Sensitive(lambda: 1 / 0, l1=1, shape=2).at(place)


def test_a_number_is_found_by_its_key():
    keyed = dp.Sensitive(lambda: {"b": 5, "a": 3}, l1=1, keys=["a", "b"], whole=True)
    assert held(keyed.at("b")) == [5]
    with pytest.raises(dp.BadParameter):
        keyed.at("c")


def test_entries_add_up_where_all_are_declared():
    one = dp.Sensitive(lambda: [1, 0], linf=1, shape=2, entries=1)
    assert (one + one).entries == dp.Sensitive.stack([one, one]).entries == 2
    assert (3 * one).entries == 1
    assert (one + dp.Sensitive(lambda: [1, 0], linf=1, shape=2)).entries is None


def test_nothing_is_computed_until_a_session_has_charged():
    seen = []
    x = dp.Sensitive(lambda: seen.append(1) or 3, l1=1, whole=True)
    made = dp.Sensitive.stack([2 * x + x, x - x]).at(0).then(lambda n: n + 1, l1=3, whole=True)
    assert not seen
    assert held(made) == [10]


@pytest.mark.parametrize("facts", [{"stream": "arrivals"}, {"statistic": sum}])
def test_values_of_a_sample_or_a_stream_are_not_computed_with(facts):
    odd, plain = (dp.Sensitive(lambda: 1, l1=1, **each) for each in (facts, {}))
    for made in (
        lambda: odd + plain,
        lambda: plain - odd,
        lambda: dp.Sensitive.stack([odd, plain]),
    ):
        with pytest.raises(dp.BadParameter, match="sample or a stream"):
            made()


WAYS = {"kept": lambda x: x.kept(), "read": lambda x: x.read_by(lambda v: [2 * n for n in v])}


@pytest.mark.parametrize("way", WAYS)
def test_what_is_kept_or_read_otherwise_keeps_its_promise(way):
    unit = dp.person("id", rows=2)
    facts = {"l1": 3, "l2": 2, "linf": 1, "unit": unit, "keys": ["a", "b"], "whole": True}
    x = dp.Sensitive(lambda: [1, 2], **facts, entries=2, stream="arrivals", ready=("door",))
    made = WAYS[way](x)
    assert [made.bound(norm) for norm in ("l1", "l2", "linf")] == [3, 2, 1]
    assert (made.unit, made.form, made.entries) == (unit, x.form, 2)
    assert (made.stream, made.ready) == ("arrivals", ("door",))


def test_what_is_kept_is_computed_once_and_what_is_read_is_computed_each_time():
    seen = []
    x = dp.Sensitive(lambda: seen.append(1) or [1, 2], l1=1, shape=2)
    kept = x.kept()
    assert not seen
    assert [compute(kept), compute(kept)] == [[1, 2]] * 2
    assert len(seen) == 1
    read = x.read_by(sum)
    assert [compute(read), compute(read)] == [3, 3]
    assert len(seen) == 3


def test_values_bounded_for_different_units_or_of_different_forms_do_not_meet():
    row = dp.Sensitive(lambda: [1, 0], l1=1, shape=2)
    person = dp.Sensitive(lambda: [1, 0], l1=1, shape=2, unit=dp.person("id", rows=2))
    single = dp.Sensitive(lambda: 1, l1=1)
    for made in (lambda a, b: a + b, lambda a, b: a - b, lambda a, b: dp.Sensitive.stack([a, b])):
        with pytest.raises(dp.UnitMismatch, match="different units"):
            made(row, person)
        with pytest.raises(dp.BadParameter, match="different shapes"):
            made(row, single)


@given(st.fractions(0, 1e30), st.integers(-1000, 1000))
def test_a_root_is_rounded_up_and_hardly_however_large_or_small_the_number(number, power):
    square = number * Fraction(2) ** power
    found = _root_above(square)
    assert Fraction(found) ** 2 >= square
    if Fraction(2) ** -2000 < square < Fraction(2) ** 2000:
        assert (Fraction(found) * (1 - Fraction(1, 2**51))) ** 2 <= square
    assert _root_above(Fraction(0)) == 0.0


@pytest.mark.parametrize("root", [1.0, 3.0, 0.1, 1e-160, 1e154, 2.0**-1022])
@pytest.mark.parametrize("more", [0, 1, 100, 300])
def test_the_root_of_a_number_just_above_a_square_is_above_it_too(root, more):
    """By 2⁻¹⁰⁰ and less of it, which the digits that are computed do not show."""
    square = Fraction(root) ** 2 * (1 + Fraction(bool(more), 2**more))
    assert Fraction(_root_above(square)) ** 2 >= square
