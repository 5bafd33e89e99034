"""The one builder of questions: what it shows, what it reads, and how many groups it allows."""

import datetime as dt
from types import SimpleNamespace

import pytest

import deniable as dp
from deniable.errors import UnsupportedQuery
from deniable.query.algebra import (
    Aggregate,
    Column,
    Domain,
    Function,
    Key,
    Kind,
    Literal,
    Read,
    Scan,
    call,
    evaluate,
    literal,
)
from deniable.query.bind.aggregates import days_since, minutes_since
from deniable.query.bind.builder import question
from deniable.query.bind.keys import MOST_CELLS, MOST_SETS, check_cells
from deniable.query.bind.spelling import fold, later, together

READS = tuple(Read(name=n, source=n, facts=dp.bounds(0, 9, type="int", missing=0)) for n in "abcd")
A, B, C, D = (read.column for read in READS)
KEY = Key(name="a", expression=A, values=(0, 1))
TOTAL = Aggregate(name="s", function=Function.SUM, argument=B, where=call("gt", C, literal(1)))


def made(*, more=(), **given):
    scope = SimpleNamespace(relation=Scan(table="t", reads=READS))
    asking = SimpleNamespace(unit=dp.rows())
    return question(scope, asking, keys=[KEY, *more], aggregates=[TOTAL], **given)


def test_an_answer_has_every_key_and_aggregate_and_reads_what_they_need():
    found = made()
    assert [(o.name, o.expression.name) for o in found.outputs] == [("a", "a"), ("s", "s")]
    assert found.grouping_sets == ((0,),)
    assert {c.name for c in found.relation.columns} == {"a", "b", "c"}
    assert made(sets=[(0,), ()]).grouping_sets == ((0,), ())
    assert made(outputs=[]).outputs == ()


def keys(*sizes):
    return [
        Key(name=f"k{i}", expression=A, values=None if size is None else range(size))
        for i, size in enumerate(sizes)
    ]


def test_answers_have_at_most_so_many_groups_over_all_groupings():
    half = 2**20
    check_cells(keys(half, half), [(0, 1)])
    assert half * half == MOST_CELLS
    for sizes, sets in (((half, half + 1), [(0, 1)]), ((half, half), [(0, 1), (0,)])):
        with pytest.raises(UnsupportedQuery, match="the limit is"):
            check_cells(keys(*sizes), sets)
    with pytest.raises(UnsupportedQuery, match="the limit is"):
        made(more=keys(2**30, 2**30))
    check_cells(keys(2**30, 2**30), [(0,), (1,)])


def test_groupings_are_few_and_of_public_keys():
    check_cells(keys(2), [(0,)] * MOST_SETS)
    with pytest.raises(UnsupportedQuery, match="at most 64"):
        check_cells(keys(2), [(0,)] * (MOST_SETS + 1))
    check_cells(keys(2, None), [(0, 1)])
    for sizes in ((2, None), (None, 2)):
        with pytest.raises(UnsupportedQuery, match="public keys"):
            check_cells(keys(*sizes), [(0,), (1,)])


# ---- operations made of several


FIRST, LAST = dt.datetime(1969, 12, 30, 5, 7, 31), dt.datetime(1970, 2, 1, 23, 59, 59)  # noqa: DTZ001


def test_moments_are_whole_minutes_since_1970_between_those_of_the_bounds():
    domain = Domain(kind=Kind.TIMESTAMP, low=FIRST, high=LAST)
    number = minutes_since(Column(name="t", domain=domain))
    epoch = dt.datetime(1970, 1, 1)  # noqa: DTZ001
    day = dt.timedelta(days=1)
    for moment in (FIRST, LAST, epoch, epoch + day / 3, FIRST - 9 * day, LAST + 9 * day):
        held = min(max(moment, FIRST), LAST)
        assert evaluate(number, {"t": moment}) == (held - epoch) // dt.timedelta(minutes=1)
    days = days_since(Column(name="t", domain=domain))
    assert evaluate(days, {"t": FIRST}) == -2


@pytest.mark.parametrize("minutes", [0, 1, -1, 60, 1440, -1440, 2880, 1441])
def test_a_date_that_is_whole_days_later_stays_a_date(minutes):
    day, moment = dt.date(2024, 2, 28), dt.datetime(2024, 2, 28, 12, 30)  # noqa: DTZ001
    span = dt.timedelta(minutes=minutes)
    whole = minutes % 1440 == 0
    for value, kind in ((day, Kind.DATE), (moment, Kind.TIMESTAMP)):
        given = later(Column(name="d", domain=Domain(kind=kind)), minutes)
        start = dt.datetime.combine(day, dt.time()) if kind is Kind.DATE and not whole else value
        assert evaluate(given, {"d": value}) == start + span
    text = later(literal("2024-02-28"), minutes)
    start = day if whole else dt.datetime.combine(day, dt.time())
    assert evaluate(text, {}) == start + span


def test_intervals_end_with_the_calendar():
    most = dt.date.max.toordinal() * 24 * 60
    day = Column(name="d", domain=Domain(kind=Kind.DATE))
    for minutes in (most, -most):
        assert evaluate(later(day, minutes), {"d": dt.date(2024, 1, 1)}) is None
    for minutes in (most + 1, -most - 1):
        with pytest.raises(UnsupportedQuery, match="exceeds the calendar"):
            later(day, minutes)


def test_conditions_are_joined_and_one_alone_is_itself():
    some = [call("gt", x, literal(1)) for x in (A, B, C)]
    assert together("and", some[0]) is some[0]
    made_ = together("and", *some)
    assert evaluate(made_, {"a": 2, "b": 2, "c": 2}) is True
    assert evaluate(made_, {"a": 2, "b": 2, "c": 0}) is False


def test_constants_are_computed_where_they_are_the_same_everywhere():
    assert fold("add", literal(1), literal(2)) == literal(3)
    assert not isinstance(fold("add", literal(1), A), Literal)
    assert not isinstance(fold("ln", literal(2.0)), Literal)
    with pytest.raises(UnsupportedQuery, match="too large"):
        fold("multiply", literal(1e308), literal(1e308))
