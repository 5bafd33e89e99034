"""Every price ends above the truth, to the last digit, at inputs where the nearest double does not.

Each formula is evaluated at seeded inputs over many orders of magnitude and compared with mpmath at
60 digits. About half of all truths lie above their nearest double: there a formula that rounds to
the nearest, or one ulp too little, is caught. A test counts these inputs, so that it can fail.
"""

import math
import random
from fractions import Fraction

import mpmath as mp
import pytest

import deniable as dp
from deniable.losses import amplify, approx, convert, textbook
from deniable.losses.filters import Price, filter_for
from deniable.losses.filters.one_figure import difference
from deniable.mechanisms import BestOf, Composed, DiscreteLaplace, ProposeTestRelease
from deniable.workload.moves import Moves

TRIES = 300


def magnitudes(low, high):
    return lambda luck: math.exp(luck.uniform(math.log(low), math.log(high)))


def whole(low, high):
    return lambda luck: luck.randint(low, high)


EPS, RHO, MU = magnitudes(1e-6, 30), magnitudes(1e-9, 50), magnitudes(1e-4, 20)
DELTA, ORDER = magnitudes(1e-15, 0.4), lambda luck: 1 + magnitudes(1e-3, 500)(luck)
TIMES, RATE = whole(2, 10_000), magnitudes(1e-6, 0.99)
SCALE, SENSITIVITY = magnitudes(1e-2, 1e4), magnitudes(1e-3, 1e3)


# ---- the truths, for mpmath's numbers


def renyi_of_response(e, a):
    return mp.log((mp.exp(a * e) + mp.exp((1 - a) * e)) / (1 + mp.exp(e))) / (a - 1)


def renyi_to_epsilon(r, a, d):
    return max(mp.mpf(0), r + mp.log(1 - 1 / a) - (mp.log(d) + mp.log(a)) / (a - 1))


def renyi_to_delta(r, a, e):
    return min(mp.mpf(1), mp.exp((a - 1) * (r - e)) * (1 - 1 / a) ** (a - 1) / a)


def near(number, share):
    return number * (1 + share)


def classic(rho, d):
    return rho + 2 * mp.sqrt(rho * -mp.log(d))


def gdp_delta(mu, e):
    return mp.ncdf(-e / mu + mu / 2) - mp.exp(e) * mp.ncdf(-e / mu - mu / 2)


def response_delta(e, d, at):
    return d + (1 - d) * max(mp.mpf(0), mp.exp(e) - mp.exp(at)) / (1 + mp.exp(e))


def response_epsilon(e, d, at):
    if at <= d:
        return e if at == d else mp.inf
    rest = mp.exp(e) - (at - d) / (1 - d) * (1 + mp.exp(e))
    return max(mp.mpf(0), mp.log(rest)) if rest > 0 else mp.mpf(0)


def advanced(e, k, d):
    return e * mp.sqrt(2 * k * mp.log(1 / d)) + k * e * mp.expm1(e)


def kov_simple(e, k, d):
    odds = min(1 / d, mp.e + mp.sqrt(k) * e / d)
    return min(k * e, k * e * mp.tanh(e / 2) + e * mp.sqrt(2 * k * mp.log(odds)))


def bounded_range(e):
    return mp.log(mp.sinh(e / 2) / (e / 2)) + e / 2 / mp.tanh(e / 2) - 1


def amplified(e, q):
    return mp.log1p(q * mp.expm1(e))


def closed_form(e, d, n):
    most = n / (8 * mp.log(2 / d)) - 1
    if most <= 1 or e > mp.log(most):
        return e
    spread = 4 * mp.sqrt(2 * mp.log(4 / d) / ((mp.exp(e) + 1) * n)) + 4 / n
    return min(e, mp.log1p(mp.expm1(e) * spread))


def sampled_gaussian(a, q, s):
    order = int(a)
    terms = (
        mp.binomial(order, k) * (1 - q) ** (order - k) * q**k * mp.exp(k * (k - 1) / (2 * s * s))
        for k in range(order + 1)
    )
    return mp.log(mp.fsum(terms)) / (order - 1)


def laplace_renyi(d, b, a):
    e = d / b
    total = a / (2 * a - 1) * mp.exp((a - 1) * e) + (a - 1) / (2 * a - 1) * mp.exp(-a * e)
    return mp.log(total) / (a - 1)


def discrete_laplace_kl(d, b):
    q, steps = mp.exp(-1 / b), int(d)
    inner = mp.fsum((1 - q) * q**x * (steps - 2 * x) for x in range(1, steps))
    return (steps * (1 - q**steps) + inner) / ((1 + q) * b)


def group_delta(e, d, k):
    return min(mp.mpf(1), d * mp.expm1(k * e) / mp.expm1(e))


