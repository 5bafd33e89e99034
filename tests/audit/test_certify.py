import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from deniable.audit.certify import looks, lower_rate, quick_rates, upper_rate


@given(st.integers(1, 100_000), st.data(), st.floats(1e-10, 0.4))
def test_at_the_bound_the_count_is_exactly_as_improbable_as_allowed(trials, data, alpha):
    hits = data.draw(st.integers(0, trials))
    low = float(lower_rate(hits, trials=trials, alpha=alpha))
    high = float(upper_rate(hits, trials=trials, alpha=alpha))
    assert 0 <= low <= hits / trials <= high <= 1
    if hits > 0:
        assert stats.binom.sf(hits - 1, trials, low) == pytest.approx(alpha, rel=1e-6)
    if hits < trials:
        assert stats.binom.cdf(hits, trials, high) == pytest.approx(alpha, rel=1e-6)


@pytest.mark.parametrize("rate", [0.0, 1e-3, 0.2, 0.5, 0.99, 1.0])
def test_the_bounds_fail_no_more_often_than_they_say_by_enumeration(rate):
    trials, alpha = 400, 0.01
    counts = np.arange(trials + 1)
    weights = stats.binom.pmf(counts, trials, rate)
    too_high = lower_rate(counts, trials=trials, alpha=alpha) > rate
    too_low = upper_rate(counts, trials=trials, alpha=alpha) < rate
    assert weights[too_high].sum() <= alpha
    assert weights[too_low].sum() <= alpha


def test_quick_rates_are_near_the_exact_ones_where_counts_are_large():
    counts = np.array([200.0, 5_000.0, 9_900.0])
    low, high = quick_rates(counts, trials=10_000, alpha=0.001)
    assert low == pytest.approx(lower_rate(counts, trials=10_000, alpha=0.001), rel=0.02)
    assert high == pytest.approx(upper_rate(counts, trials=10_000, alpha=0.001), rel=0.02)


def test_doubts_shared_over_looks_never_exceed_the_whole():
    spent = looks(0.01)
    assert sum(next(spent) for _ in range(10_000)) <= 0.01
