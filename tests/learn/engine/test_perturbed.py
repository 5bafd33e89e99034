"""Objective and output perturbation: each number that is bought, by exact or long arithmetic."""

import math
from fractions import Fraction
from types import SimpleNamespace

import mpmath
import numpy as np
import pytest

import deniable as dp
from deniable.errors import BadParameter, MixedLosses
from deniable.forms import Form
from deniable.learn.engine import perturbed as module
from deniable.learn.engine.budget import gaussian
from deniable.learn.engine.cells import Cells
from deniable.learn.engine.perturbed import (
    LEAST,
    TOLERANCE,
    ObjectivePerturbation,
    Perturbation,
    output_l2,
)
from deniable.learn.engine.spaces import Dense

DENSE, CELLS = Dense(dimension=3), Cells(sizes=(2, 3, 4))
LOSS = dp.epsilon(1.0, delta=1e-6)
FACTS = ("sensitivity", "smoothness", "ridge", "sigma", "tolerance", "output", "epsilon")


def made(space=CELLS, **given):
    return Perturbation(**{"space": space, "clip": 0.3, "units": 1, "inside": False, **given})


def stated(**given):
    facts = {"coordinates": 3, "sensitivity": 0.7, "smoothness": 0.4, "ridge": 1.3, "sigma": 9.0}
    return ObjectivePerturbation(
        **{**facts, "tolerance": 1e-3, "output": 0.02, "epsilon": 1.0, **given}
    )


def test_calibration_goes_on_until_delta_is_met(monkeypatch):
    """However little its first guess of the noise was too small."""
    honest, asked = module.analytic_gaussian_sigma, []

    def short(epsilon, *, delta):
        asked.append(delta)
        assert len(asked) < 60
        return honest(epsilon, delta=delta) * (1 - 1e-6)

    monkeypatch.setattr(module, "analytic_gaussian_sigma", short)
    found = ObjectivePerturbation.calibrate(
        coordinates=3, sensitivity=0.7, smoothness=0.4, epsilon=1.0, delta=1e-6
    )
    assert len(asked) > 5
    assert 1e-6 * (1 - 1e-3) <= found.approx()[1] <= 1e-6


def test_a_delta_of_exactly_what_was_asked_is_enough(monkeypatch):
    tried = []

    def approx(noise):
        tried.append(noise)
        assert len(tried) == 1
        return 1.0, 1e-6

    monkeypatch.setattr(ObjectivePerturbation, "approx", approx)
    found = ObjectivePerturbation.calibrate(
        coordinates=3, sensitivity=0.7, smoothness=0.4, epsilon=1.0, delta=1e-6
    )
    assert found is tried[0]


# ---- what one unit may do


@pytest.mark.parametrize("units", [1, 3, 10])
def test_a_unit_changes_the_gradient_by_its_clipped_rows(units):
    assert made(DENSE).norm == 1.0
    assert made(CELLS).norm == CELLS.norm
    for clip in np.random.default_rng(units).uniform(0.01, 1, 50).tolist():
        found = Fraction(made(clip=clip, units=units).sensitivity)
        exact = units * Fraction(clip) * Fraction(CELLS.norm)
        assert exact <= found <= exact * (1 + Fraction(1, 2**48))


def test_a_minimum_moves_by_the_gradient_and_both_tolerances():
    draw = np.random.default_rng(0)
    for sensitivity, ridge in draw.uniform(0.01, 9, (200, 2)).tolist():
        found = Fraction(output_l2(sensitivity=sensitivity, ridge=ridge))
        exact = Fraction(sensitivity) * (1 + 2 * Fraction(TOLERANCE)) / Fraction(ridge)
        assert exact <= found <= exact * (1 + Fraction(1, 2**43))
    assert (TOLERANCE, LEAST) == (2.0**-12, 2.0**-10)


# ---- plans


def test_output_noise_is_sized_to_the_minimum():
    own = made(units=2)
    ((noise, times),) = own.plan(LOSS).parts
    ridge = own.ridge(LOSS)
    assert times == 1
    assert noise.sensitivity == output_l2(sensitivity=own.sensitivity, ridge=ridge)
    assert own.plan(LOSS).epsilon_at(1e-6) == pytest.approx(1.0, rel=1e-6)


def test_a_penalty_is_as_stated_or_such_that_noise_moves_a_margin_by_a_third():
    own = made()
    wanted = 3 * math.sqrt(3) * own.sensitivity / gaussian(LOSS)
    assert own.ridge(LOSS) == pytest.approx(wanted)
    assert made(penalty=7.0).ridge(LOSS) == 7.0
    assert own.ridge(dp.mu(1e9)) == pytest.approx(3 * 2.0**-10)
    for inside in (True, False):
        made(inside=inside, penalty=LEAST * CELLS.norm**2).check_penalty()
        made(inside=inside).check_penalty()
        with pytest.raises(BadParameter, match="alpha"):
            made(inside=inside, penalty=LEAST * 2.99).check_penalty()


