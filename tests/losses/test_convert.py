"""Each conversion is a theorem, and ends above it."""

import math

import mpmath as mp
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.losses import figures

import deniable as dp
from deniable.losses import convert

EPSILONS = st.floats(1e-9, 300)
ORDERS = st.floats(1.0001, 1e5)


def response(epsilon, order):
    """Rényi divergence of randomized response, by definition."""
    e, a = mp.mpf(epsilon), mp.mpf(order)
    p, q = 1 / (1 + mp.exp(-e)), 1 / (1 + mp.exp(e))
    return mp.log(p**a * q ** (1 - a) + q**a * p ** (1 - a)) / (a - 1)


@given(EPSILONS, ORDERS)
@settings(max_examples=100, deadline=None)
def test_the_divergence_of_a_pure_mechanism_is_that_of_randomized_response(epsilon, order):
    with mp.workdps(300):
        truth = response(epsilon, order)
        found = convert.pure_to_renyi(epsilon, order)
        assert found >= truth
        assert found <= truth * (1 + mp.mpf(1e-12))


@given(EPSILONS, ORDERS)
@settings(max_examples=100, deadline=None)
def test_rho_of_a_pure_mechanism_covers_every_order(epsilon, order):
    with mp.workdps(80):
        assert convert.pure_to_zcdp(epsilon) * mp.mpf(order) >= response(epsilon, order)


@given(EPSILONS)
def test_no_smaller_rho_would_do(epsilon):
    with mp.workdps(80):
        kl = mp.mpf(epsilon) * mp.tanh(mp.mpf(epsilon) / 2)
        assert response(epsilon, 1 + mp.mpf(10) ** -30) >= kl * (1 - mp.mpf(10) ** -25)
        assert convert.pure_to_zcdp(epsilon) <= kl * (1 + mp.mpf(1e-12))
    assert convert.pure_to_zcdp(epsilon) <= epsilon**2 / 2 * (1 + 1e-12)


@given(st.floats(1e-8, 700) | st.floats(-250, 0).map(lambda power: 10.0**power))
@settings(max_examples=60, deadline=None)
def test_mu_of_a_pure_mechanism_touches_randomized_response_at_its_corner(epsilon):
    mu = mp.mpf(convert.pure_to_gdp(epsilon))
    with mp.workdps(400):
        corner = 1 / (1 + mp.exp(epsilon))
        tail = mp.erfc(mu / 2 / mp.sqrt(2)) / 2
        assert tail <= corner
        less = mp.erfc(mu * (1 - mp.mpf(10) ** -(11 if epsilon < 400 else 2)) / 2 / mp.sqrt(2)) / 2
        assert less > corner


def test_pure_curves_lie_below_their_gaussian_everywhere():
    for epsilon in (0.1, 1.0, 5.0):
        gaussian = dp.Gdp(convert.pure_to_gdp(epsilon))
        for at in (0.0, 0.2 * epsilon, 0.9 * epsilon):
            assert gaussian.delta_at(at) >= dp.Pure(epsilon).delta_at(at) * (1 - 1e-12)


def test_infinite_goes_to_infinite_and_nothing_to_nothing():
    for function in (
        convert.pure_to_zcdp,
        convert.pure_to_gdp,
        convert.gdp_to_zcdp,
        convert.bounded_range_to_zcdp,
    ):
        assert function(math.inf) == math.inf
        assert function(0.0) == 0.0
    assert convert.pure_to_renyi(math.inf, 2.0) == math.inf
    assert convert.zcdp_to_approx(math.inf, 1e-6) == math.inf
    assert convert.gdp_to_epsilon(math.inf, 1e-6) == math.inf
    assert convert.zcdp_to_delta(math.inf, 1.0) == convert.gdp_to_delta(math.inf, 1.0) == 1.0
    assert convert.gdp_to_delta(0.0, 1.0) == convert.zcdp_to_delta(0.0, 1.0) == 0.0


