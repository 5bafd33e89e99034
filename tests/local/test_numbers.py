"""Means, vectors, several attributes, ranges, heavy hitters.

Each statistical test alarms falsely with probability below 1e-8.
"""

import math

import numpy as np
import pytest
from tests import goodness

import deniable as dp
from deniable import local
from deniable.audit import audit
from deniable.sampling.public import PublicRandom

ALARM = 1e-9
METHODS = ["duchi", "piecewise", "hybrid"]
LITERATURE = [("duchi", 4.683), ("piecewise", 5.224), ("hybrid", 4.289)]  # at ε = 1


# ---- means


@pytest.mark.parametrize(("method", "known"), LITERATURE)
def test_the_worst_variance_is_the_literatures(method, known):
    assert local.Mean(epsilon=1.0, low=-1, high=1, method=method).worst_variance == pytest.approx(
        known, abs=1e-3
    )


@pytest.mark.statistical
@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("value", [10.0, 13.7, 20.0, 30.0])
def test_means_are_unbiased_and_no_worse_than_the_worst(method, value):
    # 40,000 reports: 7 standard errors of the mean leave 3e-12.
    p = local.Mean(epsilon=1.2, low=10, high=30, method=method)
    found = p.server().add(p.encode_all(np.full(40_000, value))).estimate()
    assert abs(found.mean - value) < 7 / 1.96 * found.error


@pytest.mark.statistical
def test_the_error_of_a_mean_covers():
    p = local.Mean(epsilon=1.0, low=0, high=1)
    values = PublicRandom(1).generator.random(500)
    hits = 0
    for _ in range(200):
        found = p.server().add(p.encode_all(values)).estimate()
        hits += abs(found.mean - values.mean()) <= found.error
    assert goodness.covered(hits, 200, 0.95) > ALARM


@pytest.mark.statistical
@pytest.mark.parametrize("method", METHODS)
def test_the_auditor_finds_nothing_in_a_mean(method):
    p = local.Mean(epsilon=1.0, low=0, high=1, method=method)
    verdict = audit(
        None,
        0.0,
        1.0,
        epsilon=1.0,
        samples=4000,
        confidence=1 - 1e-8,
        batch=lambda x, n: p.encode_all(np.full(n, x))[:, 5:] @ np.array([1 << 20, 1, 256]),
    )
    assert not verdict.violated


@pytest.mark.parametrize("method", METHODS)
def test_every_point_of_the_window_has_the_same_width(method):
    """Outputs of a window: s inside and b − s outside, whatever the point; so ε is exact."""
    p = local.Mean(epsilon=1.0, low=0, high=1, method=method)
    window = p._window
    b, s = window.reports, window.support
    places = np.arange(b)
    for point in (0, 1, 777, b - s - 1, b - s):
        rest = places - s
        outside = np.where(rest < point, rest, rest + s)
        numbers = np.where(places < s, point + places, outside)
        assert sorted(numbers) == list(range(b))
    ratio = window.chance / s / ((1 - window.chance) / (b - s))
    assert math.log(ratio) == pytest.approx(1.0, rel=1e-12)
    assert math.log(ratio) <= 1.0


def test_numbers_outside_the_bounds_are_clipped_and_others_refused():
    p = local.Mean(epsilon=30.0, low=0, high=1)
    found = p.server().add(p.encode_all([5.0] * 2000)).estimate()
    assert found.mean == pytest.approx(1.0, abs=0.01)
    for bad in (math.nan, math.inf, "1", None):
        with pytest.raises(dp.BadParameter):
            p.encode(bad)
    with pytest.raises(dp.BadParameter, match="above low"):
        local.Mean(epsilon=1.0, low=1, high=1)


def test_a_foreign_or_impossible_number_is_refused():
    p = local.Mean(epsilon=1.0, low=0, high=1, method="duchi")
    report = bytearray(p.encode(0.5))
    other = local.Mean(epsilon=1.0, low=0, high=2, method="duchi").encode(0.5)
    for bad in (other, bytes(report[:5]) + b"\x01\x00\x00", bytes(report[:5]) + b"\x00\x02\x00"):
        with pytest.raises(dp.BadParameter):
            p.server().add(bad)


# ---- vectors


@pytest.mark.statistical
@pytest.mark.parametrize("epsilon", [1.0, 4.0])
def test_mean_vectors_are_unbiased_and_covered(epsilon):
    p = local.Vector(dimension=4, epsilon=epsilon, norm=2.0)
    truth = np.array([1.2, 0.0, -0.8, 0.1])
    found = p.server().add(p.encode_all(np.tile(truth, (1500, 1)))).estimate()
    assert (np.abs(found.mean - truth) < 7 / 1.96 * found.error).all()


@pytest.mark.parametrize("epsilon", [0.5, 1.0, 4.0])
@pytest.mark.parametrize("dimension", [2, 10])
def test_a_list_of_directions_is_nearly_as_good_as_all_of_them(dimension, epsilon):
    """The best cap of PrivUnit, by quadrature over all directions: at most 2 % less variance."""
    angle = (np.arange(20_000) + 0.5) * math.pi / 20_000
    weight = np.sin(angle) ** (dimension - 2)
    cap = (np.cumsum(weight) / weight.sum())[:-100]
    top = (np.cumsum(np.cos(angle) * weight) / np.cumsum(weight))[:-100]
    inside = cap * math.exp(epsilon) / (cap * math.exp(epsilon) + 1 - cap)
    best = (top * (inside - (1 - inside) * cap / (1 - cap))).max()
    p = local.Vector(dimension=dimension, epsilon=epsilon)
    assert 1 <= (best / p._length_of_mean(p.randomizer)) ** 2 < 1.02