@pytest.mark.parametrize("penalty", [None, 5.0])
def test_an_objective_is_as_smooth_as_its_rows_and_needs_a_delta(penalty):
    own = made(inside=True, penalty=penalty)
    ((noise, times),) = own.plan(LOSS).parts
    assert (times, noise.coordinates, noise.sensitivity) == (1, 9, own.sensitivity)
    exact = Fraction(CELLS.norm) ** 2 / 4
    assert exact < Fraction(noise.smoothness) <= exact * (1 + Fraction(1, 2**48))
    assert noise.ridge == pytest.approx(penalty or 0.75 / math.expm1(0.3))
    assert (noise.epsilon, noise.approx()[1] <= 1e-6) == (1.0, True)
    for loss in (dp.mu(1.0), dp.rho(1.0), dp.epsilon(1.0)):
        with pytest.raises(MixedLosses, match="objective perturbation"):
            own.plan(loss)


@pytest.mark.parametrize("size", [0.5, 1.0, 800.0])
def test_the_excess_is_that_of_the_docstring(size):
    """⟨Z, (M/4 + λ)Z⟩/2 of noise on the minimum, and ‖b‖²/2λ of noise in the objective."""
    rows = max(size, 1.0)
    own = made(penalty=2.0)
    ((noise, _),) = own.plan(LOSS).parts
    spread = noise.sigma**2 * (size * 3 / 4 + 2.0 * 9) / 2
    assert own.expected_excess(own.plan(LOSS), LOSS, size=size) == pytest.approx(spread / rows)
    own = made(penalty=2.0, inside=True)
    ((noise, _),) = own.plan(LOSS).parts
    inner = 9 * noise.sigma**2 / (2 * noise.ridge)
    spread = noise.output**2 * (size * 3 / 4 + noise.ridge * 9) / 2
    found = own.expected_excess(own.plan(LOSS), LOSS, size=size)
    assert found == pytest.approx((inner + spread) / rows, rel=1e-9)
    assert found * rows - inner == pytest.approx(spread, rel=1e-3)


@pytest.mark.parametrize("inside", [True, False])
def test_one_question_is_asked_about_an_objective_or_about_its_minimum(inside, monkeypatch):
    own = made(inside=inside)
    plan = own.plan(LOSS)
    asked = []
    held = SimpleNamespace(given=lambda function, **declared: (function, declared))
    handle = SimpleNamespace(on=lambda value: asked.append(value) or "step")
    steps = own.learn(SimpleNamespace(plan=plan, handle=handle, loss=LOSS), held)
    assert next(steps) == "step"
    with pytest.raises(StopIteration) as ended:
        steps.send([1, 2])
    assert ended.value.value.tolist() == [1.0, 2.0]
    ((function, declared),) = asked
    monkeypatch.setattr(module.Penalised, "minimum", lambda self, tolerance: (self, tolerance))
    ridge = plan.parts[0][0].ridge if inside else own.ridge(LOSS)
    l2 = own.sensitivity if inside else output_l2(sensitivity=own.sensitivity, ridge=ridge)
    assert declared == {"l2": l2, "shape": 9}
    if inside:
        problem = function("rows")("slope")
        assert problem.slope == "slope"
    else:
        problem, tolerance = function("rows")
        assert tolerance == TOLERANCE * own.sensitivity
        assert problem.slope.tolist() == [0.0] * 9
    assert (problem.rows, problem.ridge, problem.clip) == ("rows", ridge, 0.3)


# ---- the mechanism


def exact_delta(noise, epsilon):
    """2·δ_μ(ε − c), in 50 digits."""
    facts = {name: mpmath.mpf(getattr(noise, name)) for name in FACTS}
    rest = mpmath.mpf(epsilon) - mpmath.log1p(facts["smoothness"] / facts["ridge"])
    second = 2 * facts["tolerance"] / (facts["ridge"] * facts["output"])
    mu = mpmath.hypot(facts["sensitivity"] / facts["sigma"], second)
    above = mpmath.ncdf(-rest / mu + mu / 2)
    return 2 * (above - mpmath.exp(rest) * mpmath.ncdf(-rest / mu - mu / 2))


@pytest.mark.parametrize("ridge", [0.5, 3.0])
@pytest.mark.parametrize("sigma", [0.3, 2.0, 50.0])
@pytest.mark.parametrize("output", [0.001, 0.02])
def test_delta_is_never_below_the_exact_one_and_hardly_above(ridge, sigma, output):
    noise = stated(ridge=ridge, sigma=sigma, output=output)
    volume = math.log1p(0.4 / ridge)
    for more in (1e-3, 0.1, 0.7, 2.0):
        exact = exact_delta(noise, volume + more)
        found = noise.delta_at(volume + more)
        assert min(exact, 1) <= found <= 1
        assert found == 1 or found <= exact * (1 + mpmath.mpf(2) ** -30) + 1e-300
    assert noise.delta_at(volume * (1 - 1e-9)) == 1.0
    assert noise.delta_at(0.0) == 1.0
    assert noise.approx() == (1.0, noise.delta_at(1.0))


