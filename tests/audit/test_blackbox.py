"""Right mechanisms pass and wrong ones are found.

Each audit of a right mechanism here runs at confidence 1 − 1e-9, so that all together raise a false
alarm with probability below 1e-6. Every wrong mechanism stands beside the right one it imitates.
"""

import math
import time

import numpy as np
import pytest
from scipy import optimize, special

import deniable as dp
from deniable.audit import audit
from deniable.audit.claims import EpsilonDelta
from deniable.audit.events import certify, choose
from deniable.audit.outputs import tabulate
from deniable.audit.propose import propose

SURE = 1 - 1e-9


@pytest.fixture
def rng():
    return np.random.default_rng(20231)


def on_lattice(values):
    """Rounded to multiples of 2⁻¹⁰, as a mechanism should: no trace in the last bits."""
    return np.floor(values * 1024 + 0.5) / 1024


def laplace(rng, scale):
    return lambda value, n: on_lattice(value + rng.laplace(0, scale, n))


def gaussian(rng, sigma):
    return lambda value, n: on_lattice(value + rng.normal(0, sigma, n))


def assert_right_and_wrong(right, wrong, first, second, *, samples=200_000, **claim):
    passed = audit(None, first, second, batch=right, samples=samples, confidence=SURE, **claim)
    assert not passed.violated, passed
    failed = audit(None, first, second, batch=wrong, samples=samples, **claim)
    assert failed.violated, failed
    return failed


# ---- noise scale


def test_ten_percent_too_little_noise_is_found(rng):
    found = assert_right_and_wrong(laplace(rng, 1), laplace(rng, 0.9), 0.0, 1.0, epsilon=1.0)
    assert 1 < found.epsilon_lower < 1 / 0.9


def test_two_percent_too_little_noise_is_found(rng):
    many = {"samples": 2_000_000, "epsilon": 1.0}
    found = assert_right_and_wrong(laplace(rng, 1), laplace(rng, 0.98), 0.0, 1.0, **many)
    assert 1 < found.epsilon_lower < 1 / 0.98


def test_a_small_epsilon_is_audited_through_a_group(rng):
    apart = {"epsilon": 0.1, "group": 20, "samples": 400_000}
    found = assert_right_and_wrong(laplace(rng, 10), laplace(rng, 9.5), 0.0, 20.0, **apart)
    assert 0.1 < found.epsilon_lower < 0.1 / 0.95
    alone = audit(None, 0.0, 1.0, batch=laplace(rng, 9.5), epsilon=0.1, samples=400_000)
    assert not alone.violated


def test_a_gaussian_is_audited_in_its_own_definition(rng):
    found = assert_right_and_wrong(gaussian(rng, 1), gaussian(rng, 0.93), 0.0, 1.0, mu=1.0)
    assert 1 < found.mu_lower < 1 / 0.93
    assert "μ = 1" in str(found)


def test_the_whole_curve_of_a_loss_is_tested(rng):
    """σ = 1 has ρ = ½; δ at the usual ε alone could never show that ρ = 0.4 is wrong."""
    assert_right_and_wrong(gaussian(rng, 1.2), gaussian(rng, 0.8), 0.0, 1.0, loss=dp.rho(0.5))


def test_the_classic_gaussian_formula_fails_at_epsilon_twenty(rng):
    delta, epsilon = 1e-5, 20.0
    classic = math.sqrt(2 * math.log(1.25 / delta)) / epsilon

    def excess(sigma):
        tail = special.log_ndtr(-0.5 / sigma - epsilon * sigma)
        return special.ndtr(0.5 / sigma - epsilon * sigma) - math.exp(epsilon + tail) - delta

    analytic = optimize.brentq(excess, classic, 1.0)
    assert_right_and_wrong(
        gaussian(rng, analytic), gaussian(rng, classic), 0.0, 1.0, mu=1 / analytic
    )


def test_a_delta_forgives_events_that_are_rarer_than_it(rng):
    def leaks(chance):
        return lambda value, n: np.where(rng.random(n) < chance, value, 0)

    claim = {"epsilon": 0.1, "delta": 0.01}
    found = assert_right_and_wrong(leaks(0.005), leaks(0.02), 0, 1, **claim)
    assert found.witness == "the answer is 1"


