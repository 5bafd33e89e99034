"""Decisions under the staircase are right at every distance from a threshold, and are the law."""

import math
from fractions import Fraction
from functools import cache

import mpmath
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from deniable.sampling.gaussian import steps
from deniable.sampling.gaussian.digits import R_BITS, UNIT, V_BITS, Digits, Discrete, Rounded
from deniable.sampling.gaussian.table import RESIDUAL
from deniable.sampling.lazy import Uniform
from deniable.sampling.seeded import SeededSource
from deniable.sampling.source import Source

W = mpmath.mpf(2) ** -6
THIRD = mpmath.mpf(1) / 3


def number(x):
    return mpmath.mpf(x.numerator) / x.denominator


def height(j):
    return max(mpmath.mpf(0), (j - mpmath.mpf(1) / 2) * W)


def truth(target, step, r, v, offset):
    """What becomes of the proposal whose further digits are all 0101…"""
    z = (step + (r + THIRD) / 2**R_BITS) * W
    x = int(mpmath.floor(number(Fraction(offset)) + mpmath.mpf(1) / 2 + number(target.sigma) * z))
    t = z if isinstance(target, Rounded) else x / number(target.sigma)
    j = step if step >= 0 else ~step
    return x if (v + THIRD) / 2**V_BITS < mpmath.exp((height(j) ** 2 - t**2) / 2) else None


@cache
def word_of(step):
    """A first word that draws this step."""
    table = steps._table()
    position = int(np.flatnonzero(table.labels == step)[0])
    index, second = divmod(position, 2)
    top = int(table.thresholds[index])
    size = int(table.mask) + 1
    fraction = (2**64 - size if second else max(0, top - size)) // size * size
    word = fraction + index
    assert table.pick(np.array([word], dtype=np.uint64))[0] == step
    return word


def drawable(generator):
    """Steps that have a column of their own, from the middle to the far tail."""
    labels = np.unique(steps._table().labels)
    return generator.choice(labels[np.abs(labels) < 540], 6).tolist()


def near_thresholds(target, step, offset, generator):
    """Pairs (R, V) at distances 2⁰ … 2⁴² and 2⁰ … 2²⁰ from where a decision changes."""
    r = int(generator.integers(2**R_BITS))
    z = (step + mpmath.mpf(r) / 2**R_BITS) * W
    x = mpmath.floor(number(target.sigma) * z + number(Fraction(offset)) + mpmath.mpf(1) / 2)
    edge = (x - number(Fraction(offset)) - mpmath.mpf(1) / 2) / number(target.sigma)
    edge = int(mpmath.nint((edge / W - step) * 2**R_BITS))
    t = z if isinstance(target, Rounded) else x / number(target.sigma)
    j = step if step >= 0 else ~step
    limit = int(mpmath.floor(mpmath.exp((height(j) ** 2 - t**2) / 2) * 2**V_BITS))
    for power in range(43):
        for sign in (-1, 0, 1):
            yield edge + sign * 2**power, limit + sign * 2 ** (power % 21)
            yield edge + sign * 2**power, int(generator.integers(2**V_BITS))
            yield r, limit + sign * 2 ** (power % 21)


def cases(target, offset, generator):
    for step in drawable(generator):
        for r, v in near_thresholds(target, step, offset, generator):
            if 0 <= r < 2**R_BITS and 0 <= v < 2**V_BITS:
                yield step, r, v


TARGETS = [
    (Rounded(Fraction(1, 3)), 0.3),
    (Rounded(Fraction(2**20)), 0.25),
    (Rounded(Fraction(10**7, 3)), -0.5),
    (Rounded(Fraction(2**44)), 0.1),
    (Rounded(Fraction(2**46 + 1, 3)), 0.1),
    (Rounded(Fraction(float(2**50 / 3))), -0.75),
    (Rounded(Fraction(2**52)), 1.0),
    (Rounded(Fraction(2**53 + 1, 2)), 0.5),
    (Rounded(Fraction(3 * 2**66)), -0.3),
    (Rounded(Fraction(10**40, 7)), 0.1),
    (Discrete(Fraction(64)), 0.0),
    (Discrete(Fraction(1000)), 0.0),
    (Discrete(Fraction(10**7, 3)), 0.0),
    (Discrete(Fraction(2**44)), 0.0),
]


