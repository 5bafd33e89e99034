"""A small table of answers: named columns of equal length, and the forms people want it in."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import TYPE_CHECKING

from deniable.errors import MissingExtra, UnknownName

if TYPE_CHECKING:
    import pandas as pd
    import pyarrow as pa


@dataclass(frozen=True)
class Frame:
    """Columns by name, in order.

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
        """One column."""
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
        """A pandas frame."""
        try:
            import pandas as pd
        except ImportError:
            raise MissingExtra.of("pandas", extra="frames") from None
        return pd.DataFrame({name: list(values) for name, values in self.columns.items()})

    def to_arrow(self) -> pa.Table:
        """A PyArrow table."""
        try:
            import pyarrow as pa
        except ImportError:
            raise MissingExtra.of("pyarrow", extra="frames") from None
        return pa.table({name: list(values) for name, values in self.columns.items()})

    def _text(self, most: int = 40) -> list[list[str]]:
        """The rows as text; the middle of a long table is left out."""
        rows = [list(map(str, row)) for row in zip(*self.columns.values(), strict=True)]
        half = most // 2
        dots = ["…"] * len(self.columns)
        return rows if len(rows) <= most else [*rows[:half], dots, *rows[-half:]]

    def __str__(self) -> str:
        return box(list(self.columns), self._text())

    def _repr_html_(self) -> str:
        from .card import table

        return table(list(self.columns), self._text())


def box(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """A table drawn with lines.

    >>> print(box(["city", "n"], [["Oslo", "41 ± 3"]]))
    ┌──────┬────────┐
    │ city │ n      │
    ├──────┼────────┤
    │ Oslo │ 41 ± 3 │
    └──────┴────────┘
    """
    widths = [max(len(row[i]) for row in (head, *rows)) for i in range(len(head))]

    def rule(left: str, middle: str, right: str) -> str:
        return left + middle.join("─" * (width + 2) for width in widths) + right

    def line(row: Sequence[str]) -> str:
        cells = (f" {cell:<{width}} " for cell, width in zip(row, widths, strict=True))
        return "│" + "│".join(cells) + "│"

    top = [rule("┌", "┬", "┐"), line(head), rule("├", "┼", "┤")]
    return "\n".join([*top, *map(line, rows), rule("└", "┴", "┘")])
