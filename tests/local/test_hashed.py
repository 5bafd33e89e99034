"""Protocols that hash, against hashes, cells and counts in Python's own whole numbers."""

import hashlib
import math
from fractions import Fraction

import numpy as np
import pytest

import deniable as dp
from deniable import local
from deniable.local.estimate import Estimate
from deniable.local.protocols import hashed
from deniable.sampling.public import PublicRandom

WORD = 2**64
SEEDS = np.array(
    [[1 << 32, 0], [0x9E3779B97F4A7C15, 7], [WORD - 1, WORD - 1], [3 << 31, 1 << 31]], np.uint64
)


def cell(a, b, x, cells):
    return (((a * x + b) % WORD >> 32) * cells) >> 32


@pytest.mark.parametrize("cells", [2, 3, 5, 1000])
def test_a_value_is_hashed_by_multiply_and_shift(cells):
    values = np.array([0, 1, 70_000, 2**24 - 1])
    found = hashed.own_cells(SEEDS, values, cells)
    rows = zip(SEEDS.tolist(), values.tolist(), strict=True)
    assert found.tolist() == [cell(a, b, x, cells) for (a, b), x in rows]
    assert found.dtype == np.int64


@pytest.mark.parametrize("cells", [4, 300])
@pytest.mark.parametrize("pairs", [1 << 22, 14, 7, 1])
def test_support_is_counted_report_by_report_however_many_at_once(cells, pairs, monkeypatch):
    monkeypatch.setattr(hashed, "_PAIRS", pairs)
    p = local.Hashing(categories=7, epsilon=math.log(cells - 1))
    assert p.cells == cells
    reports = p.encode_all(PublicRandom(1).generator.integers(0, 7, 40))[:, 5:]
    assert reports.shape == (40, 16 + (1 if cells == 4 else 2))
    expected = [0] * 7
    for row in reports.tolist():
        a, b, sent = (
            int.from_bytes(bytes(row[i:j]), "little") for i, j in ((0, 8), (8, 16), (16, 20))
        )
        for x in range(7):
            expected[x] += cell(a, b, x, cells) == sent
    assert hashed.supported(reports, np.arange(7), cells).tolist() == expected
    assert hashed.supported(reports[:0], np.arange(7), cells).tolist() == [0] * 7
    assert hashed.supported(reports, np.arange(0), cells).tolist() == []
    tally = p.tally()
    p.count(tally, reports[:15])
    p.count(tally, reports[15:])
    assert tally[0].tolist() == expected


def variance(epsilon, g):
    grown = math.exp(epsilon)
    p, q = grown / (grown + g - 1), 1 / g
    return q * (1 - q) / (p - q) ** 2


@pytest.mark.parametrize("epsilon", [1e-3, 0.1, 0.5, 1.0, 1.25, 1.5, 2.0, 2.3, 3.1, 4.0, 5.7, 9.0])
def test_there_are_as_many_cells_as_give_the_least_variance(epsilon):
    p = local.Hashing(categories=10, epsilon=epsilon)
    near = range(2, math.ceil(math.exp(epsilon)) + 9)
    assert variance(epsilon, p.cells) <= min(variance(epsilon, g) for g in near) * (1 + 1e-9)
    assert p.chances == (p.randomizer.chance, Fraction(1, p.cells))
    assert (p.randomizer.reports, p.randomizer.support) == (p.cells, 1)
    assert p.variance == pytest.approx(variance(epsilon, p.cells), rel=1e-9)


def test_beyond_15_there_are_no_more_cells():
    for epsilon in (15.0, 15.1, 40.0):
        assert local.Hashing(categories=10, epsilon=epsilon).cells == math.floor(math.exp(15)) + 1


@pytest.mark.parametrize(("epsilon", "size"), [(1.0, 1), (math.log(255), 1), (math.log(256.9), 2)])
def test_a_report_is_a_hash_function_and_as_many_bytes_as_a_cell_takes(epsilon, size):
    p = local.Hashing(categories=10, epsilon=epsilon)
    assert (p.cells <= 256) == (size == 1)
    assert p.payload == 16 + size
    good = p.encode(3)[5:]
    for sent, fits in ((p.cells - 1, True), (p.cells, False)):
        if sent >= 256**size:
            continue  # no report can say so
        rows = np.frombuffer(good[:16] + sent.to_bytes(size, "little"), np.uint8)[None]
        if fits:
            p.check_payloads(rows)
        else:
            with pytest.raises(dp.BadParameter, match="malformed"):
                p.check_payloads(rows)
    p.check_payloads(np.zeros((0, p.payload), np.uint8))


