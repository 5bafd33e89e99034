"""Coins of probability exp(−E) from a few rows: their terms, their law, and their close calls.

Each statistical test alarms falsely with probability below 1e-7.
"""

import math
from fractions import Fraction

import numpy as np
import pytest
from tests import goodness

from deniable.learn.convex import Ball, coins
from deniable.learn.convex.coins import Tangent
from deniable.learn.convex.objectives import NAMES, STEP, Rows, link
from deniable.learn.convex.proximal import Chain, Target
from deniable.sampling import PublicRandom

ALARM = 1e-8
HEADS = 1500


def made_up(name, *, rows=60, columns=3, weight=0.4, longest=1.0):
    generator = PublicRandom(3).generator
    points = generator.normal(size=(rows, columns))
    points *= longest / np.linalg.norm(points, axis=1)[:, None]
    made = link(name, blur=0.2)
    targets = np.zeros(rows) if made.labels else generator.normal(size=rows)
    held = Rows(points=np.trunc(points / STEP), targets=targets, link=made)
    target = Target(rows=held, domain=Ball(2.0), weight=weight, ridge=2.0)
    return Chain(target=target, mixing=1e-9, arithmetic=1e-8)


def tangents(walk, count):
    """Tangents anywhere, each with a move to a proposal near or far."""
    generator, d = PublicRandom(4).generator, walk.target.size[1]
    for i in range(count):
        ahead, point, end = generator.normal(size=(3, d)) * 0.5
        if i % 3 == 0:
            end = point + 1e-6 * end
        place = walk._look(walk.target.domain.project(point))
        tangent = walk._tangent(np.rint(ahead / walk.width).astype(np.int64), place)[1]
        yield tangent, np.rint(end / walk.width).astype(np.int64) - tangent.point


def exponent(walk, tangent, move):
    """E by its definition: what the proposals' density leaves of the law's, at p + w."""
    target, rows = walk.target, walk.target.rows
    w, p = move * walk.width, tangent.point * walk.width
    z, u = (rows.points @ (v * STEP) for v in (p, w))
    z = z - rows.targets
    rise = rows.link.value(z + u) - rows.link.value(z) - tangent.slopes * u
    return target.weight * rise.sum() + float(tangent.hand) / 2 * w @ w


@pytest.mark.parametrize("name", NAMES)
def test_terms_are_chances_and_their_floats_as_near_as_their_doubt_says(name):
    """At proposals near and far, from tangents anywhere: no chance is below 0 or above 1."""
    walk = made_up(name)
    size, seen = walk.target.size[0], []
    for tangent, move in tangents(walk, 12):
        about, doubt = tangent.terms(move, np.arange(size))
        assert tangent.rest(move) >= 0
        for row in range(0, size, 4):
            low, high = tangent.exactly(move, row, 80)
            assert high - low <= Fraction(1, 2**80)
            assert low > 0
            assert high * size <= tangent.units(move)
            assert abs(Fraction(about[row]) - low) <= Fraction(doubt[row])
        assert doubt.max() < 1e-10
        seen.append(float(about.max()))
    assert max(seen) > 0.01


@pytest.mark.parametrize("name", NAMES)
def test_terms_add_up_to_what_the_tangent_misses(name):
    """But for a constant, which no proposal depends on."""
    walk = made_up(name)
    for tangent, move in tangents(walk, 12):
        total = float(tangent.rest(move)) + tangent.terms(move, np.arange(60))[0].sum()
        left = sum(x * int(m) for x, m in zip(tangent.left[0], move.tolist(), strict=True))
        linear = float(Fraction(left, tangent.left[1]) * Fraction(walk.width))
        constant = float(tangent._slack) + 60 * tangent.constant
        assert total == pytest.approx(exponent(walk, tangent, move) + linear + constant, abs=1e-9)
        assert constant < 1e-6


@pytest.mark.parametrize("longest", [1e-3, 0.5])
def test_the_largest_slope_error_is_within_what_is_allowed(longest):
    """The slopes of the tangent are those of the loss at p, up to `off`."""
    walk = made_up("logistic", longest=longest)
    for tangent, _ in tangents(walk, 6):
        scale = Fraction(walk.width) * Fraction(STEP)
        for row in range(0, 60, 7):
            numbers = map(int, walk.target.rows.points[row])
            pairs = zip(numbers, map(int, tangent.point), strict=True)
            z = float(sum(a * x for a, x in pairs) * scale)
            assert abs(-1 / (1 + math.exp(z)) - tangent.slopes[row]) <= tangent.off + 1e-15


@pytest.mark.statistical
@pytest.mark.parametrize("name", ["logistic", "absolute"])
@pytest.mark.parametrize("floats", ["as they are", "that know nothing"])
def test_coins_come_up_as_often_as_they_should(name, floats, monkeypatch):
    """Also where floats leave everything open, and exact arithmetic decides."""
    count = HEADS
    if floats == "that know nothing":
        terms, count = Tangent.terms, 150

        def unsure(self, move, chosen):
            about, doubt = terms(self, move, chosen)
            return 0 * about, doubt + math.inf

        monkeypatch.setattr(Tangent, "terms", unsure)
    walk = made_up(name, rows=12, weight=1.0 if name == "logistic" else 0.1)
    tangent, move = list(tangents(walk, 2))[1]
    exact = sum(sum(tangent.exactly(move, row, 60)) / 2 for row in range(12)) + tangent.rest(move)
    chance = math.exp(-exact)
    assert 0.05 < chance < 0.9
    heads = sum(tangent.kept(tangent.point + move) for _ in range(count))
    assert goodness.count(heads, count, chance) > ALARM


@pytest.mark.statistical
@pytest.mark.parametrize("fault", ["half as many", "one row"])
def test_the_same_test_catches_coins_that_are_tossed_wrongly(fault, monkeypatch):
    """Half as many of von Neumann's coins; or all with the same row, which is a short one.

    A fault is missed with probability below 1e-6: it raises the chance of heads by more than
    fifteen standard deviations of their share.
    """
    walk = made_up("logistic", rows=12, weight=1.0)
    walk.target.rows.points[0] = np.trunc(walk.target.rows.points[0] / 16)
    tangent, move = list(tangents(walk, 2))[1]
    exact = sum(sum(tangent.exactly(move, row, 60)) / 2 for row in range(12)) + tangent.rest(move)
    agree = Tangent._units_agree
    if fault == "half as many":
        monkeypatch.setattr(Tangent, "_units_agree", lambda *a: agree(*a[:3], (a[3] + 1) // 2))
    else:
        drawn = coins.below
        monkeypatch.setattr(coins, "below", lambda n, k: drawn(n, k) * (n != 12))
    heads = sum(tangent.kept(tangent.point + move) for _ in range(HEADS))
    assert goodness.count(heads, HEADS, math.exp(-exact)) < ALARM, (heads, math.exp(-exact))


def test_no_rows_are_needed_for_a_coin():
    """A row of zeros stands for none: only what is spared of the ridge is left."""
    walk = made_up("logistic", rows=1, longest=0.0)
    for tangent, move in tangents(walk, 4):
        low, high = tangent.exactly(move, 0, 60)
        spared = float(tangent.hand) * float(move * walk.width @ (move * walk.width)) / 4
        assert float(low) == pytest.approx(float(high)) == pytest.approx(spared, abs=1e-9)
