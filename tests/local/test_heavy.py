"""Heavy hitters against hashing in Python's whole numbers: reports, candidates and counts."""

import math

import numpy as np
import pytest

import deniable as dp
from deniable import local
from deniable.local import heavy
from deniable.local.heavy import HeavyHitters
from deniable.mechanisms.local import reach
from deniable.sampling.public import PublicRandom

WORD = 2**64


def cell(seed, key, cells):
    low, high = key % 2**32, key >> 32
    return (((seed[0] * low + seed[1] * high + seed[2]) % WORD >> 32) * cells) >> 32


@pytest.mark.parametrize("cells", [3, 1000])
def test_keys_are_hashed_by_halves(cells):
    seeds = PublicRandom(3).generator.integers(0, WORD - 1, (6, 3), dtype=np.uint64)
    keys = np.array([0, 1, 2**32 - 1, 2**32, 2**63 + 5, WORD - 1], dtype=np.uint64)
    expected = [cell(s, k, cells) for s, k in zip(seeds.tolist(), keys.tolist(), strict=True)]
    assert heavy._cells(seeds, keys, cells).tolist() == expected


@pytest.mark.parametrize(
    ("bits", "start", "step", "lengths"),
    [
        (32, 8, 4, (8, 12, 16, 20, 24, 28, 32)),
        (10, 8, 4, (8, 10)),
        (8, 8, 4, (8,)),
        (4, 8, 4, (4,)),
        (9, 3, 3, (3, 6, 9)),
        (64, 20, 12, (20, 32, 44, 56, 64)),
    ],
)
def test_prefixes_grow_by_a_step_up_to_all_bits(bits, start, step, lengths):
    assert HeavyHitters(bits=bits, start=start, step=step, epsilon=1.0).lengths == lengths


@pytest.mark.parametrize(
    ("options", "fits"),
    [
        ({"bits": 2}, True), ({"bits": 1}, False), ({"bits": 64}, True), ({"bits": 65}, False),
        ({"start": 1}, True), ({"start": 0}, False), ({"start": 20}, True), ({"start": 21}, False),
        ({"step": 1}, True), ({"step": 0}, False), ({"step": 12}, True), ({"step": 13}, False),
        ({"keep": 1}, True), ({"keep": 0}, False), ({"epsilon": 0.0}, False),
    ],
    ids=str,
)  # fmt: skip
def test_parameters_have_limits(options, fits):
    wanted = {"bits": 32, "epsilon": 1.0} | options
    if fits:
        made = HeavyHitters(**wanted)
        assert all(getattr(made, name) == value for name, value in options.items())
    else:
        with pytest.raises(dp.BadParameter, match=next(iter(options))):
            HeavyHitters(**wanted)


@pytest.mark.parametrize(
    ("values", "bits", "fits"),
    [
        ([0, 255], 8, True),
        ([256], 8, False),
        ([-1], 8, False),
        ([-1, 5], 8, False),
        (np.array([1.0, 2.0]), 8, False),
        ([WORD - 1, 0], 64, True),
        ([2**63, 1, 5], 64, True),
        ([2**63, -1], 64, False),
        ([2**63, 1.0], 64, False),
        ([1.0], 8, False),
        ([[1]], 8, False),
        (["a"], 8, False),
        ([], 8, True),
        (np.array([7], dtype=np.uint8), 3, True),
        (np.array([8], dtype=np.int16), 3, False),
    ],
)
def test_values_are_whole_numbers_of_so_many_bits(values, bits, fits):
    p = HeavyHitters(bits=bits, epsilon=1.0)
    if fits:
        found = p.numbered(values)
        assert found.dtype == np.uint64
        assert found.tolist() == [int(x) for x in values]
    else:
        with pytest.raises(dp.BadParameter, match=f"at most {bits} bits"):
            p.numbered(values)


def test_a_report_is_a_length_a_hash_function_and_the_cell_of_a_prefix(monkeypatch):
    p = HeavyHitters(bits=20, epsilon=math.log(299))
    assert (p.cells, p.payload) == (300, 1 + 24 + 2)
    assert (p.randomizer.reports, p.randomizer.support) == (300, 1)
    monkeypatch.setattr(type(p.randomizer), "places", lambda self, n: np.arange(n) % 7)
    values = PublicRandom(2).generator.integers(0, 2**20, 60).astype(np.uint64)
    rows = p.draw(values)
    assert set(rows[:, 0].tolist()) == {0, 1, 2, 3}
    for i, (row, value) in enumerate(zip(rows.tolist(), values.tolist(), strict=True)):
        seed = [int.from_bytes(bytes(row[j : j + 8]), "little") for j in (1, 9, 17)]
        prefix = value >> (20 - p.lengths[row[0]])
        sent = int.from_bytes(bytes(row[25:]), "little")
        assert sent == (cell(seed, prefix, 300) + i % 7) % 300


