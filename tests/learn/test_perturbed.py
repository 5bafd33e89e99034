"""Objective and output perturbation: the theorem in numbers, certified minima, neighbours."""

import math
from fractions import Fraction

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import integrate, optimize, special

import deniable as dp
from deniable.audit import replay, search
from deniable.learn import LogisticRegression
from deniable.learn.engine.cells import Cells
from deniable.learn.engine.examples import Examples
from deniable.learn.engine.minima import Penalised
from deniable.learn.engine.perturbed import LEAST, TOLERANCE, ObjectivePerturbation, output_l2
from deniable.learn.engine.spaces import Dense

PRIVACY = {"epsilon": 1.0, "delta": 1e-5, "bounds": (-1, 1), "classes": [0, 1]}


def objective(seed, rows, *, clip=0.5, ridge=1.0, space=None, weighted=False):
    random = np.random.default_rng(seed)
    space = space or Dense(dimension=3)
    if isinstance(space, Cells):
        x = space.packed([random.integers(size, size=rows) for size in space.sizes])
    else:
        x = space.rounded(random.normal(size=(rows, space.dimension)))
    y = random.integers(-1, 2, size=rows)
    w = random.integers(0, 2**20 + 1, size=rows) if weighted else None
    slope = random.normal(size=space.dimension) * 5
    held = Examples(x=x, y=y, w=w)
    return Penalised(rows=held, space=space, clip=clip, ridge=ridge, slope=slope)


def dense_rows(problem):
    """Rows as an array of floats, and what each weighs."""
    space, x = problem.space, problem.rows.x
    if isinstance(space, Cells):
        made = np.zeros((x.shape[1], space.dimension))
        for start, code in zip(space.starts, space.codes(x), strict=True):
            made[np.arange(x.shape[1]), start + code] = 1
    else:
        made = x / space.unit
    weights = (problem.rows.y >= 0).astype(float)
    return made, weights if problem.rows.w is None else weights * problem.rows.w / 2**20


def exact_gradient(problem, theta):
    """∇F, by an independent way: in 60 digits."""
    import mpmath

    rows, weights = dense_rows(problem)
    with mpmath.workdps(60):
        found = [mpmath.mpf(problem.ridge) * mpmath.mpf(t) for t in theta]
        found = [a + mpmath.mpf(b) for a, b in zip(found, problem.slope, strict=True)]
        for row, weight, label in zip(rows, weights, problem.rows.y, strict=True):
            margin = mpmath.fsum(
                mpmath.mpf(a) * mpmath.mpf(b) for a, b in zip(row, theta, strict=True)
            )
            residual = 1 / (1 + mpmath.exp(-margin)) - int(label == 1)
            short = max(-mpmath.mpf(problem.clip), min(mpmath.mpf(problem.clip), residual))
            found = [
                a + mpmath.mpf(weight) * short * mpmath.mpf(b)
                for a, b in zip(found, row, strict=True)
            ]
        return float(mpmath.sqrt(mpmath.fsum(a * a for a in found)))


@settings(max_examples=25)
@given(
    seed=st.integers(0, 10**6),
    rows=st.integers(0, 30),
    clip=st.sampled_from([2.0**-10, 0.1, 0.5, 1.0]),
    ridge=st.sampled_from([1e-3, 1.0, 100.0]),
    weighted=st.booleans(),
    space=st.sampled_from([Dense(dimension=3), Cells(sizes=(2, 3))]),
)
def test_the_certified_gradient_is_never_below_the_exact_one(
    seed, rows, clip, ridge, weighted, space
):
    problem = objective(seed, rows, clip=clip, ridge=ridge, weighted=weighted, space=space)
    theta = problem.minimum(1e-6)
    assert exact_gradient(problem, theta) <= 1e-6
    bound = problem._at(theta).bound
    assert exact_gradient(problem, theta) <= bound <= 1e-6


@settings(max_examples=40)
@given(
    seed=st.integers(0, 10**6),
    rows=st.integers(0, 20),
    clip=st.sampled_from([2.0**-10, 0.5, 1.0]),
    length=st.sampled_from([0.0, 1e-9, 1.0, 40.0, 1e6]),
    space=st.sampled_from([Dense(dimension=3), Cells(sizes=(2, 3))]),
)
def test_the_bound_on_the_gradient_holds_wherever_it_is_asked(seed, rows, clip, length, space):
    problem = objective(seed, rows, clip=clip, ridge=1e-3, space=space)
    theta = np.random.default_rng(seed).normal(size=space.dimension) * length
    exact = exact_gradient(problem, theta)
    bound = problem._at(theta).bound
    assert exact <= bound <= exact * (1 + 1e-9) + 1e-9 * (1 + length), "and it is close"


