"""Targets on their lattice: exactly, within ±1, towards 0, whatever the bounds are."""

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn import linear_model
from sklearn.exceptions import NotFittedError
from tests.learn import told

import deniable as dp
from deniable.learn import LinearRegression, Ridge
from deniable.learn.models.linear import TARGET, on_lattice, solved

ENDS = [(0.0, 1.0), (-3.0, 9.0), (1e6, 1e6 + 1), (-1e300, 1e300), (0.0, 1e-310)]


@pytest.mark.parametrize(("low", "high"), ENDS)
@given(share=st.floats(-0.5, 1.5))
def test_a_target_is_its_place_between_the_bounds(low, high, share):
    value = low + share * (high - low) if math.isfinite(high - low) else share * high
    (found,) = on_lattice([value], low, high)
    assert -(2**TARGET) <= found <= 2**TARGET
    kept = min(max(value, low), high)
    middle, half = (Fraction(low) + Fraction(high)) / 2, (Fraction(high) - Fraction(low)) / 2
    if half > Fraction(1e-300):
        truth = (Fraction(kept) - middle) / half * 2**TARGET
        assert abs(found - truth) <= 1 + abs(middle / half) * Fraction(1, 2**30)


def test_ends_are_whole_and_what_is_missing_is_the_middle():
    for low, high in ENDS[:4]:
        found = on_lattice([low, high, math.nan, -math.inf, math.inf], low, high)
        assert found.tolist() == [-(2**TARGET), 2**TARGET, 0, -(2**TARGET), 2**TARGET]
    assert on_lattice([5.0, math.nan, 7.0], 5.0, 5.0).tolist() == [0, 0, 0]
    near = on_lattice([0.5 + 2.0**-18, 0.5 - 2.0**-18], 0.0, 1.0)
    assert near.tolist() == [0, 0], "towards 0 on both sides"


@pytest.mark.parametrize("low", [-41.3, -1.1, 0.3, 1.0, 16.9])
def test_bounds_a_few_floats_apart_let_no_target_be_larger_than_1(low):
    """Their middle is not a float, so an end may be twice as far from it as it should be."""
    high = low
    for _ in range(5):
        high = math.nextafter(high, math.inf)
        found = on_lattice([-math.inf, low, high, math.inf], low, high)
        assert np.abs(found).max() <= 2**TARGET


def test_normal_equations_are_solved_with_damping_by_the_noise():
    matrix, products = np.diag([4.0, -1.0]), np.array([8.0, 3.0])
    damp = 0.5 * math.sqrt(2)
    assert solved(matrix, products, noise=0.5) == pytest.approx([8 / (4 + damp), 3 / damp])


# ---- the models, on sums without noise

DRAW = np.random.default_rng(5)
X = DRAW.uniform([0, -4], [2, 4], (400, 2))
Y = (3 * X[:, 0] - 0.5 * X[:, 1] + 1 + DRAW.normal(0, 0.3, 400)).clip(-2, 10)
KNOWN = {"bounds": ([0, -4], [2, 4]), "target_bounds": (-2.0, 10.0)}


@pytest.mark.parametrize("intercept", [True, False])
@pytest.mark.parametrize("alpha", [0.0, 40.0])
def test_ridge_regression_is_that_of_scikit_learn(alpha, intercept):
    model = Ridge(alpha=alpha, fit_intercept=intercept, **KNOWN)
    told.fitted(model, X, Y, sigmas=[1e-9, 1e-9])
    truth = linear_model.Ridge(alpha=alpha).fit(X, Y)
    if intercept:
        assert model.coef_ == pytest.approx(truth.coef_, abs=0.02)
        assert model.intercept_ == pytest.approx(truth.intercept_, abs=0.02)
    else:  # of what is centred at the middle of the bounds
        middle = [1.0, 0.0]
        truth = linear_model.Ridge(alpha=alpha, fit_intercept=False).fit(X - middle, Y - 4)
        assert model.coef_ == pytest.approx(truth.coef_, abs=0.02)
        assert model.intercept_ == pytest.approx(4 - truth.coef_ @ middle, abs=0.02)
    new = np.array([[1.0, 2.0], [5.0, -7.0]])
    assert model.predict(new) == pytest.approx(new @ model.coef_ + model.intercept_)


def test_linear_regression_has_no_penalty():
    model = told.fitted(LinearRegression(**KNOWN), X, Y, sigmas=[1e-9, 1e-9])
    assert model.coef_ == pytest.approx(linear_model.LinearRegression().fit(X, Y).coef_, abs=0.02)


def test_on_a_table_cells_have_coefficients_around_the_middle_of_the_target():
    class Encoding:
        def margins(self, frame, theta):
            return frame @ theta

    model = Ridge()
    model.encoding_, model._ends = Encoding(), (-2.0, 10.0)
    model.theta_ = np.array([0.5, -0.25])
    model._finish()
    assert (model.coef_.tolist(), model.intercept_) == ([3.0, -1.5], 4.0)
    assert model.predict(np.eye(2)).tolist() == [7.0, 2.5]


def test_a_model_needs_bounds_of_its_target_a_penalty_and_a_fit():
    with pytest.raises(dp.MissingBounds, match="Ridge needs bounds for its target"):
        Ridge(bounds=(0, 1))._on_arrays(X, Y)
    with pytest.raises(dp.BadParameter, match="alpha"):
        Ridge(alpha=-1.0).check_parameters()
    Ridge(alpha=0.0).check_parameters()
    with pytest.raises(NotFittedError):
        Ridge().predict(X)


def test_matrix_and_products_are_paid_for_alike():
    model = Ridge(**KNOWN)
    matrix, products = model._parts(model._on_arrays(X, Y))
    assert (matrix.share, products.share) == (0.5, 0.5)
    assert (matrix.numbers, products.numbers) == (6, 3)
