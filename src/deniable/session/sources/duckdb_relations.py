"""DuckDB relations: questions that were not run yet."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, ClassVar, Self

from deniable.schema import Schema
from deniable.session.tables import TableOutline

from .duckdb_tables import COLLATION, SPILLS, collated
from .source import Source, outline


class DuckDBRelation(Source):
    """Its rows are fetched as Arrow: it is of a connection that cannot be asked for."""

    kind: ClassVar = "duckdb_relation"

    def only(self, columns: Sequence[str]) -> Self:
        import duckdb

        picked = map(duckdb.ColumnExpression, columns or self.held.columns[:1])
        return replace(self, held=self.held.select(*picked))

    def spills(self) -> set[str]:
        return {self._asked(SPILLS)}

    def doubt(self, column: str, kind: str | None) -> str:
        if kind != "text":
            return ""
        return collated(self.held, column, default=self._asked(COLLATION))

    def _asked(self, setting: str) -> str:
        """A setting of the connection: by an expression over the relation, here over no rows."""
        expression = f"{setting} || COALESCE(MAX(''), '')"
        value: str = self.none().held.aggregate(expression).fetchall()[0][0]
        return value

    def none(self) -> Self:
        return replace(self, held=self.held.limit(0))

    def rows(self) -> Any:
        return self.held.to_arrow_table()


def look(relation: Any, name: str | None, _schema: Schema | None) -> list[TableOutline]:
    """Names and types; nothing is run."""
    columns = zip(relation.columns, relation.types, strict=True)
    return [outline(DuckDBRelation(held=relation), name, columns)]
