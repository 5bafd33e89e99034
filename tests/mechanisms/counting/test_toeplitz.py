"""The square root of running sums in whole numbers: its price, its noise and its errors."""

import math
from fractions import Fraction

import numpy as np
import pytest

import deniable as dp
from deniable.mechanisms import Gaussian, ToeplitzCounter
from deniable.mechanisms.counting.toeplitz import _column_norm, _decoder, _square_root


@pytest.mark.parametrize("digits", [17, 40])
def test_the_column_is_that_of_the_square_root_rounded_down(digits):
    exact, found = Fraction(1), _square_root(50, digits)
    for k, c in enumerate(found, 1):
        assert 0 <= exact * 2**digits - c < 1 + Fraction(1, 2**40)
        exact *= Fraction(2 * k - 1, 2 * k)
    assert len(found) == 50


@pytest.mark.parametrize("steps", [1, 2, 9, 200])
@pytest.mark.parametrize("digits", [17, 40])
def test_the_norm_is_rounded_up_by_one_part_of_its_last_digit(steps, digits):
    squares = sum(c * c for c in _square_root(steps, digits)) << 128
    assert (_column_norm(steps, digits) - 1) ** 2 <= squares < _column_norm(steps, digits) ** 2


@pytest.mark.parametrize(
    ("sigma", "digits"), [(1.0, 40), (2.0**-30, 40), (2.0**20, 34), (2.0**38, 16)]
)
def test_noise_has_at_most_55_bits_of_the_lattice(sigma, digits):
    counter = ToeplitzCounter(steps=5, sigma=sigma)
    assert counter.digits == digits
    assert sigma * 2.0**digits <= 2.0**55


def undone(counter, steps):
    """(running sums)·C⁻¹ by the matrices."""
    column = np.array(_square_root(steps, counter.digits)) / 2.0**counter.digits
    lags = np.subtract.outer(np.arange(steps), np.arange(steps))
    factor = np.where(lags >= 0, column[np.abs(lags)], 0.0)
    return np.tril(np.ones((steps, steps))) @ np.linalg.inv(factor)


@pytest.mark.parametrize("sigma", [3.0, 2.0**30])
def test_errors_are_those_of_the_matrices(sigma):
    counter = ToeplitzCounter(steps=30, sigma=sigma)
    matrix = undone(counter, 30)
    assert _decoder(30, counter.digits) == pytest.approx(matrix[:, 0], rel=1e-9)
    deviations = sigma * np.sqrt(np.square(matrix).sum(axis=1))
    assert counter.deviations(30) == pytest.approx(deviations, rel=1e-9)
    assert counter.deviations(4) == pytest.approx(deviations[:4], rel=1e-9)
    assert counter.variance == pytest.approx(deviations[-1] ** 2, rel=1e-9)
    rounding = np.abs(matrix[-1]).sum() * 2.0**-counter.digits / 2
    normal = Gaussian(sigma=deviations[-1]).quantile(1 - 0.9)
    assert counter.error(0.9) == pytest.approx(normal + rounding, rel=1e-9)


def test_each_total_holds_the_noises_that_the_decoder_says(monkeypatch):
    counter = ToeplitzCounter(steps=12, sigma=3.0)
    drawn, asked = [int(7e12) * (t + 1) for t in range(12)], []

    def draw(self, value):
        asked.append(self.sigma)
        return value + drawn[len(asked) - 1]

    monkeypatch.setattr(Gaussian, "draw", draw)
    stream = np.arange(12) ** 2 - 30
    found = counter.draw(stream)
    noise = undone(counter, 12) @ (np.array(drawn) / 2.0**counter.digits)
    assert found == pytest.approx(np.cumsum(stream) + noise, abs=1e-6)
    assert asked == [3.0 * 2.0**counter.digits] * 12


@pytest.mark.parametrize("sigma", [0.0, -1.0, 2.0**-39, 2.0**39, math.nan])
def test_noise_is_neither_too_small_nor_too_large_to_draw(sigma):
    with pytest.raises(dp.BadParameter):
        ToeplitzCounter(steps=3, sigma=sigma)
    for end in (2.0**-38, 2.0**38):
        assert ToeplitzCounter(steps=3, sigma=end).sigma == end
    with pytest.raises(dp.BadParameter):
        ToeplitzCounter(steps=3, sigma=1.0, sensitivity=0.0)


@pytest.mark.parametrize("mu", [1e-10, 0.7, 1e4])
def test_calibrated_noise_meets_mu_and_hardly_more(mu):
    made = ToeplitzCounter.calibrate(steps=20, mu=mu, sensitivity=3.0)
    assert mu * (1 - 1e-3) < made.gdp() <= mu * (1 + 1e-12)
    assert made.sensitivity == 3.0
    wide = math.sqrt(sum(c * c for c in _square_root(20, made.digits))) / 2.0**made.digits
    assert made.priced_as.sensitivity == pytest.approx(3 * wide, rel=1e-12)
    assert made.priced_as.sigma == made.sigma
