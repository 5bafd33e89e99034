"""What a logistic regression leaves: coefficients whose scores are those of the scaled rows."""

import numpy as np
import pytest
from tests.learn import told

import deniable as dp
from deniable.errors import BadParameter
from deniable.learn import LogisticRegression
from deniable.learn.engine import descent
from deniable.learn.engine.examples import Examples, Held
from deniable.learn.engine.perturbed import ObjectivePerturbation
from deniable.learn.engine.spaces import Dense
from deniable.learn.models.logistic import _clip
from deniable.learn.models.scaling import scaling

X = np.array([[1.0, -2.0, 7.0], [0.0, 3.5, 4.0], [2.0, 0.5, 9.0]])
BOUNDS = ([0.0, -4.0, 3.0], [2.0, 4.0, 9.0])


def theta(features, classes):
    shape = (features,) if classes == 2 else (features, classes)
    return np.random.default_rng(3).normal(size=shape)


@pytest.mark.parametrize("classes", [2, 3, 5])
def test_on_a_table_there_are_slopes_by_class_and_no_constant(classes):
    model = LogisticRegression()
    model.encoding_, model.theta_ = object(), theta(4, classes)
    model._finish()
    rows = 1 if classes == 2 else classes
    assert model.coef_.shape == (rows, 4)
    assert (model.coef_ == model.theta_.reshape(4, rows).T).all()
    assert model.intercept_.tolist() == [0.0] * rows


@pytest.mark.parametrize("intercept", [False, True])
@pytest.mark.parametrize("classes", [2, 3])
@pytest.mark.parametrize(("bounds", "norm"), [(BOUNDS, None), (None, 12.0)])
def test_on_arrays_scores_are_those_of_the_scaled_rows(bounds, norm, classes, intercept):
    """The rows are inside their bounds, and shorter than the norm: nothing is clipped."""
    model = LogisticRegression(fit_intercept=intercept)
    model._scaling = scaling(3, bounds=bounds, norm=norm, intercept=intercept, model="")
    model.theta_ = theta(3 + intercept, classes)
    model.classes_, model.n_features_in_ = list(range(classes)), 3
    model._finish()
    rows = 1 if classes == 2 else classes
    assert (model.coef_.shape, model.intercept_.shape) == ((rows, 3), (rows,))
    wanted = model._scaling._scaled(X) @ model.theta_
    assert model._scores(X) == pytest.approx(wanted)
    lattice = model._scaling.rows(X) / model._scaling.space.unit @ model.theta_
    assert model._scores(X) == pytest.approx(lattice, abs=0.01)


@pytest.mark.parametrize(
    ("clip", "fits"), [(2.0**-10, True), (1.0, True), (2.0**-10.01, False), (1.001, False)]
)
def test_residuals_are_clipped_between_a_thousandth_and_one(clip, fits):
    if fits:
        assert _clip(clip) == clip
    else:
        with pytest.raises(BadParameter, match="2⁻¹⁰"):
            _clip(clip)


@pytest.mark.parametrize(
    "wrong",
    [{"steps": 0}, {"clip": 2.0}, {"solver": "newton"}, {"alpha": 0.1},
     {"alpha": -1.0, "solver": "output"}, {"alpha": 0.0, "solver": "objective"}],
)  # fmt: skip
def test_parameters_that_no_fit_can_have_are_refused(wrong):
    with pytest.raises(BadParameter):
        LogisticRegression(**wrong).check_parameters()
    LogisticRegression(alpha=0.1, solver="output").check_parameters()


# ---- which noise a solver buys

UNITS = {
    "rows": dp.rows(),
    "replaced": dp.rows(relation="replace"),
    "people": dp.person("who", rows=2),
}
LOSS = dp.epsilon(1.0, delta=1e-6)


def held(unit="rows"):
    space = Dense(dimension=2)
    rows = Examples(x=space.rounded(np.full((4, 2), 0.25)), y=np.array([0, 1, 1, -1]))
    return Held(lambda _: rows, space=space, unit=UNITS[unit])


def made(solver, classes=2, **given):
    model = LogisticRegression(solver=solver, steps=5, **given)
    model.classes_ = np.arange(classes)
    return model


@pytest.mark.parametrize("unit", UNITS)
def test_each_solver_plans_its_own_noise_where_it_is_proved(unit):
    model = made("descent")
    assert model._in_mu
    assert [times for _, times in model.planned(held(unit), LOSS).parts] == [1, 5]
    assert model.planned(held(unit), LOSS).epsilon_at(1e-6) == pytest.approx(1.0, rel=1e-6)
    model = made("output")
    assert model._in_mu
    ((noise, times),) = model.planned(held(unit), LOSS).parts
    assert (type(noise), times) == (dp.Gaussian, 1)
    model = made("objective")
    assert not model._in_mu
    if unit == "rows":
        ((noise, times),) = model.planned(held(unit), LOSS).parts
        assert (type(noise), times) == (ObjectivePerturbation, 1)
    else:
        with pytest.raises(BadParameter, match=r"needs the unit dp.rows\(\)"):
            model.planned(held(unit), LOSS)


@pytest.mark.parametrize("solver", ["objective", "output"])
def test_minima_are_for_two_classes_and_penalties_that_floats_can_tell(solver):
    with pytest.raises(BadParameter, match="two classes"):
        made(solver, classes=3).planned(held(), LOSS)
    with pytest.raises(BadParameter, match="alpha"):
        made(solver, alpha=1e-9).planned(held(), LOSS)
    made(solver, alpha=0.5).planned(held(), LOSS)
    made("descent", classes=3).planned(held(), LOSS)


def test_only_minima_have_a_formula_for_what_noise_costs():
    for solver, known in (("descent", False), ("objective", True), ("output", True)):
        model = made(solver)
        plan = model.planned(held(), LOSS)
        prepared = type("Prepared", (), {"held": held(), "plan": plan, "loss": LOSS})
        found = model.expected_excess(prepared, size=1000.0)
        assert (found is not None) == known
        assert found is None or 0 < found < 10


def test_parameters_come_from_the_solver(monkeypatch):
    def answered(name):
        def steps(*given):
            return name
            yield

        return steps

    monkeypatch.setattr("deniable.learn.models.logistic.descend", answered("descent"))
    monkeypatch.setattr("deniable.learn.engine.perturbed.Perturbation.learn", answered("a minimum"))
    for solver in ("descent", "objective", "output"):
        model = made(solver)
        told.driven(model._steps(told.bought(1.0, 1.0), held()))
        assert model.theta_ == ("descent" if solver == "descent" else "a minimum")
    assert [part.times for part in made("descent")._parts(held())] == [1, 5]
    assert made("descent")._parts(held())[0].share == descent.MOMENTS
