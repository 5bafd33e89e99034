"""The ± of a mean, by the exact law of the sum of a few reports: nothing is left to chance."""

import numpy as np
import pytest
from scipy import stats

import deniable as dp
from deniable import local
from deniable.local import means
from deniable.mechanisms.local import reach

PEOPLE = [1, 2, 5, 20]


@pytest.fixture(autouse=True)
def few(monkeypatch):
    """A window of few reports: the law of sums takes milliseconds."""
    monkeypatch.setattr(means, "_OUTPUTS", 512)


def window_law(p, share):
    """The law of one report of the piecewise branch, of a number that is rounded at random."""
    b, s = p._window.reports, p._window.support
    inside = float(p._window.chance)
    point = share * (b - s)
    found = np.full(b, (1 - inside) / (b - s))
    for place, weight in ((int(point), 1 - point % 1), (int(point) + 1, point % 1)):
        found[place : place + s] += weight * (inside / s - (1 - inside) / (b - s))
    return found


def missed(p, share, people, error):
    """The probability that the estimate is farther than `error` from the number, on −1 … 1."""
    agree = 2 * float(p._bit.chance) - 1
    one = (1 + (2 * share - 1) * agree) / 2
    size = 1 << (people * (p._window.reports - 1)).bit_length()
    spectrum = np.fft.rfft(window_law(p, share), size)
    total = 0.0
    for bits in range(people + 1):
        chance = stats.binom.pmf(bits, people, 1 - p.share)
        if chance < 1e-15:
            continue
        numbers = people - bits
        sums = np.cumsum(np.fft.irfft(spectrum**numbers, size).clip(0))
        middle = numbers * (p._window.reports - 1) / 2
        for ones, weight in enumerate(stats.binom.pmf(np.arange(bits + 1), bits, one)):
            centre = people * (2 * share - 1) - (2 * ones - bits) / agree
            ends = ((centre + sign * people * error) / p._scale + middle for sign in (-1, 1))
            low, high = (np.clip(each, -1, size - 1) for each in ends)
            below, upto = int(np.ceil(low - 1e-9)) - 1, int(np.floor(high + 1e-9))
            held = (sums[upto] if upto >= 0 else 0.0) - (sums[below] if below >= 0 else 0.0)
            total += chance * weight * (1 - max(0.0, held))
    return total


@pytest.mark.parametrize("method", ["duchi", "piecewise", "hybrid"])
@pytest.mark.parametrize("epsilon", [0.5, 2.0, 4.0, 6.0, 12.0])
def test_the_error_of_a_mean_misses_it_no_more_often_than_is_stated(method, epsilon):
    p = local.Mean(epsilon=epsilon, low=-1, high=1, method=method)
    for people in PEOPLE:
        for share in (0.0, 0.5, 0.65):
            for confidence in (0.8, 0.95, 0.99, 0.99999):
                error = p.error(reports=people, confidence=confidence)
                assert missed(p, share, people, error) <= (1 - confidence) * 1.005 + 1e-10


def test_without_the_term_of_skewness_a_few_reports_would_not_hold(monkeypatch):
    monkeypatch.setattr(reach, "skewness", lambda _: 0.0)
    p = local.Mean(epsilon=6.0, low=-1, high=1, method="piecewise")
    assert missed(p, 0.0, 2, p.error(reports=2, confidence=0.999)) > 5 * 0.001


def estimates_of(p):
    """What each report of either branch is an estimate of, on −1 … 1."""
    agree = 2 * float(p._bit.chance) - 1
    b = p._window.reports
    return np.array([-1, 1]) / agree, p._scale * (np.arange(b) - (b - 1) / 2)


