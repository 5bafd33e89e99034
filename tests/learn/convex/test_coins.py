"""Coins of probability exp(−E) from a few rows: their terms, their law, and their close calls.

Each statistical test alarms falsely with probability below 1e-7.
"""

import math
from dataclasses import replace
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


def simple(*, weight=8.0, off=0.0, hand=Fraction(4), left=((0,), 1), slopes=0.0, rows=4, width=1.0):
    """One coordinate and numbers of few digits, so that bounds come out whole."""
    held = Rows(points=np.full((rows, 1), 1 / STEP), targets=np.zeros(rows), link=link("logistic"))
    return Tangent(
        rows=held, weight=weight, width=width, norm=2.0, point=np.array([0]), off=off, hand=hand,
        slopes=np.full(rows, slopes), left=(list(left[0]), left[1]),
    )  # fmt: skip


# ---- how many coins


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("off", [2.0**-24, 0.3])
@pytest.mark.parametrize("weight", [1e-3, 1e7])
@pytest.mark.parametrize("steps", [[3, -1, 2], [30, 0, 1], [2**9, 5, 9], [2**14, 2**13, 0]])
def test_units_are_the_bound_on_all_terms_rounded_up_to_a_whole_number(name, off, weight, steps):
    """n·(b·(min(max φ″·‖w‖²/2, 2‖w‖) + γ‖w‖) + h‖w‖²/4n + c), c = n(bγ)²/h."""
    walk = made_up(name)
    tangent = replace(
        next(tangents(walk, 1))[0], width=2.0**-10, off=off, weight=weight, hand=Fraction(5, 3)
    )
    length = math.hypot(*steps) * 2.0**-10
    bent = min(tangent.rows.link.sharpest * length**2 / 2, 2 * length)
    constant = 60 * (weight * off) ** 2 / (5 / 3)
    exact = 60 * (weight * (bent + off * length) + constant) + (5 / 3) * length**2 / 4
    found = tangent.units(np.array(steps))
    assert isinstance(found, int)
    assert exact * (1 + 2.0**-31) <= found <= exact * (1 + 2.0**-28) + 1
    assert 1 + 2.0**-31 <= tangent.constant / constant <= 1 + 2.0**-29


def test_a_bound_that_comes_out_whole_is_not_trusted():
    """4·8·¼·1²/2 from rows and 4·1²/4 in hand make 5: one more, as floats may have rounded down."""
    assert simple().units(np.array([1])) == 6


@pytest.mark.parametrize(("units", "counts"), [(1, [1]), (256, [256]), (700, [256, 256, 188])])
@pytest.mark.parametrize("wrong", [None, 0, -1])
def test_every_unit_is_one_coin_and_all_must_agree(units, counts, wrong, monkeypatch):
    asked, tangent = [], simple()
    monkeypatch.setattr(Tangent, "units", lambda *_: units)
    bad = None if wrong is None else range(len(counts))[wrong]

    def agree(self, move, given, count):
        assert given == units
        asked.append(count)
        return len(asked) - 1 != bad

    monkeypatch.setattr(Tangent, "_units_agree", agree)
    assert tangent._rows_agree(np.array([1])) is (wrong is None)
    assert asked == counts[: None if bad is None else bad + 1]


@pytest.mark.parametrize("first", [True, False])
@pytest.mark.parametrize("second", [True, False])
def test_a_proposal_is_kept_if_both_coins_agree_about_its_move(first, second, monkeypatch):
    tangent, seen = replace(simple(), point=np.array([30])), []
    monkeypatch.setattr(Tangent, "rest", lambda self, move: move.tolist())
    monkeypatch.setattr(coins, "bernoulli_exp", lambda late: [seen.append(late) or first])
    monkeypatch.setattr(Tangent, "_rows_agree", lambda self, move: move[0] == 12 and second)
    assert tangent.kept(np.array([42])) is (first and second)
    assert seen == [[12]]


# ---- von Neumann's coins


def first_tails(coin):
    """k of the first tails; heads at k needs a head with chance r and one with chance 1/k."""
    return next(k for k, (head, lucky) in enumerate(coin, 1) if not (head and lucky))