def test_an_untouched_cell_is_that_of_the_value(monkeypatch):
    p = local.Hashing(categories=100, epsilon=1.0)
    monkeypatch.setattr(type(p.randomizer), "places", lambda self, count: np.arange(count) % 4)
    rows = p.draw(np.arange(8))
    for x, row in enumerate(rows.tolist()):
        a, b = (int.from_bytes(bytes(row[i : i + 8]), "little") for i in (0, 8))
        assert row[16] == (cell(a, b, x, 4) + x % 4) % 4


@pytest.mark.parametrize("kind", ["hashing", "subset"])
def test_a_simulation_runs_every_client_up_to_a_number_of_pairs(kind, monkeypatch):
    from deniable.local.protocols import bitmaps

    module, p = {
        "hashing": (hashed, local.Hashing(categories=5, epsilon=1.0)),
        "subset": (bitmaps, local.Subset(categories=5, epsilon=1.0)),
    }[kind]
    drawn, inner = [], type(p).draw
    monkeypatch.setattr(type(p), "draw", lambda self, v: drawn.append(v.size) or inner(self, v))
    monkeypatch.setattr(module, "JOINTLY", 5 * 12)
    assert p.simulate([3, 4, 5, 0, 0]).people == 12
    assert drawn == [12]
    found = p.simulate([3, 4, 6, 0, 0], confidence=0.9)
    assert drawn == [12]
    assert (found.people, found.confidence) == (13, 0.9)
    assert isinstance(found, Estimate)


# ---- the sketch


SKETCH = local.Sketch(categories=50, epsilon=1.5, hashes=6, width=11, family=3)
PRIME = 2**31 - 1


def coefficients(p):
    text = f"deniable sketch {p.hashes} {p.width} {p.family}".encode()
    data = hashlib.shake_128(text).digest(24 * p.hashes)
    words = [int.from_bytes(data[i : i + 8], "little") % PRIME for i in range(0, len(data), 8)]
    return [words[i * p.hashes : (i + 1) * p.hashes] for i in range(3)]


def cell_of(p, which, x):
    a, b, c = (each[which] for each in coefficients(p))
    return (a * x * x + b * x + c) % PRIME % p.width


def test_the_hash_functions_of_a_sketch_are_public_polynomials():
    for p in (SKETCH, local.Sketch(categories=50, epsilon=1.5, hashes=6, width=11, family=4)):
        every = [[cell_of(p, k, x) for x in (0, 1, 7, 49)] for k in range(6)]
        found = p._cells(np.arange(6)[:, None], np.array([0, 1, 7, 49]))
        assert found.tolist() == every
        assert found.dtype == np.int64
    big = local.Sketch(categories=1 << 24, epsilon=1.0, hashes=2, width=1 << 16)
    x = (1 << 24) - 1
    assert big._cells(np.array([1]), np.array([x])).tolist() == [cell_of(big, 1, x)]


@pytest.mark.parametrize("cells", [1 << 24, 22, 1])
def test_a_sketch_counts_the_bits_of_each_hash_function(cells, monkeypatch):
    monkeypatch.setattr(hashed, "CELLS", cells)
    reports = SKETCH.draw(np.arange(50))
    assert reports.shape == (50, 4)
    assert SKETCH.payload == 4
    expected = np.zeros((6, 11), dtype=int)
    for row in reports.tolist():
        bits = int.from_bytes(bytes(row[2:]), "little")
        expected[int.from_bytes(bytes(row[:2]), "little")] += [bits >> j & 1 for j in range(11)]
    tally = SKETCH.tally()
    SKETCH.count(tally, reports[:20])
    SKETCH.count(tally, reports[20:])
    assert tally[0].tolist() == expected.tolist()


@pytest.mark.parametrize("pairs", [1 << 22, 120, 100, 1])
def test_a_sketch_supports_a_category_by_the_cells_it_is_in(pairs, monkeypatch):
    monkeypatch.setattr(hashed, "_PAIRS", pairs)
    table = PublicRandom(2).generator.integers(0, 90, (6, 11))
    expected = [sum(int(table[k, cell_of(SKETCH, k, x)]) for k in range(6)) for x in range(50)]
    assert SKETCH.supports((table,), 7).tolist() == expected


def test_the_bits_of_a_sketched_report_are_those_of_its_cell(monkeypatch):
    seen = []

    def words(self, cells):
        seen.append(cells.tolist())
        return (np.uint64(1) << cells.astype(np.uint64))[:, None]

    monkeypatch.setattr(type(SKETCH.randomizer), "words", words)
    rows = SKETCH.draw(np.array([4, 49, 0])).tolist()
    assert len(seen) == 1
    for row, x, at in zip(rows, (4, 49, 0), seen[0], strict=True):
        assert at == cell_of(SKETCH, row[0] + 256 * row[1], x)
        assert int.from_bytes(bytes(row[2:]), "little") == 1 << at


