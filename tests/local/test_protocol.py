"""What every protocol does: labels, made-up counts, errors, and reports in parts."""

import math
from fractions import Fraction
from statistics import NormalDist

import numpy as np
import pytest

import deniable as dp
from deniable import local
from deniable.local import reports as reports_module
from deniable.local import server as server_module
from deniable.local.protocols import _protocol
from deniable.local.server import rows_of

LABELLED = local.Direct(categories=["tea", "coffee", "water"], epsilon=2.0)
NUMBERED = local.Direct(categories=3, epsilon=2.0)


@pytest.mark.parametrize(
    ("p", "values", "found"),
    [
        (LABELLED, ["water", "tea"], [2, 0]),
        (LABELLED, np.array(["coffee"]), [1]),
        (LABELLED, np.array(["coffee"], dtype=object), [1]),
        (LABELLED, [0, 2], [0, 2]),
        (LABELLED, [], []),
        (NUMBERED, [0, 2], [0, 2]),
        (NUMBERED, np.array([1], dtype=np.uint8), [1]),
        (NUMBERED, [], []),
    ],
)
def test_values_are_labels_or_numbers(p, values, found):
    assert p.numbered(values).tolist() == found
    assert p.numbered(values).dtype == np.int64


@pytest.mark.parametrize(
    ("p", "values"),
    [
        (LABELLED, ["milk"]), (LABELLED, [3]), (LABELLED, [-1]), (LABELLED, ["tea", None]),
        (LABELLED, [1.0]), (NUMBERED, ["tea"]), (NUMBERED, [3]), (NUMBERED, [-1]),
        (NUMBERED, [0.0]), (NUMBERED, [True]), (NUMBERED, 1), (NUMBERED, [[1]]),
    ],
    ids=repr,
)  # fmt: skip
def test_values_that_are_not_categories_are_refused(p, values):
    with pytest.raises(dp.BadParameter, match=r"a value must be|one value per person"):
        p.numbered(values)


@pytest.mark.parametrize(
    ("given", "message"),
    [
        (1, "categories"), ((1 << 24) + 1, "at most"), ("tea", "categories"), (2.5, "categories"),
        (None, "categories"), (["tea"], "two or more"), (["tea", "tea"], "'tea' is listed twice"),
        (["tea", 1], "must be texts"), (["tea", "a\0"], "must be texts"), ([], "two or more"),
        (b"ab", "categories"), (True, "categories"),
    ],
)  # fmt: skip
def test_categories_are_a_number_or_distinct_texts(given, message):
    with pytest.raises(dp.BadParameter, match=message):
        local.Direct(categories=given, epsilon=1.0)


def test_the_most_categories_and_the_fewest_are_taken():
    for count in (2, 1 << 24):
        assert local.Direct(categories=count, epsilon=1.0).size == count
    assert (LABELLED.size, LABELLED.labels) == (3, ("tea", "coffee", "water"))
    assert (NUMBERED.size, NUMBERED.labels) == (3, ())


@pytest.mark.parametrize("labels", [8, 9])
def test_eight_labels_are_shown_where_one_is_wrong(labels):
    names = [f"n{i}" for i in range(labels)]
    with pytest.raises(dp.BadParameter) as caught:
        local.Direct(categories=names, epsilon=1.0).numbered(["?"])
    assert ("…" in str(caught.value)) == (labels > 8)
    assert "'n7'" in str(caught.value)
    assert "'n8'" not in str(caught.value)
    assert f"from 0 to {labels - 1}" in str(caught.value)


@pytest.mark.parametrize(
    "p", [LABELLED, local.Sketch(categories=9, epsilon=1.0, hashes=4, width=8)]
)
def test_the_error_of_a_rare_category_is_known_in_advance(p):
    """z·√(n·q(1 − q)/(p − q)² + n²·shared), and a few reports."""
    chance, other = map(float, p.chances)
    assert p.variance == pytest.approx(other * (1 - other) / (chance - other) ** 2)
    assert p.influence == pytest.approx((1 - other) / (chance - other))
    for people, confidence in ((1, 0.8), (700, 0.99)):
        z = NormalDist().inv_cdf((1 + confidence) / 2)
        off = _protocol.reach.steps((chance, other), z)
        exact = z * math.sqrt(people * p.variance + p.shared * people**2) + off
        assert p.error(reports=people, confidence=confidence) == pytest.approx(exact)


@pytest.mark.parametrize(
    "counts", [[1, 2], [1, 2, 3, 4], [1.0, 2.0, 3.0], [-1, 2, 3], [1 << 40, 1, 0], "abc"]
)
def test_made_up_counts_are_whole_numbers_per_category(counts):
    with pytest.raises(dp.BadParameter, match="true_counts must be 3"):
        NUMBERED.simulate(counts)


def test_made_up_counts_may_be_as_many_as_the_limit():
    assert NUMBERED._made_up([1 << 40, 0, 0]).tolist() == [1 << 40, 0, 0]
    assert NUMBERED._made_up([0, 0, 0]).sum() == 0


@pytest.mark.parametrize("at_once", [1, 4, 5, 1 << 18])
def test_a_simulation_has_everyone_once_in_parts_of_any_size(at_once, monkeypatch):
    monkeypatch.setattr(_protocol, "AT_ONCE", at_once)
    drawn, inner = [], local.Direct.draw
    monkeypatch.setattr(
        local.Direct, "draw", lambda self, v: drawn.append(v.tolist()) or inner(self, v)
    )
    found = NUMBERED.simulate([3, 0, 6], confidence=0.9)
    assert (found.people, found.confidence) == (9, 0.9)
    assert [x for each in drawn for x in each] == [0] * 3 + [2] * 6
    assert max(map(len, drawn)) == min(at_once, 9)


# ---- reports and servers


