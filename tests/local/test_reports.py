"""The header of a report, what it is bound to, and numbers as bytes."""

import hashlib
import json
import math

import numpy as np
import pytest

import deniable as dp
from deniable import local
from deniable.local import reports
from deniable.local.reports import _exactly, _plain, as_bytes, as_numbers, is_a_name

DIRECT = local.Direct(categories=("a", "b", "c"), epsilon=0.1)


def test_a_report_is_a_format_a_fingerprint_and_a_payload():
    report = DIRECT.encode("b")
    told = DIRECT.to_dict()
    assert told["categories"] == ["a", "b", "c"]
    text = json.dumps(told | {"epsilon": (0.1).hex()}, sort_keys=True, separators=(",", ":"))
    assert report[:5] == b"\1" + hashlib.sha256(text.encode()).digest()[:4]
    assert len(report) == DIRECT.length == 5 + DIRECT.payload


@pytest.mark.parametrize("place", range(5))
def test_a_report_with_another_header_is_refused(place):
    rows = DIRECT.encode_all(["a", "b"])
    assert DIRECT.checked(rows).tolist() == rows[:, 5:].tolist()
    assert DIRECT.checked(rows[:0]).shape == (0, DIRECT.payload)
    rows[1, place] ^= 1
    with pytest.raises(dp.BadParameter, match="another protocol"):
        DIRECT.checked(rows)


@pytest.mark.parametrize("many", [1, 2, 5])
def test_everyone_reports_however_many_are_drawn_at_once(many, monkeypatch):
    """At ε = 40 an answer is changed once in e⁴⁰."""
    monkeypatch.setattr(reports, "AT_ONCE", many)
    p = local.Direct(categories=4, epsilon=40.0)
    assert p.encode_all([3, 0, 1, 1, 2])[:, -1].tolist() == [3, 0, 1, 1, 2]
    assert p.encode(2)[-1] == 2
    assert p.encode_all([]).shape == (0, p.length)


def test_parts_of_a_protocol_are_told_in_plain_types_and_floats_exactly():
    given = {"a": (1, 2.5), "b": {"c": ("x",), "d": -0.0}, "e": None}
    assert _plain(given) == {"a": [1, 2.5], "b": {"c": ["x"], "d": -0.0}, "e": None}
    told = {"a": [1, (2.5).hex()], "b": {"c": ["x"], "d": (0.0).hex()}, "e": None}
    assert _exactly(given) == told


@pytest.mark.parametrize(("epsilon", "fine"), [(1e-6, True), (math.nextafter(1e-6, 0), False)])
def test_below_a_millionth_nothing_can_be_learnt(epsilon, fine):
    if fine:
        assert local.Direct(categories=2, epsilon=epsilon).epsilon == epsilon
    else:
        with pytest.raises(dp.BadParameter, match="at least"):
            local.Direct(categories=2, epsilon=epsilon)
    assert type(local.Direct(categories=2, epsilon=np.float32(1)).epsilon) is float


@pytest.mark.parametrize("width", [1, 2, 3, 7])
def test_numbers_are_bytes_with_the_lowest_first(width):
    numbers = [0, 1, 200, 256**width - 1]
    octets = as_bytes(np.array(numbers), width)
    assert [bytes(row) for row in octets] == [n.to_bytes(width, "little") for n in numbers]
    assert as_numbers(octets).tolist() == numbers


@pytest.mark.parametrize(
    ("given", "fine"),
    [("", True), ("2026", True), ("é🙂", True), ("a\ud800", False), ("\udfff", False), (7, False),
     ("\ud7ff\ue000", True), (None, False), (b"a", False), ("\udc00b", False)],
)  # fmt: skip
def test_a_name_is_a_text_that_can_be_stored(given, fine):
    assert is_a_name(given) is fine


def test_what_two_servers_kept_is_added_up_part_by_part():
    mine, theirs = (np.arange(3), np.ones((2, 2))), (np.full(3, 5), np.eye(2))
    DIRECT.join(mine, theirs)
    assert [part.tolist() for part in mine] == [[5, 6, 7], [[2, 1], [1, 2]]]