def test_mu_is_rounded_up_by_more_than_what_is_left_of_epsilon(monkeypatch):
    """δ depends on ε/μ and grows with μ: it is above the exact one if both are."""
    seen = []
    monkeypatch.setattr(module.convert, "gdp_to_delta", lambda *given: seen.append(given) or 1e-9)
    random = np.random.default_rng(0)
    for ridge, sigma, output, more in 10.0 ** random.uniform(-2, 2, (500, 4)):
        noise = stated(ridge=ridge, sigma=sigma, output=output)
        epsilon = math.log1p(0.4 / ridge) * (1 + 1e-3 * more**4)
        noise.delta_at(epsilon)
        with mpmath.workdps(50):
            facts = {name: mpmath.mpf(getattr(noise, name)) for name in FACTS}
            rest = mpmath.mpf(epsilon) - mpmath.log1p(facts["smoothness"] / facts["ridge"])
            second = 2 * facts["tolerance"] / (facts["ridge"] * facts["output"])
            mu = mpmath.hypot(facts["sensitivity"] / facts["sigma"], second)
            above = seen[-1][0] / mu
            assert 1 < above < 1 + mpmath.mpf(2) ** -47
            assert seen[-1][1] / rest < above
    assert len(seen) == 500


def test_delta_is_one_where_epsilon_pays_for_the_volume_alone():
    noise = stated(ridge=0.4, sigma=1e3, output=1e3)
    volume = math.log1p(1.0) * (1 + 2.0**-50)
    assert noise.delta_at(volume) == 1.0
    assert noise.delta_at(math.nextafter(volume, 2)) < 0.01


@pytest.mark.parametrize("ridge", [0.0, 5.0])
@pytest.mark.parametrize("epsilon", [0.1, 1.0, 20.0])
@pytest.mark.parametrize("delta", [1e-3, 1e-9])
def test_calibration_spends_all_of_delta_and_a_fiftieth_of_the_noise_on_the_output(
    ridge, epsilon, delta
):
    found = ObjectivePerturbation.calibrate(
        coordinates=3, sensitivity=0.7, smoothness=0.4, epsilon=epsilon, delta=delta, ridge=ridge
    )
    least = 0.4 / math.expm1(min(0.3 * epsilon, 2.0))
    assert found.ridge == pytest.approx(max(least, ridge))
    assert found.tolerance == 0.7 * TOLERANCE
    first = (0.7 / found.sigma) ** 2
    second = (2 * found.tolerance / (found.ridge * found.output)) ** 2
    assert second / (first + second) == pytest.approx(0.02)
    assert delta * (1 - 1e-6) <= found.approx()[1] <= delta


@pytest.mark.parametrize("name", FACTS)
def test_all_facts_are_positive(name):
    for wrong in (0.0, -1.0, math.nan):
        with pytest.raises(BadParameter):
            stated(**{name: wrong})
    with pytest.raises(BadParameter):
        stated(coordinates=0)


def test_noise_beside_which_floats_cannot_tell_the_tolerance_is_refused():
    limit = 2.0**44 * 1e-3
    stated(coordinates=4, sigma=limit / 2)
    for coordinates, sigma in ((4, limit / 1.9), (1, limit * 1.01)):
        with pytest.raises(BadParameter, match="cannot be certified"):
            stated(coordinates=coordinates, sigma=sigma)


@pytest.mark.parametrize(
    ("coordinates", "sigma", "tolerance", "power"),
    [
        (1, 1.0, 1.0, -29),
        (4, 2.0**20, 2.0**-10, -14),
        (9, 1.5, 1.0, -29),
        (9, 2.0**20, 2.0**-9, -14),
    ],
)
def test_noise_in_the_objective_is_on_a_lattice_that_the_tolerance_pays_for(
    coordinates, sigma, tolerance, power, monkeypatch
):
    noise = stated(coordinates=coordinates, sigma=sigma, tolerance=tolerance, output=1e-9)
    asked = {}

    def rounded(scale, centres):
        asked["scale"], asked["centres"] = scale, centres.tolist()
        return np.arange(coordinates) + 5

    def minimum(left):
        asked["left"] = left
        return np.full(coordinates, 3.0)

    def value(slope):
        asked["slope"] = slope.tolist()
        return SimpleNamespace(minimum=minimum)

    monkeypatch.setattr(module, "rounded_gaussian", rounded)
    found = noise.draw(value)
    width = 2.0**power
    assert asked["scale"] == Fraction(sigma) / Fraction(width)
    assert asked["centres"] == [0.0] * coordinates
    assert asked["slope"] == [(5 + i) * width for i in range(coordinates)]
    taken = width / 2 * math.sqrt(coordinates)
    assert asked["left"] == pytest.approx(tolerance - taken, rel=1e-15)
    assert taken <= tolerance / 16
    assert found == pytest.approx([3.0] * coordinates, abs=1e-6)
    assert found.tolist() != [3.0] * coordinates, "with noise of its own"


def test_a_value_is_a_function_of_noise_of_a_declared_length():
    read = stated().reading(Form.of(whole=None, shape=3, keys=None, statistic=None))
    assert read(len) is len
    with pytest.raises(BadParameter, match="a function of the noise"):
        read(3.0)
    with pytest.raises(BadParameter, match="number is not declared"):
        stated().reading(Form.of(whole=None, shape=None, keys=None, statistic=None))