@pytest.mark.parametrize("at_once", [1, 3, 1 << 18])
def test_reports_are_drawn_checked_and_counted_in_parts(at_once, monkeypatch):
    for module in (reports_module, server_module):
        monkeypatch.setattr(module, "AT_ONCE", at_once)
    values = np.arange(8) % 3
    monkeypatch.setattr(local.Direct, "codes", lambda self, v: v)
    rows = NUMBERED.encode_all(values)
    assert rows[:, 5].tolist() == values.tolist()
    server = NUMBERED.server().add(rows)
    assert server._tally[0].tolist() == [3, 3, 2]
    assert server.people == 8
    rows[7, 5] = 3
    with pytest.raises(dp.BadParameter, match="malformed"):
        server.add(rows)
    assert (server._tally[0].tolist(), server.people) == ([3, 3, 2], 8)
    assert server.add(rows[:0]).add([]).people == 8


def test_a_report_starts_with_its_format_and_fingerprint():
    report = NUMBERED.encode(1)
    assert report[:5] == bytes([1]) + NUMBERED.identity[:4]
    assert len(report) == NUMBERED.length == 6
    for place in range(5):
        other = bytearray(report)
        other[place] ^= 1
        with pytest.raises(dp.BadParameter, match="another protocol"):
            NUMBERED.server().add(bytes(other))
    equal = local.Direct(categories=3, epsilon=2.0)
    assert equal.identity == NUMBERED.identity
    for changed in (
        LABELLED,
        local.Direct(categories=4, epsilon=2.0),
        local.Unary(categories=3, epsilon=2.0),
    ):
        assert changed.identity != NUMBERED.identity
    assert reports_module._exactly({"a": -0.0, "b": (1, 0.5)}) == {
        "a": (0.0).hex(),
        "b": [1, (0.5).hex()],
    }
    assert reports_module._plain({"a": ("x",)}) == {"a": ["x"]}


@pytest.mark.parametrize(
    ("given", "fits"),
    [
        (b"abcd", True), (bytearray(b"abcd"), True), ([b"abcd", b"efgh"], True), ([], True),
        (b"abc", False), ([b"abcd", b"efg"], False), (["abcd"], False),
        (np.zeros((3, 4), np.uint8), True), (np.zeros((3, 5), np.uint8), False),
        (np.zeros((3, 4), np.int8), False), (np.zeros(4, np.uint8), False),
    ],
    ids=repr,
)  # fmt: skip
def test_reports_are_rows_of_bytes_of_one_length(given, fits):
    if fits:
        rows = rows_of(given, 4)
        assert rows.dtype == np.uint8
        assert rows.shape[1] == 4
    else:
        with pytest.raises(dp.BadParameter, match="4 bytes long"):
            rows_of(given, 4)


def test_what_was_counted_is_written_read_and_merged():
    server = NUMBERED.server().add(NUMBERED.encode_all([0, 1, 1, 2]))
    data = server.to_bytes()
    again = local.Server.from_bytes(NUMBERED, data)
    assert (again.people, again._tally[0].tolist()) == (4, server._tally[0].tolist())
    server.merge(again)
    assert (server.people, server._tally[0].sum()) == (8, 8)
    for bad in (data[:-1], data + b"x", data[:40] + bytes([data[40] ^ 1]) + data[41:], b""):
        with pytest.raises(dp.BadParameter, match="not the counts"):
            local.Server.from_bytes(NUMBERED, bad)
    other = local.Direct(categories=3, epsilon=2.5)
    with pytest.raises(dp.BadParameter, match="another protocol"):
        local.Server.from_bytes(other, data)
    with pytest.raises(dp.BadParameter, match="another protocol"):
        server.merge(other.server())
    with pytest.raises(dp.BadParameter, match="itself"):
        server.merge(server)
    with pytest.raises(dp.BadParameter, match="confidence"):
        server.estimate(confidence=1.5)


@pytest.mark.parametrize(("epsilon", "fits"), [(1e-6, True), (9.9e-7, False), (0.0, False)])
def test_an_epsilon_that_says_nothing_is_refused(epsilon, fits):
    if fits:
        assert local.Direct(categories=2, epsilon=epsilon).epsilon == epsilon
    else:
        with pytest.raises(dp.BadParameter, match="epsilon"):
            local.Direct(categories=2, epsilon=epsilon)


@pytest.mark.parametrize("width", [1, 2, 5])
def test_numbers_are_written_lowest_byte_first(width):
    numbers = np.array([0, 1, 256**width - 1, 7 * 256 ** (width - 1)])
    rows = reports_module.as_bytes(numbers, width)
    assert [bytes(row) for row in rows.tolist()] == [
        n.to_bytes(width, "little") for n in numbers.tolist()
    ]
    assert reports_module.as_numbers(rows).tolist() == numbers.tolist()


def test_chances_are_fractions():
    assert all(isinstance(each, Fraction) for each in NUMBERED.chances)


@pytest.mark.parametrize("wrong", [{}, [], None, 0, math.nan, b"tea"], ids=str)
def test_what_is_no_label_is_refused_whatever_it_is(wrong):
    values = np.empty(2, dtype=object)
    values[:] = ["tea", wrong]
    with pytest.raises(dp.BadParameter):
        LABELLED.numbered(values)


def test_a_protocol_that_was_named_says_what_it_is_good_at():
    p = local.Direct(categories=4, epsilon=1.0)
    assert p.why.startswith(type(p).__doc__.split("\n", 1)[0])
    assert f"{p.length} bytes per report, variance {p.variance:.3g}·n." in p.why


def test_a_protocol_without_a_docstring_says_its_size():
    class Bare(local.Direct):
        __doc__ = None

    assert "bytes per report" in Bare(categories=4, epsilon=1.0).why
