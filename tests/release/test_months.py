"""Months, quarters and years: which one a day is in, and how each is written."""

import calendar
import datetime as dt

import pytest

from deniable.release.months import PERIODS

WRITTEN = {
    "month": [f"2024-{month:02}" for month in range(1, 13)],
    "quarter": [f"2024-Q{quarter}" for quarter in (1, 1, 1, 2, 2, 2, 3, 3, 3, 4, 4, 4)],
    "year": ["2024"] * 12,
}
FIRST = {
    "month": list(range(1, 13)),
    "quarter": [1, 1, 1, 4, 4, 4, 7, 7, 7, 10, 10, 10],
    "year": [1] * 12,
}


@pytest.mark.parametrize("name", PERIODS)
@pytest.mark.parametrize("month", range(1, 13))
def test_a_day_is_in_the_period_that_the_calendar_has(name, month):
    for day in (1, 15, calendar.monthrange(2024, month)[1]):
        found = PERIODS[name].of(dt.date(2024, month, day))
        assert found == dt.date(2024, FIRST[name][month - 1], 1)
        assert type(found) is PERIODS[name]
        assert str(found) == WRITTEN[name][month - 1]