# What is computed, its truth, and how the inputs are drawn.
UP = {
    "pure to zCDP": (convert.pure_to_zcdp, lambda e: e * mp.tanh(e / 2), EPS),
    "pure to Rényi": (convert.pure_to_renyi, renyi_of_response, EPS, ORDER),
    "pure to GDP": (
        convert.pure_to_gdp,
        lambda e: 2 * mp.sqrt(2) * mp.erfinv(mp.tanh(e / 2)),
        magnitudes(1e-3, 20),
    ),
    "bounded range to zCDP": (convert.bounded_range_to_zcdp, bounded_range, EPS),
    "zCDP to (ε, δ), classic": (convert.zcdp_to_approx_classic, classic, RHO, DELTA),
    "Rényi to ε, classic": (
        convert.renyi_to_epsilon_classic,
        lambda r, a, d: r - mp.log(d) / (a - 1),
        RHO, ORDER, DELTA,
    ),
    "Rényi to ε": (convert.renyi_to_epsilon, renyi_to_epsilon, RHO, ORDER, DELTA),
    "Rényi to δ": (convert.renyi_to_delta, renyi_to_delta, RHO, ORDER, EPS),
    "Rényi to δ, ε near r": (  # terms of 10⁴ cancel to a few
        lambda r, a, f: convert.renyi_to_delta(r, a, near(r, f)),
        lambda r, a, f: renyi_to_delta(r, a, mp.mpf(near(float(r), float(f)))),
        magnitudes(1, 50), lambda luck: 1 + magnitudes(10, 500)(luck), magnitudes(1e-6, 1e-2),
    ),
    "GDP to zCDP": (convert.gdp_to_zcdp, lambda m: m * m / 2, MU),
    "GDP to δ": (convert.gdp_to_delta, gdp_delta, MU, magnitudes(1e-3, 30)),
    "group δ": (convert.approx_group_delta, group_delta, magnitudes(1e-4, 3), DELTA, whole(2, 50)),
    "group Rényi": (convert.renyi_group, lambda r, c: 3**c * r, RHO, whole(1, 12)),
    "δ of a response": (approx.delta_of_response, response_delta, EPS, DELTA, EPS),
    "ε of a response": (approx.epsilon_of_response, response_epsilon, EPS, DELTA, RATE),
    "basic": (lambda e, k: textbook.basic(e, times=k), lambda e, k: k * e, EPS, TIMES),
    "advanced": (
        lambda e, k, d: textbook.advanced(e, times=k, delta=d), advanced, EPS, TIMES, DELTA
    ),
    "kov_simple": (
        lambda e, k, d: textbook.kov_simple(e, times=k, delta=d), kov_simple, EPS, TIMES, DELTA
    ),
    "zcdp_classic": (
        lambda e, k, d: textbook.zcdp_classic(e, times=k, delta=d),
        lambda e, k, d: classic(k * e * e / 2, d),
        magnitudes(1e-4, 2), TIMES, DELTA,
    ),
    "Poisson ε": (
        lambda e, q: amplify.poisson(e, rate=q)[0], amplified, magnitudes(1e-6, 80), RATE
    ),
    "Poisson δ": (
        lambda e, d, q: amplify.poisson(e, delta=d, rate=q)[1],
        lambda _, d, q: d * q,
        EPS, DELTA, RATE,
    ),
    "without replacement": (
        lambda e, m, n: amplify.without_replacement(e, size=m, population=n)[0],
        lambda e, m, n: amplified(e, m / n),
        EPS, whole(1, 500), whole(501, 10**6),
    ),
    "shuffled, closed form": (
        lambda e, d, n: amplify.shuffled_closed_form(e, delta=d, population=n),
        closed_form,
        magnitudes(0.01, 3), magnitudes(1e-9, 1e-3), whole(10**4, 10**7),
    ),
    "sampled Gaussian": (
        lambda a, q, s: amplify.sampled_gaussian_renyi(a, rate=q, sigma=s),
        sampled_gaussian,
        whole(2, 40), magnitudes(1e-4, 0.5), magnitudes(0.7, 20),
    ),
    "Gaussian on everyone": (
        lambda a, s: amplify.sampled_gaussian_renyi(a, rate=1.0, sigma=s),
        lambda a, s: a / (2 * s * s),
        ORDER, SCALE,
    ),
    "Laplace ε": (
        lambda d, b: dp.Laplace(scale=b, sensitivity=d).pure(),
        lambda d, b: d / b,
        SENSITIVITY, SCALE,
    ),
    "Laplace zCDP": (
        lambda d, b: dp.Laplace(scale=b, sensitivity=d).zcdp(),
        lambda d, b: d / b - 1 + mp.exp(-d / b),
        SENSITIVITY, SCALE,
    ),
    "Laplace Rényi": (
        lambda d, b, a: dp.Laplace(scale=b, sensitivity=d).renyi(a),
        laplace_renyi,
        SENSITIVITY, SCALE, ORDER,
    ),
    "Gaussian μ": (
        lambda d, s: dp.Gaussian(sigma=s, sensitivity=d).gdp(),
        lambda d, s: d / s,
        SENSITIVITY, SCALE,
    ),
    "Gaussian Rényi": (
        lambda d, s, a: dp.Gaussian(sigma=s, sensitivity=d).renyi(a),
        lambda d, s, a: a * (d / s) ** 2 / 2,
        SENSITIVITY, SCALE, ORDER,
    ),
    "discrete Gaussian Rényi": (
        lambda d, s, a: dp.DiscreteGaussian(sigma=s, sensitivity=d).renyi(a),
        lambda d, s, a: a * (d / s) ** 2 / 2,
        whole(1, 100), SCALE, ORDER,
    ),
    "discrete Laplace zCDP": (
        lambda d, b: DiscreteLaplace(scale=b, sensitivity=d).zcdp(),
        discrete_laplace_kl,
        whole(2, 60), magnitudes(0.05, 1e3),
    ),
    "a list's Rényi": (
        lambda n, s, m, b, a: Composed.of(
            (dp.Gaussian(sigma=s), n), (dp.Gaussian(sigma=b), m)
        ).renyi(a),
        lambda n, s, m, b, a: a / 2 * (n / s**2 + m / b**2),
        TIMES, magnitudes(1, 1e3), TIMES, magnitudes(1, 1e3), ORDER,
    ),
    "test and release": (
        lambda e, f: ProposeTestRelease(
            bound=1.0, epsilon_test=e, epsilon_release=f, delta=1e-6
        ).approx()[0],
        lambda e, f: e + f,
        magnitudes(0.01, 3), magnitudes(0.01, 3),
    ),
    "best of": (
        lambda b: BestOf(mechanism=dp.Laplace(scale=b), stop=0.5).pure(), lambda b: 3 / b, SCALE
    ),
    "μ spent": (
        lambda s: filter_for(dp.mu(1e9)).spent(Price(mu_squared=s)).mu,
        mp.sqrt,
        magnitudes(1e-9, 50),
    ),
    "L2 of whole moves": (
        lambda s: Moves(l1=s, l2_squared=s, linf=s).l2, mp.sqrt, whole(1, 10**12)
    ),
    "scale of Laplace noise": (
        lambda e, d: dp.Laplace.calibrate(epsilon=e, sensitivity=d).scale,
        lambda e, d: d / e,
        EPS, SENSITIVITY,
    ),
    "σ for μ": (
        lambda m, d: dp.Gaussian.calibrate(mu=m, sensitivity=d).sigma,
        lambda m, d: d / m,
        MU, SENSITIVITY,
    ),
}  # fmt: skip
DOWN = {
    "Rényi budget": (
        convert.approx_budget_as_renyi,
        lambda e, d, a: max(mp.mpf(0), e - mp.log(1 - 1 / a) + (mp.log(d) + mp.log(a)) / (a - 1)),
        magnitudes(1, 50), DELTA, lambda luck: 1 + magnitudes(1, 500)(luck),
    ),
    "difference": (
        lambda a, b: difference(max(a, b), min(a, b)),
        lambda a, b: abs(a - b),
        EPS, EPS,
    ),
    "μ left": (
        lambda m, s: filter_for(dp.mu(m)).left(Price(mu_squared=s)).mu,
        lambda m, s: mp.sqrt(max(mp.mpf(0), m * m - s)),
        MU, magnitudes(1e-9, 400),
    ),
}  # fmt: skip


