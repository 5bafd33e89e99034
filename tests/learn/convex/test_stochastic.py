"""Noisy steps on Poisson samples: what they cost, what one row moves, where they lead."""

import math

import numpy as np
import pandas as pd
import pytest

import deniable as dp
from deniable.audit import replay
from deniable.learn.convex import Ball, Box, explain, minimize, minimizing
from deniable.learn.convex.descent import LATTICE, Descent
from deniable.learn.convex.stochastic import Stochastic
from deniable.losses import Approx
from deniable.mechanisms.combine import Composed

SPEND = dp.epsilon(1.0, delta=1e-6)
FACTS = {"domain": Ball(1.0), "lipschitz": 1.0, "spend": SPEND, "method": "stochastic"}


def way(size=400.0, coordinates=4, loss=SPEND):
    return Stochastic(
        domain=Ball(1.0), coordinates=coordinates, lipschitz=1.0, loss=loss, size=size,
        unit=dp.rows(),
    )  # fmt: skip


# ---- by hand, for noise of a known size


def priced(sigma=3.0, **changes):
    """With noise of so many times the norm bound, whatever that costs."""
    facts = {"domain": Ball(3.0), "coordinates": 5, "lipschitz": 2.0, "loss": SPEND, "size": 25.0}
    made = Stochastic(**{**facts, "unit": dp.rows(), **changes})
    noise = dp.Gaussian(sigma=sigma * LATTICE, sensitivity=LATTICE)
    made.__dict__["mechanism"] = Composed.of((noise.sampled(rate=made.rate), made.turns))
    return made


@pytest.mark.parametrize(
    ("epsilon", "size", "coordinates", "turns"),
    [
        (1.0, 30.0, 9, 100),  # (εn)²/d
        (0.5, 30.0, 9, 25),
        (1.0, 30.0, 8, 112),
        (1.0, 4.0, 1, 16),
        (1.0, 9.0, 9, 9),
        (1.0, 3.0, 9, 8),
        (1.0, 32.0, 1, 1024),
        (1.0, 1e9, 1, 1024),
    ],
)
def test_so_many_steps_are_made_and_sixteen_passes(epsilon, size, coordinates, turns):
    loss = Approx(epsilon, delta=1e-6)
    made = priced(loss=loss, size=size, coordinates=coordinates)
    assert made.turns == turns
    assert made.rate == (16 / turns if turns > 16 else 1.0)


def test_rows_that_are_replaced_are_not_sampled():
    with pytest.raises(dp.BadParameter, match="with rows added or removed"):
        priced(unit=dp.rows(relation="replace"))


@pytest.mark.parametrize("domain", [Ball(3.0), Box(-1.0, 2.0)], ids=str)
@pytest.mark.parametrize(("least", "most"), [(25.0, 25.0), (20.0, 30.0)])
@pytest.mark.parametrize(("sigma", "size"), [(0.5, 25.0), (0.1, 18.0)])
def test_the_excess_is_bounded_by_the_theorem(domain, least, most, sigma, size):
    """r²/2ℓT + ℓG²/2 per row, G² = n²M² + nM²(1 − q)/q + dσ²/q²; by Markov with a confidence."""
    made = priced(sigma, domain=domain, size=size)
    T, q, M, reach = made.turns, made.rate, 2.0, domain.reach(5)

    def square(n):
        return n * n * M * M + n * M * M * (1 - q) / q + 5 * (sigma * M / q) ** 2

    length = reach / math.sqrt(T * square(size))
    mean = (reach * reach / (2 * length * T) + length * square(most) / 2) / least
    whole = M * domain.diameter(5)
    assert made.excess(least=least, most=most) == pytest.approx(min(whole, mean))
    found = made.excess(least=least, most=most, confidence=0.5)
    assert found == pytest.approx(min(whole, 2 * mean))
    for few in (1e-9, 0.0, -4.0):
        assert made.excess(least=few, most=most) == whole
    assert mean < whole


@pytest.mark.parametrize("domain", [Ball(3.0), Box(-1.0, 2.0)], ids=str)
def test_each_step_goes_down_the_noisy_gradient_and_the_average_is_returned(domain):
    made = priced(domain=domain)
    q, M, T = made.rate, 2.0, made.turns
    square = 25**2 * M * M + 25 * M * M * (1 - q) / q + 5 * (3.0 * M / q) ** 2
    length = domain.reach(5) / math.sqrt(T * square)
    steps = made.steps(lambda x, places: (x, places), lambda: 7)
    opened = next(steps)
    assert (opened.mechanism, opened.delta, opened.unit) == (made.mechanism, 1e-6, dp.rows())
    handle = type("Handle", (), {"on": staticmethod(lambda value: value)})
    answers = np.random.default_rng(4).normal(size=(T, 5)) * 2.0**38
    point, points, value = domain.center(5), [], steps.send(handle)
    for answer in answers[:-1]:
        assert (value.bound("l2"), value.entries, value.unit) == (LATTICE, 1, dp.rows())
        places = np.arange(3)
        at, given = value.form.statistic(places)
        assert given is places
        assert at == pytest.approx(point)
        points.append(point)
        point = domain.project(point - length * answer * M / 2.0**36 / q)
        value = steps.send(answer)
    with pytest.raises(StopIteration) as end:
        steps.send(answers[-1])
    average = domain.project(np.mean([*points, point], axis=0))
    assert end.value.value == pytest.approx(average, rel=1e-9, abs=1e-12)
    assert not np.allclose(points[1], points[2])


