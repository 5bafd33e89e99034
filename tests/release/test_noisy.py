"""One noisy column: where each value may lie, as numbers, dates and stored records."""

import array
import datetime as dt
import math
import sys

import numpy as np
import pytest

from deniable.errors import BadParameter, NoBound
from deniable.mechanisms import Laplace
from deniable.release import Additive, Noisy, Summed, Tabulated
from deniable.release.months import Month
from deniable.release.noisy import Spread, decode, encode, marked, unmarked
from deniable.workload.tails import of_each, reach

END = 2**63


class Noise:
    """A mechanism of which only the stated error matters."""

    def __init__(self, half):
        self.half = half

    def shown_error(self, confidence, *, whole):
        assert confidence == 0.95
        assert whole in (True, False)
        if self.half is None:
            raise NoBound("it depends on data")
        return self.half


def told(value, half, *, factor=1.0):
    column = Noisy(cells=(value,), spread=Additive(mechanism=Noise(half), factor=factor))
    return *column.intervals(0.95)[0], column.errors(0.95)[0]


@pytest.mark.parametrize("value", [0, -7, 2**53, -(2**53)])
def test_whole_numbers_have_the_error_times_its_factor_on_both_sides(value):
    assert told(value, 2.5, factor=3.0) == (value - 7.5, value + 7.5, 7.5)


@pytest.mark.parametrize("sign", [1, -1])
@pytest.mark.parametrize("half", [0.5, 1.0, 1.5, 2.0, 3.0, 7.5, 2.0**52 + 1])
def test_every_whole_number_within_the_error_is_within_the_ends_also_around_2_to_the_53(sign, half):
    summed = Summed(law="laplace", scales=(half / math.log(20),))
    for value in (*range(2**53 - 9, 2**53 + 4), 2**60 + 1):
        sums = Noisy(cells=(sign * value,), spread=summed)
        for low, high in (told(sign * value, half)[:2], sums.intervals(0.95)[0]):
            assert low <= sign * value - math.floor(half * (1 - 1e-9))
            assert high >= sign * value + math.floor(half * (1 - 1e-9))
            assert high - low <= 2 * half + 4


@pytest.mark.parametrize("sign", [1, -1])
def test_beyond_2_to_the_53_ends_are_whole_and_outside(sign):
    value = sign * (2**53 + 1)
    low, high, half = told(value, 2.5)
    assert (low, high, half) == (value - 3, value + 3, 2.5)
    assert {type(low), type(high)} == {int}
    assert told(value, math.inf) == (-math.inf, math.inf, math.inf)
    inside = sign * (2**53 - 1)  # only its far end is beyond
    ends = sorted((inside + 2 * sign, inside - 2 * sign))
    assert told(inside, 2.0) == (*ends, 2.0)


@pytest.mark.parametrize(("inside", "open_"), [(12, False), (11, False), (10, True), (0, True)])
def test_a_whole_number_at_an_end_of_its_type_may_stand_for_any_beyond(inside, open_):
    """±10 reaches the end of int64 from 10 steps inside it, and not from 11."""
    half = math.inf if open_ else 10.0
    low, high = -END + inside, END - 1 - inside
    assert told(low, 10.0) == (-math.inf if open_ else low - 10, low + 10, half)
    assert told(high, 10.0) == (high - 10, math.inf if open_ else high + 10, half)


@pytest.mark.parametrize("value", [0.0, 1.5, -3e9, 1e200])
def test_a_float_with_enough_digits_has_the_error_on_both_sides(value):
    half = math.ulp(value) * 2.0**21
    assert told(value, half) == (value - half, value + half, half)


@pytest.mark.parametrize("value", [1.5, -3e9, 1e200])
@pytest.mark.parametrize("steps", [0.25, 3.0, 2.0**19])
def test_a_float_with_too_few_digits_was_rounded_and_so_were_its_ends(value, steps):
    half = steps * math.ulp(value)
    arm = half + math.ulp(value)
    outward = (math.nextafter(value - arm, -math.inf), math.nextafter(value + arm, math.inf))
    assert told(value, half) == (*outward, arm)


@pytest.mark.parametrize("sign", [1.0, -1.0])
def test_the_largest_float_may_stand_for_any_beyond(sign):
    assert told(sign * sys.float_info.max, 1e300) == (-math.inf, math.inf, math.inf)


@pytest.mark.parametrize("law", ["laplace", "gaussian"])
@pytest.mark.parametrize("among", [1, 25])
@pytest.mark.parametrize("confidence", [0.5, 0.95])
def test_a_sum_of_noises_errs_by_its_reach_and_by_how_it_is_rounded(law, among, confidence):
    given = {"law": law, "scales": (2.0, 3.5), "among": among}
    far = reach(law, (2.0, 3.5), confidence=of_each(confidence, among))
    assert Summed(**given).half(confidence) == far
    assert Summed(**given, rounded=True).half(confidence) == far + 0.5
    whole = Summed(**given, rounded=True, whole=True).half(confidence)
    assert whole == math.ceil(far - 0.5)
    assert Summed(**given, whole=True).half(confidence) == far


def test_little_noise_on_whole_numbers_rounds_to_no_error():
    assert Summed(law="laplace", scales=(1e-6,), rounded=True, whole=True).half(0.95) == 0.0
    assert Summed(law="laplace", scales=(), rounded=True, whole=True).half(0.95) == 0.0