class Watched:
    """A target that counts what was settled in exact arithmetic."""

    def __init__(self, target):
        self.target, self.sigma, self.sigma_float = target, target.sigma, target.sigma_float
        self.reach, self.fine, self.settled = target.reach, target.fine, 0

    def settle(self, digits, offset):
        self.settled += 1
        return self.target.settle(digits, offset)


DROPPED = (200, 0, 2**V_BITS - 1)


def words_of(tried, *, spare=()):
    """The words of these proposals, and of the spare ones; all further spare ones are dropped."""
    extra = len(tried) // 64 + 16
    all_of_them = [*tried, *spare, *[DROPPED] * (extra - len(spare))]
    first = [word_of(step) for step, _, _ in all_of_them]
    return first + [(r << V_BITS) | v for _, r, v in all_of_them]


def decided(target, tried, offset, source_of):
    """What the vectorised sampler makes of these proposals."""
    kind = np.int64 if target.sigma <= 2**52 else object
    out = np.empty(len(tried), dtype=kind)
    lost = steps._chunk(target, offset, out, source_of(words_of(tried))).tolist()
    places = set(lost)
    assert len(lost) == len(places)
    return [None if i in places else x for i, x in enumerate(out.tolist())]


@pytest.mark.parametrize(("target", "offset"), TARGETS)
def test_no_word_is_decided_wrongly_at_any_distance_from_a_threshold(target, offset, scripted):
    tried = list(cases(target, offset, np.random.default_rng(5)))
    expected = [truth(target, *case, offset) for case in tried]
    watched = Watched(target)
    assert decided(watched, tried, offset, scripted) == expected
    assert watched.settled > 0
    assert watched.settled < len(tried) or (target.sigma > 2**40 and not target.fine)
    assert None in expected


class Trusting(Watched):
    """A sabotaged target: it settles the doubtful ones in float64."""

    def settle(self, digits, offset):
        z = digits.ends()[0] * UNIT
        x = math.floor(self.sigma_float * z + offset + 0.5)
        t = z if isinstance(self.target, Rounded) else x / self.sigma_float
        chance = math.exp(float(height(digits.j)) ** 2 / 2 - t * t / 2)
        return x if digits.chance.value * 2.0**-V_BITS < chance else None


@pytest.mark.parametrize(("target", "offset"), [TARGETS[2], (Discrete(Fraction(10**7, 3)), 0.0)])
def test_a_sampler_that_trusts_float64_is_caught(target, offset, scripted):
    tried = list(cases(target, offset, np.random.default_rng(5)))
    expected = [truth(target, *case, offset) for case in tried]
    assert decided(Trusting(target), tried, offset, scripted) != expected


@pytest.mark.parametrize(("target", "offset"), TARGETS)
def test_one_draw_is_decided_as_a_thousand_are(target, offset, scripted):
    tried = list(cases(target, offset, np.random.default_rng(6)))[::60]
    for step, r, v in tried:
        expected = truth(target, step, r, v, offset)
        # A proposal that is not kept is followed by one that surely is: step 0, V = 0.
        words = [word_of(step), (r << V_BITS) | v]
        if expected is None:
            words += [word_of(0), 0]
            digits = Digits(
                step=step,
                place=Uniform(scripted(), width=R_BITS, value=r),
                chance=Uniform(scripted(), width=V_BITS, value=v),
            )
            assert target.settle(digits, offset) is None
        else:
            assert steps._one(target, offset, scripted(words)) == expected


class _NoMore(Source):
    def words(self, count):
        raise LookupError