def compared(case):
    """Inputs, the figure and the truth, seeded by nothing but the formula."""
    figure, truth, *draws = case
    luck = random.Random(len(draws))
    for _ in range(TRIES):
        given = [draw(luck) for draw in draws]
        yield given, figure(*given), truth(*map(mp.mpf, given))


@pytest.mark.parametrize("name", UP)
def test_a_price_is_never_below_the_truth(name):
    below = 0
    with mp.workdps(60):
        for given, found, true in compared(UP[name]):
            assert mp.mpf(found) >= true, given
            below += 0 < mp.mpf(float(true)) < true
    assert below >= TRIES / 10, "too few inputs at which rounding to nearest would show"


@pytest.mark.parametrize("name", DOWN)
def test_what_is_left_is_never_above_the_truth(name):
    above = 0
    with mp.workdps(60):
        for given, found, true in compared(DOWN[name]):
            assert mp.mpf(found) <= true, given
            above += mp.mpf(float(true)) > true > 0
    assert above >= TRIES / 10, "too few inputs at which rounding to nearest would show"


@pytest.mark.parametrize("luck", [random.Random(seed) for seed in range(4)])
def test_epsilon_of_gaussian_noise_meets_its_delta(luck):
    for _ in range(60):
        mu, delta = magnitudes(0.05, 8)(luck), magnitudes(1e-12, 0.1)(luck)
        with mp.workdps(60):
            assert gdp_delta(mp.mpf(mu), mp.mpf(convert.gdp_to_epsilon(mu, delta))) <= delta


def test_noise_for_a_rho_meets_it_exactly():
    luck = random.Random(5)
    for _ in range(TRIES):
        rho, moved = RHO(luck), luck.randint(1, 100)
        for kind in (dp.Gaussian, dp.DiscreteGaussian):
            sigma = Fraction(kind.calibrate(rho=rho, sensitivity=moved).sigma)
            assert (moved / sigma) ** 2 / 2 <= Fraction(rho)
