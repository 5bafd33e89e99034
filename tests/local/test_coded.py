"""Reports that are one number: designs and supports by enumeration, transforms by their sums."""

import math
from fractions import Fraction

import numpy as np
import pytest

import deniable as dp
from deniable import local
from deniable.local.protocols import coded, fields
from deniable.local.protocols.coded import walsh_hadamard
from deniable.sampling.public import PublicRandom

KINDS = [local.Direct, local.Hadamard, local.Projective]
CASES = [(kind, k, e) for kind in KINDS for k, e in ((2, 1.0), (3, 0.2), (5, 1.2), (9, 2.0))]


@pytest.mark.parametrize("size", [1, 2, 4, 16])
def test_the_transform_adds_with_the_sign_of_the_scalar_product(size):
    counts = PublicRandom(1).generator.integers(-9, 90, size)
    kept = counts.copy()
    expected = [
        sum(int(c) * (-1) ** (x & y).bit_count() for y, c in enumerate(counts)) for x in range(size)
    ]
    assert walsh_hadamard(counts).tolist() == expected
    assert counts.tolist() == kept.tolist()


def supporters(p):
    """For each report, the categories that it supports."""
    found = []
    for report in range(p.design[0]):
        tally = p.tally()
        tally[0][report] = 1
        found.append(p.supports(tally, 1).tolist())
    return np.array(found)


@pytest.mark.parametrize(("kind", "k", "epsilon"), CASES)
def test_a_design_is_what_its_reports_support(kind, k, epsilon):
    """b reports; s of them support a category, λ any two."""
    p = kind(categories=k, epsilon=epsilon)
    (b, s, both), table = p.design, supporters(p)
    assert table.shape == (b, k)
    assert set(table.ravel().tolist()) <= {0, 1}
    together = table.T @ table
    assert (np.diag(together) == s).all()
    assert (together[~np.eye(k, dtype=bool)] == both).all()
    pi = p.randomizer.chance
    assert (p.randomizer.reports, p.randomizer.support) == (b, s)
    q = pi * Fraction(both, s) + (1 - pi) * Fraction(s - both, b - s)
    assert p.chances == (pi, q)
    assert p.steps == 1


@pytest.mark.parametrize(("kind", "k", "epsilon"), CASES)
@pytest.mark.parametrize("inside", [False, True])
def test_a_report_supports_its_category_by_the_coin(kind, k, epsilon, inside, monkeypatch):
    p = kind(categories=k, epsilon=epsilon)
    monkeypatch.setattr(type(p.randomizer), "inside", lambda self, n: np.full(n, inside))
    values = np.tile(np.arange(k), 200)
    codes = p.codes(values)
    table = supporters(p)
    assert (table[codes, values] == inside).all()
    (b, s, _) = p.design
    for x in range(k):
        seen = set(codes[values == x].tolist())
        able = set(np.flatnonzero(table[:, x] == inside).tolist())
        assert seen <= able
        assert len(seen) > len(able) / 4
        assert len(able) == (s if inside else b - s)


@pytest.mark.parametrize("cached", [1, 3, 1 << 13])
def test_projective_reports_are_drawn_in_parts(cached, monkeypatch):
    monkeypatch.setattr(coded, "_CACHED", cached)
    p, seen = local.Projective(categories=9, epsilon=1.0), []
    inner = type(p)._points
    monkeypatch.setattr(type(p), "_points", lambda self, v: seen.append(v.size) or inner(self, v))
    assert p.codes(np.arange(9)).shape == (9,)
    assert max(seen) == min(cached, 9)
    assert sum(seen) == 9
    assert p.codes(np.arange(0)).size == 0


