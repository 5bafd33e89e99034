"""Reports with a bit per category, and sets of categories, against enumeration and formulas."""

import math
from fractions import Fraction
from itertools import combinations

import numpy as np
import pytest

import deniable as dp
from deniable import local
from deniable.local.protocols import bitmaps
from deniable.sampling.public import PublicRandom


@pytest.mark.parametrize("cells", [1 << 24, 20, 10, 1])
@pytest.mark.parametrize("columns", [8, 9, 16, 3])
def test_bits_are_added_up_column_by_column(columns, cells, monkeypatch):
    monkeypatch.setattr(bitmaps, "CELLS", cells)
    rows = PublicRandom(1).generator.integers(0, 256, (13, -(-columns // 8)), dtype=np.uint8)
    numbers = [int.from_bytes(bytes(row), "little") for row in rows.tolist()]
    expected = [sum(n >> j & 1 for n in numbers) for j in range(columns)]
    assert bitmaps.column_sums(rows, columns).tolist() == expected
    assert bitmaps.column_sums(rows[:0], columns).tolist() == [0] * columns


@pytest.mark.parametrize(
    ("size", "payload", "fits"),
    [
        (11, [0xFF, 0x07], True),
        (11, [0xFF, 0x08], False),
        (11, [0x00, 0x80], False),
        (16, [0xFF, 0xFF], True),
        (15, [0xFF, 0x7F], True),
        (15, [0xFF, 0x80], False),
    ],
)
def test_no_bit_beyond_the_last_category_is_set(size, payload, fits):
    p = local.Unary(categories=size, epsilon=1.0)
    assert p.payload == 2
    rows = np.array([[0, 0], payload], dtype=np.uint8)
    if fits:
        p.check_payloads(rows)
        tally = p.tally()
        p.count(tally, rows)
        p.count(tally, rows[:1])
        assert tally[0].sum() == sum(each.bit_count() for each in payload)
    else:
        with pytest.raises(dp.BadParameter, match="malformed"):
            p.check_payloads(rows)


@pytest.mark.parametrize("cells", [1 << 24, 22, 1])
def test_unary_reports_are_drawn_in_parts_of_any_size(cells, monkeypatch):
    monkeypatch.setattr(bitmaps, "CELLS", cells)
    p, seen = local.Unary(categories=11, epsilon=1.0), []

    def words(self, values):
        seen.append(values.size)
        return (np.uint64(1) << values.astype(np.uint64))[:, None]

    monkeypatch.setattr(type(p.randomizer), "words", words)
    rows = p.draw(np.arange(11))
    assert [int.from_bytes(bytes(row), "little") for row in rows.tolist()] == [
        1 << x for x in range(11)
    ]
    assert max(seen) == {1 << 24: 11, 22: 2, 1: 1}[cells]
    assert sum(seen) == 11


# ---- subsets


def chances(epsilon, k, d):
    """By counting sets: those with the true category weigh e^ε, the others 1."""
    grown = Fraction(math.exp(epsilon))
    sets = list(combinations(range(k), d))
    weight = {s: grown if 0 in s else Fraction(1) for s in sets}
    total = sum(weight.values())
    return tuple(sum(w for s, w in weight.items() if x in s) / total for x in (0, 1))


def variance(p, q):
    return float(q * (1 - q) / (p - q) ** 2)


@pytest.mark.parametrize("k", [2, 3, 5, 8])
@pytest.mark.parametrize("epsilon", [0.01, 0.5, 1.0, 1.7, 3.0])
def test_sets_have_the_size_of_least_variance_and_chances_by_counting_them(k, epsilon):
    p = local.Subset(categories=k, epsilon=epsilon)
    every = {d: chances(epsilon, k, d) for d in range(1, k)}
    best = min(variance(*each) for each in every.values())
    assert variance(*every[p.chosen]) <= best * (1 + 1e-9)
    assert float(p.chances[0]) == pytest.approx(float(every[p.chosen][0]), rel=1e-9)
    assert float(p.chances[1]) == pytest.approx(float(every[p.chosen][1]), rel=1e-9)
    assert p.variance == pytest.approx(best, rel=1e-9)
    assert (p.randomizer.reports, p.randomizer.support) == (k, p.chosen)


def test_with_an_epsilon_however_large_sets_have_one_member():
    for epsilon in (64.0, 700.0, 1e6):
        assert local.Subset(categories=1000, epsilon=epsilon).chosen == 1


@pytest.mark.parametrize(("among", "size"), [(4, 0), (4, 1), (4, 2), (4, 4), (5, 3), (1, 1)])
def test_floyds_method_reaches_every_set_alike(among, size, monkeypatch):
    """All runs of its draws, each as likely as any other: every set comes equally often."""
    bounds = [j + 1 for j in range(among - size, among)]
    runs = list(np.ndindex(*bounds)) if bounds else [()]
    steps = iter(range(size))

    def drawn(bound, rows):
        step = next(steps)
        assert (bound, rows) == (bounds[step], len(runs))
        return np.array([run[step] for run in runs])

    monkeypatch.setattr(bitmaps, "below", drawn)
    found = bitmaps._subsets(len(runs), among, size)
    sets = [tuple(sorted(row)) for row in found.tolist()]
    assert set(sets) == set(combinations(range(among), size))
    assert len({sets.count(each) for each in set(sets)}) == 1


@pytest.mark.parametrize("inside", [False, True])
@pytest.mark.parametrize("cells", [1 << 24, 14, 1])
def test_a_set_has_the_true_category_or_not_by_the_coin(inside, cells, monkeypatch):
    monkeypatch.setattr(bitmaps, "CELLS", cells)
    p = local.Subset(categories=7, epsilon=0.5)
    assert p.chosen == 3
    monkeypatch.setattr(type(p.randomizer), "inside", lambda self, n: np.full(n, inside))
    values = np.tile(np.arange(7), 30)
    bits = np.unpackbits(p.draw(values), axis=1, bitorder="little", count=7)
    assert (bits.sum(axis=1) == 3).all()
    assert (bits[np.arange(210), values] == inside).all()
    assert bits.any(axis=0).all()


def test_a_report_whose_set_has_another_size_is_refused():
    p = local.Subset(categories=11, epsilon=1.0)
    assert p.chosen == 3
    p.check_payloads(np.array([[7, 0], [0, 7]], dtype=np.uint8))
    for wrong in ([3, 0], [15, 0], [3, 8]):
        with pytest.raises(dp.BadParameter, match="malformed"):
            p.check_payloads(np.array([[7, 0], wrong], dtype=np.uint8))


def test_simulated_supports_add_those_of_members_and_others():
    """With chances of 0 and 1 nothing is left to luck."""
    counts = np.array([5, 0, 9])
    for p, q, expected in (
        (1, 0, [5, 0, 9]),
        (0, 1, [9, 14, 5]),
        (1, 1, [14] * 3),
        (0, 0, [0] * 3),
    ):
        found = bitmaps.simulated_supports(counts, (Fraction(p), Fraction(q)))
        assert found.tolist() == expected


def test_a_simulation_of_bits_has_as_many_people_as_were_made_up():
    found = local.Unary(categories=3, epsilon=1.0).simulate([10**9, 10**8, 0], confidence=0.8)
    assert (found.people, found.confidence) == (11 * 10**8, 0.8)


@pytest.mark.parametrize(("limit", "most"), [(32, 2), (33, 3), (10, 1), (1 << 24, 7)])
def test_no_more_bits_than_a_limit_are_held_at_once(limit, most, monkeypatch):
    """Of reports of 11 bits."""
    monkeypatch.setattr(bitmaps, "CELLS", limit)
    sizes, p, unpack = [], local.Subset(categories=11, epsilon=1.0), np.unpackbits
    draw = type(p)._draw
    monkeypatch.setattr(type(p), "_draw", lambda p, v: sizes.append(v.size) or draw(p, v))
    rows = p.draw(np.arange(7))
    assert (max(sizes), sum(sizes)) == (most, 7)
    sizes.clear()
    monkeypatch.setattr(np, "unpackbits", lambda a, **k: sizes.append(len(a)) or unpack(a, **k))
    bitmaps.column_sums(rows, 11)
    assert (max(sizes), sum(sizes)) == (most, 7)
    sizes.clear()
    unary = local.Unary(categories=11, epsilon=1.0)
    words = type(unary.randomizer).words
    monkeypatch.setattr(
        type(unary.randomizer), "words", lambda r, v: sizes.append(v.size) or words(r, v)
    )
    unary.draw(np.arange(7))
    assert (max(sizes), sum(sizes)) == (most, 7)


def test_only_known_kinds_of_unary_encoding_are_made():
    with pytest.raises(dp.BadParameter, match="kind"):
        local.Unary(categories=5, epsilon=1.0, kind="asymmetric")
    with pytest.raises(dp.BadParameter, match="categories"):
        local.Unary(categories=1, epsilon=1.0)