@pytest.mark.parametrize("seed", range(12))
def test_coins_agree_if_every_first_tails_is_at_an_odd_turn(seed, monkeypatch):
    """Scripted coins against the definition, coin by coin."""
    draw = np.random.default_rng(seed)
    count = int(draw.integers(1, 4))
    script = [
        [(bool(draw.random() < 0.7), k == 0 or bool(draw.random() < 0.6)) for k in range(20)]
        + [(False, True)]
        for _ in range(count)
    ]
    turn, left = [0], list(range(count))

    def heads(self, move, units, asked):
        assert (units, asked) == (99, len(left))
        turn[0] += 1
        if turn[0] == 1:
            return following()
        return np.array([script[i][turn[0] - 1][0] for i in left])

    def following():
        found = np.array([script[i][turn[0] - 1][0] for i in left])
        left[:] = [i for i in left if all(script[i][turn[0] - 1])]
        return found

    def below(bound, asked):
        assert (bound, asked) == (turn[0], len(left))
        luck = np.array([0 if script[i][turn[0] - 1][1] else 1 for i in left])
        following()
        return luck

    monkeypatch.setattr(Tangent, "_heads", heads)
    monkeypatch.setattr(coins, "below", below)
    wanted = all(first_tails(coin) % 2 == 1 for coin in script)
    assert simple()._units_agree(np.array([1]), 99, count) is wanted


# ---- one head


def heads_of(about, doubt, words, monkeypatch, *, exact=True):
    """Heads of eight rows and sixteen units, and which of them were computed exactly."""
    asked, tangent = [], simple(rows=8)
    monkeypatch.setattr(coins, "below", lambda bound, count: np.arange(count) * (bound == 8))
    monkeypatch.setattr(Tangent, "terms", lambda *_: (np.array(about), np.array(doubt)))
    source = type("Words", (), {"words": lambda _, n: np.array(words[:n], dtype=np.uint64)})
    monkeypatch.setattr(coins, "current", source)

    def exactly(self, move, units, row, word):
        asked.append((row, word))
        return exact

    monkeypatch.setattr(Tangent, "_is_head", exactly)
    found = tangent._heads(np.array([1]), 16, len(about))
    return found.tolist(), asked


def test_floats_decide_where_they_are_sure_and_exact_numbers_elsewhere(monkeypatch):
    """A level of 16/8·word/2⁶⁴ against the term; a margin of 2⁻⁴⁴ of the level beside the doubt."""
    half = 1 << 63
    cases = [  # term, doubt, word; sure?, head?
        (1 + 1e-6, 1e-9, half, True, True),
        (1 - 1e-6, 1e-9, half, True, False),
        (1 + 1e-6, 2e-6, half, False, None),
        (1 - 1e-6, 2e-6, half, False, None),
        (1 + 5e-14, 0.0, half, False, None),
        (1 - 5e-14, 0.0, half, False, None),
        (1 + 7e-14, 0.0, half, True, True),
        (1 - 7e-14, 0.0, half, True, False),
        (1e-16, 0.0, 0, False, None),
        (3e-16, 0.0, 0, True, True),
        (1e-14, 0.0, 0, True, True),
        (2.0**-52, 2.0**-53, 0, False, None),  # just as far as the doubt and the margin
        (1.5, 1e-9, 3 << 62, False, None),
        (1.9, 1e-9, 3 << 62, True, True),
        (0.5, 0.0, 1 << 61, True, True),
    ]
    for term, doubt, word, sure, head in cases:
        for exact in (True, False):
            found, asked = heads_of([term], [doubt], [word], monkeypatch, exact=exact)
            assert asked == ([] if sure else [(0, word)]), (term, word)
            assert found == [head if sure else exact]
    found, asked = heads_of([1.0, 0.2, 1.0], [0.0] * 3, [half, half, half + 1], monkeypatch)
    assert (found, asked) == ([True, False, True], [(0, half), (2, half + 1)])


