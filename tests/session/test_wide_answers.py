"""The ± of answers at the end of what their type holds."""

import math
from fractions import Fraction

import pyarrow as pa
import pytest

import deniable as dp


@pytest.mark.parametrize("scale", [1e-3, 1.0, 1e6])
def test_the_interval_holds_the_truth_at_every_magnitude(scale):
    """Beyond the digits of floats, too; false alarm below 1e-9 a magnitude, 61 of them."""
    s = dp.open(pa.table({"x": [1]}), unit=dp.rows(), budget=dp.epsilon(1e300))
    noise = dp.Laplace(scale=scale, sensitivity=scale)
    for power in range(0, 305, 5):
        for truth in (10**power, -(10.0**power), Fraction(10**power, 3)):
            value = dp.Sensitive(lambda t=truth: t, l1=scale)
            (pair,) = s.release(noise.on(value)).answers["value"].intervals(1 - 1e-9)
            assert pair[0] <= truth <= pair[1]


@pytest.mark.parametrize("mechanism", [dp.Laplace(scale=2.0), dp.DiscreteLaplace(scale=2)])
def test_whole_answers_at_the_ends_of_64_bits_say_that_the_truth_may_lie_beyond(mechanism):
    s = dp.open(pa.table({"x": [1]}), unit=dp.rows(), budget=dp.epsilon(1e300))
    for truth in (2**62, 2**63 - 1, 2**63, 2**80, -(2**63), -(10**30)):
        release = s.release(mechanism.on(dp.Sensitive(lambda t=truth: t, l1=1, whole=True)))
        (pair,) = release.answers["value"].intervals(1 - 1e-9)
        assert pair[0] <= truth <= pair[1]
        assert any(map(math.isinf, pair)) == (abs(truth) > 2**62)
        # What is shown is at 95 %, of which noise may fall short.
        beyond = any(map(math.isinf, release.answers["value"].intervals(0.95)[0]))
        assert ("the true value may lie far beyond" in str(release)) == beyond
        assert ("±" in str(release).split("\n")[3]) != beyond