def test_how_many_rows_can_be_certified_does_not_depend_on_the_clip():
    problem = objective(3, 400_000, clip=2.0**-10, ridge=LEAST)
    tolerance = TOLERANCE * problem.clip
    theta = problem.minimum(tolerance)
    assert problem._missed(theta, 4e5) < tolerance / 20


def test_a_hopeless_tolerance_is_given_up_at_once(monkeypatch):
    asked = []
    at = Penalised._at
    monkeypatch.setattr(Penalised, "_at", lambda self, theta: asked.append(1) or at(self, theta))
    with pytest.raises(ArithmeticError):
        objective(0, 20).minimum(1e-18)
    assert len(asked) < 100


@pytest.mark.parametrize("columns", [1, 30])
@pytest.mark.parametrize("delta", [1e-3, 1e-6, 1e-12])
@pytest.mark.parametrize("epsilon", [1e-3, 1e-5, 1e-7, 1e-9, 1e-12, 1e-15])
def test_a_small_epsilon_is_either_refused_for_free_or_fitted(epsilon, delta, columns):
    X = np.tile(np.linspace(-1, 1, 20)[:, None], (1, columns))
    model = LogisticRegression(**PRIVACY | {"epsilon": epsilon, "delta": delta}, solver="objective")
    try:
        model.fit(X, (X[:, 0] > 0).astype(int))
    except dp.BadParameter:
        assert epsilon < 1e-8
        assert model.spent == dp.mu(0.0)
    else:
        assert np.isfinite(model.theta_).all()


@pytest.mark.parametrize("size", [1e8, 5e8])
@pytest.mark.parametrize(
    "space", [Dense(dimension=20), Cells(sizes=(21,) * 20)], ids=["real", "cells"]
)
@pytest.mark.parametrize("clip", [0.1, 0.5, 1.0])
def test_floats_can_certify_minima_of_hundreds_of_millions_of_rows(space, clip, size):
    """What floats may miss of a gradient is a part of what is tolerated, for parameters of ±3."""
    made = objective(0, 5, clip=clip, space=space)
    allowed = TOLERANCE * clip * space.norm / space.unit
    assert made._missed(np.full(space.dimension, 3.0), size) < allowed


@pytest.mark.parametrize("rows", [0, 1, 100_000])
def test_minima_are_found_for_separable_and_for_hostile_rows(rows):
    space = Dense(dimension=2)
    x = space.rounded(np.tile([[1.0, 0.0]], (rows, 1)))
    same = Penalised(
        rows=Examples(x=x, y=np.ones(rows, dtype=np.int64)),
        space=space,
        clip=1.0,
        ridge=LEAST,
        slope=np.zeros(2),
    )
    theta = same.minimum(1e-4)
    assert np.isfinite(theta).all()
    far = Penalised(rows=same.rows, space=space, clip=0.5, ridge=1e-2, slope=np.array([1e3, -1e3]))
    assert far._at(far.minimum(1e-4)).bound <= 1e-4


@pytest.mark.parametrize(
    "space", [Dense(dimension=40), Cells(sizes=(8,) * 6)], ids=["real", "cells"]
)
@pytest.mark.parametrize("ridge", [0.01, 0.2, 5.0])
@pytest.mark.parametrize("clip", [0.2, 0.5, 1.0])
def test_few_steps_find_the_minimum_for_many_rows_and_small_penalties(
    space, ridge, clip, monkeypatch
):
    monkeypatch.setattr("deniable.learn.engine.minima._STEPS", 40)
    problem = objective(1, 6000, clip=clip, ridge=ridge, space=space)
    assert problem._at(problem.minimum(1e-4)).bound <= 1e-4


def test_what_floats_cannot_certify_is_not_certified():
    with pytest.raises(ArithmeticError):
        objective(0, 20).minimum(1e-18)


# ---- the theorem, in one dimension, where densities can be written down


def loss_of(theta, x, label, clip):
    """ℓ′ and ℓ″ of one row."""
    likely = special.expit(theta * x)
    residual = likely - label
    inside = np.abs(residual) <= clip
    return np.clip(residual, -clip, clip) * x, np.where(inside, likely * (1 - likely), 0.0) * x * x


