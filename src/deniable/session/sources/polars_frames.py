"""Polars frames, lazy or not."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, ClassVar, Self

from deniable.errors import BadParameter
from deniable.schema import Schema
from deniable.session.tables import Found

from .source import Source, found


class PolarsFrame(Source):
    """A lazy frame is collected after the charge."""

    kind: ClassVar = "polars"

    def only(self, columns: Sequence[str]) -> Self:
        return replace(
            self, held=self.held.select(columns or self.held.collect_schema().names()[:1])
        )

    def empty(self) -> Any:
        return _as_arrow(self.held.clear())

    def rows(self) -> Any:
        return _as_arrow(self.held)


def look(frame: Any, name: str | None, _schema: Schema | None) -> list[Found]:
    """Names and types; a lazy frame is not run."""
    if not hasattr(frame, "collect_schema"):
        raise BadParameter("a Polars Series is one column, not a table", fix="series.to_frame()")
    spelled = {column: str(kind) for column, kind in frame.collect_schema().items()}
    return [found(PolarsFrame(held=frame), name or "data", spelled)]


def _as_arrow(frame: Any) -> Any:
    from .arrow_values import settled

    return settled((frame.collect() if hasattr(frame, "collect") else frame).to_arrow())
