"""What a δ may hide: the truth with probability δ, else whatever mechanism is wrapped."""

import itertools
import json
import math

import numpy as np
import pyarrow as pa
import pytest
from mpmath import mp
from tests import goodness

import deniable as dp
from deniable.losses.pairs import Pair
from deniable.mechanisms import (
    AboveThreshold,
    Catastrophe,
    Mechanism,
    PartitionSelection,
    RandomizedResponse,
    SparseVector,
    TopK,
)

INNER = [
    dp.Laplace(scale=2.0),
    dp.Gaussian(sigma=3.0),
    dp.DiscreteGaussian(sigma=3.0),
    RandomizedResponse(epsilon=1.0, categories=5),
    dp.Exponential(epsilon=1.0),
    TopK(k=3, epsilon=2.0),
    PartitionSelection(epsilon=1.0, delta=1e-4),
    dp.Laplace(scale=2.0) + dp.Gaussian(sigma=3.0),
    dp.Gaussian(sigma=1.0).sampled(rate=0.1),
    Catastrophe(delta=1e-3, of=dp.Laplace(scale=2.0)),
    AboveThreshold(epsilon=1.0, threshold=3.0),
]
names = {"ids": lambda m: m.name}


@pytest.mark.parametrize("delta", [1e-12, 1e-3, 0.4])
@pytest.mark.parametrize("inner", INNER, **names)
def test_its_curve_is_that_of_the_mixture(inner, delta):
    wrapped = Catastrophe(delta=delta, of=inner)
    for epsilon in (0.0, 0.1, 0.5, 2.0):
        truth = delta + (1 - delta) * inner.delta_at(epsilon)
        assert wrapped.delta_at(epsilon) >= truth * (1 - 1e-15)
        assert wrapped.delta_at(epsilon) == pytest.approx(truth, rel=1e-12)
    assert wrapped.epsilon_at(delta * (1 - 1e-9)) == math.inf
    assert wrapped.epsilon_at(0.5) == pytest.approx(
        inner.epsilon_at((0.5 - delta) / (1 - delta)), rel=1e-6
    )


@pytest.mark.parametrize("inner", INNER, **names)
def test_no_definition_without_a_delta_bounds_it(inner):
    wrapped = Catastrophe(delta=1e-9, of=inner)
    assert wrapped.pure() == wrapped.zcdp() == wrapped.gdp() == wrapped.renyi(2.0) == math.inf
    for kind in (dp.Pure, dp.Zcdp, dp.Gdp, dp.Renyi):
        with pytest.raises(dp.NoBound):
            wrapped.loss(kind)


@pytest.mark.parametrize("inner", INNER, **names)
def test_it_reads_back_from_its_record(inner):
    wrapped = Catastrophe(delta=1e-3, of=inner)
    assert Mechanism.from_dict(json.loads(json.dumps(wrapped.to_dict()))) == wrapped
    pairs = wrapped.pairs()
    if pairs is not None:
        for pair in (pairs.remove, pairs.add):
            assert Pair.from_dict(json.loads(json.dumps(pair.to_dict()))) == pair


def composed(laws, epsilon):
    """δ at ε of a product of pairs given as lists of (p, q), by enumeration."""
    total = mp.mpf(0)
    for outcome in itertools.product(*laws):
        p, q = mp.fprod(a for a, _ in outcome), mp.fprod(b for _, b in outcome)
        total += max(0, p - mp.exp(epsilon) * q)
    return total


@pytest.mark.parametrize("delta", [1e-9, 0.01])
@pytest.mark.parametrize("times", [1, 3])
def test_many_cost_what_all_their_outcomes_say(delta, times):
    response = RandomizedResponse(epsilon=1.0, categories=3)
    e = mp.exp(1)
    law = [
        (p * (1 - delta) / (e + 2), q * (1 - delta) / (e + 2)) for p, q in [(e, 1), (1, e), (1, 1)]
    ]
    law += [(mp.mpf(delta), mp.mpf(0)), (mp.mpf(0), mp.mpf(delta))]
    mechanism = times * Catastrophe(delta=delta, of=response)
    for epsilon in (0.0, 0.4, 0.9 * times):
        truth = composed([law] * times, epsilon)
        assert truth <= mechanism.delta_at(epsilon) <= truth * (1 + mp.mpf(1e-5))


@pytest.mark.parametrize("rate", [0.01, 0.3])
@pytest.mark.parametrize("times", [1, 2])
def test_a_sample_of_it_costs_what_all_its_outcomes_say(rate, times):
    delta, e = 0.02, mp.exp(1)
    chances = [(e, 1), (1, e), (1, 1)]
    p = [(1 - delta) * a / (e + 2) for a, _ in chances] + [mp.mpf(delta), mp.mpf(0)]
    q = [(1 - delta) * b / (e + 2) for _, b in chances] + [mp.mpf(0), mp.mpf(delta)]
    mixed = [(1 - rate) * b + rate * a for a, b in zip(p, q, strict=True)]
    inner = Catastrophe(delta=delta, of=RandomizedResponse(epsilon=1.0, categories=3))
    mechanism = times * inner.sampled(rate=rate)
    for epsilon in (0.0, 0.05, 0.3):
        ways = ([(a, b) for a, b in zip(*way, strict=True)] for way in ((mixed, q), (q, mixed)))
        truth = max(composed([law] * times, epsilon) for law in ways)
        found = mechanism.delta_at(epsilon)
        assert truth <= found * (1 + 1e-12)
        assert found <= truth * (1 + mp.mpf(0.02)) + mp.mpf(1e-9)


