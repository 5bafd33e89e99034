"""Made-up rows have the types and the bounds that the schema states."""

import datetime as dt

import numpy as np
import pytest

import deniable as dp
from deniable.sampling.public import PublicRandom
from deniable.schema import made_up

DAY = dt.datetime(2020, 1, 1)  # noqa: DTZ001  columns have no zones
TYPES = {
    "int": (dp.bounds(-3, 9, type="int"), int),
    "float": (dp.bounds(-3.0, 9.0), float),
    "date": (dp.bounds(DAY.date(), dt.date(2020, 3, 1), type="date"), dt.date),
    "timestamp": (dp.bounds(DAY, DAY + dt.timedelta(3), type="timestamp"), dt.datetime),
    "bool": (dp.column("bool"), bool),
    "text": (dp.column("text"), str),
}


@pytest.mark.parametrize("name", TYPES)
def test_values_have_their_type_and_lie_within_their_bounds(name):
    column, kind = TYPES[name]
    values = made_up._values(column, np.linspace(0, 1, 50, endpoint=False))
    assert all(type(v) is kind or isinstance(v, kind) for v in values)
    assert (name == "date") == any(type(v) is dt.date for v in values)
    if column.bounds:
        low, high = column.bounds
        assert all(low <= v <= high for v in values)
        assert values[0] == low
    assert len(set(values)) > 1


@pytest.mark.parametrize("kind", ["date", "timestamp"])
def test_moments_without_bounds_fill_five_years(kind):
    values = made_up._values(dp.column(kind), np.array([0.0, 0.5, 1.0]))
    wanted = [DAY + dt.timedelta(days=n) for n in (0, 912.5, 1825)]
    assert values == ([each.date() for each in wanted] if kind == "date" else wanted)


@pytest.mark.parametrize(("rows", "people"), [(1, 1), (2, 1), (5, 1), (6, 2), (8, 2), (9, 3)])
def test_there_are_as_many_people_as_have_all_their_rows(rows, people):
    unit = dp.person("who", rows=3)
    found = set()
    for seed in range(40):
        cells = made_up._cells("who", dp.column("int"), unit, rows, PublicRandom(seed))
        found |= set(cells)
    assert found == set(range(people))


def test_times_of_day_are_kept_and_ids_are_of_their_type():
    noon = DAY + dt.timedelta(hours=12)
    column = dp.bounds(noon, noon + dt.timedelta(hours=4), type="timestamp")
    values = made_up._values(column, np.array([0.0, 0.25, 1.0]))
    assert values == [noon + dt.timedelta(hours=n) for n in (0, 1, 4)]
    assert (made_up._person(3, "text"), made_up._person(3, "int")) == ("person 3", 3)
    assert made_up._values(dp.column("bool"), np.array([0.4, 0.5])) == [True, False]