@pytest.mark.parametrize("step", [0, 1, -1, 70, -200])
@pytest.mark.parametrize("target", [Rounded(Fraction(100)), Discrete(Fraction(100))])
def test_all_short_words_counted_bracket_the_law(step, target, monkeypatch):
    """R and V cut to 5 and 6 digits, every pair: what is decided is at most the law, and what is

    undecided covers the rest. The law of (kept, x) in a step is an integral of the density.
    """
    monkeypatch.setattr(Digits, "verdict", lambda self, t: None)
    decided: dict[int | None, int] = {}
    undecided = 0
    for r in range(32):
        for v in range(64):
            place, chance = (
                Uniform(_NoMore(), width=5, value=r),
                Uniform(_NoMore(), width=6, value=v),
            )
            try:
                x = target.settle(Digits(step=step, place=place, chance=chance), 0.0)
                decided[x] = decided.get(x, 0) + 1
            except LookupError:
                undecided += 1
    assert 0 < undecided < 32 * 64 // 3
    j = step if step >= 0 else ~step
    decided.pop(None, None)
    for x, count in decided.items():
        low = max(step * W, (x - mpmath.mpf(1) / 2) / 100)
        high = min((step + 1) * W, (x + mpmath.mpf(1) / 2) / 100)
        if isinstance(target, Rounded):
            inside = mpmath.sqrt(2 * mpmath.pi) * (mpmath.ncdf(high) - mpmath.ncdf(low))
        else:
            inside = (high - low) * mpmath.exp(-((mpmath.mpf(x) / 100) ** 2) / 2)
        exact = inside / W * mpmath.exp(height(j) ** 2 / 2) * 32 * 64
        assert count <= exact <= count + undecided


def test_the_staircase_packs_what_it_says():
    """Below the packed limit a proposal is kept wherever it lies in its step."""
    labels, packed = steps._table().labels, steps._staircase().labels
    for label, pack in zip(labels.tolist(), packed.tolist(), strict=True):
        if label == RESIDUAL:
            assert pack & (2**V_BITS - 1) == 0
            continue
        j = label if label >= 0 else ~label
        furthest = (j + mpmath.mpf(3) / 2) * W
        limit = pack & (2**V_BITS - 1)
        assert pack >> R_BITS == label
        assert limit <= mpmath.exp((height(j) ** 2 - furthest**2) / 2) * 2**V_BITS


@given(
    st.fractions(min_value=64, max_value=2**40),
    st.integers(-600, 599),
    st.fractions(min_value=0, max_value=Fraction(999, 1000)),
)
def test_discrete_noise_fits_under_the_staircase(sigma, step, r):
    """(j − ½)w ≤ |x|/σ ≤ (j + 1½)w, without which probabilities would exceed 1."""
    z = (step + r) / 64
    x = (sigma * z + Fraction(1, 2)).__floor__()
    j = step if step >= 0 else ~step
    assert max(Fraction(0), j - Fraction(1, 2)) / 64 <= abs(x) / sigma <= (j + Fraction(3, 2)) / 64


def test_a_residual_step_is_drawn_and_then_judged_like_any_other(scripted):
    target, far = Rounded(Fraction(2**20)), len(steps._table().units) / 64 * 2**20
    tried = [(0, 1 << 30, 0)] * 11 + [(RESIDUAL, 1 << 30, 0)]
    # The residual's uniform is 1 − 2⁻¹²⁸: the far tail, with the sign that a later word gives.
    for then, sign in ((2**64 - 1, -1), (0, 1)):
        source = scripted([*words_of(tried), 2**64 - 1, 2**64 - 1, 0, 0, then])
        out = np.empty(12, dtype=np.int64)
        assert steps._chunk(target, 0.0, out, source).size == 0
        assert sign * out[-1] > far - 2**15
        assert (out[:-1] == out[0]).all()


