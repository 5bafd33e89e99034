"""Counts travel between servers as bytes; those of a Spark frame: tests/query/spark."""

import numpy as np
import pyarrow as pa
import pytest

from deniable import local
from deniable.errors import BadParameter

PROTOCOLS = [
    (local.Direct(categories=["tea", "coffee"], epsilon=1.0), "tea"),
    (local.Hadamard(categories=100, epsilon=1.0), 3),
    (local.Projective(categories=100, epsilon=1.0), 3),
    (local.Unary(categories=9, epsilon=1.0), 3),
    (local.Hashing(categories=9, epsilon=1.0), 3),
    (local.Subset(categories=9, epsilon=1.0), 3),
    (local.Sketch(categories=9, epsilon=1.0), 3),
    (local.Repeated(categories=9, epsilon=2.0, first=1.0), 3),
    (local.Mean(epsilon=1.0, low=0, high=10), 3.0),
    (local.Ranges(epsilon=1.0, low=0, high=8, cells=4), 3.0),
    (local.Attributes(categories={"a": 2, "b": 3}, epsilon=1.0), {"a": 1, "b": 2}),
]


@pytest.mark.parametrize(("protocol", "value"), PROTOCOLS, ids=lambda p: getattr(p, "name", ""))
def test_counts_survive_bytes_and_merge(protocol, value):
    reports = [protocol.encode(value) for _ in range(40)]
    whole = protocol.server().add(reports)
    first, second = (protocol.server().add(part) for part in (reports[:15], reports[15:]))
    merged = local.Server.from_bytes(protocol, first.to_bytes())
    merged.merge(local.Server.from_bytes(protocol, second.to_bytes()))
    assert merged.people == whole.people
    assert repr(merged.estimate()) == repr(whole.estimate())
    assert merged.to_bytes() == whole.to_bytes()


@pytest.mark.parametrize(
    "harm",
    [lambda d: b"", lambda d: d[:40], lambda d: d[:-3], lambda d: b"\0" + d[1:]],
    ids=["nothing", "no counts", "cut off", "of another protocol"],
)
def test_bytes_that_are_no_counts_are_refused(harm):
    p = local.Direct(categories=3, epsilon=1.0)
    kept = p.server().add(p.encode_all([0, 1, 2])).to_bytes()
    with pytest.raises(BadParameter):
        local.Server.from_bytes(p, harm(kept))


@pytest.mark.parametrize("protocol", [p for p, _ in PROTOCOLS[:2] + PROTOCOLS[-3:]])
def test_counts_that_were_damaged_on_their_way_are_refused(protocol):
    """Every byte changed, cut off there, or followed by more: none is counted as something else."""
    kept = protocol.server().to_bytes()
    assert local.Server.from_bytes(protocol, kept).people == 0
    for i in range(len(kept)):
        for harmed in (kept[:i] + bytes([kept[i] ^ 1 << i % 8]) + kept[i + 1 :], kept[:i]):
            with pytest.raises(BadParameter):
                local.Server.from_bytes(protocol, harmed)
    for more in (b"\0", kept, bytes(1 << 16)):
        with pytest.raises(BadParameter):
            local.Server.from_bytes(protocol, kept + more)


def test_counts_of_another_domain_are_refused():
    p, q = (local.Direct(categories=k, epsilon=1.0) for k in (3, 4))
    with pytest.raises(BadParameter):
        local.Server.from_bytes(q, p.server().to_bytes())


def test_a_server_that_keeps_reports_has_no_sum_to_send():
    p = local.HeavyHitters(bits=16, epsilon=2.0)
    with pytest.raises(BadParameter, match="keeps the reports"):
        p.server().add(p.encode(3)).to_bytes()


def test_what_a_server_keeps_does_not_grow_with_reports():
    p = local.Hadamard(categories=1000, epsilon=1.0)
    sizes = {len(p.server().add(p.encode_all(np.zeros(n, int))).to_bytes()) for n in (1, 10**5)}
    assert len(sizes) == 1


def test_only_a_spark_frame_is_taken():
    p = local.Direct(categories=3, epsilon=1.0)
    with pytest.raises(BadParameter, match="Spark"):
        local.aggregate([p.encode(1)], p)


class Executors:
    """A frame whose executors are in this process: each list of reports is a partition."""

    columns = ("id", "report")

    def __init__(self, partitions):
        self.partitions = partitions

    def select(self, column):
        assert column == "report"
        return self

    def mapInArrow(self, function, schema):  # noqa: N802  Spark's name
        assert schema == "kept binary, wrong string"
        rows = []
        for partition in self.partitions:
            columns = [pa.array([each], pa.binary()) for each in partition]
            batches = iter([pa.record_batch([column], ["r"]) for column in columns])
            rows += [each for batch in function(batches) for each in batch.to_pylist()]
        self.rows = [tuple(row.values()) for row in rows]
        return self

    def collect(self):
        return self.rows


def test_partitions_are_counted_apart_and_added_up():
    p = local.Direct(categories=3, epsilon=1.0)
    reports = [bytes(row) for row in p.encode_all([0, 1, 2, 2, 1])]
    found = local.aggregate(Executors([reports[:2], [], reports[2:]]), p)
    assert found.to_bytes() == p.server().add(reports).to_bytes()
    with pytest.raises(BadParameter, match="bytes long"):
        local.aggregate(Executors([reports, [b"nonsense", reports[0]]]), p)
    with pytest.raises(BadParameter, match="no column"):
        local.aggregate(Executors([]), p, column="other")
    with pytest.raises(BadParameter, match="frame"):
        local.aggregate(reports, p)
