"""Reports in a Spark frame: counted in the executors, of which only sums come back."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, TypeVar

from deniable import parameters
from deniable.errors import BadParameter

from .reports import Reporter
from .server import Server

E = TypeVar("E")


@parameters.called('local.aggregate(frame, p, column="report")')
def aggregate(frame: Any, protocol: Reporter[E], *, column: str = "report") -> Server[E]:
    """A server that has counted the reports in a column of bytes of a Spark frame.

    Each executor adds up its part and sends back what a server keeps, whose size depends on the
    protocol alone: 100 million reports take no more memory than a thousand. A malformed or foreign
    report is an error, and nothing is counted.
    """
    if not hasattr(frame, "mapInArrow"):
        raise BadParameter.of(
            "frame",
            type(frame).__name__,
            must="a Spark frame",
            fix="p.server().add(reports)    takes arrays and lists of bytes",
        )
    if column not in frame.columns:
        raise BadParameter(
            f"the frame has no column `{column}`", fix=f"column={frame.columns[0]!r}"
        )
    found = frame.select(column).mapInArrow(_counting(protocol), "kept binary, wrong string")
    total = protocol.server()
    for kept, wrong in found.collect():
        if wrong is not None:
            raise BadParameter(wrong, fix="leave out what p.server().add(report) refuses")
        total.merge(Server.from_bytes(protocol, bytes(kept)))
    return total


def _counting(protocol: Reporter[Any]) -> Callable[[Iterator[Any]], Iterator[Any]]:
    """What an executor does: one row per partition, however many reports it has."""

    def counted(batches: Iterator[Any]) -> Iterator[Any]:
        import pyarrow as pa

        server = protocol.server()
        kept, wrong = None, None
        try:
            for batch in batches:
                server.add(batch.column(0).to_pylist())
            kept = server.to_bytes()
        except BadParameter as error:
            wrong = error.what
        row = [pa.array([kept], pa.binary()), pa.array([wrong], pa.string())]
        yield pa.RecordBatch.from_arrays(row, names=["kept", "wrong"])

    return counted
