"""What a server takes, adds up, hands on and refuses."""

import hashlib

import numpy as np
import pytest

import deniable as dp
from deniable import local
from deniable.local import server as serving
from deniable.local.server import rows_of

DIRECT = local.Direct(categories=4, epsilon=3.0)
OTHER = local.Direct(categories=5, epsilon=3.0)
MEAN = local.Mean(low=0.0, high=1.0, epsilon=2.0)


def counted(server):
    return server.people, [part.tolist() for part in server._tally]


def test_reports_come_alone_in_lists_or_in_rows():
    rows = DIRECT.encode_all([0, 1, 2, 3, 3])
    listed = [bytes(row) for row in rows]
    for given in (rows, listed, tuple(listed), map(bytearray, listed), iter(listed)):
        assert rows_of(given, DIRECT.length).tolist() == rows.tolist()
    for alone in (listed[0], bytearray(listed[0])):
        assert rows_of(alone, DIRECT.length).tolist() == rows[:1].tolist()
    assert rows_of([], DIRECT.length).shape == (0, DIRECT.length)


ROWS = DIRECT.encode_all([0, 1])
GOOD = bytes(ROWS[0])
MALFORMED = [
    ROWS.astype(np.int64), ROWS[0], ROWS[None], ROWS[:, 1:], GOOD[1:], GOOD + b"0",
    [GOOD, GOOD[1:]], [GOOD, "abcdef"], ["abcdef"], [GOOD, None], [GOOD[1:], GOOD + b"0"],
]  # fmt: skip


@pytest.mark.parametrize("reports", MALFORMED, ids=lambda each: type(each).__name__)
def test_what_is_not_as_long_as_a_report_is_refused(reports):
    server = DIRECT.server()
    with pytest.raises(dp.BadParameter, match="bytes long"):
        server.add(reports)
    assert counted(server) == counted(DIRECT.server())


@pytest.mark.parametrize("many", [1, 2, 3, 7])
def test_however_many_are_read_at_once_each_is_checked_and_counted_once(many, monkeypatch):
    monkeypatch.setattr(serving, "AT_ONCE", many)
    rows = DIRECT.encode_all([0, 1, 1, 3, 2, 0, 0])
    bincount = np.bincount(rows[:, -1], minlength=4).tolist()
    server = DIRECT.server()
    assert server.add(rows) is server
    assert counted(server) == (7, [bincount])
    for place in range(7):
        bad = rows.copy()
        bad[place, -1] = 200
        with pytest.raises(dp.BadParameter, match="malformed"):
            server.add(bad)
        assert counted(server) == (7, [bincount])  # all of them, or none


def test_servers_of_one_protocol_are_merged_once():
    here, there = DIRECT.server().add(ROWS), DIRECT.server().add(DIRECT.encode_all([3, 3, 3]))
    sums = [(here._tally[0] + there._tally[0]).tolist()]
    assert counted(here.merge(there)) == (5, sums)
    for wrong in (here, OTHER.server()):
        with pytest.raises(dp.BadParameter):
            here.merge(wrong)
    assert counted(here) == (5, sums)


@pytest.mark.parametrize(
    ("p", "values"),
    [
        (DIRECT, [0, 1, 1, 3]),
        (MEAN, [0.1, 0.9, 0.4]),
        (local.Ranges(low=0.0, high=8.0, cells=8, epsilon=2.0), [1.0, 7.0]),
    ],
    ids=lambda p: getattr(p, "name", ""),
)
def test_counts_arrive_as_they_were_sent_or_not_at_all(p, values):
    sent = p.server().add(p.encode_all(values))
    data = sent.to_bytes()
    assert counted(local.Server.from_bytes(p, data)) == counted(sent)
    inner = data[:-32]
    cut, longer = inner[:-8], inner + bytes(8)  # with a checksum of their own
    signed = [each + hashlib.sha256(each).digest() for each in (cut, longer, b"")]
    flipped = [data[:i] + bytes([data[i] ^ 1]) + data[i + 1 :] for i in (0, 33, 41, len(data) - 1)]
    for wrong in (*signed, *flipped, inner, b""):
        with pytest.raises(dp.BadParameter, match="not the counts"):
            local.Server.from_bytes(p, wrong)


def test_counts_of_another_protocol_are_refused():
    near = local.Direct(categories=4, epsilon=2.0)
    with pytest.raises(dp.BadParameter, match="another protocol"):
        local.Server.from_bytes(near, DIRECT.server().to_bytes())
    heavy = local.HeavyHitters(bits=4, epsilon=2.0)
    with pytest.raises(dp.BadParameter, match="keeps the reports"):
        heavy.server().to_bytes()


@pytest.mark.parametrize("confidence", [0, 1, 1.5, "0.95", None])
def test_a_confidence_lies_between_0_and_1(confidence):
    with pytest.raises(dp.BadParameter, match="confidence"):
        DIRECT.server().estimate(confidence=confidence)