def density(theta, rows, *, ridge, sigma, clip):
    slope, bend = ridge * theta, ridge * np.ones_like(theta)
    for x, label in rows:
        first, second = loss_of(theta, x, label, clip)
        slope, bend = slope + first, bend + second
    return np.exp(-((slope / sigma) ** 2) / 2) / (sigma * math.sqrt(2 * math.pi)) * bend


@pytest.mark.parametrize("clip", [0.5, 1.0])
@pytest.mark.parametrize("epsilon", [0.1, 1.0, 3.0])
@pytest.mark.parametrize("row", [(1.0, 1), (1.0, 0), (-1.0, 0), (0.5, 1)])
def test_the_exact_loss_in_one_dimension_is_within_the_price(clip, epsilon, row):
    made = ObjectivePerturbation.calibrate(
        coordinates=1, sensitivity=clip, smoothness=0.25, epsilon=epsilon, delta=1e-3
    )
    assert made.approx()[1] <= 1e-3
    facts = {"ridge": made.ridge, "sigma": made.sigma, "clip": clip}
    few = [(1.0, 1), (0.7, 0)]
    theta = np.linspace(-12, 12, 200_001) * made.sigma / made.ridge
    one, other = density(theta, few, **facts), density(theta, [*few, row], **facts)
    assert integrate.trapezoid(one, theta) == pytest.approx(1, abs=1e-4)
    for level in (0.5 * epsilon, epsilon, 1.5 * epsilon):
        for a, b in ((one, other), (other, one)):
            gap = np.maximum(a - math.exp(level) * b, 0)
            assert integrate.trapezoid(gap, theta) <= made.delta_at(level) + 1e-5


def test_forgetting_the_change_of_volume_would_be_a_violation():
    """The same comparison can fail: with all of ε for the noise and a small penalty."""
    mu = 1 / 30
    facts = {"ridge": 0.05, "sigma": 1 / mu, "clip": 1.0}
    claimed = 2 * dp.Gaussian(sigma=1 / mu).delta_at(0.5)
    theta = np.linspace(-40, 40, 400_001) * facts["sigma"]
    one, other = density(theta, [], **facts), density(theta, [(1.0, 1)], **facts)
    gap = np.maximum(other - math.exp(0.5) * one, 0)
    assert integrate.trapezoid(gap, theta) > claimed + 1e-3


@given(
    epsilon=st.floats(0.01, 20),
    delta=st.sampled_from([1e-3, 1e-6, 1e-12]),
    norm=st.floats(0.1, 30),
    ridge=st.sampled_from([0.0, 1.0, 1e4]),
)
def test_calibration_meets_what_was_asked(epsilon, delta, norm, ridge):
    made = ObjectivePerturbation.calibrate(
        coordinates=3,
        sensitivity=norm / 2,
        smoothness=norm**2 / 4,
        epsilon=epsilon,
        delta=delta,
        ridge=ridge,
    )
    assert made.approx() <= (epsilon, delta)
    assert made.ridge >= ridge
    assert dp.Mechanism.from_dict(made.to_dict()) == made


# ---- neighbours


@pytest.mark.parametrize("clip", [0.5, 1.0])
def test_hostile_rows_move_a_minimum_no_further_than_declared(clip):
    rows = np.random.default_rng(0).uniform(-1, 1, (12, 4))
    rows[:, 3] = rows[:, 0] > 0

    def program(table):
        model = LogisticRegression(**PRIVACY, solver="output", clip=clip, alpha=0.05)
        return model.fit(table[:, :3], table[:, 3]).loss_

    found = search(program, rows, most=40)
    assert found.ok, found


