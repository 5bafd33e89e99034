"""The ± of a mean, by the exact law of the sum of a few reports: nothing is left to chance."""

import numpy as np
import pytest
from scipy import stats

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