def test_a_cap_always_has_the_same_number_of_directions():
    p = local.Vector(dimension=3, epsilon=2.0)
    assert p.numbered([[3.0, 0.0, 4.0]]).tolist() == [[0.6, 0.0, 0.8]]
    assert np.isfinite(p.numbered([[1e308, 1e308, -1e308]])).all()
    assert len(p.encode([0.0, 0.0, 0.0])) == p.length == 15
    for bad in ([1.0, 2.0], [[1.0, math.nan, 0.0]], "abc"):
        with pytest.raises(dp.BadParameter):
            p.encode(bad)


@pytest.mark.statistical
def test_the_auditor_finds_nothing_in_a_vector():
    p = local.Vector(dimension=2, epsilon=1.0)

    def inside(vector, n):
        """How near each reported direction is to the first axis."""
        rows = p.encode_all(np.tile(vector, (n, 1)))[:, 5:]
        from deniable.local.reports import as_numbers
        from deniable.sampling.public import public_directions

        pairs = zip(as_numbers(rows[:, :8]).tolist(), as_numbers(rows[:, 8:]).tolist(), strict=True)
        return np.array([public_directions(s, 2, first=c)[0, 0] for s, c in pairs])

    verdict = audit(
        None, (1.0, 0.0), (-1.0, 0.0), epsilon=1.0, samples=800, confidence=1 - 1e-8, batch=inside
    )
    assert not verdict.violated


# ---- several attributes, ranges


@pytest.mark.statistical
def test_several_attributes_are_unbiased_with_the_stated_variance():
    p = local.Attributes(categories={"a": 2, "b": [f"b{i}" for i in range(40)]}, epsilon=1.5)
    draw = PublicRandom(3).generator
    a, b = draw.integers(0, 2, 3000), np.minimum(draw.zipf(1.4, 3000) - 1, 39)
    table = {"a": a, "b": [f"b{i}" for i in b]}
    hits, trials, total = 0, 0, []
    for _ in range(60):
        found = p.server().add(p.encode_all(table)).estimate()
        for name, values in (("a", a), ("b", b)):
            counts = np.bincount(values, minlength=found[name].counts.size)
            z = (found[name].counts - counts) / np.sqrt(found[name].variance(counts))
            total.append(z[0])
            hit = np.abs(found[name].counts - counts)[0] <= found[name].error[0]
            hits, trials = hits + hit, trials + 1
    assert abs(np.mean(total)) < 7 / math.sqrt(len(total))
    assert goodness.covered(int(hits), trials, 0.95) > ALARM
    assert len(p.encode({"a": 1, "b": "b3"})) == p.length


def test_a_table_with_other_columns_or_reports_on_none_are_refused():
    p = local.Attributes(categories={"a": 2, "b": 300}, epsilon=1.0)
    for bad in ({"a": [1]}, {"a": [1], "b": [1, 2]}, [1, 2], {"a": [2], "b": [0]}):
        with pytest.raises(dp.BadParameter):
            p.encode_all(bad)
    report = p.encode({"a": 0, "b": 7})
    for bad in (report[:5] + b"\x02" + report[6:], report[:5] + b"\x00\x00\x09"):
        with pytest.raises(dp.BadParameter):
            p.server().add(bad)


@pytest.mark.statistical
def test_counts_in_ranges_and_quantiles_are_covered():
    p = local.Ranges(epsilon=1.5, low=0, high=64, cells=64)
    values = np.clip(PublicRandom(2).generator.normal(30, 8, 4000), 0, 63.99)
    hits, inside, runs = np.zeros(3, dtype=int), 0, 60
    for _ in range(runs):
        found = p.server().add(p.encode_all(values)).estimate()
        for i, (low, high) in enumerate([(0, 32), (17, 41), (30, 31)]):
            count, error = found.count(low, high)
            hits[i] += abs(count - np.count_nonzero((values >= low) & (values < high))) <= error
        _, low, high = found.quantile(0.5)
        inside += low <= np.median(values) <= high
    for each in (*hits, inside):
        assert goodness.covered(int(each), runs, 0.95) > ALARM
    assert found.count(0, 64) == (pytest.approx(4000), 0.0)
    assert found.count(5, 5) == (0.0, 0.0)
    with pytest.raises(dp.BadParameter):
        found.count(5, 4)
    assert "median" in repr(found)


# ---- heavy hitters


@pytest.mark.statistical
@pytest.mark.parametrize("bits", [16, 32, 64])
def test_frequent_values_of_a_huge_domain_are_found_with_their_counts(bits):
    # Each has 12 standard deviations or more of every level.
    frequent = np.array([5, 2**bits - 3, 2 ** (bits - 1) + 77], dtype=np.uint64)
    values = np.repeat(frequent, [6000, 5000, 4000])
    found = local.heavy_hitters(values, bits=bits, epsilon=5.0, top=3)
    assert {each.value for each in found} == set(values.tolist())
    for each in found:
        assert abs(each.count - np.count_nonzero(values == np.uint64(each.value))) < 2 * each.error


def test_heavy_hitters_are_merged_and_checked():
    p = local.HeavyHitters(bits=16, epsilon=4.0)
    first = p.server().add(p.encode_all([77] * 3000))
    both = p.server().add(p.encode_all([77] * 3000)).merge(first)
    assert both.people == 6000
    assert both.estimate()[0].value == 77
    report = p.encode(3)
    with pytest.raises(dp.BadParameter):
        p.server().add(report[:5] + b"\xff" + report[6:])
    for bad in (-1, 2**16, 1.5, "x"):
        with pytest.raises(dp.BadParameter):
            p.encode(bad)
    assert p.server().estimate() == []
