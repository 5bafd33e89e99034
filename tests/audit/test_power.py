import math

import numpy as np
import pytest

from deniable.audit import audit
from deniable.audit.claims import EpsilonDelta, Gaussian
from deniable.audit.power import catches, smallest_error

CLAIMS = [
    EpsilonDelta(1.0, delta=0.0, group=1),
    EpsilonDelta(0.1, delta=1e-6, group=20),
    EpsilonDelta(3.0, delta=1e-6, group=1),
    Gaussian(1.0, group=1),
]


@pytest.mark.parametrize("claim", CLAIMS)
def test_the_right_noise_is_accused_no_more_often_than_the_doubt(claim):
    assert catches(claim, 1.0, trials=50_000, alpha=0.01) <= 0.01


@pytest.mark.parametrize("claim", CLAIMS)
def test_the_smallest_error_is_caught_nine_times_in_ten_and_shrinks_with_more_samples(claim):
    errors = [smallest_error(claim, trials=n, alpha=0.001) for n in (10_000, 100_000, 1_000_000)]
    assert 1 > errors[0] > errors[1] > errors[2] > 0
    assert catches(claim, 1 - errors[1], trials=100_000, alpha=0.001) >= 0.9
    assert catches(claim, 1 - 0.9 * errors[1], trials=100_000, alpha=0.001) < 0.9


def test_claims_too_large_for_the_samples_cannot_be_refuted():
    assert math.isinf(
        smallest_error(EpsilonDelta(15.0, delta=0.0, group=1), trials=100, alpha=0.01)
    )
    assert math.isinf(smallest_error(EpsilonDelta(0.0, delta=0.0, group=1), trials=100, alpha=0.01))


def test_audits_catch_about_what_the_power_says():
    """At 1.3 × the stated error 24 of 40 audits succeed; at 90 % fewer would have chance 1e-7."""
    rng = np.random.default_rng(7)
    samples = 20_000
    stated = audit(
        None, 0, 1, batch=lambda x, n: rng.laplace(x, 1, n), epsilon=1.0, samples=samples
    )
    scale = 1 - 1.3 * stated.power

    def wrong(value, n):
        return np.floor((value + rng.laplace(0, scale, n)) * 1024 + 0.5) / 1024

    caught = sum(
        audit(None, 0.0, 1.0, batch=wrong, epsilon=1.0, samples=samples).violated for _ in range(40)
    )
    assert caught >= 24