@pytest.mark.parametrize(("k", "b"), [(2, 4), (3, 4), (4, 8), (7, 8), (8, 16), (255, 256)])
def test_hadamard_has_more_reports_than_categories(k, b):
    assert local.Hadamard(categories=k, epsilon=1.0).design == (b, b // 2, b // 4)


@pytest.mark.parametrize(("k", "size"), [(2, 1), (255, 1), (256, 1), (257, 2), (65537, 3)])
def test_a_report_has_as_many_bytes_as_the_largest_number_takes(k, size):
    p = local.Direct(categories=k, epsilon=1.0)
    assert p.payload == size
    p.check_payloads(np.frombuffer((k - 1).to_bytes(size, "little"), np.uint8)[None])
    p.check_payloads(np.zeros((0, size), np.uint8))
    if k < 256**size:
        with pytest.raises(dp.BadParameter, match="malformed"):
            p.check_payloads(np.frombuffer(k.to_bytes(size, "little"), np.uint8)[None])


def test_reports_are_counted_by_their_number():
    p = local.Direct(categories=300, epsilon=1.0)
    rows = np.array([[5, 0], [5, 1], [5, 0], [43, 1]], dtype=np.uint8)
    tally = p.tally()
    p.count(tally, rows[:3])
    p.count(tally, rows[3:])
    assert {i: int(n) for i, n in enumerate(tally[0]) if n} == {5: 2, 261: 1, 299: 1}


@pytest.mark.parametrize("epsilon", [0.1, 1.0, 2.0, 3.0, 70.0, 800.0])
def test_the_geometry_holds_all_categories_at_nearly_the_least_variance(epsilon):
    p = local.Projective(categories=40, epsilon=epsilon)
    g, t = p.geometry
    assert fields.points(g, t) >= 40
    assert p.design == tuple(fields.points(g, t - less) for less in range(3))
    if epsilon < 4:
        grown = math.exp(epsilon)
        assert p.variance <= 1.1 * 4 * grown / (grown - 1) ** 2


# ---- repeated reports


@pytest.mark.parametrize("kind", ["projective", "hadamard", "direct"])
@pytest.mark.parametrize(("epsilon", "first"), [(2.0, 1.0), (1.0, 0.9), (3.0, 0.01)])
def test_a_repeated_report_is_kept_as_often_as_its_first_price_allows(kind, epsilon, first):
    """(λA + (1 − λ)/b)/(λB + (1 − λ)/b) is e^first, from below."""
    p = local.Repeated(categories=6, epsilon=epsilon, first=first, kind=kind)
    (b, s, _), pi, kept = p.design, p.permanent.randomizer.chance, p.kept
    ratio = (kept * pi / s + (1 - kept) / b) / (kept * (1 - pi) / (b - s) + (1 - kept) / b)
    assert math.log(ratio) <= first * (1 + 1e-15)
    assert math.log(ratio) == pytest.approx(first, rel=1e-9)
    blind = (1 - kept) * Fraction(s, b)
    assert p.chances == tuple(kept * each + blind for each in p.permanent.chances)


def test_a_first_report_that_costs_nearly_a_lifetime_is_nearly_always_kept():
    p = local.Repeated(categories=6, epsilon=1.0, first=math.nextafter(1.0, 0.0))
    assert 1 - Fraction(1, 1 << 40) < p.kept < 1


@pytest.mark.parametrize("keep", [False, True])
def test_what_is_not_kept_is_any_report(keep, monkeypatch):
    from deniable.local.protocols import repeated

    p = local.Repeated(categories=300, epsilon=2.0, first=1.0, kind="direct")
    monkeypatch.setattr(repeated, "bernoulli", lambda chance, n: np.full(n, keep))
    monkeypatch.setattr(repeated, "below", lambda bound, n: np.full(n, bound - 1))
    again = p.again(np.array([[7, 0], [9, 1]], dtype=np.uint8))
    assert again.tolist() == ([[7, 0], [9, 1]] if keep else [[43, 1]] * 2)
    tally = p.tally()
    tally[0][[3, 3, 5]] = 4
    assert p.supports(tally, 8).tolist() == p.permanent.supports(tally, 8).tolist()


@pytest.mark.parametrize(
    ("first", "fits"), [(1e-6, True), (9e-7, False), (2.0, False), (2.5, False)]
)
def test_the_first_price_is_below_that_of_a_lifetime(first, fits):
    if fits:
        assert local.Repeated(categories=3, epsilon=2.0, first=first).first == first
    else:
        with pytest.raises(dp.BadParameter, match="first"):
            local.Repeated(categories=3, epsilon=2.0, first=first)