def test_spare_proposals_fill_the_holes_in_order(scripted):
    """Also a spare one that only exact arithmetic can judge: leaving it out would favour others."""
    target = Rounded(Fraction(2**20))
    edge = next(
        case for case in cases(target, 0.0, np.random.default_rng(5)) if unclear(target, case)
    )
    spare = [(3, 5, 0), DROPPED, edge, (7, 5, 0), (9, 5, 0)]
    tried = [(0, 5, 0), DROPPED, (1, 5, 0), DROPPED, DROPPED, *[(0, 5, 0)] * 7]
    out = np.empty(12, dtype=np.int64)
    lost = steps._chunk(target, 0.0, out, scripted(words_of(tried, spare=spare)))
    expected = [truth(target, *case, 0.0) for case in tried]
    expected[1], expected[3], expected[4] = (truth(target, *spare[i], 0.0) for i in (0, 2, 3))
    got = [None if i in lost.tolist() else x for i, x in enumerate(out.tolist())]
    assert got == expected


def unclear(target, case):
    step, r, v = case
    place = np.array([(step << R_BITS) + r])
    second = np.array([(r << V_BITS) | v], dtype=np.uint64)
    return steps._judge(target, place, second)[0][0]


def test_places_that_no_spare_fills_are_drawn_again(scripted):
    target = Rounded(Fraction(2**20))
    out = np.empty(20, dtype=np.int64)
    lost = steps._chunk(target, 0.0, out, scripted(words_of([DROPPED] * 20, spare=[(3, 5, 0)])))
    assert lost.tolist() == list(range(1, 20))
    assert out[0] == truth(target, 3, 5, 0, 0.0)
    words = words_of([DROPPED] * 20) + words_of([(0, i, 0) for i in range(20)])
    drawn = steps.draw(target, np.zeros(20), count=20, source=scripted(words))
    assert drawn.tolist() == [truth(target, 0, i, 0, 0.0) for i in range(20)]


@pytest.mark.parametrize("kind", [Rounded, Discrete])
@pytest.mark.parametrize("count", [0, 1, steps.FEW - 1, steps.FEW, 100])
@pytest.mark.parametrize(
    ("sigma", "dtype"), [(100, np.int64), (2**52, np.int64), (2**52 + 1, object), (2**70, object)]
)
def test_draws_are_machine_words_exactly_where_they_fit(kind, count, sigma, dtype):
    drawn = steps.draw(kind(Fraction(sigma)), 0.0, count=count, source=SeededSource(1))
    assert drawn.dtype == dtype
    assert drawn.shape == (count,)


@pytest.mark.parametrize("count", [1, steps.FEW - 1])
@pytest.mark.parametrize("sigma", [Fraction(2**52 + 1), Fraction(2) ** 70, Fraction(10) ** 40])
def test_few_draws_too_wide_for_64_bits_are_those_drawn_one_by_one(count, sigma):
    """Whole numbers of Python from the same random words."""
    target = Rounded(sigma=sigma)
    together = steps.draw(target, 0.25, count=count, source=SeededSource(3))
    source = SeededSource(3)
    alone = [steps.draw(target, 0.25, count=1, source=source)[0] for _ in range(count)]
    assert together.tolist() == alone
    assert together.dtype == object
    assert max(map(abs, alone)) < 40 * sigma


def test_floors_that_are_doubtful_are_settled_also_where_every_chance_is_clear(scripted):
    settled = 0
    for target, offset in TARGETS[:4]:
        tried = list(cases(target, offset, np.random.default_rng(5)))
        tried = [case for case in tried if case[2] < 2**19 and not unclear(target, case)]
        expected = [truth(target, *case, offset) for case in tried]
        watched = Watched(target)
        assert decided(watched, tried, offset, scripted) == expected
        settled += watched.settled
    assert settled > 0


def test_many_discrete_draws_too_wide_for_64_bits_are_those_drawn_one_by_one():
    target = Discrete(Fraction(2) ** 70)
    count = steps.FEW + 5
    together = steps.draw(target, 0.0, count=count, source=SeededSource(3))
    source = SeededSource(3)
    assert together.tolist() == [steps._one(target, 0.0, source) for _ in range(count)]


def test_many_rounded_draws_too_wide_for_64_bits_are_drawn_together(monkeypatch):
    monkeypatch.delattr(steps, "_one")
    drawn = steps.draw(Rounded(Fraction(2) ** 70), 0.0, count=30, source=SeededSource(3))
    assert all(type(x) is int for x in drawn)