def test_the_chances_of_a_sketch_count_collisions():
    r = SKETCH.randomizer
    assert (r.categories, r.epsilon) == (11, 1.5)
    assert SKETCH.chances == (r.true_bit, r.other_bit * Fraction(10, 11) + r.true_bit / 11)
    assert SKETCH.shared == 1 / (6 * 10)


@pytest.mark.parametrize(
    ("width", "payload", "fits"),
    [
        (11, [5, 0, 0xFF, 0x07], True),
        (11, [5, 0, 0xFF, 0x08], False),
        (11, [6, 0, 0, 0], False),
        (11, [0, 1, 0, 0], False),
        (16, [5, 0, 0xFF, 0xFF], True),
        (16, [6, 0, 0xFF, 0xFF], False),
    ],
)
def test_no_report_has_a_bit_or_a_hash_function_beyond_the_last(width, payload, fits):
    p = local.Sketch(categories=9, epsilon=1.0, hashes=6, width=width)
    rows = np.array([[0, 0, 0, 0], payload], dtype=np.uint8)
    if fits:
        p.check_payloads(rows)
    else:
        with pytest.raises(dp.BadParameter, match="malformed"):
            p.check_payloads(rows)
    p.check_payloads(rows[:0])


@pytest.mark.parametrize(
    ("options", "fits"),
    [
        ({"hashes": 2, "width": 2}, True),
        ({"hashes": 1 << 16, "width": 1 << 16}, True),
        ({"hashes": 1}, False),
        ({"width": 1}, False),
        ({"hashes": (1 << 16) + 1}, False),
        ({"width": (1 << 16) + 1}, False),
        ({"family": -1}, False),
        ({"family": 0}, True),
    ],
)
def test_a_sketch_has_from_2_to_65536_hash_functions_and_cells(options, fits):
    if fits:
        made = local.Sketch(categories=5, epsilon=1.0, **options)
        assert all(getattr(made, name) == value for name, value in options.items())
    else:
        with pytest.raises(dp.BadParameter, match=next(iter(options))):
            local.Sketch(categories=5, epsilon=1.0, **options)


@pytest.mark.parametrize("options", [{"epsilon": -1.0}, {"categories": 1}, {"epsilon": 1e-9}])
def test_a_sketch_is_a_protocol_like_others(options):
    with pytest.raises(dp.BadParameter, match=next(iter(options))):
        local.Sketch(**({"categories": 5, "epsilon": 1.0} | options))
    made = local.Sketch(categories=5, epsilon=1, hashes=np.int64(4), width=np.uint8(6), family=2)
    assert all(type(x) is int for x in (made.hashes, made.width, made.family))
    assert type(made.epsilon) is float


@pytest.mark.parametrize(("limit", "most"), [(32, 2), (33, 3), (34, 3), (10, 1), (1 << 22, 7)])
def test_no_more_cells_than_a_limit_are_held_at_once(limit, most, monkeypatch):
    """Of rows of 11 cells."""
    monkeypatch.setattr(hashed, "CELLS", limit)
    monkeypatch.setattr(hashed, "_PAIRS", limit)
    sizes, draw, unpack, count = [], type(SKETCH)._draw, np.unpackbits, np.count_nonzero
    monkeypatch.setattr(type(SKETCH), "_draw", lambda p, v: sizes.append(v.size) or draw(p, v))
    rows = SKETCH.draw(np.arange(7))
    assert (max(sizes), sum(sizes)) == (most, 7)
    sizes.clear()
    monkeypatch.setattr(np, "unpackbits", lambda a, **k: sizes.append(len(a)) or unpack(a, **k))
    SKETCH.count(SKETCH.tally(), rows)
    assert (max(sizes), sum(sizes)) == (most, 7)
    sizes.clear()
    reports = local.Hashing(categories=11, epsilon=1.0).draw(np.zeros(7, dtype=np.int64))
    monkeypatch.setattr(np, "count_nonzero", lambda a, **k: sizes.append(len(a)) or count(a, **k))
    hashed.supported(reports, np.arange(11), 4)
    assert (max(sizes), sum(sizes)) == (most, 7)


@pytest.mark.parametrize(("limit", "most"), [(149, 2), (150, 3), (49, 1), (1 << 22, 6)])
def test_no_more_categories_than_a_limit_are_hashed_at_once(limit, most, monkeypatch):
    """Of 50 categories under 6 hash functions."""
    monkeypatch.setattr(hashed, "_PAIRS", limit)
    sizes, inner = [], type(SKETCH)._cells
    monkeypatch.setattr(
        type(SKETCH), "_cells", lambda p, k, v: sizes.append(len(k)) or inner(p, k, v)
    )
    SKETCH.supports(SKETCH.tally(), 0)
    assert (max(sizes), sum(sizes)) == (most, 6)
