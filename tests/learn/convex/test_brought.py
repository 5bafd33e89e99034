"""A loss that a user brings: what it is asked about, and what counts of its results."""

import numpy as np
import pytest

import deniable as dp
from deniable.learn.convex import Ball, brought, minimize


def by_row(x, X, y):
    """Of no rows it makes no matrix."""
    pairs = list(zip(X, y, strict=True))
    return np.array([abs(a @ x - b) for a, b in pairs]), np.array([a * b for a, b in pairs])


def sound_alone(x, X, y):
    assert np.isfinite(X).all()
    assert np.isfinite(y).all()
    return X @ x, X + 1.0


@pytest.mark.parametrize("loss", [by_row, sound_alone])
@pytest.mark.parametrize("method", ["descent", "stochastic"])
@pytest.mark.parametrize("rows", [0, 1])
def test_a_function_is_not_asked_about_no_rows_or_missing_numbers(loss, method, rows, monkeypatch):
    """A sample may be empty, and a failure then would tell how many rows there are."""
    monkeypatch.setattr("deniable.learn.convex.stochastic._MOST", 20)
    X, y = np.full((rows, 2), np.nan), np.ones(rows)
    spend = dp.epsilon(1.0, delta=1e-6)
    found = minimize(
        loss, data=(X, y), domain=Ball(1.0), lipschitz=1.0, spend=spend, method=method, size=50
    )
    assert found.x.shape == (2,)


@pytest.mark.parametrize("odd", [[np.nan, 1.0, 1.0], [np.inf, 1.0, 1.0], [1.0, 1.0, -np.inf]])
def test_a_row_with_a_missing_number_has_no_influence_whatever_a_function_makes_of_it(odd):
    def filling(x, X, y):
        full = np.nan_to_num(X, nan=1.0, posinf=1.0)
        return full @ x + 1.0, full + 1.0

    data = np.array([odd])
    values, gradients = brought.called(filling, data[:, :2], data[:, 2])(np.zeros(2))
    assert values.tolist() == [0.0]
    assert gradients.tolist() == [[0.0, 0.0]]