def test_reports_of_a_length_or_cell_that_does_not_exist_are_refused():
    p = HeavyHitters(bits=20, epsilon=1.0)
    good = p.draw(np.zeros(2, dtype=np.uint64))
    p.check_payloads(good)
    p.check_payloads(good[:0])
    for place, last in ((0, 3), (25, p.cells - 1)):
        rows = good.copy()
        rows[1, place] = last
        p.check_payloads(rows)
        rows[1, place] = last + 1
        with pytest.raises(dp.BadParameter, match="malformed"):
            p.check_payloads(rows)


@pytest.mark.parametrize("pairs", [1 << 22, 10, 5, 1])
def test_counts_of_candidates_are_unbiased(pairs, monkeypatch):
    """(y − n·q)/(p − q), where a report is of this length with probability 1/d."""
    monkeypatch.setattr(heavy, "_PAIRS", pairs)
    p = HeavyHitters(bits=20, epsilon=1.0)
    rows = p.draw(np.arange(40, dtype=np.uint64) % 5)[:, 1:]
    candidates = np.arange(5, dtype=np.uint64)
    seen = [0] * 5
    for row in rows.tolist():
        seed = [int.from_bytes(bytes(row[j : j + 8]), "little") for j in (0, 8, 16)]
        for x in range(5):
            seen[x] += cell(seed, x, p.cells) == row[24]
    inside, outside = float(p.randomizer.chance) / 4, 1 / p.cells / 4
    assert p._chances == pytest.approx((inside, outside))
    expected = [(y - 90 * outside) / (inside - outside) for y in seen]
    assert p._counted(rows, candidates, 90) == pytest.approx(expected)
    assert p._counted(rows[:0], candidates, 0).tolist() == [0.0] * 5


def test_only_prefixes_that_survive_are_extended(monkeypatch):
    """A made-up count: how many of the leading bits of 0b101101 a candidate has."""
    p, asked = HeavyHitters(bits=6, start=2, step=2, keep=2, epsilon=1.0), []
    wanted = 0b101101

    def counted(self, reports, candidates, people):
        length = self.lengths[len(asked)]
        assert (reports[:, 0] == 200 + len(asked)).all()
        asked.append(candidates.tolist())
        near = [6.0 - (c ^ (wanted >> (6 - length))).bit_count() for c in candidates.tolist()]
        return np.array(near) * (3 if people == 9 else 0) - 15

    monkeypatch.setattr(HeavyHitters, "_counted", counted)
    tally = p.tally()
    for level in (2, 0, 1, 1):
        row = np.zeros((1, p.payload), dtype=np.uint8)
        row[0, :2] = level, 200 + level
        p.count(tally, row)
    assert tally[0].size == 4
    found = p.estimated(tally, 9, confidence=0.9)
    assert asked == [
        [0, 1, 2, 3],
        [0b1000, 0b1001, 0b1010, 0b1011, 0b0000, 0b0001, 0b0010, 0b0011],
        [0b101100, 0b101101, 0b101110, 0b101111, 0b100100, 0b100101, 0b100110, 0b100111],
    ]
    assert [(each.value, each.count) for each in found] == [(wanted, 3.0)]
    z = reach.deviations(0.9, among=8)
    widest = reach.widest(
        np.array([3.0]), 9, z=z, off=reach.steps(p._chances, z), terms=reach.variance(p._chances, 9)
    )
    assert found[0].error == pytest.approx(float(widest[0]))


def test_servers_join_what_they_kept():
    p = HeavyHitters(bits=8, epsilon=3.0)
    one, other = p.server(), p.server()
    one.add(p.encode_all([5] * 30))
    other.add(p.encode_all([5] * 20)).add(p.encode_all([9] * 10))
    one.merge(other)
    assert one.people == 60
    assert [len(each) for each in one._tally[0]] == [30, 20, 10]
    rows = p.encode_all([1])[:, 5:].copy()
    tally = p.tally()
    p.count(tally, rows)
    rows[:] = 0
    assert tally[0][0].any()


@pytest.mark.parametrize(("top", "keep"), [(1, 32), (16, 32), (17, 34), (40, 80)])
def test_twice_as_many_are_kept_as_are_asked_for(top, keep, monkeypatch):
    made, inner = [], HeavyHitters.__post_init__
    monkeypatch.setattr(
        HeavyHitters, "__post_init__", lambda self: made.append(self) or inner(self)
    )
    found = local.heavy_hitters([7] * 900 + [3] * 300, bits=4, epsilon=6.0, top=top)
    assert made[0].keep == keep
    assert len(found) <= top
    assert found[0].value == 7


@pytest.mark.parametrize(("pairs", "most"), [(29, 2), (30, 3), (9, 1), (1 << 22, 7)])
def test_no_more_hashes_than_a_limit_are_held_at_once(pairs, most, monkeypatch):
    monkeypatch.setattr(heavy, "_PAIRS", pairs)
    p, sizes, inner = HeavyHitters(bits=20, epsilon=1.0), [], heavy._cells
    rows = p.draw(np.zeros(7, dtype=np.uint64))[:, 1:]
    monkeypatch.setattr(heavy, "_cells", lambda s, k, c: sizes.append(len(s)) or inner(s, k, c))
    p._counted(rows, np.arange(10, dtype=np.uint64), 7)
    assert max(sizes) == most
    assert sum(sizes) == 7