@pytest.mark.parametrize("method", ["duchi", "piecewise", "hybrid"])
@pytest.mark.parametrize("epsilon", [0.5, 0.62, 2.0, 6.0])
def test_reports_are_unbiased_and_the_worst_variance_is_that_of_some_number(method, epsilon):
    """By the exact law of a report; rounding to a point adds at most scale²·κ/4."""
    p = local.Mean(epsilon=epsilon, low=-1, high=1, method=method)
    bits, numbers = estimates_of(p)
    steps = p._window.reports - p._window.support
    variances = []
    for share in [0.0, 0.5 / steps, 0.25, 0.5, (steps // 2 + 0.5) / steps, 1 - 0.5 / steps]:
        one = (1 + (2 * share - 1) / bits[1]) / 2
        law = window_law(p, share)
        assert law.sum() == pytest.approx(1)
        assert law @ numbers == pytest.approx(2 * share - 1, abs=1e-9)
        square = (1 - p.share) * (one * bits[1] ** 2 + (1 - one) * bits[0] ** 2)
        square += p.share * float(law @ numbers**2)
        variances.append(square - (2 * share - 1) ** 2)
    extra = p.share * p._scale**2
    assert max(variances) * (1 - 1e-9) <= p.worst_variance <= max(variances) + extra + 1e-9


@pytest.mark.parametrize("method", ["duchi", "piecewise", "hybrid"])
@pytest.mark.parametrize("epsilon", [0.5, 2.0])
def test_the_error_is_z_deviations_and_a_few_reports(method, epsilon):
    p = local.Mean(epsilon=epsilon, low=10, high=30, method=method)
    used = [e for e, share in zip(estimates_of(p), (1 - p.share, p.share), strict=True) if share]
    farthest = 1 + max(float(np.abs(e).max()) for e in used)
    step = max(float(np.diff(e).max()) for e in used)
    for people, confidence in ((1, 0.9), (50, 0.99)):
        z = stats.norm.ppf((1 + confidence) / 2)
        off = (reach.skewness(z) * farthest + step / 2) / people
        exact = 10 * (z * np.sqrt(p.worst_variance / people) + off)
        assert p.error(reports=people, confidence=confidence) == pytest.approx(exact, rel=1e-9)


@pytest.mark.parametrize(
    ("method", "epsilon", "share"),
    [
        ("duchi", 2.0, 0.0),
        ("piecewise", 0.1, 1.0),
        ("hybrid", 0.61, 0.0),
        ("hybrid", 0.62, 1 - np.exp(-0.31)),
        ("hybrid", 4.0, 1 - np.exp(-2.0)),
    ],
)
def test_the_piecewise_branch_is_used_by_its_share(method, epsilon, share):
    p = local.Mean(epsilon=epsilon, low=0, high=1, method=method)
    assert p.share == pytest.approx(share)
    assert p.randomizer == (p._window if method == "piecewise" else p._bit)
    assert p.payload == 3
    for branch, code, fits in (
        (0, 0, share < 1),
        (0, 1, share < 1),
        (0, 2, False),
        (1, 511, share > 0),
        (2, 0, False),
    ):
        rows = np.array([[branch, code % 256, code // 256]], dtype=np.uint8)
        if fits:
            p.check_payloads(rows)
        else:
            with pytest.raises(dp.BadParameter, match="malformed"):
                p.check_payloads(rows)


@pytest.mark.parametrize("epsilon", [0.1, 1.0, 3.0, 50.0])
def test_the_window_has_the_width_of_the_literature(epsilon):
    p = local.Mean(epsilon=epsilon, low=0, high=1)
    width = max(1, round(512 / (np.exp(min(epsilon, 20.0) / 2) + 1)))
    assert (p._window.reports, p._window.support) == (512, width)
    inside, rest = float(p._window.chance), 512 - width
    assert p._slope == pytest.approx(inside - (1 - inside) * width / rest)


@pytest.mark.parametrize("wide", [False, True])
def test_a_report_is_a_bit_or_a_place_in_or_around_the_window(wide, monkeypatch):
    p = local.Mean(epsilon=1.0, low=0, high=1)
    b, s = p._window.reports, p._window.support
    monkeypatch.setattr(means, "bernoulli", lambda chance, n: np.full(n, wide))
    monkeypatch.setattr(type(p._bit), "places", lambda r, n: np.arange(n) % r.reports)
    for point in (0, 7, b - s) if wide else (0, 1):
        monkeypatch.setattr(means, "_rounded_at_random", lambda v, steps, x=point: x + 0 * steps)
        rows = p.draw(np.zeros(b))
        assert (rows[:, 0] == wide).all()
        codes = rows[:, 1].astype(int) + 256 * rows[:, 2].astype(int)
        if wide:
            assert codes[:s].tolist() == list(range(point, point + s))
            assert codes[s:].tolist() == [x for x in range(b) if not point <= x < point + s]
        else:
            assert codes.tolist() == [(point + i) % 2 for i in range(b)]


def test_numbers_are_rounded_to_one_of_two_points_by_the_distance(monkeypatch):
    steps, drawn = np.array([10, 10, 10, 1]), np.array([0, 2**52, 2**52 - 1, 2**53 - 1])
    monkeypatch.setattr(means, "below", lambda bound, n: drawn if bound == 1 << 53 else None)
    shares = np.array([0.35, 0.25, 0.25, 1.0])
    assert means._rounded_at_random(shares, steps).tolist() == [4, 2, 3, 1]


def test_points_are_steps_of_the_branch(monkeypatch):
    asked = []
    p = local.Mean(epsilon=2.0, low=0, high=1)
    monkeypatch.setattr(means, "bernoulli", lambda chance, n: np.array([True, False]))
    monkeypatch.setattr(
        means, "_rounded_at_random", lambda v, s: asked.append(s.tolist()) or np.zeros(2, int)
    )
    p.draw(np.array([0.5, 0.5]))
    assert asked == [[p._window.reports - p._window.support, 1]]


def test_values_are_clipped_to_the_bounds_and_scaled():
    p = local.Mean(epsilon=1.0, low=-10, high=30)
    assert p.numbered([-99, -10, 0, 30, 1e9]).tolist() == [0, 0, 0.25, 1, 1]
    for bad in ([np.nan], [np.inf], ["1"], [[1.0]], [True]):
        with pytest.raises(dp.BadParameter, match="finite numbers"):
            p.numbered(bad)
    with pytest.raises(dp.BadParameter, match="method"):
        local.Mean(epsilon=1.0, low=0, high=1, method="laplace")
    with pytest.raises(dp.BadParameter, match="epsilon"):
        local.Mean(epsilon=0.0, low=0, high=1)


def test_the_mean_is_that_of_what_each_report_estimates():
    p = local.Mean(epsilon=2.0, low=10, high=30)
    rows = np.array([[0, 1, 0], [0, 0, 0], [0, 1, 0], [1, 9, 1], [1, 200, 0]], dtype=np.uint8)
    tally = p.tally()
    p.count(tally, rows[:3])
    p.count(tally, rows[3:])
    assert tally[0].tolist() == [[3, 2], [2, 265 + 200]]
    bits, numbers = estimates_of(p)
    total = 2 * bits[1] + bits[0] + numbers[265] + numbers[200]
    found = p.estimated(tally, 5, confidence=0.9)
    assert found.mean == pytest.approx(20 + 10 * total / 5)
    assert found.error == p.error(reports=5, confidence=0.9)
    assert (found.people, found.confidence, found.epsilon) == (5, 0.9, 2.0)
    nobody = p.estimated(p.tally(), 0, confidence=0.9)
    assert (nobody.mean, nobody.error) == (20, p.error(reports=1, confidence=0.9))