# ---- what all of it costs


@pytest.mark.parametrize("loss", [Approx(0.1, delta=1e-5), Approx(2.0, delta=1e-8)], ids=str)
def test_all_steps_together_cost_what_was_paid(loss):
    made = way(loss=loss)
    assert made.mechanism.delta_at(loss.epsilon) <= loss.delta
    assert made.mechanism.delta_at(loss.epsilon) > 0.8 * loss.delta
    ((step, times),) = made.mechanism.parts
    assert (step.rate, times) == (made.rate, made.turns)
    assert step.of.sensitivity == pytest.approx(LATTICE)


def test_samples_need_less_noise_than_all_rows_in_as_many_steps():
    made = way()
    ((step, times),) = made.mechanism.parts
    mu = 1 / dp.Gaussian.calibrate(epsilon=1.0, delta=1e-6).sigma
    assert made.rate < 0.1
    assert step.of.sigma < 0.2 * math.sqrt(times) / mu * LATTICE
    assert isinstance(made.excess(least=400, most=400), float)


@pytest.mark.parametrize("row", [[1e9, -1.0], [math.nan, 0.0]])
@pytest.mark.parametrize("loss", ["logistic", lambda x, X, y: (X @ x, X)], ids=["named", "own"])
def test_no_row_moves_a_step_further_than_declared(row, loss, monkeypatch):
    monkeypatch.setattr("deniable.learn.convex.stochastic._MOST", 8)
    generator = np.random.default_rng(0)
    X, y = generator.normal(size=(12, 2)), np.arange(12) % 2
    more = np.vstack([X, [row]]), np.append(y, 1.0)
    found = replay(lambda given: minimize(loss, data=given, size=12, **FACTS).x, (X, y), more)
    assert found.ok, found


@pytest.mark.parametrize(
    "changes",
    [
        {"size": None},
        {"unit": dp.rows(relation="replace")},
        {"spend": dp.mu(1.0)},
        {"spend": dp.epsilon(1.0)},
    ],
    ids=str,
)
def test_what_samples_cannot_do_is_refused_before_anything_is_spent(changes):
    given = np.zeros((5, 2)), np.zeros(5)
    with pytest.raises(dp.DeniableError) as seen:
        minimize(data=given, **({"size": 5} | FACTS | changes))
    assert seen.value.cost == "nothing was spent"


def test_a_minimum_is_found_and_its_plan_says_how():
    generator = np.random.default_rng(1)
    X = generator.normal(size=(2000, 2)) / 2
    found = minimize(
        lambda x, X, y: (np.abs(x - X).sum(axis=1), np.sign(x - X)),
        data=(X + np.array([0.5, -0.5]), np.zeros(2000)), size=2000, **FACTS | {"lipschitz": 1.5},
    )  # fmt: skip
    assert np.linalg.norm(found.x - [0.5, -0.5]) < 0.4
    plan = explain("logistic", columns=3, size=2000, **FACTS | {"domain": Box(-1.0, 1.0)})
    assert "Poisson sample" in str(plan)


@pytest.mark.parametrize("kind", [Stochastic, Descent])
def test_bounds_have_the_slopes_of_the_theory_on_log_scales(kind):
    """−1 in n and ½ in d, fitted by least squares where noise decides."""

    def bound(n, d):
        if kind is Stochastic:
            return way(n, d).excess(least=n, most=n)
        made = Descent(
            domain=Ball(1.0), coordinates=d, lipschitz=1.0, mu=0.25, size=n, unit=dp.rows()
        )
        return made.excess(least=n, most=n)

    sizes, columns = [150, 300, 600], [64, 128, 256]
    in_n = np.polyfit(np.log(sizes), np.log([bound(n, 128) for n in sizes]), 1)[0]
    in_d = np.polyfit(np.log(columns), np.log([bound(300, d) for d in columns]), 1)[0]
    assert in_n == pytest.approx(-1, abs=0.15)
    assert in_d == pytest.approx(0.5, abs=0.1)


@pytest.mark.parametrize("unit", [dp.person("id", rows=1), dp.rows(relation="replace")], ids=repr)
def test_a_session_that_protects_others_refuses_the_steps_before_they_are_paid(unit):
    s = dp.open(pd.DataFrame({"id": [1, 2]}), unit=unit, budget=dp.epsilon(2.0, delta=1e-5))
    steps = minimizing(data=(np.zeros((5, 2)), np.zeros(5)), size=5, unit=dp.rows(), **FACTS)
    with pytest.raises(dp.UnitMismatch) as seen:
        s.run(steps)
    assert seen.value.cost == "nothing was spent"
    assert not s.ledger.entries
