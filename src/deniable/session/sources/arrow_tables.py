"""Tables and data sets of PyArrow."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, ClassVar, Self

from deniable.errors import BadParameter
from deniable.schema import Schema
from deniable.session.tables import TableOutline

from .source import Source, outline


class ArrowTable(Source):
    """A table in memory, or a data set that is scanned for the columns of the question."""

    kind: ClassVar = "arrow"

    def only(self, columns: Sequence[str]) -> Self:
        held, chosen = self.held, list(columns) or self.held.schema.names[:1]
        scanned = hasattr(held, "scanner")
        return replace(self, held=held.scanner(columns=chosen) if scanned else held.select(chosen))

    def none(self) -> Self:
        schema = getattr(self.held, "projected_schema", None) or self.held.schema
        return replace(self, held=schema.empty_table())

    def rows(self) -> Any:
        from .arrow_values import settled

        return settled(self.held)


def look(table: Any, name: str | None, _schema: Schema | None) -> list[TableOutline]:
    """Names and types from the table's schema."""
    if not hasattr(table, "schema") or hasattr(table, "read_next_batch"):
        raise BadParameter(
            "a PyArrow array or stream is not a table: it cannot be read twice",
            fix="reader.read_all()",
        )
    columns = zip(table.schema.names, table.schema.types, strict=True)
    return [outline(ArrowTable(held=table), name, columns)]
