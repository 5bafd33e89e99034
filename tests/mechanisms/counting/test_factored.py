"""What counters by a factor of the running sum share: their width, their digits, their totals."""

import math

import numpy as np
import pytest

import deniable as dp
from deniable.mechanisms import Gaussian, SquareRootCounter, UnboundedCounter
from deniable.mechanisms.counting._factored import ABOVE

KINDS = [SquareRootCounter, UnboundedCounter]


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("power", [-38, 38])
def test_noise_may_be_as_wide_as_its_lattice_holds_and_no_wider(kind, power):
    assert kind(steps=3, sigma=2.0**power).sigma == 2.0**power
    beyond = math.nextafter(2.0**power, math.inf if power > 0 else 0.0)
    with pytest.raises(dp.BadParameter, match="sigma"):
        kind(steps=3, sigma=beyond)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("wrong", [{"sigma": 0}, {"sigma": math.nan}, {"sensitivity": -1.0}])
def test_parameters_are_positive(kind, wrong):
    with pytest.raises(dp.BadParameter):
        kind(**({"steps": 3, "sigma": 1.0} | wrong))


@pytest.mark.parametrize("kind", KINDS)
def test_the_price_is_that_of_one_number(kind):
    assert kind(steps=3, sigma=2, sensitivity=3).priced_as == Gaussian(sigma=2.0, sensitivity=3.0)


def test_norms_are_rounded_up_by_more_than_their_errors_and_by_nothing_that_shows():
    assert 1 + 2.0**-29 < ABOVE < 1 + 1e-5


@pytest.mark.parametrize(
    ("sigma", "digits"), [(2.0**-38, 40), (0.99, 40), (1.0, 40), (2.0, 39), (3.9, 39), (2.0**38, 2)]
)
def test_the_digits_and_the_noise_share_the_bits_of_a_draw(sigma, digits):
    assert SquareRootCounter(steps=3, sigma=sigma).digits == digits


@pytest.mark.parametrize("kind", KINDS)
def test_values_beyond_what_is_exact_are_held_and_others_are_not(kind):
    """Noise of a millionth: it is below 1e-3 but for 1e-1000."""
    far = [2**51, -(2**50) - 7, 2**50, 5, -(2**50)]
    held = np.cumsum([2**50, -(2**50), 2**50, 5, -(2**50)])
    found = kind(steps=5, sigma=1e-6).release(far)
    assert np.abs(found - held).max() < 2.0