def test_a_table_answers_with_the_next_confidence_that_it_has():
    spread = Tabulated(intervals={0.9: [(1.0, 4.0)], 0.99: [(0.0, 9.0)]})
    column = Noisy(cells=(3,), spread=spread)
    assert column.intervals(0.8) == column.intervals(0.9) == ((1.0, 4.0),)
    assert column.intervals(0.91) == column.intervals(0.99) == ((0.0, 9.0),)
    assert (column.errors(0.9), column.errors(0.95)) == ((2.0,), (6.0,))
    assert Noisy(cells=(8,), spread=spread).errors(0.95) == (8.0,)
    with pytest.raises(BadParameter, match=r"at most 0\.99"):
        column.intervals(0.999)


def test_only_numbers_and_moments_have_errors():
    day, moment = dt.date(2024, 1, 2), dt.datetime(2024, 1, 2, 3, 4)  # noqa: DTZ001
    cells = (None, True, "a", 5, 2.5, day, moment)
    column = Noisy(cells=cells, spread=Summed(law="gaussian", scales=(1.0,)))
    half = column.spread.half(0.95)
    whole = math.ceil(half)
    assert column.errors() == (
        None, None, None, half, half, dt.timedelta(days=whole), dt.timedelta(minutes=whole)
    )  # fmt: skip
    found = column.intervals()
    assert found[:5] == (None, None, None, (5 - half, 5 + half), (2.5 - half, 2.5 + half))
    assert found[5] == (day - dt.timedelta(days=2), day + dt.timedelta(days=2))
    assert found[6] == (moment - dt.timedelta(minutes=2), moment + dt.timedelta(minutes=2))


def test_dates_lie_between_whole_days_outside():
    spread = Tabulated(intervals={0.95: [(10.25, 12.5), (-3.5, -0.25)]})
    epoch = dt.date(1970, 1, 1)
    column = Noisy(cells=(epoch + dt.timedelta(days=11), epoch), spread=spread)
    days = [[(end - epoch).days for end in pair] for pair in column.intervals(0.95)]
    assert days == [[10, 13], [-4, 0]]
    assert column.errors(0.95) == (dt.timedelta(days=2), dt.timedelta(days=4))


def test_without_a_spread_or_where_it_depends_on_data_there_is_no_error():
    assert Noisy(cells=(1, 2)).errors() == (None, None)
    assert told_none() == ((None, None), (None, None))
    column = Noisy(cells=("a", None), spread=Tabulated(intervals={0.5: [(0, 0), (0, 0)]}))
    assert column.errors(0.95) == (None, None)  # not even asked for a confidence it does not have


def told_none():
    column = Noisy(cells=(1, 2), spread=Additive(mechanism=Noise(None)))
    return column.errors(), column.intervals()


VALUES = [
    None, True, 3, -0.5, "text", (1, "a"), [1, (2, 3)], {"k": (1,), 2: [dt.date(2024, 5, 6)]},
    dt.date(2024, 1, 2), dt.datetime(2024, 1, 2, 3, 4, 5), Month(2024, 5, 1),  # noqa: DTZ001
]  # fmt: skip


@pytest.mark.parametrize("value", VALUES)
def test_plain_answers_are_read_back_as_they_were(value):
    found = decode(encode(value))
    assert found == value
    assert type(found) is type(value)


def test_arrays_are_read_back_with_their_type():
    table = np.array([[1, 2], [3, 4]], dtype=np.int32)
    found = decode(encode(table))
    assert found.dtype == table.dtype
    assert (found == table).all()


@pytest.mark.parametrize("value", [object(), {1, 2}, b"x", array.array("d", [1.0])])
def test_other_answers_cannot_be_stored(value):
    with pytest.raises(BadParameter):
        encode(value)


RECORD = {
    "a": [1, math.inf, [-math.inf, {"b": math.inf}]], "c": "inf", "d": {"float": 1.5}, "e": 2.0,
    "f": {"float": "inf", "more": 1}, "g": None,
}  # fmt: skip


def test_records_with_numbers_that_json_has_not_are_marked_and_read_back():
    held = marked(RECORD)
    assert held["a"] == [1, {"float": "inf"}, [{"float": "-inf"}, {"b": {"float": "inf"}}]]
    assert (held["c"], held["d"], held["e"]) == ("inf", {"float": 1.5}, 2.0)
    assert unmarked(held) == RECORD
    assert math.isnan(unmarked(marked([math.nan]))[0])


SPREADS = [
    Additive(mechanism=Laplace(scale=2.0, sensitivity=1.0), factor=0.5, whole=True),
    Additive(mechanism=Laplace(scale=2.0, sensitivity=1.0)),
    Summed(law="laplace", scales=(1.0, 2.0), rounded=True, among=7),
    Summed(law="gaussian", scales=(1.0,), whole=True),
    Tabulated(intervals={0.9: ((1.0, 2.0),), 0.95: ((0.5, 2.5),)}),
]


@pytest.mark.parametrize("spread", SPREADS)
@pytest.mark.parametrize("shape", [None, (1, 1)])
@pytest.mark.parametrize("estimand", ["", "of clipped values"])
def test_columns_are_read_back_as_they_were(spread, shape, estimand):
    column = Noisy(cells=(3,), shape=shape, spread=spread, estimand=estimand)
    assert Noisy.from_dict(column.to_dict()) == column
    assert ("estimand" in column.to_dict()) == bool(estimand)
    assert Spread.from_dict(spread.to_dict()) == spread


def test_old_records_lack_what_came_later():
    record = SPREADS[2].to_dict()
    del record["among"]
    assert Spread.from_dict(record) == Summed(law="laplace", scales=(1.0, 2.0), rounded=True)
    record = SPREADS[1].to_dict()
    del record["whole"]
    assert Spread.from_dict(record) == SPREADS[1]
    assert Noisy.from_dict({"cells": [1]}) == Noisy(cells=(1,))
    with pytest.raises(BadParameter, match="one of additive, summed, tabulated"):
        Spread.from_dict({"kind": "other"})
