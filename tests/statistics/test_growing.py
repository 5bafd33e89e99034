"""Running totals of a table that grows: one charge, and one bound for the whole stream."""

import datetime as dt
import sys
import threading

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import deniable as dp
from deniable.audit import replay
from deniable.errors import BadParameter, BudgetExceeded, DataFailure
from deniable.query.integers import WEIGHT
from deniable.release import Release
from deniable.statistics.workloads import growing
from deniable.statistics.workloads.growing import _weights

FIRST = dt.date(2025, 1, 1)
DAYS = 20
SCHEMA = dp.Schema(
    tables={
        "visits": dp.Schema(
            columns={
                "day": dp.bounds(
                    FIRST, FIRST + dt.timedelta(DAYS - 1), type="date", missing="drop"
                ),
                "pay": dp.bounds(-5.0, 100.0, missing="drop"),
            }
        )
    }
)
UNITS = [dp.rows(), dp.rows(relation="replace"), dp.person("who", rows=3)]
BIG = dp.epsilon(1e6)


def on(day):
    return FIRST + dt.timedelta(days=day)


def visits(rows=200):
    rng = np.random.default_rng(2)
    table = pd.DataFrame(
        {
            "who": rng.integers(0, 40, rows),
            "day": [on(int(d)) for d in np.sort(rng.integers(0, DAYS, rows))],
            "pay": rng.uniform(-20, 120, rows),
        }
    )
    table.loc[::20, "pay"] = np.nan
    return table


def grown(path, table, days):
    """The table as it is after so many days."""
    table[table.day < on(days)].to_parquet(path)


def opened(path, unit, spend=BIG):
    budget = dp.rho(2e12) if isinstance(spend, dp.losses.Zcdp) else dp.epsilon(2e6)
    return dp.open({"visits": str(path)}, unit=unit, budget=budget, schema=SCHEMA)


@pytest.mark.parametrize("unit", UNITS, ids=str)
@pytest.mark.parametrize("of", [None, "pay"])
def test_the_newest_days_are_asked_for_and_paid_once(unit, of, tmp_path):
    """With noise that is hardly there the totals are those of the table when each was asked."""
    path, table = tmp_path / "visits.parquet", visits()
    grown(path, table, 8)
    s = opened(path, unit)
    stream = s.follow("day", of=of, spend=BIG)
    spent = s.spent
    first = stream.next(through=on(7))
    grown(path, table, DAYS)
    second = stream.next(through=on(DAYS - 1))
    assert s.spent == spent
    assert [len(each.rows()) for each in (first, second)] == [8, DAYS - 8]
    found = [row["total"] for each in (first, second) for row in each.rows()]
    assert [row["day"] for row in second.rows()] == [on(d) for d in range(8, DAYS)]
    if unit.column is None:
        values = table.pay.clip(-5, 100).fillna(0) if of else pd.Series(1, table.index)
        wanted = [values[table.day <= on(d)].sum() for d in range(DAYS)]
    elif of is None:
        wanted = [
            np.minimum(table[table.day <= on(d)].groupby("who").size(), 3).sum()
            for d in range(DAYS)
        ]
    else:
        return
    assert found == pytest.approx(wanted, abs=0.1)
    with pytest.raises(BadParameter, match="no day has ended"):
        stream.next(through=on(DAYS))


@settings(max_examples=40)
@given(st.lists(st.tuples(st.integers(0, 5), st.booleans()), max_size=25), st.integers(1, 4))
def test_a_person_adds_at_most_their_rows_over_a_stream_that_only_grows(arrivals, rows):
    """Rows come in any order, some after their step was counted; none is ever deleted."""
    counted = 0
    for step in range(6):
        there = np.array(
            [
                d
                for i, (d, late) in enumerate(arrivals)
                if d <= step and not (late and d == step and i % 2)
            ]
        )
        when = there.astype(np.int64)
        people = np.zeros(len(when), dtype=np.int64)
        weights = _weights(people, when, step=step, rows=rows, weight=WEIGHT)
        counted += int((when == step).sum()) * (int(weights[0]) if len(weights) else 0)
        assert counted <= min(rows, len(when)) * WEIGHT


def counting(table=None):
    """A stream of counts with noise that is hardly ever there, and the totals it should give."""
    table = visits() if table is None else table
    s = dp.open({"visits": table}, unit=dp.rows(), budget=BIG, schema=SCHEMA)
    return s.follow("day", spend=BIG), [int((table.day <= on(d)).sum()) for d in range(DAYS)]


def totals(release):
    return [row["total"] for row in release.rows()]


def interrupted(stream, *, at):
    """Ctrl-C at the so-many-th line of `next` and the methods it calls; whether it came."""
    lines = 0

    def trace(frame, event, _):
        nonlocal lines
        code = frame.f_code
        if code.co_filename != growing.__file__ or not code.co_qualname.startswith("Growing."):
            return None
        lines += event == "line"
        if lines == at:
            sys.settrace(None)
            raise KeyboardInterrupt
        return trace

    before = sys.gettrace()
    sys.settrace(trace)
    try:
        stream.next(through=on(1))
    except (KeyboardInterrupt, DataFailure):
        return True
    finally:
        sys.settrace(before)
    return False


def test_no_step_is_counted_twice_wherever_it_is_interrupted():
    """The stream goes on as if nothing had happened, or it has ended."""
    ended, at = [], 1
    while True:
        stream, wanted = counting()
        if not interrupted(stream, at=at):
            break
        try:
            found = totals(stream.next(through=on(2)))
            assert found == pytest.approx(wanted[3 - len(found) : 3], abs=0.1), at
            ended.append(False)
        except (BadParameter, DataFailure):
            ended.append(True)
        at += 1
    assert {True, False} == set(ended)