@pytest.mark.parametrize("relation", ["add_remove", "replace"])
def test_a_person_with_many_rows_moves_a_minimum_no_further_than_declared(relation):
    random = np.random.default_rng(1)
    x = random.uniform(-1, 1, 40)
    frame = pd.DataFrame({"x": x, "t": (x > 0).astype(int), "who": np.arange(40) // 2})
    one = pd.DataFrame({"x": [1.0] * 50, "t": [0] * 50, "who": [99] * 50})
    facts = dp.Schema(
        columns={"x": dp.bounds(-1, 1), "t": dp.keys([0, 1]), "who": dp.column("int")}
    )
    first = frame if relation == "add_remove" else pd.concat([frame, one.assign(t=1)])
    unit = dp.person("who", rows=2, relation=relation)

    def program(data):
        session = dp.open(data, unit=unit, budget=dp.mu(1.0), schema=facts)
        model = LogisticRegression(solver="output", alpha=3.0)
        session.fit(model, target="t", spend=dp.mu(1.0))

    found = replay(program, first, pd.concat([frame, one]))
    assert found.ok, found
    assert found.moved > 0.1 * found.declared


def test_a_minimum_that_is_found_badly_is_caught_by_the_same_replay(monkeypatch):
    """A solver that stops early, at a point that depends on the rows."""
    monkeypatch.setattr(
        Penalised, "minimum", lambda self, _: np.full(self.space.dimension, len(self.rows.y) * 1.0)
    )
    rows = np.random.default_rng(0).uniform(-1, 1, (12, 2))

    def program(table):
        return LogisticRegression(**PRIVACY, solver="output").fit(table, table[:, 0] > 0).loss_

    assert not search(program, rows, most=5).ok


def test_exact_minima_agree_with_another_solver():
    problem = objective(3, 400, clip=1.0, ridge=2.0)
    rows, weights = dense_rows(problem)
    label = problem.rows.y == 1

    def value(theta):
        margin = rows @ theta
        each = np.logaddexp(0, margin) - label * margin
        return weights @ each + theta @ theta + problem.slope @ theta

    other = optimize.minimize(value, np.zeros(3), tol=1e-12).x
    assert np.allclose(problem.minimum(1e-6), other, atol=1e-4)


def test_the_sensitivity_of_a_minimum_counts_both_approximations():
    found = Fraction(output_l2(sensitivity=0.5, ridge=4.0))
    assert found >= (Fraction(1, 2) + 2 * Fraction(TOLERANCE) / 2) / 4


# ---- through a session


@pytest.mark.parametrize("solver", ["objective", "output"])
@pytest.mark.parametrize("budget", [dp.epsilon(4.0, delta=1e-5), dp.mu(1.0), dp.rho(0.5)], ids=str)
def test_solvers_learn_and_are_charged_once(solver, budget):
    x = np.random.default_rng(0).uniform(-1, 1, 4000)
    frame = pd.DataFrame({"x": x, "t": (x > 0.2).astype(int)})
    facts = dp.Schema(columns={"x": dp.bounds(-1, 1), "t": dp.keys([0, 1])})
    session = dp.open(frame, unit=dp.rows(), budget=budget, schema=facts)
    model = LogisticRegression(solver=solver)
    if solver == "objective" and not isinstance(budget, dp.Approx):
        with pytest.raises(dp.MixedLosses, match="objective perturbation"):
            session.fit(model, target="t", spend=budget)
        assert not session.ledger.entries
        return
    assert session.fit(model, target="t", spend=budget).score(frame, frame["t"]) > 0.85
    assert len(session.ledger.entries) == 1
    assert session.spent <= budget
    assert model.certificate().to_json()


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({"solver": "newton"}, "solver must be"),
        ({"solver": "objective", "alpha": -1.0}, "alpha must be"),
        ({"solver": "output", "alpha": 1e-9}, "alpha must be at least"),
        ({"alpha": 1.0}, "has no penalty"),
        ({"solver": "objective", "classes": [0, 1, 2]}, "is for two classes"),
        ({"solver": "output", "classes": [0, 1, 2]}, "is for two classes"),
    ],
)
def test_impossible_settings_cost_nothing(settings, words):
    model = LogisticRegression(**(PRIVACY | settings))
    with pytest.raises(dp.BadParameter, match=words):
        model.fit(np.ones((4, 1)), [0, 1, 0, 1])
    assert model.spent == dp.mu(0.0)


@pytest.mark.parametrize("unit", [dp.person("who", rows=1), dp.rows(relation="replace")], ids=str)
def test_objective_perturbation_of_other_units_is_refused_for_free(unit):
    frame = pd.DataFrame({"x": [0.5] * 4, "t": [0, 1] * 2, "who": range(4)})
    columns = {"x": dp.bounds(-1, 1), "t": dp.keys([0, 1]), "who": dp.column("int")}
    budget = dp.epsilon(1.0, delta=1e-5)
    session = dp.open(frame, unit=unit, budget=budget, schema=dp.Schema(columns=columns))
    with pytest.raises(dp.BadParameter, match="needs the unit"):
        session.fit(LogisticRegression(solver="objective"), target="t", spend=budget)
    assert not session.ledger.entries
