"""The composition theorems of the literature, and one that is false."""

import math

import mpmath as mp
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.losses import figures

import deniable as dp
from deniable.losses import textbook

FIVE_HUNDRED = {"times": 500, "delta": 1e-5}
HUNDRED = {"times": 100, "delta": 1e-6}


def test_five_hundred_mechanisms_at_epsilon_one():
    assert textbook.basic(1.0, times=500) == pytest.approx(500)
    assert textbook.advanced(1.0, **FIVE_HUNDRED) == pytest.approx(966.4, abs=0.05)
    assert textbook.kov_simple(1.0, **FIVE_HUNDRED) == pytest.approx(338.36, abs=0.01)
    assert textbook.kov_optimal(1.0, **FIVE_HUNDRED) == pytest.approx(311.77, abs=0.005)


def test_a_hundred_mechanisms_at_a_tenth():
    assert textbook.kov_optimal(0.1, **HUNDRED) == pytest.approx(4.77457, abs=5e-6)
    assert textbook.advanced(0.1, **HUNDRED) == pytest.approx(6.308, abs=5e-4)
    assert textbook.kov_simple(0.1, **HUNDRED) == pytest.approx(5.756, abs=5e-4)
    assert textbook.zcdp_classic(0.1, **HUNDRED) == pytest.approx(5.7565, abs=5e-4)


def test_the_false_theorem_is_false():
    claimed = textbook.false_advanced(1.0, **FIVE_HUNDRED)
    assert claimed == pytest.approx(214.59, abs=0.01)
    # Randomized response, a mechanism like any other, breaks the claim by five magnitudes.
    assert textbook.kov_delta(1.0, times=500, at=claimed) > 0.5 > 1e-5
    assert textbook.advanced(1.0, **FIVE_HUNDRED) > 4 * claimed


@pytest.mark.parametrize("epsilon", [0.01, 0.1, 1.0, 3.0])
@pytest.mark.parametrize("times", [1, 10, 1000])
@pytest.mark.parametrize("delta", [1e-10, 1e-5])
def test_no_true_theorem_beats_the_optimum(epsilon, times, delta):
    optimum = textbook.kov_optimal(epsilon, times=times, delta=delta)
    theorems = [
        textbook.advanced,
        textbook.kov_simple,
        textbook.zcdp_classic,
        textbook.zcdp_tight,
        textbook.renyi_classic,
        textbook.renyi_improved,
    ]
    for theorem in theorems:
        assert theorem(epsilon, times=times, delta=delta) >= optimum * (1 - 1e-9)
    assert textbook.basic(epsilon, times=times) >= optimum
    for better, worse in [
        (textbook.renyi_improved, textbook.renyi_classic),
        (textbook.zcdp_tight, textbook.zcdp_classic),
        (textbook.renyi_improved, textbook.zcdp_tight),
    ]:
        assert better(epsilon, times=times, delta=delta) <= 1.003 * worse(
            epsilon, times=times, delta=delta
        )


@given(st.floats(0.01, 3), st.integers(1, 60), st.floats(0, 1))
@settings(max_examples=40, deadline=None)
def test_the_delta_of_many_responses_is_the_sum_over_all_outcomes(epsilon, times, share):
    at = share * times * epsilon
    with mp.workdps(60):
        e = mp.mpf(epsilon)
        p, q = 1 / (1 + mp.exp(-e)), 1 / (1 + mp.exp(e))
        truth = mp.fsum(
            mp.binomial(times, i)
            * max(0, p ** (times - i) * q**i - mp.exp(at) * q ** (times - i) * p**i)
            for i in range(times + 1)
        )
        found = textbook.kov_delta(epsilon, times=times, at=at)
        assert found >= truth - mp.mpf(10) ** -50
        assert found <= truth * (1 + mp.mpf(1e-9)) + mp.mpf(1e-12)


def test_the_theorem_of_kairouz_oh_and_viswanath_in_their_own_form():
    epsilon, times, i = 0.5, 9, 3
    at = (times - 2 * i) * epsilon
    total = sum(
        math.comb(times, j)
        * (math.exp((times - j) * epsilon) - math.exp((times - 2 * i + j) * epsilon))
        for j in range(i)
    )
    assert textbook.kov_delta(epsilon, times=times, at=at) == pytest.approx(
        total / (1 + math.exp(epsilon)) ** times, rel=1e-9
    )


