"""Months as keys of an answer: dates, written without the day."""

from __future__ import annotations

import datetime as dt
from typing import Self


class Month(dt.date):
    """A month: the date of its first day, written without the day."""

    @classmethod
    def of(cls, day: dt.date) -> Self:
        """The month of a day."""
        return cls(day.year, day.month, 1)

    def __str__(self) -> str:
        return f"{self.year:04}-{self.month:02}"