def test_a_group_is_still_told_all_with_probability_delta_only():
    loss = Catastrophe(delta=1e-3, of=dp.Laplace(scale=2.0)).loss(dp.Profile)
    truth = 1e-3 + (1 - 1e-3) * dp.Laplace(scale=2.0, sensitivity=3.0).delta_at(0.5)
    assert loss.group(3).delta_at(0.5) == pytest.approx(truth, rel=1e-9)


@pytest.mark.statistical
def test_the_truth_comes_out_as_often_as_delta_says():
    """False alarms: below 1e-8."""
    wrapped = Catastrophe(delta=0.25, of=dp.Laplace(scale=5.0))
    n, truth = 4000, 1 / 3  # not on the lattice: no noisy answer is the truth
    seen = sum(wrapped.release(truth) == truth for _ in range(n))
    assert goodness.count(seen, n, 0.25) > 1e-8


@pytest.mark.statistical
def test_an_opened_one_tells_all_its_values_or_none():
    """A sparse vector with a threshold out of reach says no, unless disaster strikes: 2⁻⁶⁰ each."""
    wrapped = Catastrophe(delta=0.5, of=SparseVector(epsilon=1.0, answers=1, threshold=1e9))
    runs = []
    for _ in range(60):
        opened = wrapped.begin()
        runs.append({opened.ask(7.0) == 7.0 for _ in range(3)})
    assert all(len(run) == 1 for run in runs)
    assert {True} in runs
    assert {False} in runs


def test_it_covers_what_the_mechanism_covers():
    wrapped = Catastrophe(delta=1e-6, of=dp.Laplace(scale=2.0))
    wrapped.on(dp.Sensitive(lambda: 3, l1=1))
    with pytest.raises(dp.SensitivityMismatch):
        wrapped.on(dp.Sensitive(lambda: 3, l1=2))
    sampled = Catastrophe(delta=1e-6, of=dp.Laplace(scale=2.0).sampled(rate=0.5))
    s = dp.open(
        pa.table({"a": [1]}), unit=dp.rows(relation="replace"), budget=dp.epsilon(9, delta=1e-5)
    )
    with pytest.raises(dp.UnitMismatch):
        s.release(sampled.on(dp.Sensitive(lambda: np.array([1]), l1=1)))


def test_a_session_charges_epsilon_and_delta():
    s = dp.open(pa.table({"a": [1]}), unit=dp.rows(), budget=dp.epsilon(1.0, delta=1e-5))
    step = Catastrophe(delta=1e-6, of=dp.Laplace(scale=10.0))
    s.release(step.on(dp.Sensitive(lambda: 3, l1=1)))
    assert s.spent.delta >= 1e-6
    with pytest.raises(dp.BudgetExceeded):
        s.release(
            Catastrophe(delta=1e-4, of=dp.Laplace(scale=10.0)).on(dp.Sensitive(lambda: 3, l1=1))
        )


@pytest.mark.parametrize("bad", [3, "laplace", dp.Laplace, dp.epsilon(1.0)])
def test_what_is_not_a_mechanism_is_refused(bad):
    with pytest.raises(dp.BadParameter, match="of"):
        Catastrophe(delta=0.1, of=bad)


@pytest.mark.parametrize(
    ("confidence", "needed"), [(0.9, 0.8), (0.95, 0.9), (0.5, 0.0), (0.3, 0.0)]
)
def test_the_truth_does_not_err_so_the_rest_needs_less_confidence(confidence, needed):
    """Half of the time it is the truth: the other half must be right in (c − ½)/½ of all cases."""
    noise = dp.Laplace(scale=3.0)
    made = Catastrophe(delta=0.5, of=noise)
    for whole in (False, True):
        wanted = noise.error(needed, whole=whole) if needed else 0.0
        assert made.shown_error(confidence, whole=whole) == pytest.approx(wanted, rel=1e-9)
    assert made.error(confidence) == pytest.approx(noise.error(needed) if needed else 0.0, rel=1e-9)


def test_without_a_mechanism_nothing_but_its_chance_is_lost():
    alone = Catastrophe(delta=0.1)
    assert alone.delta_at(0.0) == alone.delta_at(3.0) == 0.1
    mixed = Catastrophe(delta=0.1, of=dp.Laplace(scale=1.0))
    inner = dp.Laplace(scale=1.0).delta_at(0.5)
    assert mixed.delta_at(0.5) == pytest.approx(0.1 + 0.9 * inner)
    assert mixed.delta_at(1.0) == 0.1