# ---- traces in floating point


def test_noise_added_in_floating_point_leaves_traces_in_the_last_bits(rng):
    def float_laplace(value, n):
        return value + rng.laplace(0, 1, n)

    found = assert_right_and_wrong(laplace(rng, 1), float_laplace, 0.0, 1.0, epsilon=1.0)
    assert found.epsilon_lower > 7.5
    assert found.witness.startswith("the last binary digit of the answer is at most 2^-5")


def test_a_grid_that_depends_on_the_data_is_found(rng):
    def noisy_mean(data, n):
        return (sum(data) + rng.geometric(0.6, n) - rng.geometric(0.6, n)) / len(data)

    found = audit(None, [1] * 10, [1] * 11, batch=noisy_mean, epsilon=1.0, samples=20_000)
    assert found.violated
    assert found.witness.startswith("the answer is ")


# ---- selection and sparse vector


def noisy_max(rng, scale):
    return lambda scores, n: (scores + rng.laplace(0, scale, (n, len(scores)))).argmax(axis=1)


def test_noisy_max_needs_twice_the_noise_where_scores_are_not_monotone(rng):
    first, second = np.array([1.0] + [0.0] * 19), np.array([0.0] + [1.0] * 19)
    found = assert_right_and_wrong(
        noisy_max(rng, 2.0), noisy_max(rng, 1.0), first, second, epsilon=1.0
    )
    assert found.epsilon_lower > 1.5


def sparse_vector(rng, *, threshold, queries, answers=None):
    """1 above, 0 below, 2 once stopped; `answers` None never stops [LSL17]."""

    def run(values, n):
        noise = rng.laplace(0, queries, (n, len(values))) if queries else 0.0
        above = values + noise >= rng.laplace(0, threshold, (n, 1))
        if answers is None:
            return above.astype(int)
        return np.where(above.cumsum(axis=1) - above >= answers, 2, above)

    return run


@pytest.mark.parametrize(
    "wrong",
    [
        {"threshold": 4, "queries": 4 / 3, "answers": 5},  # the noise lacks the number of answers
        {"threshold": 2, "queries": 0, "answers": None},  # no noise on the queries
        {"threshold": 2, "queries": 2, "answers": None},  # never stops
    ],
)
def test_wrong_sparse_vectors_are_found(rng, wrong):
    first, second = np.array([0.0] * 5 + [1.0] * 5), np.array([1.0] * 5 + [0.0] * 5)
    right = sparse_vector(rng, threshold=2, queries=4 * 2, answers=2)
    few = {"epsilon": 1.0, "samples": 60_000}
    assert_right_and_wrong(right, sparse_vector(rng, **wrong), first, second, **few)


def test_a_sparse_vector_that_shows_the_compared_value_is_found(rng):
    def run(values, n, *, queries, fresh):
        bar = on_lattice(rng.laplace(0, 2, n))
        noisy = on_lattice(values[:, None] + rng.laplace(0, queries, (len(values), n)))
        above = noisy >= bar
        hit = above.any(axis=0)
        where = above.argmax(axis=0)
        shown = (
            on_lattice(values[where] + rng.laplace(0, 1, n)) if fresh else noisy[where, range(n)]
        )
        return np.stack([np.where(hit, where, -1), np.where(hit, shown, -99.0)], axis=1)

    def right(values, n):
        return run(values, n, queries=4, fresh=True)

    def wrong(values, n):
        return run(values, n, queries=2, fresh=False)

    first, second = np.array([0.0] * 5 + [1.0]), np.array([1.0] * 5 + [0.0])
    few = {"samples": 100_000}
    assert not audit(None, first, second, batch=right, epsilon=2.0, confidence=SURE, **few).violated
    assert audit(None, first, second, batch=wrong, epsilon=1.0, **few).violated


# ---- structure of the answer


