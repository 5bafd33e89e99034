"""Private keys: the optimum is reached, thresholds have exact tails, and nothing else shows."""

import datetime as dt
import math
import uuid
from decimal import Decimal
from fractions import Fraction
from itertools import pairwise

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from mpmath import mp

import deniable as dp
from deniable.mechanisms import GaussianThreshold, LaplaceThreshold, PartitionSelection
from deniable.mechanisms.keys import _keys
from deniable.mechanisms.keys._keys import checked_counts, in_order
from deniable.mechanisms.keys.partition_selection import _BITS, _chances
from deniable.sampling.source import Source, using

CALIBRATED = [
    PartitionSelection(epsilon=1.0, delta=1e-5, groups=3),
    LaplaceThreshold.calibrate(epsilon=1.0, delta=1e-5, groups=3),
    GaussianThreshold.calibrate(epsilon=1.0, delta=1e-5, groups=3),
]


@pytest.mark.parametrize("epsilon", [0.1, 1.0, 3.0])
@pytest.mark.parametrize("delta", [1e-3, 1e-9, 1e-15])
def test_chances_are_the_published_optimum(epsilon, delta):
    """πₙ = δ(e^(nε) − 1)/(e^ε − 1) up to n₁, then 1 minus a geometric [DVGM22]."""
    m = PartitionSelection(epsilon=epsilon, delta=delta)
    with mp.workdps(60):
        e, d = mp.mpf(epsilon), mp.mpf(delta)
        n1 = 1 + int(mp.floor(mp.log((mp.exp(e) + 2 * d - 1) / ((mp.exp(e) + 1) * d)) / e))
        rising = lambda n: d * mp.expm1(n * e) / mp.expm1(e)  # noqa: E731
        for n in (1, 2, n1 // 2, n1):
            assert m.probability(n) == pytest.approx(float(rising(n)), rel=1e-12)
        for k in (1, 2, n1 // 2):
            falling = (1 - mp.exp(-k * e)) * (1 + d / mp.expm1(e)) + mp.exp(-k * e) * rising(n1)
            assert m.probability(n1 + k) == pytest.approx(float(min(falling, 1)), rel=1e-12)
    assert m.probability(0) == 0.0
    assert m.probability(10**9) == 1.0


@settings(max_examples=30, deadline=None)
@given(st.floats(0.05, 20.0), st.floats(1e-12, 0.3), st.integers(1, 5))
def test_both_inequalities_hold_exactly(epsilon, delta, groups):
    chances = _chances(epsilon, delta, groups)
    one = 1 << _BITS
    with mp.workdps(80):
        growth = mp.exp(mp.mpf(epsilon) / groups)
        lost = mp.mpf(delta) / groups * one
        for now, after in pairwise(chances):
            assert now <= after <= growth * now + lost
            assert one - now <= growth * (one - after) + lost


def tail_of_one_new_key(m) -> float:
    """P(1 + Z ≥ T) for noise rounded to whole numbers, from the real law."""
    edge = m.threshold - 1.5
    if isinstance(m, LaplaceThreshold):
        return math.exp(-edge / m.scale) / 2
    return math.erfc(edge / m.sigma / math.sqrt(2)) / 2


@pytest.mark.parametrize("groups", [1, 3, 100])
@pytest.mark.parametrize("delta", [1e-2, 1e-5, 1e-9])
def test_thresholds_are_the_lowest_that_delta_allows(groups, delta):
    m = LaplaceThreshold.calibrate(epsilon=1.0, delta=delta, groups=groups)
    epsilon, lost = m.approx()
    assert epsilon <= 1.0
    assert lost <= delta
    assert lost == pytest.approx(groups * tail_of_one_new_key(m), rel=1e-9)
    if m.threshold > 2:
        lower = LaplaceThreshold(scale=m.scale, threshold=m.threshold - 1, groups=groups)
        assert lower.approx()[1] > delta


@pytest.mark.parametrize("groups", [1, 3, 100])
def test_gaussian_thresholds_meet_the_claim(groups):
    m = GaussianThreshold.calibrate(epsilon=1.0, delta=1e-6, groups=groups)
    epsilon, delta = m.approx()
    assert epsilon <= 1.0
    assert delta == 1e-6
    assert m.delta_at(1.0) >= groups * tail_of_one_new_key(m)
    wide = dp.Gaussian(sigma=m.sigma, sensitivity=math.sqrt(groups))
    assert m.delta_at(1.0) >= wide.delta_at(1.0) * (1 - 1e-9)
    assert m.epsilon_at(groups * tail_of_one_new_key(m) / 2) == math.inf


def test_the_threshold_for_real_noise_is_too_low_for_rounded_noise():
    """1 + ln(1/2δ)/ε is a whole number at δ = e⁻¹³/2, and lets through e^½ times that δ."""
    delta = math.exp(-13) / 2
    printed = LaplaceThreshold(scale=1.0, threshold=14)
    assert printed.approx()[1] > 1.6 * delta
    assert LaplaceThreshold.calibrate(epsilon=1.0, delta=delta).threshold == 15


def test_a_person_with_many_keys_is_hidden_too():
    """Without the division by groups, someone alone in 10⁵ keys would show now and then."""
    alone = LaplaceThreshold.calibrate(epsilon=1.0, delta=1e-6)
    assert -math.expm1(1e5 * math.log1p(-tail_of_one_new_key(alone))) > 0.01
    many = LaplaceThreshold.calibrate(epsilon=1.0, delta=1e-6, groups=10**5)
    assert -math.expm1(1e5 * math.log1p(-tail_of_one_new_key(many))) <= 1e-6


def test_the_optimum_shows_more_than_thresholds_do():
    optimal = PartitionSelection(epsilon=1.0, delta=1e-6)
    laplace = LaplaceThreshold.calibrate(epsilon=1.0, delta=1e-6)
    for people in (5, 10, 14, 16, 20):
        edge = laplace.threshold - 0.5 - people
        shown = math.exp(-edge) / 2 if edge > 0 else 1 - math.exp(edge) / 2
        assert optimal.probability(people) > shown


ONE = st.one_of(
    st.none(), st.booleans(), st.integers(), st.floats(), st.text(max_size=3),
    st.binary(max_size=2), st.dates(), st.datetimes(), st.datetimes(timezones=st.just(dt.UTC)),
)  # fmt: skip


@given(
    st.lists(st.one_of(ONE, st.tuples(ONE, ONE), st.tuples(ONE)), max_size=12, unique=True),
    st.randoms(),
)
def test_keys_of_any_kind_have_one_order(keys, shuffle):
    first = in_order(keys)
    shuffle.shuffle(keys)
    assert list(map(repr, in_order(keys))) == list(map(repr, first))


@pytest.mark.parametrize("kind", [st.integers(), st.dates(), st.datetimes(), st.text(max_size=3)])
@given(data=st.data())
def test_groups_of_one_kind_sort_as_their_values_do(kind, data):
    keys = data.draw(st.lists(st.tuples(kind, kind), unique=True, max_size=12))
    assert in_order(keys) == sorted(keys)


@pytest.mark.parametrize("m", CALIBRATED, ids=lambda m: m.name)
def test_the_order_of_rows_does_not_show(m):
    keys = ["b", "a", "c", "z", "m"]
    assert list(m.release(dict.fromkeys(keys, 10**6))) == sorted(keys)
    assert list(m.release((np.array([3, 1, 2]), np.array([10**6] * 3)))) == [1, 2, 3]
    mixed = [(1, None), "a", 3, 2.5, None]
    there = list(m.release(dict.fromkeys(mixed, 10**6)))
    back = list(m.release(dict.fromkeys(reversed(mixed), 10**6)))
    assert there == back
    assert len(there) == 5


@pytest.mark.parametrize("m", CALIBRATED, ids=lambda m: m.name)
def test_keys_that_nobody_has_are_never_shown(m):
    assert list(m.release(dict.fromkeys(range(10_000), 0))) == []
    assert list(m.release({})) == []


def test_counts_that_are_shown_are_noisy_and_above_the_threshold():
    m = CALIBRATED[1]
    shown = m.release(dict.fromkeys(range(500), m.threshold))
    assert min(shown.values()) >= m.threshold
    assert len(set(shown.values())) > 3


@pytest.mark.parametrize("m", CALIBRATED, ids=lambda m: m.name)
@pytest.mark.parametrize(
    "value",
    [
        {"a": 1.5},
        {"a": math.nan},
        {"a": "1"},
        [("a", 1)],
        (["a"], [1, 2]),
        (["a", "a"], [1, 2]),
        5,
        (["a", []], [1, 2]),
        (5, [1]),
    ],
    ids=repr,
)
def test_what_is_not_counts_of_people_is_refused_and_nothing_is_drawn(m, value):
    class NothingDrawn(Source):
        def words(self, count):
            raise AssertionError("randomness was drawn")

    with using(NothingDrawn()), pytest.raises(dp.BadParameter):
        m.release(value)


@pytest.mark.parametrize("m", CALIBRATED, ids=lambda m: m.name)
def test_a_unit_may_move_few_counts_by_one_each(m):
    assert m.on(dp.Sensitive(dict, linf=1, l1=3))
    for bounds in ({"l1": 3}, {"linf": 1}, {"linf": 1, "l1": 4}, {"linf": 2, "l1": 2}):
        with pytest.raises(dp.SensitivityMismatch):
            m.on(dp.Sensitive(dict, **bounds))


def test_too_little_budget_for_too_many_keys_is_refused():
    with pytest.raises(dp.BadParameter, match="keys"):
        PartitionSelection(epsilon=1.0, delta=1e-9, groups=10**5)


def test_chances_are_fractions_of_a_power_of_two():
    assert all(Fraction(c, 1 << _BITS) <= 1 for c in _chances(1.0, 1e-6, 1))


FAR = [
    *[Decimal("1E+999999999"), Decimal("1E-999999999"), 10**5000, Fraction(1, 10**5000)],
    *[np.datetime64(2**62, "s"), np.datetime64(2**62, "D"), Decimal("-Infinity"), math.inf],
    *[dt.datetime.max.replace(tzinfo=dt.timezone(-dt.timedelta(hours=2)))],
    *[pd.Timestamp("2020-01-01 00:00:00.000000001"), pd.Timedelta(1), 1e300, 1e-300, 3 + 4j],
    *[np.datetime64("NaT"), np.timedelta64("NaT"), np.timedelta64(2**62, "D")],
    *[np.datetime64(1, "as"), uuid.UUID(int=3), dt.date(2020, 1, 1), dt.time(1, fold=1)],
]


@pytest.mark.parametrize("place", range(len(FAR)))
def test_no_key_stops_a_release_and_every_key_can_be_written(place):
    far = FAR[place]
    for m in (
        dp.mechanisms.PartitionSelection(epsilon=9.0, delta=1e-2),
        dp.mechanisms.GaussianThreshold.calibrate(epsilon=9.0, delta=1e-2),
    ):
        there = list(m.release({far: 500, "a": 500, (far, 1.0): 500}))
        assert len(repr(there)) > 0
        assert len(there) == 3


def test_moments_with_and_without_a_zone_are_sorted_together():
    m = dp.mechanisms.PartitionSelection(epsilon=9.0, delta=1e-2)
    first, last = dt.datetime(2020, 1, 1, tzinfo=dt.UTC), dt.datetime.fromisoformat("2021-01-01")
    assert m.release({last: 500, first: 500}) == [first, last]


@pytest.mark.parametrize(
    "value",
    [
        {"a": 3, "none": 0, "b": 1, "few": -1},
        pd.Series({"a": 3, "none": 0, "b": 1}),
        (["none", "a", "b"], [0, 3, 1]),
    ],
    ids=lambda value: type(value).__name__,
)
def test_only_keys_that_someone_has_are_counted(value):
    keys, counts = checked_counts(value)
    assert dict(zip(keys, counts.tolist(), strict=True)) == {"a": 3, "b": 1}
    for wrong in (["a"], (["a"],), (["a"], [1], [1])):
        with pytest.raises(dp.BadParameter, match="or as"):
            checked_counts(wrong)


@pytest.mark.parametrize("turned", [1, -1])
def test_of_keys_that_are_one_value_the_largest_count_is_taken(turned):
    day = dt.datetime.fromisoformat("2020-01-01")
    pairs = [(day, 9), (np.datetime64(day, "ns"), 3), (None, 2), (math.nan, 5)][::turned]
    keys, counts = checked_counts(dict(pairs))
    assert dict(zip(keys, counts.tolist(), strict=True)) == {day: 9, None: 5}


def test_the_keys_of_most_tables_are_neither_rewritten_nor_ranked(monkeypatch):
    """Millions of them are taken and sorted as they are."""

    def never(key):
        raise AssertionError(key)

    for name in ("plain_key", "_rank"):
        monkeypatch.setattr(_keys, name, never)
    for keys in (["b", "a"], [b"b", b"a"], [2, 1], [dt.date(2024, 2, 1), dt.date(2024, 1, 9)]):
        assert in_order(keys) == keys[::-1]
    for keys in (["b", "a"], ["a", b"a", None]):
        assert checked_counts((keys, [1] * len(keys)))[0] == keys


def test_what_is_no_number_comes_last_and_does_not_hide_what_follows():
    first, second = float("nan"), float("nan")
    assert in_order([first, "a", 2.0, -math.inf, 1])[1:] == [2.0, first, 1, "a"]
    assert in_order([(first, "b"), (second, "a")]) == [(second, "a"), (first, "b")]
    assert in_order([(second, "a"), (first, "b")]) == [(second, "a"), (first, "b")]


@pytest.mark.parametrize("kind", [LaplaceThreshold, GaussianThreshold])
def test_a_delta_that_no_threshold_can_meet_is_refused(kind):
    """A key that one person has may be shown, however rarely: no threshold is worth δ = 0."""
    for delta in (5e-324, 1e-300, math.nextafter(2.0**-900, 0.0)):
        with pytest.raises(dp.BadParameter, match="delta"):
            kind.calibrate(epsilon=1.0, delta=delta)
    assert kind.calibrate(epsilon=1.0, delta=2.0**-900, groups=10**6).approx()[1] <= 2.0**-900
    assert LaplaceThreshold(scale=1e-3, threshold=9).approx()[1] > 0
    assert LaplaceThreshold(scale=1e-3, threshold=9).epsilon_at(0.0) == math.inf
