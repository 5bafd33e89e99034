"""Spark frames, of a classic session or over Connect."""

from __future__ import annotations

from typing import Any, ClassVar

from deniable.errors import BadParameter
from deniable.schema import Schema
from deniable.session.tables import TableOutline

from .source import Source, outline


class SparkFrame(Source):
    """A frame that stays where it is: only statements go there."""

    kind: ClassVar = "spark"
    engine: ClassVar = "Spark"

    @property
    def place(self) -> Any:
        """The cluster: what its sessions have in common."""
        session = self.held.sparkSession
        return session.client.host if is_remote(session) else id(session.sparkContext)


def look(frame: Any, name: str | None, _schema: Schema | None) -> list[TableOutline]:
    """Names and types, as Spark has analysed the frame."""
    from pyspark import __version__ as version

    if not hasattr(frame, "createGlobalTempView") or "DataFrame" not in type(frame).__name__:
        raise BadParameter("this Spark object is not a DataFrame", fix='spark.table("people")')
    if frame.isStreaming:
        raise BadParameter(
            f"`{name or 'data'}` is a stream: its rows change while they are counted",
            fix='frame.writeStream.toTable("people"), then spark.table("people")',
        )
    if is_remote(frame) and tuple(map(int, version.split(".")[:2])) < (4, 3):
        raise BadParameter(
            "Spark Connect needs pyspark 4.3 or later",
            fix='pip install "pyspark>=4.3"',
        )
    return [outline(SparkFrame(held=frame), name, frame.dtypes)]


def is_remote(given: Any) -> bool:
    """Whether a frame or a session speaks to a Spark Connect server."""
    return type(given).__module__.startswith("pyspark.sql.connect")
