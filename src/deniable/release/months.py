"""Months, quarters and years as keys of an answer: dates, written without what they all share."""

from __future__ import annotations

import datetime as dt
from typing import ClassVar, Final, Self


class Period(dt.date):
    """Some months in a row: the date of their first day."""

    months: ClassVar[int]

    @classmethod
    def of(cls, day: dt.date) -> Self:
        """The one that a day is in, as the calendar has them."""
        return cls(day.year, day.month - (day.month - 1) % cls.months, 1)


class Month(Period):
    """A month of a year, written 2024-05."""

    months = 1

    def __str__(self) -> str:
        return f"{self.year:04}-{self.month:02}"


class Quarter(Period):
    """Three months, from January, April, July or October on: 2024-Q2."""

    months = 3

    def __str__(self) -> str:
        return f"{self.year:04}-Q{self.month // 3 + 1}"


class Year(Period):
    """A year, from January on: 2024."""

    months = 12

    def __str__(self) -> str:
        return f"{self.year:04}"


PERIODS: Final[dict[str, type[Period]]] = {"month": Month, "quarter": Quarter, "year": Year}