def test_a_key_that_is_there_only_if_somebody_is_gives_them_away(rng):
    def seen_keys(counts):
        return {key: float(on_lattice(n + rng.laplace())) for key, n in counts.items()}

    def public_keys(counts):
        return {key: float(on_lattice(counts.get(key, 0) + rng.laplace())) for key in "ab"}

    first, second = {"a": 10, "b": 1}, {"a": 10}
    small = {"epsilon": 1.0, "samples": 10_000}
    assert not audit(public_keys, first, second, confidence=SURE, **small).violated
    found = audit(seen_keys, first, second, **small)
    assert found.violated
    assert found.witness.removesuffix("missing") in (
        "the value of key 'b' is ",
        "the value of key 'b' is not ",
    )


def test_noise_used_twice_cancels(rng):
    def vector(shape):
        return lambda values, n: on_lattice(values + rng.laplace(0, 2, (n, shape)))

    first, second = np.zeros(2), np.array([1.0, 0.0])
    found = assert_right_and_wrong(vector(2), vector(1), first, second, epsilon=0.5)
    assert found.epsilon_lower > 5


def test_fifteen_percent_too_little_noise_on_a_vector_is_found(rng):
    def vector(scale):
        return lambda values, n: on_lattice(values + rng.laplace(0, scale, (n, 2)))

    first, second = np.zeros(2), np.ones(2)
    assert_right_and_wrong(vector(2.0), vector(1.7), first, second, epsilon=1.0)


def test_a_sampling_rate_that_was_not_applied_is_found(rng):
    """ε = 1 amplified by Poisson sampling at 0.2 is ln(1 + 0.2(e − 1)) = 0.295."""

    def sampled(rate):
        return lambda value, n: on_lattice(value * (rng.random(n) < rate) + rng.laplace(0, 1, n))

    amplified = math.log1p(0.2 * math.expm1(1.0))
    assert_right_and_wrong(sampled(0.2), sampled(0.3), 0.0, 1.0, epsilon=amplified)


@pytest.mark.parametrize(
    ("f", "witness"),
    [
        (lambda rng, x: 1 / x if rng.random() < 0.5 else "fine", "the answer is "),
        (lambda rng, x: None if rng.random() < x / 2 else "fine", "the answer is None"),
        (lambda rng, x: [0] * int(rng.poisson(1 + 3 * x)), "the length of the answer is at least"),
        (lambda rng, x: bool(rng.random() < 0.1 + 0.8 * x), "the answer is "),
        (lambda rng, x: math.nan if rng.random() < x / 2 else 0.5, "the answer is nan"),
        (lambda rng, x: {"a": {"b": (x, "same")}}, "the value of key 'b'"),
    ],
)
def test_answers_of_every_shape_are_understood(rng, f, witness):
    found = audit(lambda x: f(rng, x), 0, 1, epsilon=1.0, samples=4000)
    assert found.violated, found
    assert witness in found.witness or "entry 0 of the value" in found.witness


@pytest.mark.parametrize(
    "f", [lambda rng, x: 5, lambda rng, x: None, lambda rng, x: rng.random(), lambda rng, x: []]
)
def test_answers_that_ignore_the_data_are_never_a_violation(rng, f):
    passed = audit(lambda x: f(rng, x), 0, 1, epsilon=0.01, samples=4000, confidence=SURE)
    assert not passed.violated
    assert passed.epsilon_lower <= 0.01


def test_answers_that_are_not_finite_are_compared_too(rng):
    def wild(x):
        values = [math.inf, -math.inf, math.nan, 1e308, -1e308, 0.0]
        return rng.choice(values), rng.choice(values[x:])

    assert audit(wild, 0, 1, epsilon=1.0, samples=4000).violated
    assert not audit(wild, 0, 0, epsilon=1.0, samples=4000, confidence=SURE).violated


# ---- run time


def count_to(steps):
    total = 0
    for i in range(steps):
        total += i
    return total


def test_run_time_tells_only_to_an_observer_with_a_stopwatch():
    def slower_for_one(x):
        count_to(400 if x else 20)
        return "done"

    few = {"epsilon": 1.0, "samples": 3000}
    assert not audit(slower_for_one, 0, 1, **few).violated
    found = audit(slower_for_one, 0, 1, timing=True, **few)
    assert found.violated
    assert found.witness.startswith("the call takes at ")


