"""Streams of a growing table that go on after a restart: nothing counted twice."""

import sys

import numpy as np
import pandas as pd
import pytest
from tests.statistics.test_growing import (
    BIG,
    DAYS,
    SCHEMA,
    UNITS,
    grown,
    on,
    opened,
    totals,
    visits,
)

import deniable as dp
from deniable.errors import BadParameter
from deniable.session import streams
from deniable.statistics.workloads import growing


def restarted(path, ledger, unit=None, spend=None, **options):
    """The same table and ledger, as a new process opens them."""
    budget = dp.rho(2e12) if isinstance(spend, dp.losses.Zcdp) else dp.epsilon(2e6)
    return dp.open(
        {"visits": str(path)},
        unit=unit or dp.rows(),
        budget=budget,
        schema=SCHEMA,
        ledger=str(ledger),
        **options,
    )


@pytest.mark.parametrize("unit", UNITS, ids=str)
@pytest.mark.parametrize("of", [None, "pay"])
@pytest.mark.parametrize("spend", [BIG, dp.rho(1e12)], ids=str)
def test_a_stream_is_resumed_where_the_ledger_says_and_costs_nothing_more(
    unit, of, spend, tmp_path
):
    """The same totals, but for hardly any noise, as those of a process that never ended."""
    path, table = tmp_path / "visits.parquet", visits()
    table.to_parquet(path)
    whole = opened(path, unit, spend).follow("day", of=of, spend=spend)
    wanted = totals(whole.next(through=on(DAYS - 1)))
    found, ledger = [], tmp_path / "l.ledger"
    for last in (4, 5, 11, DAYS - 1):
        grown(path, table, last + 1)
        with restarted(path, ledger, unit, spend) as s:
            asked = s.follow("day", of=of)
            stream = asked.open(spend=spend) if not found else asked.resume()
            spent = s.spent
            found += totals(stream.next(through=on(last)))
            assert s.spent == spent
    assert found == pytest.approx(wanted, abs=0.1)
    with restarted(path, ledger, unit, spend) as s:
        s.ledger.verify()
        assert sum(e.kind == "charge" for e in s.ledger.entries) == 1
        with pytest.raises(BadParameter, match="all steps"):
            s.follow("day", of=of).resume()


@pytest.mark.parametrize("spend", [dp.rho(0.5), dp.epsilon(1.0)], ids=str)
def test_errors_of_a_new_counter_come_on_top_of_those_of_the_last_total(spend):
    s = dp.open({"visits": visits(40)}, unit=dp.rows(), budget=spend, schema=SCHEMA)
    first = s.follow("day", spend=spend)
    first.next(through=on(4))
    second = s.follow("day").resume()
    second.next(through=on(6))
    third = s.follow("day").resume()
    counters = [each._course.handle.mechanism for each in (first, second, third)]
    assert [each.steps for each in counters] == [20, 15, 13]
    wanted = counters[0].deviations(5)
    for counter, steps in zip(counters[1:], (2, 13), strict=True):
        wanted = np.append(wanted, np.hypot(wanted[-1], counter.deviations(steps)))
    assert third._plan.deviations == pytest.approx(wanted)
    shown = third.next(through=on(DAYS - 1))
    assert shown.answers["total"].cells[-1] == third._totals[-1]
    assert third._totals[:7] == [*first._totals, *second._totals[5:]]


@pytest.mark.parametrize("lost", ["reading", "read", "noted"])
def test_a_process_that_ends_while_steps_are_read_ends_the_stream(lost, tmp_path, monkeypatch):
    path, ledger = tmp_path / "visits.parquet", tmp_path / "l.ledger"
    visits().to_parquet(path)
    with restarted(path, ledger) as s:
        stream = s.follow("day", spend=BIG)
        stream.next(through=on(2))
        name = {"reading": "_count", "read": "_release", "noted": "_release"}[lost]
        if lost == "read":
            noted = growing.streams.note

            def only_reading(session, course, value):
                if "totals" in value:
                    raise SystemExit
                noted(session, course, value)

            monkeypatch.setattr(growing.streams, "note", only_reading)
        else:
            monkeypatch.setattr(growing.Growing, name, lambda *_: sys.exit())
        with pytest.raises(SystemExit):
            stream.next(through=on(5))
        monkeypatch.undo()
    with restarted(path, ledger) as s:
        if lost == "noted":  # the totals are in the ledger, though nobody was shown them
            assert len(s.follow("day").resume()._totals) == 6
            return
        with pytest.raises(BadParameter, match="ended when a step was interrupted"):
            s.follow("day").resume()


def test_two_processes_cannot_go_on_with_one_stream(tmp_path):
    path, ledger = tmp_path / "visits.parquet", tmp_path / "l.ledger"
    visits().to_parquet(path)
    with restarted(path, ledger) as first, restarted(path, ledger) as second:
        stream = first.follow("day", spend=BIG)
        stream.next(through=on(2))
        other = second.follow("day").resume()
        assert len(other.next(through=on(4)).rows()) == 2
        with pytest.raises(BadParameter, match="another process"):
            stream.next(through=on(4))
        assert len(other.next(through=on(5)).rows()) == 1


def test_only_what_was_paid_for_by_the_same_asker_is_resumed(tmp_path):
    path, ledger = tmp_path / "visits.parquet", tmp_path / "l.ledger"
    visits().to_parquet(path)
    with restarted(path, ledger) as s:
        s.follow("day", spend=BIG).next(through=on(2))
        others = (
            s.for_("ann").follow("day"),
            s.follow("day", of="pay"),
            s.follow("day", every="week"),
        )
        for asked in others:
            with pytest.raises(BadParameter, match="no such stream"):
                asked.resume()


def test_a_counter_that_costs_more_than_was_paid_is_refused(tmp_path):
    path = tmp_path / "visits.parquet"
    visits().to_parquet(path)
    s = opened(path, dp.rows(), dp.rho(1.0))
    counter = dp.mechanisms.SquareRootCounter(steps=5, sigma=2.0)
    course = streams.begun(s, counter, question="q", title="")
    streams.resumed(s, counter, entry=course.entry, notes=[])
    dearer = dp.mechanisms.SquareRootCounter(steps=5, sigma=1.0)
    with pytest.raises(BadParameter, match="costs more"):
        streams.resumed(s, dearer, entry=course.entry, notes=[])


@pytest.mark.parametrize("unit", UNITS, ids=str)
def test_neighbours_move_a_resumed_stream_no_further_than_declared(unit, tmp_path):
    """With noise off, over every split into processes: what a unit adds to all epochs together."""
    table = visits(30)
    table = pd.concat([table, pd.DataFrame({"who": [99], "day": [on(3)], "pay": [90.0]})])
    moved = {}
    for split in (1, 4, 7):
        found = []
        for each in (table, table.iloc[:-1]):
            s = dp.open({"visits": each}, unit=unit, budget=dp.epsilon(1e9), schema=SCHEMA)
            spend = dp.epsilon(1e6)
            first = totals(s.follow("day", of="pay", spend=spend).next(through=on(split)))
            rest = totals(s.follow("day", of="pay").resume().next(through=on(DAYS - 1)))
            found.append(np.diff([0, *first, *rest]))
        moved[split] = np.abs(found[0] - found[1]).sum()
    most = 100 * (unit.rows or 1) + 0.5
    assert all(0 < each <= most for each in moved.values())