def test_the_exponential_mechanism_costs_a_quarter_of_any_other():
    assert convert.bounded_range_to_zcdp(1.0) == pytest.approx(0.1233016, abs=1e-7)
    rho = 100 * dp.Zcdp(convert.bounded_range_to_zcdp(0.1))
    assert rho.epsilon_at(1e-6) == pytest.approx(2.419, abs=1e-3)


def test_known_answers():
    assert convert.zcdp_to_approx_classic(0.5, 1e-6) == pytest.approx(5.757, abs=1e-3)
    assert convert.zcdp_to_approx(0.5, 1e-6) == pytest.approx(5.222, abs=1e-3)
    assert convert.gdp_to_epsilon(1.0, 1e-6) == pytest.approx(4.886554117, abs=1e-8)


def renyi_delta(divergence, order, epsilon):
    a, r = mp.mpf(order), mp.mpf(divergence)
    return mp.exp((a - 1) * (r - epsilon)) / (a - 1) * (1 - 1 / a) ** a


@given(st.floats(1e-6, 50), st.floats(1.01, 1e4), st.floats(0, 100))
@settings(max_examples=150)
def test_delta_of_a_divergence_is_the_theorem_s_and_not_below_it(divergence, order, epsilon):
    with mp.workdps(60):
        truth = min(mp.mpf(1), renyi_delta(divergence, order, epsilon))
        found = convert.renyi_to_delta(divergence, order, epsilon)
        assert found >= truth
        slack = mp.mpf(1e-12) * (1 + order * (divergence + epsilon))
        assert found <= truth * (1 + slack) + mp.mpf(1e-320)


@given(st.floats(1e-6, 50), st.floats(1.01, 1e4), st.floats(1e-300, 0.5))
@settings(max_examples=150)
def test_epsilon_of_a_divergence_is_its_inverse_and_not_below_it(divergence, order, delta):
    with mp.workdps(60):
        found = convert.renyi_to_epsilon(divergence, order, delta)
        assert renyi_delta(divergence, order, mp.mpf(found)) <= delta
    assert found <= convert.renyi_to_epsilon_classic(divergence, order, delta)


@given(st.floats(0.01, 20), st.floats(1e-12, 0.1), st.floats(1.1, 1000))
def test_what_a_budget_admits_at_an_order_is_worth_no_more_than_the_budget(epsilon, delta, order):
    room = convert.approx_budget_as_renyi(epsilon, delta, order)
    if room > 0:
        assert convert.renyi_to_epsilon(room, order, delta) <= epsilon * (1 + 1e-12)
        assert convert.renyi_to_epsilon(room * (1 + 1e-9), order, delta) > epsilon * (1 - 1e-6)


@given(st.floats(1e-6, 100), st.floats(1e-300, 0.5))
@settings(max_examples=60)
def test_the_best_order_of_zcdp_is_found(rho, delta):
    found = convert.zcdp_to_approx(rho, delta)
    assert found <= convert.zcdp_to_approx_classic(rho, delta)
    for less in (0.9, 0.99, 1.01, 1.1):
        order = 1 + less * math.sqrt(-math.log(delta) / rho)
        assert found <= convert.renyi_to_epsilon(rho * order, order, delta) + 1e-9 * found


def gaussian_delta(mu, epsilon):
    mu, e = mp.mpf(mu), mp.mpf(epsilon)

    def upper(x):
        return mp.erfc(x / mp.sqrt(2)) / 2

    return upper(e / mu - mu / 2) - mp.exp(e) * upper(e / mu + mu / 2)


@given(st.floats(1e-6, 20), st.floats(0, 30))
@settings(max_examples=60, deadline=None)
def test_delta_of_a_gaussian_has_all_its_digits_and_is_not_below_the_truth(mu, scaled):
    epsilon = mu * scaled
    with mp.workdps(80 + int(scaled**2 / 4)):
        truth = gaussian_delta(mu, epsilon)
        found = convert.gdp_to_delta(mu, epsilon)
        assert found >= truth
        assert found <= truth * (1 + mp.mpf(1e-11)) or found < 1e-300