@pytest.mark.parametrize("bad", [{"delta": 0.0}, {"delta": 1.0}, {"times": 0}, {"times": 2.5}])
def test_bad_parameters_are_refused(bad):
    with pytest.raises(dp.BadParameter):
        textbook.advanced(1.0, **({"times": 10, "delta": 1e-6} | bad))


THEOREMS = [
    textbook.advanced,
    textbook.kov_simple,
    textbook.kov_optimal,
    textbook.zcdp_classic,
    textbook.zcdp_tight,
    textbook.renyi_classic,
    textbook.renyi_improved,
]


def composed_delta(epsilon, each_delta, times, at):
    """δ at an ε of k (ε, δ₁) mechanisms of the worst kind, over all their outcomes: 50 digits.

    Each fails with δ₁ and tells all; else it tells the truth with odds e^ε.
    """
    with mp.workdps(50):
        e, d = mp.mpf(epsilon), mp.mpf(each_delta)
        p, q = (1 - d) / (1 + mp.exp(-e)), (1 - d) / (1 + mp.exp(e))
        whole = mp.fsum(
            mp.binomial(times, i)
            * max(0, p ** (times - i) * q**i - mp.exp(at) * q ** (times - i) * p**i)
            for i in range(times + 1)
        )
        return 1 - (1 - d) ** times + whole


@pytest.mark.parametrize("each_delta", [1e-12, 1e-8, 1e-6])
@pytest.mark.parametrize(("epsilon", "times"), [(0.1, 1), (0.1, 30), (1.0, 7), (3.0, 40)])
@pytest.mark.parametrize("theorem", THEOREMS, ids=lambda f: f.__name__)
def test_every_theorem_holds_for_mechanisms_with_a_delta(theorem, epsilon, times, each_delta):
    delta = 1e-4
    price = theorem(epsilon, times=times, delta=delta, each_delta=each_delta)
    assert composed_delta(epsilon, each_delta, times, price) <= delta * (1 + 1e-9)
    assert price >= theorem(epsilon, times=times, delta=delta)


@pytest.mark.parametrize("times", [1, 7, 40])
def test_the_optimum_for_mechanisms_with_a_delta_is_the_loss_distribution_s(times):
    mine = textbook.kov_optimal(0.5, times=times, delta=1e-4, each_delta=1e-7)
    loss = times * dp.Approx(0.5, delta=1e-7).to(dp.Profile)
    assert mine == pytest.approx(loss.epsilon_at(1e-4), rel=1e-6)
    at = 0.4 * times
    found = textbook.kov_delta(0.5, times=times, at=at, each_delta=1e-7)
    truth = composed_delta(0.5, 1e-7, times, at)
    assert truth <= found <= truth * (1 + mp.mpf(1e-9))


@pytest.mark.parametrize("theorem", [*THEOREMS, textbook.false_advanced], ids=lambda f: f.__name__)
@pytest.mark.parametrize("each_delta", [1e-6, 1e-3, 1.0, -1e-9, math.nan, "1e-9"])
def test_failures_that_use_up_the_total_delta_are_refused(theorem, each_delta):
    with pytest.raises(dp.BadParameter, match="each_delta"):
        theorem(1.0, times=10, delta=1e-6, each_delta=each_delta)


PART = "textbook"
GIVEN = [{"times": k, "delta": 1e-6, "each_delta": d} for k in (3, 60) for d in (0.0, 1e-9)]
THEOREMS = ("advanced", "false_advanced", "kov_simple", "kov_optimal", "zcdp_classic", "zcdp_tight")
CASES = {
    name: lambda name=name: [getattr(textbook, name)(e, **g) for e in (0.05, 1.0) for g in GIVEN]
    for name in (*THEOREMS, "renyi_classic", "renyi_improved")
} | {
    "basic": lambda: [textbook.basic(e, times=7) for e in (0.05, 1.0)],
    "delta": lambda: [
        textbook.kov_delta(0.3, times=k, at=x, each_delta=d)
        for k in (1, 9)
        for x in (0.0, 0.2, 1.0)
        for d in (0.0, 1e-3)
    ],
    "left": lambda: [textbook._checked(0.3, 9, 1e-3, d) for d in (0.0, 1e-5)],
}


@pytest.mark.parametrize("case", CASES)
def test_figures_and_what_they_allow_for_rounding_are_as_recorded(case):
    figures.check(PART, case, CASES[case], within=1e-9)