def test_a_noisy_clock_is_no_violation():
    """False alarm 1e-9: both data sets meet the same machine, in random order."""
    passed = audit(
        lambda x: count_to(30), 0, 1, epsilon=0.1, samples=5000, timing=True, confidence=SURE
    )
    assert not passed.violated, passed


# ---- error rates


def randomized_response(rng, epsilon):
    honest = math.exp(epsilon) / (1 + math.exp(epsilon))
    return lambda bit, n: bit ^ (rng.random(n) >= honest)


def test_exactly_tight_claims_are_accused_no_more_often_than_allowed(rng):
    """At 90 % confidence 150 audits accuse 38 times or more with probability below 1e-6."""
    accused = sum(
        audit(None, 0, 1, batch=laplace(rng, 1), epsilon=1.0, samples=600, confidence=0.9).violated
        for _ in range(150)
    )
    assert accused < 38


def test_counting_on_the_answers_one_chose_by_would_accuse_too_often(rng):
    """The sabotaged twin of the test above: without fresh answers the error rate is not kept."""
    claim = EpsilonDelta(1.0, delta=0.0, group=1)
    accused = 0
    for _ in range(150):
        seen = [tabulate(laplace(rng, 1)(x, 300)) for x in (0.0, 1.0)]
        events = choose(propose(*seen), *seen, claim=claim, alpha=0.025)
        accused += any(found.violated for found in certify(events, *seen, claim=claim, alpha=0.1))
    assert accused >= 38


def test_stopping_when_it_suits_keeps_the_error_rate(rng):
    """Looks share the doubt; 80 audits at 80 % accuse 38 times or more with chance below 1e-6."""
    claim = {"epsilon": 1.0, "confidence": 0.8, "time_budget": 10.0, "samples": 6000}
    respond = randomized_response(rng, 1.0)
    accused = sum(audit(None, 0, 1, batch=respond, **claim).violated for _ in range(80))
    assert accused < 38


def test_a_gross_error_ends_an_audit_early(rng):
    found = audit(
        lambda x: float(on_lattice(x + rng.laplace(0, 0.4))), 0, 1, epsilon=1.0, time_budget=120.0
    )
    assert found.violated
    assert found.samples < 20_000


def test_a_slow_mechanism_is_asked_as_often_as_time_allows(rng):
    def slow(x):
        time.sleep(0.002)
        return float(x + rng.random())

    assert audit(lambda x: (slow(x), slow(x)), 0, 0, epsilon=1.0, time_budget=1e-6).samples == 12
    verdict = audit(slow, 0, 0, epsilon=1.0, time_budget=0.5)
    assert 10 <= verdict.samples < 400


# ---- what cannot be audited


def test_a_function_that_always_fails_is_not_audited():
    with pytest.raises(dp.BadParameter, match="raised TypeError on every call"):
        audit(lambda: 1, 0, 1, epsilon=1.0, samples=200)


@pytest.mark.parametrize(
    "options",
    [
        {"f": None},
        {"f": 3},
        {"batch": 3},
        {"samples": 10},
        {"samples": 1e6},
        {"confidence": 1.0},
        {"time_budget": 0},
        {"batch": lambda x, n: np.zeros(n), "timing": True},
        {"batch": lambda x, n: np.zeros(n + 1)},
        {"batch": lambda x, n: 1.0},
        {"epsilon": None},
    ],
)
def test_what_cannot_be_right_is_refused(options):
    options = {"f": lambda x: x, "epsilon": 1.0, **options}
    with pytest.raises(dp.BadParameter):
        audit(options.pop("f"), 0, 1, **options)


def test_progress_says_how_many_answers_were_drawn(monkeypatch):
    said = []
    for module in ("blackbox", "sample"):
        monkeypatch.setattr(f"deniable.audit.{module}.say", said.append)
    audit(lambda x: x, 0, 1, epsilon=1.0, samples=400)
    assert "calling f on each data set: 100 of 200" in said
    assert "looking for an event in 400 answers" in said
