"""A small table of answers: named columns of equal length, and the forms people want it in."""

from __future__ import annotations

import datetime as dt
import os
import unicodedata
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Final

from deniable import parameters
from deniable.errors import MissingExtra, UnknownName

from .numbers import digits

if TYPE_CHECKING:
    import pandas as pd
    import polars as pl
    import pyarrow as pa

_FORMULA: Final = ("=", "+", "-", "@", "\t", "\r")
"""How a text begins that a spreadsheet would run."""


@dataclass(frozen=True, repr=False)
class Frame:
    """Columns by name, in order; printed with floats to six digits.

    >>> frame = Frame({"city": ("Oslo", "Bergen"), "n": (41, 29)})
    >>> frame["n"]
    (41, 29)
    >>> frame.rows()
    [{'city': 'Oslo', 'n': 41}, {'city': 'Bergen', 'n': 29}]
    """

    columns: Mapping[str, Sequence[object]]

    def __post_init__(self) -> None:
        columns = {name: tuple(values) for name, values in self.columns.items()}
        object.__setattr__(self, "columns", MappingProxyType(columns))

    def __getitem__(self, name: str) -> Sequence[object]:
        if name not in self.columns:
            raise UnknownName.of("column", name, known=self.columns)
        return self.columns[name]

    def __len__(self) -> int:
        return max(map(len, self.columns.values()), default=0)

    def __iter__(self) -> Iterator[str]:
        return iter(self.columns)

    def rows(self) -> list[dict[str, object]]:
        """One dictionary per row."""
        return [
            dict(zip(self.columns, row, strict=True))
            for row in zip(*self.columns.values(), strict=True)
        ]

    def to_pandas(self) -> pd.DataFrame:
        """The columns as a pandas frame."""
        try:
            import pandas as pd
        except ImportError:
            raise MissingExtra.of("pandas", extra="frames") from None
        columns = {name: list(values) for name, values in self.columns.items()}
        dates = [name for name, values in columns.items() if _are_dates(values)]
        return pd.DataFrame(columns | {name: pd.to_datetime(columns[name]) for name in dates})

    def to_polars(self) -> pl.DataFrame:
        """The columns as a Polars frame."""
        try:
            import polars as pl
        except ImportError:
            raise MissingExtra.of("polars", extra="frames") from None
        columns = {name: list(values) for name, values in self.columns.items()}
        return pl.DataFrame(columns, strict=False)  # else the first value decides about all

    def to_arrow(self) -> pa.Table:
        """The columns as a PyArrow table."""
        try:
            import pyarrow as pa
        except ImportError:
            raise MissingExtra.of("pyarrow", extra="frames") from None
        columns = {name: list(values) for name, values in self.columns.items()}
        try:
            return pa.table(columns)
        except (ArithmeticError, TypeError, ValueError):  # what Arrow raises is one of these
            return pa.table({name: _alike(values) for name, values in columns.items()})

    def to_csv(self, path: str | os.PathLike[str] | None = None) -> str:
        """The table as CSV, also written to a file if one is named.

        A text that a spreadsheet would take for a formula is written with a `'` before it.
        """
        import csv
        import io

        out = io.StringIO()
        writer = csv.writer(out, lineterminator="\n")
        writer.writerow(map(_harmless, self.columns))
        writer.writerows(map(_harmless, row) for row in zip(*self.columns.values(), strict=True))
        text = out.getvalue()
        if path is not None:
            parameters.target(path).write_text(text, encoding="utf-8")
        return text

    def _text(self, most: int = 40) -> list[list[str]]:
        """The rows as text; the middle of a long table is left out."""
        rows = [list(map(_cell, row)) for row in zip(*self.columns.values(), strict=True)]
        half = most // 2
        dots = ["…"] * len(self.columns)
        return rows if len(rows) <= most else [*rows[:half], dots, *rows[-half:]]

    def __str__(self) -> str:
        return box(list(self.columns), self._text())

    __repr__ = __str__

    def _repr_html_(self) -> str:
        from deniable.cards import table

        return table(list(self.columns), self._text())


def _cell(value: object) -> str:
    return digits(value, significant=6) if isinstance(value, float) else str(value)


def _alike(values: list[Any]) -> list[Any]:
    """Values of one kind: whole numbers beyond 64 bits are floats, a mixture is text."""
    numbers = [value for value in values if isinstance(value, int | float)]
    if len(numbers) + values.count(None) < len(values):
        kinds = {type(value) for value in values} - {type(None)}
        return values if len(kinds) == 1 else [v if v is None else str(v) for v in values]
    small = all(isinstance(n, int) and -(2**63) <= n < 2**63 for n in numbers)
    return [v if v is None else int(v) if small else float(v) for v in values]


def _are_dates(values: Sequence[object]) -> bool:
    known = [value for value in values if value is not None]
    return bool(known) and all(isinstance(value, dt.date) for value in known)


def _harmless(cell: object) -> object:
    return f"'{cell}" if isinstance(cell, str) and cell.startswith(_FORMULA) else cell


def terminal_width(text: str) -> int:
    """How many columns of a terminal a text takes: 2 for a wide character, 0 for an accent."""
    return sum(
        0 if unicodedata.combining(c) else 1 + (unicodedata.east_asian_width(c) in "WF")
        for c in text
    )


def box(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """A table drawn with lines.

    >>> print(box(["city", "n"], [["Oslo", "41 ± 3"]]))
    ┌──────┬────────┐
    │ city │ n      │
    ├──────┼────────┤
    │ Oslo │ 41 ± 3 │
    └──────┴────────┘
    """
    widths = [max(terminal_width(row[i]) for row in (head, *rows)) for i in range(len(head))]

    def rule(left: str, middle: str, right: str) -> str:
        return left + middle.join("─" * (width + 2) for width in widths) + right

    def line(row: Sequence[str]) -> str:
        pairs = zip(row, widths, strict=True)
        cells = (f" {cell}{' ' * (width - terminal_width(cell))} " for cell, width in pairs)
        return "│" + "│".join(cells) + "│"

    top = [rule("┌", "┬", "┐"), line(head), rule("├", "┼", "┤")]
    return "\n".join([*top, *map(line, rows), rule("└", "┴", "┘")])
