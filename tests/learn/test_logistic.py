"""What a logistic regression leaves: coefficients whose scores are those of the scaled rows."""

import numpy as np
import pytest

from deniable.errors import BadParameter
from deniable.learn import LogisticRegression
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