@pytest.mark.parametrize("delta", [0.3, 1e-6, 1e-30, 1e-100, 1e-300])
@pytest.mark.parametrize("mu", [1e-6, 0.1, 1.0, 10.0])
def test_epsilon_of_a_gaussian_is_right_down_to_the_smallest_delta(mu, delta):
    epsilon = convert.gdp_to_epsilon(mu, delta)
    with mp.workdps(700):
        assert gaussian_delta(mu, epsilon) <= delta
        if epsilon > 0:
            assert gaussian_delta(mu, epsilon * (1 - 1e-10)) > delta


@pytest.mark.parametrize("bad", [1.0, 0.0, -1.0, math.nan, math.inf, "2"])
def test_orders_are_checked(bad):
    with pytest.raises(dp.BadParameter, match="order must be a number above 1"):
        convert.pure_to_renyi(1.0, bad)


PART = "convert"
GRID = [(e, a) for e in (1e-4, 0.3, 2.0, 9.0, 40.0) for a in (1.01, 2.0, 7.5, 60.0)]
CASES = {
    "from pure": lambda: [
        (convert.pure_to_zcdp(e), convert.pure_to_gdp(e)) for e in (1e-4, 0.3, 2.0, 40.0, 600.0)
    ],
    "pure to renyi": lambda: [convert.pure_to_renyi(e, a) for e, a in GRID],
    "response": lambda: [convert.response_to_renyi(e, a, truth=0.3) for e, a in GRID],
    "response to zcdp": lambda: [
        convert.response_to_zcdp(e, truth=p) for e in (1e-6, 0.3, 4.0, 400.0) for p in (0.2, 0.5)
    ],
    "bounded range": lambda: [convert.bounded_range_to_renyi(e, a) for e, a in GRID],
    "bounded range to zcdp": lambda: [
        convert.bounded_range_to_zcdp(e) for e in (1e-9, 1.0, 5.9, 6.1)
    ],
    "zcdp": lambda: [
        (convert.zcdp_to_approx_classic(r, 1e-6), convert.zcdp_to_approx(r, 1e-6))
        for r in (0.01, 2.0)
    ],
    "zcdp to delta": lambda: [convert.zcdp_to_delta(r, e) for r in (0.01, 2.0) for e in (0.5, 9.0)],
    "renyi": lambda: [
        (
            convert.renyi_to_epsilon_classic(0.3, a, 1e-6),
            convert.renyi_to_epsilon(0.3, a, 1e-6),
            convert.renyi_to_delta(0.3, a, 2.0),
            convert.approx_budget_as_renyi(9.0, 1e-6, a),
        )
        for a in (1.5, 4.0, 30.0)
    ],
    "far": lambda: [convert.renyi_to_delta(0.3, a, 20.0) for a in (4.0, 30.0)],
    "orders": lambda: [convert.best_order(e, d) for e in (0.1, 3.0) for d in (1e-3, 1e-9)],
    "gaussian": lambda: [
        (convert.gdp_to_zcdp(m), convert.gdp_to_delta(m, 1.0), convert.gdp_to_epsilon(m, 1e-6))
        for m in (0.1, 1.0, 6.0)
    ],
    "groups": lambda: [
        (convert.approx_group_delta(e, 1e-9, k), convert.renyi_group(0.3, k))
        for e in (0.0, 0.3)
        for k in (2, 9)
    ],
    "parts": lambda: [
        (
            convert._log_sinhc(x),
            convert._bend(x),
            convert._log_complement(x),
            convert._odd_series(min(x, 2.9), 1),
        )
        for x in (0.01, 0.69, 0.71, 1.4, 1.6, 2.9, 3.1, 9.0)
    ],
    "tails": lambda: [convert._log_upper_tail(x) for x in (0.0, 1.0, 29.9, 30.1, 90.0)],
}


@pytest.mark.parametrize("case", CASES)
def test_figures_and_what_they_allow_for_rounding_are_as_recorded(case):
    figures.check(PART, case, CASES[case], within=1e-9)