@pytest.mark.parametrize(
    ("term", "head", "more"),
    [
        (Fraction(1000), True, 0),
        (Fraction(6), True, 0),  # (v + 1) cells of units/size·2⁻⁶⁴: all of the cell is below
        (Fraction(5), False, 0),
        (Fraction(4), False, 0),
        (Fraction(11, 2), True, 1),
        (Fraction(5) + Fraction(1, 2**64), True, 1),
        (Fraction(5) + Fraction(1, 2**65), True, 2),
    ],
)
def test_an_exact_head_is_decided_by_as_many_digits_as_it_needs(term, head, more, monkeypatch):
    digits, drawn = iter([0, 1 << 62]), []
    source = type("Digits", (), {"integer": lambda _, bits: drawn.append(bits) or next(digits)})
    monkeypatch.setattr(coins, "current", source)
    cell = Fraction(16, 8 << 64)

    def exactly(self, move, row, bits):
        assert row == 3
        assert bits >= 64 * (len(drawn) + 1) + 16  # finer than what is to be decided
        return term * cell, term * cell

    monkeypatch.setattr(Tangent, "exactly", exactly)
    assert simple(rows=8)._is_head(np.array([1]), 16, 3, 5) is head
    assert drawn == [64] * more


# ---- terms


@pytest.mark.parametrize("weight", [2.0**-150, 1e-6, 1.0, 1e9])
@pytest.mark.parametrize("name", ["logistic", "absolute"])
def test_exact_terms_are_as_near_as_wanted_whatever_the_weight(name, weight):
    walk = made_up(name)
    for tangent, move in tangents(walk, 3):
        heavy = replace(tangent, weight=weight, off=0.01)
        about, doubt = heavy.terms(move, np.arange(60))
        for row in (0, 31):
            low, high = heavy.exactly(move, row, 80)
            assert high - low <= Fraction(1, 2**80)
            assert abs(Fraction(about[row]) - low) <= Fraction(doubt[row])


def test_the_doubt_grows_with_everything_that_is_added_up():
    """2⁻⁴⁴ of b·(|z| + |u| + |t| + d(‖x‖ + ‖w‖)/32 + 2) and of what is spared."""
    points = np.rint(np.array([[0.3, 0.4], [-0.9, 0.1]]) / STEP)
    rows = Rows(points=points, targets=np.array([700.0, -3.0]), link=link("huber"))
    for weight, norm, steps, hand in [
        (2.0, 5.0, [3, 4], Fraction(1, 10)),
        (2.0, 9e4, [3, 4], Fraction(1, 10)),
        (2.0, 5.0, [30_000, 4], Fraction(1, 10**9)),
        (1e-9, 5.0, [3, 4], Fraction(10**5)),
    ]:
        tangent = Tangent(
            rows=rows, weight=weight, width=0.5, norm=norm, point=np.array([50, -9]), off=0.0,
            slopes=np.zeros(2), left=([0, 0], 1), hand=hand,
        )  # fmt: skip
        move = np.array(steps)
        z = points * STEP @ (tangent.point * 0.5) - rows.targets
        u = points * STEP @ (move * 0.5)
        length = math.hypot(*steps) * 0.5
        sizes = np.abs(z) + np.abs(u) + np.abs(rows.targets) + 2 * (norm + length) / 32 + 2
        wanted = 2.0**-44 * (weight * sizes + float(hand) * length**2 / 8)
        assert tangent.terms(move, np.arange(2))[1] == pytest.approx(wanted, rel=1e-9, abs=0)


@pytest.mark.parametrize("move", [[0, 0], [3, -8], [-12, 20], [-15, 25], [40, 1]])
def test_what_does_not_come_from_rows_is_a_square_and_0_at_its_least(move):
    """l·w + h‖w‖²/4 + ‖l‖²/h = h/4·‖w + 2l/h‖², exactly: never below 0."""
    walk = made_up("logistic", columns=2)
    given, hand, width = ([9, -15], 7), Fraction(6, 7), Fraction(1, 8)
    tangent = replace(next(tangents(walk, 1))[0], left=given, hand=hand, width=0.125)
    gaps = [m * width + 2 * Fraction(n, 7) / hand for m, n in zip(move, given[0], strict=True)]
    assert tangent.rest(np.array(move)) == hand / 4 * sum(gap * gap for gap in gaps)


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