def test_threads_that_ask_together_count_no_step_twice():
    stream, wanted = counting()
    together, found = threading.Barrier(3), []

    def ask():
        together.wait()
        try:
            found.extend(totals(stream.next(through=on(3))))
        except BadParameter:
            found.append(None)

    threads = [threading.Thread(target=ask) for _ in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found.count(None) == 2
    assert [x for x in found if x is not None] == pytest.approx(wanted[:4], abs=0.1)


@pytest.mark.parametrize("rows", [2**43, 2**50, 2**63, 2**70])
def test_any_number_of_rows_may_be_a_persons_own(rows):
    """More than anyone can have: then all count, which noise of that size hides."""
    unit = dp.person("who", rows=rows)
    s = dp.open({"visits": visits()}, unit=unit, budget=BIG, schema=SCHEMA)
    assert len(s.follow("day", spend=BIG).next(through=on(2)).rows()) == 3


def test_a_moment_that_is_over_is_one_of_the_columns():
    stream, wanted = counting()
    assert totals(stream.next(through=dt.date.max)) == pytest.approx(wanted, abs=0.1)
    low, high, late = map(dt.datetime.fromisoformat, ("2025-01-01", "2025-01-03", "9999-12-31"))
    schema = dp.Schema(columns={"at": dp.bounds(low, high, type="timestamp", missing="drop")})
    s = dp.open(pd.DataFrame({"at": [low]}), unit=dp.rows(), budget=BIG, schema=schema)
    stream = s.follow("at", spend=BIG)
    with pytest.raises(BadParameter, match="through must be"):
        stream.next(through=dt.datetime(2025, 1, 2, tzinfo=dt.UTC))
    assert len(stream.next(through=late).rows()) == 3


@pytest.mark.parametrize("unit", UNITS, ids=str)
@pytest.mark.parametrize("spend", [dp.epsilon(1.0), dp.rho(0.5)], ids=str)
def test_neighbours_move_the_stream_no_further_than_declared(unit, spend, tmp_path):
    table = visits(60)
    one = table.iloc[[7]].assign(who=99, pay=100.0)
    if unit.column is not None:
        more = [one.assign(day=on(d)) for d in (0, 0, 3, 3, 3, 9)]
    else:
        more = [one.assign(day=on(4))]
    base = table.iloc[1:] if unit.relation.value == "replace" else table

    def program(rows):
        path = tmp_path / f"{len(rows)}{rows.pay.sum():.3f}.parquet"
        for of in (None, "pay"):
            grown(path, rows, 5)
            stream = opened(path, unit, spend).follow("day", of=of, spend=spend)
            stream.next(through=on(4))
            grown(path, rows, DAYS)
            stream.next(through=on(12))

    found = replay(program, table, pd.concat([base, *more]))
    assert found.ok, str(found)


def test_it_is_explained_refused_and_drawn(tmp_path):
    path = tmp_path / "visits.parquet"
    visits().to_parquet(path)
    s = dp.open({"visits": str(path)}, unit=UNITS[2], budget=dp.epsilon(1.0), schema=SCHEMA)
    plan = s.follow("day", every="week").explain(spend=dp.epsilon(1.0))
    assert any("only ever added" in note for note in plan.notes)
    assert any("first 3 rows" in note for note in plan.notes)
    assert not s.ledger.entries
    for bad in ({"every": "hour"}, {"every": "decade"}):
        with pytest.raises(BadParameter):
            s.follow("day", **bad)
    with pytest.raises(BadParameter):
        s.follow("pay")
    with pytest.raises(BudgetExceeded):
        s.follow("day", spend=dp.epsilon(1.1))
    stream = s.follow("day", every="week", spend=dp.epsilon(1.0))
    with pytest.raises(BadParameter):
        stream.next(through="2025-01-31")
    found = stream.next()  # all weeks are over by now
    assert max(row["total_error"] for row in found.rows()) == pytest.approx(plan.errors["total"])
    assert found.plot().get_title(loc="left")
    assert found.free
    assert "3 of 3" in repr(stream) or "4 of 4" in repr(stream)


@pytest.mark.parametrize("type_", ["date", "timestamp"])
def test_totals_are_labelled_by_what_they_are_up_to_and_frames_have_dates(type_):
    low, high = (dt.datetime.fromisoformat(d) for d in ("2023-01-01", "2023-03-31T23:00"))
    if type_ == "date":
        low, high = low.date(), high.date()
    table = pd.DataFrame({"at": [low] * 5})
    schema = dp.Schema(columns={"at": dp.bounds(low, high, type=type_, missing="drop")})
    s = dp.open(table, unit=dp.rows(), budget=dp.epsilon(9.0), schema=schema)
    found = s.running("at", every="month", spend=dp.epsilon(1.0))
    assert "2023-01 " in str(found)
    assert "2023-01-01" not in str(found).partition("at is clipped")[0]
    again = Release.from_dict(found.to_dict())
    assert "2023-01 " in str(again)
    assert again.rows() == found.rows()
    assert "datetime64" in str(found.to_pandas().month.dtype)
    assert str(found.to_polars()["month"].dtype) == "Date"
    assert str(found.to_arrow().column("month").type).startswith("date32")
    days = s.running("at", every="day", spend=dp.epsilon(1.0))
    assert "00:00" not in str(days).partition("at is clipped")[0]
