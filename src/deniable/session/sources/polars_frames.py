"""Polars frames, lazy or not."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, ClassVar, Self

from deniable.errors import BadParameter
from deniable.schema import Schema
from deniable.session.tables import TableOutline

from .source import Source, outline


class PolarsFrame(Source):
    """A lazy frame is collected after the charge."""

    kind: ClassVar = "polars"

    def only(self, columns: Sequence[str]) -> Self:
        return replace(
            self, held=self.held.select(columns or self.held.collect_schema().names()[:1])
        )

    def none(self) -> Self:
        return replace(self, held=self.held.clear())

    def rows(self) -> Any:
        from .arrow_values import settled

        whole = self.held.collect() if hasattr(self.held, "collect") else self.held
        return settled(whole.to_arrow())


def look(frame: Any, name: str | None, _schema: Schema | None) -> list[TableOutline]:
    """Names and types; a lazy frame is not run."""
    if not hasattr(frame, "collect_schema"):
        raise BadParameter("a Polars Series is one column, not a table", fix="series.to_frame()")
    return [outline(PolarsFrame(held=frame), name, frame.collect_schema().items())]
